//! How much is taken on.

use crate::error::ServeError;
use std::time::Duration;

/// Bounds on what clients may ask for, and on how long anything may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The most bytes of a request.
    pub body: usize,
    /// The most texts or images of a request.
    pub texts: usize,
    /// The most characters of a text.
    pub characters: usize,
    /// The widest beam; that of a model's own configuration is always allowed.
    pub beam: usize,
    /// The most outputs for a text.
    pub n_best: usize,
    /// The most tokens that are written for a text.
    pub max_length: usize,
    /// The most pixels of an image.
    pub pixels: u64,
    /// The most seconds of a recording.
    pub seconds: f64,
    /// The most cells of all matrices of a trace.
    pub cells: usize,
    /// The most texts that wait; what comes then is refused.
    pub queue: usize,
    /// The most texts that are computed together.
    pub batch: usize,
    /// The most bytes that a search of a worker may need.
    pub memory: u64,
    /// How long a text waits for company.
    pub gather: Duration,
    /// How long a request may take from its arrival to its answer.
    pub deadline: Duration,
    /// How long a client may take to send a request.
    pub sending: Duration,
    /// The most connections at a time; others wait to be accepted.
    pub connections: usize,
    /// How long requests under way may take once the service is told to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            texts: 128,
            characters: 5000,
            beam: 16,
            n_best: 16,
            max_length: 512,
            pixels: 16_000_000,
            seconds: 300.0,
            cells: 2_000_000,
            queue: 1024,
            batch: 64,
            memory: 1 << 30,
            gather: Duration::from_millis(2),
            deadline: Duration::from_secs(30),
            sending: Duration::from_secs(10),
            connections: 1024,
            grace: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Refuses bounds that nothing fits into.
    pub fn check(&self) -> Result<(), ServeError> {
        let least = [
            ("body", self.body),
            ("texts", self.texts),
            ("characters", self.characters),
            ("beam", self.beam),
            ("n-best", self.n_best),
            ("max-length", self.max_length),
            ("batch", self.batch),
            ("connections", self.connections),
        ];
        if let Some((name, _)) = least.into_iter().find(|&(_, value)| value == 0) {
            return Err(ServeError::Limit {
                name,
                message: "is 0, and nothing fits into that; write 1 or more".into(),
            });
        }
        if self.queue < self.texts {
            let message = format!(
                "is {}, and a request may have {} texts; write as many at least, or lower the texts of a request",
                self.queue, self.texts
            );
            return Err(ServeError::Limit { name: "queue", message });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_must_leave_room() {
        assert!(Limits::default().check().is_ok());
        let told = |limits: Limits| limits.check().unwrap_err().to_string();
        assert!(told(Limits { beam: 0, ..Limits::default() }).contains("beam is 0"));
        let narrow = told(Limits { queue: 3, texts: 4, ..Limits::default() });
        assert!(narrow.contains("queue is 3, and a request may have 4 texts"), "{narrow}");
    }
}
