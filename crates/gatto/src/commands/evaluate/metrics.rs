//! Which figures a translator is measured by.
//!
//! | tokens of the target | figures |
//! |---|---|
//! | words, BPE, unigram | exact match, BLEU, chrF, TER |
//! | words, of which there are at most 100: letters, phonemes, notes | exact match, word error rate |
//! | characters, bytes | exact match, character error rate, and word error rate where references have several words |

use super::figures::{Better, Figure};
use super::flags::Metric;
use anyhow::Result;
use gatto::data::tokens::SPECIALS;
use gatto::data::{Kind, Tokenizer};
use gatto::metrics::translation::{self, Bleu, Chrf, Metric as _, References, Score, Ter};
use gatto::metrics::{ErrorRate, ExactMatch, Measure, Rouge, Unit};

/// The most words that are symbols rather than a language.
const SYMBOLS: usize = 100;

/// What is usual for what a target is made of.
pub(super) fn usual(tokens: &Tokenizer, references: &[String]) -> Vec<Metric> {
    let words = tokens.size().saturating_sub(SPECIALS.len());
    match tokens.kind() {
        Kind::Word if words <= SYMBOLS => vec![Metric::Exact, Metric::Wer],
        Kind::Word | Kind::Bpe | Kind::Unigram => {
            vec![Metric::Exact, Metric::Bleu, Metric::Chrf, Metric::Ter]
        }
        // Of a single word the word error rate is what exact match leaves.
        Kind::Char | Kind::Byte => match references.iter().any(|text| text.split_whitespace().count() > 1) {
            true => vec![Metric::Exact, Metric::Cer, Metric::Wer],
            false => vec![Metric::Exact, Metric::Cer],
        },
    }
}

/// Whether an output is its reference.
pub(super) fn is_right(output: &str, reference: &str) -> bool {
    ExactMatch::of([(output, reference)]).right == 1
}

/// The figures of outputs beside their references, each metric once.
pub(super) fn figures(
    metrics: &[Metric],
    outputs: &[String],
    references: &References<'_>,
) -> Result<Vec<Figure>> {
    let mut found = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        if !metrics[..place].contains(&metric) {
            found.extend(measured(metric, outputs, references)?);
        }
    }
    Ok(found)
}

fn measured(metric: Metric, outputs: &[String], references: &References<'_>) -> Result<Vec<Figure>> {
    let rate = |key, name, unit| -> Result<Vec<Figure>> {
        let lines = ErrorRate::of(unit).lines(outputs, references)?;
        let edits = lines.iter().map(|line| (line.edits() as f64, line.length as f64));
        Ok(vec![Figure::share(key, name, Better::Lower, Measure::ratio(edits))])
    };
    match metric {
        Metric::Exact => {
            let right = outputs.iter().enumerate().map(|(line, output)| {
                references.line(line).iter().any(|reference| is_right(output, reference))
            });
            Ok(vec![Figure::share("exact_match", "exact match", Better::Higher, Measure::share(right))])
        }
        Metric::Bleu => bleu(outputs, references),
        Metric::Chrf => Ok(vec![translated("chrf", Better::Higher, Chrf::default(), outputs, references)?]),
        Metric::Ter => Ok(vec![translated("ter", Better::Lower, Ter::default(), outputs, references)?]),
        Metric::Wer => rate("wer", "WER", Unit::Words),
        Metric::Cer => rate("cer", "CER", Unit::Characters),
        Metric::Per => rate("per", "PER", Unit::Phonemes),
        Metric::Rouge => {
            let lines = Rouge::default().lines(outputs, references)?;
            let figure = |key, name, score: fn(&gatto::metrics::RougeScores) -> f64| {
                Figure::percent(key, name, Better::Higher, Measure::mean(lines.iter().map(score)))
            };
            Ok(vec![
                figure("rouge_1", "ROUGE-1", |scores| scores.one.f1),
                figure("rouge_2", "ROUGE-2", |scores| scores.two.f1),
                figure("rouge_l", "ROUGE-L", |scores| scores.longest.f1),
            ])
        }
    }
}

/// BLEU. A group of short sentences has no n-grams of the longest order, and would have a score of 0 however
/// right it is; there the orders count that it has. Where all orders have n-grams that is the usual score,
/// and so is its signature.
fn bleu(outputs: &[String], references: &References<'_>) -> Result<Vec<Figure>> {
    let (usual, lenient) = (Bleu::default(), Bleu::for_sentences());
    let statistics = usual.statistics(outputs, references)?;
    let score = usual.corpus_score(&statistics)?;
    let figure = translated("bleu", Better::Higher, lenient, outputs, references)?;
    let is_usual = score.totals.iter().all(|total| *total > 0);
    let signature = || usual.signature(&statistics).to_string();
    Ok(vec![if is_usual { figure.signed(signature()) } else { figure }])
}

/// A metric of translation, with the signature that others need to get the same score.
fn translated<M: translation::Metric + Send + 'static>(
    key: &'static str,
    better: Better,
    metric: M,
    outputs: &[String],
    references: &References<'_>,
) -> Result<Figure> {
    let statistics = metric.statistics(outputs, references)?;
    let name = metric.corpus_score(&statistics)?.name();
    let signature = metric.signature(&statistics).to_string();
    let measure = Measure::translation(metric, &statistics)?;
    Ok(Figure::score(key, &name, better, measure).signed(signature))
}
