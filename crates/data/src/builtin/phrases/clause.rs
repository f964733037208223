//! Clauses: who does what to whom, where and when.

use super::italian::{Gender, Number, Simple, form};
use super::lexicon::{Adjective, Idiom, LEXICON};
use super::noun_phrase::{NounPhrase, Prepositional};
use super::tense::Tense;
use super::tokens::{Fragment, Meaning, Meanings, Token};
use super::verb_group::{Agreement, Clitic, Polarity, Usage, VerbGroup};

/// A subject pronoun. Italian drops it; whoever speaks or is spoken to counts as masculine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pronoun {
    I,
    You,
    He,
    She,
    We,
    YouAll,
    They,
}

impl Pronoun {
    fn english(self) -> &'static [&'static str] {
        const TEXTS: [&[&str]; 7] =
            [&["i"], &["you"], &["he"], &["she"], &["we"], &["you", "all"], &["they"]];
        TEXTS[self as usize]
    }

    fn dative(self) -> &'static str {
        ["mi", "ti", "gli", "le", "ci", "vi", "gli"][self as usize]
    }

    pub(super) fn agreement(self) -> Agreement {
        let person = [0, 1, 2, 2, 3, 4, 5][self as usize];
        Agreement {
            person,
            gender: if self == Self::She { Gender::Feminine } else { Gender::Masculine },
            number: if person < 3 { Number::Singular } else { Number::Plural },
        }
    }
}

/// An object pronoun. *It* counts as masculine, *them* too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectPronoun {
    Me,
    You,
    Him,
    Her,
    Us,
    YouAll,
    Them,
    It,
}

impl ObjectPronoun {
    /// All but *it*, which is no person.
    pub(super) const PEOPLE: [Self; 7] =
        [Self::Me, Self::You, Self::Him, Self::Her, Self::Us, Self::YouAll, Self::Them];

    /// Writes the English pronoun and returns the Italian one: *la vede*, or as a dative *le parla*.
    fn realise(self, dative: bool, out: &mut Fragment, meanings: &mut Meanings) -> Clitic {
        const ENGLISH: [&[&str]; 8] =
            [&["me"], &["you"], &["him"], &["her"], &["us"], &["you", "all"], &["them"], &["it"]];
        let meaning = meanings.fresh();
        for text in ENGLISH[self as usize] {
            out.english(text, meaning);
        }
        let text = match dative {
            true => ["mi", "ti", "gli", "le", "ci", "vi", "gli", "gli"][self as usize],
            false => ["mi", "ti", "lo", "la", "ci", "vi", "li", "lo"][self as usize],
        };
        let agrees = match self {
            Self::Her if !dative => Some(form(Gender::Feminine, Number::Singular)),
            Self::Them if !dative => Some(form(Gender::Masculine, Number::Plural)),
            _ => None,
        };
        Clitic { token: Token { text, meaning }, agrees }
    }
}

/// Who or what the clause is about.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    Pronoun(Pronoun),
    Phrase(NounPhrase),
    /// The question word.
    Who,
    /// The subject of the clause before, not said again.
    Same(Agreement),
}

impl Subject {
    pub(super) fn agreement(&self) -> Agreement {
        match self {
            Self::Pronoun(pronoun) => pronoun.agreement(),
            Self::Phrase(phrase) => {
                let (gender, number) = phrase.agreement();
                Agreement { person: if number == Number::Singular { 2 } else { 5 }, gender, number }
            }
            Self::Who => Pronoun::He.agreement(),
            Self::Same(agreement) => *agreement,
        }
    }

    /// Both languages, and the meaning of a pronoun that Italian leaves to the verb.
    fn realise(&self, meanings: &mut Meanings) -> (Fragment, Meaning) {
        match self {
            Self::Phrase(phrase) => (phrase.realise(None, meanings), 0),
            Self::Who | Self::Same(_) => (self.realise_as(meanings.fresh()), 0),
            Self::Pronoun(_) => {
                let meaning = meanings.fresh();
                (self.realise_as(meaning), meaning)
            }
        }
    }

    /// The words of a subject that is no noun phrase, all with one meaning.
    fn realise_as(&self, meaning: Meaning) -> Fragment {
        let mut out = Fragment::default();
        match self {
            Self::Who => {
                out.english("who", meaning);
                out.italian("chi", meaning);
            }
            Self::Pronoun(pronoun) => {
                for text in pronoun.english() {
                    out.english(text, meaning);
                }
            }
            Self::Phrase(_) | Self::Same(_) => {}
        }
        out
    }
}

/// What follows the verb and belongs to it.
#[derive(Clone, Debug)]
pub(super) enum Complement {
    None,
    Object(NounPhrase),
    Pronoun(ObjectPronoun),
    /// *gives the book to the boy*
    Give(NounPhrase, NounPhrase),
    /// *gives it to the boy*
    GiveIt(ObjectPronoun, NounPhrase),
    /// *gives the book to him*
    GiveTo(NounPhrase, ObjectPronoun),
    /// *speaks to the boy*
    To(NounPhrase),
    ToPronoun(ObjectPronoun),
    /// *is very tired*
    Adjective(Option<&'static Idiom>, &'static Adjective),
    /// *is hungry*
    Having(&'static Idiom),
    /// *says that the cat sleeps*
    That(Box<Clause>),
}

impl Complement {
    /// What stands after the verb in both languages, and the pronoun before the Italian verb.
    fn realise(&self, who: Agreement, meanings: &mut Meanings) -> (Fragment, Option<Clitic>) {
        let mut out = Fragment::default();
        let mut clitic = None;
        match self {
            Self::None => {}
            Self::Object(phrase) => out = phrase.realise(None, meanings),
            Self::Pronoun(pronoun) => clitic = Some(pronoun.realise(false, &mut out, meanings)),
            Self::Give(thing, person) => {
                out = thing.realise(None, meanings);
                recipient(person, &mut out, meanings);
            }
            Self::GiveIt(pronoun, person) => {
                clitic = Some(pronoun.realise(false, &mut out, meanings));
                recipient(person, &mut out, meanings);
            }
            Self::GiveTo(thing, person) => {
                out = thing.realise(None, meanings);
                clitic = Some(recipient_pronoun(*person, &mut out, meanings));
            }
            Self::To(person) => recipient(person, &mut out, meanings),
            Self::ToPronoun(person) => clitic = Some(recipient_pronoun(*person, &mut out, meanings)),
            Self::Adjective(degree, adjective) => {
                if let Some(degree) = degree {
                    out.idiom(degree, meanings);
                }
                let meaning = meanings.fresh();
                out.english(adjective.english, meaning);
                out.italian(&adjective.italian[form(who.gender, who.number)], meaning);
            }
            Self::Having(idiom) => out.idiom(idiom, meanings),
            Self::That(clause) => {
                let meaning = meanings.fresh();
                out.english("that", meaning);
                out.italian("che", meaning);
                out.append(clause.realise(Order::Statement, meanings));
            }
        }
        (out, clitic)
    }
}

/// *to the boy*
fn recipient(person: &NounPhrase, out: &mut Fragment, meanings: &mut Meanings) {
    let meaning = meanings.fresh();
    out.english("to", meaning);
    out.append(person.realise(Some((Simple::A, meaning)), meanings));
}

/// *to him*, which Italian puts before the verb.
fn recipient_pronoun(person: ObjectPronoun, out: &mut Fragment, meanings: &mut Meanings) -> Clitic {
    let mut pronoun = Fragment::default();
    let clitic = person.realise(true, &mut pronoun, meanings);
    out.english("to", clitic.token.meaning);
    out.append(pronoun);
    clitic
}

/// What the clause could do without.
#[derive(Clone, Debug)]
pub(super) enum Adjunct {
    Idiom(&'static Idiom),
    Phrase(Prepositional),
}

/// The order of subject and verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Statement,
    /// English puts the auxiliary first, Italian changes nothing: *il gatto dorme?*
    Inverted,
    /// English puts the auxiliary first, Italian the subject last: *dove dorme il gatto?*
    SubjectLast,
}

/// A clause with a verb and its subject.
#[derive(Clone, Debug)]
pub(super) struct Verbal {
    /// A time at the head of the clause.
    pub(super) opening: Option<&'static Idiom>,
    pub(super) subject: Subject,
    pub(super) group: VerbGroup,
    pub(super) complement: Complement,
    pub(super) adjuncts: Vec<Adjunct>,
}

impl Verbal {
    /// Both languages.
    pub(super) fn realise(&self, order: Order, meanings: &mut Meanings) -> Fragment {
        let mut out = Fragment::default();
        if let Some(time) = self.opening {
            out.idiom(time, meanings);
        }
        let who = self.subject.agreement();
        let inverted = order != Order::Statement;
        let (subject, dropped) = self.subject.realise(meanings);
        let (complement, clitic) = self.complement.realise(who, meanings);
        let spoken =
            self.group.realise(&Usage { english: who, italian: who, inverted, dropped, clitic }, meanings);
        if inverted {
            out.english.extend(spoken.auxiliary);
            out.english.extend(subject.english);
        } else {
            out.english.extend(subject.english);
            out.english.extend(spoken.auxiliary);
        }
        out.english.extend(spoken.english);
        if order == Order::SubjectLast {
            out.italian.extend(spoken.italian);
            out.italian.extend(subject.italian);
        } else {
            out.italian.extend(subject.italian);
            out.italian.extend(spoken.italian);
        }
        out.append(complement);
        append_adjuncts(&self.adjuncts, &mut out, meanings);
        out
    }
}

fn append_adjuncts(adjuncts: &[Adjunct], out: &mut Fragment, meanings: &mut Meanings) {
    for adjunct in adjuncts {
        match adjunct {
            Adjunct::Idiom(idiom) => out.idiom(idiom, meanings),
            Adjunct::Phrase(phrase) => out.append(phrase.realise(meanings)),
        }
    }
}

/// *There is a cat on the table*: *c'è un gatto sul tavolo*.
#[derive(Clone, Debug)]
pub(super) struct There {
    pub(super) tense: Tense,
    pub(super) polarity: Polarity,
    pub(super) phrase: NounPhrase,
    pub(super) adjuncts: Vec<Adjunct>,
}

impl There {
    fn realise(&self, order: Order, meanings: &mut Meanings) -> Fragment {
        let group =
            VerbGroup { verb: &LEXICON.be, tense: self.tense, polarity: self.polarity, frequency: None };
        let there = meanings.fresh();
        let who = Subject::Phrase(self.phrase.clone()).agreement();
        let ci = Clitic { token: Token { text: "ci", meaning: there }, agrees: None };
        let inverted = order != Order::Statement;
        let usage = Usage { english: who, italian: who, inverted, dropped: 0, clitic: Some(ci) };
        let spoken = group.realise(&usage, meanings);
        let mut out = Fragment::default();
        if order == Order::Statement {
            out.english("there", there);
            out.english.extend(spoken.auxiliary);
        } else {
            out.english.extend(spoken.auxiliary);
            out.english("there", there);
        }
        out.english.extend(spoken.english);
        let elides = spoken.italian.last().is_some_and(|verb| verb.text.starts_with(['è', 'e']));
        out.italian.extend(spoken.italian.into_iter().map(|token| match token.text {
            "ci" if elides => Token { text: "c'", ..token },
            _ => token,
        }));
        out.append(self.phrase.realise(None, meanings));
        append_adjuncts(&self.adjuncts, &mut out, meanings);
        out
    }
}

/// *The boy likes the cat*: *al ragazzo piace il gatto*.
#[derive(Clone, Debug)]
pub(super) struct Like {
    pub(super) liker: Subject,
    pub(super) tense: Tense,
    pub(super) polarity: Polarity,
    pub(super) liked: NounPhrase,
}

impl Like {
    fn realise(&self, order: Order, meanings: &mut Meanings) -> Fragment {
        let group =
            VerbGroup { verb: &LEXICON.like, tense: self.tense, polarity: self.polarity, frequency: None };
        let dropped = meanings.fresh();
        let clitic = match &self.liker {
            Subject::Pronoun(pronoun) => {
                Some(Clitic { token: Token { text: pronoun.dative(), meaning: dropped }, agrees: None })
            }
            _ => None,
        };
        // English agrees with the one who likes, Italian with what is liked.
        let english = self.liker.agreement();
        let italian = Subject::Phrase(self.liked.clone()).agreement();
        let inverted = order != Order::Statement;
        let spoken = group.realise(&Usage { english, italian, inverted, dropped: 0, clitic }, meanings);
        let likes = spoken.english.last().map_or(0, |verb| verb.meaning);
        let liker = match &self.liker {
            Subject::Phrase(phrase) => phrase.realise(Some((Simple::A, likes)), meanings),
            other => other.realise_as(dropped),
        };
        let mut out = Fragment::default();
        if inverted {
            out.english.extend(spoken.auxiliary);
            out.append(liker);
        } else {
            out.append(liker);
            out.english.extend(spoken.auxiliary);
        }
        out.english.extend(spoken.english);
        out.italian.extend(spoken.italian);
        out.append(self.liked.realise(None, meanings));
        out
    }
}

/// Any clause.
#[derive(Clone, Debug)]
pub(super) enum Clause {
    Verbal(Verbal),
    There(There),
    Like(Like),
    Weather(&'static Idiom),
}

impl Clause {
    /// Both languages.
    pub(super) fn realise(&self, order: Order, meanings: &mut Meanings) -> Fragment {
        match self {
            Self::Verbal(clause) => clause.realise(order, meanings),
            Self::There(clause) => clause.realise(order, meanings),
            Self::Like(clause) => clause.realise(order, meanings),
            Self::Weather(idiom) => {
                let mut out = Fragment::default();
                out.idiom(idiom, meanings);
                out
            }
        }
    }
}
