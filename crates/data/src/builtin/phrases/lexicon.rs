//! The lexicon: the tables, with every form of every word spelled out once.

use std::sync::LazyLock;

use super::adjectives::{ABSOLUTE, AFTER, BEFORE, LIMITING};
use super::conjugation::{Conjugation, conjugate};
use super::idioms;
use super::italian::{Gender, Number, agreeing, plural};
use super::nouns::{Kinds, NAMES, NOUNS};
use super::tense::Family;
use super::verbs::{Aspect, BE, BE_WITH, Frame, LIKE, VERBS, VerbEntry};

/// A noun with its forms, singular and plural.
#[derive(Debug)]
pub(super) struct Noun {
    pub(super) english: [String; 2],
    pub(super) italian: [String; 2],
    pub(super) gender: [Gender; 2],
    pub(super) kinds: Kinds,
    /// Indices of the adjectives that may stand before and after it.
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
}

impl Noun {
    /// Its gender in this number: *l'uovo* is masculine, *le uova* are feminine.
    pub(super) fn gender(&self, number: Number) -> Gender {
        self.gender[number as usize]
    }

    /// Whether it is of one of these kinds.
    pub(super) fn is(&self, kinds: Kinds) -> bool {
        self.kinds & kinds != 0
    }
}

/// An adjective with its four Italian forms.
#[derive(Debug)]
pub(super) struct Adjective {
    pub(super) english: &'static str,
    pub(super) italian: [String; 4],
    /// Whether it can be *very* so.
    pub(super) graded: bool,
    kinds: Kinds,
}

/// A first name, the same in both languages.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: &'static str,
    pub(super) gender: Gender,
}

/// The forms of an English verb.
#[derive(Debug)]
pub(super) struct English {
    pub(super) base: &'static str,
    pub(super) third: String,
    pub(super) past: &'static str,
    pub(super) participle: &'static str,
    pub(super) gerund: &'static str,
    /// *for* in *look for*.
    pub(super) particle: Option<&'static str>,
}

/// A verb in both languages.
#[derive(Debug)]
pub(super) struct Verb {
    pub(super) english: English,
    pub(super) italian: Conjugation,
    pub(super) aspect: Aspect,
    pub(super) frame: Frame,
    /// Indices of the nouns that may be its subject and its object.
    pub(super) subjects: Vec<usize>,
    pub(super) objects: Vec<usize>,
}

/// A fixed expression; words with the same number translate each other.
#[derive(Debug)]
pub(super) struct Idiom {
    pub(super) english: Vec<(&'static str, u32)>,
    pub(super) italian: Vec<(&'static str, u32)>,
}

/// All that the grammar draws from.
#[derive(Debug)]
pub(super) struct Lexicon {
    pub(super) nouns: Vec<Noun>,
    pub(super) names: Vec<Name>,
    pub(super) before: Vec<Adjective>,
    pub(super) limiting: Vec<Adjective>,
    pub(super) after: Vec<Adjective>,
    pub(super) verbs: Vec<Verb>,
    pub(super) be: Verb,
    pub(super) be_with: Verb,
    pub(super) like: Verb,
    pub(super) stare: Conjugation,
    pub(super) essere: Conjugation,
    pub(super) avere: Conjugation,
    pub(super) potere: Conjugation,
    pub(super) dovere: Conjugation,
    pub(super) volere: Conjugation,
    pub(super) times: [Vec<Idiom>; 3],
    pub(super) weather: [Vec<Idiom>; 3],
    pub(super) at: Vec<Idiom>,
    pub(super) toward: Vec<Idiom>,
    pub(super) from: Vec<Idiom>,
    pub(super) travel: Vec<Idiom>,
    pub(super) manner: Vec<Idiom>,
    pub(super) frequency: Vec<Idiom>,
    pub(super) degree: Vec<Idiom>,
    pub(super) having: Vec<Idiom>,
    pub(super) numbers: Vec<Idiom>,
}

/// The one lexicon.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::compile);

impl Lexicon {
    fn compile() -> Self {
        let before = adjectives(BEFORE);
        let after = adjectives(AFTER);
        let mut nouns: Vec<Noun> = NOUNS
            .iter()
            .flat_map(|(kinds, list)| list.split(", ").map(|entry| noun(entry, *kinds)))
            .collect();
        for noun in &mut nouns {
            let fitting = |list: &[Adjective]| -> Vec<usize> {
                (0..list.len()).filter(|&at| list[at].kinds & noun.kinds != 0).collect()
            };
            (noun.before, noun.after) = (fitting(&before), fitting(&after));
        }
        let compiled = |entry: &VerbEntry| verb(entry, &nouns);
        Self {
            verbs: VERBS.iter().map(compiled).collect(),
            be: compiled(&BE),
            be_with: compiled(&BE_WITH),
            like: compiled(&LIKE),
            names: NAMES.split(", ").map(name).collect(),
            limiting: adjectives(&[(0, LIMITING)]),
            before,
            after,
            nouns,
            stare: conjugate("stare"),
            essere: conjugate("essere"),
            avere: conjugate("avere"),
            potere: conjugate("potere"),
            dovere: conjugate("dovere"),
            volere: conjugate("volere"),
            times: by_family(idioms::TIMES),
            weather: by_family(idioms::WEATHER),
            at: idioms(idioms::AT),
            toward: idioms(idioms::TOWARD),
            from: idioms(idioms::FROM),
            travel: idioms(idioms::TRAVEL),
            manner: idioms(idioms::MANNER),
            frequency: idioms(idioms::FREQUENCY),
            degree: idioms(idioms::DEGREE),
            having: idioms(idioms::HAVING),
            numbers: idioms(idioms::NUMBERS),
        }
    }
}

/// `man/men` or, where the rule gives the second form, `cat`.
fn two_forms(entry: &str, second: impl Fn(&str) -> String) -> [String; 2] {
    match entry.split_once('/') {
        Some((one, two)) => [one.into(), two.into()],
        None => [entry.into(), second(entry)],
    }
}

/// English *-s*: plurals of nouns and third persons of verbs.
pub(super) fn with_s(word: &str) -> String {
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    let consonant_o = word.ends_with('o') && !word.ends_with("oo");
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if sibilant || consonant_o => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

fn gender_of(mark: Option<&str>, italian: &str) -> [Gender; 2] {
    match mark {
        Some("m/f") => [Gender::Masculine, Gender::Feminine],
        Some("f") => [Gender::Feminine; 2],
        None if italian.ends_with('a') => [Gender::Feminine; 2],
        _ => [Gender::Masculine; 2],
    }
}

fn noun(entry: &str, kinds: Kinds) -> Noun {
    let mut fields = entry.split_whitespace();
    let (english, italian) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let gender = gender_of(fields.next(), italian);
    Noun {
        english: two_forms(english, with_s),
        italian: two_forms(italian, |singular| plural(singular, gender[0])),
        gender,
        kinds,
        before: Vec::new(),
        after: Vec::new(),
    }
}

fn name(entry: &'static str) -> Name {
    let (text, mark) = entry.split_once(' ').unwrap_or((entry, "m"));
    Name { text, gender: gender_of(Some(mark), text)[0] }
}

/// The adjectives of a table; one that is listed for several kinds becomes one adjective.
fn adjectives(table: &[(Kinds, &'static str)]) -> Vec<Adjective> {
    let mut found: Vec<Adjective> = Vec::new();
    for (kinds, list) in table {
        for (english, italian) in list.split(", ").filter_map(|entry| entry.trim().split_once(' ')) {
            match found.iter_mut().find(|known| known.english == english) {
                Some(known) => known.kinds |= kinds,
                None => found.push(Adjective {
                    english,
                    italian: agreeing(italian),
                    graded: !ABSOLUTE.contains(&english),
                    kinds: *kinds,
                }),
            }
        }
    }
    found
}

fn verb(entry: &VerbEntry, nouns: &[Noun]) -> Verb {
    let (english, italian, aspect, subjects, frame) = *entry;
    let mut forms = english.split(' ');
    let mut next = || forms.next().unwrap_or_default();
    let (base, past, participle, gerund) = (next(), next(), next(), next());
    let third = if base == "have" { "has".into() } else { with_s(base) };
    let of = |kinds: Kinds| -> Vec<usize> { (0..nouns.len()).filter(|&at| nouns[at].is(kinds)).collect() };
    let objects = match frame {
        Frame::Object(kinds) | Frame::Give(kinds) | Frame::Put(kinds) => of(kinds),
        _ => Vec::new(),
    };
    Verb {
        english: English { base, third, past, participle, gerund, particle: forms.next() },
        italian: conjugate(italian),
        aspect,
        frame,
        subjects: of(subjects),
        objects,
    }
}

/// The expressions of one line of a table of idioms.
fn idioms(list: &'static str) -> Vec<Idiom> {
    let side = |text: &'static str| -> Vec<(&'static str, u32)> {
        text.split_whitespace()
            .map(|word| {
                let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
                (bare, word[bare.len()..].parse().unwrap_or(1))
            })
            .collect()
    };
    list.split(", ")
        .filter_map(|entry| entry.split_once('='))
        .map(|(english, italian)| Idiom { english: side(english), italian: side(italian) })
        .collect()
}

fn by_family(table: &[(Family, &'static str)]) -> [Vec<Idiom>; 3] {
    let mut lists: [Vec<Idiom>; 3] = Default::default();
    for (family, list) in table {
        lists[*family as usize].extend(idioms(list));
    }
    lists
}
