//! What holds for every task: examples are a function of seed, part and index, and parts are disjoint.

use std::collections::HashSet;

use super::*;

fn all() -> Vec<Builtin> {
    let lengths = LengthRange { min: 3, max: 12 };
    NAMES.iter().map(|name| Builtin::named(name, lengths).unwrap()).collect()
}

#[test]
fn tasks_have_the_names_they_are_asked_for_by() {
    assert_eq!(all().iter().map(Builtin::name).collect::<Vec<_>>(), NAMES);
    let error = Builtin::named("phrase", LengthRange::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no built-in task `phrase`; there are phrases, dates, copy, reverse, sort, shapes and melodies"
    );
}

#[test]
fn an_example_depends_on_nothing_but_seed_part_and_index() {
    for task in all() {
        let data = Generated { task, part: Part::Train, seed: 5, count: 100 };
        let forward: Vec<Example> = (0..data.len()).map(|index| data.get(index).unwrap()).collect();
        let backward: Vec<Example> = (0..data.len()).rev().map(|index| data.get(index).unwrap()).collect();
        assert!(forward.iter().eq(backward.iter().rev()));
        assert_ne!(forward[0], Generated { seed: 6, ..data }.get(0).unwrap());
        assert_ne!(forward[0], forward[1]);
    }
}

#[test]
fn parts_share_no_source_even_with_different_seeds() {
    for task in all() {
        let sources = |part, seed| -> HashSet<String> {
            (0..2_000).map(|index| task.example(seed, part, index).unwrap().source).collect()
        };
        let (train, valid, test) = (sources(Part::Train, 1), sources(Part::Valid, 2), sources(Part::Test, 3));
        assert!(train.is_disjoint(&valid) && train.is_disjoint(&test) && valid.is_disjoint(&test));
    }
}

#[test]
fn parts_have_their_shares() {
    let mut rng = generator(0, 0);
    let mut counts = [0usize; 3];
    for _ in 0..100_000 {
        counts[part_of(&Dates.pair(&mut rng).source) as usize] += 1;
    }
    let [train, valid, test] = counts;
    assert!((93_500..94_500).contains(&train), "{counts:?}");
    assert!((2_700..3_300).contains(&valid) && (2_700..3_300).contains(&test), "{counts:?}");
}

/// These values are for ever: another hash would move published examples between parts.
#[test]
fn the_hash_never_changes() {
    assert_eq!(part_of("the cat is on the table"), Part::Test);
    assert_eq!([hash(""), hash("a b c")], [0xe2c6_70c5_0c71_332f, 0xfc71_2f02_c7b4_7449]);
}

#[test]
fn a_task_too_small_for_a_part_says_so() {
    let task = Builtin::named("copy", LengthRange { min: 1, max: 1 }).unwrap();
    let parts: HashSet<Part> = ('a'..='z').map(|letter| part_of(&letter.to_string())).collect();
    for part in [Part::Train, Part::Valid, Part::Test] {
        match task.example(0, part, 0) {
            Ok(example) => assert_eq!(part_of(&example.source), part),
            Err(error) => {
                assert!(!parts.contains(&part));
                assert_eq!(error, Error::EmptyPart { task: "copy", part });
            }
        }
    }
    assert!(parts.len() < 3, "the test wants a part without a letter");
}
