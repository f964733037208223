//! Derivations from plain words, for the tests.

use crate::Example;
use crate::builtin::phrases::clause::*;
use crate::builtin::phrases::italian::Number;
use crate::builtin::phrases::lexicon::{Adjective, Idiom, LEXICON, Noun, Verb};
use crate::builtin::phrases::noun_phrase::*;
use crate::builtin::phrases::sentence::{QuestionWord, Sentence};
use crate::builtin::phrases::tense::Tense;
use crate::builtin::phrases::verb_group::{Polarity, VerbGroup};

fn idiom_in(list: &'static [Idiom], text: &str) -> Option<&'static Idiom> {
    let said = |idiom: &Idiom| idiom.english.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
    list.iter().find(|idiom| said(idiom) == text)
}

/// The fixed expression with this English.
pub(super) fn idiom(text: &str) -> &'static Idiom {
    let lists =
        [&LEXICON.at, &LEXICON.toward, &LEXICON.from, &LEXICON.travel, &LEXICON.manner, &LEXICON.having];
    let more = [&LEXICON.frequency, &LEXICON.degree, &LEXICON.numbers];
    let all = lists.into_iter().chain(more).chain(&LEXICON.times).chain(&LEXICON.weather);
    all.into_iter().find_map(|list| idiom_in(list, text)).unwrap_or_else(|| panic!("no idiom {text}"))
}

pub(super) fn noun(text: &str) -> (&'static Noun, Number) {
    let found =
        LEXICON.nouns.iter().find_map(|noun| match noun.english.iter().position(|form| form == text)? {
            0 => Some((noun, Number::Singular)),
            _ => Some((noun, Number::Plural)),
        });
    found.unwrap_or_else(|| panic!("no noun {text}"))
}

/// A verb by its English base and particle, and its Italian where English has two.
pub(super) fn verb(text: &str) -> &'static Verb {
    let (text, italian) = text.split_once('/').unwrap_or((text, ""));
    let said = |verb: &Verb| match verb.english.particle {
        Some(particle) => format!("{} {particle}", verb.english.base),
        None => verb.english.base.to_string(),
    };
    let fits = |verb: &&Verb| said(verb) == text && verb.italian.infinitive.starts_with(italian);
    LEXICON.verbs.iter().find(fits).unwrap_or_else(|| panic!("no verb {text}"))
}

fn adjective_in(list: &'static [Adjective], text: &str) -> Option<&'static Adjective> {
    list.iter().find(|adjective| adjective.english == text)
}

pub(super) fn quality(text: &str) -> Complement {
    let (degree, text) =
        text.split_once(' ').map_or((None, text), |(degree, rest)| (Some(idiom(degree)), rest));
    let adjective = adjective_in(&LEXICON.after, text).or_else(|| adjective_in(&LEXICON.before, text));
    Complement::Adjective(degree, adjective.unwrap_or_else(|| panic!("no adjective {text}")))
}

fn determiner(words: &mut Vec<&'static str>) -> Determiner {
    const OWNERS: [&str; 6] = ["my", "your", "his", "her", "our", "their"];
    let first = words.remove(0);
    let count = |words: &[&str]| words.first().and_then(|word| idiom_in(&LEXICON.numbers, word));
    match first {
        "the" => match count(words) {
            Some(number) => {
                words.remove(0);
                Determiner::TheCount(number)
            }
            None => Determiner::The,
        },
        "a" | "an" => Determiner::A,
        "this" | "these" => Determiner::This,
        "that" | "those" => Determiner::That,
        "every" => Determiner::Every,
        "some" => Determiner::Some,
        "many" => Determiner::Many,
        "few" => Determiner::Few,
        "all" => {
            words.remove(0);
            Determiner::AllThe
        }
        owner if OWNERS.contains(&owner) => {
            Determiner::Possessive(Owner::ALL[OWNERS.iter().position(|word| *word == owner).unwrap()])
        }
        number => Determiner::Count(idiom(number)),
    }
}

/// A noun phrase from its English; ` of ` and the like attach what follows, ` and ` joins.
pub(super) fn np(text: &'static str) -> NounPhrase {
    if let Some((left, right)) = text.split_once(" and ") {
        return NounPhrase::Both(Box::new(np(left)), Joint::And, Box::new(np(right)));
    }
    if let Some(name) = LEXICON.names.iter().find(|name| name.text == text) {
        return NounPhrase::Name(name);
    }
    let (text, attachment) = match [" of ", " with "].iter().find_map(|word| text.find(word)) {
        Some(at) => (&text[..at], Some(Box::new(pp(&text[at + 1..])))),
        None => (text, None),
    };
    let mut words: Vec<&'static str> = text.split(' ').collect();
    let determiner = determiner(&mut words);
    let (noun, number) = noun(words.pop().unwrap());
    let first = words.first().copied().unwrap_or_default();
    let before = adjective_in(&LEXICON.before, first).or_else(|| adjective_in(&LEXICON.limiting, first));
    let rest = &words[usize::from(before.is_some())..];
    let after = rest
        .last()
        .map(|word| ((rest.len() > 1).then(|| idiom(rest[0])), adjective_in(&LEXICON.after, word).unwrap()));
    NounPhrase::Common(Nominal { determiner, before, noun, number, after, attachment })
}

/// A prepositional phrase from its English.
pub(super) fn pp(text: &'static str) -> Prepositional {
    let all = [
        &FRONT, &BESIDE, &FAR, &ON, &IN, &TO, &AT, &OF, &ABOUT, &FROM, &WITH, &WITHOUT, &FOR, &UNDER,
        &BEHIND, &NEAR,
    ];
    for preposition in all {
        let opening = preposition.english.join(" ") + " ";
        if let Some(rest) = text.strip_prefix(&opening) {
            return Prepositional { preposition, phrase: np(rest) };
        }
    }
    panic!("no preposition in {text}")
}

pub(super) fn subject(text: &'static str) -> Subject {
    use Pronoun::*;
    let pronouns =
        [("i", I), ("you", You), ("he", He), ("she", She), ("we", We), ("you all", YouAll), ("they", They)];
    match pronouns.iter().find(|(word, _)| *word == text) {
        Some((_, pronoun)) => Subject::Pronoun(*pronoun),
        None if text == "who" => Subject::Who,
        None => Subject::Phrase(np(text)),
    }
}

/// A clause with `verb` in `tense`; *be* and *be/have* are known too.
pub(super) fn clause(who: &'static str, does: &str, tense: Tense) -> Verbal {
    let verb = match does {
        "be" => &LEXICON.be,
        "be/have" => &LEXICON.be_with,
        other => verb(other),
    };
    let group = VerbGroup { verb, tense, polarity: Polarity::Affirmative, frequency: None };
    Verbal { opening: None, subject: subject(who), group, complement: Complement::None, adjuncts: Vec::new() }
}

impl Verbal {
    pub(super) fn what(mut self, complement: Complement) -> Self {
        self.complement = complement;
        self
    }

    pub(super) fn object(self, text: &'static str) -> Self {
        self.what(Complement::Object(np(text)))
    }

    pub(super) fn it(self, pronoun: ObjectPronoun) -> Self {
        self.what(Complement::Pronoun(pronoun))
    }

    pub(super) fn place(mut self, text: &'static str) -> Self {
        self.adjuncts.push(Adjunct::Phrase(pp(text)));
        self
    }

    pub(super) fn fixed(mut self, text: &str) -> Self {
        self.adjuncts.push(Adjunct::Idiom(idiom(text)));
        self
    }

    pub(super) fn opening(mut self, text: &str) -> Self {
        self.opening = Some(idiom(text));
        self
    }

    pub(super) fn often(mut self, text: &str) -> Self {
        self.group.frequency = Some(idiom(text));
        self
    }

    pub(super) fn polarity(mut self, polarity: Polarity) -> Self {
        self.group.polarity = polarity;
        self
    }

    pub(super) fn said(self) -> Example {
        Sentence::Statement(Clause::Verbal(self)).realise().example()
    }

    pub(super) fn asked(self) -> Example {
        Sentence::YesNo(Clause::Verbal(self)).realise().example()
    }

    pub(super) fn asked_with(self, word: QuestionWord) -> Example {
        Sentence::Question(word, self).realise().example()
    }
}
