//! What a configuration may not say: refused with the file, the line, the column and the remedy.

mod attention;
mod heads;
mod images;
mod models;
mod reading;
mod sounds;
mod training;
mod transformers;

use gatto_train::ConfigFile;
use std::path::Path;

pub(crate) fn parse(text: &str, changes: &[&str]) -> Result<ConfigFile, String> {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    ConfigFile::parse(Path::new("a.toml"), text.to_owned(), ".".into(), &changes)
        .map_err(|error| error.to_string())
}

pub(crate) fn refused(text: &str) -> String {
    match parse(text, &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The smallest configuration of each family; what is wrong is put in place of, or behind, a line.
pub(crate) const PAIR: &str = r#"task = "translate"
[data]
builtin = "copy"
[encoder.lstm]
width = 8
[decoder.lstm]
width = 8
"#;
pub(crate) const SINGLE: &str = "task = \"translate\"\n[data]\nbuiltin = \"copy\"\n[single.gru]\nwidth = 8\n";
pub(crate) const LANGUAGE: &str =
    "task = \"language-model\"\n[data]\nbuiltin = \"copy\"\n[decoder.rnn]\nwidth = 8\n";
pub(crate) const FILES: &str =
    "task = \"translate\"\n[data]\ntrain = { tsv = \"a\" }\n[encoder.lstm]\n[decoder.lstm]\n";

/// The text with one piece in place of another.
pub(crate) fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

/// The text with more behind it.
pub(crate) fn and(text: &str, more: &str) -> String {
    format!("{text}{more}\n")
}

pub(crate) fn check(cases: Vec<(String, &str, &str)>) {
    let mut wrong = Vec::new();
    for (text, place, message) in cases {
        let error = refused(&text);
        if !error.starts_with(&format!("a.toml:{place}")) || !error.contains(message) {
            wrong.push(format!("{error}\n  instead of a.toml:{place} … {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
