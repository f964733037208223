//! The verb with its auxiliaries, negation, clitics and adverb, in either language.

use super::italian::{Gender, Number, form};
use super::lexicon::{English, Idiom, LEXICON, Verb};
use super::tense::{Modal, Tense};
use super::tokens::{Meaning, Meanings, Token};
use super::verbs::Aspect;

/// Whom the verb agrees with. Persons run *i, you, he, we, you all, they*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) person: usize,
    pub(super) gender: Gender,
    pub(super) number: Number,
}

/// Whether it is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    Affirmative,
    Not,
    Never,
}

/// An unstressed pronoun before the Italian verb.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clitic {
    pub(super) token: Token,
    /// The form of the participle after it: *l'ho vista*.
    pub(super) agrees: Option<usize>,
}

/// A verb and how it is used.
#[derive(Clone, Debug)]
pub(super) struct VerbGroup {
    pub(super) verb: &'static Verb,
    pub(super) tense: Tense,
    pub(super) polarity: Polarity,
    /// *always*, *often*; only in the affirmative.
    pub(super) frequency: Option<&'static Idiom>,
}

/// Where a verb group stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Whom the verb agrees with in English, and whom in Italian.
    pub(super) english: Agreement,
    pub(super) italian: Agreement,
    /// Whether the English auxiliary goes before the subject.
    pub(super) inverted: bool,
    /// The meaning of a subject pronoun that Italian drops.
    pub(super) dropped: Meaning,
    /// The object before the Italian verb.
    pub(super) clitic: Option<Clitic>,
}

/// The words of a verb group. The English auxiliary is apart, since a question puts it first.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) auxiliary: Option<Token>,
    pub(super) english: Vec<Token>,
    pub(super) italian: Vec<Token>,
}

/// The meanings of the words of a verb group.
struct Parts {
    verb: Meaning,
    auxiliary: Meaning,
    negation: Meaning,
    frequency: Meaning,
}

impl VerbGroup {
    /// Both languages.
    pub(super) fn realise(&self, usage: &Usage, meanings: &mut Meanings) -> Spoken {
        let [verb, auxiliary, negation, frequency] = std::array::from_fn(|_| meanings.fresh());
        let parts = Parts { verb, auxiliary, negation, frequency };
        let (auxiliary, english) = self.english(usage.english, usage.inverted, &parts);
        let italian = self.italian(usage.italian, usage.dropped, usage.clitic, &parts);
        Spoken { auxiliary, english, italian }
    }

    fn english(&self, who: Agreement, inverted: bool, parts: &Parts) -> (Option<Token>, Vec<Token>) {
        let negated = self.polarity == Polarity::Not;
        let (mut auxiliary, main) = self.english_verb(who, inverted || negated, parts);
        let mut words = Vec::with_capacity(6);
        match (self.polarity, &mut auxiliary) {
            (Polarity::Not, Some(can)) if can.text == "can" && !inverted => {
                *can = Token { text: "cannot", meaning: can.meaning | parts.negation };
            }
            (Polarity::Not, _) => words.push(Token { text: "not", meaning: parts.negation }),
            (Polarity::Never, _) => words.push(Token { text: "never", meaning: parts.negation }),
            (Polarity::Affirmative, _) => {}
        }
        if let Some(adverb) = self.frequency {
            words.push(Token { text: adverb.english[0].0, meaning: parts.frequency });
        }
        words.extend(main.into_iter().flatten());
        words.extend(self.verb.english.particle.map(|text| Token { text, meaning: parts.verb }));
        (auxiliary, words)
    }

    /// The auxiliary and up to three words after it. `support` if there must be an auxiliary.
    fn english_verb(
        &self,
        who: Agreement,
        support: bool,
        parts: &Parts,
    ) -> (Option<Token>, [Option<Token>; 3]) {
        let verb = &self.verb.english;
        let word = |text, meaning| Some(Token { text, meaning });
        let one = |text| [word(text, parts.verb), None, None];
        let to = |modal| [word(modal, parts.auxiliary), word("to", parts.verb), word(verb.base, parts.verb)];
        let do_meaning = if self.polarity == Polarity::Not { parts.negation } else { parts.verb };
        let do_ = word(if who.person == 2 { "does" } else { "do" }, do_meaning);
        let did = word("did", do_meaning);
        match self.tense {
            Tense::Present if verb.base == "be" => (word(present_be(who), parts.verb), [None; 3]),
            Tense::Past if verb.base == "be" => (word(past_be(who), parts.verb), [None; 3]),
            Tense::Present if support => (do_, one(verb.base)),
            Tense::Present => (None, one(present(verb, who))),
            Tense::Past if support => (did, one(verb.base)),
            Tense::Past => (None, one(verb.past)),
            Tense::Progressive => (word(present_be(who), parts.auxiliary), one(verb.gerund)),
            Tense::Imperfect => (word(past_be(who), parts.verb), one(verb.gerund)),
            Tense::Perfect => {
                (word(if who.person == 2 { "has" } else { "have" }, parts.auxiliary), one(verb.participle))
            }
            Tense::Future => (word("will", parts.verb), one(verb.base)),
            Tense::Modal(Modal::Can) => (word("can", parts.auxiliary), one(verb.base)),
            Tense::Modal(Modal::Must) => (word("must", parts.auxiliary), one(verb.base)),
            Tense::Modal(Modal::Want) if support => (do_, to("want")),
            Tense::Modal(Modal::Want) => (None, to(if who.person == 2 { "wants" } else { "want" })),
            Tense::Modal(Modal::Wanted) if support => (did, to("want")),
            Tense::Modal(Modal::Wanted) => (None, to("wanted")),
            Tense::Modal(Modal::WouldLike) => (word("would", parts.auxiliary), to("like")),
        }
    }

    /// *non · clitic · finite verb · mai, sempre · participle, gerund or infinitive*.
    fn italian(&self, who: Agreement, subject: Meaning, clitic: Option<Clitic>, parts: &Parts) -> Vec<Token> {
        let mut words = Vec::with_capacity(6);
        let ((finite, finite_meaning), second) = self.italian_verb(who, clitic, parts);
        if self.polarity != Polarity::Affirmative {
            words.push(Token { text: "non", meaning: parts.negation });
        }
        if self.verb.italian.reflexive {
            let text = ["mi", "ti", "si", "ci", "vi", "si"][who.person];
            words.push(Token { text, meaning: parts.verb | subject });
        }
        if let Some(Clitic { token, .. }) = clitic {
            // *L'ho visto*, before a form of *avere*; elsewhere the pronoun stays whole.
            let elides = matches!(token.text, "lo" | "la") && self.is_compound();
            words.push(Token { text: if elides { "l'" } else { token.text }, ..token });
        }
        words.push(Token { text: finite, meaning: finite_meaning | subject });
        if self.polarity == Polarity::Never {
            words.push(Token { text: "mai", meaning: parts.negation });
        }
        if let Some(adverb) = self.frequency {
            words.push(Token { text: adverb.italian[0].0, meaning: parts.frequency });
        }
        words.extend(second.map(|text| Token { text, meaning: parts.verb }));
        words
    }

    /// Whether Italian uses an auxiliary and a participle.
    fn is_compound(&self) -> bool {
        match self.tense {
            Tense::Perfect => true,
            Tense::Past => self.verb.aspect != Aspect::State,
            _ => false,
        }
    }

    /// The finite verb with its meaning, and the form that follows it in compound tenses.
    fn italian_verb(
        &self,
        who: Agreement,
        clitic: Option<Clitic>,
        parts: &Parts,
    ) -> ((&'static str, Meaning), Option<&'static str>) {
        let forms = &self.verb.italian;
        let person = who.person;
        let modal = |modal: &'static [String; 6]| {
            ((modal[person].as_str(), parts.auxiliary), Some(forms.infinitive.as_str()))
        };
        let compound = |meaning| {
            let (helper, agrees) = match forms.with_essere {
                true => (&LEXICON.essere, form(who.gender, who.number)),
                false => (&LEXICON.avere, clitic.and_then(|clitic| clitic.agrees).unwrap_or(0)),
            };
            ((helper.present[person].as_str(), meaning), Some(forms.participle[agrees].as_str()))
        };
        match self.tense {
            Tense::Present => ((&forms.present[person], parts.verb), None),
            Tense::Progressive => ((&LEXICON.stare.present[person], parts.auxiliary), Some(&forms.gerund)),
            Tense::Past if self.verb.aspect == Aspect::State => {
                ((&forms.imperfect[person], parts.verb), None)
            }
            Tense::Past => compound(parts.verb),
            Tense::Perfect => compound(parts.auxiliary),
            Tense::Imperfect => ((&forms.imperfect[person], parts.verb), None),
            Tense::Future => ((&forms.future[person], parts.verb), None),
            Tense::Modal(Modal::Can) => modal(&LEXICON.potere.present),
            Tense::Modal(Modal::Must) => modal(&LEXICON.dovere.present),
            Tense::Modal(Modal::Want) => modal(&LEXICON.volere.present),
            Tense::Modal(Modal::Wanted) => modal(&LEXICON.volere.imperfect),
            Tense::Modal(Modal::WouldLike) => modal(&LEXICON.volere.conditional),
        }
    }
}

fn present_be(who: Agreement) -> &'static str {
    ["am", "are", "is", "are", "are", "are"][who.person]
}

fn past_be(who: Agreement) -> &'static str {
    ["was", "were", "was", "were", "were", "were"][who.person]
}

fn present(verb: &'static English, who: Agreement) -> &'static str {
    if who.person == 2 { &verb.third } else { verb.base }
}
