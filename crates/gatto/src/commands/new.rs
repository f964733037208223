//! `gatto new`

use crate::cli::New;
use anyhow::{Result, bail};
use std::io::Write;

/// A configuration to start from.
struct Recipe {
    name: &'static str,
    text: &'static str,
}

macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        &[$(Recipe { name: $name, text: include_str!(concat!("../../../../configs/", $name, ".toml")) }),*]
    };
}

const RECIPES: &[Recipe] = recipes![
    "demo",
    "phrases",
    "dates",
    "reverse",
    "copy",
    "sort",
    "translate",
    "every-step",
    "reversed",
    "shared",
    "single",
    "language-model",
    "pretrained",
    "scheduled-sampling",
    "attention",
    "attention-fed",
    "attention-local",
    "attention-hard",
    "attention-dates",
    "attention-scores",
    "transformer",
    "transformer-pre-norm",
    "translate-with-separator",
    "multi30k",
    "classify-bilstm",
    "classify-transformer",
    "label-bilstm",
    "bidirectional-language-model",
    "elmo",
    "masked-language-model",
    "masked-then-classify",
    "caption-soft",
    "caption-hard",
    "caption-vit-transformer",
    "vit-mnist",
    "count-shapes",
    "melodies",
    "digits-las",
    "digits-transformer",
    "digits-ctc-attention",
];

impl Recipe {
    /// The first line of its text, which says what it is.
    fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// The text of a recipe.
pub(crate) fn recipe(name: &str) -> Option<&'static str> {
    RECIPES.iter().find(|recipe| recipe.name == name).map(|recipe| recipe.text)
}

pub(crate) fn run(arguments: New) -> Result<()> {
    let Some(name) = &arguments.name else {
        let mut out = std::io::stdout().lock();
        for recipe in RECIPES {
            writeln!(out, "{:<28} {}", recipe.name, recipe.summary())?;
        }
        return Ok(());
    };
    let Some(text) = recipe(name) else {
        let names: Vec<&str> = RECIPES.iter().map(|recipe| recipe.name).collect();
        bail!("there is no recipe `{name}`\n  hint: the names are {}", names.join(", "));
    };
    match arguments.output {
        Some(path) => gatto::data::files::replace(&path, |out| out.write_all(text.as_bytes()))?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(())
}
