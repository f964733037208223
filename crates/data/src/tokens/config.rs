//! The `[tokens]` table of a configuration.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use super::Recipe;
use crate::DataError;

/// What a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A word or punctuation mark, as [`crate::words::split`] finds them.
    Word,
    /// A character.
    Char,
    /// A byte.
    Byte,
    /// A piece of a word, learnt by merging frequent pairs.
    #[default]
    Bpe,
    /// A piece of a word, learnt by a unigram language model.
    Unigram,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Word => "word",
            Self::Char => "char",
            Self::Byte => "byte",
            Self::Bpe => "bpe",
            Self::Unigram => "unigram",
        })
    }
}

/// The `[tokens]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokensConfig {
    /// What a token is.
    pub kind: Kind,
    /// The most tokens that a vocabulary may have, the five special ones included. Not used by `byte`.
    pub size: usize,
    /// One vocabulary for source and target. Unless given, it is so when `source` and `target` are absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// How often a word, character or pair has to occur to be learnt. Not used by `byte` and `unigram`.
    pub min_frequency: u64,
    /// Lower-case all text first.
    pub lowercase: bool,
    /// A run directory whose vocabulary is taken over, so that parts of its model fit. Nothing is learnt then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// The most training examples to learn the vocabulary from.
    pub max_examples: usize,
    /// What is different on the source side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SideConfig>,
    /// What is different on the target side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<SideConfig>,
}

impl Default for TokensConfig {
    fn default() -> Self {
        let Recipe { kind, size, min_frequency, lowercase, max_examples } = Recipe::default();
        let (shared, from, source, target) = (None, None, None, None);
        Self { kind, size, shared, min_frequency, lowercase, from, max_examples, source, target }
    }
}

/// What is different on one side, in `[tokens.source]` or `[tokens.target]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SideConfig {
    /// What a token is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The most tokens that the vocabulary may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How often a word, character or pair has to occur to be learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_frequency: Option<u64>,
    /// Lower-case all text first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowercase: Option<bool>,
}

impl TokensConfig {
    /// Whether source and target have one vocabulary.
    pub fn is_shared(&self) -> bool {
        self.shared.unwrap_or(self.source.is_none() && self.target.is_none())
    }

    /// How to learn the vocabulary of the source (the one vocabulary, if shared).
    pub fn source_recipe(&self) -> Recipe {
        self.recipe(self.source.as_ref())
    }

    /// How to learn the vocabulary of the target.
    pub fn target_recipe(&self) -> Recipe {
        self.recipe(self.target.as_ref())
    }

    fn recipe(&self, side: Option<&SideConfig>) -> Recipe {
        let side = side.cloned().unwrap_or_default();
        Recipe {
            kind: side.kind.unwrap_or(self.kind),
            size: side.size.unwrap_or(self.size),
            min_frequency: side.min_frequency.unwrap_or(self.min_frequency),
            lowercase: side.lowercase.unwrap_or(self.lowercase),
            max_examples: self.max_examples,
        }
    }

    /// Refuses what makes no sense, before any text is read.
    pub fn validate(&self) -> Result<(), DataError> {
        if self.shared == Some(true) && (self.source.is_some() || self.target.is_some()) {
            return Err(DataError::Config {
                key: "tokens.shared".into(),
                problem: "one shared vocabulary cannot differ by side; remove `[tokens.source]` and \
                          `[tokens.target]`, or write `shared = false`"
                    .into(),
            });
        }
        self.source_recipe().validate()?;
        self.target_recipe().validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_override_what_stands_above() {
        let config: TokensConfig =
            toml::from_str("kind = \"word\"\nsize = 100\n[target]\nkind = \"char\"\nsize = 300").unwrap();
        assert!(!config.is_shared());
        assert_eq!((config.source_recipe().kind, config.source_recipe().size), (Kind::Word, 100));
        assert_eq!((config.target_recipe().kind, config.target_recipe().size), (Kind::Char, 300));
        config.validate().unwrap();
        assert!(toml::from_str::<TokensConfig>("").unwrap().is_shared());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, remedy) in [
            ("shared = true\n[source]\nkind = \"char\"", "shared = false"),
            ("size = 260", "at least 261 tokens; write `size = 261` or more"),
            ("kind = \"word\"\nsize = 5", "at least 6"),
            ("size = 3000000000", "`size`: is too big"),
            ("max_examples = 0", "`max_examples`"),
            ("[target]\nkind = \"unigram\"\nsize = 3", "kind `unigram`"),
        ] {
            let error = toml::from_str::<TokensConfig>(text).unwrap().validate().unwrap_err().to_string();
            assert!(error.contains(remedy), "{text}: {error}");
        }
        let error = toml::from_str::<TokensConfig>("kind = \"bpo\"").unwrap_err().to_string();
        assert!(error.contains("expected one of `word`, `char`, `byte`, `bpe`, `unigram`"), "{error}");
    }
}
