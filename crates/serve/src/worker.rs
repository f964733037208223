//! Threads that compute, each a whole batch by itself.

use crate::asking::Progress;
use crate::error::ServeError;
use crate::metrics::Metrics;
use crate::queue::{Queue, Turn, Waiting};
use crate::refusal::Refusal;
use crate::work::{Item, Way, answers};
use gatto_model::{ModelError, Saved};
use gatto_search::Follower;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Starts so many workers; they end when the queue is closed and empty.
pub(crate) fn start(
    count: usize,
    queue: &Arc<Queue>,
    metrics: &Arc<Metrics>,
) -> Result<Vec<JoinHandle<()>>, ServeError> {
    let worker = |number: usize| {
        let (queue, metrics) = (queue.clone(), metrics.clone());
        // Operations inside find a pool of one thread and split nothing: all threads have work of their own.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let work = move || pool.install(|| work(&queue, &metrics));
        Ok(thread::Builder::new().name(format!("worker {number}")).spawn(work)?)
    };
    (0..count.max(1)).map(worker).collect()
}

fn work(queue: &Queue, metrics: &Metrics) {
    while let Some(turn) = queue.take() {
        let began = Instant::now();
        match turn {
            Turn::Together(waiting) if waiting.is_empty() => continue,
            Turn::Together(waiting) => {
                metrics.taken(&waiting, began);
                compute(waiting);
            }
            Turn::Alone(alone) => {
                if catch_unwind(AssertUnwindSafe(alone.work)).is_err() {
                    tracing::error!("a worker failed");
                }
            }
        }
        metrics.computed(began.elapsed());
    }
}

/// Follows what is written for those that wait.
struct Watch<'a>(&'a [Waiting]);

impl Follower for Watch<'_> {
    fn follow(&self, sentence: usize, tokens: &[u32]) -> bool {
        let Some(Waiting { asked, index, .. }) = self.0.get(sentence) else { return true };
        if asked.is_watched() {
            let text = so_far(&asked.hosted.saved, &asked.way, &asked.items[*index], tokens);
            asked.progress(Progress { index: *index, text });
        }
        !asked.presence.is_over()
    }
}

/// The text of what is written so far. A language model has the text that it goes on with among its tokens.
fn so_far(saved: &Saved, way: &Way, item: &Item, tokens: &[u32]) -> String {
    let tokenizer = &saved.tokens.target;
    match (way, item.text()) {
        (Way::Continued { .. }, Some(text)) => {
            let prompt = tokenizer.encode(text);
            let written = tokens.get(prompt.len()..).unwrap_or_default();
            saved.joined(text, &prompt, written)
        }
        _ => tokenizer.decode(tokens),
    }
}

/// Computes those that wait together. If the whole fails, it is one of them that cannot be answered, and which one is
/// found by asking each by itself.
fn compute(waiting: Vec<Waiting>) {
    match answered(&waiting) {
        Ok(answers) if answers.len() == waiting.len() => {
            for (waiting, answer) in waiting.iter().zip(answers) {
                // What was called off is only the beginning of an answer.
                let over = waiting.asked.presence.is_over();
                waiting.asked.answer(waiting.index, if over { Err(Refusal::Late) } else { Ok(answer) });
            }
        }
        Ok(_) => refuse(&waiting, &Refusal::Broken),
        Err(refusal) if waiting.len() == 1 => refuse(&waiting, &refusal),
        Err(_) => waiting.into_iter().for_each(|alone| compute(vec![alone])),
    }
}

fn refuse(waiting: &[Waiting], refusal: &Refusal) {
    waiting.iter().for_each(|waiting| waiting.asked.answer(waiting.index, Err(refusal.clone())));
}

/// The answers, or why there are none. A fault of ours must not take the worker with it.
fn answered(waiting: &[Waiting]) -> Result<Vec<crate::answers::Answer>, Refusal> {
    let Some(first) = waiting.first() else { return Ok(Vec::new()) };
    let (saved, way) = (&first.asked.hosted.saved, &first.asked.way);
    let items: Vec<&Item> = waiting.iter().map(|waiting| &waiting.asked.items[waiting.index]).collect();
    let found = catch_unwind(AssertUnwindSafe(|| answers(saved, way, &items, &Watch(waiting))));
    match found {
        Ok(found) => found.map_err(|error| numbered(error, waiting)),
        Err(_) => {
            tracing::error!(model = first.asked.hosted.name(), "a prediction failed");
            Err(Refusal::Broken)
        }
    }
}

/// The error with the number that the source has in its own request.
fn numbered(error: ModelError, waiting: &[Waiting]) -> Refusal {
    let own = |index: usize| waiting.get(index).map_or(index, |waiting| waiting.index);
    match error {
        ModelError::TooLong { index, count, limit } => {
            ModelError::TooLong { index: own(index), count, limit }
        }
        ModelError::BeyondPositions { index, count, limit } => {
            ModelError::BeyondPositions { index: own(index), count, limit }
        }
        ModelError::Constraints { index, problem } => ModelError::Constraints { index: own(index), problem },
        other => other,
    }
    .into()
}
