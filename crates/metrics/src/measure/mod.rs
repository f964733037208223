//! Figures of any choice of examples: of all, of a group, of a draw.
//!
//! Every example adds a few numbers, its sufficient statistics, and a figure follows from their sums:
//!
//! | figure | what an example adds |
//! |---|---|
//! | a share, such as accuracy | right answers; answers |
//! | an error rate | errors; units of the reference |
//! | BLEU, chrF, TER | what [`Metric::measure`](crate::translation::Metric::measure) counts |
//! | F₁ | right, told and gold, of each label or of all together |
//! | expected calibration error | examples, confidences and right answers of each bin |
//! | perplexity | −log p; tokens |
//!
//! So texts are compared once, however many groups and draws they are looked at in. Rows are sparse: an
//! example with one label touches two labels of a thousand.

mod usual;

use crate::interval::{Bootstrap, Interval, wilson};

/// The fewest examples that a bootstrap says anything about. One example, drawn again and again, is always
/// the same, and has an interval without width.
pub const FEWEST: usize = 10;

/// Makes a figure of sums; `None` where there is nothing to measure.
type Score = Box<dyn Fn(&[f64]) -> Option<f64> + Send + Sync>;

/// What each of some examples adds to a figure.
///
/// ```
/// # use gatto_metrics::{Bootstrap, Measure};
/// let found = Measure::share([true, true, false, true]);
/// assert_eq!(found.of(&[0, 1, 2, 3]), Some(0.75));
/// assert_eq!(found.of(&[2, 3]), Some(0.5));
/// assert_eq!(found.of(&[]), None);
/// let interval = found.interval(&[0, 1, 2, 3], &Bootstrap::new(1)).expect("a share has one");
/// assert!(interval.low < 0.75 && interval.high > 0.75);
/// ```
pub struct Measure {
    rows: Rows,
    score: Score,
    chance: Chance,
}

/// How an interval is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    /// Wilson's formula: every example is right or wrong.
    Wilson,
    /// Draws of examples.
    Bootstrap,
}

/// How far one measure lies above another on the same examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference.
    pub value: f64,
    /// Where it may lie; `None` for fewer than [`FEWEST`] examples.
    pub interval: Option<Interval>,
}

impl Measure {
    /// A measure whose figure is `score` of the sums of `rows`, each a list of places below `width` and the
    /// numbers that an example adds there. Intervals are drawn.
    pub fn new<R: IntoIterator<Item = (usize, f64)>>(
        width: usize,
        rows: impl IntoIterator<Item = R>,
        score: impl Fn(&[f64]) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        let mut found = Rows { width, ..Rows::default() };
        rows.into_iter().for_each(|row| found.push(row));
        Self { rows: found, score: Box::new(score), chance: Chance::Bootstrap }
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.rows.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.ends.is_empty()
    }

    /// The sums over the chosen examples.
    pub fn sums(&self, chosen: &[usize]) -> Vec<f64> {
        self.rows.sums(chosen.iter().copied())
    }

    /// The figure of the chosen examples; `None` where there is nothing to measure.
    pub fn of(&self, chosen: &[usize]) -> Option<f64> {
        if chosen.is_empty() { None } else { (self.score)(&self.sums(chosen)) }
    }

    /// Where the figure of the chosen examples may lie: by Wilson's formula if each is right or wrong, else
    /// by a bootstrap, if there are at least [`FEWEST`] of them.
    pub fn interval(&self, chosen: &[usize], bootstrap: &Bootstrap) -> Option<Interval> {
        match self.chance {
            Chance::Wilson => {
                let sums = self.sums(chosen);
                (!chosen.is_empty()).then(|| wilson(sums[0] as usize, sums[1] as usize))
            }
            Chance::Bootstrap if chosen.len() < FEWEST => None,
            Chance::Bootstrap => {
                let drawn = |draw: &[usize]| (self.score)(&self.rows.sums(draw.iter().map(|&i| chosen[i])));
                bootstrap.interval_of(chosen.len(), drawn)
            }
        }
    }

    /// How far this lies above `other` on all examples, which are the same in both: every draw is of the
    /// same examples for both. `None` where one of them has nothing to measure, or another number of examples.
    pub fn above(&self, other: &Self, bootstrap: &Bootstrap) -> Option<Difference> {
        if self.len() != other.len() {
            return None;
        }
        let of = |measure: &Self, draw: &[usize]| (measure.score)(&measure.sums(draw));
        let difference = |draw: &[usize]| Some(of(self, draw)? - of(other, draw)?);
        let all: Vec<usize> = (0..self.len()).collect();
        let enough = self.len() >= FEWEST;
        let interval = if enough { bootstrap.interval_of(self.len(), difference) } else { None };
        Some(Difference { value: difference(&all)?, interval })
    }
}

/// The numbers of each example, without zeros.
#[derive(Debug, Default)]
struct Rows {
    width: usize,
    /// Where each example ends in the two lists below.
    ends: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn push(&mut self, row: impl IntoIterator<Item = (usize, f64)>) {
        for (place, value) in row.into_iter().filter(|(place, value)| *value != 0.0 && *place < self.width) {
            self.places.push(place as u32);
            self.values.push(value);
        }
        self.ends.push(self.places.len());
    }

    fn sums(&self, chosen: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for example in chosen {
            let Some(&end) = self.ends.get(example) else { continue };
            let start = if example == 0 { 0 } else { self.ends[example - 1] };
            for (&place, value) in self.places[start..end].iter().zip(&self.values[start..end]) {
                sums[place as usize] += value;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests;
