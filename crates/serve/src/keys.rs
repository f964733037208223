//! API keys. They are kept and compared as SHA-256 sums, all bytes of all of them every time, so that the time that a
//! comparison takes tells nothing of a key.

use crate::error::ServeError;
use sha2::{Digest, Sha256};
use std::fmt;

/// The shortest key that is worth having.
const SHORTEST: usize = 16;
/// The longest key.
const LONGEST: usize = 256;

/// The keys that clients may use; with none, everyone may ask.
#[derive(Clone, Default)]
pub struct Keys {
    sums: Vec<[u8; 32]>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys", self.sums.len())
    }
}

impl Keys {
    /// Keys as they are sent.
    pub fn new<S: AsRef<str>>(keys: impl IntoIterator<Item = S>) -> Result<Self, ServeError> {
        let sum = |key: S| {
            let key = key.as_ref();
            let printable = key.bytes().all(|byte| byte.is_ascii_graphic());
            match (SHORTEST..=LONGEST).contains(&key.len()) && printable {
                true => Ok(Sha256::digest(key).into()),
                false => Err(ServeError::Key { length: key.chars().count() }),
            }
        };
        Ok(Self { sums: keys.into_iter().map(sum).collect::<Result<_, _>>()? })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Whether a key is one of these.
    pub(crate) fn contains(&self, key: &str) -> bool {
        let sum: [u8; 32] = Sha256::digest(key).into();
        self.sums.iter().fold(false, |found, known| found | same(known, &sum))
    }
}

/// Whether two sums are the same, in a time that does not depend on where they differ.
fn same(left: &[u8; 32], right: &[u8; 32]) -> bool {
    let differences = left.iter().zip(right).fold(0u8, |all, (left, right)| all | (left ^ right));
    std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_whole_or_not_at_all() {
        let keys = Keys::new(["0123456789abcdef", "fedcba9876543210"]).unwrap();
        assert!(keys.contains("0123456789abcdef") && keys.contains("fedcba9876543210"));
        for other in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef "] {
            assert!(!keys.contains(other), "{other}");
        }
        assert!(!Keys::default().contains(""));
        assert_eq!(format!("{keys:?}"), "2 keys", "a log has no keys");
    }

    #[test]
    fn keys_that_nobody_could_send_are_refused() {
        for bad in ["short", "0123456789 abcdef", "0123456789abcdé0", &"x".repeat(257)] {
            assert!(Keys::new([bad]).is_err(), "{bad}");
        }
    }
}
