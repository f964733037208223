//! When words are said to begin, beside when they do.
//!
//! The words of an output are matched with those of its reference on a shortest way of substitutions, deletions and
//! insertions. A word of the reference is found in time if its match is the same word, and is said to begin within a
//! tolerance of when it does. A word that is missing, or another, is not found, however near.

/// A word, and the second at which it begins, if that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed<'a> {
    /// The word.
    pub word: &'a str,
    /// When it begins.
    pub start: Option<f64>,
}

/// Sums over the words of references whose beginnings are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Onsets {
    /// Those that are found in time.
    pub near: usize,
    /// Those that are found, in time or not.
    pub found: usize,
    /// All of them.
    pub known: usize,
    /// Σ (said − known) over those that are found, in seconds.
    pub late: f64,
}

impl Onsets {
    /// Those of one example.
    pub fn of(output: &[Timed<'_>], reference: &[Timed<'_>], tolerance: f64) -> Self {
        let mut sums =
            Self { known: reference.iter().filter(|word| word.start.is_some()).count(), ..Self::default() };
        for (place, match_of) in matches(output, reference).into_iter().enumerate() {
            let said = match_of.and_then(|found| output[found].start);
            if let (Some(known), Some(said)) = (reference[place].start, said) {
                sums.found += 1;
                sums.late += said - known;
                // Times in milliseconds are not exact in seconds.
                sums.near += usize::from((said - known).abs() <= tolerance + 1e-9);
            }
        }
        sums
    }
}

/// For each word of the reference, the same word of the output that it is matched with.
fn matches(output: &[Timed<'_>], reference: &[Timed<'_>]) -> Vec<Option<usize>> {
    let (rows, columns) = (reference.len() + 1, output.len() + 1);
    // D(i, j), as in the edit distance.
    let mut distance = vec![0u32; rows * columns];
    for i in 0..rows {
        for j in 0..columns {
            let at = |i: usize, j: usize| distance[i * columns + j];
            distance[i * columns + j] = match (i, j) {
                (0, j) => j as u32,
                (i, 0) => i as u32,
                (i, j) => {
                    let same = reference[i - 1].word == output[j - 1].word;
                    let along = at(i - 1, j - 1) + u32::from(!same);
                    along.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1)
                }
            };
        }
    }
    let mut found = vec![None; reference.len()];
    let (mut i, mut j) = (reference.len(), output.len());
    while i > 0 && j > 0 {
        let at = |i: usize, j: usize| distance[i * columns + j];
        let same = reference[i - 1].word == output[j - 1].word;
        if at(i, j) == at(i - 1, j - 1) + u32::from(!same) {
            found[i - 1] = same.then_some(j - 1);
            (i, j) = (i - 1, j - 1);
        } else if at(i, j) == at(i - 1, j) + 1 {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed<'a>(words: &[(&'a str, f64)]) -> Vec<Timed<'a>> {
        words.iter().map(|&(word, start)| Timed { word, start: Some(start) }).collect()
    }

    #[test]
    fn words_are_found_where_they_are_the_same_and_near() {
        let reference = timed(&[("c4", 0.1), ("d4", 0.5), ("e4", 0.9), ("d4", 1.4)]);
        let right = Onsets::of(&reference, &reference, 0.05);
        assert_eq!(right, Onsets { near: 4, found: 4, known: 4, late: 0.0 });
        // One is missing, one is another, one comes late.
        let output = timed(&[("c4", 0.15), ("f4", 0.5), ("d4", 1.5)]);
        let sums = Onsets::of(&output, &reference, 0.05);
        assert_eq!((sums.near, sums.found, sums.known), (1, 2, 4));
        assert!((sums.late - 0.15).abs() < 1e-9);
        // One too many moves nothing.
        let output = timed(&[("c4", 0.1), ("g4", 0.3), ("d4", 0.5), ("e4", 0.9), ("d4", 1.4)]);
        assert_eq!(Onsets::of(&output, &reference, 0.05).near, 4);
    }

    #[test]
    fn what_nobody_knows_is_not_counted() {
        let output = [Timed { word: "a", start: None }, Timed { word: "b", start: Some(1.0) }];
        let reference = [Timed { word: "a", start: Some(0.0) }, Timed { word: "b", start: None }];
        assert_eq!(Onsets::of(&output, &reference, 1.0), Onsets { known: 1, ..Onsets::default() });
        assert_eq!(Onsets::of(&[], &reference, 1.0).known, 1);
        assert_eq!(Onsets::of(&output, &[], 1.0), Onsets::default());
    }
}
