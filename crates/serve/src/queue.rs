//! Those that wait to be computed, the longest waiting first.
//!
//! Whoever takes from the queue gets the entry that has waited longest, and with it those that can be computed
//! together with it without padding: the same asked of the same model, with a source of the same length. While
//! there are fewer than fit, and the first has waited for less than the time to gather, more may come.

use crate::asking::{Asked, Presence};
use crate::refusal::Refusal;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A source that waits.
pub(crate) struct Waiting {
    pub(crate) asked: Arc<Asked>,
    /// Which of the sources of the request.
    pub(crate) index: usize,
    /// Its tokens.
    pub(crate) length: usize,
    pub(crate) since: Instant,
}

/// Work that is done by itself.
pub(crate) struct Alone {
    presence: Arc<Presence>,
    since: Instant,
    pub(crate) work: Box<dyn FnOnce() + Send>,
}

enum Entry {
    Source(Waiting),
    Alone(Alone),
}

/// What a worker does next.
pub(crate) enum Turn {
    /// Sources that are computed together.
    Together(Vec<Waiting>),
    /// Work by itself.
    Alone(Alone),
}

impl Entry {
    fn is_over(&self) -> bool {
        match self {
            Self::Source(waiting) => waiting.asked.presence.is_over(),
            Self::Alone(alone) => alone.presence.is_over(),
        }
    }
}

impl Waiting {
    /// Whether both can be computed together.
    fn goes_with(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.asked, &other.asked);
        self.length == other.length
            && (Arc::ptr_eq(ours, theirs)
                || (Arc::ptr_eq(&ours.hosted, &theirs.hosted) && ours.way == theirs.way))
    }
}

/// The queue.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// The most entries.
    room: usize,
    /// How long the first may wait for company.
    gather: Duration,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(room: usize, gather: Duration) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), room, gather }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// All sources of a request, whose tokens are `lengths`, or none of them if there is not room for all.
    pub(crate) fn push(&self, asked: &Arc<Asked>, lengths: &[usize]) -> Result<(), Refusal> {
        let since = Instant::now();
        let entry = |(index, &length): (usize, &usize)| {
            Entry::Source(Waiting { asked: asked.clone(), index, length, since })
        };
        self.admit(lengths.iter().enumerate().map(entry))
    }

    /// Work that is done by itself.
    pub(crate) fn push_alone(
        &self,
        presence: Arc<Presence>,
        work: Box<dyn FnOnce() + Send>,
    ) -> Result<(), Refusal> {
        self.admit([Entry::Alone(Alone { presence, since: Instant::now(), work })].into_iter())
    }

    fn admit(&self, new: impl ExactSizeIterator<Item = Entry>) -> Result<(), Refusal> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refusal::Stopping);
        }
        if state.entries.len() + new.len() > self.room {
            state.entries.retain(|entry| !entry.is_over()); // those who have left take no room
        }
        if state.entries.len() + new.len() > self.room {
            return Err(Refusal::Full);
        }
        state.entries.extend(new);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Nothing more is taken on; what waits is still given out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// What to do next; waits for it, and ends once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<Turn> {
        let mut state = self.lock();
        loop {
            while state.entries.front().is_some_and(Entry::is_over) {
                state.entries.pop_front();
            }
            let (first, since) = match state.entries.front() {
                None if state.closed => return None,
                None => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                Some(Entry::Alone(alone)) => (None, alone.since),
                Some(Entry::Source(first)) => (Some(first), first.since),
            };
            let Some(first) = first else {
                return state.entries.pop_front().and_then(|entry| match entry {
                    Entry::Alone(alone) => Some(Turn::Alone(alone)),
                    Entry::Source(_) => None,
                });
            };
            let most = first.asked.most_rows.max(1);
            let alike = |entry: &&Entry| matches!(entry, Entry::Source(other) if other.goes_with(first));
            let full = state.entries.iter().filter(alike).take(most).count() == most;
            let patience = self.gather.saturating_sub(since.elapsed());
            if full || state.closed || patience.is_zero() {
                return Some(Turn::Together(gathered(&mut state.entries, most)));
            }
            let waited = self.changed.wait_timeout(state, patience);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The first entry and those that go with it, `most` at most; the others keep their order.
fn gathered(entries: &mut VecDeque<Entry>, most: usize) -> Vec<Waiting> {
    let mut taken: Vec<Waiting> = Vec::new();
    let mut left = VecDeque::with_capacity(entries.len());
    for entry in entries.drain(..) {
        match entry {
            Entry::Source(waiting)
                if taken.len() < most && taken.first().is_none_or(|first| waiting.goes_with(first)) =>
            {
                taken.push(waiting);
            }
            other => left.push_back(other),
        }
    }
    *entries = left;
    taken.retain(|waiting| !waiting.asked.presence.is_over());
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Someone who waits for longer than any test.
    fn someone() -> Arc<Presence> {
        Presence::until(Instant::now() + Duration::from_secs(3600))
    }

    /// Work that tells its name.
    fn named(name: &'static str, told: &mpsc::Sender<&'static str>) -> Box<dyn FnOnce() + Send> {
        let told = told.clone();
        Box::new(move || told.send(name).expect("a listener"))
    }

    /// Does all that waits in a closed queue.
    fn finish(queue: &Queue) {
        queue.close();
        while let Some(turn) = queue.take() {
            match turn {
                Turn::Alone(alone) => (alone.work)(),
                Turn::Together(_) => panic!("there are no sources"),
            }
        }
    }

    #[test]
    fn who_has_waited_longest_comes_first() {
        let queue = Queue::new(10, Duration::from_secs(3600));
        let (telling, told) = mpsc::channel();
        for name in ["first", "second", "third"] {
            queue.push_alone(someone(), named(name, &telling)).expect("room");
        }
        assert_eq!(queue.len(), 3);
        finish(&queue);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["first", "second", "third"]);
        assert_eq!(queue.push_alone(someone(), named("late", &telling)), Err(Refusal::Stopping));
    }

    #[test]
    fn who_has_left_takes_neither_room_nor_time() {
        let queue = Queue::new(2, Duration::ZERO);
        let (telling, told) = mpsc::channel();
        let leaving = someone();
        queue.push_alone(leaving.clone(), named("left", &telling)).expect("room");
        queue.push_alone(Presence::until(Instant::now()), named("over", &telling)).expect("room");
        leaving.leave();
        queue.push_alone(someone(), named("here", &telling)).expect("room, as nobody else waits any more");
        queue.push_alone(someone(), named("there", &telling)).expect("room");
        assert_eq!(queue.push_alone(someone(), named("too many", &telling)), Err(Refusal::Full));
        finish(&queue);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["here", "there"]);
    }
}
