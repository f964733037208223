//! What became of a candidate, in words: short beside it, and in full for those who ask.

use gatto_search::Fate;

use super::{Became, Node, Tree};

impl Node {
    /// In as few words as fit beside a token; nothing if there is nothing to say.
    pub(super) fn short(&self) -> String {
        let fate = match self.became {
            Became::Overtaken => return "overtaken".to_owned(),
            Became::GreedyOnly => return "greedy alone".to_owned(),
            Became::Fate(fate) => fate,
        };
        match fate {
            Fate::Given => "given".to_owned(),
            Fate::Kept => String::new(),
            Fate::Finished { rank: Some(rank) } => format!("ended, number {}", rank + 1),
            Fate::Finished { rank: None } => "ended, outscored".to_owned(),
            Fate::Unfinished { rank } => format!("cut off, number {}", rank + 1),
            Fate::Dropped => "left open".to_owned(),
            Fate::Beaten { by } => format!("beaten by {}", margin(by)),
            Fate::Forbidden => "forbidden".to_owned(),
            Fate::Repeated => "would repeat".to_owned(),
            Fate::TooShort => "too short".to_owned(),
            Fate::Again => "ended before".to_owned(),
            Fate::Phrases => "phrases first".to_owned(),
        }
    }

    /// In whole sentences.
    pub(super) fn story(&self, tree: &Tree) -> String {
        let mut story = match self.became {
            Became::Overtaken => {
                "It was kept, but at the next step all places went to continuations of other \
                                  hypotheses."
                    .to_owned()
            }
            Became::GreedyOnly => {
                "The beam did not follow this. Greedy search, which has one hypothesis alone, \
                                   goes on with it."
                    .to_owned()
            }
            Became::Fate(fate) => told(fate, self.score, tree),
        };
        if self.greedy && self.became != Became::GreedyOnly && tree.greedy_differs() {
            story += " Greedy search goes this way.";
        }
        story
    }
}

fn told(fate: Fate, score: Option<f64>, tree: &Tree) -> String {
    let score = score.map_or_else(|| "unknown".to_owned(), decimal);
    match fate {
        Fate::Given => "It was given: the sentence had to begin so.".to_owned(),
        Fate::Kept => "It was kept, and went on.".to_owned(),
        Fate::Finished { rank: Some(rank) } => {
            format!("It ended the sentence, which came out as number {} with the score {score}.", rank + 1)
        }
        Fate::Finished { rank: None } => {
            format!(
                "It ended the sentence, but its score, {score}, was not enough for a place among the results."
            )
        }
        Fate::Unfinished { rank } => format!(
            "The sentence reached its longest length without an end. As none had ended, it came out as number {}.",
            rank + 1
        ),
        Fate::Dropped => {
            "It was still open when the search ended: it could no longer win, or had reached the \
                          longest length."
                .to_owned()
        }
        Fate::Beaten { by } => {
            let penalty = if tree.groups > 1 { ", less the penalty of its group," } else { "" };
            format!(
                "It was pruned: its log p{penalty} was {} short of the last candidate that got a place.",
                margin(by)
            )
        }
        Fate::Forbidden => "It was pruned: this token, or the sequence that it completes, is never to be \
                            written."
            .to_owned(),
        Fate::Repeated => {
            "It was pruned: it would repeat a sequence of tokens that the sentence has already.".to_owned()
        }
        Fate::TooShort => {
            "It was pruned: the sentence may not end before it has its shortest length.".to_owned()
        }
        Fate::Again => "It was pruned: another group had ended the same sentence.".to_owned(),
        Fate::Phrases => {
            "It was pruned: phrases that must appear had no room left, were missing at the end, \
                          or had their places kept for them."
                .to_owned()
        }
    }
}

/// How much something was short.
fn margin(by: f64) -> String {
    match by {
        _ if !by.is_finite() => "far".to_owned(),
        _ if by < 0.005 => "less than 0.01".to_owned(),
        _ => format!("{by:.2}"),
    }
}

/// A log-probability or a score.
pub(super) fn decimal(value: f64) -> String {
    match value {
        f64::NEG_INFINITY => "−∞".to_owned(),
        _ => {
            let digits = format!("{:.2}", value.abs());
            let sign =
                if value < 0.0 && digits.contains(|digit| ('1'..='9').contains(&digit)) { "−" } else { "" };
            format!("{sign}{digits}")
        }
    }
}

/// A probability, from its logarithm.
pub(super) fn probability(log: f32) -> String {
    let probability = f64::from(log).exp();
    if probability < 0.005 { "<0.01".to_owned() } else { format!("{probability:.2}") }
}

impl Tree {
    /// What search writes, and what greedy search writes: a line each, without what is in front of them.
    pub(super) fn summary(&self) -> Summary {
        let told = |output: &super::Output| {
            let (score, log) = (decimal(output.score), decimal(output.log_probability));
            (output.text.clone(), format!("(score {score}, log p {log})"))
        };
        let beam = if self.beam == 1 { "greedy search".to_owned() } else { format!("beam of {}", self.beam) };
        let greedy = self.greedy.as_ref().filter(|_| self.beam > 1);
        Summary {
            best: self.results.first().map(|output| (beam, told(output))),
            greedy: greedy.filter(|_| self.greedy_differs()).map(told),
            same: greedy.is_some() && !self.greedy_differs(),
        }
    }
}

/// What stands over every drawing.
pub(super) struct Summary {
    /// What search is called, the text that it wrote, and its numbers.
    pub(super) best: Option<(String, (String, String))>,
    /// The text of greedy search and its numbers, if it is another.
    pub(super) greedy: Option<(String, String)>,
    /// Whether greedy search writes the same.
    pub(super) same: bool,
}
