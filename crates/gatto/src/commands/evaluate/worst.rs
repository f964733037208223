//! Examples to look at: those that are not right, and the worst of all.

use super::outcome::{Answer, Outcome};
use gatto::data::Example;
use serde_json::{Value, json};

/// The numbers of the worst examples, at most `most`; what is right is none of them. Of equals the first
/// comes first.
fn worst(outcome: &Outcome, most: usize) -> Vec<usize> {
    let ranking = &outcome.ranking;
    let is_wrong = |example: &usize| outcome.answers.get(*example).is_none_or(|answer| !answer.right);
    let mut found: Vec<usize> = (0..ranking.values.len()).filter(is_wrong).collect();
    found.sort_by(|&a, &b| ranking.better.worst_first(ranking.values[a], ranking.values[b]));
    found.truncate(most);
    found
}

/// What an example is to be found by.
fn text_of(example: &Example) -> &str {
    if example.source.is_empty() { &example.target } else { &example.source }
}

fn shown(example: &Example, answer: Option<&Answer>) -> String {
    match answer {
        Some(answer) => {
            format!("✗ {} → {}\n    should be: {}\n", example.source, answer.output, answer.reference)
        }
        None => format!("✗ {}\n", text_of(example)),
    }
}

/// The first examples that are not right.
pub(super) fn wrong_text(outcome: &Outcome, examples: &[Example], most: usize) -> String {
    let wrong = examples.iter().zip(&outcome.answers).filter(|(_, answer)| !answer.right);
    wrong.take(most).map(|(example, answer)| shown(example, Some(answer))).collect()
}

/// The worst examples, each with what it is judged by.
pub(super) fn text(outcome: &Outcome, examples: &[Example], most: usize) -> String {
    let found = worst(outcome, most);
    let name = &outcome.ranking.name;
    let mut text = match found.len() {
        0 => "no example is wrong\n".to_owned(),
        1 => format!("the worst example by {name}:\n"),
        count => format!("the {count} worst examples by {name}:\n"),
    };
    for example in found {
        text += &shown(&examples[example], outcome.answers.get(example));
        text += &format!("    {name}: {} (example {})\n", outcome.ranking.shown(example), example + 1);
    }
    text
}

pub(super) fn json(outcome: &Outcome, examples: &[Example], most: usize) -> Value {
    let row = |example: usize| {
        let mut row = json!({
            "example": example + 1, "source": text_of(&examples[example]), "figure": outcome.ranking.name,
            "value": outcome.ranking.values[example],
        });
        if let Some(answer) = outcome.answers.get(example) {
            row["output"] = answer.output.as_str().into();
            row["reference"] = answer.reference.as_str().into();
        }
        if let Some(group) = &examples[example].group {
            row["group"] = group.as_str().into();
        }
        row
    };
    worst(outcome, most).into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::figures::Better;
    use super::super::outcome::{Detail, Ranking};
    use super::*;

    fn outcome(better: Better, values: &[f64], right: &[bool]) -> Outcome {
        let answer = |right: &bool| Answer { output: "o".into(), reference: "r".into(), right: *right };
        let ranking = Ranking { name: "score".into(), better, unit: "", digits: 2, values: values.to_vec() };
        let answers = right.iter().map(answer).collect();
        Outcome { figures: Vec::new(), answers, ranking, detail: Detail::None }
    }

    #[test]
    fn the_worst_come_first_and_the_right_never() {
        let values = [50.0, 0.0, 70.0, 50.0, 10.0];
        let right = [false, true, false, false, false];
        assert_eq!(worst(&outcome(Better::Higher, &values, &right), 3), [4, 0, 3]);
        assert_eq!(worst(&outcome(Better::Lower, &values, &right), 9), [2, 0, 3, 4]);
        // Texts are neither right nor wrong.
        assert_eq!(worst(&outcome(Better::Lower, &values, &[]), 2), [2, 0]);
        let none = outcome(Better::Higher, &[1.0], &[true]);
        assert_eq!(text(&none, &[Example::new("a", "b")], 5), "no example is wrong\n");
    }
}
