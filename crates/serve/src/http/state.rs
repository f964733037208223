//! What all requests share.

use crate::asking::{Presence, Ticket};
use crate::hearing::Recording;
use crate::keys::Keys;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::picture::Picture;
use crate::queue::Queue;
use crate::refusal::Refusal;
use crate::room::{Hosted, Room};
use crate::runs::Runs;
use crate::work::{Item, Way, length};
use axum::http::{HeaderMap, header};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};

/// Texts up to this many bytes are cut into tokens where they are; longer ones elsewhere, so that nobody else waits.
const SHORT: usize = 8192;

/// What all requests share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

/// The one thing behind all copies of [`App`].
pub(crate) struct Shared {
    pub(crate) room: Room,
    /// Training runs to show, if there are any.
    pub(crate) runs: Option<Arc<Runs>>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) limits: Limits,
    pub(crate) keys: Keys,
    pub(crate) metrics: Arc<Metrics>,
    stopping: AtomicBool,
    /// Images and sounds that are decoded at a time, which take far more memory than they were sent in.
    decoding: Semaphore,
}

impl Deref for App {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(
        room: Room,
        runs: Option<Runs>,
        queue: Arc<Queue>,
        limits: Limits,
        keys: Keys,
        metrics: Arc<Metrics>,
        threads: usize,
    ) -> Self {
        let decoding = Semaphore::new(threads.max(1));
        let stopping = AtomicBool::new(false);
        let runs = runs.map(Arc::new);
        Self(Arc::new(Shared { room, runs, queue, limits, keys, metrics, stopping, decoding }))
    }

    /// Whether requests may still be sent here.
    pub(crate) fn is_ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }

    /// Tells whoever asks that no more requests should be sent here.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Refuses a client without a key, if keys are needed; `given` is one from the body of the request.
    pub(crate) fn admit(&self, headers: &HeaderMap, given: Option<&str>) -> Result<(), Refusal> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        match bearer.or(given) {
            Some(key) if self.keys.contains(key) => Ok(()),
            Some(_) => Err(Refusal::Key("the API key is not known here")),
            None => Err(Refusal::Key("an API key is needed; send it as `Authorization: Bearer KEY`")),
        }
    }

    /// The model of a name.
    pub(crate) fn model(&self, name: Option<&str>) -> Result<Arc<Hosted>, Refusal> {
        self.room.find(name).map_err(|error| match name {
            _ if self.room.is_empty() => {
                Refusal::Missing("there are no models here; the service shows training runs".to_owned())
            }
            Some(_) => Refusal::Missing(error.to_string()),
            None => Refusal::Bad(
                "there are several models; say which with `model`, by its name in /v1/models".into(),
            ),
        })
    }

    /// Puts a request into the queue.
    pub(crate) async fn ask(
        &self,
        hosted: Arc<Hosted>,
        way: Way,
        items: Vec<Item>,
        deadline: Duration,
        watched: bool,
    ) -> Result<Ticket, Refusal> {
        let most_rows = way.most_rows(&hosted.saved, self.limits.batch, self.limits.memory)?;
        let bytes: usize = items.iter().filter_map(Item::text).map(str::len).sum();
        let ticket = Ticket::new(hosted, way, items, most_rows, deadline, watched);
        let asked = ticket.asked.clone();
        let lengths = move || {
            let of_item = |(index, item)| length(&asked.hosted, &asked.way, index, item);
            asked.items.iter().enumerate().map(of_item).collect::<Result<Vec<usize>, Refusal>>()
        };
        let lengths = match bytes <= SHORT {
            true => lengths()?,
            false => tokio::task::spawn_blocking(lengths).await.map_err(|_| Refusal::Broken)??,
        };
        self.queue.push(&ticket.asked, &lengths)?;
        Ok(ticket)
    }

    /// Has a worker do something by itself, unless the client leaves before its turn comes.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let deadline = Instant::now() + self.limits.deadline;
        let presence = Presence::until(deadline);
        let _here = Leaving(presence.clone());
        let (done, result) = oneshot::channel();
        self.queue.push_alone(presence, Box::new(move || drop(done.send(work()))))?;
        match tokio::time::timeout_at(deadline.into(), result).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Refusal::Broken),
            Err(_) => Err(Refusal::Late),
        }
    }

    /// A recording that was sent, ready for a model.
    pub(crate) async fn recording(&self, hosted: &Arc<Hosted>, bytes: Vec<u8>) -> Result<Recording, Refusal> {
        let _turn = self.decoding.acquire().await.map_err(|_| Refusal::Stopping)?;
        let (hosted, limits) = (hosted.clone(), self.limits.clone());
        let decoded = tokio::task::spawn_blocking(move || Recording::decode(&hosted, bytes, &limits));
        decoded.await.map_err(|_| Refusal::Broken)?
    }

    /// An image that was sent, ready for a model.
    pub(crate) async fn image(&self, hosted: &Arc<Hosted>, bytes: Vec<u8>) -> Result<Arc<Picture>, Refusal> {
        let _turn = self.decoding.acquire().await.map_err(|_| Refusal::Stopping)?;
        let (hosted, limits) = (hosted.clone(), self.limits.clone());
        let decoded = tokio::task::spawn_blocking(move || Picture::decode(&hosted, &bytes, &limits));
        decoded.await.map_err(|_| Refusal::Broken)?.map(Arc::new)
    }
}

/// Calls work off when it is dropped.
struct Leaving(Arc<Presence>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}
