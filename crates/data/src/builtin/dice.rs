//! Draws for the built-in tasks, written out so that an example never changes with a library.

use rand::Rng;

use crate::random::ChaCha8Rng;

/// Draws from a generator.
pub(super) struct Dice<'a>(pub(super) &'a mut ChaCha8Rng);

impl Dice<'_> {
    /// A whole number from 0 to `count - 1`; 0 if `count` is 0. The bias, at most `count / 2³²`,
    /// is far below what anyone could notice.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which is not empty.
    pub(super) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// One of `choices`, each as often as its weight says.
    pub(super) fn weigh<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let total = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for &(weight, choice) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        choices[choices.len() - 1].1
    }
}
