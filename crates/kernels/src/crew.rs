//! Several independent pieces of work side by side, each on one thread.
//!
//! Splitting every operation over all threads has them meet thousands of times a second, and each time the
//! fastest waits for the slowest. Where there are as many independent pieces of work as threads, it is
//! faster to give each thread a whole one: the operations inside find a pool of one thread and split nothing.
//!
//! Hands that have done their work wait for more: new threads would come without the memory that their work had warmed.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The most hands that wait for work.
const MOST_WAITING: usize = 64;

/// Hands without work, one thread each.
static WAITING: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// How many threads take on whole pieces of work.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    size: usize,
}

impl Crew {
    /// As many hands as the current pool has threads; none where that is one.
    pub fn of_current_pool() -> Self {
        Self::new(rayon::current_num_threads())
    }

    /// So many hands.
    pub fn new(threads: usize) -> Self {
        Self { size: threads.max(1) }
    }

    /// Nobody: all work is done where it is asked for, one piece after the other.
    pub fn none() -> Self {
        Self::new(1)
    }

    /// How many pieces of work are done at the same time.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What `work` makes of each item, in the order of the items. Which hand does which is left to chance,
    /// and must make no difference. Where no thread can be had, all is done by the calling one.
    pub fn each<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        if self.size < 2 || items.len() < 2 {
            return items.into_iter().map(work).collect();
        }
        let hands = Hands::take(self.size.min(items.len()));
        let waiting = Mutex::new(items.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let next = || locked(&waiting).next();
        let busy = || {
            while let Some((place, item)) = next() {
                let result = work(item);
                locked(&done).push((place, result));
            }
        };
        match &hands.0[..] {
            [] => busy(),
            // A thread of a pool would take on other work of that pool while it waits, and so on, with no end to it.
            hands if rayon::current_thread_index().is_some() => thread::scope(|scope| {
                match thread::Builder::new()
                    .spawn_scoped(scope, || on_all(hands, &busy))
                    .map(|all| all.join())
                {
                    Ok(Ok(())) => {}
                    Ok(Err(failure)) => resume_unwind(failure),
                    Err(_) => busy(),
                }
            }),
            hands => on_all(hands, &busy),
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Has the same done by all hands, and waits for them.
fn on_all(hands: &[ThreadPool], work: &(impl Fn() + Sync)) {
    if let Some((hand, others)) = hands.split_first() {
        hand.in_place_scope(|scope| {
            scope.spawn(|_| work());
            on_all(others, work);
        });
    }
}

/// Hands that are at work, and wait for more when that is done.
struct Hands(Vec<ThreadPool>);

impl Hands {
    /// So many of those that wait, and new ones where these are too few; fewer where there are no more threads.
    fn take(count: usize) -> Self {
        let mut hands = {
            let mut waiting = locked(&WAITING);
            let kept = waiting.len().saturating_sub(count);
            waiting.split_off(kept)
        };
        let new = || ThreadPoolBuilder::new().thread_name(|_| "hand".to_owned()).num_threads(1).build().ok();
        hands.extend((hands.len()..count).map_while(|_| new()));
        Self(hands)
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        let mut waiting = locked(&WAITING);
        let room = MOST_WAITING.saturating_sub(waiting.len()).min(self.0.len());
        waiting.extend(self.0.drain(..room));
    }
}

/// The lock, also where a panic has left it: what it guards is whole at all times.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, and on one of a pool, as everything is that a command does.
    fn in_and_outside_of_a_pool(work: fn()) {
        work();
        rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool").install(work);
    }

    #[test]
    fn results_come_in_order_from_threads_that_share_nothing() {
        in_and_outside_of_a_pool(results_come_in_order);
    }

    fn results_come_in_order() {
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
    fn hands_wait_for_more_work() {
        let of = |crew: Crew| {
            let together = std::sync::Barrier::new(2);
            crew.each(vec![(), ()], |()| (together.wait(), std::thread::current().id()).1)
        };
        // Other tests take hands too, but of a hundred times some get those that were there before.
        let all: Vec<_> = (0..100).flat_map(|_| of(Crew::new(2))).collect();
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert!(different.len() < all.len(), "{} threads", different.len());
    }

    #[test]
    fn a_piece_of_work_that_fails_fails_for_all_and_hands_go_on() {
        in_and_outside_of_a_pool(|| {
            for _ in 0..3 {
                let failing = || Crew::new(2).each(vec![1, 2, 3, 4], |i| assert!(i != 2, "the second"));
                let failure = std::panic::catch_unwind(failing).expect_err("a failure");
                assert_eq!(failure.downcast_ref::<&str>(), Some(&"the second"));
                assert_eq!(Crew::new(2).each(vec![1, 2, 3], |i| i * i), [1, 4, 9]);
            }
        });
    }

    #[test]
    fn all_hands_are_at_work_at_the_same_time() {
        let together = std::sync::Barrier::new(3);
        assert_eq!(Crew::new(3).each(vec![1, 2, 3], |i| (together.wait(), i).1), [1, 2, 3]);
    }
}
