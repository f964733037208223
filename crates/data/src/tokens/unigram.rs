//! A unigram vocabulary, learnt: start with every frequent substring, fit the probabilities of the
//! pieces by expectation maximisation over all ways to cut the words, drop the pieces that are missed
//! least, and again, until the vocabulary is small enough (Kudo 2018, section 3.2).
//!
//! The trainer of `tokenizers` sums floats in the order of hash tables with random seeds, and its
//! seeds are the inner nodes of a suffix tree of distinct words, so that a word which is no prefix of
//! another can never be one piece. This one is the same on every run and knows whole words.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::split::{from_alphabet, to_alphabet};

/// The longest piece in bytes.
const LONGEST_PIECE: usize = 16;
/// Longer words are cut: the product of so many probabilities is still a normal number.
const LONGEST_WORD: usize = 32;
/// Raises every probability by this for each byte, so that products stay near one. Paths through a
/// word all cover the same bytes, so their shares do not change.
const SCALE: f64 = 32.0;
/// Substrings are counted up to this many; rarer words then give none.
const MOST_SUBSTRINGS: usize = 8_000_000;
/// How many pieces to start with.
const SEEDS: usize = 200_000;
/// How much of the pieces each round keeps.
const KEPT: f64 = 0.75;
/// Pieces expected less often than this are dropped.
const RAREST: f64 = 0.5;

/// Pieces with their log-probabilities, the likeliest first; all bytes are among them. `words` are
/// spelt in the byte alphabet; there are at most `size` pieces, and `size` is at least 256.
pub(super) fn learn(words: Vec<(String, u64)>, size: usize) -> Vec<(String, f64)> {
    let words = short(words);
    let mut pieces = Pieces::seeds(&words, SEEDS.max(4 * size));
    let mut lattices = Lattices::new(&words, &pieces);
    loop {
        for _ in 0..2 {
            let expected = lattices.expected(&pieces);
            pieces.fit(&expected);
        }
        let alive = pieces.alive();
        if alive <= size {
            return pieces.finish();
        }
        let expected = lattices.expected(&pieces);
        pieces.prune(&expected, size.max((alive as f64 * KEPT) as usize));
        lattices.edges_of_living(&pieces);
    }
}

/// Words as bytes, the long ones in parts, with the most frequent first.
fn short(words: Vec<(String, u64)>) -> Vec<(Vec<u8>, u64)> {
    let mut parts: HashMap<Vec<u8>, u64> = HashMap::new();
    for (word, count) in words {
        for part in from_alphabet(&word).unwrap_or_default().chunks(LONGEST_WORD) {
            *parts.entry(part.to_vec()).or_default() += count;
        }
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_unstable_by(|(left, n), (right, m)| m.cmp(n).then_with(|| left.cmp(right)));
    parts
}

/// Pieces by id. The first 256 are the bytes; the others may die, and then have probability 0.
struct Pieces {
    bytes: Vec<Vec<u8>>,
    probability: Vec<f64>,
}

impl Pieces {
    /// The bytes, and the substrings that cover most of the text.
    fn seeds(words: &[(Vec<u8>, u64)], most: usize) -> Self {
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        for (word, count) in words {
            if counts.len() > MOST_SUBSTRINGS {
                break;
            }
            for span in spans(word.len()) {
                *counts.entry(&word[span]).or_default() += count;
            }
        }
        // What always goes on in the same way is no piece by itself.
        let extended: HashSet<&[u8]> = counts
            .iter()
            .map(|(piece, count)| (&piece[..piece.len() - 1], count))
            .filter(|(prefix, count)| counts.get(prefix) == Some(count))
            .map(|(prefix, _)| prefix)
            .collect();
        let mut seeds: Vec<(u64, &[u8])> = counts
            .iter()
            .filter(|(piece, count)| piece.len() > 1 && **count > 1 && !extended.contains(*piece))
            .map(|(piece, count)| (count * piece.len() as u64, *piece))
            .collect();
        seeds.sort_unstable_by_key(|(score, piece)| (Reverse(*score), *piece));
        seeds.truncate(most);

        let single = |byte: u8| (counts.get([byte].as_slice()).copied().unwrap_or(0), vec![byte]);
        let all =
            (0..=255).map(single).chain(seeds.into_iter().map(|(score, piece)| (score, piece.to_vec())));
        let (scores, bytes): (Vec<u64>, Vec<Vec<u8>>) = all.unzip();
        let total: u64 = scores.iter().sum::<u64>().max(1);
        let probability = scores.iter().map(|score| (*score as f64).max(RAREST) / total as f64).collect();
        Self { bytes, probability }
    }

    fn alive(&self) -> usize {
        self.probability.iter().filter(|probability| **probability > 0.0).count()
    }

    /// Probabilities from expected counts, with a prior that favours few pieces (Liang and Klein 2007).
    fn fit(&mut self, expected: &[f64]) {
        let kept = |id: usize, count: f64| id < 256 || count >= RAREST;
        let total: f64 = expected.iter().enumerate().filter(|(id, n)| kept(*id, **n)).map(|(_, n)| *n).sum();
        let total = digamma(total.max(1.0));
        for (id, count) in expected.iter().enumerate() {
            let fitted = || (digamma(count.max(RAREST)) - total).exp();
            self.probability[id] = if kept(id, *count) { fitted() } else { 0.0 };
        }
    }

    /// Keeps the bytes and those pieces without which the text would be least likely, `most` in all.
    fn prune(&mut self, expected: &[f64], most: usize) {
        let ids: HashMap<&[u8], usize> = self
            .bytes
            .iter()
            .enumerate()
            .filter(|(id, _)| self.probability[*id] > 0.0)
            .map(|(id, bytes)| (bytes.as_slice(), id))
            .collect();
        let loss = |id: usize| {
            let logarithm = self.probability[id].ln();
            expected[id] * (logarithm - self.best_alternative(&self.bytes[id], &ids))
        };
        let mut losses: Vec<(f64, usize)> = (256..self.bytes.len())
            .filter(|id| self.probability[*id] > 0.0)
            .map(|id| (loss(id), id))
            .collect();
        losses.sort_by(|(left, a), (right, b)| right.total_cmp(left).then(a.cmp(b)));
        for (_, id) in losses.into_iter().skip(most.saturating_sub(256)) {
            self.probability[id] = 0.0;
        }
    }

    /// The log-probability of the best way to write a piece with others.
    fn best_alternative(&self, piece: &[u8], ids: &HashMap<&[u8], usize>) -> f64 {
        let mut best = [f64::NEG_INFINITY; LONGEST_PIECE + 1];
        best[0] = 0.0;
        for Range { start, end } in spans(piece.len()) {
            if end - start < piece.len()
                && let Some(id) = ids.get(&piece[start..end])
            {
                best[end] = best[end].max(best[start] + self.probability[*id].ln());
            }
        }
        best[piece.len()]
    }

    fn finish(self) -> Vec<(String, f64)> {
        let mut pieces: Vec<(String, f64)> = self
            .bytes
            .iter()
            .zip(&self.probability)
            .filter(|(_, probability)| **probability > 0.0)
            .map(|(bytes, probability)| (to_alphabet(bytes), probability.ln()))
            .collect();
        pieces.sort_by(|(left, p), (right, q)| q.total_cmp(p).then_with(|| left.cmp(right)));
        pieces
    }
}

/// All ways to cut every word.
struct Lattices {
    words: Vec<Word>,
    /// The pieces at their places in each word, by where they end.
    edges: Vec<Edge>,
}

struct Word {
    length: usize,
    count: f64,
    /// Number of its edges.
    edges: usize,
}

struct Edge {
    start: u8,
    end: u8,
    piece: u32,
}

impl Lattices {
    fn new(words: &[(Vec<u8>, u64)], pieces: &Pieces) -> Self {
        let ids: HashMap<&[u8], u32> = pieces.bytes.iter().map(Vec::as_slice).zip(0..).collect();
        let mut lattices = Self { words: Vec::with_capacity(words.len()), edges: Vec::new() };
        for (word, count) in words {
            let before = lattices.edges.len();
            for Range { start, end } in spans(word.len()) {
                if let Some(piece) = ids.get(&word[start..end]) {
                    lattices.edges.push(Edge { start: start as u8, end: end as u8, piece: *piece });
                }
            }
            let edges = lattices.edges.len() - before;
            lattices.words.push(Word { length: word.len(), count: *count as f64, edges });
        }
        lattices
    }

    /// How often each piece is expected in the text, over all ways to cut it (forward–backward).
    fn expected(&self, pieces: &Pieces) -> Vec<f64> {
        let scale: [f64; LONGEST_PIECE + 1] = std::array::from_fn(|length| SCALE.powi(length as i32));
        let weight =
            |edge: &Edge| pieces.probability[edge.piece as usize] * scale[usize::from(edge.end - edge.start)];
        let mut expected = vec![0.0; pieces.bytes.len()];
        let mut rest = self.edges.as_slice();
        for word in &self.words {
            let (edges, after) = rest.split_at(word.edges);
            rest = after;
            let mut forward = [0.0; LONGEST_WORD + 1];
            let mut backward = [0.0; LONGEST_WORD + 1];
            forward[0] = 1.0;
            backward[word.length] = 1.0;
            for edge in edges {
                forward[usize::from(edge.end)] += forward[usize::from(edge.start)] * weight(edge);
            }
            for edge in edges.iter().rev() {
                backward[usize::from(edge.start)] += backward[usize::from(edge.end)] * weight(edge);
            }
            let share = word.count / forward[word.length];
            if !share.is_finite() {
                continue; // a word that no combination of pieces makes likely enough to count
            }
            for edge in edges {
                let through =
                    forward[usize::from(edge.start)] * weight(edge) * backward[usize::from(edge.end)];
                expected[edge.piece as usize] += share * through;
            }
        }
        expected
    }

    /// Forgets the places of pieces that have died.
    fn edges_of_living(&mut self, pieces: &Pieces) {
        let alive = |edge: &Edge| pieces.probability[edge.piece as usize] > 0.0;
        let mut at = 0;
        for word in &mut self.words {
            let edges = &self.edges[at..at + word.edges];
            at += word.edges;
            word.edges = edges.iter().filter(|edge| alive(edge)).count();
        }
        self.edges.retain(alive);
    }
}

/// Where pieces can stand in a word, by their end.
fn spans(length: usize) -> impl Iterator<Item = Range<usize>> {
    (1..=length).flat_map(|end| (end.saturating_sub(LONGEST_PIECE)..end).map(move |start| start..end))
}

/// The derivative of ln Γ, for x > 0: recurrence up to 7, then the asymptotic series.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    result + x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(words: &[(&str, u64)], size: usize) -> Vec<String> {
        let words = words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        learn(words, size)
            .into_iter()
            .map(|(piece, _)| piece)
            .filter(|piece| piece.chars().count() > 1)
            .collect()
    }

    #[test]
    fn digamma_has_its_known_values() {
        assert!((digamma(1.0) + 0.577_215_664_901_5).abs() < 1e-9);
        assert!((digamma(0.5) + 1.963_510_026_021_4).abs() < 1e-9);
    }

    #[test]
    fn frequent_words_become_pieces() {
        assert_eq!(learnt(&[("Ġgatto", 9), ("Ġcane", 5)], 300), ["Ġgatto", "Ġcane"]);
        assert_eq!(learnt(&[("Ġgatto", 9), ("Ġcane", 5)], 257), ["Ġgatto"]);
        assert_eq!(learnt(&[("Ġgatto", 9), ("Ġcane", 5)], 256), Vec::<String>::new());
    }

    #[test]
    fn stems_and_endings_are_found() {
        let stems = ["Ġparl", "Ġmangi", "Ġguard", "Ġascolt", "Ġcammin", "Ġlavor", "Ġstudi", "Ġtrov"];
        let endings = ["avamo", "eremmo", "iamoci", "assero", "ando", "uto", "erò", "isti"];
        let words =
            stems.iter().flat_map(|stem| endings.map(|ending| (to_alphabet_of(stem, ending), 1))).collect();
        let learnt: Vec<String> = learn(words, 300).into_iter().map(|(piece, _)| piece).collect();
        let found = |part: &&&str| learnt.contains(&to_alphabet_of(part, ""));
        assert!(stems.iter().filter(found).count() >= 7, "{learnt:?}");
        assert!(endings.iter().filter(found).count() >= 6, "{learnt:?}");
    }

    /// A word whose `Ġ` is a space already.
    fn to_alphabet_of(stem: &str, ending: &str) -> String {
        to_alphabet(format!("{stem}{ending}").replace('Ġ', " ").as_bytes())
    }

    /// The expectation, against all ways to cut a word written out.
    #[test]
    fn expected_counts_are_those_of_all_cuts() {
        let words = [(b"aba".to_vec(), 3)];
        let mut pieces = Pieces::seeds(&[(b"ab".to_vec(), 2), (b"ba".to_vec(), 2)], 10);
        let id =
            |bytes: &[u8], pieces: &Pieces| pieces.bytes.iter().position(|piece| piece == bytes).unwrap();
        let (a, b, ab, ba) = (97, 98, id(b"ab", &pieces), id(b"ba", &pieces));
        for (id, probability) in [(a, 0.3), (b, 0.2), (ab, 0.4), (ba, 0.1)] {
            pieces.probability[id] = probability;
        }
        let expected = Lattices::new(&words, &pieces).expected(&pieces);
        let (letters, left, right) = (0.3 * 0.2 * 0.3, 0.4 * 0.3, 0.3 * 0.1);
        let total = letters + left + right;
        for (id, count) in [
            (a, (2.0 * letters + left + right) / total),
            (b, letters / total),
            (ab, left / total),
            (ba, right / total),
        ] {
            assert!((expected[id] - 3.0 * count).abs() < 1e-12);
        }
    }
}
