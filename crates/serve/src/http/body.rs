//! What clients send: read whole, within its limits of size and time.

use super::App;
use crate::refusal::Refusal;
use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The kind of a body, without its parameters.
pub(crate) fn kind(headers: &HeaderMap) -> &str {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim()
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    kind(headers).eq_ignore_ascii_case("application/json")
}

pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    kind(headers).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// How long a body that is refused is still read, so that its sender gets to read the refusal.
const DRAINING: Duration = Duration::from_secs(1);

/// The bytes of a body.
pub(crate) async fn read_body(app: &App, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refusal> {
    let (most, time) = (app.limits.body, app.limits.sending);
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let mut pieces = body.into_data_stream();
    let known = length.is_none_or(|length| length <= most as u64);
    let found = match known {
        true => tokio::time::timeout(time, collected(&mut pieces, most)).await,
        false => Ok(None),
    };
    match found {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => {
            tokio::time::timeout(DRAINING.min(time), drain(&mut pieces, most)).await.ok();
            Err(Refusal::Large(format!(
                "the request has more than {most} bytes, or is broken; send less at a time"
            )))
        }
        Err(_) => Err(Refusal::Slow(time.as_secs())),
    }
}

/// The pieces of a body as one; nothing if there are more bytes than `most`, or if it breaks off.
async fn collected(pieces: &mut BodyDataStream, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.ok()?;
        if piece.len() > most - bytes.len() {
            return None;
        }
        bytes.extend_from_slice(&piece);
    }
    Some(bytes)
}

/// Reads and forgets up to `most` bytes.
async fn drain(pieces: &mut BodyDataStream, most: usize) {
    let mut left = most;
    while let Some(Ok(piece)) = pieces.next().await {
        match left.checked_sub(piece.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// A body that must be JSON.
pub(super) async fn read_json<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Refusal> {
    if !is_json(headers) {
        return Err(Refusal::Kind("send JSON, as `Content-Type: application/json`".to_owned()));
    }
    parse(&read_body(app, headers, body).await?)
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(bytes)
        .map_err(|error| Refusal::Bad(format!("the request cannot be read: {error}")))
}
