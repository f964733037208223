//! Perplexity: exp of the mean −log p, per token, per character and per byte.
//!
//! A token is whatever the vocabulary makes it, so perplexities per token compare only within one
//! vocabulary. Per character and per byte the same sum of log-probabilities is divided by what does not
//! depend on it. The end of a text counts as one token, one character and one byte, as a line's end would.

/// A sum of losses, and what it is spread over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perplexity {
    /// Σ −log p, in nats.
    pub nats: f64,
    /// Tokens, ends included.
    pub tokens: usize,
    /// Characters, ends included.
    pub characters: usize,
    /// Bytes, ends included.
    pub bytes: usize,
}

impl Perplexity {
    /// Counts the characters and bytes of a text, its end as one more of each.
    pub fn count(&mut self, text: &str) {
        self.characters += text.chars().count() + 1;
        self.bytes += text.len() + 1;
    }

    /// exp of the mean loss of a token.
    pub fn per_token(&self) -> f64 {
        self.over(self.tokens).exp()
    }

    /// exp of the mean loss of a character.
    pub fn per_character(&self) -> f64 {
        self.over(self.characters).exp()
    }

    /// exp of the mean loss of a byte.
    pub fn per_byte(&self) -> f64 {
        self.over(self.bytes).exp()
    }

    /// The mean loss of a byte in bits.
    pub fn bits_per_byte(&self) -> f64 {
        self.over(self.bytes) / std::f64::consts::LN_2
    }

    /// The mean loss of a token in nats.
    pub fn loss(&self) -> f64 {
        self.over(self.tokens)
    }

    fn over(&self, count: usize) -> f64 {
        self.nats / count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sum_is_spread_over_tokens_characters_and_bytes() {
        // Each of three tokens with probability 1/4: 6 bits.
        let mut found = Perplexity { nats: 3.0 * 4f64.ln(), tokens: 3, ..Default::default() };
        found.count("è lì"); // four characters, six bytes
        assert_eq!((found.characters, found.bytes), (5, 7));
        assert!((found.per_token() - 4.0).abs() < 1e-12);
        assert!((found.loss() - 4f64.ln()).abs() < 1e-12);
        assert!((found.per_character() - 2f64.powf(6.0 / 5.0)).abs() < 1e-12);
        assert!((found.per_byte() - 2f64.powf(6.0 / 7.0)).abs() < 1e-12);
        assert!((found.bits_per_byte() - 6.0 / 7.0).abs() < 1e-12);
        assert_eq!(Perplexity::default().per_byte(), 1.0);
    }
}
