//! Random clauses that tell how things are: *be*, *there is*, *like*.

use super::clause::*;
use super::italian::{Gender, Number};
use super::lexicon::{LEXICON, Noun};
use super::noun_phrase::*;
use super::nouns::*;
use super::sample::{group, time};
use super::sample_phrase::*;
use super::tense::{Family, Tense};
use super::verb_group::Polarity;
use crate::builtin::dice::Dice;

/// *Be*, with a quality, a place or a calling.
pub(super) fn being(dice: &mut Dice<'_>, family: Family, fullness: Fullness) -> Verbal {
    let group = group(dice, &LEXICON.be, family);
    let (mut subject, noun) = being_subject(dice, fullness);
    let (mut complement, mut adjuncts, mut opening) = (Complement::None, Vec::new(), None);
    match dice.below(100) {
        0..45 if !noun.is(TALE | TOPIC | DRINK) => adjuncts.push(place(dice, noun.kinds)),
        45..55 if noun.is(PEOPLE) && subject.agreement().number == Number::Singular => {
            complement = Complement::Object(calling(dice, subject.agreement().gender, fullness));
        }
        _ => {
            complement = quality(dice, noun);
            if let Subject::Phrase(NounPhrase::Common(nominal)) = &mut subject {
                (nominal.before, nominal.after) = (None, None); // no green trees that are yellow
            }
        }
    }
    if dice.chance(15 * fullness / 100) {
        let time = time(dice, &group, family);
        match dice.chance(50) {
            true => opening = time,
            false => adjuncts.extend(time.map(Adjunct::Idiom)),
        }
    }
    Verbal { opening, subject, group, complement, adjuncts }
}

/// The subject of *be*, and a noun of its kinds.
fn being_subject(dice: &mut Dice<'_>, fullness: Fullness) -> (Subject, &'static Noun) {
    match dice.below(100) {
        0..8 => (Subject::Pronoun(pronoun(dice)), &LEXICON.nouns[0]),
        8..30 => {
            let people = phrase(dice, &MENUS.people, Role::Plain, fullness);
            (Subject::Phrase(people), &LEXICON.nouns[0])
        }
        _ => {
            let noun = noun(dice, &MENUS.describable);
            let mut nominal = nominal(dice, noun, Role::Plain, fullness);
            if matches!(nominal.determiner, Determiner::A) {
                nominal.determiner = Determiner::The;
            }
            (Subject::Phrase(NounPhrase::Common(nominal)), noun)
        }
    }
}

/// *a famous writer*, of this gender.
fn calling(dice: &mut Dice<'_>, gender: Gender, fullness: Fullness) -> NounPhrase {
    let noun = noun(dice, &MENUS.persons[gender as usize]);
    let usual = nominal(dice, noun, Role::New, fullness);
    NounPhrase::Common(Nominal {
        determiner: Determiner::A,
        number: Number::Singular,
        attachment: None,
        ..usual
    })
}

/// *very tired*
fn quality(dice: &mut Dice<'_>, noun: &Noun) -> Complement {
    let adjective = match dice.below(noun.after.len() + noun.before.len()) {
        at if at < noun.after.len() => &LEXICON.after[noun.after[at]],
        at => &LEXICON.before[noun.before[at - noun.after.len()]],
    };
    let degree = (adjective.graded && dice.chance(35)).then(|| dice.pick(&LEXICON.degree));
    Complement::Adjective(degree, adjective)
}

/// *Be hungry*.
pub(super) fn having(dice: &mut Dice<'_>, family: Family, fullness: Fullness) -> Verbal {
    let group = group(dice, &LEXICON.be_with, family);
    let subject = subject(dice, &LEXICON.be_with, fullness);
    let complement = Complement::Having(dice.pick(&LEXICON.having));
    let opening = dice.chance(20).then(|| time(dice, &group, family)).flatten();
    Verbal { opening, subject, group, complement, adjuncts: Vec::new() }
}

fn simple(family: Family) -> Tense {
    match family {
        Family::Present => Tense::Present,
        Family::Past => Tense::Past,
        Family::Future => Tense::Future,
    }
}

fn denied(dice: &mut Dice<'_>) -> Polarity {
    if dice.chance(15) { Polarity::Not } else { Polarity::Affirmative }
}

/// *There is*.
pub(super) fn there(dice: &mut Dice<'_>, family: Family, fullness: Fullness) -> There {
    let noun = noun(dice, &MENUS.locatable);
    let phrase = nominal(dice, noun, Role::New, fullness);
    let adjuncts = vec![place(dice, noun.kinds)];
    let polarity = match phrase.determiner {
        Determiner::Some | Determiner::Few => Polarity::Affirmative,
        _ => denied(dice),
    };
    There { tense: simple(family), polarity, phrase: NounPhrase::Common(phrase), adjuncts }
}

/// *Like*.
pub(super) fn liking(dice: &mut Dice<'_>, family: Family, fullness: Fullness) -> Like {
    let liker = match dice.chance(60) {
        true => Subject::Phrase(recipient(dice)),
        false => Subject::Pronoun(pronoun(dice)),
    };
    let noun = noun(dice, &MENUS.likeable);
    let mut liked = nominal(dice, noun, Role::Governed, fullness);
    if matches!(liked.determiner, Determiner::A | Determiner::Every) {
        liked.determiner = Determiner::The;
    }
    Like { liker, tense: simple(family), polarity: denied(dice), liked: NounPhrase::Common(liked) }
}
