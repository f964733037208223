//! What is compared, line by line, and the numbers that come of it.

use super::TranslationError;

/// The references of a corpus: one or more for each line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References<'a> {
    texts: Vec<&'a str>,
    /// Where the references of each line end in `texts`.
    ends: Vec<usize>,
}

impl<'a> References<'a> {
    /// One reference for each line.
    pub fn single<S: AsRef<str>>(lines: &'a [S]) -> Self {
        let texts: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        Self { ends: (1..=texts.len()).collect(), texts }
    }

    /// Several references for each line, each given as a whole, such as a file.
    pub fn streams<L: AsRef<[S]>, S: AsRef<str> + 'a>(streams: &'a [L]) -> Result<Self, TranslationError> {
        let expected = streams.first().map_or(0, |stream| stream.as_ref().len());
        for (number, stream) in (1..).zip(streams) {
            let found = stream.as_ref().len();
            if found != expected {
                return Err(TranslationError::StreamLength { number, found, expected });
            }
        }
        let of_line = |line: usize| streams.iter().map(move |stream| stream.as_ref()[line].as_ref());
        let texts = (0..expected).flat_map(of_line).collect();
        Ok(Self { texts, ends: (1..=expected).map(|line| line * streams.len()).collect() })
    }

    /// The references of each line, of which there may be more for one line than for another.
    pub fn per_line<L: AsRef<[S]>, S: AsRef<str> + 'a>(lines: &'a [L]) -> Result<Self, TranslationError> {
        let mut references = Self { texts: Vec::new(), ends: Vec::new() };
        for (line, texts) in (1..).zip(lines) {
            if texts.as_ref().is_empty() {
                return Err(TranslationError::NoReference { line });
            }
            references.texts.extend(texts.as_ref().iter().map(AsRef::as_ref));
            references.ends.push(references.texts.len());
        }
        Ok(references)
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The references of a line, counted from zero; none where there is no such line.
    pub fn line(&self, line: usize) -> &[&'a str] {
        let start = if line == 0 { 0 } else { self.end(line - 1) };
        &self.texts[start..self.end(line)]
    }

    fn end(&self, line: usize) -> usize {
        self.ends.get(line).copied().unwrap_or(self.texts.len())
    }

    /// How many references every line has; `None` if the lines differ.
    pub fn count(&self) -> Option<usize> {
        let first = self.line(0).len();
        (1..self.len()).all(|line| self.line(line).len() == first).then_some(first)
    }
}

/// The numbers that a metric made of each line. Their sums over a corpus, or over any choice of its
/// lines, are all that the score needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    width: usize,
    references: Option<usize>,
    values: Vec<f64>,
}

impl Statistics {
    /// Room for each line, all zero; a line has at least one number.
    pub(super) fn zeros(width: usize, references: &References<'_>) -> Self {
        Self { width, references: references.count(), values: vec![0.0; width * references.len()] }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines().len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many numbers a line has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many references every line had; `None` if the lines differed.
    pub fn references(&self) -> Option<usize> {
        self.references
    }

    /// The numbers of each line, in the order that the metric documents.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// The sums over all lines.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for line in self.lines() {
            sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_stand_line_by_line() {
        let references = References::streams(&[["a", "b"], ["c", "d"]]).unwrap();
        assert_eq!((references.len(), references.count()), (2, Some(2)));
        assert_eq!((references.line(0), references.line(1)), (&["a", "c"][..], &["b", "d"][..]));
    }

    #[test]
    fn lines_may_have_different_numbers_of_references() {
        let lines = [vec!["a"], vec!["b", "c"]];
        let references = References::per_line(&lines).unwrap();
        assert_eq!((references.len(), references.count()), (2, None));
        assert_eq!(references.line(1), ["b", "c"]);
        assert!(references.line(2).is_empty());
    }

    #[test]
    fn what_does_not_fit_together_is_named() {
        let uneven = References::streams(&[vec!["a", "b"], vec!["c"]]).unwrap_err();
        assert_eq!(uneven, TranslationError::StreamLength { number: 2, found: 1, expected: 2 });
        let missing = References::per_line(&[vec!["a"], vec![]]).unwrap_err();
        assert_eq!(missing.to_string(), "line 2 has no reference; give at least one for every line");
    }
}
