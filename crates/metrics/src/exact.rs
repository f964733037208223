//! Exact match: the share of outputs that are the reference, word for word.
//!
//! White space counts once, and not at the ends.

use std::ops::AddAssign;

/// Right outputs among all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactMatch {
    /// Outputs that are their reference.
    pub right: usize,
    /// All outputs.
    pub total: usize,
}

impl ExactMatch {
    /// Compares outputs with their references, pair by pair.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut found = Self::default();
        for (output, reference) in pairs {
            found.count(output, reference);
        }
        found
    }

    /// Counts one more pair.
    pub fn count(&mut self, output: &str, reference: &str) {
        self.total += 1;
        self.right += usize::from(output.split_whitespace().eq(reference.split_whitespace()));
    }

    /// The share of right outputs, 0 if there are none at all.
    pub fn share(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.right as f64 / self.total as f64 }
    }
}

impl AddAssign for ExactMatch {
    fn add_assign(&mut self, more: Self) {
        self.right += more.right;
        self.total += more.total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_outputs_count() {
        let pairs =
            [("il gatto", "il gatto"), ("il  gatto ", "il gatto"), ("il gatto è", "il gatto"), ("", "il")];
        let found = ExactMatch::of(pairs);
        assert_eq!((found.right, found.total), (2, 4));
        assert_eq!(found.share(), 0.5);
        assert_eq!(ExactMatch::default().share(), 0.0);
    }
}
