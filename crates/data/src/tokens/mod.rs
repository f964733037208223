//! Text as numbers: words, characters, bytes or learnt pieces of words.
//!
//! | kind | pieces | text that was never seen |
//! |---|---|---|
//! | `word` | the most frequent words | becomes `⟨unk⟩` |
//! | `char` | the characters of the training text | is spelt in bytes |
//! | `byte` | the 256 bytes | there is none |
//! | `bpe` | bytes, and frequent pairs of pieces merged (Sennrich et al. 2016) | is spelt in smaller pieces |
//! | `unigram` | bytes, and the pieces of the likeliest segmentation (Kudo 2018) | is spelt in smaller pieces |
//!
//! Every kind but `word` gives back exactly the text that it was given.

mod config;
mod file;
mod learn;
mod merges;
mod pair;
mod split;
mod unigram;
mod vocabulary;

pub use config::{Kind, SideConfig, TokensConfig};
pub use learn::{Learner, Recipe};
pub use pair::TokenizerPair;

use std::collections::HashMap;
use std::ops::Range;

use tokenizers::Model;
use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;

use crate::words;
use vocabulary::Vocabulary;

/// Fills a row up to the width of its batch.
pub const PAD: u32 = 0;
/// Goes into the decoder first.
pub const START: u32 = 1;
/// Comes out of the decoder last, and ends every source.
pub const END: u32 = 2;
/// Stands for a word that is not in the vocabulary.
pub const UNKNOWN: u32 = 3;
/// Parts source and target where one network reads both.
pub const SEPARATOR: u32 = 4;
/// Stands for a token that a masked language model is to find again. Such a model has one text and
/// nothing to part, so the separator serves, and vocabularies that were saved keep their ids.
pub const MASK: u32 = SEPARATOR;

/// How the special tokens are spelt, by id. No text is ever encoded as one of them.
pub const SPECIALS: [&str; 5] = ["⟨pad⟩", "⟨s⟩", "⟨/s⟩", "⟨unk⟩", "⟨sep⟩"];

/// Turns text into token ids and back.
pub struct Tokenizer {
    vocabulary: Vocabulary,
    lowercase: bool,
    /// What each token stands for in the text, by id; nothing for the special ones.
    bytes: Vec<Vec<u8>>,
    /// The same for the eye.
    shown: Vec<String>,
    engine: Engine,
}

/// How text is cut and looked up.
enum Engine {
    Word(HashMap<String, u32>),
    Char(HashMap<char, u32>),
    Byte,
    Bpe(Box<BPE>),
    Unigram(Box<Unigram>),
}

impl Tokenizer {
    /// Learns a vocabulary from texts, of which it reads `recipe.max_examples` at most.
    pub fn train(recipe: &Recipe, texts: impl IntoIterator<Item = String>) -> Result<Self, crate::DataError> {
        let mut learner = Learner::new(recipe)?;
        for text in texts.into_iter().take(recipe.max_examples) {
            learner.feed(&text);
        }
        learner.finish()
    }

    /// What the tokens are.
    pub fn kind(&self) -> Kind {
        self.vocabulary.kind()
    }

    /// Whether text is lower-cased first.
    pub fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// How many tokens there are, the special ones included; every id is below.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The text as it is before it is cut: lower-cased, if text is.
    pub fn normalise(&self, text: &str) -> String {
        if self.lowercase { lower(text) } else { text.to_owned() }
    }

    /// The tokens of a text. No special token is added.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        if self.lowercase { self.encode_normal(&lower(text)) } else { self.encode_normal(text) }
    }

    /// The tokens of the words of a text, which white space separates, and where each word begins among
    /// them. Each word is cut by itself, with the space before it, so that the tokens are those of the
    /// text with single spaces; a space that is a token of its own does not begin a word.
    pub fn encode_words(&self, text: &str) -> (Vec<u32>, Vec<usize>) {
        let (mut ids, mut starts) = (Vec::new(), Vec::new());
        for word in text.split_whitespace() {
            let mut found = match ids.is_empty() {
                true => self.encode(word),
                false => self.encode(&format!(" {word}")),
            };
            if found.is_empty() {
                found.push(UNKNOWN);
            }
            starts.push(ids.len() + usize::from(found.len() > 1 && self.bytes[found[0] as usize] == b" "));
            ids.append(&mut found);
        }
        (ids, starts)
    }

    /// The tokens of a text, each with the bytes of the text that it covers, widened to whole
    /// characters. Where a token is part of a character, its neighbours cover the same character.
    pub fn encode_with_spans(&self, text: &str) -> Vec<(u32, Range<usize>)> {
        // For every byte of the normalised text, the character of the text that it comes from.
        let mut normal = String::with_capacity(text.len());
        let mut origins: Vec<Range<usize>> = Vec::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            if self.lowercase {
                normal.extend(letter.to_lowercase());
            } else {
                normal.push(letter);
            }
            origins.resize(normal.len(), at..at + letter.len_utf8());
        }
        let ids = self.encode_normal(&normal);
        let spans: Vec<Range<usize>> = match self.engine {
            Engine::Word(_) => words::spans(&normal),
            _ => {
                // The pieces of these kinds, put together, are the text.
                let mut end = 0;
                let next = |id: &u32| {
                    let start = end;
                    end += self.bytes[*id as usize].len();
                    start..end
                };
                ids.iter().map(next).collect()
            }
        };
        let original = |span: Range<usize>| origins[span.start].start..origins[span.end - 1].end;
        ids.into_iter().zip(spans.into_iter().map(original)).collect()
    }

    /// The text of some tokens. Special tokens and ids out of range are left out; bytes that make no
    /// character become `�`.
    pub fn decode(&self, ids: &[u32]) -> String {
        let known =
            ids.iter().filter_map(|id| self.bytes.get(*id as usize)).filter(|bytes| !bytes.is_empty());
        match self.engine {
            Engine::Word(_) => words::join(known.map(|bytes| String::from_utf8_lossy(bytes))),
            _ => String::from_utf8_lossy(&known.flatten().copied().collect::<Vec<u8>>()).into_owned(),
        }
    }

    /// For each of some tokens the word of their text (see [`Tokenizer::decode`]) that it is a piece of;
    /// white space belongs to the word behind it. `None` for what is in no word.
    pub fn words_of(&self, ids: &[u32]) -> Vec<Option<usize>> {
        if let Engine::Word(_) = self.engine {
            return (0..ids.len()).map(Some).collect(); // an unknown word is one, too
        }
        let pieces: Vec<&[u8]> =
            ids.iter().map(|id| self.bytes.get(*id as usize).map_or(&[][..], Vec::as_slice)).collect();
        let places = places_in_text(&pieces.concat());
        let mut end = 0;
        let spans = pieces.iter().map(|piece| {
            let start = end;
            end += piece.len();
            places[start]..places[end]
        });
        words::holding(&self.decode(ids), spans)
    }

    /// A token for the eye: `▁` for a space, `<0xE2>` for a byte that is no character by itself.
    pub fn token(&self, id: u32) -> &str {
        self.shown.get(id as usize).map_or(SPECIALS[UNKNOWN as usize], String::as_str)
    }

    fn encode_normal(&self, text: &str) -> Vec<u32> {
        match &self.engine {
            Engine::Word(ids) => {
                words::spans(text).into_iter().map(|word| *ids.get(&text[word]).unwrap_or(&UNKNOWN)).collect()
            }
            Engine::Char(ids) => {
                let mut found = Vec::with_capacity(text.len());
                for letter in text.chars() {
                    match ids.get(&letter) {
                        Some(id) => found.push(*id),
                        None => {
                            found.extend(letter.encode_utf8(&mut [0; 4]).bytes().map(vocabulary::byte_id))
                        }
                    }
                }
                found
            }
            Engine::Byte => text.bytes().map(vocabulary::byte_id).collect(),
            Engine::Bpe(model) => encode_pieces(model.as_ref(), text),
            Engine::Unigram(model) => encode_pieces(model.as_ref(), text),
        }
    }
}

/// Where each byte, and the end behind them, stands in the text that they make when bytes that are no
/// character become `�`.
fn places_in_text(bytes: &[u8]) -> Vec<usize> {
    let (mut places, mut at) = (Vec::with_capacity(bytes.len() + 1), 0);
    for chunk in bytes.utf8_chunks() {
        places.extend((0..chunk.valid().len()).map(|byte| at + byte));
        at += chunk.valid().len();
        places.extend(chunk.invalid().iter().map(|_| at));
        if !chunk.invalid().is_empty() {
            at += char::REPLACEMENT_CHARACTER.len_utf8();
        }
    }
    places.push(at);
    places
}

/// Cuts the text and lets a subword model cut further.
fn encode_pieces(model: &impl Model, text: &str) -> Vec<u32> {
    let mut ids = Vec::with_capacity(text.len() / 3);
    for word in split::subword_spans(text) {
        // Every byte is in the vocabulary of every such model, so there is nothing that it cannot cut.
        let tokens = model.tokenize(&split::to_alphabet(&text.as_bytes()[word])).unwrap_or_default();
        ids.extend(tokens.iter().map(|token| token.id));
    }
    ids
}

/// Lower case, letter by letter, as `tokenizers` does it.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tokenizer")
            .field("kind", &self.kind())
            .field("size", &self.size())
            .field("lowercase", &self.lowercase)
            .finish()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
