//! Reading a TOML file into typed settings, with errors that name the file, the line and the remedy.

use super::Complaint;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{}: is {size} bytes long; a configuration has at most {most}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The limit.
        most: u64,
    },
    /// A change that was asked for on the command line cannot be made.
    #[error("--set {change}: {message}")]
    Change {
        /// The change, such as `train.steps=100`.
        change: String,
        /// What is wrong with it, and the remedy.
        message: String,
    },
    /// The text is not what it should be.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, and the remedy.
        message: String,
    },
}

const MOST_BYTES: u64 = 1 << 20;

/// The text of a configuration file.
pub fn read_text(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MOST_BYTES {
        return Err(ConfigError::TooLarge { path: path.to_owned(), size, most: MOST_BYTES });
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// Reads the settings in `text`, which came from `path`, and has `check` look at the whole.
pub fn read<T: DeserializeOwned>(
    path: &Path,
    text: &str,
    check: impl FnOnce(&T) -> Result<(), Complaint>,
) -> Result<T, ConfigError> {
    let wrong = |offset: usize, message: String| {
        let (line, column) = place(text, offset);
        ConfigError::Wrong { path: path.to_owned(), line, column, message }
    };
    let settings: T = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        wrong(offset, with_closest_key(error.message()))
    })?;
    check(&settings).map_err(|complaint| {
        wrong(offset_of(text, &complaint.key), format!("`{}` {}", complaint.key, complaint.message))
    })?;
    Ok(settings)
}

/// Line and column, from 1, of a byte offset.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Where a key stands, or the deepest table on its way that exists.
fn offset_of(text: &str, key: &str) -> usize {
    let Ok(table) = toml::de::DeTable::parse(text) else { return 0 };
    let mut found = 0;
    let mut table = Some(table.into_inner());
    for name in key.split('.') {
        let Some(inside) = table.take() else { break };
        let Some((key, value)) = inside.into_iter().find(|(key, _)| key.get_ref().as_ref() == name) else {
            break;
        };
        found = key.span().start;
        if let toml::de::DeValue::Table(inner) = value.into_inner() {
            table = Some(inner);
        }
    }
    found
}

/// Serde's message for an unknown key, with the closest known one.
fn with_closest_key(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = ["unknown field", "unknown variant"].iter().any(|start| message.starts_with(start));
    let Some(wrong) = names.next().filter(|_| unknown) else { return message.to_owned() };
    let closest = names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(wrong.len()) / 2)
        .min();
    match closest {
        Some((_, name)) => format!("{message}\n  hint: did you mean `{name}`?"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RecurrentEncoderConfig;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        encoder: super::super::EncoderConfig,
    }

    fn read_file(text: &str) -> Result<File, String> {
        read::<File>(Path::new("a.toml"), text, |_| Ok(())).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_the_closest_known_one() {
        let error = read_file("[encoder.lstm]\nwidth = 3\n  widht = 4\n").unwrap_err();
        assert!(error.starts_with("a.toml:3:3: unknown field `widht`"), "{error}");
        assert!(error.ends_with("did you mean `width`?"), "{error}");
        let error = read_file("[encoder.lsmt]\n").unwrap_err();
        assert!(error.contains("did you mean `lstm`?"), "{error}");
    }

    #[test]
    fn a_complaint_points_at_its_key() {
        let check = |_: &File| Err(Complaint::new("encoder.lstm.reversed", "is wrong"));
        let text = "[encoder.lstm]\nwidth = 3\nreversed = true\n";
        let error = read::<File>(Path::new("a.toml"), text, check).unwrap_err().to_string();
        assert_eq!(error, "a.toml:3:1: `encoder.lstm.reversed` is wrong");
        let error = read::<File>(Path::new("a.toml"), "[encoder.lstm]\n", check).unwrap_err().to_string();
        assert!(error.starts_with("a.toml:1:"), "{error}");
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let file = read_file("[encoder.gru]\nlayers = 2").unwrap();
        let expected = RecurrentEncoderConfig { layers: 2, ..Default::default() };
        assert_eq!(file.encoder, super::super::EncoderConfig::Gru(expected));
    }
}
