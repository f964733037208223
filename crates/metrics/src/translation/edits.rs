//! The fewest edits from one sequence of words to another, where a shift of a stretch of words is one
//! edit: the search of Tercom, with its limits, as sacreBLEU has it.
//!
//! The search is greedy. It takes the shift that lowers the edit distance the most, until none does.
//! A stretch is shifted only if it stands somewhere in the reference, is wrong where it is, and
//! something else stands where it belongs.

use std::cmp::Reverse;
use std::ops::Range;

/// The most words that are shifted at once.
const MAX_SHIFT_SIZE: usize = 10;
/// The farthest that a stretch is looked for from its place.
const MAX_SHIFT_DISTANCE: usize = 50;
/// How many shifts of one line are tried.
const MAX_SHIFT_CANDIDATES: usize = 1000;
/// How far the edit distance looks to either side of the diagonal.
const BEAM_WIDTH: usize = 25;
/// A distance that was not computed; one may be added to it.
const UNKNOWN: u32 = u32::MAX / 2;

/// A search for edits. Kept from line to line for its memory.
#[derive(Default)]
pub struct EditSearch {
    distance: BeamDistance,
    shifted: Vec<u32>,
    alignment: Alignment,
}

/// A shift, ordered by how much is to be said for it: the edits saved, then the length, then how
/// early it starts, then how early it ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shift {
    saved: i64,
    length: usize,
    start: Reverse<usize>,
    target: Reverse<usize>,
}

/// Words of the hypothesis that also stand somewhere in the reference.
#[derive(Clone, Copy)]
struct Stretch {
    /// Where they start in the hypothesis.
    start: usize,
    /// Where they start in the reference.
    place: usize,
    length: usize,
}

impl EditSearch {
    /// The edits that turn the hypothesis into the reference, shifts among them.
    pub(super) fn edits(&mut self, hypothesis: &[u32], reference: &[u32]) -> usize {
        if reference.is_empty() {
            return hypothesis.len();
        }
        let mut words = hypothesis.to_vec();
        let (mut shifts, mut tried) = (0, 0);
        self.distance.start(words.len(), reference.len());
        loop {
            let distance = self.distance.compute(&words, reference);
            if distance == 0 {
                return shifts;
            }
            self.distance.align(&words, reference, &mut self.alignment);
            let best = self.best_shift(&words, reference, distance, &mut tried);
            match best {
                Some(shift) if shift.saved > 0 && tried < MAX_SHIFT_CANDIDATES => {
                    shift.write(&words, &mut self.shifted);
                    std::mem::swap(&mut words, &mut self.shifted);
                    shifts += 1;
                }
                _ => return shifts + distance as usize,
            }
        }
    }

    /// The best shift of all that may be tried.
    fn best_shift(
        &mut self,
        words: &[u32],
        reference: &[u32],
        distance: u32,
        tried: &mut usize,
    ) -> Option<Shift> {
        let mut best = None;
        for start in 0..words.len() {
            let near = start.saturating_sub(MAX_SHIFT_DISTANCE)..(start + MAX_SHIFT_DISTANCE + 1);
            for place in near.start..near.end.min(reference.len()) {
                let same = words[start..].iter().zip(&reference[place..]).take(MAX_SHIFT_SIZE);
                let longest = same.take_while(|(word, wanted)| word == wanted).count();
                for length in 1..=longest {
                    let stretch = Stretch { start, place, length };
                    if self.alignment.forbids(stretch) {
                        continue;
                    }
                    for shift in self.alignment.shifts(stretch) {
                        shift.write(words, &mut self.shifted);
                        let same = shift.start.0.min(shift.target.0);
                        let shifted = self.distance.of_variant(&self.shifted, reference, same);
                        let saved = i64::from(distance) - i64::from(shifted);
                        best = best.max(Some(Shift { saved, ..shift }));
                        *tried += 1;
                    }
                    if *tried >= MAX_SHIFT_CANDIDATES {
                        return best;
                    }
                }
            }
        }
        best
    }
}

impl Shift {
    /// The words once shifted.
    fn write(&self, words: &[u32], shifted: &mut Vec<u32>) {
        let (start, target, length) = (self.start.0, self.target.0, self.length);
        let end = start + length;
        shifted.clear();
        if target < start {
            shifted.extend_from_slice(&words[..target]);
            shifted.extend_from_slice(&words[start..end]);
            shifted.extend_from_slice(&words[target..start]);
            shifted.extend_from_slice(&words[end..]);
        } else {
            // A target within the stretch counts from its end.
            let target = if target > end { target } else { (target + length).min(words.len()) };
            shifted.extend_from_slice(&words[..start]);
            shifted.extend_from_slice(&words[end..target]);
            shifted.extend_from_slice(&words[start..end]);
            shifted.extend_from_slice(&words[target..]);
        }
    }
}

/// Which words of the hypothesis stand for which of the reference.
#[derive(Default)]
struct Alignment {
    /// For each word of the reference, how many words of the hypothesis go up to its counterpart.
    upto: Vec<usize>,
    /// Whether each word of the reference has no equal counterpart.
    reference_wrong: Vec<bool>,
    /// Whether each word of the hypothesis has no equal counterpart.
    hypothesis_wrong: Vec<bool>,
}

impl Alignment {
    /// Whether a stretch need not be shifted, because it is right where it is or nothing is wrong
    /// at its place, or cannot be, because its place is within itself.
    fn forbids(&self, Stretch { start, place, length }: Stretch) -> bool {
        let wrong = |wrong: &[bool], from: usize| wrong[from..from + length].contains(&true);
        !wrong(&self.hypothesis_wrong, start)
            || !wrong(&self.reference_wrong, place)
            || (start + 1..=start + length).contains(&self.upto[place])
    }

    /// Where a stretch may be shifted to: before its place in the reference, and behind each of its
    /// words there, unless that is the same as just before.
    fn shifts(&self, Stretch { start, place, length }: Stretch) -> impl Iterator<Item = Shift> {
        let target = |behind: usize| if behind == 0 { 0 } else { self.upto[behind - 1] };
        let differs = move |&behind: &usize| behind == place || target(behind) != target(behind - 1);
        (place..=place + length).filter(differs).map(move |behind| Shift {
            saved: 0,
            length,
            start: Reverse(start),
            target: Reverse(target(behind)),
        })
    }
}

/// The edit distance near the diagonal: a row for each number of words of the hypothesis, a column
/// for each number of words of the reference.
#[derive(Default)]
struct BeamDistance {
    /// The columns of each row that are computed.
    beams: Vec<Range<usize>>,
    /// Where each row stands in `rows`, from its first computed column on.
    starts: Vec<usize>,
    rows: Vec<u32>,
    /// Two whole rows, to compute with.
    previous: Vec<u32>,
    current: Vec<u32>,
}

impl BeamDistance {
    /// Prepares for sequences of these lengths; the reference is not empty.
    fn start(&mut self, hypothesis: usize, reference: usize) {
        let ratio = if hypothesis == 0 { 1.0 } else { reference as f64 / hypothesis as f64 };
        // Rows must overlap, however much the lengths differ.
        let half = ratio / 2.0;
        let width = BEAM_WIDTH as f64;
        let width = if width < half { (half + width).ceil() as usize } else { BEAM_WIDTH };
        self.beams.clear();
        self.beams.push(0..reference + 1);
        for row in 1..=hypothesis {
            let diagonal = (row as f64 * ratio).floor() as usize;
            let end = if row == hypothesis { reference + 1 } else { (diagonal + width).min(reference + 1) };
            self.beams.push(diagonal.saturating_sub(width)..end);
        }
        self.starts.clear();
        let mut start = 0;
        for beam in &self.beams {
            self.starts.push(start);
            start += beam.len();
        }
        self.rows.clear();
        self.rows.resize(start, UNKNOWN);
        for row in [&mut self.previous, &mut self.current] {
            row.clear();
            row.resize(reference + 1, UNKNOWN);
        }
    }

    /// The edit distance of the hypothesis, whose rows are kept.
    fn compute(&mut self, words: &[u32], reference: &[u32]) -> u32 {
        for (column, cell) in self.rows[..=reference.len()].iter_mut().enumerate() {
            *cell = column as u32;
        }
        self.load(0);
        for row in 1..=words.len() {
            self.advance(row, words[row - 1], reference);
            let beam = self.beams[row].clone();
            let start = self.starts[row];
            self.rows[start..start + beam.len()].copy_from_slice(&self.previous[beam]);
        }
        self.previous[reference.len()]
    }

    /// The edit distance of a hypothesis that begins with the same words as the last one computed.
    fn of_variant(&mut self, words: &[u32], reference: &[u32], same: usize) -> u32 {
        self.load(same);
        for row in same + 1..=words.len() {
            self.advance(row, words[row - 1], reference);
        }
        self.previous[reference.len()]
    }

    /// Takes a row that was kept as the previous one.
    fn load(&mut self, row: usize) {
        let beam = self.beams[row].clone();
        let start = self.starts[row];
        self.previous[..beam.start].fill(UNKNOWN);
        self.previous[beam.end..].fill(UNKNOWN);
        self.previous[beam.clone()].copy_from_slice(&self.rows[start..start + beam.len()]);
    }

    /// Computes a row from the previous one, and makes it the previous one.
    fn advance(&mut self, row: usize, word: u32, reference: &[u32]) {
        let beam = self.beams[row].clone();
        // Beams only move on; what is left of this one, or right of the one before, is unknown.
        let known = self.beams[row - 1].end.min(beam.end);
        self.previous[known..beam.end].fill(UNKNOWN);
        let mut left = UNKNOWN;
        let mut from = beam.start;
        if from == 0 {
            left = self.previous[0] + 1;
            self.current[0] = left;
            from = 1;
        } else {
            self.current[from - 1] = UNKNOWN;
        }
        let above = self.previous[from - 1..beam.end].windows(2);
        let cells = self.current[from..beam.end].iter_mut().zip(&reference[from - 1..beam.end - 1]);
        for ((cell, &wanted), above) in cells.zip(above) {
            let replaced = above[0] + u32::from(word != wanted);
            left = replaced.min(above[1] + 1).min(left + 1);
            *cell = left;
        }
        std::mem::swap(&mut self.previous, &mut self.current);
    }

    fn at(&self, row: usize, column: usize) -> u32 {
        let beam = &self.beams[row];
        if beam.contains(&column) { self.rows[self.starts[row] + column - beam.start] } else { UNKNOWN }
    }

    /// Follows the edits of the last hypothesis computed back from the end: where several are as
    /// good, a word kept or replaced comes first, then one deleted, then one inserted.
    fn align(&self, words: &[u32], reference: &[u32], alignment: &mut Alignment) {
        alignment.upto.clear();
        alignment.upto.resize(reference.len(), 0);
        alignment.reference_wrong.clear();
        alignment.reference_wrong.resize(reference.len(), true);
        alignment.hypothesis_wrong.clear();
        alignment.hypothesis_wrong.resize(words.len(), true);
        let (mut row, mut column) = (words.len(), reference.len());
        while column > 0 {
            alignment.upto[column - 1] = row;
            if row == 0 {
                column -= 1;
                continue;
            }
            let distance = self.at(row, column);
            let replaced = u32::from(words[row - 1] != reference[column - 1]);
            if self.at(row - 1, column - 1) + replaced == distance {
                row -= 1;
                column -= 1;
                alignment.hypothesis_wrong[row] = replaced == 1;
                alignment.reference_wrong[column] = replaced == 1;
            } else if self.at(row - 1, column) + 1 == distance {
                row -= 1;
            } else {
                column -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The edit distance by its definition.
    fn plain_distance(words: &[u32], reference: &[u32]) -> u32 {
        let mut row: Vec<u32> = (0..=reference.len() as u32).collect();
        for (above, word) in (1..).zip(words) {
            let mut diagonal = row[0];
            row[0] = above;
            for (column, wanted) in reference.iter().enumerate() {
                let replaced = diagonal + u32::from(word != wanted);
                diagonal = row[column + 1];
                row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
            }
        }
        row[reference.len()]
    }

    fn beam_distance(words: &[u32], reference: &[u32]) -> (u32, BeamDistance) {
        let mut distance = BeamDistance::default();
        distance.start(words.len(), reference.len());
        (distance.compute(words, reference), distance)
    }

    #[test]
    fn a_stretch_goes_before_behind_and_over_itself() {
        let shifted = |start: usize, target: usize| {
            let mut shifted = Vec::new();
            let shift = Shift { saved: 0, length: 2, start: Reverse(start), target: Reverse(target) };
            shift.write(&[0, 1, 2, 3, 4, 5], &mut shifted);
            shifted
        };
        assert_eq!(shifted(3, 1), [0, 3, 4, 1, 2, 5]);
        assert_eq!(shifted(1, 5), [0, 3, 4, 1, 2, 5]);
        assert_eq!(shifted(1, 2), [0, 3, 1, 2, 4, 5]);
        assert_eq!(shifted(3, 5), [0, 1, 2, 5, 3, 4]);
    }

    #[test]
    fn shifts_save_edits() {
        let mut search = EditSearch::default();
        assert_eq!(search.edits(&[1, 2, 3, 4, 5, 0], &[0, 1, 2, 3, 4, 5]), 1);
        assert_eq!(search.edits(&[], &[7, 8]), 2);
        assert_eq!(search.edits(&[7, 8, 9], &[]), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn within_the_beam_the_distance_is_exact(
            words in prop::collection::vec(0..6_u32, 0..20),
            reference in prop::collection::vec(0..6_u32, 1..20),
        ) {
            let plain = plain_distance(&words, &reference);
            prop_assert_eq!(beam_distance(&words, &reference).0, plain);
            prop_assert!(EditSearch::default().edits(&words, &reference) <= plain as usize);
        }

        #[test]
        fn a_variant_is_as_far_as_if_computed_anew(
            words in prop::collection::vec(0..9_u32, 1..150),
            reference in prop::collection::vec(0..9_u32, 1..150),
            same in any::<prop::sample::Index>(),
        ) {
            let mut variant = words.clone();
            let same = same.index(words.len());
            variant[same..].reverse();
            let (_, mut distance) = beam_distance(&words, &reference);
            let anew = beam_distance(&variant, &reference).0;
            prop_assert_eq!(distance.of_variant(&variant, &reference, same), anew);
        }
    }
}
