//! Random sentences: the probabilities of the grammar.

use super::clause::*;
use super::lexicon::{Idiom, LEXICON, Verb};
use super::noun_phrase::*;
use super::nouns::*;
use super::sample_phrase::*;
use super::sample_question::question;
use super::sample_state::{being, having, liking, there};
use super::sentence::Sentence;
use super::tense::{Family, Modal, Tense};
use super::verb_group::{Polarity, VerbGroup};
use super::verbs::{Aspect, Frame};
use crate::builtin::dice::Dice;

/// A sentence.
pub(super) fn sentence(dice: &mut Dice<'_>) -> Sentence {
    let family = dice.weigh(&[(50, Family::Present), (33, Family::Past), (17, Family::Future)]);
    match dice.weigh(&[(70, 0), (20, 1), (10, 2)]) {
        0 => Sentence::Statement(clause(dice, family, 90)),
        1 => question(dice, family),
        _ => joined(dice, family),
    }
}

/// A statement of its own.
fn clause(dice: &mut Dice<'_>, family: Family, fullness: Fullness) -> Clause {
    match dice.weigh(&[(64, 0), (20, 1), (8, 2), (6, 3), (2, 4)]) {
        0 => {
            let verb = dice.pick(&LEXICON.verbs);
            Clause::Verbal(verbal(dice, verb, family, None, fullness))
        }
        1 => Clause::Verbal(being(dice, family, fullness)),
        2 => Clause::There(there(dice, family, fullness)),
        3 => Clause::Like(liking(dice, family, fullness)),
        _ => Clause::Verbal(having(dice, family, fullness)),
    }
}

fn joined(dice: &mut Dice<'_>, family: Family) -> Sentence {
    let left = clause(dice, family, 35);
    let later = if family == Family::Future { 0 } else { 12 };
    let joint = dice.weigh(&[
        (40, Joint::And),
        (22, Joint::But),
        (22, Joint::Because),
        (later, Joint::While),
        (later, Joint::When),
    ]);
    let right = match joint {
        Joint::And | Joint::But if dice.chance(50) => same_subject(dice, &left, family),
        Joint::Because if dice.chance(25) => {
            Some(Clause::Weather(dice.pick(&LEXICON.weather[family as usize])))
        }
        Joint::While => Some(Clause::Verbal(meanwhile(dice, family))),
        _ => None,
    };
    let right = right.unwrap_or_else(|| clause(dice, family, 35));
    Sentence::Joined(Box::new(left), joint, Box::new(right))
}

/// Another thing that the subject of `left` does, if a verb is found for it.
fn same_subject(dice: &mut Dice<'_>, left: &Clause, family: Family) -> Option<Clause> {
    let Clause::Verbal(left) = left else { return None };
    if matches!(left.complement, Complement::That(_)) {
        return None; // whose subject would it be?
    }
    let verb = dice.pick(&LEXICON.verbs);
    if verb.frame == Frame::Say || !is_subject(&left.subject, verb) {
        return None;
    }
    let subject = Subject::Same(left.subject.agreement());
    Some(Clause::Verbal(Verbal { opening: None, ..verbal(dice, verb, family, Some(subject), 35) }))
}

/// Whether everyone in `subject` can do what `verb` says.
fn is_subject(subject: &Subject, verb: &Verb) -> bool {
    fn of(phrase: &NounPhrase, verb: &Verb) -> bool {
        match phrase {
            NounPhrase::Common(nominal) => {
                verb.subjects.iter().any(|&at| std::ptr::eq(&LEXICON.nouns[at], nominal.noun))
            }
            NounPhrase::Name(_) => true,
            NounPhrase::Both(left, _, right) => of(left, verb) && of(right, verb),
        }
    }
    match subject {
        Subject::Phrase(phrase) => of(phrase, verb),
        _ => true,
    }
}

/// *while the girl was sleeping*
fn meanwhile(dice: &mut Dice<'_>, family: Family) -> Verbal {
    let verb = loop {
        let verb = dice.pick(&LEXICON.verbs);
        if verb.aspect == Aspect::Action {
            break verb;
        }
    };
    let mut clause = Verbal { opening: None, ..verbal(dice, verb, family, None, 35) };
    clause.group.tense = if family == Family::Past { Tense::Imperfect } else { Tense::Progressive };
    (clause.group.polarity, clause.group.frequency) = (Polarity::Affirmative, None);
    clause
}

/// A tense of `family` that `verb` has.
fn tense(dice: &mut Dice<'_>, verb: &Verb, family: Family) -> Tense {
    let action = usize::from(verb.aspect == Aspect::Action);
    let state = verb.aspect == Aspect::State;
    let told = usize::from(verb.english.past != verb.english.base); // "i read" would be two tenses
    match family {
        Family::Future => Tense::Future,
        Family::Present if state => Tense::Present,
        Family::Past if state => Tense::Past,
        Family::Present => dice.weigh(&[
            (50, Tense::Present),
            (20 * action, Tense::Progressive),
            (9, Tense::Modal(Modal::Can)),
            (8, Tense::Modal(Modal::Must)),
            (7, Tense::Modal(Modal::Want)),
            (6, Tense::Modal(Modal::WouldLike)),
        ]),
        Family::Past => dice.weigh(&[
            (40 * told, Tense::Past),
            (32, Tense::Perfect),
            (20 * action, Tense::Imperfect),
            (8, Tense::Modal(Modal::Wanted)),
        ]),
    }
}

/// `verb` in a tense of `family`, sometimes denied or said of a habit.
pub(super) fn group(dice: &mut Dice<'_>, verb: &'static Verb, family: Family) -> VerbGroup {
    let tense = tense(dice, verb, family);
    let whole = matches!(tense, Tense::Present | Tense::Past | Tense::Perfect | Tense::Future);
    let polarity = match dice.below(100) {
        0..12 => Polarity::Not,
        12..16 if whole => Polarity::Never,
        _ => Polarity::Affirmative,
    };
    let often = whole && verb.aspect != Aspect::State && polarity == Polarity::Affirmative && dice.chance(7);
    let frequency = often.then(|| dice.pick(&LEXICON.frequency));
    VerbGroup { verb, tense, polarity, frequency }
}

/// When, in words that go with `group`.
pub(super) fn time(dice: &mut Dice<'_>, group: &VerbGroup, family: Family) -> Option<&'static Idiom> {
    let times = &LEXICON.times[family as usize];
    if group.frequency.is_some() || group.polarity == Polarity::Never {
        return None;
    }
    match group.tense {
        Tense::Perfect => None,
        Tense::Present if group.verb.aspect != Aspect::State => Some(dice.pick(&times[2..])),
        Tense::Future | Tense::Past | Tense::Imperfect | Tense::Modal(Modal::Wanted) => {
            Some(dice.pick(times))
        }
        _ => Some(dice.pick(&times[..2])), // today, now
    }
}

/// A clause around `verb`.
pub(super) fn verbal(
    dice: &mut Dice<'_>,
    verb: &'static Verb,
    family: Family,
    given: Option<Subject>,
    fullness: Fullness,
) -> Verbal {
    let subject = given.unwrap_or_else(|| subject(dice, verb, fullness));
    let group = group(dice, verb, family);
    let mut complement = complement(dice, verb, &subject, family, fullness);
    if group.polarity != Polarity::Affirmative {
        deny(&mut complement);
    }
    let mut adjuncts = adjuncts(dice, verb, &subject, fullness);
    let timely = match (verb.aspect, verb.frame) {
        (_, Frame::Say) => 0,
        (Aspect::State, _) => 8,
        (_, Frame::Alone | Frame::Arrive | Frame::Toward) => 40,
        _ => 20,
    };
    let mut opening = None;
    if dice.chance(timely * fullness / 100) {
        let time = time(dice, &group, family);
        match dice.chance(35) {
            true => opening = time,
            false => adjuncts.extend(time.map(Adjunct::Idiom)),
        }
    }
    Verbal { opening, subject, group, complement, adjuncts }
}

/// *Not … some bread* would be *any bread*: say *the bread*.
fn deny(complement: &mut Complement) {
    fn define(phrase: &mut NounPhrase) {
        match phrase {
            NounPhrase::Common(nominal) if matches!(nominal.determiner, Determiner::Some) => {
                nominal.determiner = Determiner::The;
            }
            NounPhrase::Both(left, _, right) => {
                define(left);
                define(right);
            }
            _ => {}
        }
    }
    if let Complement::Object(phrase) | Complement::Give(phrase, _) | Complement::GiveTo(phrase, _) =
        complement
    {
        define(phrase);
    }
}

fn complement(
    dice: &mut Dice<'_>,
    verb: &Verb,
    subject: &Subject,
    family: Family,
    fullness: Fullness,
) -> Complement {
    match verb.frame {
        Frame::Object(kinds) => {
            let pronoun = verb.english.base != "have" && dice.chance(16);
            match pronoun {
                true => Complement::Pronoun(object_pronoun(dice, subject, kinds & PEOPLE != 0)),
                false => Complement::Object(object(dice, &verb.objects, fullness)),
            }
        }
        Frame::Put(_) => match dice.chance(15) {
            true => Complement::Pronoun(object_pronoun(dice, subject, false)),
            false => Complement::Object(object(dice, &verb.objects, fullness / 2)),
        },
        Frame::Give(_) => {
            let thing = object(dice, &verb.objects, fullness / 2);
            match dice.below(10) {
                0..3 => Complement::GiveTo(thing, object_pronoun(dice, subject, true)),
                3 => Complement::GiveIt(object_pronoun(dice, subject, false), recipient(dice)),
                _ => Complement::Give(thing, recipient(dice)),
            }
        }
        Frame::Speak => match dice.chance(35) {
            true => Complement::ToPronoun(object_pronoun(dice, subject, true)),
            false => Complement::To(recipient(dice)),
        },
        Frame::Say => Complement::That(Box::new(match clause(dice, family, 40) {
            Clause::Verbal(Verbal { complement: Complement::That(_), .. }) => {
                Clause::Verbal(being(dice, family, 40)) // he says that she says that …
            }
            clause => clause,
        })),
        Frame::Alone | Frame::Toward | Frame::Arrive | Frame::Stay => Complement::None,
    }
}

fn adjuncts(dice: &mut Dice<'_>, verb: &Verb, subject: &Subject, fullness: Fullness) -> Vec<Adjunct> {
    let mut adjuncts = Vec::new();
    let with = |dice: &mut Dice<'_>| Adjunct::Phrase(governed(dice, &WITH, &MENUS.people, 40));
    let mut maybe = |dice: &mut Dice<'_>, percent: usize, adjunct: &dyn Fn(&mut Dice<'_>) -> Adjunct| {
        if dice.chance(percent * fullness / 100) {
            adjuncts.push(adjunct(dice));
        }
    };
    let short = matches!(subject, Subject::Pronoun(_) | Subject::Same(_));
    match verb.frame {
        Frame::Object(_) if verb.aspect == Aspect::State => {}
        Frame::Object(_) => {
            let fair =
                ["buy", "make", "prepare", "take", "choose", "cut", "open"].contains(&verb.english.base);
            maybe(dice, 7 * usize::from(verb.aspect == Aspect::Action), &manner_of_doing);
            maybe(dice, if fair { 14 } else { 0 }, &|dice| {
                Adjunct::Phrase(governed(dice, &FOR, &MENUS.people, 40))
            });
            maybe(dice, 7 * usize::from(verb.aspect == Aspect::Action), &with);
            maybe(dice, 12, &|dice| place(dice, PEOPLE));
        }
        Frame::Give(_) | Frame::Say => {}
        Frame::Speak if verb.english.base == "speak" => {
            maybe(dice, 50, &|dice| Adjunct::Phrase(governed(dice, &ABOUT, &MENUS.topics, 50)));
        }
        Frame::Speak => maybe(dice, 30, &manner),
        Frame::Put(_) => adjuncts.push(destination(dice)),
        Frame::Alone => {
            maybe(dice, 25 * usize::from(verb.aspect == Aspect::Action), &manner);
            maybe(dice, 25, &with);
            let resting = ["sleep", "sit", "fall"].contains(&verb.english.base);
            let kinds = if resting { ANIMATE } else { PEOPLE };
            maybe(dice, if short { 200 } else { 60 }, &|dice| place(dice, kinds));
        }
        Frame::Toward => {
            let away = verb.english.base == "leave" || (verb.english.base != "go" && dice.chance(30));
            adjuncts.push(match away {
                true => goal(dice, &FROM, &LEXICON.from),
                false => goal(dice, &TO, &LEXICON.toward),
            });
            if dice.chance(30 * fullness / 100) {
                adjuncts.push(if dice.chance(50) {
                    Adjunct::Idiom(dice.pick(&LEXICON.travel))
                } else {
                    with(dice)
                });
            }
        }
        Frame::Arrive => adjuncts.push(goal(dice, &AT, &LEXICON.at[..2])),
        Frame::Stay => adjuncts.push(place(dice, PEOPLE)),
    }
    adjuncts
}

fn manner(dice: &mut Dice<'_>) -> Adjunct {
    Adjunct::Idiom(dice.pick(&LEXICON.manner))
}

/// How something is done to an object.
fn manner_of_doing(dice: &mut Dice<'_>) -> Adjunct {
    Adjunct::Idiom(dice.pick(&LEXICON.manner[..LEXICON.manner.len() - 2]))
}
