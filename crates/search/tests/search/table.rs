//! A model whose next token depends on all tokens before it, through a hash, and all that it can write.

use gatto_search::{Beam, Logits, Normalisation, Ranked, Step, Wanted};

pub(crate) const END: u32 = 0;
const START: u32 = 77;

/// Sentence i is read from the i-th hash; the last token of the vocabulary is forbidden.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) sentences: Vec<u64>,
    pub(crate) vocabulary: usize,
    /// How uneven the probabilities are.
    pub(crate) sharpness: f32,
    pub(crate) forbidden: [u32; 1],
}

fn mixed(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_add(b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(0x1234_5678_9ABC_DEF1);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn unit(random: u64) -> f32 {
    (random >> 40) as f32 / (1u64 << 24) as f32
}

impl Table {
    /// `words` tokens beside the end and the forbidden one.
    pub(crate) fn new(sentences: &[u64], words: usize) -> Self {
        let vocabulary = words + 2;
        let sentences = sentences.iter().map(|&seed| mixed(seed, 1)).collect();
        Self { sentences, vocabulary, sharpness: 4.0, forbidden: [vocabulary as u32 - 1] }
    }

    /// The scores behind a hash.
    fn scores(&self, hash: u64) -> Vec<f32> {
        (0..self.vocabulary as u64).map(|token| self.sharpness * unit(mixed(hash, token + 100))).collect()
    }

    /// Where a step looks; sentences have one to three positions.
    fn looks(hash: u64) -> Vec<f32> {
        let weights: Vec<f32> = (0..3).map(|i| unit(mixed(hash, i + 500)).powi(4) + 0.001).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// Every sequence of at most `limit` steps that ends, with what may stand in it, computed from scratch:
    /// log p and the sums of attention.
    fn all(&self, sentence: usize, wanted: &Wanted, beam: &Beam) -> Vec<Sequence> {
        let mut found = Vec::new();
        let root = Sequence {
            tokens: Vec::new(),
            log_probability: 0.0,
            covered: vec![0.0; 3],
            hash: self.sentences[sentence],
            last: START,
        };
        self.grow(root, wanted, beam, &mut found);
        found
    }

    fn grow(&self, sequence: Sequence, wanted: &Wanted, beam: &Beam, found: &mut Vec<Sequence>) {
        let length = sequence.tokens.len();
        if length == wanted.prefix.len() + wanted.max_length {
            return;
        }
        let hash = mixed(sequence.hash, u64::from(sequence.last));
        let scores = self.scores(hash);
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum::<f64>().ln();
        let looks = Self::looks(hash);
        let covered: Vec<f64> =
            sequence.covered.iter().zip(looks).map(|(sum, weight)| sum + f64::from(weight)).collect();
        for token in 0..self.vocabulary as u32 {
            let log_probability = sequence.log_probability + f64::from(scores[token as usize]) - sum;
            let tokens = [&sequence.tokens[..], &[token]].concat();
            let next = Sequence { tokens, log_probability, covered: covered.clone(), hash, last: token };
            if let Some(&given) = wanted.prefix.get(length) {
                if given == token {
                    self.grow(next, wanted, beam, found);
                }
                continue;
            }
            if token == END {
                if length >= wanted.prefix.len() + wanted.min_length
                    && wanted.phrases.iter().all(|phrase| contains(&sequence.tokens, &phrase.tokens))
                    && !wanted.never.iter().any(|never| next.tokens.ends_with(never))
                {
                    found.push(next);
                }
                continue;
            }
            let repeated = beam.no_repeat_ngram > 0
                && next.tokens.len() >= beam.no_repeat_ngram
                && contains(&sequence.tokens, &next.tokens[next.tokens.len() - beam.no_repeat_ngram..]);
            let never = wanted.never.iter().any(|never| !never.is_empty() && next.tokens.ends_with(never));
            if !repeated && !never && !self.forbidden.contains(&token) {
                self.grow(next, wanted, beam, found);
            }
        }
    }

    /// The best sequences of exhaustive search, best first: the tokens with the end, and the score.
    pub(crate) fn best(&self, sentence: usize, wanted: &Wanted, beam: &Beam) -> Vec<(Vec<u32>, f64)> {
        let score = |sequence: Sequence| {
            let n = sequence.tokens.len() as f64; // with the end
            let divisor = match beam.normalisation {
                Normalisation::None => 1.0,
                Normalisation::Power(alpha) => n.powf(alpha),
                Normalisation::Wu(alpha) => ((5.0 + n) / 6.0).powf(alpha),
            };
            let coverage: f64 = sequence.covered.iter().map(|sum| sum.min(1.0).ln()).sum();
            (sequence.tokens, sequence.log_probability / divisor + beam.coverage * coverage)
        };
        let mut scored: Vec<_> = self.all(sentence, wanted, beam).into_iter().map(score).collect();
        scored.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        scored
    }
}

struct Sequence {
    tokens: Vec<u32>,
    log_probability: f64,
    covered: Vec<f64>,
    hash: u64,
    last: u32,
}

pub(crate) fn contains(tokens: &[u32], phrase: &[u32]) -> bool {
    phrase.is_empty() || tokens.windows(phrase.len()).any(|part| part == phrase)
}

/// The prefix, what stands behind it and the end, if it was written.
pub(crate) fn whole(wanted: &Wanted, ranked: &Ranked) -> Vec<u32> {
    let hypothesis = &ranked.written.hypothesis;
    let end: &[u32] = if hypothesis.finished { &[END] } else { &[] };
    [&wanted.prefix[..], &hypothesis.tokens[..], end].concat()
}

impl Step for Table {
    type State = Vec<u64>;

    fn start(&self) -> (Vec<u64>, u32) {
        (self.sentences.clone(), START)
    }

    fn step(&self, tokens: &[u32], state: Vec<u64>) -> (Logits, Vec<u64>) {
        assert_eq!(tokens.len(), state.len());
        let state: Vec<u64> =
            state.iter().zip(tokens).map(|(&hash, &token)| mixed(hash, u64::from(token))).collect();
        let values = state.iter().flat_map(|&hash| self.scores(hash)).collect();
        (Logits::new(values, self.vocabulary), state)
    }

    fn select(&self, state: Vec<u64>, rows: &[usize]) -> Vec<u64> {
        rows.iter().map(|&row| state[row]).collect()
    }

    fn end(&self) -> u32 {
        END
    }

    fn forbidden(&self) -> &[u32] {
        &self.forbidden
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.vocabulary)
    }

    fn attention(&self, state: &Vec<u64>) -> Option<Vec<Vec<f32>>> {
        Some(state.iter().map(|&hash| Self::looks(hash)).collect())
    }
}
