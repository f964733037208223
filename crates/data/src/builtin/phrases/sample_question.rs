//! Random questions.

use super::clause::*;
use super::italian::Number;
use super::lexicon::{LEXICON, Verb};
use super::noun_phrase::{Determiner, Nominal, NounPhrase};
use super::nouns::*;
use super::sample::verbal;
use super::sample_phrase::*;
use super::sample_state::{being, liking, there};
use super::sentence::{QuestionWord, Sentence};
use super::tense::Family;
use super::verb_group::{Polarity, VerbGroup};
use super::verbs::Frame;
use crate::builtin::dice::Dice;

/// A question.
pub(super) fn question(dice: &mut Dice<'_>, family: Family) -> Sentence {
    match dice.weigh(&[(40, 0), (12, 1), (14, 2), (10, 3), (10, 4), (14, 5)]) {
        0 => yes_no(dice, family),
        1 => who(dice, family),
        2 => why(dice, family),
        3 => whereabouts(dice, family),
        4 => circumstance(dice, family),
        _ => object(dice, family),
    }
}

/// A verb that `fits`.
fn verb(dice: &mut Dice<'_>, fits: impl Fn(&Verb) -> bool) -> &'static Verb {
    loop {
        let verb = dice.pick(&LEXICON.verbs);
        if fits(verb) {
            return verb;
        }
    }
}

/// `clause` as one asks it: no opening, nothing denied.
fn plain(clause: Verbal) -> Verbal {
    let group = VerbGroup { polarity: Polarity::Affirmative, frequency: None, ..clause.group };
    Verbal { opening: None, group, ..clause }
}

/// *does the cat sleep?*
fn yes_no(dice: &mut Dice<'_>, family: Family) -> Sentence {
    Sentence::YesNo(match dice.weigh(&[(65, 0), (18, 1), (9, 2), (8, 3)]) {
        0 => {
            let verb = verb(dice, |verb| verb.frame != Frame::Say);
            Clause::Verbal(plain(verbal(dice, verb, family, None, 80)))
        }
        1 => Clause::Verbal(plain(being(dice, family, 80))),
        2 => Clause::There(There { polarity: Polarity::Affirmative, ..there(dice, family, 60) }),
        _ => Clause::Like(Like { polarity: Polarity::Affirmative, ..liking(dice, family, 60) }),
    })
}

/// *who has seen the cat?*
fn who(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let verb = verb(dice, |verb| verb.frame != Frame::Say);
    let clause = verbal(dice, verb, family, Some(Subject::Who), 100);
    Sentence::Question(QuestionWord::Subject, Verbal { opening: None, ..clause })
}

/// *why does the cat not sleep?*
fn why(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let verb = verb(dice, |verb| verb.frame != Frame::Say);
    let clause = verbal(dice, verb, family, None, 80);
    let polarity = if dice.chance(25) { Polarity::Not } else { Polarity::Affirmative };
    let clause = plain(clause);
    let group = VerbGroup { polarity, ..clause.group };
    Sentence::Question(QuestionWord::Why, Verbal { group, ..clause })
}

/// *where is the old cat of the girl?*
fn whereabouts(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let clause = plain(being(dice, family, 100));
    let noun = noun(dice, &MENUS.locatable);
    let mut nominal = nominal(dice, noun, Role::Governed, 150);
    if matches!(nominal.determiner, Determiner::A) {
        nominal.determiner = Determiner::The;
    }
    let subject = Subject::Phrase(match dice.chance(1) {
        true => NounPhrase::Name(dice.pick(&LEXICON.names)),
        false => NounPhrase::Common(nominal),
    });
    let clause = Verbal { subject, complement: Complement::None, adjuncts: Vec::new(), ..clause };
    Sentence::Question(QuestionWord::Where, clause)
}

/// *where do you buy the bread?*, *when will anna arrive?*, *how do they go to school?*
fn circumstance(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let verb = verb(dice, |verb| verb.frame != Frame::Say && verb.frame != Frame::Stay);
    let clause = plain(verbal(dice, verb, family, None, 80));
    let word = match verb.frame {
        Frame::Toward => dice.weigh(&[(50, QuestionWord::How), (50, QuestionWord::When)]),
        Frame::Arrive | Frame::Put(_) => QuestionWord::When,
        _ => dice.weigh(&[(60, QuestionWord::Where), (40, QuestionWord::When)]),
    };
    // Italian puts the subject last, which an object would bury: there let it be a pronoun.
    let subject = match (matches!(clause.complement, Complement::None), clause.subject) {
        (true, Subject::Phrase(NounPhrase::Common(nominal))) => {
            Subject::Phrase(NounPhrase::Common(Nominal { attachment: None, ..nominal }))
        }
        (true, subject) => subject,
        (false, _) => Subject::Pronoun(pronoun(dice)),
    };
    let adjuncts = match verb.frame {
        Frame::Toward | Frame::Arrive | Frame::Put(_) => clause.adjuncts.into_iter().take(1).collect(),
        _ => Vec::new(),
    };
    Sentence::Question(word, Verbal { subject, adjuncts, ..clause })
}

/// *what does the cat eat?*, *how many books do you have?*, *who did she meet?*
fn object(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let verb = verb(dice, |verb| matches!(verb.frame, Frame::Object(_) | Frame::Give(_)));
    let people = matches!(verb.frame, Frame::Object(kinds) if kinds & PEOPLE != 0);
    let clause = plain(verbal(dice, verb, family, None, 80));
    let noun = noun(dice, &verb.objects);
    let number = if dice.chance(50) { Number::Singular } else { Number::Plural };
    let word = match dice.below(100) {
        _ if people && !noun.is(PEOPLE) => QuestionWord::What,
        0..35 if people => QuestionWord::Whom,
        0..30 => QuestionWord::What,
        _ if noun.is(MASS) => QuestionWord::What,
        30..65 => QuestionWord::HowMany(noun),
        _ => QuestionWord::Which(noun, number),
    };
    // "who sees the cat?" asks for the subject: whom to ask for, let a pronoun see.
    let subject = match (word, clause.subject) {
        (QuestionWord::Whom | QuestionWord::Which(..) | QuestionWord::HowMany(_), Subject::Phrase(_))
            if people =>
        {
            Subject::Pronoun(pronoun(dice))
        }
        (_, subject) => subject,
    };
    let complement = match clause.complement {
        Complement::Give(_, person) | Complement::GiveIt(_, person) => Complement::To(person),
        Complement::GiveTo(_, person) => Complement::ToPronoun(person),
        _ => Complement::None,
    };
    let adjuncts = clause.adjuncts.into_iter().take(1).collect();
    Sentence::Question(word, Verbal { subject, complement, adjuncts, ..clause })
}
