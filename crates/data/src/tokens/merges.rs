//! Byte-pair encoding, learnt: merge the most frequent pair of neighbours, and again, until the
//! vocabulary is full (Sennrich, Haddow and Birch 2016, algorithm 1).
//!
//! The trainer of `tokenizers` pushes a pair twice when two merges make the same piece, and which
//! comes first then depends on a hash table with a random seed. This one is the same on every run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::split::ALPHABET;

type Pair = (u32, u32);

/// A word as pieces, and how often it occurs.
struct Word {
    pieces: Vec<u32>,
    count: u64,
}

/// The pairs to merge, in order. `words` are spelt in the byte alphabet; there are at most `size`
/// pieces in the end, bytes included.
pub(super) fn learn(words: Vec<(String, u64)>, size: usize, min_frequency: u64) -> Vec<(String, String)> {
    let mut names: Vec<String> = ALPHABET.iter().map(char::to_string).collect();
    let mut ids: HashMap<String, u32> = names.iter().cloned().zip(0..).collect();
    let mut words: Vec<Word> = words
        .into_iter()
        .map(|(word, count)| Word {
            pieces: word
                .chars()
                .filter_map(|letter| ids.get(letter.encode_utf8(&mut [0; 4])))
                .copied()
                .collect(),
            count,
        })
        .collect();

    let mut counts: HashMap<Pair, u64> = HashMap::new();
    let mut places: HashMap<Pair, Vec<u32>> = HashMap::new(); // words that have, or once had, the pair
    for (at, word) in words.iter().enumerate() {
        for pair in pairs(&word.pieces) {
            *counts.entry(pair).or_default() += word.count;
            places.entry(pair).or_default().push(at as u32);
        }
    }
    // The most frequent pair is on top, and among equals the one of the oldest pieces.
    let mut queue: BinaryHeap<(u64, Reverse<Pair>)> =
        counts.iter().map(|(pair, count)| (*count, Reverse(*pair))).collect();

    let mut merges = Vec::new();
    while names.len() < size
        && let Some((count, Reverse(pair))) = queue.pop()
    {
        let now = counts.get(&pair).copied().unwrap_or(0);
        if now != count {
            continue; // counted anew since, and queued again then
        }
        if count < min_frequency.max(1) {
            break;
        }
        let (left, right) = (names[pair.0 as usize].clone(), names[pair.1 as usize].clone());
        let name = format!("{left}{right}");
        let new = *ids.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        });
        merges.push((left, right));

        let mut changed = Vec::new();
        let mut touched = places.remove(&pair).unwrap_or_default();
        touched.sort_unstable();
        touched.dedup();
        for at in touched {
            let word = &mut words[at as usize];
            for old in pairs(&word.pieces) {
                if let Some(count) = counts.get_mut(&old) {
                    *count -= word.count;
                }
                changed.push(old);
            }
            merge(&mut word.pieces, pair, new);
            for next in pairs(&word.pieces) {
                *counts.entry(next).or_default() += word.count;
                changed.push(next);
                if next.0 == new || next.1 == new {
                    places.entry(next).or_default().push(at);
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        for pair in changed {
            match counts.get(&pair) {
                Some(0) => drop(counts.remove(&pair)),
                Some(count) => queue.push((*count, Reverse(pair))),
                None => {}
            }
        }
    }
    merges
}

fn pairs(pieces: &[u32]) -> impl Iterator<Item = Pair> {
    pieces.windows(2).map(|pair| (pair[0], pair[1]))
}

/// Replaces the pair by the new piece, from left to right.
fn merge(pieces: &mut Vec<u32>, pair: Pair, new: u32) {
    let mut kept = 0;
    let mut at = 0;
    while at < pieces.len() {
        let found = pieces[at] == pair.0 && pieces.get(at + 1) == Some(&pair.1);
        pieces[kept] = if found { new } else { pieces[at] };
        at += if found { 2 } else { 1 };
        kept += 1;
    }
    pieces.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(words: &[(&str, u64)], size: usize, min_frequency: u64) -> Vec<String> {
        let words = words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        learn(words, size, min_frequency).into_iter().map(|(left, right)| format!("{left} {right}")).collect()
    }

    #[test]
    fn the_example_of_the_paper() {
        let words = [("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)];
        assert_eq!(learnt(&words, 256 + 4, 1), ["e s", "es t", "l o", "lo w"]);
        assert_eq!(learnt(&words, 256 + 4, 8), ["e s", "es t"]);
        assert_eq!(learnt(&words, 256, 1), Vec::<String>::new());
    }

    #[test]
    fn a_run_of_one_letter_merges_from_the_left() {
        assert_eq!(learnt(&[("aaaaa", 1)], 300, 1), ["a a", "aa a", "aa aaa"]);
    }
}
