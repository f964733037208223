//! Captions and labels of images.

use super::figures::{Better, Figure};
use super::flags::Metric;
use super::labels::{self, Told};
use super::outcome::{Answer, Detail, Outcome};
use super::report::Report;
use super::{OF_A_BUILTIN_TASK, failures, metrics, translate};
use crate::cli::Evaluate;
use crate::commands::{bar, images};
use anyhow::{Result, ensure};
use gatto::data::builtin::shapes::Verdict;
use gatto::data::images::Ready;
use gatto::data::{Example, words};
use gatto::metrics::Measure;
use gatto::metrics::translation::References;
use gatto::model::{Prediction, Request, Saved, Task, Writers};

pub(super) fn evaluate(arguments: &Evaluate, saved: &Saved) -> Result<()> {
    let model = arguments.model.display();
    let asked = &arguments.asked;
    if let Some(path) = &arguments.failures {
        failures::check(path, saved, &arguments.model)?;
    }
    for (flag, given) in [
        ("--noise", !asked.noise.is_empty()),
        ("--by", asked.by.is_some()),
        ("--by-file", asked.by_file.is_some()),
    ] {
        ensure!(!given, "{flag} is for texts, and {model} reads images");
    }
    let (set, count) = images::held(&arguments.held, saved, &arguments.model, OF_A_BUILTIN_TASK)?;
    let preparation = saved.plan.images.unwrap_or_default();
    let batch = arguments.batch as usize;
    let (mut examples, mut captions, mut told) = (Vec::new(), Captions::default(), Vec::new());
    let bar = bar(count as usize, "predicted");
    for piece in images::in_pieces(&set, count, preparation, batch * 4)? {
        let piece = piece?;
        match saved.task {
            Task::Caption => {
                for (example, found) in piece.iter().zip(written(saved, &piece, batch)?) {
                    captions.verdicts.push(set.verdict(example.index, &found.text)?);
                    captions.outputs.push(found.text.clone());
                    captions.found.push(found);
                    captions.indices.push(example.index);
                    let normalised =
                        example.texts.iter().map(|text| saved.tokens.target.normalise(&text.text));
                    captions.references.push(normalised.collect());
                }
            }
            _ => {
                let pixels: Vec<_> = piece.iter().map(|example| example.pixels.clone()).collect();
                let found = saved.classify_images(&pixels, batch)?;
                told.extend(found.iter().map(|found| Told::of(saved, found)));
            }
        }
        bar.inc(piece.len() as u64);
        examples.extend(piece.into_iter().map(as_example));
    }
    bar.finish_and_clear();
    ensure!(!examples.is_empty(), "{model}: there is no image to evaluate on");
    let outcome = match saved.task {
        Task::Caption => captions.outcome(arguments)?,
        _ => labels::outcome(saved, &told, &examples)?,
    };
    let lengths = match saved.task {
        Task::Caption => examples.iter().map(|example| words::split(&example.target).len()).collect(),
        _ => Vec::new(),
    };
    Report { arguments, examples: &examples, lengths, outcome: &outcome, alignment: None, effects: &[] }
        .print()?;
    match &arguments.failures {
        Some(path) => failures::write(path, saved, set.as_ref(), &captions),
        None => Ok(()),
    }
}

/// The captions that a model writes.
fn written(saved: &Saved, piece: &[Ready], batch: usize) -> Result<Vec<Prediction>> {
    let requests: Vec<Request<'_>> = piece.iter().map(|example| Request::free(&example.pixels)).collect();
    let best = Writers::alone(saved)?.best(&requests, 1, batch)?;
    Ok(best.into_iter().flatten().collect())
}

fn as_example(example: Ready) -> Example {
    let text = example.texts.into_iter().next().map(|text| text.text);
    Example::new(example.name, text.unwrap_or_default())
}

/// What was written of images, and what may be.
#[derive(Default)]
pub(super) struct Captions {
    pub(super) outputs: Vec<String>,
    /// The outputs with their tokens.
    pub(super) found: Vec<Prediction>,
    /// The number of each image in its set.
    pub(super) indices: Vec<u64>,
    pub(super) references: Vec<Vec<String>>,
    /// Whether each is true, where that is known.
    pub(super) verdicts: Vec<Option<Verdict>>,
}

impl Captions {
    /// Whether a caption is right: true of its scene or, where nobody knows, one of the references.
    pub(super) fn is_right(&self, number: usize) -> bool {
        match self.verdicts[number] {
            Some(verdict) => verdict == Verdict::True,
            None => self.references[number].iter().any(|text| metrics::is_right(&self.outputs[number], text)),
        }
    }

    fn outcome(&self, arguments: &Evaluate) -> Result<Outcome> {
        let right: Vec<bool> = (0..self.outputs.len()).map(|number| self.is_right(number)).collect();
        let Self { outputs, references, verdicts, .. } = self;
        let chosen = match arguments.asked.metric.as_slice() {
            [] => vec![Metric::Exact, Metric::Bleu, Metric::Chrf],
            chosen => chosen.to_vec(),
        };
        let all = References::per_line(references)?;
        let mut figures = metrics::figures(&chosen, outputs, &all)?;
        let known: Option<Vec<Verdict>> = verdicts.iter().copied().collect();
        if let Some(verdicts) = known {
            let none = verdicts.iter().map(|verdict| *verdict == Verdict::NoCaption);
            let truth = Measure::share(right.iter().copied());
            figures.insert(0, Figure::share("true", "true of the scene", Better::Higher, truth));
            figures.push(Figure::share("no_caption", "no sentence", Better::Lower, Measure::share(none)));
        }
        let ranking = translate::ranking(&figures, outputs.len());
        let answers = outputs.iter().zip(references).zip(right).map(|((output, references), right)| Answer {
            output: output.clone(),
            reference: references.join(" · "),
            right,
        });
        Ok(Outcome { figures, answers: answers.collect(), ranking, detail: Detail::Captions })
    }
}
