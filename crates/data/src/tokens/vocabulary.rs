//! What was learnt, and what each id stands for.
//!
//! Ids 0 to 4 are the special tokens. In every vocabulary but those of words and unigrams the next
//! 256 are the bytes; then comes what was learnt.

use std::collections::{HashMap, HashSet};

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::unigram::Unigram;

use super::split::{ALPHABET, from_alphabet, readable, spelt, to_alphabet};
use super::{Engine, Kind, SPECIALS, Tokenizer, UNKNOWN};

/// The learnt part of a vocabulary. Pieces of `Bpe` and `Unigram` are spelt in the byte alphabet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Vocabulary {
    /// Words in the order of their ids.
    Word(Vec<String>),
    /// Characters in the order of their ids.
    Char(Vec<char>),
    /// Nothing to learn.
    Byte,
    /// Pairs to merge, first come first merged.
    Bpe(Vec<(String, String)>),
    /// Pieces in the order of their ids, with their log-probabilities. All bytes are among them.
    Unigram(Vec<(String, f64)>),
}

/// The id of a byte, in vocabularies where bytes come first.
pub(super) fn byte_id(byte: u8) -> u32 {
    SPECIALS.len() as u32 + u32::from(byte)
}

impl Vocabulary {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Word(_) => Kind::Word,
            Self::Char(_) => Kind::Char,
            Self::Byte => Kind::Byte,
            Self::Bpe(_) => Kind::Bpe,
            Self::Unigram(_) => Kind::Unigram,
        }
    }

    /// Every token as files spell it, by id.
    pub(super) fn spellings(&self) -> Vec<String> {
        let mut all: Vec<String> = SPECIALS.map(str::to_owned).to_vec();
        match self {
            Self::Word(words) => all.extend(words.iter().cloned()),
            Self::Char(letters) => {
                all.extend((0..=255).map(spelt));
                all.extend(letters.iter().map(char::to_string));
            }
            Self::Byte => all.extend(ALPHABET.iter().map(char::to_string)),
            Self::Bpe(merges) => {
                all.extend(ALPHABET.iter().map(char::to_string));
                // Two merges may make the same piece: "a" + "bc" and "ab" + "c".
                let mut known: HashSet<String> = all.iter().cloned().collect();
                for (left, right) in merges {
                    let piece = format!("{left}{right}");
                    if known.insert(piece.clone()) {
                        all.push(piece);
                    }
                }
            }
            Self::Unigram(pieces) => all.extend(pieces.iter().map(|(piece, _)| piece.clone())),
        }
        all
    }

    /// What each token stands for in the text, by id. `None` if a piece is not spelt in the alphabet.
    fn bytes(&self, spellings: &[String]) -> Option<Vec<Vec<u8>>> {
        let learnt = |(id, spelling): (usize, &String)| -> Option<Vec<u8>> {
            match (id.checked_sub(SPECIALS.len()), self) {
                (None, _) => Some(Vec::new()),
                (Some(byte @ 0..256), Self::Char(_)) => Some(vec![byte as u8]),
                (Some(_), Self::Word(_) | Self::Char(_)) => Some(spelling.clone().into_bytes()),
                (Some(_), Self::Byte | Self::Bpe(_) | Self::Unigram(_)) => from_alphabet(spelling),
            }
        };
        spellings.iter().enumerate().map(learnt).collect()
    }

    /// A tokenizer with this vocabulary, or what is wrong with it.
    pub(super) fn into_tokenizer(self, lowercase: bool) -> Result<Tokenizer, String> {
        let spellings = self.spellings();
        if let Some(id) = first_repeated(&spellings) {
            return Err(format!("token \"{}\" is empty or stands twice", spellings[id].escape_debug()));
        }
        let bytes = self.bytes(&spellings).ok_or("a piece is not spelt in the byte alphabet")?;
        let shown = spellings
            .iter()
            .zip(&bytes)
            .map(|(spelling, bytes)| if bytes.is_empty() { spelling.clone() } else { readable(bytes) })
            .collect();
        let ids = || spellings.iter().cloned().zip(0..).skip(SPECIALS.len());
        let engine = match &self {
            Self::Word(_) => Engine::Word(ids().collect()),
            Self::Char(letters) => {
                let first = byte_id(255) + 1;
                Engine::Char(letters.iter().copied().zip(first..).collect())
            }
            Self::Byte => Engine::Byte,
            Self::Bpe(_) => Engine::Bpe(Box::new(self.bpe(&spellings)?)),
            Self::Unigram(pieces) => Engine::Unigram(Box::new(unigram(pieces)?)),
        };
        Ok(Tokenizer { vocabulary: self, lowercase, bytes, shown, engine })
    }

    /// The model of all kinds that `tokenizers` writes as BPE.
    pub(super) fn bpe(&self, spellings: &[String]) -> Result<BPE, String> {
        let vocabulary: Vocab = spellings.iter().cloned().zip(0..).collect();
        let merges = match self {
            Self::Bpe(merges) => merges.clone(),
            _ => Vec::new(),
        };
        // The builder copies pieces into a buffer as long as the longest token, and trusts that they fit.
        for (left, right) in &merges {
            for piece in [left, right, &format!("{left}{right}")] {
                if vocabulary.get(piece).is_none_or(|id| (*id as usize) < SPECIALS.len()) {
                    return Err(format!(
                        "the merge of \"{left}\" and \"{right}\" uses a piece that does not exist"
                    ));
                }
            }
        }
        BPE::builder()
            .vocab_and_merges(vocabulary, merges)
            .byte_fallback(matches!(self, Self::Char(_)))
            .build()
            .map_err(|error| error.to_string())
    }
}

/// The unigram model of these pieces.
pub(super) fn unigram(pieces: &[(String, f64)]) -> Result<Unigram, String> {
    let known: HashMap<&str, f64> = pieces.iter().map(|(piece, score)| (piece.as_str(), *score)).collect();
    if let Some(byte) = (0..=255).find(|byte| !known.contains_key(to_alphabet(&[*byte]).as_str())) {
        return Err(format!("byte {} is missing", spelt(byte)));
    }
    if pieces.iter().any(|(_, score)| !score.is_finite()) {
        return Err("a score is not a number".into());
    }
    let specials = SPECIALS.iter().map(|special| ((*special).to_owned(), 0.0));
    Unigram::from(specials.chain(pieces.iter().cloned()).collect(), Some(UNKNOWN as usize), false)
        .map_err(|error| error.to_string())
}

/// The first id whose spelling is empty or already taken.
fn first_repeated(spellings: &[String]) -> Option<usize> {
    let mut known = HashSet::new();
    spellings.iter().position(|spelling| spelling.is_empty() || !known.insert(spelling))
}
