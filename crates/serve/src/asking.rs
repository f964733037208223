//! A request under way: who asked, until when, and what came of it.

use crate::answers::Answer;
use crate::refusal::Refusal;
use crate::room::Hosted;
use crate::work::{Item, Way};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How much of what is being written may lie unread: what is written later says it all again.
const UNREAD: usize = 16;

/// Whether someone still waits.
#[derive(Debug)]
pub(crate) struct Presence {
    left: AtomicBool,
    deadline: Instant,
}

impl Presence {
    pub(crate) fn until(deadline: Instant) -> Arc<Self> {
        Arc::new(Self { left: AtomicBool::new(false), deadline })
    }

    /// Nobody waits any more.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits any more: the client has left, or the deadline is over.
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// What is being written for a source.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// Which of the sources, from 0.
    pub(crate) index: usize,
    /// What there is so far.
    pub(crate) text: String,
}

/// A request that a worker can see.
pub(crate) struct Asked {
    pub(crate) presence: Arc<Presence>,
    /// The model it was admitted for.
    pub(crate) hosted: Arc<Hosted>,
    pub(crate) way: Way,
    pub(crate) items: Vec<Item>,
    /// The most sources of such requests that are computed together.
    pub(crate) most_rows: usize,
    answers: mpsc::UnboundedSender<(usize, Result<Answer, Refusal>)>,
    progress: Option<mpsc::Sender<Progress>>,
}

impl Asked {
    /// The answer to one of its sources.
    pub(crate) fn answer(&self, index: usize, answer: Result<Answer, Refusal>) {
        self.answers.send((index, answer)).ok(); // nobody may wait any more
    }

    /// Whether someone wants to see what is being written.
    pub(crate) fn is_watched(&self) -> bool {
        self.progress.is_some()
    }

    /// What is being written. Who reads too slowly does not see everything.
    pub(crate) fn progress(&self, progress: Progress) {
        if let Some(watching) = &self.progress {
            watching.try_send(progress).ok();
        }
    }
}

/// The side of the client: when it is dropped, the request is called off.
pub(crate) struct Ticket {
    pub(crate) asked: Arc<Asked>,
    answers: mpsc::UnboundedReceiver<(usize, Result<Answer, Refusal>)>,
    progress: mpsc::Receiver<Progress>,
    waiting: usize,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.asked.presence.leave();
    }
}

/// What happens to a request.
pub(crate) enum Event {
    /// Something was written.
    Written(Progress),
    /// A source has its answer.
    Answered(usize, Answer),
}

impl Ticket {
    /// A request of a model, and who waits for it.
    pub(crate) fn new(
        hosted: Arc<Hosted>,
        way: Way,
        items: Vec<Item>,
        most_rows: usize,
        deadline: Duration,
        watched: bool,
    ) -> Self {
        let (answering, answers) = mpsc::unbounded_channel(); // as many as there are sources
        let (writing, progress) = mpsc::channel(UNREAD);
        let waiting = items.len();
        let asked = Asked {
            presence: Presence::until(Instant::now() + deadline),
            hosted,
            way,
            items,
            most_rows,
            answers: answering,
            progress: watched.then_some(writing),
        };
        Self { asked: Arc::new(asked), answers, progress, waiting }
    }

    /// The next thing that happens; nothing once all sources are answered.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, Refusal>> {
        if self.waiting == 0 {
            return None;
        }
        let deadline = tokio::time::Instant::from_std(self.asked.presence.deadline);
        let answered = tokio::select! {
            biased;
            Some(progress) = self.progress.recv() => return Some(Ok(Event::Written(progress))),
            answered = self.answers.recv() => answered,
            () = tokio::time::sleep_until(deadline) => return self.end(Refusal::Late),
        };
        match answered {
            Some((index, Ok(answer))) => {
                self.waiting -= 1;
                Some(Ok(Event::Answered(index, answer)))
            }
            Some((_, Err(refusal))) => self.end(refusal),
            None => self.end(Refusal::Broken),
        }
    }

    fn end(&mut self, refusal: Refusal) -> Option<Result<Event, Refusal>> {
        self.waiting = 0;
        Some(Err(refusal))
    }

    /// The answers to all sources, in their order.
    pub(crate) async fn all(mut self) -> Result<Vec<Answer>, Refusal> {
        let mut found: Vec<Option<Answer>> = vec![None; self.waiting];
        while let Some(event) = self.next().await {
            if let Event::Answered(index, answer) = event? {
                found[index] = Some(answer);
            }
        }
        found.into_iter().collect::<Option<Vec<_>>>().ok_or(Refusal::Broken)
    }
}
