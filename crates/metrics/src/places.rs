//! Where the symbols of a sequence stand, 64 places to a word of bits.

/// Where each symbol stands in a sequence. Symbols are small numbers, without gaps.
pub(crate) struct Places {
    words: usize,
    /// `words` for each symbol up to the largest; zeros at last, for symbols that are nowhere.
    bits: Vec<u64>,
}

impl Places {
    pub(crate) fn of(sequence: &[u32]) -> Self {
        let words = sequence.len().div_ceil(64);
        let symbols = sequence.iter().max().map_or(0, |&last| last as usize + 1);
        let mut bits = vec![0; words * (symbols + 1)];
        for (at, &symbol) in sequence.iter().enumerate() {
            bits[symbol as usize * words + at / 64] |= 1 << (at % 64);
        }
        Self { words, bits }
    }

    /// How many words of bits the places of a symbol take.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The places of a symbol, the first in the lowest bit of the first word.
    pub(crate) fn of_symbol(&self, symbol: u32) -> &[u64] {
        let nowhere = self.bits.len() - self.words;
        let start = (symbol as usize * self.words).min(nowhere);
        &self.bits[start..start + self.words]
    }
}
