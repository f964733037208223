//! Italian word forms: plurals, articles, adjectives, conjugation.

/// Grammatical gender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gender {
    Masculine,
    Feminine,
}

/// Grammatical number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Singular,
    Plural,
}

use Gender::*;
use Number::*;

/// Which of the four forms *-o -a -i -e* agrees.
pub(super) fn form(gender: Gender, number: Number) -> usize {
    2 * (number as usize) + gender as usize
}

/// How a word begins, as far as the word before it cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onset {
    /// *il gatto*
    Plain,
    /// *lo zio*: s + consonant, z, gn, ps, x, y.
    Heavy,
    /// *l'amico*
    Vowel,
}

/// The onset of `word`.
pub(super) fn onset(word: &str) -> Onset {
    let mut letters = word.chars();
    let (first, second) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
    match (first, second) {
        ('a' | 'e' | 'i' | 'o' | 'u' | 'è' | 'à' | 'h', _) => Onset::Vowel,
        ('z' | 'x' | 'y', _) | ('g', 'n') | ('p', 's') => Onset::Heavy,
        ('s', next) if !"aeiouèàìòù".contains(next) => Onset::Heavy,
        _ => Onset::Plain,
    }
}

/// Definite articles, in the order of the articulated prepositions below.
const ARTICLES: [&str; 7] = ["il", "lo", "la", "l'", "i", "gli", "le"];

fn article_index(gender: Gender, number: Number, next: Onset) -> usize {
    match (number, gender, next) {
        (Singular, _, Onset::Vowel) => 3,
        (Singular, Masculine, Onset::Plain) => 0,
        (Singular, Masculine, Onset::Heavy) => 1,
        (Singular, Feminine, _) => 2,
        (Plural, Masculine, Onset::Plain) => 4,
        (Plural, Masculine, _) => 5,
        (Plural, Feminine, _) => 6,
    }
}

/// *il, lo, la, l', i, gli, le* before a word that begins like `next`.
pub(super) fn definite(gender: Gender, number: Number, next: Onset) -> &'static str {
    ARTICLES[article_index(gender, number, next)]
}

/// *un, uno, una, un'* before a word that begins like `next`.
pub(super) fn indefinite(gender: Gender, next: Onset) -> &'static str {
    match (gender, next) {
        (Masculine, Onset::Heavy) => "uno",
        (Masculine, _) => "un",
        (Feminine, Onset::Vowel) => "un'",
        (Feminine, _) => "una",
    }
}

/// The prepositions that melt into the definite article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simple {
    Di,
    A,
    Da,
    In,
    Su,
}

impl Simple {
    /// The preposition by itself, before `next`.
    pub(super) fn alone(self, next: &str) -> &'static str {
        match self {
            Self::A if next.starts_with('a') => "ad",
            _ => ["di", "a", "da", "in", "su"][self as usize],
        }
    }

    /// The preposition with the definite article: *del, dello, della…*
    pub(super) fn articulated(self, gender: Gender, number: Number, next: Onset) -> &'static str {
        const FORMS: [[&str; 7]; 5] = [
            ["del", "dello", "della", "dell'", "dei", "degli", "delle"],
            ["al", "allo", "alla", "all'", "ai", "agli", "alle"],
            ["dal", "dallo", "dalla", "dall'", "dai", "dagli", "dalle"],
            ["nel", "nello", "nella", "nell'", "nei", "negli", "nelle"],
            ["sul", "sullo", "sulla", "sull'", "sui", "sugli", "sulle"],
        ];
        FORMS[self as usize][article_index(gender, number, next)]
    }
}

/// *quel, quello, quella, quell', quei, quegli, quelle*.
pub(super) fn that(gender: Gender, number: Number, next: Onset) -> &'static str {
    ["quel", "quello", "quella", "quell'", "quei", "quegli", "quelle"][article_index(gender, number, next)]
}

/// *questo* and its forms; *quest'* before a vowel in the singular.
pub(super) fn this(gender: Gender, number: Number, next: Onset) -> &'static str {
    match (number, next) {
        (Singular, Onset::Vowel) => "quest'",
        _ => ["questo", "questa", "questi", "queste"][form(gender, number)],
    }
}

/// The form of an adjective that stands before its noun: *bello* goes like *quello*, *buono* is cut
/// short before a singular masculine noun; the others keep their `forms`.
pub(super) fn prenominal(forms: &[String; 4], gender: Gender, number: Number, next: Onset) -> &str {
    match (forms[0].as_str(), gender, number) {
        ("bello", ..) => {
            ["bel", "bello", "bella", "bell'", "bei", "begli", "belle"][article_index(gender, number, next)]
        }
        ("buono", Masculine, Singular) if next != Onset::Heavy => "buon",
        _ => &forms[form(gender, number)],
    }
}

/// `stem` with its `-c` or `-g` kept hard before *i* and *e*.
fn hard(stem: &str) -> String {
    let h = if stem.ends_with(['c', 'g']) { "h" } else { "" };
    format!("{stem}{h}")
}

/// The plural of a noun, by the rules.
pub(super) fn plural(noun: &str, gender: Gender) -> String {
    if let Some(stem) = noun.strip_suffix("ico") {
        return format!("{stem}ici"); // amico, amici
    }
    if let Some(stem) = noun.strip_suffix("io") {
        return format!("{stem}i"); // negozio, negozi
    }
    if let Some(stem) = noun.strip_suffix('o') {
        return format!("{}i", hard(stem)); // parco, parchi
    }
    match (noun.strip_suffix('a'), gender) {
        (Some(stem), Masculine) => return format!("{}i", hard(stem)), // problema, problemi
        (Some(stem), Feminine) => return feminine_plural(stem),
        _ => {}
    }
    match noun.strip_suffix('e') {
        Some(stem) => format!("{stem}i"),
        None => noun.into(), // città, zoo
    }
}

/// The plural in *-e*: *arancia, arance*, but *camicia, camicie*; *mucca, mucche*.
fn feminine_plural(stem: &str) -> String {
    let soft = stem.strip_suffix('i').filter(|rest| rest.ends_with(['c', 'g']));
    match soft {
        Some(rest) if !rest[..rest.len() - 1].ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{rest}e"),
        Some(_) => format!("{stem}e"),
        None => format!("{}e", hard(stem)),
    }
}

/// The four forms of an adjective: masculine and feminine singular, masculine and feminine plural.
pub(super) fn agreeing(adjective: &str) -> [String; 4] {
    let forms: [String; 4] = if let Some(stem) = adjective.strip_suffix('o') {
        [adjective.into(), format!("{stem}a"), plural(adjective, Masculine), feminine_plural(stem)]
    } else if let Some(stem) = adjective.strip_suffix('e') {
        [adjective.into(), adjective.into(), format!("{stem}i"), format!("{stem}i")]
    } else {
        std::array::from_fn(|_| adjective.into()) // blu, rosa
    };
    forms
}
