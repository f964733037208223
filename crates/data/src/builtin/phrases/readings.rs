//! Sentences that can be read in two ways.
//!
//! Between two clauses *and* may join noun phrases as well: *he will wait for Anna and the boy and the girl will come*
//! does not say whether the boy is waited for or will come, but in Italian *verranno* two, and *verrà* one alone. What
//! follows a preposition, and what is liked, is never joined, so that only objects and subjects are in question.

use super::clause::{Clause, Complement, Subject, Verbal};
use super::noun_phrase::{Joint, NounPhrase};
use super::sentence::Sentence;
use super::tokens::{Fragment, Token};

impl Sentence {
    /// Whether its English, which is in `said`, can be read in another way that has an Italian of its own. Who could do
    /// what is not asked: one may wait for a boy as well as for a train.
    pub(super) fn is_ambiguous(&self, said: &Fragment) -> bool {
        let Self::Joined(left, Joint::And, right) = self else { return false };
        [subject_takes, object_takes].into_iter().any(|regroup| {
            let (mut left, mut right) = (left.clone(), right.clone());
            let Some((object, subject)) = last_object(&mut left).zip(first_subject(&mut right)) else {
                return false;
            };
            let Some(regrouped) = regroup(object, subject) else { return false };
            [*object, *subject] = regrouped;
            let other = Self::Joined(left, Joint::And, right).realise();
            texts(&other.english).eq(texts(&said.english)) && !texts(&other.italian).eq(texts(&said.italian))
        })
    }
}

/// The object that `clause` ends with.
fn last_object(clause: &mut Clause) -> Option<&mut NounPhrase> {
    match clause {
        Clause::Verbal(Verbal { complement, adjuncts, .. }) if adjuncts.is_empty() => match complement {
            Complement::Object(object) => Some(object),
            Complement::That(clause) => last_object(clause),
            _ => None,
        },
        _ => None,
    }
}

/// The subject that `clause` begins with.
fn first_subject(clause: &mut Clause) -> Option<&mut NounPhrase> {
    match clause {
        Clause::Verbal(Verbal { opening: None, subject: Subject::Phrase(subject), .. }) => Some(subject),
        _ => None,
    }
}

/// The subject takes what the object ends with: *Anna* and *the boy and the girl*.
fn subject_takes(object: &NounPhrase, subject: &NounPhrase) -> Option<[NounPhrase; 2]> {
    let NounPhrase::Both(object, Joint::And, moved) = object else { return None };
    Some([(**object).clone(), NounPhrase::Both(moved.clone(), Joint::And, Box::new(subject.clone()))])
}

/// The object takes what the subject begins with: *Anna and the boy* and *the girl*.
fn object_takes(object: &NounPhrase, subject: &NounPhrase) -> Option<[NounPhrase; 2]> {
    let NounPhrase::Both(moved, Joint::And, subject) = subject else { return None };
    Some([NounPhrase::Both(Box::new(object.clone()), Joint::And, moved.clone()), (**subject).clone()])
}

fn texts(tokens: &[Token]) -> impl Iterator<Item = &'static str> {
    tokens.iter().map(|token| token.text)
}
