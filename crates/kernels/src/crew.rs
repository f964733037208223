//! Several independent pieces of work side by side, each on one thread.
//!
//! Splitting every operation over all threads has them meet thousands of times a second, and each time the
//! fastest waits for the slowest. Where there are as many independent pieces of work as threads, it is
//! faster to give each thread a whole one: the operations inside find a pool of one thread and split nothing.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Threads that take on whole pieces of work.
#[derive(Debug, Default)]
pub struct Crew {
    /// One thread each.
    hands: Vec<ThreadPool>,
}

impl Crew {
    /// As many hands as the current pool has threads; none where that is one, or where no thread can
    /// be had.
    pub fn of_current_pool() -> Self {
        Self::new(rayon::current_num_threads())
    }

    /// So many hands.
    pub fn new(threads: usize) -> Self {
        let hand = |number| {
            let named = ThreadPoolBuilder::new().thread_name(move |_| format!("hand {number}"));
            named.num_threads(1).build()
        };
        let hands = if threads < 2 { Ok(Vec::new()) } else { (0..threads).map(hand).collect() };
        Self { hands: hands.unwrap_or_default() }
    }

    /// Nobody: all work is done where it is asked for, one piece after the other.
    pub fn none() -> Self {
        Self::default()
    }

    /// How many pieces of work are done at the same time.
    pub fn size(&self) -> usize {
        self.hands.len().max(1)
    }

    /// What `work` makes of each item, in the order of the items. Which hand does which is left to chance,
    /// and must make no difference.
    pub fn each<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        if self.hands.is_empty() || items.len() < 2 {
            return items.into_iter().map(work).collect();
        }
        let waiting = Mutex::new(items.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let next = || locked(&waiting).next();
        let busy = || {
            while let Some((place, item)) = next() {
                let result = work(item);
                locked(&done).push((place, result));
            }
        };
        thread::scope(|scope| {
            for hand in &self.hands {
                scope.spawn(|| hand.install(busy));
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// The lock, also where a panic, which ends the whole anyway, has left it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_from_threads_that_share_nothing() {
        for threads in [0, 1, 2, 5] {
            let crew = Crew::new(threads);
            assert_eq!(crew.size(), threads.max(1));
            let inside = crew.each((0..100).collect::<Vec<u64>>(), |i| (i * i, rayon::current_num_threads()));
            let expected = if threads < 2 { rayon::current_num_threads() } else { 1 };
            assert_eq!(inside, (0..100).map(|i| (i * i, expected)).collect::<Vec<_>>());
        }
        assert!(Crew::new(3).each(Vec::<u8>::new(), |i| i).is_empty());
    }

    #[test]
    fn all_hands_are_at_work_at_the_same_time() {
        let together = std::sync::Barrier::new(3);
        assert_eq!(Crew::new(3).each(vec![1, 2, 3], |i| (together.wait(), i).1), [1, 2, 3]);
    }
}
