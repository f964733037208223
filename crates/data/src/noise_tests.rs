//! What noise may do to a text, and what it must leave alone.

use super::*;
use proptest::prelude::*;

fn words_of(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn each_kind_does_what_it_says() {
    let text = "The  cat is\ton the table.";
    let with = |kind: Noise| kind.disturb(text, 1.0, 7, 3);
    let found = with(Noise::Typos);
    assert_eq!(words_of(&found.text).len(), 6);
    for (was, is) in words_of(text).iter().zip(words_of(&found.text)) {
        assert!(*was != is && was.len().abs_diff(is.len()) <= 1, "{was} {is}");
    }
    assert_eq!(with(Noise::SwappedWords).text, "cat  The on\tis table. the");
    assert_eq!(with(Noise::SwappedWords).words, [1, 0, 3, 2, 5, 4]);
    let found = with(Noise::DroppedWords);
    assert_eq!(found.words.len(), 1, "one is left: {found:?}");
    let found = with(Noise::Casing);
    for (was, is) in words_of(text).iter().zip(words_of(&found.text)) {
        assert!(*was != is && was.to_lowercase() == is.to_lowercase(), "{was} {is}");
    }
}

#[test]
fn white_space_stays_around_what_is_left() {
    let found = (0..40).map(|n| Noise::DroppedWords.disturb(" a\tb  c ", 0.5, 1, n).text);
    let mut found: Vec<String> = found.collect();
    found.sort();
    found.dedup();
    assert_eq!(found, [" a\tb ", " a\tb  c ", " a ", " a  c ", " b ", " b  c ", " c "]);
}

#[test]
fn marks_stay_with_their_letters() {
    // e with two combining marks, a family of four joined by nothing that is seen, and Devanagari.
    let text = "e\u{301}\u{323}tude 👨\u{200d}👩\u{200d}👧 क्षत्रिय";
    for number in 0..200 {
        let found = Noise::Typos.disturb(text, 1.0, 1, number).text;
        let known: BTreeSet<&str> = text.graphemes(true).collect();
        assert!(found.graphemes(true).all(|sign| known.contains(sign)), "{found}");
        assert!(found.contains("👨\u{200d}👩\u{200d}👧"), "a picture has no typos: {found}");
    }
}

#[test]
fn what_cannot_be_disturbed_stays() {
    for (kind, text) in [
        (Noise::Typos, "... – !"),
        (Noise::Casing, "42 猫 ?"),
        (Noise::SwappedWords, "a a a"),
        (Noise::SwappedWords, "alone"),
        (Noise::DroppedWords, "alone"),
        (Noise::DroppedWords, "  "),
        (Noise::Typos, ""),
    ] {
        assert_eq!(kind.disturb(text, 1.0, 1, 1).text, text, "{kind}");
    }
    // A text of a single letter borrows from the alphabet; digits become digits.
    let found: BTreeSet<String> = (0..50).map(|n| Noise::Typos.disturb("k 5", 1.0, 1, n).text).collect();
    for text in &found {
        let (letter, digit) = text.split_once(' ').unwrap();
        assert!(["kk", "j", "l"].contains(&letter) && ["55", "4", "6"].contains(&digit), "{text}");
    }
    assert!(found.len() > 4, "{found:?}");
}

#[test]
fn a_text_has_its_noise_whatever_the_others_are() {
    let text = "the small cat is on the old table and sleeps";
    for kind in Noise::ALL {
        let of = |seed, number| kind.disturb(text, 0.5, seed, number).text;
        assert_eq!(of(1, 5), of(1, 5));
        let different: BTreeSet<String> = (0..50).map(|number| of(1, number)).collect();
        assert!(different.len() > 10, "{kind}: {different:?}");
        assert!((0..50).any(|number| of(1, number) != of(2, number)), "{kind}");
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let said = "tpyos".parse::<Noise>().unwrap_err();
    assert_eq!(said, "`tpyos` is no kind of noise; choose from typos, dropped-words, swapped-words, casing");
}

#[test]
fn so_many_words_are_disturbed() {
    let text = "one two three four five six seven eight nine ten";
    for kind in [Noise::Typos, Noise::Casing, Noise::DroppedWords] {
        let changed: usize = (0..1000)
            .map(|number| {
                let found = kind.disturb(text, 0.2, 1, number);
                let found = words_of(&found.text);
                words_of(text).iter().filter(|word| !found.contains(word)).count()
            })
            .sum();
        assert!((1850..2150).contains(&changed), "{kind}: {changed} of 10000");
    }
}

/// These texts must not change: figures are compared with older ones.
#[test]
fn a_seed_has_its_noise() {
    let text = "The cat is on the table, and it sleeps.";
    let found = Noise::ALL.map(|kind| kind.disturb(text, 0.4, 1, 0).text);
    assert_eq!(
        found,
        [
            "The cat is no thee table, adn ip sleeeps.",
            "The on table, and it sleeps.",
            "cat The is the on table, it and sleeps.",
            "The Cat is on the TABLE, And it sleeps.",
        ]
    );
}

proptest! {
    #[test]
    fn noise_keeps_its_promises(text in "(?s).{0,40}", rate in 0.0..=1.0, seed: u64, number: u64) {
        let words = words_of(&text);
        for kind in Noise::ALL {
            prop_assert_eq!(&kind.disturb(&text, 0.0, seed, number).text, &text);
            let found = kind.disturb(&text, rate, seed, number);
            let left = words_of(&found.text);
            // A source is never emptied, and every word knows where it came from.
            prop_assert_eq!(left.is_empty(), words.is_empty());
            prop_assert_eq!(left.len(), found.words.len());
            let mut order = found.words.clone();
            order.sort_unstable();
            order.dedup();
            prop_assert_eq!(order.len(), found.words.len());
            match kind {
                Noise::Typos | Noise::Casing => {
                    prop_assert_eq!(&found.words, &(0..words.len()).collect::<Vec<_>>());
                }
                Noise::SwappedWords => prop_assert_eq!(left.len(), words.len()),
                Noise::DroppedWords => {}
            }
            if matches!(kind, Noise::SwappedWords | Noise::DroppedWords) {
                prop_assert!(left.iter().zip(&found.words).all(|(word, &from)| *word == words[from]));
            }
        }
    }
}
