//! Figures of the service, as Prometheus reads them.

use crate::queue::Waiting;
use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRequest {
    path: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfModel {
    model: String,
}

/// All figures.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<OfRequest, Counter>,
    request_time: Histogram,
    sources: Family<OfModel, Counter>,
    together: Histogram,
    waited: Histogram,
    computed: Histogram,
    queue: Gauge,
    connections: Gauge,
    replaced: Family<OfModel, Counter>,
}

/// From a tenth of a millisecond to about a minute.
fn times() -> Histogram {
    Histogram::new(exponential_buckets(1e-4, 2.0, 20))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("gatto"),
            requests: Family::default(),
            request_time: times(),
            sources: Family::default(),
            together: Histogram::new(exponential_buckets(1.0, 2.0, 9)),
            waited: times(),
            computed: times(),
            queue: Gauge::default(),
            connections: Gauge::default(),
            replaced: Family::default(),
        };
        let seconds = Unit::Seconds;
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests answered, by path and status", metrics.requests.clone());
        let whole = "Time from a request to the head of its answer";
        registry.register_with_unit("request", whole, seconds.clone(), metrics.request_time.clone());
        registry.register("sources", "Texts and images computed, by model", metrics.sources.clone());
        registry.register("batch_sources", "Texts and images computed together", metrics.together.clone());
        let waited = "Time that texts and images waited to be computed";
        registry.register_with_unit("queue_wait", waited, seconds.clone(), metrics.waited.clone());
        registry.register_with_unit("batch", "Time that a batch took", seconds, metrics.computed.clone());
        registry.register("queue_sources", "Texts and images that wait", metrics.queue.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register(
            "model_replacements",
            "Models that took the place of another",
            metrics.replaced.clone(),
        );
        metrics
    }

    pub(crate) fn answered(&self, path: &str, status: StatusCode, took: Duration) {
        let of = OfRequest { path: path.to_owned(), status: status.as_u16() };
        self.requests.get_or_create(&of).inc();
        self.request_time.observe(took.as_secs_f64());
    }

    /// A batch is about to be computed.
    pub(crate) fn taken(&self, waiting: &[Waiting], now: Instant) {
        self.together.observe(waiting.len() as f64);
        for waiting in waiting {
            self.waited.observe(now.saturating_duration_since(waiting.since).as_secs_f64());
            let model = waiting.asked.hosted.name().to_owned();
            self.sources.get_or_create(&OfModel { model }).inc();
        }
    }

    pub(crate) fn computed(&self, took: Duration) {
        self.computed.observe(took.as_secs_f64());
    }

    pub(crate) fn replaced(&self, model: &str) {
        self.replaced.get_or_create(&OfModel { model: model.to_owned() }).inc();
    }

    /// A connection, for as long as what is returned lives.
    pub(crate) fn connected(&self) -> Connected {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// All figures as text.
    pub(crate) fn text(&self, waiting: usize) -> String {
        self.queue.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry).ok(); // text takes everything
        text
    }
}

/// An open connection.
pub(crate) struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}
