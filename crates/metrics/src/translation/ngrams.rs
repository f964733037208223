//! Counting n-grams that two sequences share, without writing any of them down.

use rustc_hash::FxHashMap;

/// The n-grams of one or more references, as a tree: a node is an n-gram, its children are the
/// n-grams that go on by one symbol. Kept from line to line for its memory.
#[derive(Default)]
pub struct NgramCounts {
    /// From a node and a symbol to the child.
    children: FxHashMap<u64, u32>,
    /// How often each n-gram occurs in the reference that has it most often.
    most: Vec<u32>,
    /// How often each n-gram occurs in the reference that is being read.
    current: Vec<u32>,
}

const ROOT: u32 = 0;

impl NgramCounts {
    /// Forgets all references.
    pub(super) fn clear(&mut self) {
        self.children.clear();
        self.most.clear();
        self.current.clear();
    }

    /// Counts the n-grams of one more reference up to an order; of several references, the one that
    /// has an n-gram most often counts.
    pub(super) fn add_reference(&mut self, symbols: &[u32], order: usize) {
        for start in 0..symbols.len() {
            let mut node = ROOT;
            for &symbol in symbols[start..].iter().take(order) {
                node = self.child(node, symbol);
                self.current[node as usize - 1] += 1;
            }
        }
        for (most, current) in self.most.iter_mut().zip(&mut self.current) {
            *most = (*most).max(*current);
            *current = 0;
        }
    }

    fn child(&mut self, node: u32, symbol: u32) -> u32 {
        let next = self.most.len() as u32 + 1;
        let child = *self.children.entry(edge(node, symbol)).or_insert(next);
        if child == next {
            self.most.push(0);
            self.current.push(0);
        }
        child
    }

    /// Takes the n-grams of a hypothesis away from those of the references, and adds to `found[n−1]`
    /// how many there were of order n.
    pub(super) fn take_matches(&mut self, symbols: &[u32], found: &mut [f64]) {
        for start in 0..symbols.len() {
            let mut node = ROOT;
            for (&symbol, found) in symbols[start..].iter().zip(found.iter_mut()) {
                // A longer n-gram occurs only where the shorter one does.
                let Some(&child) = self.children.get(&edge(node, symbol)) else { break };
                node = child;
                let left = &mut self.most[node as usize - 1];
                if *left > 0 {
                    *left -= 1;
                    *found += 1.0;
                }
            }
        }
    }
}

fn edge(node: u32, symbol: u32) -> u64 {
    u64::from(node) << 32 | u64::from(symbol)
}

/// How many n-grams of one order a sequence has.
pub(super) fn count(symbols: usize, order: usize) -> f64 {
    (symbols + 1).saturating_sub(order) as f64
}

/// Numbers for the words of a line, so that n-grams are of numbers.
#[derive(Default)]
pub(super) struct Words<'a> {
    numbers: FxHashMap<&'a str, u32>,
}

impl<'a> Words<'a> {
    /// The number of each word, the same for the same word.
    pub(super) fn numbers(&mut self, words: impl Iterator<Item = &'a str>) -> Vec<u32> {
        let number = |word| {
            let next = self.numbers.len() as u32;
            *self.numbers.entry(word).or_insert(next)
        };
        words.map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(references: &[&str], hypothesis: &str) -> [f64; 3] {
        let mut counts = NgramCounts::default();
        let mut words = Words::default();
        for reference in references {
            counts.add_reference(&words.numbers(reference.split(' ')), 3);
        }
        let mut found = [0.0; 3];
        counts.take_matches(&words.numbers(hypothesis.split(' ')), &mut found);
        found
    }

    #[test]
    fn an_ngram_counts_as_often_as_a_reference_has_it() {
        assert_eq!(matches(&["a b a b"], "a b a b"), [4.0, 3.0, 2.0]);
        assert_eq!(matches(&["a b c"], "a a a"), [1.0, 0.0, 0.0]);
        assert_eq!(matches(&["a b", "a a"], "a a a b"), [3.0, 2.0, 0.0]);
        assert_eq!(matches(&[], "a"), [0.0; 3]);
    }

    #[test]
    fn short_sequences_have_no_long_ngrams() {
        assert_eq!([0, 1, 2, 5].map(|length| count(length, 3)), [0.0, 0.0, 0.0, 3.0]);
    }
}
