//! What each task asks.

use super::*;
use gatto_data::tokens::{END, PAD, START};

fn batch(sources: &[Vec<u32>], targets: &[Vec<u32>]) -> Batch {
    let indices = (0..sources.len() as u64).collect();
    Batch { source: Padded::new(sources).into(), target: Padded::new(targets), indices, each: 1 }
}

fn asked(task: Task, batch: &Batch) -> Asked<'_> {
    Asked::new(task, batch, &MaskingConfig::default(), 50, Draws::Example)
}

fn tokens_of_source<'a>(asked: &'a Asked<'_>) -> &'a Padded {
    asked.source.tokens().unwrap()
}

/// The answers that count, with their places.
fn answers(asked: &Asked<'_>) -> Vec<(usize, u32)> {
    let Targets { ids, weights, .. } = &asked.targets;
    assert!(weights.iter().all(|weight| [0.0, 1.0].contains(weight)));
    let rows = asked.rows.clone().unwrap_or_else(|| (0..ids.len()).collect());
    assert_eq!(rows.len(), ids.len());
    let counted = rows.into_iter().zip(ids.iter().copied()).zip(weights);
    counted.filter(|(_, weight)| **weight > 0.0).map(|(answer, _)| answer).collect()
}

#[test]
fn tokens_and_labels_are_asked_where_they_stand() {
    let pair = batch(&[vec![7, END], vec![8, 9, END]], &[vec![5, 6, END], vec![END]]);
    for task in [Task::Translate, Task::Caption, Task::LanguageModel] {
        let asked = asked(task, &pair);
        assert_eq!(answers(&asked), [(0, 5), (1, 6), (2, END), (3, END)]);
        assert_eq!(asked.count(), pair.target.tokens());
        assert_eq!(*asked.source, pair.source);
    }
    // Id 0 is a label like any other, and padding of labels no answer.
    let classes = batch(&[vec![7, END], vec![8, 9, END]], &[vec![0], vec![3]]);
    assert_eq!(answers(&asked(Task::Classify, &classes)), [(0, 0), (1, 3)]);
    let mut tags =
        batch(&[vec![7, 8, 9, END], vec![7, END]], &[vec![2, IGNORED, 0, IGNORED], vec![1, IGNORED]]);
    tags.target.ids[6..].fill(IGNORED);
    let asked = asked(Task::Label, &tags);
    assert_eq!(answers(&asked), [(0, 2), (2, 0), (4, 1)]);
    assert_eq!(asked.count(), tags.target.asked());
    assert_eq!(asked.smoothed(0.1).targets.smoothing, 0.1);
}

#[test]
fn both_neighbours_are_asked_for() {
    // [START 7 8 END] and [START 9 END PAD]: four positions each.
    let both = batch(&[vec![7, 8, END], vec![9, END]], &[vec![], vec![]]);
    let asked = asked(Task::BidirectionalLanguageModel, &both);
    assert_eq!(asked.targets.ids.len(), 2 * 2 * 4);
    let forward = [(0, 7), (1, 8), (2, END), (4, 9), (5, END)];
    let backward = [(10, 7), (11, 8), (14, 9)];
    assert_eq!(answers(&asked), [&forward[..], &backward].concat());
    assert!(answers(&asked).iter().all(|(_, id)| ![START, PAD].contains(id)));
}

/// Many rows of `length` different tokens.
fn text(length: u32) -> Batch {
    let row: Vec<u32> = (10..10 + length).chain([END]).collect();
    batch(&vec![row; 400], &vec![vec![]; 400])
}

#[test]
fn hidden_tokens_are_asked_for_and_ends_are_never_hidden() {
    for (length, expected) in [(1, 1), (3, 1), (20, 3), (40, 6)] {
        let text = text(length);
        let asked = asked(Task::MaskedLanguageModel, &text);
        assert_eq!(asked.count(), 400 * expected, "of {length}");
        let found: std::collections::BTreeMap<usize, u32> = answers(&asked).into_iter().collect();
        let (mut masked, mut same, mut other) = (0, 0, 0);
        for (place, &id) in tokens_of_source(&asked).ids.iter().enumerate() {
            let was = tokens_of(&text).ids[place];
            let Some(&answer) = found.get(&place) else {
                assert_eq!(id, was);
                continue;
            };
            assert_eq!(answer, was);
            assert_ne!(was, END);
            match id {
                MASK => masked += 1,
                id if id == was => same += 1,
                id => {
                    assert!((SPECIALS.len() as u32..50).contains(&id));
                    other += 1;
                }
            }
        }
        let count = 400.0 * expected as f64;
        let near = |found: i32, share: f64| (f64::from(found) / count - share).abs() < 0.06;
        assert!(near(masked, 0.8) && near(same, 0.1) && near(other, 0.1), "{masked} {same} {other}");
    }
    let empty = batch(&[vec![END]], &[vec![]]);
    let asked = asked(Task::MaskedLanguageModel, &empty);
    assert_eq!((asked.count(), asked.rows.as_deref()), (0, Some(&[0][..])));
}

#[test]
fn what_is_hidden_depends_on_the_step_or_on_the_example_alone() {
    let text = text(20);
    let hidden = |batch: &Batch, draws| {
        let asked = Asked::new(Task::MaskedLanguageModel, batch, &MaskingConfig::default(), 50, draws);
        tokens_of_source(&asked).clone()
    };
    assert_eq!(hidden(&text, Draws::Step(3)), hidden(&text, Draws::Step(3)));
    assert_ne!(hidden(&text, Draws::Step(3)), hidden(&text, Draws::Step(4)));
    let all = hidden(&text, Draws::Example);
    assert_ne!(all.row(0), all.row(1));
    // An example beside others, wider ones among them, and alone.
    let row = tokens_of(&text).row(7).to_vec();
    let beside = Batch {
        source: Padded::new(&[vec![9; 30], row]).into(),
        target: Padded::new::<Vec<u32>>(&[vec![], vec![]]),
        indices: vec![99, 7],
        each: 1,
    };
    assert_eq!(hidden(&beside, Draws::Example).row(1), all.row(7));
}

#[test]
fn all_can_be_hidden_and_nothing_exchanged() {
    let text = text(5);
    let masking = MaskingConfig { share: 1.0, masked: 1.0, random: 0.0 };
    let asked = Asked::new(Task::MaskedLanguageModel, &text, &masking, 50, Draws::Step(1));
    assert_eq!(tokens_of_source(&asked).row(0), [MASK, MASK, MASK, MASK, MASK, END]);
    assert_eq!(asked.count(), 400 * 5);
}
