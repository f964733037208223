//! Symbols as numbers, so that comparing two words costs as much as comparing two numbers.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Gives equal symbols equal numbers, from zero on without gaps.
#[derive(Debug)]
pub(crate) struct Symbols<T> {
    numbers: FxHashMap<T, u32>,
}

impl<T: Eq + Hash> Symbols<T> {
    pub(crate) fn new() -> Self {
        Self { numbers: FxHashMap::default() }
    }

    /// How many different symbols there were.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn number(&mut self, symbol: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(symbol).or_insert(next)
    }

    pub(crate) fn numbers(&mut self, symbols: impl IntoIterator<Item = T>) -> Vec<u32> {
        symbols.into_iter().map(|symbol| self.number(symbol)).collect()
    }
}
