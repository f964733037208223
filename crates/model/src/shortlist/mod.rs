//! A shortlist: the few tokens of a large vocabulary that may be written for a source (Jean et al., 2015; L'Hostis et al.,
//! 2016). All others are not even scored.
//!
//! ```text
//! L(x) = {end} ∪ F ∪ W ∪ B(x_1) ∪ … ∪ B(x_S)
//! ```
//!
//! F are the target tokens that occur most often, W those that are asked for (a beginning, phrases that must appear), and
//! B(x_i) the likeliest translations of a source token by a lexical table ([`gatto_data::lexicon`]); where both sides have
//! one vocabulary, x_i is among them, since what is not known is copied.
//!
//! A sentence has its own list, whatever stands beside it in a batch: see [`Lists`].

mod file;
mod lists;

pub(crate) use lists::{Listed, Lists};

use crate::config::{Plan, Task};
use crate::error::ModelError;
use crate::saved::Saved;
use gatto_data::random::mixed;
use gatto_data::tokens::{END, Tokenizer, TokenizerPair};
use gatto_data::{Lexicon, Padded};
use gatto_search::Wanted;
use std::path::Path;
use std::sync::Arc;

/// Which target tokens may be written for a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortlist {
    /// Where the translations of each source token begin, and the end.
    starts: Vec<usize>,
    translations: Vec<u32>,
    /// What may always be written, by number; the end among them.
    always: Vec<u32>,
    /// Whether a source token is a target token, and may be written as it is.
    copies: bool,
    /// How many target tokens there are.
    vocabulary: usize,
    /// What the tokens of source and target come to, so that no list serves another vocabulary.
    sums: [u64; 2],
}

/// How large a shortlist is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortlistSize {
    /// The most translations of a source token.
    pub best: usize,
    /// The source tokens that have any.
    pub known: usize,
    /// The tokens that may always be written.
    pub always: usize,
}

impl Shortlist {
    /// The most translations that are kept of a source token.
    pub const MOST_BEST: usize = 1000;

    /// The `best` translations of each source token in a table for these tokens, [`Shortlist::MOST_BEST`] at most, and the
    /// `frequent` tokens that occur most often in what it was learnt from.
    pub fn new(lexicon: &Lexicon, best: usize, frequent: usize, tokens: &TokenizerPair) -> Self {
        let (mut starts, mut translations) = (vec![0], Vec::new());
        for source in 0..tokens.source.size() as u32 {
            let best = lexicon.of(source).iter().take(best.min(Self::MOST_BEST)).map(|&(target, _)| target);
            translations.extend(best);
            starts.push(translations.len());
        }
        Self::of_parts(starts, translations, lexicon.most_frequent(frequent), tokens)
    }

    fn of_parts(
        starts: Vec<usize>,
        translations: Vec<u32>,
        frequent: Vec<u32>,
        tokens: &TokenizerPair,
    ) -> Self {
        Self {
            starts,
            translations,
            always: sorted(frequent.into_iter().chain([END]).collect()),
            copies: tokens.is_shared(),
            vocabulary: tokens.target.size(),
            sums: [sum_of(&tokens.source), sum_of(&tokens.target)],
        }
    }

    /// The tokens that may be written for a source, by number; those that are `wanted` among them.
    pub fn tokens_for(&self, source: &[u32], wanted: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let source = sorted(source.to_vec());
        let mut found = self.always.clone();
        found.extend(wanted);
        for &token in &source {
            found.extend_from_slice(self.of(token as usize));
            found.extend(Some(token).filter(|_| self.copies));
        }
        sorted(found)
    }

    /// The translations of a source token, the best first.
    fn of(&self, source: usize) -> &[u32] {
        match self.starts.get(source..source + 2) {
            Some(&[start, end]) => &self.translations[start..end],
            _ => &[],
        }
    }

    /// How large it is.
    pub fn size(&self) -> ShortlistSize {
        let counts = || self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        ShortlistSize {
            best: counts().max().unwrap_or(0),
            known: counts().filter(|&count| count > 0).count(),
            always: self.always.len(),
        }
    }

    /// The lists of sources, one for each row, and what is wanted of their outputs.
    pub(crate) fn lists<'w>(&self, sources: &Padded, wanted: impl IntoIterator<Item = &'w Wanted>) -> Lists {
        let list = |(row, wanted): (usize, &Wanted)| {
            let phrases =
                wanted.phrases.iter().flat_map(|phrase| phrase.tokens.iter().chain(&phrase.opening));
            self.tokens_for(sources.row(row), wanted.prefix.iter().chain(phrases).copied())
        };
        Lists::new((0..sources.rows).zip(wanted).map(list).collect(), self.vocabulary)
    }
}

impl Saved {
    /// The same with the shortlist in its run directory: whatever is written for a source from now on is chosen from a few
    /// tokens. Targets that are given are scored over the whole vocabulary as before.
    ///
    /// # Errors
    /// If the model does not write of texts, or has no shortlist that is usable.
    pub fn with_shortlist(self, directory: &Path) -> Result<Self, ModelError> {
        self.require_shortlistable(directory)?;
        let shortlist = Shortlist::load(directory, &self.tokens)?;
        Ok(Self { shortlist: Some(Arc::new(shortlist)), ..self })
    }

    /// Refuses a model, in this run directory, that no shortlist can serve.
    pub fn require_shortlistable(&self, directory: &Path) -> Result<(), ModelError> {
        match why_not(self.task, &self.plan) {
            None => Ok(()),
            Some(reason) => Err(ModelError::NotShortlistable { path: directory.to_owned(), reason }),
        }
    }
}

/// Why a model cannot have a shortlist, if so.
fn why_not(task: Task, plan: &Plan) -> Option<String> {
    match (task, plan.sources()) {
        (Task::LanguageModel, _) => Some("is a language model, which reads no source".to_owned()),
        (task, _) if !task.writes() => Some(format!("is for `task = \"{task}\"` and writes nothing")),
        (_, "texts") => None,
        (_, sources) => Some(format!("reads {sources}, which have no tokens")),
    }
}

/// By number, each once.
fn sorted(mut tokens: Vec<u32>) -> Vec<u32> {
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

/// A number that is another for other tokens.
fn sum_of(tokens: &Tokenizer) -> u64 {
    let token = |sum: u64, id: u32| {
        tokens.token(id).bytes().fold(mixed(sum, 256), |sum, byte| mixed(sum, u64::from(byte)))
    };
    (0..tokens.size() as u32).fold(0, token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::lexicon::Learner;
    use gatto_data::tokens::{Kind, Recipe};

    fn tokenizer(words: &[&str]) -> Tokenizer {
        let recipe = Recipe { kind: Kind::Word, ..Recipe::default() };
        Tokenizer::train(&recipe, words.iter().map(|&word| word.to_owned())).unwrap()
    }

    /// A table in which each word of one language has become its own of the other, and `il` stands in most.
    pub(super) fn example(shared: bool) -> (TokenizerPair, Shortlist) {
        let words = ["the", "cat", "table", "dog", "il", "gatto", "tavolo", "cane"];
        let tokens = match shared {
            true => TokenizerPair::together(tokenizer(&words)),
            false => TokenizerPair::apart(tokenizer(&words[..4]), tokenizer(&words[4..])),
        };
        let mut learner = Learner::new(tokens.source.size(), tokens.target.size());
        for (source, target) in [("the cat", "il gatto"), ("the table", "il tavolo"), ("the", "il")] {
            learner.feed(&tokens.source.encode(source), &tokens.target.encode(target));
        }
        let shortlist = Shortlist::new(&learner.finish(10, || ()), 1, 1, &tokens);
        (tokens, shortlist)
    }

    #[test]
    fn a_list_has_translations_frequent_tokens_and_the_end() {
        for shared in [false, true] {
            let (tokens, shortlist) = example(shared);
            let list = |source: &str, wanted: &str| {
                shortlist.tokens_for(&tokens.source.encode(source), tokens.target.encode(wanted))
            };
            let words = |text: &str| {
                let copied = if shared { text } else { text.split(';').next().unwrap_or_default() };
                sorted(tokens.target.encode(&copied.replace(';', " ")).into_iter().chain([END]).collect())
            };
            assert_eq!(list("the cat", ""), words("il gatto;the cat"), "{shared}");
            assert_eq!(list("table the", ""), words("il tavolo;the table"), "{shared}");
            assert_eq!(
                list("dog", ""),
                words("il;dog"),
                "what has no translation may be copied, or is not written"
            );
            assert_eq!(list("cat cat", "cane"), words("il gatto cane;cat"), "what is wanted is on the list");
            assert_eq!(list("", ""), words("il"));
            assert_eq!(shortlist.size(), ShortlistSize { best: 1, known: 3, always: 2 });
        }
    }

    #[test]
    fn a_token_that_is_not_there_has_no_translations() {
        let (tokens, shortlist) = example(false);
        let beyond = tokens.source.size() as u32;
        for token in [beyond, u32::MAX] {
            assert_eq!(shortlist.tokens_for(&[token], []), shortlist.always);
        }
    }

    #[test]
    fn sums_tell_vocabularies_apart() {
        let of = |words: &[&str]| sum_of(&tokenizer(words));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    }
}
