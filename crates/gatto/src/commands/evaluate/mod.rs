//! `gatto evaluate`

mod labels;
mod texts;
mod translate;

use crate::cli::Evaluate;
use anyhow::{Result, bail, ensure};
use gatto::Device;
use gatto::model::{Saved, Task};

/// Examples of a built-in task, which has no end to speak of, unless told otherwise.
const OF_A_BUILTIN_TASK: u64 = 2000;

pub(crate) fn run(arguments: Evaluate) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| evaluate(&arguments, device))?
}

fn evaluate(arguments: &Evaluate, device: &Device) -> Result<()> {
    if let Some(path) = arguments.plot.as_ref().filter(|path| path.extension() != Some("svg".as_ref())) {
        bail!("{}: is no .svg; name the plot so", path.display());
    }
    let saved = Saved::load(&arguments.model, device)?;
    let (task, model) = (saved.task, arguments.model.display());
    for (flag, given) in
        [("--plot", arguments.plot.is_some()), ("--alignments", arguments.alignments.is_some())]
    {
        ensure!(
            !given || task == Task::Translate,
            "{flag} is for translators, and {model} is for `task = \"{task}\"`"
        );
    }
    ensure!(
        arguments.wrong == 0 || task == Task::Translate || task.has_labels(),
        "--wrong is for translations and labels, and {model} is a language model"
    );
    let examples = super::sources::examples(&arguments.held, &saved, &arguments.model, OF_A_BUILTIN_TASK)?;
    match task {
        Task::Translate => translate::evaluate(arguments, &saved, examples, device),
        Task::Classify | Task::Label => labels::evaluate(arguments, &saved, &examples),
        Task::LanguageModel | Task::MaskedLanguageModel | Task::BidirectionalLanguageModel => {
            texts::evaluate(arguments, &saved, &examples)
        }
    }
}
