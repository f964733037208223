//! How long BLEU, chrF and TER take, beside sacreBLEU on the same lines:
//! `PEER_PYTHON=VENV/bin/python cargo bench -p gatto-metrics --bench translation`, with another number
//! of lines than 100,000 behind `--`. Without `PEER_PYTHON`, only our side.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use gatto_metrics::translation::significance::{SAMPLES, SEED, confidence};
use gatto_metrics::translation::{Bleu, Chrf, Metric, References, Score, Ter, Tokenizer};
use serde_json::Value;
use std::process::Command;
use std::time::Instant;

const LINES: usize = 100_000;
/// Lines of the confidence interval: sacreBLEU keeps all samples in memory.
const FEW: usize = 2_000;
const WORDS: u64 = 20_000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % bound
    }

    /// A word of made-up syllables; the first ones are the most frequent and the shortest.
    fn word(&mut self) -> String {
        let rank = self.below(WORDS) * self.below(WORDS) / WORDS * self.below(WORDS) / WORDS;
        let syllable =
            |at: u64| ["ta", "ri", "mon", "e", "sul", "ca", "gat", "vo", "li", "an"][at as usize % 10];
        let mut word = String::new();
        let mut left = rank + 1;
        while left > 0 {
            word += syllable(left);
            left /= 10;
        }
        word
    }

    fn sentence(&mut self) -> Vec<String> {
        let mut words: Vec<String> = (0..5 + self.below(20) + self.below(20)).map(|_| self.word()).collect();
        if self.below(3) == 0 {
            let at = self.below(words.len() as u64) as usize;
            words[at].push(',');
        }
        if self.below(6) == 0 {
            words.push(format!("{}.{}", self.below(100), self.below(100)));
        }
        if let Some(last) = words.last_mut() {
            last.push('.');
        }
        words
    }

    /// What a system might make of a sentence: words replaced, left out and put elsewhere.
    fn translation(&mut self, reference: &[String]) -> Vec<String> {
        let mut words = reference.to_vec();
        for _ in 0..reference.len() / 4 {
            let at = self.below(words.len() as u64) as usize;
            match self.below(4) {
                0 | 1 => words[at] = self.word(),
                2 if words.len() > 1 => drop(words.remove(at)),
                _ => {
                    let end = (at + 1 + self.below(3) as usize).min(words.len());
                    let moved: Vec<String> = words.drain(at..end).collect();
                    let to = self.below(words.len() as u64 + 1) as usize;
                    words.splice(to..to, moved);
                }
            }
        }
        words
    }
}

struct Corpus {
    output: Vec<String>,
    reference: Vec<String>,
}

impl Corpus {
    fn new(lines: usize) -> Self {
        let mut random = Random(1);
        let (mut output, mut reference) = (Vec::new(), Vec::new());
        for _ in 0..lines {
            let sentence = random.sentence();
            output.push(random.translation(&sentence).join(" "));
            reference.push(sentence.join(" "));
        }
        Self { output, reference }
    }

    /// The line that is printed for the score of the first lines.
    fn score<M: Metric>(&self, metric: &M, lines: usize, samples: Option<usize>) -> String {
        let references = References::single(&self.reference[..lines]);
        let statistics = metric.statistics(&self.output[..lines], &references).expect("as many of each");
        let interval =
            samples.map(|samples| confidence(metric, &statistics, samples, SEED).expect("some lines"));
        metric.corpus_score(&statistics).expect("some lines").line(2, None, interval)
    }

    /// What sacreBLEU says, one value for each metric.
    fn peer(&self, python: &str) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("a folder");
        let [output, reference] =
            [("output", &self.output), ("reference", &self.reference)].map(|(name, lines)| {
                let path = folder.path().join(name);
                std::fs::write(&path, lines.join("\n") + "\n").expect("a file");
                path
            });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/peer_metrics.py");
        let few = FEW.min(self.output.len()).to_string();
        let run = Command::new(python).arg(script).arg(output).arg(reference).arg(few).output();
        let run = run.expect("PEER_PYTHON is a Python");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let lines = String::from_utf8_lossy(&run.stdout);
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Scores, and gives the line that is printed.
type Run<'a> = dyn Fn() -> String + Send + Sync + 'a;

/// The least seconds of three runs, and the line.
fn timed(run: &Run<'_>) -> (f64, String) {
    let mut least = f64::INFINITY;
    let mut line = String::new();
    for _ in 0..3 {
        let start = Instant::now();
        line = run();
        least = least.min(start.elapsed().as_secs_f64());
    }
    (least, line)
}

fn main() {
    let lines = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(LINES);
    let corpus = Corpus::new(lines);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let intl = Bleu { tokenizer: Tokenizer::International, ..Bleu::default() };
    let few = FEW.min(lines);
    let ours: [(&str, Box<Run<'_>>); 6] = [
        ("BLEU 13a", Box::new(|| corpus.score(&Bleu::default(), lines, None))),
        ("BLEU intl", Box::new(|| corpus.score(&intl, lines, None))),
        ("chrF", Box::new(|| corpus.score(&Chrf::default(), lines, None))),
        ("chrF++", Box::new(|| corpus.score(&Chrf::plus_plus(), lines, None))),
        ("TER", Box::new(|| corpus.score(&Ter::default(), lines, None))),
        ("BLEU interval", Box::new(|| corpus.score(&Bleu::default(), few, Some(SAMPLES)))),
    ];
    let peer = std::env::var("PEER_PYTHON").map_or_else(|_| Vec::new(), |python| corpus.peer(&python));

    let threads = rayon::current_num_threads();
    println!("{lines} lines ({few} for the interval of {SAMPLES} samples); seconds");
    let all = format!("{threads} threads");
    println!(
        "{:<14} {:>10} {:>10} {:>10} {:>7} {:>7}  score",
        "", "sacreBLEU", "1 thread", all, "ratio", "ratio"
    );
    for (at, (name, score)) in ours.iter().enumerate() {
        let (one, _) = alone.install(|| timed(score));
        let (many, text) = timed(score);
        match peer.get(at) {
            Some(peer) => {
                let seconds = peer["seconds"].as_f64().expect("seconds");
                let verdict = if peer["text"] == text.as_str() { "the same" } else { "DIFFERENT" };
                println!(
                    "{name:<14} {seconds:>10.2} {one:>10.3} {many:>10.3} {:>6.0}x {:>6.0}x  {verdict}: {text}",
                    seconds / one,
                    seconds / many
                );
            }
            None => println!("{name:<14} {:>10} {one:>10.3} {many:>10.3} {:>7} {:>7}  {text}", "", "", ""),
        }
    }
}
