//! What holds for every sentence that is drawn.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::builtin::Task;
use crate::builtin::phrases::Phrases;
use crate::builtin::phrases::lexicon::LEXICON;
use crate::random::generator;
use crate::{Example, words};

fn draw(seed: u64, count: usize) -> impl Iterator<Item = Example> {
    let mut rng = generator(seed, 0);
    (0..count).map(move |_| Phrases.pair(&mut rng))
}

#[test]
fn the_same_english_always_becomes_the_same_italian() {
    let state = RandomState::new();
    let mut known: HashMap<u64, u64> = HashMap::with_capacity(1_000_000);
    for Example { source, target, .. } in draw(1, 1_000_000) {
        let hash = state.hash_one(&target);
        let before = *known.entry(state.hash_one(&source)).or_insert(hash);
        assert_eq!(before, hash, "{source} has two translations, one of them {target}");
    }
}

#[test]
fn alignments_cover_every_word() {
    for example in draw(2, 100_000) {
        let (source, target) = (words::split(&example.source), words::split(&example.target));
        let links = example.alignment.unwrap();
        assert!(links.is_sorted(), "{links:?}");
        assert!(links.iter().all(|link| link.source < source.len() && link.target < target.len()));
        let sources: HashSet<usize> = links.iter().map(|link| link.source).collect();
        let targets: HashSet<usize> = links.iter().map(|link| link.target).collect();
        assert_eq!(targets.len(), target.len(), "{} / {}", example.source, example.target);
        assert_eq!(sources.len(), source.len(), "{} / {}", example.source, example.target);
        assert_eq!(words::join(source), example.source);
        assert_eq!(words::join(target), example.target);
    }
}

#[test]
fn sentences_are_many_and_of_natural_length() {
    let (mut english, mut italian) = (HashMap::new(), HashMap::new());
    let (mut sources, mut lengths) = (HashSet::new(), Vec::new());
    for example in draw(3, 200_000) {
        for (text, vocabulary) in [(&example.source, &mut english), (&example.target, &mut italian)] {
            for word in words::split(text) {
                *vocabulary.entry(word.to_string()).or_insert(0usize) += 1;
            }
        }
        lengths.push(words::split(&example.source).len());
        sources.insert(example.source);
    }
    lengths.sort_unstable();
    let at = |percent: usize| lengths[(lengths.len() - 1) * percent / 100];
    let figures = format!(
        "{} English and {} Italian words, {} distinct sources; lengths {} {} {} {} {} {}",
        english.len(),
        italian.len(),
        sources.len(),
        at(0),
        at(10),
        at(50),
        at(90),
        at(99),
        at(100)
    );
    eprintln!("{figures}");
    assert!(english.len() >= 600 && italian.len() >= 600, "{figures}");
    assert!(sources.len() >= 195_000, "{figures}");
    assert!((6..=8).contains(&at(50)) && (10..=12).contains(&at(90)) && at(100) == 24, "{figures}");
}

/// *The noun verbs the noun* alone gives more than a million pairs.
#[test]
fn there_are_more_than_a_million_pairs() {
    let pairs = |verb: &crate::builtin::phrases::lexicon::Verb| verb.subjects.len() * verb.objects.len();
    let clauses: usize = LEXICON.verbs.iter().map(pairs).sum();
    let (numbers, tenses, determiners) = (4, 3, 16); // of both nouns; present, future, modal; the, a, this, that
    assert!(clauses * numbers * tenses * determiners > 1_000_000);
}
