//! `gatto explain-report` for models that read images.

use super::{OF_A_BUILTIN_TASK, Wording, agreement_as_json, agreement_as_text};
use crate::cli::ExplainReport;
use crate::commands::images::held;
use crate::commands::{bar, tables};
use anyhow::{Context, Result, bail, ensure};
use gatto::data::images::{ImageSet, ImageText, Ready};
use gatto::inspect::explain::{Figures, ImageCase, ImageReport, ImageSurvey, Method, Pointed};
use gatto::model::{AttentionKind, CONFIG, Request, Saved, Writers};
use std::io::Write;
use std::path::Path;

/// Words that a table lists; JSON has all.
const FREQUENT: usize = 20;

pub(super) fn explain(arguments: &ExplainReport, saved: &Saved) -> Result<()> {
    require_maps(saved, &arguments.model)?;
    let preparation = saved.plan.images.context("the model reads no images")?;
    let (set, count) = held(&arguments.held, saved, &arguments.model, OF_A_BUILTIN_TASK)?;
    ensure!(count > 0, "{}: has no image to explain", arguments.model.join(CONFIG).display());
    let bar = bar(count as usize, "explained");
    let mut survey = ImageSurvey::new(saved, arguments.seed);
    for index in 0..count {
        let ready = Ready::new(set.as_ref(), index, &preparation, None)?;
        let case = case(set.as_ref(), ready, saved, arguments.own)?;
        ensure!(survey.add(&case)?, "the model has no attention");
        bar.inc(1);
    }
    bar.finish_and_clear();
    let found = survey.report();
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&found, arguments.own))?,
        false => write!(out, "{}", as_text(&found, saved, arguments.own))?,
    }
    Ok(())
}

/// Refuses a model in which nothing looks at regions.
fn require_maps(saved: &Saved, model: &Path) -> Result<()> {
    let attentions = saved.plan.attentions();
    let has = |kind| attentions.contains(&kind);
    let writes = saved.task.writes();
    // What a Vision Transformer's own heads see stands for the image as a whole, not for a word.
    if has(AttentionKind::Cross) || has(AttentionKind::Pooling) || (!writes && has(AttentionKind::Encoder)) {
        return Ok(());
    }
    let remedy = match writes {
        true => "add [attention] to its configuration",
        false => "write pooling = \"attention\" under [head] of its configuration",
    };
    bail!(
        "{}: has no attention, so there is nothing to look at\n  hint: {remedy}, and train again",
        model.display()
    )
}

/// An image with the caption that is explained: one of its own, another with each image, or the model's. Of a label
/// there is only one.
fn case(set: &dyn ImageSet, ready: Ready, saved: &Saved, own: bool) -> Result<ImageCase> {
    let Ready { index, name, pixels, view, mut texts } = ready;
    let (target, text) = match (own, &saved.labels) {
        (true, None) => {
            let found = Writers::alone(saved)?.best(&[Request::free(&pixels)], 1, 1)?;
            let written = found.into_iter().flatten().next().context("there is no prediction")?;
            (written.hypothesis.tokens, set.located(index, &written.text)?.map(|text| view.map_text(text)))
        }
        (true, Some(labels)) => {
            let told = saved.classify_images(std::slice::from_ref(&pixels), 1)?;
            let label = told.first().context("there is no prediction")?.label;
            let text = set.located(index, labels.name(label).unwrap_or_default())?;
            (vec![label], text.map(|text| view.map_text(text)))
        }
        (false, labels) => {
            ensure!(!texts.is_empty(), "{name}: has no text to explain; give it one, or ask for --own");
            let text = texts.swap_remove((index % texts.len() as u64) as usize);
            let target = match labels {
                None => saved.tokens.target.encode(&text.text),
                Some(labels) => {
                    let label = labels.id(&text.text);
                    vec![label.with_context(|| {
                        format!("{name}: the model does not know the label `{}`", text.text)
                    })?]
                }
            };
            (target, Some(text))
        }
    };
    let text = text.filter(|text: &ImageText| !text.mentions.is_empty());
    Ok(ImageCase { pixels, target, text })
}

/// The names of what is printed for each method, in JSON and in tables.
const METHODS: [(Method, &str, &str); 4] = [
    (Method::Attention, "attention", "attention"),
    (Method::Gradient, "gradient", "gradient \u{d7} input"),
    (Method::Erasure, "erasure", "erasure"),
    (Method::Chance, "chance", "chance"),
];

fn as_json(report: &ImageReport, own: bool) -> serde_json::Value {
    let of = |figures: &Figures| {
        let mut found = serde_json::json!({ "count": figures.count });
        for (method, key, _) in METHODS {
            let Pointed { share, accuracy } = figures.of(method);
            found[key] = serde_json::json!({ "share": share, "accuracy": accuracy });
        }
        found
    };
    let by_word = |(word, figures): (&str, &Figures)| {
        let mut found = of(figures);
        found["word"] = word.into();
        found
    };
    let mut found = serde_json::json!({
        "images": report.agreement.examples,
        "own": own,
        "rollout": report.rollout,
        "located": report.located,
        "pointing": null,
    });
    agreement_as_json(&report.agreement, &mut found);
    if report.pointing.all().count > 0 {
        found["pointing"] = of(report.pointing.all());
        found["pointing"]["by_word"] = report.pointing.words().into_iter().map(by_word).collect();
    }
    found
}

fn as_text(report: &ImageReport, saved: &Saved, own: bool) -> String {
    let attention = if report.rollout { "rollout" } else { "attention" };
    let writes = saved.task.writes();
    let wording = Wording {
        attention,
        parts: "regions",
        output: if writes { "an output token" } else { "a label" },
        deleted: "blanked",
    };
    let tokens = if writes { "target tokens with their ends" } else { "labels" };
    let mut text = format!("{} images, {} {tokens}\n", report.agreement.examples, report.agreement.tokens);
    text += &agreement_as_text(&report.agreement, &wording);
    text + &pointing_as_text(report, attention, writes, own)
}

fn pointing_as_text(report: &ImageReport, attention: &str, writes: bool, own: bool) -> String {
    let (all, images) = (report.pointing.all(), report.agreement.examples);
    if all.count == 0 {
        let reason = match own {
            true => "no text that the model wrote is true of images that know where things are",
            false => "these images do not know where things are; those of `builtin = \"shapes\"` do",
        };
        return format!("pointing at what words name: left out, since {reason}\n");
    }
    let what = if writes { "words" } else { "labels" };
    let mut text = format!("pointing at what {what} name, over {} {what}", all.count);
    if report.located < images {
        text += &format!(
            " of {} images; the other {} texts are not true",
            report.located,
            images - report.located
        );
    }
    text += "\n  map                share inside   pointing accuracy\n";
    for (method, _, name) in METHODS {
        let Pointed { share, accuracy } = all.of(method);
        let name = if method == Method::Attention { attention } else { name };
        text += &format!(
            "  {}  {:10.1} %   {:15.1} %\n",
            tables::padded(name, 17),
            100.0 * share,
            100.0 * accuracy
        );
    }
    let words = report.pointing.words();
    text += &format!("pointing accuracy by {}", what.trim_end_matches('s'));
    if words.len() > FREQUENT {
        text += &format!(", the {FREQUENT} most frequent of {} (--json has all)", words.len());
    }
    let widest = words.iter().take(FREQUENT).map(|(word, _)| word.chars().count()).max().unwrap_or(0).max(4);
    text += &format!(
        "\n  {}   count   {attention:>9}   gradient   erasure    chance\n",
        tables::padded(what.trim_end_matches('s'), widest)
    );
    for (word, figures) in words.into_iter().take(FREQUENT) {
        let [attention, gradient, erasure, chance] =
            METHODS.map(|(method, ..)| 100.0 * figures.of(method).accuracy);
        text += &format!(
            "  {}   {:5}   {attention:7.1} %   {gradient:6.1} %   {erasure:5.1} %   {chance:5.1} %\n",
            tables::padded(word, widest),
            figures.count
        );
    }
    text
}
