//! A page of the worst captions: what was written, what would be true, and where the model looked.

use super::images::Captions;
use crate::lines::write_output;
use anyhow::{Result, ensure};
use gatto::data::builtin::shapes::Verdict;
use gatto::data::images::{ImageSet, Ready};
use gatto::data::words;
use gatto::inspect::look;
use gatto::inspect::overlay::{Failure, MOST_FAILURES, failures_page};
use gatto::model::{AttentionKind, Saved, Task};
use std::collections::HashSet;
use std::path::Path;

/// Images that are looked at together.
const AT_ONCE: usize = 32;

/// Refuses a page that could not be made.
pub(super) fn check(path: &Path, saved: &Saved, model: &Path) -> Result<()> {
    let model = model.display();
    ensure!(
        saved.task == Task::Caption,
        "--failures is for captions, and {model} is for `task = \"{}\"`",
        saved.task
    );
    ensure!(
        path.extension().is_some_and(|end| end == "html" || end == "htm"),
        "{}: is no .html; name the page so",
        path.display()
    );
    ensure!(
        saved.plan.attentions().contains(&AttentionKind::Cross),
        "{model}: has no attention, so there is no focus to show with its failures"
    );
    Ok(())
}

pub(super) fn write(path: &Path, saved: &Saved, set: &dyn ImageSet, captions: &Captions) -> Result<()> {
    let mut wrong: Vec<usize> = (0..captions.outputs.len()).filter(|&at| !captions.is_right(at)).collect();
    // Those that the model was surest of are the worst.
    let sure = |at: &usize| per_token(captions, *at);
    wrong.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
    let all = wrong.len();
    wrong.truncate(MOST_FAILURES);
    let mut failures = Vec::with_capacity(wrong.len());
    for numbers in wrong.chunks(AT_ONCE) {
        failures.extend(looked_at(saved, set, captions, numbers)?);
    }
    let mut title = format!("{all} of {} captions are wrong", captions.outputs.len());
    if all > failures.len() {
        title += &format!("; these are the {} that the model was surest of", failures.len());
    }
    let page = failures_page(&title, &failures)?;
    write_output(Some(path), |out| Ok(out.write_all(page.as_bytes())?))
}

/// Mean log p of a caption's tokens.
fn per_token(captions: &Captions, number: usize) -> f64 {
    let hypothesis = &captions.found[number].hypothesis;
    f64::from(hypothesis.score()) / hypothesis.log_probabilities.len().max(1) as f64
}

/// Some failures, with where the model looked.
fn looked_at(
    saved: &Saved,
    set: &dyn ImageSet,
    captions: &Captions,
    numbers: &[usize],
) -> Result<Vec<Failure>> {
    let preparation = saved.plan.images.unwrap_or_default();
    let read = |&number: &usize| Ready::new(set, captions.indices[number], &preparation, None);
    let images = numbers.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let tokens = numbers.iter().map(|&number| captions.found[number].hypothesis.tokens.clone());
    let pairs: Vec<_> = images.iter().map(|image| &image.pixels).zip(tokens).collect();
    let traces = saved.trace_images(&pairs, AT_ONCE, false)?;
    let mut failures = Vec::with_capacity(numbers.len());
    for ((&number, image), trace) in numbers.iter().zip(&images).zip(&traces) {
        let text = &captions.outputs[number];
        let weights = trace.weights.clone().unwrap_or_default();
        let shown = preparation.normalisation.undo(&image.pixels);
        let overlay = look::overlay(&image.name, shown, trace, text, vec![("attention", weights)], &[])?;
        let references = captions.references[number].clone();
        let (kinds, reasons) = why(text, &references, captions.verdicts[number]);
        failures.push(Failure {
            overlay,
            wrong: strange_words(text, &references),
            kinds,
            reasons,
            references,
            score: -per_token(captions, number) as f32,
            figures: vec![("log p of a token".to_owned(), per_token(captions, number) as f32)],
        });
    }
    Ok(failures)
}

/// The words of a caption that no reference has, counted from zero.
fn strange_words(text: &str, references: &[String]) -> Vec<usize> {
    let known: HashSet<&str> = references.iter().flat_map(|reference| words::split(reference)).collect();
    let words = words::split(text);
    (0..words.len()).filter(|&word| !known.contains(words[word])).collect()
}

/// What kinds of error these are, and a sentence about each.
fn why(text: &str, references: &[String], verdict: Option<Verdict>) -> (Vec<String>, Vec<String>) {
    let words = words::split(text);
    let strange: Vec<&str> = strange_words(text, references).into_iter().map(|word| words[word]).collect();
    match (verdict, strange.is_empty()) {
        (Some(Verdict::NoCaption), _) => {
            (vec!["no sentence".into()], vec!["It is no sentence that the scenes know.".into()])
        }
        (Some(Verdict::False), true) => (
            vec!["relation".into()],
            vec!["All its words stand in true captions, but what it says of them is not so.".into()],
        ),
        (None, true) => (
            vec!["other".into()],
            vec!["All its words stand in captions that are known, but none of these is it.".into()],
        ),
        _ => (
            vec!["word".into()],
            vec![format!("No true caption that is known has the words: {}.", strange.join(", "))],
        ),
    }
}
