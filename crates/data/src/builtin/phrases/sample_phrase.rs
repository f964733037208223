//! Random noun phrases and prepositional phrases.

use std::sync::LazyLock;

use super::clause::{Adjunct, ObjectPronoun, Pronoun, Subject};
use super::italian::{Gender, Number};
use super::lexicon::{Adjective, Idiom, LEXICON, Noun, Verb};
use super::noun_phrase::*;
use super::nouns::*;
use crate::builtin::dice::Dice;

/// Indices of the nouns of some kinds.
pub(super) struct Menus {
    pub(super) people: Vec<usize>,
    /// Masculine and feminine ones.
    pub(super) persons: [Vec<usize>; 2],
    pub(super) topics: Vec<usize>,
    pub(super) likeable: Vec<usize>,
    pub(super) locatable: Vec<usize>,
    pub(super) describable: Vec<usize>,
    places: Vec<usize>,
    furniture: Vec<usize>,
    containers: Vec<usize>,
    nature: Vec<usize>,
    clothes: Vec<usize>,
}

/// The one set of menus.
pub(super) static MENUS: LazyLock<Menus> = LazyLock::new(|| {
    let of = |kinds: Kinds| -> Vec<usize> {
        (0..LEXICON.nouns.len()).filter(|&at| LEXICON.nouns[at].is(kinds)).collect()
    };
    Menus {
        people: of(PEOPLE),
        persons: [Gender::Masculine, Gender::Feminine].map(|gender| {
            of(PERSON)
                .into_iter()
                .filter(|&at| LEXICON.nouns[at].gender(Number::Singular) == gender)
                .collect()
        }),
        topics: of(TOPIC | TALE | PEOPLE | TEXT),
        likeable: of(FOOD | DRINK | GOODS | ANIMAL | PLACE | TALE | VEHICLE),
        locatable: of(ANIMATE | GOODS | FOOD | VEHICLE | FURNITURE),
        describable: of(CONCRETE | TALE | TOPIC | DRINK),
        places: of(PLACE),
        furniture: of(FURNITURE),
        containers: of(CONTAINER),
        nature: of(NATURE),
        clothes: of(CLOTHES),
    }
});

/// What a noun phrase may look like where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// After a preposition: no *some*, which Italian would say as *di* once more.
    Governed,
    /// After *there is*: nothing definite.
    New,
}

/// How much is said beyond what must be: a percentage of the usual.
pub(super) type Fullness = usize;

/// A random noun of `menu`.
pub(super) fn noun(dice: &mut Dice<'_>, menu: &[usize]) -> &'static Noun {
    &LEXICON.nouns[*dice.pick(menu)]
}

fn determiner(dice: &mut Dice<'_>, noun: &Noun, number: Number, role: Role) -> Determiner {
    use Determiner::*;
    let count = dice.pick(&LEXICON.numbers);
    let mine = Possessive(*dice.pick(&Owner::ALL));
    let (defined, family) = (role != Role::New, usize::from(noun.is(FAMILY)));
    let owned = if noun.is(FAMILY) {
        120
    } else if noun.is(PERSON | PLACE | NATURE) {
        7
    } else {
        18
    };
    let some = if role == Role::Governed { 0 } else { 8 };
    let definite = |weight: usize| if defined { weight } else { 0 };
    match number {
        Number::Singular if noun.is(MASS) => dice.weigh(&[
            (definite(48), The),
            (some * 3 / 2, Some),
            (definite(12), mine),
            (definite(8), This),
            (definite(6), That),
        ]),
        Number::Singular => dice.weigh(&[
            (definite(48 - 25 * family), The),
            (24 - 22 * family, A),
            (definite(owned), mine),
            (definite(7), This),
            (definite(6), That),
            (definite(3), Every),
        ]),
        Number::Plural => dice.weigh(&[
            (definite(44), The),
            (16, Count(count)),
            (8, Many),
            (3, Few),
            (some, Some),
            (definite(owned), mine),
            (definite(7), This),
            (definite(6), That),
            (definite(5), AllThe),
            (definite(4), TheCount(count)),
        ]),
    }
}

/// A noun phrase around `noun`.
pub(super) fn nominal(dice: &mut Dice<'_>, noun: &'static Noun, role: Role, fullness: Fullness) -> Nominal {
    let several = if noun.is(FAMILY) { 12 } else { 30 };
    let number =
        if !noun.is(MASS | SOLE) && dice.chance(several) { Number::Plural } else { Number::Singular };
    let determiner = determiner(dice, noun, number, role);
    let adjective = |dice: &mut Dice<'_>, list: &'static [Adjective], menu: &[usize], percent: usize| {
        (!menu.is_empty() && dice.chance(percent * fullness / 100)).then(|| &list[*dice.pick(menu)])
    };
    let mut before = adjective(dice, &LEXICON.before, &noun.before, 17);
    if matches!(determiner, Determiner::The) && !noun.is(MASS | FAMILY) && dice.chance(3) {
        before = Some(dice.pick(&LEXICON.limiting));
    }
    let after = adjective(dice, &LEXICON.after, &noun.after, 15).map(|adjective| {
        let degree = (before.is_none() && adjective.graded && dice.chance(12))
            .then(|| dice.pick(&LEXICON.degree[..1]));
        (degree, adjective)
    });
    let attachable = matches!(
        determiner,
        Determiner::The | Determiner::A | Determiner::Count(_) | Determiner::Many | Determiner::TheCount(_)
    );
    let attachment =
        (attachable && dice.chance(9 * fullness / 100)).then(|| attachment(dice, noun)).flatten();
    Nominal { determiner, before, noun, number, after, attachment: attachment.map(Box::new) }
}

/// *of the teacher*, *with the red hat*, *near the station*.
fn attachment(dice: &mut Dice<'_>, noun: &Noun) -> Option<Prepositional> {
    let owned = noun.is(OBJECTS | ANIMAL | FAMILY | TALE);
    let preposition = match () {
        () if owned => &OF,
        () if noun.is(PERSON) && dice.chance(60) => dice.weigh(&[(80, &WITH), (20, &WITHOUT)]),
        () if noun.is(PERSON | PLACE) => dice.weigh(&[(60, &NEAR), (20, &BEHIND), (20, &FRONT)]),
        () => return None,
    };
    let menu = match () {
        () if owned => &MENUS.people,
        () if *preposition == WITH || *preposition == WITHOUT => &MENUS.clothes,
        () => &MENUS.places,
    };
    Some(governed(dice, preposition, menu, 40))
}

/// `preposition` and a noun phrase of `menu`.
pub(super) fn governed(
    dice: &mut Dice<'_>,
    preposition: &'static Preposition,
    menu: &[usize],
    fullness: Fullness,
) -> Prepositional {
    let noun = noun(dice, menu);
    let phrase = match noun.is(PERSON) && dice.chance(12) {
        true => NounPhrase::Name(dice.pick(&LEXICON.names)),
        false => {
            NounPhrase::Common(Nominal { attachment: None, ..nominal(dice, noun, Role::Governed, fullness) })
        }
    };
    Prepositional { preposition, phrase }
}

/// A noun phrase, a name, or two of them.
pub(super) fn phrase(dice: &mut Dice<'_>, menu: &[usize], role: Role, fullness: Fullness) -> NounPhrase {
    let first = single(dice, menu, role, fullness);
    if role != Role::Plain || !dice.chance(6 * fullness / 100) {
        return first;
    }
    let second = single(dice, menu, role, fullness / 2);
    NounPhrase::Both(Box::new(first), Joint::And, Box::new(second))
}

fn single(dice: &mut Dice<'_>, menu: &[usize], role: Role, fullness: Fullness) -> NounPhrase {
    let noun = noun(dice, menu);
    match noun.is(PEOPLE) && role != Role::New && dice.chance(15) {
        true => NounPhrase::Name(dice.pick(&LEXICON.names)),
        false => NounPhrase::Common(nominal(dice, noun, role, fullness)),
    }
}

/// An object: sometimes with *or*.
pub(super) fn object(dice: &mut Dice<'_>, menu: &[usize], fullness: Fullness) -> NounPhrase {
    match phrase(dice, menu, Role::Plain, fullness) {
        NounPhrase::Both(left, _, right) if dice.chance(25) => NounPhrase::Both(left, Joint::Or, right),
        other => other,
    }
}

/// Somebody to give to or speak to.
pub(super) fn recipient(dice: &mut Dice<'_>) -> NounPhrase {
    governed(dice, &TO, &MENUS.people, 40).phrase
}

/// A subject for `verb`.
pub(super) fn subject(dice: &mut Dice<'_>, verb: &Verb, fullness: Fullness) -> Subject {
    match dice.chance(30) {
        true => Subject::Pronoun(pronoun(dice)),
        false => Subject::Phrase(phrase(dice, &verb.subjects, Role::Plain, fullness)),
    }
}

/// A subject pronoun.
pub(super) fn pronoun(dice: &mut Dice<'_>) -> Pronoun {
    dice.weigh(&[
        (22, Pronoun::I),
        (15, Pronoun::You),
        (18, Pronoun::He),
        (18, Pronoun::She),
        (12, Pronoun::We),
        (6, Pronoun::YouAll),
        (12, Pronoun::They),
    ])
}

/// An object pronoun that is not the subject itself: persons if `verb` takes persons.
pub(super) fn object_pronoun(dice: &mut Dice<'_>, subject: &Subject, people: bool) -> ObjectPronoun {
    let pronoun = match people {
        true => *dice.pick(&ObjectPronoun::PEOPLE),
        false => dice.weigh(&[(65, ObjectPronoun::It), (35, ObjectPronoun::Them)]),
    };
    let person = subject.agreement().person % 3;
    match pronoun {
        ObjectPronoun::Me | ObjectPronoun::Us if person == 0 => ObjectPronoun::Them,
        ObjectPronoun::You | ObjectPronoun::YouAll if person == 1 => ObjectPronoun::Her,
        other => other,
    }
}

/// Where something of these kinds is.
pub(super) fn place(dice: &mut Dice<'_>, kinds: Kinds) -> Adjunct {
    if kinds & ANIMATE != 0 && dice.chance(35) {
        return Adjunct::Idiom(dice.pick(&LEXICON.at));
    }
    let movable = kinds & (GOODS | FOOD) != 0;
    let furniture = if kinds & (PLACE | FURNITURE | VEHICLE | NATURE) != 0 { 0 } else { 45 };
    let (menu, preposition) =
        match dice.weigh(&[(40, 0), (furniture, 1), (if movable { 25 } else { 0 }, 2), (8, 3)]) {
            0 if kinds & PLACE != 0 => {
                (&MENUS.places, dice.weigh(&[(60, &NEAR), (15, &FRONT), (15, &BEHIND), (10, &FAR)]))
            }
            0 => (&MENUS.places, dice.weigh(&[(70, &IN), (10, &NEAR), (8, &FRONT), (6, &BEHIND), (6, &FAR)])),
            1 => {
                let on = if movable || kinds & ANIMAL != 0 { 60 } else { 0 };
                let choices = [(on, &ON), (on / 3, &UNDER), (15, &NEAR), (10, &BEHIND), (10, &BESIDE)];
                (&MENUS.furniture, dice.weigh(&choices))
            }
            2 => (&MENUS.containers, &IN),
            _ => (&MENUS.nature, dice.weigh(&[(60, &NEAR), (20, &BEHIND), (20, &FRONT)])),
        };
    Adjunct::Phrase(governed(dice, preposition, menu, 40))
}

/// Where something is put.
pub(super) fn destination(dice: &mut Dice<'_>) -> Adjunct {
    let (menu, preposition) = match dice.chance(65) {
        true => (&MENUS.furniture, dice.weigh(&[(70, &ON), (20, &UNDER), (10, &BEHIND)])),
        false => (&MENUS.containers, &IN),
    };
    Adjunct::Phrase(governed(dice, preposition, menu, 50))
}

/// Where one goes: a place, or one of the fixed expressions `idioms`.
pub(super) fn goal(
    dice: &mut Dice<'_>,
    preposition: &'static Preposition,
    idioms: &'static [Idiom],
) -> Adjunct {
    match dice.chance(40) {
        true => Adjunct::Idiom(dice.pick(idioms)),
        false => Adjunct::Phrase(governed(dice, preposition, &MENUS.places, 50)),
    }
}
