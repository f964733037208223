//! Copying, reversing and sorting letters: the tasks on which a model shows that it can remember.

use super::dice::Dice;
use super::{Error, LengthRange, Task};
use crate::Example;
use crate::random::ChaCha8Rng;

/// What becomes of the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `c a q` stays `c a q`.
    Copy,
    /// `c a q` becomes `q a c`.
    Reverse,
    /// `c a q` becomes `a c q`.
    Sort,
}

/// Space-separated letters from a to z, put into some order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbols {
    order: Order,
    lengths: LengthRange,
}

impl Symbols {
    /// A task over sequences of these lengths.
    ///
    /// # Errors
    /// If not 1 ≤ `min` ≤ `max` ≤ [`LengthRange::LONGEST`].
    pub fn new(order: Order, lengths: LengthRange) -> Result<Self, Error> {
        Ok(Self { order, lengths: lengths.validated()? })
    }
}

impl Task for Symbols {
    fn name(&self) -> &'static str {
        match self.order {
            Order::Copy => "copy",
            Order::Reverse => "reverse",
            Order::Sort => "sort",
        }
    }

    fn pair(&self, rng: &mut ChaCha8Rng) -> Example {
        let mut dice = Dice(rng);
        let LengthRange { min, max } = self.lengths;
        let length = min + dice.below(max - min + 1);
        let letters: Vec<u8> = (0..length).map(|_| b'a' + dice.below(26) as u8).collect();
        let mut ordered = letters.clone();
        match self.order {
            Order::Copy => {}
            Order::Reverse => ordered.reverse(),
            Order::Sort => ordered.sort_unstable(),
        }
        Example::new(spaced(&letters), spaced(&ordered))
    }
}

fn spaced(letters: &[u8]) -> String {
    let mut text = String::with_capacity(2 * letters.len());
    for &letter in letters {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push(letter.into());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    #[test]
    fn letters_come_in_the_order_asked_for() {
        let lengths = LengthRange { min: 2, max: 9 };
        for order in [Order::Copy, Order::Reverse, Order::Sort] {
            let task = Symbols::new(order, lengths).unwrap();
            let mut seen = [0usize; 10];
            for stream in 0..2_000 {
                let example = task.pair(&mut generator(7, stream));
                let mut letters: Vec<&str> = example.source.split(' ').collect();
                seen[letters.len()] += 1;
                match order {
                    Order::Copy => {}
                    Order::Reverse => letters.reverse(),
                    Order::Sort => letters.sort_unstable(),
                }
                assert_eq!(example.target, letters.join(" "));
            }
            assert_eq!(seen[..2], [0, 0]);
            assert!(seen[2..].iter().all(|&count| count > 150), "{seen:?}");
        }
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for (min, max) in [(0, 3), (4, 3), (1, 1001)] {
            assert!(Symbols::new(Order::Copy, LengthRange { min, max }).is_err());
        }
    }
}
