//! The tokenizers of source and target: one for both, or one for each.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Kind, Learner, Tokenizer, TokensConfig};
use crate::corpus::{Corpus, Position};
use crate::{DataError, Example, WriteError};

const BOTH: &str = "tokenizer.json";
const SOURCE: &str = "tokenizer.source.json";
const TARGET: &str = "tokenizer.target.json";

/// The tokenizers of source and target.
#[derive(Clone, Debug)]
pub struct TokenizerPair {
    /// What reads the source.
    pub source: Arc<Tokenizer>,
    /// What reads and writes the target.
    pub target: Arc<Tokenizer>,
}

impl TokenizerPair {
    /// The files that [`TokenizerPair::save`] leaves some of.
    pub const FILES: [&str; 3] = [BOTH, SOURCE, TARGET];

    /// One tokenizer for both sides.
    pub fn together(tokenizer: Tokenizer) -> Self {
        let tokenizer = Arc::new(tokenizer);
        Self { source: tokenizer.clone(), target: tokenizer }
    }

    /// Every byte is a token: for models that neither read nor write text.
    pub fn of_bytes() -> Result<Self, DataError> {
        let config = TokensConfig { kind: Kind::Byte, ..TokensConfig::default() };
        Ok(Self::together(Tokenizer::train(&config.source_recipe(), [])?))
    }

    /// One tokenizer for each side.
    pub fn apart(source: Tokenizer, target: Tokenizer) -> Self {
        Self { source: Arc::new(source), target: Arc::new(target) }
    }

    /// Whether it is one tokenizer for both sides.
    pub fn is_shared(&self) -> bool {
        Arc::ptr_eq(&self.source, &self.target)
    }

    /// Learns from the first `max_examples` of a corpus, which is then back at its start. Where all
    /// sources are empty (a language model), the target's tokenizer serves both sides.
    pub fn train(config: &TokensConfig, corpus: &mut dyn Corpus) -> Result<Self, DataError> {
        config.validate()?;
        let mut source = Learner::new(&config.source_recipe())?;
        let mut target = Learner::new(&config.target_recipe())?;
        let shared = config.is_shared();
        let mut has_source = false;
        corpus.seek(&Position::start())?;
        for _ in 0..config.max_examples {
            let Some(example) = corpus.next()? else { break };
            has_source |= !example.source.is_empty();
            if shared { &mut target } else { &mut source }.feed(&example.source);
            target.feed(&example.target);
        }
        corpus.seek(&Position::start())?;
        let target = target.finish()?;
        if shared || !has_source {
            return Ok(Self::together(target));
        }
        Ok(Self::apart(source.finish()?, target))
    }

    /// Learns one tokenizer from the sources of the first `max_examples` of a corpus, which is then back
    /// at its start: for labels, and for what has no target.
    pub fn train_on_sources(config: &TokensConfig, corpus: &mut dyn Corpus) -> Result<Self, DataError> {
        config.validate()?;
        let mut learner = Learner::new(&config.source_recipe())?;
        corpus.seek(&Position::start())?;
        for _ in 0..config.max_examples {
            let Some(example) = corpus.next()? else { break };
            learner.feed(&example.source);
        }
        corpus.seek(&Position::start())?;
        Ok(Self::together(learner.finish()?))
    }

    /// The tokens of both sides of an example.
    pub fn encode(&self, example: &Example) -> (Vec<u32>, Vec<u32>) {
        (self.source.encode(&example.source), self.target.encode(&example.target))
    }

    /// Writes `tokenizer.json` into a folder, or `tokenizer.source.json` and `tokenizer.target.json`.
    pub fn save(&self, folder: &Path) -> Result<(), DataError> {
        if self.is_shared() {
            self.source.save(&folder.join(BOTH))?;
            remove(&folder.join(SOURCE))?;
            remove(&folder.join(TARGET))
        } else {
            self.source.save(&folder.join(SOURCE))?;
            self.target.save(&folder.join(TARGET))?;
            remove(&folder.join(BOTH))
        }
    }

    /// Whether a folder holds tokenizers for both sides, of either form.
    pub fn is_in(folder: &Path) -> bool {
        let [both, source, target] = [BOTH, SOURCE, TARGET].map(|file| folder.join(file).exists());
        both || (source && target)
    }

    /// Reads what [`TokenizerPair::save`] wrote.
    pub fn load(folder: &Path) -> Result<Self, DataError> {
        let (both, source, target) = (folder.join(BOTH), folder.join(SOURCE), folder.join(TARGET));
        match (both.exists(), source.exists() || target.exists()) {
            (true, true) => Err(DataError::Tokenizer {
                path: both,
                problem: format!("{SOURCE} or {TARGET} stands beside it, and one of them is out of date"),
            }),
            (false, true) => Ok(Self::apart(Tokenizer::load(&source)?, Tokenizer::load(&target)?)),
            _ => Ok(Self::together(Tokenizer::load(&both)?)),
        }
    }
}

/// Removes a file that an earlier save may have left.
fn remove(path: &Path) -> Result<(), DataError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WriteError { path: path.to_owned(), error }.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Memory;
    use crate::tokens::{Kind, SideConfig};

    fn corpus() -> Memory {
        Memory::new(vec![Example::new("the cat", "il gatto"), Example::new("the table", "il tavolo")])
    }

    #[test]
    fn together_or_apart_they_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let together = TokensConfig { kind: Kind::Word, ..TokensConfig::default() };
        let apart = TokensConfig {
            source: Some(SideConfig { kind: Some(Kind::Char), ..SideConfig::default() }),
            ..together.clone()
        };
        for config in [&together, &apart, &together] {
            let mut corpus = corpus();
            let pair = TokenizerPair::train(config, &mut corpus).unwrap();
            assert_eq!(corpus.position(), Position::start());
            pair.save(folder.path()).unwrap();
            let loaded = TokenizerPair::load(folder.path()).unwrap();
            assert_eq!(loaded.is_shared(), config.is_shared());
            let example = Example::new("the cat", "il tavolo");
            assert_eq!(loaded.encode(&example), pair.encode(&example));
            assert_eq!(loaded.source.kind(), config.source_recipe().kind);
        }
        let count = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(count, 1, "files of the earlier form are removed");
    }

    #[test]
    fn a_shared_vocabulary_knows_both_sides_and_max_examples_is_kept() {
        let config = TokensConfig { kind: Kind::Word, max_examples: 1, ..TokensConfig::default() };
        let pair = TokenizerPair::train(&config, &mut corpus()).unwrap();
        assert_eq!(pair.source.decode(&pair.source.encode("the gatto")), "the gatto");
        assert_eq!(pair.source.encode("table"), [crate::tokens::UNKNOWN]);
    }

    #[test]
    fn sources_alone_make_one_tokenizer() {
        let config = TokensConfig { kind: Kind::Word, ..TokensConfig::default() };
        let mut corpus = corpus();
        let pair = TokenizerPair::train_on_sources(&config, &mut corpus).unwrap();
        assert!(pair.is_shared());
        assert_eq!(corpus.position(), Position::start());
        assert_eq!(pair.source.encode("cat gatto")[1], crate::tokens::UNKNOWN);
        assert_eq!(pair.source.decode(&pair.source.encode("the cat table")), "the cat table");
    }

    #[test]
    fn a_language_model_has_one_tokenizer() {
        let mut corpus = Memory::new(vec![Example::new("", "il gatto")]);
        let config = TokensConfig { shared: Some(false), ..TokensConfig::default() };
        assert!(TokenizerPair::train(&config, &mut corpus).unwrap().is_shared());
    }

    #[test]
    fn an_empty_corpus_and_ambiguous_files_are_refused() {
        let config = TokensConfig::default();
        let empty = TokenizerPair::train(&config, &mut Memory::new(Vec::new()));
        assert!(matches!(empty, Err(DataError::NoText)));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(BOTH), "").unwrap();
        fs::write(folder.path().join(SOURCE), "").unwrap();
        let error = TokenizerPair::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("out of date"), "{error}");
        fs::remove_file(folder.path().join(BOTH)).unwrap();
        assert!(
            matches!(TokenizerPair::load(folder.path()), Err(DataError::Tokenizer { path, .. }) if path.ends_with(SOURCE))
        );
    }
}
