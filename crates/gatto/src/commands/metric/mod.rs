//! `gatto metric`: how good outputs are that some program has written, line by line beside references.
//!
//! All scores are in percent.

mod flags;
mod told;

pub(crate) use flags::Metric;

use crate::lines::{Lines, write_output};
use anyhow::{Result, ensure};
use flags::{BleuFlags, Chance, ChrfFlags, ErrorFlags, Name, TerFlags, Test, Texts};
use gatto::metrics::translation::significance::{self, Comparison, Interval, SAMPLES, TRIALS};
use gatto::metrics::translation::{self, References, Score, Signature, Smoothing, Statistics};
use gatto::metrics::{Edits, ErrorRate, ExactMatch, Figures, Rouge, RougeScores, Unit};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(arguments: Metric) -> Result<()> {
    match arguments.name {
        Name::Bleu(flags) => bleu(&flags),
        Name::Chrf(flags) => chrf(&flags),
        Name::Ter(flags) => ter(&flags),
        Name::Wer(flags) => error_rate("WER", flags.rate(Unit::Words), &flags.texts),
        Name::Cer(flags) => error_rate("CER", flags.rate(Unit::Characters), &flags.texts),
        Name::Per(texts) => error_rate("PER", ErrorRate::of(Unit::Phonemes), &texts),
        Name::Rouge(flags) => rouge(Rouge { stem: flags.stem }, &flags.texts),
        Name::Exact(texts) => exact(&texts),
        Name::Labels(flags) => told::labels(&flags),
        Name::Spans(flags) => told::spans(&flags),
        Name::Perplexity(pair) => told::perplexity(&pair),
        Name::Alignment(pair) => told::alignment(&pair),
        Name::Calibration(flags) => told::calibration(&flags),
    }
}

/// The lines of a file, and what messages call it.
struct Text {
    name: String,
    lines: Vec<String>,
}

impl Text {
    fn read(path: Option<&Path>) -> Result<Self> {
        let mut lines = Lines::open(path)?;
        let name = lines.name();
        let lines = std::iter::from_fn(|| lines.next().transpose()).collect::<Result<Vec<_>>>()?;
        ensure!(!lines.is_empty(), "{name}: is empty; give it one line for each text to score");
        Ok(Self { name, lines })
    }

    /// Refuses a text that does not go with this one, line by line.
    fn check_lines(&self, other: &Self) -> Result<()> {
        let (expected, found) = (self.lines.len(), other.lines.len());
        ensure!(
            found == expected,
            "{} has {} but {} has {}; give as many lines of each, in the same order, empty where there is no \
             text",
            other.name,
            count(found, "line"),
            self.name,
            count(expected, "line")
        );
        Ok(())
    }
}

/// A number of things.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Outputs, and references for each of them.
struct Corpus {
    outputs: Text,
    references: Vec<Vec<String>>,
}

impl Corpus {
    /// Reads the references first: they need not wait for a program that still writes outputs.
    fn read(texts: &Texts) -> Result<Self> {
        let references = texts.references.iter().map(|path| Text::read(Some(path)));
        let references = references.collect::<Result<Vec<_>>>()?;
        let outputs = Text::read(texts.input.as_deref())?;
        references.iter().try_for_each(|reference| reference.check_lines(&outputs))?;
        Ok(Self { outputs, references: references.into_iter().map(|text| text.lines).collect() })
    }

    fn references(&self) -> Result<References<'_>> {
        Ok(References::streams(&self.references)?)
    }

    /// What a score depends on, in the format of the metrics that have a signature themselves.
    fn signature(&self, settings: &[(&str, &str)]) -> String {
        let settings = settings.iter().map(|(name, value)| format!("{name}:{value}|")).collect::<String>();
        format!("nrefs:{}|{settings}version:{}", self.references.len(), Signature::VERSION)
    }
}

/// What is printed.
struct Report {
    text: Vec<String>,
    json: Value,
}

impl Report {
    /// A score of all lines: what there is to say about it, and the signature.
    fn of_corpus(name: &str, score: f64, signature: &str, mut text: Vec<String>, parts: Value) -> Self {
        text.push(signature.to_owned());
        let mut json = parts;
        json["name"] = name.into();
        json["score"] = score.into();
        json["signature"] = signature.into();
        Self { text, json }
    }

    /// The score of each line.
    fn of_lines(name: &str, signature: &str, scores: &[f64]) -> Self {
        let text = scores.iter().map(|score| format!("{score:.2}")).collect();
        Self { text, json: json!({ "name": name, "signature": signature, "lines": scores }) }
    }

    fn print(&self, json: bool) -> Result<()> {
        write_output(None, |out| {
            if json {
                writeln!(out, "{}", self.json)?;
                return Ok(());
            }
            for line in &self.text {
                writeln!(out, "{line}")?;
            }
            Ok(())
        })
    }
}

fn bleu(flags: &BleuFlags) -> Result<()> {
    let metric = translation::Bleu {
        tokenizer: flags.tokenize,
        lowercase: flags.lowercase,
        smoothing: Smoothing::named(&flags.smooth, flags.smooth_value)?,
        max_order: flags.max_order.into(),
        effective_order: flags.effective_order || flags.texts.lines,
    };
    translated(&metric, &flags.texts, &flags.chance, |score| {
        json!({
            "matched": score.matched, "totals": score.totals, "precisions": score.precisions,
            "brevity_penalty": score.brevity_penalty, "hypothesis_length": score.hypothesis_length,
            "reference_length": score.reference_length,
        })
    })
}

fn chrf(flags: &ChrfFlags) -> Result<()> {
    ensure!(
        flags.char_order + flags.word_order > 0,
        "--char-order 0 and --word-order 0 leave nothing to count; set one of them to 1 or more"
    );
    let metric = translation::Chrf {
        char_order: flags.char_order.into(),
        word_order: flags.word_order.into(),
        beta: flags.beta,
        lowercase: flags.lowercase,
        whitespace: flags.whitespace,
        ..translation::Chrf::default()
    };
    translated(
        &metric,
        &flags.texts,
        &flags.chance,
        |score| json!({ "beta": score.beta, "word_order": score.word_order }),
    )
}

fn ter(flags: &TerFlags) -> Result<()> {
    let metric = translation::Ter {
        normalized: flags.normalized,
        no_punct: flags.no_punct,
        asian_support: flags.asian_support,
        case_sensitive: flags.case_sensitive,
    };
    translated(
        &metric,
        &flags.texts,
        &flags.chance,
        |score| json!({ "edits": score.edits, "reference_length": score.reference_length }),
    )
}

/// Scores with a metric of translation; `parts` are what a score is made of.
fn translated<M: translation::Metric>(
    metric: &M,
    texts: &Texts,
    chance: &Chance,
    parts: fn(&M::Score) -> Value,
) -> Result<()> {
    chance.check()?;
    let corpus = Corpus::read(texts)?;
    let references = corpus.references()?;
    let baseline = chance.asked.against.as_deref().map(|path| Text::read(Some(path))).transpose()?;
    if let Some(baseline) = &baseline {
        corpus.outputs.check_lines(baseline)?;
    }
    let statistics = metric.statistics(&corpus.outputs.lines, &references)?;
    let score = metric.corpus_score(&statistics)?;
    let signature = chance.sign(metric.signature(&statistics)).to_string();
    if texts.lines {
        let scores = metric.line_scores(&statistics)?;
        let scores: Vec<f64> = scores.iter().map(Score::value).collect();
        return Report::of_lines(&score.name(), &signature, &scores).print(texts.json);
    }
    let report = |interval| {
        let mut parts = parts(&score);
        add_interval(&mut parts, interval);
        let text = vec![score.line(2, None, interval)];
        Report::of_corpus(&score.name(), score.value(), &signature, text, parts)
    };
    let Some(baseline) = baseline else {
        let samples = chance.samples();
        let interval =
            samples.map(|samples| significance::confidence(metric, &statistics, samples, chance.seed));
        return report(interval.transpose()?).print(texts.json);
    };
    let of_baseline = metric.statistics(&baseline.lines, &references)?;
    let comparison = chance.compare(metric, &of_baseline, &statistics)?;
    let mut report = report(comparison.system.interval);
    let score = metric.corpus_score(&of_baseline)?;
    let interval = comparison.baseline.interval;
    report.text.push(format!("{}: {}", baseline.name, score.line(2, None, interval)));
    let difference = comparison.system.score - comparison.baseline.score;
    let p_value = comparison.p_value;
    // A p-value is never zero.
    let shown = if p_value < 5e-5 { "p < 0.0001".to_owned() } else { format!("p = {p_value:.4}") };
    report.text.push(format!("difference = {difference:+.2}, {shown} ({})", chance.describe()));
    let mut against = parts(&score);
    add_interval(&mut against, interval);
    against["file"] = baseline.name.into();
    against["score"] = score.value().into();
    report.json["against"] = against;
    report.json["difference"] = difference.into();
    report.json["p_value"] = p_value.into();
    report.json["test"] = chance.describe().into();
    report.print(texts.json)
}

fn add_interval(parts: &mut Value, interval: Option<Interval>) {
    if let Some(Interval { mean, half_width }) = interval {
        parts["interval"] = json!({ "mean": mean, "half_width": half_width });
    }
}

impl Chance {
    /// Refuses numbers of draws that are not made.
    fn check(&self) -> Result<()> {
        ensure!(
            self.trials.is_none() || self.randomises(),
            "--trials is for --test randomisation; set --samples for a bootstrap"
        );
        ensure!(
            self.samples.is_none() || self.samples().is_some(),
            "--samples is for a bootstrap; set --trials for --test randomisation, or add --confidence"
        );
        Ok(())
    }

    fn randomises(&self) -> bool {
        self.asked.against.is_some() && self.test == Test::Randomisation
    }

    /// Samples of the bootstrap, if there is one.
    fn samples(&self) -> Option<usize> {
        let drawn = self.asked.confidence || self.asked.against.is_some() && !self.randomises();
        drawn.then(|| self.samples.map_or(SAMPLES, |samples| samples as usize))
    }

    fn trials(&self) -> usize {
        self.trials.map_or(TRIALS, |trials| trials as usize)
    }

    /// Adds what is drawn to a signature.
    fn sign(&self, mut signature: Signature) -> Signature {
        if let Some(samples) = self.samples() {
            signature = signature.with_bootstrap(samples, self.seed);
        }
        if self.randomises() {
            signature = signature.with_randomisation(self.trials(), self.seed);
        }
        signature
    }

    fn compare<M: translation::Metric>(
        &self,
        metric: &M,
        baseline: &Statistics,
        system: &Statistics,
    ) -> Result<Comparison> {
        Ok(match self.test {
            Test::Bootstrap => {
                let samples = self.samples().unwrap_or(SAMPLES);
                significance::paired_bootstrap(metric, baseline, system, samples, self.seed)?
            }
            Test::Randomisation => {
                let (trials, samples) = (self.trials(), self.samples());
                significance::paired_randomisation(metric, baseline, system, trials, samples, self.seed)?
            }
        })
    }

    /// The test in words.
    fn describe(&self) -> String {
        match self.test {
            Test::Bootstrap => {
                format!("paired bootstrap, {}", count(self.samples().unwrap_or(SAMPLES), "sample"))
            }
            Test::Randomisation => format!("approximate randomisation, {}", count(self.trials(), "trial")),
        }
    }
}

impl ErrorFlags {
    fn rate(&self, unit: Unit) -> ErrorRate {
        ErrorRate { unit, lowercase: self.lowercase, strip_punctuation: self.strip_punctuation }
    }
}

fn error_rate(name: &str, rate: ErrorRate, texts: &Texts) -> Result<()> {
    let corpus = Corpus::read(texts)?;
    let lines = rate.lines(&corpus.outputs.lines, &corpus.references()?)?;
    let case = if rate.lowercase { "lc" } else { "mixed" };
    let punctuation = if rate.strip_punctuation { "no" } else { "yes" };
    let signature = corpus.signature(&[("case", case), ("punct", punctuation)]);
    if texts.lines {
        let scores: Vec<f64> = lines.iter().map(|line| 100.0 * line.rate()).collect();
        return Report::of_lines(name, &signature, &scores).print(texts.json);
    }
    let found: Edits = lines.into_iter().sum();
    let score = 100.0 * found.rate();
    let Edits { substitutions, deletions, insertions, length } = found;
    let counts =
        format!("substitutions {substitutions}, deletions {deletions}, insertions {insertions}, of {length}");
    let text = format!("{name} = {score:.2} %  ({counts})");
    let parts = json!({
        "substitutions": substitutions, "deletions": deletions, "insertions": insertions,
        "reference_length": length,
    });
    Report::of_corpus(name, score, &signature, vec![text], parts).print(texts.json)
}

/// The scores of ROUGE that differ on texts of one sentence.
fn rouge_scores(scores: &RougeScores) -> [(&'static str, Figures); 3] {
    [("ROUGE-1", scores.one), ("ROUGE-2", scores.two), ("ROUGE-L", scores.longest)]
}

fn rouge(metric: Rouge, texts: &Texts) -> Result<()> {
    let corpus = Corpus::read(texts)?;
    let lines = metric.lines(&corpus.outputs.lines, &corpus.references()?)?;
    let signature = corpus.signature(&[("stem", if metric.stem { "yes" } else { "no" })]);
    let figures = |scores: &RougeScores| -> Value {
        let scores = rouge_scores(scores).into_iter().map(|(name, Figures { precision, recall, f1 })| {
            let [precision, recall, score] = [precision, recall, f1].map(|share| 100.0 * share);
            (name.to_owned(), json!({ "score": score, "precision": precision, "recall": recall }))
        });
        Value::Object(scores.collect())
    };
    let report = if texts.lines {
        let row =
            |scores| rouge_scores(scores).map(|(_, figures)| format!("{:.2}", 100.0 * figures.f1)).join("\t");
        let rows = lines.iter().map(figures).collect::<Vec<_>>();
        let json = json!({ "name": "ROUGE", "signature": signature, "lines": rows });
        Report { text: lines.iter().map(row).collect(), json }
    } else {
        let mean = RougeScores::mean(&lines);
        let line = |(name, Figures { precision, recall, f1 })| {
            let [precision, recall, score] = [precision, recall, f1].map(|share| 100.0 * share);
            format!("{name} = {score:.2} %  (precision {precision:.2} %, recall {recall:.2} %)")
        };
        let text = rouge_scores(&mean).map(line).to_vec();
        // The one figure that stands for all is that of the longest common subsequence.
        Report::of_corpus("ROUGE", 100.0 * mean.longest.f1, &signature, text, figures(&mean))
    };
    report.print(texts.json)
}

fn exact(texts: &Texts) -> Result<()> {
    let corpus = Corpus::read(texts)?;
    let references = corpus.references()?;
    let is_right = |(line, output): (usize, &String)| {
        references
            .line(line)
            .iter()
            .any(|reference| ExactMatch::of([(output.as_str(), *reference)]).right == 1)
    };
    let right: Vec<bool> = corpus.outputs.lines.iter().enumerate().map(is_right).collect();
    let (name, signature) = ("exact match", corpus.signature(&[]));
    if texts.lines {
        let scores: Vec<f64> = right.iter().map(|&right| if right { 100.0 } else { 0.0 }).collect();
        return Report::of_lines(name, &signature, &scores).print(texts.json);
    }
    let found = ExactMatch { right: right.iter().filter(|&&right| right).count(), total: right.len() };
    let score = 100.0 * found.share();
    let text = format!("{name} = {score:.2} %  ({} of {})", found.right, found.total);
    let parts = json!({ "right": found.right, "total": found.total });
    Report::of_corpus(name, score, &signature, vec![text], parts).print(texts.json)
}
