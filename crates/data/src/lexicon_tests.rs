use super::*;
use proptest::prelude::*;

type Pair = (Vec<u32>, Vec<u32>);

fn learnt(sizes: (usize, usize), pairs: &[Pair], iterations: usize) -> Lexicon {
    let mut learner = Learner::new(sizes.0, sizes.1);
    pairs.iter().for_each(|(source, target)| assert!(learner.feed(source, target)));
    learner.finish(iterations, || ())
}

/// The formulas as they stand at the head of the module: t[x][y], with NULL as the last x.
fn plainly((sources, targets): (usize, usize), pairs: &[Pair], iterations: usize) -> Vec<Vec<f64>> {
    let mut t = vec![vec![1.0; targets]; sources + 1];
    for _ in 0..iterations {
        let mut counts = vec![vec![0.0; targets]; sources + 1];
        for (source, target) in pairs {
            let source: Vec<usize> = source.iter().map(|&x| x as usize).chain([sources]).collect();
            for y in target.iter().map(|&y| y as usize) {
                let sum: f64 = source.iter().map(|&x| t[x][y]).sum();
                source.iter().for_each(|&x| counts[x][y] += t[x][y] / sum);
            }
        }
        let normalised = |row: Vec<f64>| {
            let total: f64 = row.iter().sum();
            row.iter().map(|count| if total > 0.0 { count / total } else { 0.0 }).collect()
        };
        t = counts.into_iter().map(normalised).collect();
    }
    t
}

/// das Haus, das Buch, ein Buch: the house, the book, a book.
const DAS: u32 = 0;
const HAUS: u32 = 1;
const BUCH: u32 = 2;
const EIN: u32 = 3;
const THE: u32 = 4;
const HOUSE: u32 = 5;
const BOOK: u32 = 6;
const A: u32 = 7;

fn books() -> Vec<Pair> {
    vec![
        (vec![DAS, HAUS], vec![THE, HOUSE]),
        (vec![DAS, BUCH], vec![THE, BOOK]),
        (vec![EIN, BUCH], vec![A, BOOK]),
    ]
}

#[test]
fn words_find_their_translations() {
    let lexicon = learnt((4, 8), &books(), 20);
    for (source, target) in [(DAS, THE), (HAUS, HOUSE), (BUCH, BOOK), (EIN, A)] {
        let (best, t) = lexicon.of(source)[0];
        assert_eq!(best, target);
        assert!(t > 0.8, "{source}: {t}");
    }
    assert_eq!(lexicon.of(4), [], "a word that was never seen becomes nothing");
    assert_eq!(lexicon.of_null().len(), 4, "whatever is written may come from nowhere");
}

#[test]
fn the_first_turn_can_be_counted_by_hand() {
    // Of the four tokens beside `das`, each a third of which it is expected to explain, two are `the`.
    let lexicon = learnt((4, 8), &books(), 1);
    let close = |found: &[(u32, f32)], expected: &[(u32, f32)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-6,
                "{found:?} and not {expected:?}"
            );
        }
    };
    close(lexicon.of(DAS), &[(THE, 0.5), (HOUSE, 0.25), (BOOK, 0.25)]);
    close(lexicon.of(EIN), &[(BOOK, 0.5), (A, 0.5)]);
    close(lexicon.of_null(), &[(THE, 1.0 / 3.0), (BOOK, 1.0 / 3.0), (HOUSE, 1.0 / 6.0), (A, 1.0 / 6.0)]);
}

#[test]
fn a_single_word_has_a_single_translation() {
    let lexicon = learnt((3, 3), &[(vec![1], vec![2])], 3);
    assert_eq!((lexicon.of(1), lexicon.of_null()), (&[(2, 1.0)][..], &[(2, 1.0)][..]));
    assert_eq!([lexicon.of(0), lexicon.of(2)], [&[][..]; 2]);
    let nothing = learnt((3, 3), &[], 3);
    assert_eq!((nothing.of(1), nothing.of_null(), nothing.most_frequent(9)), (&[][..], &[][..], vec![]));
}

#[test]
fn frequent_tokens_come_first() {
    let lexicon = learnt((4, 8), &books(), 1);
    assert_eq!(lexicon.most_frequent(3), [THE, BOOK, HOUSE], "of equals the lower number");
    assert_eq!(lexicon.most_frequent(99), [THE, BOOK, HOUSE, A], "what never occurs is not frequent");
}

#[test]
fn pairs_that_are_improbable_are_dropped() {
    // One source token beside 20,000 different ones: half a ten-thousandth each.
    let pairs: Vec<Pair> = (0..20_000).map(|y| (vec![0], vec![y])).collect();
    assert!(learnt((1, 20_000), &pairs, 2).of(0).is_empty());
    let half = learnt((1, 20_000), &pairs[..5000], 2);
    assert_eq!(half.of(0).len(), 5000);
}

#[test]
fn memory_has_a_bound() {
    let mut learner = Learner { most: 10, ..Learner::new(4, 4) };
    assert!(learner.feed(&[0; 4], &[1; 2]));
    assert!(learner.feed(&vec![0; LONGEST + 1], &[1]), "what is too long is passed over");
    assert!(!learner.feed(&[0; 2], &[1; 2]));
    assert_eq!(learner.examples(), 2);
}

#[test]
#[should_panic(expected = "no such token")]
fn tokens_are_those_of_the_vocabulary() {
    Learner::new(4, 4).feed(&[0], &[4]);
}

fn corpus() -> impl Strategy<Value = Vec<Pair>> {
    let row = || prop::collection::vec(0u32..12, 0..7);
    prop::collection::vec((row(), row()), 0..40)
}

proptest! {
    #[test]
    fn the_table_is_that_of_the_formulas(pairs in corpus(), iterations in 1usize..6) {
        let lexicon = learnt((12, 12), &pairs, iterations);
        let expected = plainly((12, 12), &pairs, iterations);
        for (source, expected) in expected.iter().enumerate() {
            let found = if source == 12 { lexicon.of_null() } else { lexicon.of(source as u32) };
            prop_assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{:?}", found);
            let mut all = [0.0; 12];
            found.iter().for_each(|&(target, t)| all[target as usize] = f64::from(t));
            for (found, &expected) in all.iter().zip(expected) {
                // Of what was dropped in an earlier turn a little is missing.
                prop_assert!((found - expected).abs() < 2e-3, "{} and not {}", found, expected);
                prop_assert!(*found > 0.0 || expected < 2e-3);
            }
        }
    }

    #[test]
    fn threads_change_nothing(pairs in corpus()) {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| learnt((12, 12), &pairs, 4))
        };
        prop_assert_eq!(with(1), with(3));
    }
}
