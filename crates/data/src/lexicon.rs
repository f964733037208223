//! A lexical table: how probable a target token is as the translation of a source token, learnt from examples alone.
//!
//! IBM Model 1 (Brown et al., 1993): every token y_j of a target comes from one of the tokens x_1 … x_S of its source, or
//! from x_0 = NULL, which stands before every source for what has none; each is as likely as the others, so that
//!
//! ```text
//! p(y | x) ∝ Π_j Σ_i t(y_j | x_i)                                               i from 0 to S
//!
//! c(y | x) = Σ_examples Σ_{j: y_j = y} Σ_{i: x_i = x} t(y | x) / Σ_i' t(y | x_i')   what is expected
//! t(y | x) = c(y | x) / Σ_y' c(y' | x)                                            what makes it most probable
//! ```
//!
//! The two are taken in turns, from a t that is the same for all. The likelihood has one maximum, so that few turns are
//! enough to tell good translations from bad ones, and no start is better than another.
//!
//! # What it costs
//!
//! All that is computed for a target token y needs the column t(y | ·) and the examples that y occurs in, and nothing else.
//! So threads take target tokens, each of which is summed in the order of the examples: the table does not depend on the
//! number of threads. About [`MOST_TOKENS`] tokens at most are kept in memory, and a pair below [`LEAST`] is dropped, whereupon no
//! source token has more than 1 / [`LEAST`] pairs: at most 80 kB each, and in practice a few.

use rayon::prelude::*;

/// Turns unless told otherwise.
pub const ITERATIONS: usize = 5;
/// The tokens of both sides that are learnt from, at most; the last example may go beyond.
pub const MOST_TOKENS: usize = 64_000_000;
/// Sources and targets that are longer are passed over: what belongs together in them, no table can tell.
pub const LONGEST: usize = 512;
/// Pairs that are less probable are dropped.
pub const LEAST: f64 = 1e-4;

/// Examples to learn from, in tokens.
pub struct Learner {
    sizes: Sizes,
    most: usize,
    sources: Rows,
    targets: Rows,
}

/// How many tokens there are on either side.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    source: usize,
    target: usize,
}

/// t(y | x) of source and target tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Lexicon {
    /// For each source token, and NULL behind the last, target tokens and their t, the best first.
    best: Vec<Vec<(u32, f32)>>,
    /// How often each target token occurs.
    counts: Vec<u64>,
}

impl Learner {
    /// A learner that has seen nothing, for so many tokens on either side.
    pub fn new(source: usize, target: usize) -> Self {
        let sizes = Sizes { source, target };
        Self { sizes, most: MOST_TOKENS, sources: Rows::default(), targets: Rows::default() }
    }

    /// Takes the tokens of an example into account, both without their ends; whether there is room for more.
    ///
    /// # Panics
    /// If there is no such token.
    pub fn feed(&mut self, source: &[u32], target: &[u32]) -> bool {
        let known = |tokens: &[u32], size: usize| tokens.iter().all(|&token| (token as usize) < size);
        assert!(
            known(source, self.sizes.source) && known(target, self.sizes.target),
            "lexicon: no such token"
        );
        if source.len().max(target.len()) <= LONGEST {
            self.sources.push(source);
            self.targets.push(target);
        }
        self.sources.tokens.len() + self.targets.tokens.len() < self.most
    }

    /// How many examples there are to learn from.
    pub fn examples(&self) -> usize {
        self.sources.ends.len()
    }

    /// The table after so many turns, one at least; `told` is called behind each.
    pub fn finish(self, iterations: usize, mut told: impl FnMut()) -> Lexicon {
        let occurrences = Occurrences::of(&self.targets, self.sizes.target);
        let mut table = self.first(&occurrences);
        told();
        for _ in 1..iterations {
            table = self.next(&occurrences, &table);
            told();
        }
        let mut best = vec![Vec::new(); self.sizes.source + 1];
        for (target, pairs) in (0..).zip(table) {
            for (source, t) in pairs {
                best[source as usize].push((target, t));
            }
        }
        // Of equals the lower number comes first, as it does in the table.
        best.par_iter_mut().for_each(|pairs| pairs.sort_by(|(_, a), (_, b)| b.total_cmp(a)));
        Lexicon { best, counts: occurrences.counts() }
    }

    /// The table behind the first turn. Where all t are the same, a target token comes from all positions alike, and what is
    /// expected of a source token is known without its pairs: they can be dropped before they are kept.
    fn first(&self, occurrences: &Occurrences) -> Table {
        let mut totals = vec![0.0; self.sizes.source + 1];
        for example in 0..self.examples() {
            let (source, target) = (self.sources.row(example), self.targets.row(example));
            let each = target.len() as f64 / (source.len() + 1) as f64;
            self.positions(source).for_each(|token| totals[token as usize] += each);
        }
        self.by_target(|scratch, target| {
            for &example in occurrences.of_token(target) {
                let source = self.sources.row(example as usize);
                let each = 1.0 / (source.len() + 1) as f64;
                self.positions(source).for_each(|token| scratch.add(token, each));
            }
            likely(scratch.take(), &totals)
        })
    }

    /// The table behind one more turn.
    fn next(&self, occurrences: &Occurrences, table: &Table) -> Table {
        let expected = self.by_target(|scratch, target| {
            let pairs = &table[target];
            pairs.iter().for_each(|&(token, t)| scratch.t[token as usize] = f64::from(t));
            for &example in occurrences.of_token(target) {
                let source = self.sources.row(example as usize);
                let sum: f64 = self.positions(source).map(|token| scratch.t[token as usize]).sum();
                if sum > 0.0 {
                    for token in self.positions(source) {
                        scratch.add(token, scratch.t[token as usize] / sum);
                    }
                }
            }
            pairs.iter().for_each(|&(token, _)| scratch.t[token as usize] = 0.0);
            scratch.take()
        });
        let mut totals = vec![0.0; self.sizes.source + 1];
        for &(token, count) in expected.iter().flatten() {
            totals[token as usize] += count;
        }
        expected.into_par_iter().map(|pairs| likely(pairs, &totals)).collect()
    }

    /// What `work` makes of each target token.
    fn by_target<R: Send>(&self, work: impl Fn(&mut Scratch, usize) -> R + Send + Sync) -> Vec<R> {
        let scratch = || Scratch::new(self.sizes.source + 1);
        (0..self.sizes.target).into_par_iter().map_init(scratch, work).collect()
    }

    /// The tokens of a source, and NULL.
    fn positions<'a>(&self, source: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        source.iter().copied().chain(std::iter::once(self.sizes.source as u32))
    }
}

/// For each target token the source tokens that it may come from, by number, and t of it.
type Table = Vec<Vec<(u32, f32)>>;

/// t of what is expected, without what is improbable.
fn likely(expected: Vec<(u32, f64)>, totals: &[f64]) -> Vec<(u32, f32)> {
    let t = |(token, count): (u32, f64)| (token, count / totals[token as usize]);
    let kept = expected.into_iter().map(t).filter(|&(_, t)| t >= LEAST);
    kept.map(|(token, t)| (token, t as f32)).collect()
}

impl Lexicon {
    /// The target tokens that a source token may become, with t of each, the best first. What was dropped is missing from
    /// their sum.
    pub fn of(&self, source: u32) -> &[(u32, f32)] {
        let known = self.best.split_last().map_or(&[][..], |(_, known)| known);
        known.get(source as usize).map_or(&[], Vec::as_slice)
    }

    /// The same of what comes from nowhere.
    pub fn of_null(&self) -> &[(u32, f32)] {
        self.best.last().map_or(&[], Vec::as_slice)
    }

    /// The target tokens that occur most often, at most so many, the most frequent first.
    pub fn most_frequent(&self, count: usize) -> Vec<u32> {
        let mut tokens: Vec<(u32, u64)> = (0..).zip(self.counts.iter().copied()).collect();
        tokens.retain(|&(_, count)| count > 0);
        tokens.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        tokens.into_iter().take(count).map(|(token, _)| token).collect()
    }
}

/// Rows of tokens, one behind the other.
#[derive(Default)]
struct Rows {
    tokens: Vec<u32>,
    /// Where each row ends.
    ends: Vec<usize>,
}

impl Rows {
    fn push(&mut self, row: &[u32]) {
        self.tokens.extend_from_slice(row);
        self.ends.push(self.tokens.len());
    }

    fn row(&self, number: usize) -> &[u32] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.tokens[start..self.ends[number]]
    }
}

/// The examples that each target token occurs in, as often as it does.
struct Occurrences {
    examples: Vec<u32>,
    /// Where those of each token begin, and the end.
    starts: Vec<usize>,
}

impl Occurrences {
    fn of(targets: &Rows, size: usize) -> Self {
        let mut starts = vec![0; size + 1];
        targets.tokens.iter().for_each(|&token| starts[token as usize + 1] += 1);
        for token in 0..size {
            starts[token + 1] += starts[token];
        }
        let (mut next, mut examples) = (starts.clone(), vec![0; targets.tokens.len()]);
        for (number, example) in (0..targets.ends.len()).zip(0..) {
            for &token in targets.row(number) {
                examples[next[token as usize]] = example;
                next[token as usize] += 1;
            }
        }
        Self { examples, starts }
    }

    fn of_token(&self, token: usize) -> &[u32] {
        &self.examples[self.starts[token]..self.starts[token + 1]]
    }

    fn counts(&self) -> Vec<u64> {
        self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect()
    }
}

/// Where a thread adds up, with a place for each source token; all zeros in between.
struct Scratch {
    t: Vec<f64>,
    sums: Vec<f64>,
    /// The places of sums that are not zero.
    touched: Vec<u32>,
}

impl Scratch {
    fn new(size: usize) -> Self {
        Self { t: vec![0.0; size], sums: vec![0.0; size], touched: Vec::new() }
    }

    fn add(&mut self, token: u32, value: f64) {
        let sum = &mut self.sums[token as usize];
        if value > 0.0 {
            if *sum == 0.0 {
                self.touched.push(token);
            }
            *sum += value;
        }
    }

    /// The sums by token, which are then zero.
    fn take(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        let taken = self.touched.drain(..);
        taken.map(|token| (token, std::mem::take(&mut self.sums[token as usize]))).collect()
    }
}

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;
