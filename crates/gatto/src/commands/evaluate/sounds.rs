//! What is said in recordings, beside what should be, and when.

use super::figures::{Better, Figure};
use super::flags::Metric;
use super::outcome::{Answer, Detail, Outcome};
use super::report::Report;
use super::{OF_A_BUILTIN_TASK, metrics, translate};
use crate::cli::Evaluate;
use crate::commands::{bar, sounds};
use anyhow::{Context, Result, ensure};
use gatto::data::sound::{AheadSettings, Ready, ready};
use gatto::data::tokens::SPECIALS;
use gatto::data::{Example, Kind, Tokenizer, words};
use gatto::inspect::look::heard_words;
use gatto::metrics::translation::References;
use gatto::metrics::{Measure, Onsets, Timed};
use gatto::model::{AttentionKind, Prediction, Request, Saved, Writers};
use std::sync::Arc;

/// How far the beginning of a word may be from where it is said to be, in seconds.
const TOLERANCE: f64 = 0.05;
/// The most words that are symbols rather than a language.
const SYMBOLS: usize = 100;

pub(super) fn evaluate(arguments: &Evaluate, saved: &Saved) -> Result<()> {
    let (model, asked) = (arguments.model.display(), &arguments.asked);
    for (flag, given) in [
        ("--noise", !asked.noise.is_empty()),
        ("--by-file", asked.by_file.is_some()),
        ("--failures", arguments.failures.is_some()),
    ] {
        ensure!(!given, "{flag} is for texts or images, and {model} reads sounds");
    }
    ensure!(
        asked.by.as_deref().is_none_or(|by| by == "speaker"),
        "--by {}: recordings are grouped by who speaks; write --by speaker",
        asked.by.as_deref().unwrap_or_default()
    );
    let (set, count) = sounds::held(&arguments.held, saved, &arguments.model, OF_A_BUILTIN_TASK)?;
    let preparer = Arc::new(saved.preparer()?.context("the model reads no sounds")?);
    let batch = arguments.batch as usize;
    let mut found = Transcribed::default();
    let bar = bar(count as usize, "transcribed");
    let mut sounds = ready(set, (0..count).collect(), preparer, None, None, AheadSettings::default())?;
    loop {
        let piece: Vec<Ready> = sounds.by_ref().take(batch * 4).collect::<Result<_, _>>()?;
        if piece.is_empty() {
            break;
        }
        found.add(saved, &piece, batch)?;
        bar.inc(piece.len() as u64);
    }
    bar.finish_and_clear();
    ensure!(!found.examples.is_empty(), "{model}: there is no recording to evaluate on");
    let outcome = found.outcome(saved, arguments)?;
    let lengths = found.examples.iter().map(|example| words::split(&example.target).len()).collect();
    let examples = &found.examples;
    Report { arguments, examples, lengths, outcome: &outcome, alignment: None, effects: &[] }.print()
}

/// What was written of recordings.
#[derive(Default)]
struct Transcribed {
    examples: Vec<Example>,
    outputs: Vec<String>,
    /// When words begin, where that is known, of each example.
    onsets: Vec<Onsets>,
}

impl Transcribed {
    fn add(&mut self, saved: &Saved, piece: &[Ready], batch: usize) -> Result<()> {
        let requests: Vec<Request<'_>> = piece.iter().map(|example| Request::free(&example.frames)).collect();
        let best = Writers::alone(saved)?.best(&requests, 1, batch)?;
        let written: Vec<Prediction> = best.into_iter().flatten().collect();
        let known = piece.iter().any(|example| !example.said.mentions.is_empty());
        let listens = saved.plan.attentions().contains(&AttentionKind::Cross);
        let mut onsets = vec![Onsets::default(); piece.len()];
        if known && listens {
            let tokens = written.iter().map(|found| found.hypothesis.tokens.clone());
            let pairs: Vec<_> = piece.iter().map(|example| &example.frames).zip(tokens).collect();
            for (place, trace) in saved.trace_sounds(&pairs)?.iter().enumerate() {
                let heard = heard_words(trace, &written[place].text);
                let output = heard.iter().map(|word| Timed {
                    word: &word.written.text,
                    start: word.heard.map(|(start, _)| start),
                });
                let said = &piece[place].said;
                let begins = |word: usize| {
                    said.mentions.iter().find(|mention| mention.word == word).map(|mention| mention.start)
                };
                let reference = words::split(&said.text).into_iter().enumerate();
                let reference: Vec<Timed<'_>> =
                    reference.map(|(number, word)| Timed { word, start: begins(number) }).collect();
                onsets[place] = Onsets::of(&output.collect::<Vec<_>>(), &reference, TOLERANCE);
            }
        }
        self.onsets.extend(onsets);
        self.outputs.extend(written.into_iter().map(|found| found.text));
        self.examples.extend(piece.iter().map(|example| Example {
            group: Some(example.said.speaker.clone().unwrap_or_else(|| "nobody known".to_owned())),
            ..Example::new(example.name.clone(), example.said.text.clone())
        }));
        Ok(())
    }

    fn outcome(&self, saved: &Saved, arguments: &Evaluate) -> Result<Outcome> {
        let target = &saved.tokens.target;
        let references: Vec<String> =
            self.examples.iter().map(|example| target.normalise(&example.target)).collect();
        let chosen = match arguments.asked.metric.as_slice() {
            [] => usual(target),
            chosen => chosen.to_vec(),
        };
        let mut figures = metrics::figures(&chosen, &self.outputs, &References::single(&references))?;
        if self.onsets.iter().any(|onsets| onsets.known > 0) {
            let near = self.onsets.iter().map(|onsets| (onsets.near as f64, onsets.known as f64));
            let late = self.onsets.iter().map(|onsets| (onsets.late * 1000.0, onsets.found as f64));
            figures.push(Figure::share(
                "onsets_within_50_ms",
                "begins within 50 ms",
                Better::Higher,
                Measure::ratio(near),
            ));
            let late = Figure::score("onset_lateness_ms", "late, in ms", Better::Lower, Measure::ratio(late));
            figures.push(late.of_the_whole());
        }
        let ranking = translate::ranking(&figures, self.outputs.len());
        let answer = |(output, reference): (&String, String)| {
            let right = metrics::is_right(output, &reference);
            Answer { output: output.clone(), reference, right }
        };
        let answers = self.outputs.iter().zip(references).map(answer).collect();
        Ok(Outcome { figures, answers, ranking, detail: Detail::Transcripts })
    }
}

/// Error rates: of words, and of characters where words are spelt or are many.
fn usual(tokens: &Tokenizer) -> Vec<Metric> {
    let symbols = tokens.kind() == Kind::Word && tokens.size() <= SYMBOLS + SPECIALS.len();
    match symbols {
        true => vec![Metric::Wer, Metric::Exact],
        false => vec![Metric::Wer, Metric::Cer, Metric::Exact],
    }
}
