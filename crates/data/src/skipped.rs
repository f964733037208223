//! The count of examples that were passed over because they cannot be used.

use std::fmt;

use crate::DataError;
use crate::images::ImageProblem;

/// Why an example was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not there, or cannot be read.
    Missing,
    /// Damaged, or not what it should be.
    Broken,
    /// Beyond the limits.
    TooLarge,
    /// Not in its folder.
    Outside,
    /// The line that names it cannot be used.
    BadLine,
    /// Nothing is in it, or nothing is heard.
    Empty,
}

impl Reason {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Missing, Self::Broken, Self::TooLarge, Self::Outside, Self::BadLine, Self::Empty];

    fn text(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Broken => "broken",
            Self::TooLarge => "too large",
            Self::Outside => "outside of the folder",
            Self::BadLine => "badly listed",
            Self::Empty => "empty or silent",
        }
    }
}

/// Examples that were passed over: how many for each reason, and what was said of the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    counts: [u64; Reason::ALL.len()],
    first: Vec<String>,
}

impl Skipped {
    /// How many messages are kept.
    pub const FEW: usize = 5;

    /// Counts one more.
    pub fn add(&mut self, reason: Reason, message: impl fmt::Display) {
        self.counts[reason as usize] += 1;
        if self.first.len() < Self::FEW {
            self.first.push(message.to_string());
        }
    }

    /// Passes over an error, unless it is none of an example: that is given back.
    pub fn pass(&mut self, error: DataError) -> Result<(), DataError> {
        match &error {
            DataError::Image(image) => match image.problem {
                // What is no fault of an image would be the same with the next.
                ImageProblem::NoImages(_) => return Err(error),
                _ => self.add(image.problem.reason(), &error),
            },
            DataError::Sound(sound) => match sound.problem.reason() {
                Some(reason) => self.add(reason, &error),
                None => return Err(error),
            },
            DataError::Line { .. } => self.add(Reason::BadLine, &error),
            _ => return Err(error),
        }
        Ok(())
    }

    /// How many were passed over for a reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts[reason as usize]
    }

    /// How many were passed over.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What was said of the first few.
    pub fn first(&self) -> &[String] {
        &self.first
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = Reason::ALL
            .iter()
            .filter(|reason| self.count(**reason) > 0)
            .map(|reason| format!("{} {}", self.count(*reason), reason.text()))
            .collect();
        if told.is_empty() {
            return out.write_str("none");
        }
        out.write_str(&told.join(", "))?;
        match self.first.first() {
            Some(first) => write!(out, "; the first: {first}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::images::ImageError;

    #[test]
    fn those_passed_over_are_counted_by_reason_and_the_first_named() {
        let mut skipped = Skipped::default();
        assert_eq!(skipped.to_string(), "none");
        for number in 0..8 {
            let error = ImageError::of(Path::new(&format!("{number}.png")), ImageProblem::Missing);
            skipped.pass(error.into()).unwrap();
        }
        skipped.pass(ImageError::of(Path::new("bomb.png"), ImageProblem::Memory).into()).unwrap();
        assert_eq!((skipped.total(), skipped.count(Reason::Missing), skipped.first().len()), (9, 8, 5));
        let text = skipped.to_string();
        assert!(
            text.starts_with("8 missing, 1 too large; the first: 0.png: the image is not there"),
            "{text}"
        );
        skipped.pass(crate::ahead::AheadError::Stopped.into()).unwrap_err();
        skipped.pass(DataError::NoText).unwrap_err();
        assert_eq!(skipped.total(), 9);
    }
}
