//! Work that is done ahead of who needs it, on threads of its own.
//!
//! Worker k of n does the jobs k, k + n, k + 2n, … and puts each result into its own short queue; who asks takes from the
//! queues in turn. So results come in order, the same whatever the number of threads, and no queue holds more than it
//! may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use crate::DataError;

/// Why there are no more results.
#[derive(Debug, thiserror::Error)]
pub enum AheadError {
    /// A thread came to an end by itself.
    #[error("the reading of data has stopped unexpectedly; this is a fault of the program: please report it")]
    Stopped,
    /// A thread cannot be started.
    #[error("no thread can be started to read data: {0}; close other programs")]
    NoThread(std::io::Error),
}

/// How much is done ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadSettings {
    /// How many threads work, at least one.
    pub threads: usize,
    /// How many results of each thread may wait to be taken, at least one.
    pub waiting: usize,
}

impl Default for AheadSettings {
    fn default() -> Self {
        Self { threads: 1, waiting: 64 }
    }
}

/// The results of jobs 0, 1, 2, …, in order. An error stands in the place of its job, and the jobs after it go on.
///
/// Dropping it ends the threads, after the job that each is at.
pub struct Ahead<T> {
    /// One for each thread.
    queues: Vec<Receiver<Result<T, DataError>>>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    next: u64,
    count: u64,
}

impl<T: Send + 'static> Ahead<T> {
    /// Does jobs 0 to `count` - 1 ahead.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(
        count: u64,
        settings: AheadSettings,
        work: impl Fn(u64) -> Result<T, DataError> + Send + Sync + 'static,
    ) -> Result<Self, DataError> {
        // No more threads than jobs.
        let threads = settings.threads.clamp(1, usize::try_from(count.max(1)).unwrap_or(usize::MAX));
        let work = Arc::new(work);
        let stop = Arc::new(AtomicBool::new(false));
        let mut ahead =
            Self { queues: Vec::new(), threads: Vec::new(), stop: Arc::clone(&stop), next: 0, count };
        for first in 0..threads as u64 {
            let (sender, receiver) = sync_channel(settings.waiting.max(1));
            let (work, stop) = (Arc::clone(&work), Arc::clone(&stop));
            let jobs = move || {
                for job in (first..count).step_by(threads) {
                    // A queue that nobody takes from any more refuses.
                    if stop.load(Ordering::Relaxed) || sender.send(work(job)).is_err() {
                        break;
                    }
                }
            };
            let started = std::thread::Builder::new().name(format!("ahead-{first}")).spawn(jobs);
            // On an error, what was started is ended by the drop.
            ahead.threads.push(started.map_err(AheadError::NoThread)?);
            ahead.queues.push(receiver);
        }
        Ok(ahead)
    }
}

impl<T> Iterator for Ahead<T> {
    type Item = Result<T, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.count {
            return None;
        }
        let queue = &self.queues[(self.next % self.queues.len() as u64) as usize];
        self.next += 1;
        Some(queue.recv().unwrap_or_else(|_| {
            // The thread is gone before its work was done: it panicked. There is nothing to wait for.
            self.next = self.count;
            Err(AheadError::Stopped.into())
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // After a thread that ended by itself there are fewer.
        (0, usize::try_from(self.count - self.next).ok())
    }
}

impl<T> Drop for Ahead<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Who waits to put a result into a queue is woken by its end.
        self.queues.clear();
        for thread in self.threads.drain(..) {
            // A panic was told of already, or its result is not wanted.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::time::{Duration, Instant};

    const SETTINGS: [AheadSettings; 4] = [
        AheadSettings { threads: 1, waiting: 1 },
        AheadSettings { threads: 1, waiting: 100 },
        AheadSettings { threads: 3, waiting: 2 },
        AheadSettings { threads: 0, waiting: 0 },
    ];

    #[test]
    fn results_come_in_order_and_errors_in_their_place() {
        for settings in SETTINGS {
            for count in [0, 1, 2, 50] {
                let work = |job| match job % 7 {
                    3 => Err(DataError::NoText),
                    _ => {
                        // Later jobs are sometimes done before earlier ones.
                        std::thread::sleep(Duration::from_micros(job * 37 % 300));
                        Ok(job)
                    }
                };
                let results: Vec<_> = Ahead::new(count, settings, work).unwrap().collect();
                assert_eq!(results.len() as u64, count);
                for (job, result) in (0..).zip(results) {
                    match job % 7 {
                        3 => assert!(matches!(result, Err(DataError::NoText))),
                        _ => assert_eq!(result.unwrap(), job),
                    }
                }
            }
        }
    }

    #[test]
    fn no_more_is_done_ahead_than_told() {
        let done = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&done);
        let settings = AheadSettings { threads: 2, waiting: 3 };
        let work = move |job| {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(job)
        };
        let mut ahead = Ahead::new(1_000, settings, work).unwrap();
        assert_eq!(ahead.next().unwrap().unwrap(), 0);
        std::thread::sleep(Duration::from_millis(100));
        // Of each thread what waits, and one that finds no room; and what was taken.
        assert!(done.load(Ordering::SeqCst) <= 2 * (3 + 1) + 1);
        assert!(done.load(Ordering::SeqCst) >= 4, "something is done ahead");
    }

    #[test]
    fn dropping_ends_the_threads_at_once() {
        for settings in SETTINGS {
            let alive = Arc::new(());
            let held = Arc::clone(&alive);
            let work = move |job| {
                let _held = &held;
                std::thread::sleep(Duration::from_millis(1));
                Ok(job)
            };
            let mut ahead = Ahead::new(1_000_000, settings, work).unwrap();
            assert_eq!(ahead.next().unwrap().unwrap(), 0);
            let before = Instant::now();
            drop(ahead);
            assert!(before.elapsed() < Duration::from_secs(5));
            assert_eq!(Arc::strong_count(&alive), 1, "the threads have let go of the work");
        }
    }

    #[test]
    fn a_panic_is_an_error_and_the_end() {
        let settings = AheadSettings { threads: 2, waiting: 4 };
        let work = |job| {
            assert_ne!(job, 5, "on purpose");
            Ok(job)
        };
        let results: Vec<_> = Ahead::new(100, settings, work).unwrap().collect();
        assert_eq!(results.len(), 6);
        let error = results.last().unwrap().as_ref().unwrap_err().to_string();
        assert!(error.contains("stopped unexpectedly"), "{error}");
    }
}
