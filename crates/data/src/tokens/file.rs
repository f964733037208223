//! Tokenizers as files, in the JSON of Hugging Face `tokenizers`, so that other programs read them too.
//!
//! What is read back is checked part by part and built anew: only a file that says what this module
//! would have written is taken, and none can make the engines panic.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::models::ModelWrapper;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::normalizers::utils::Lowercase;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;
use tokenizers::{AddedToken, DecoderWrapper, decoders, pre_tokenizers};

use super::split::{SUBWORD_REGEX, WORD_REGEX};
use super::vocabulary::{self, Vocabulary};
use super::{Kind, SPECIALS, Tokenizer, UNKNOWN};
use crate::{DataError, files};

/// The largest file that is read.
const MAX_FILE: u64 = 256 << 20;

impl Tokenizer {
    /// Writes the tokenizer to a file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), DataError> {
        let unwritable =
            |error: String| crate::WriteError { path: path.to_owned(), error: std::io::Error::other(error) };
        let json = self.to_json().map_err(unwritable)?;
        Ok(files::replace(path, |out| out.write_all(json.as_bytes()))?)
    }

    /// Reads a tokenizer that [`Tokenizer::save`] wrote.
    pub fn load(path: &Path) -> Result<Self, DataError> {
        let wrong = |problem: String| DataError::Tokenizer { path: path.to_owned(), problem };
        let mut text = Vec::new();
        // One byte more than may be, so that a larger file shows.
        let mut file = files::open(path)?.take(MAX_FILE + 1);
        file.read_to_end(&mut text).map_err(|error| DataError::Read { path: path.to_owned(), error })?;
        if text.len() as u64 > MAX_FILE {
            return Err(wrong("it is larger than 256 MiB".into()));
        }
        let stored: Stored = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        drop(text);
        stored.into_tokenizer().map_err(wrong)
    }

    pub(super) fn to_json(&self) -> Result<String, String> {
        let mut json =
            serde_json::to_string_pretty(&self.to_hugging_face()?).map_err(|error| error.to_string())?;
        json.push('\n');
        Ok(json)
    }

    /// The same tokenizer as one of `tokenizers`. Encoding with it gives the same ids.
    pub(super) fn to_hugging_face(&self) -> Result<tokenizers::Tokenizer, String> {
        dressed(model(&self.vocabulary)?, self.kind(), self.lowercase)
    }
}

/// A model with all that stands around it.
fn dressed(model: ModelWrapper, kind: Kind, lowercase: bool) -> Result<tokenizers::Tokenizer, String> {
    let (pre_tokenizer, decoder) = around(kind).map_err(|error| error.to_string())?;
    let mut tokenizer = tokenizers::Tokenizer::new(model);
    tokenizer.with_normalizer(lowercase.then_some(Lowercase)).map_err(|error| error.to_string())?;
    tokenizer.with_pre_tokenizer(pre_tokenizer);
    tokenizer.with_decoder(decoder);
    tokenizer
        .add_special_tokens(SPECIALS.map(|special| AddedToken::from(special, true)))
        .map_err(|error| error.to_string())?;
    tokenizer.set_encode_special_tokens(true);
    Ok(tokenizer)
}

fn model(vocabulary: &Vocabulary) -> Result<ModelWrapper, String> {
    let spellings = vocabulary.spellings();
    Ok(match vocabulary {
        Vocabulary::Word(_) => WordLevel::builder()
            .vocab(spellings.into_iter().zip(0..).collect())
            .unk_token(SPECIALS[UNKNOWN as usize].to_owned())
            .build()
            .map_err(|error| error.to_string())?
            .into(),
        Vocabulary::Char(_) | Vocabulary::Byte | Vocabulary::Bpe(_) => vocabulary.bpe(&spellings)?.into(),
        Vocabulary::Unigram(pieces) => vocabulary::unigram(pieces)?.into(),
    })
}

/// What stands around the model: how text is cut before it, and put together after it.
fn around(kind: Kind) -> tokenizers::Result<(Option<PreTokenizerWrapper>, Option<DecoderWrapper>)> {
    let bytes = ByteLevel::new(false, false, false);
    Ok(match kind {
        Kind::Word => {
            let words = SplitPattern::Regex(WORD_REGEX.to_owned());
            (Some(Split::new(words, SplitDelimiterBehavior::Removed, true)?.into()), None)
        }
        Kind::Char => {
            let parts = vec![ByteFallback::new().into(), Fuse::new().into()];
            (None, Some(decoders::sequence::Sequence::new(parts).into()))
        }
        Kind::Byte => (Some(bytes.into()), Some(bytes.into())),
        Kind::Bpe | Kind::Unigram => {
            let pieces = SplitPattern::Regex(SUBWORD_REGEX.to_owned());
            let cut = Split::new(pieces, SplitDelimiterBehavior::Isolated, false)?;
            let both = pre_tokenizers::sequence::Sequence::new(vec![cut.into(), bytes.into()]);
            (Some(both.into()), Some(bytes.into()))
        }
    })
}

/// A file as it stands, before anything in it is believed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: Value,
    truncation: Value,
    padding: Value,
    added_tokens: Value,
    normalizer: Value,
    pre_tokenizer: Value,
    post_processor: Value,
    decoder: Value,
    model: StoredModel,
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum StoredModel {
    WordLevel {
        vocab: HashMap<String, u32>,
        unk_token: String,
    },
    #[serde(rename = "BPE")]
    Bpe {
        vocab: HashMap<String, u32>,
        merges: Vec<(String, String)>,
        byte_fallback: bool,
        dropout: Option<f64>,
        unk_token: Option<String>,
        continuing_subword_prefix: Option<String>,
        end_of_word_suffix: Option<String>,
        fuse_unk: bool,
        ignore_merges: bool,
    },
    Unigram {
        vocab: Vec<(String, f64)>,
        unk_id: Option<usize>,
        byte_fallback: bool,
    },
}

impl Stored {
    fn into_tokenizer(self) -> Result<Tokenizer, String> {
        let by_bytes = self.pre_tokenizer.get("type").and_then(Value::as_str) == Some("ByteLevel");
        let vocabulary = self.model.into_vocabulary(by_bytes)?;
        let lowercase = !self.normalizer.is_null();
        let tokenizer = vocabulary.into_tokenizer(lowercase)?;

        // Everything around the model has to be what a tokenizer of this kind has around it, whatever its words: a
        // vocabulary of none tells it soonest.
        let empty = model(&Vocabulary::Word(Vec::new()))?;
        let expected = dressed(empty, tokenizer.kind(), lowercase)?;
        let expected = serde_json::to_value(expected).map_err(|error| error.to_string())?;
        for (key, stored) in [
            ("version", &self.version),
            ("truncation", &self.truncation),
            ("padding", &self.padding),
            ("added_tokens", &self.added_tokens),
            ("normalizer", &self.normalizer),
            ("pre_tokenizer", &self.pre_tokenizer),
            ("post_processor", &self.post_processor),
            ("decoder", &self.decoder),
        ] {
            if expected.get(key) != Some(stored) {
                return Err(format!(
                    "its \"{key}\" is not that of a tokenizer of kind `{}`",
                    tokenizer.kind()
                ));
            }
        }
        Ok(tokenizer)
    }
}

impl StoredModel {
    fn into_vocabulary(self, by_bytes: bool) -> Result<Vocabulary, String> {
        let (vocabulary, given) = match self {
            Self::WordLevel { vocab, unk_token } => {
                if unk_token != SPECIALS[UNKNOWN as usize] {
                    return Err(format!("its unknown token is not {}", SPECIALS[UNKNOWN as usize]));
                }
                let given = in_order(vocab)?;
                (Vocabulary::Word(given.iter().skip(SPECIALS.len()).cloned().collect()), given)
            }
            Self::Bpe {
                vocab,
                merges,
                byte_fallback,
                dropout: None,
                unk_token: None,
                continuing_subword_prefix: None,
                end_of_word_suffix: None,
                fuse_unk: false,
                ignore_merges: false,
            } => {
                let given = in_order(vocab)?;
                let vocabulary = match (byte_fallback, by_bytes) {
                    (true, _) => {
                        Vocabulary::Char(letters(given.get(SPECIALS.len() + 256..).unwrap_or_default())?)
                    }
                    (false, true) => Vocabulary::Byte,
                    (false, false) => Vocabulary::Bpe(merges.clone()),
                };
                if !merges.is_empty() && vocabulary.kind() != Kind::Bpe {
                    return Err(format!("a tokenizer of kind `{}` has merges", vocabulary.kind()));
                }
                (vocabulary, given)
            }
            Self::Bpe { .. } => return Err("its model has options that no tokenizer of Gatto has".into()),
            Self::Unigram { vocab, unk_id, byte_fallback } => {
                if unk_id != Some(UNKNOWN as usize) || byte_fallback {
                    return Err("its model has options that no tokenizer of Gatto has".into());
                }
                let given = vocab.iter().map(|(piece, _)| piece.clone()).collect();
                (Vocabulary::Unigram(vocab.into_iter().skip(SPECIALS.len()).collect()), given)
            }
        };
        if let Some((id, special)) =
            (0..).zip(SPECIALS).find(|(id, special)| given.get(*id).is_none_or(|s| s != special))
        {
            return Err(format!("its token {id} is not the special token {special}"));
        }
        if vocabulary.spellings() != given {
            return Err("its vocabulary does not agree with its model".into());
        }
        Ok(vocabulary)
    }
}

/// Tokens by id; every id from 0 on has to be there once.
fn in_order(ids: HashMap<String, u32>) -> Result<Vec<String>, String> {
    let mut tokens: Vec<_> = ids.into_iter().collect();
    tokens.sort_unstable_by_key(|(_, id)| *id);
    match tokens.iter().zip(0..).find(|((_, id), expected)| id != expected) {
        Some(((token, id), expected)) => {
            Err(format!("token \"{}\" has id {id} where {expected} is next", token.escape_debug()))
        }
        None => Ok(tokens.into_iter().map(|(token, _)| token).collect()),
    }
}

fn letters(tokens: &[String]) -> Result<Vec<char>, String> {
    let one = |token: &String| {
        let mut letters = token.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Ok(letter),
            _ => Err(format!("token \"{}\" is not one character", token.escape_debug())),
        }
    };
    tokens.iter().map(one).collect()
}
