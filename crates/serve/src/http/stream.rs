//! Answers that come as they are written, as server-sent events.

use crate::answers::Answer;
use crate::asking::{Event, Ticket};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use std::convert::Infallible;

/// What has been written for a source so far. With a beam it is the best hypothesis still open, and may change.
#[derive(Serialize)]
struct WrittenSoFar {
    index: usize,
    text: String,
}

/// The answer to a source.
#[derive(Serialize)]
struct Answered<'a> {
    index: usize,
    model: &'a str,
    task: &'a str,
    answer: Answer,
}

/// Where a stream is.
struct Streaming {
    ticket: Ticket,
    model: String,
    task: String,
    ended: bool,
}

/// An event as bytes. JSON has no line ends.
fn event(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

impl Streaming {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        let bytes = match self.ticket.next().await {
            Some(Ok(Event::Written(written))) => {
                event("written", &WrittenSoFar { index: written.index, text: written.text })
            }
            Some(Ok(Event::Answered(index, answer))) => {
                event("answer", &Answered { index, model: &self.model, task: &self.task, answer })
            }
            Some(Err(refusal)) => {
                self.ended = true;
                event("error", &refusal.told())
            }
            None => {
                self.ended = true;
                event("done", &serde_json::json!({}))
            }
        };
        Some((Ok(bytes), self))
    }
}

/// All that happens to a request.
pub(super) fn stream(ticket: Ticket, model: &str, task: &str) -> Response {
    let start = Streaming { ticket, model: model.to_owned(), task: task.to_owned(), ended: false };
    let body = Body::from_stream(stream::unfold(start, Streaming::next));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, body).into_response()
}
