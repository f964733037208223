//! Recordings whose lengths are known before the first is decoded.

use std::sync::Arc;

use super::set::{SoundExample, SoundSet, Transcript};
use crate::DataError;
use crate::skipped::Skipped;

/// A set whose headers were read once: none of its recordings is longer than it may be.
pub struct Measured {
    set: Arc<dyn SoundSet>,
    /// The numbers of those that are left, and how long they are, if that is told.
    left: Vec<(u64, Option<f64>)>,
}

impl Measured {
    /// Reads the header of every recording. One that is longer than `most` seconds, or that has none, is an error, or is
    /// left out and counted if there is a place to count it.
    ///
    /// # Errors
    /// What is wrong with a recording, with its name.
    pub fn new(
        set: Arc<dyn SoundSet>,
        most: f64,
        mut skipped: Option<&mut Skipped>,
    ) -> Result<Self, DataError> {
        let mut left = Vec::new();
        for index in 0..set.len() {
            let told = set.seconds(index).and_then(|told| match told {
                // A length may be a guess: the decoder knows better, and stops where it is too much.
                Some(seconds) if seconds > most => set.get(index).map(|_| told),
                _ => Ok(told),
            });
            match (told, &mut skipped) {
                (Ok(told), _) => left.push((index, told)),
                (Err(error), Some(skipped)) => skipped.pass(error)?,
                (Err(error), None) => return Err(error),
            }
        }
        Ok(Self { set, left })
    }

    fn of(&self, index: u64) -> u64 {
        self.left[index as usize].0
    }
}

impl SoundSet for Measured {
    fn len(&self) -> u64 {
        self.left.len() as u64
    }

    fn name(&self, index: u64) -> String {
        self.set.name(self.of(index))
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        self.set.said(self.of(index))
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        self.set.get(self.of(index))
    }

    fn identity(&self, index: u64) -> Result<Option<String>, DataError> {
        self.set.identity(self.of(index))
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        Ok(self.left[index as usize].1)
    }
}
