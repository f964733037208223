//! Requests that are not answered, and what their clients are told: a status and `{"error": …}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gatto_model::ModelError;
use serde::Serialize;
use utoipa::ToSchema;

/// Seconds after which a refused client may try again.
const RETRY_AFTER: &str = "1";

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It makes no sense.
    #[error("{0}")]
    Bad(String),
    /// It has no key, or a wrong one.
    #[error("{0}")]
    Key(&'static str),
    /// What it names is not there.
    #[error("{0}")]
    Missing(String),
    /// It asks for more than is given.
    #[error("{0}")]
    Large(String),
    /// It is of a kind that is not read.
    #[error("{0}")]
    Kind(String),
    /// It was sent too slowly.
    #[error("the request was not sent within {0} seconds")]
    Slow(u64),
    /// Too many wait already.
    #[error("too many requests wait already; try again in a moment")]
    Full,
    /// It took too long.
    #[error("the answer was not there by the deadline; ask for less, or later")]
    Late,
    /// The service stops.
    #[error("the service is about to stop; ask another one")]
    Stopping,
    /// A fault of ours.
    #[error("the service has made a mistake; it is in its log")]
    Broken,
}

/// What a client is told.
#[derive(Serialize, ToSchema)]
pub(crate) struct Told {
    /// What is wrong, and the remedy.
    error: String,
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Key(_) => StatusCode::FORBIDDEN,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Large(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Kind(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Slow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Full => StatusCode::TOO_MANY_REQUESTS,
            Self::Late => StatusCode::GATEWAY_TIMEOUT,
            Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// As a value, for answers that have begun.
    pub(crate) fn told(&self) -> Told {
        Told { error: self.to_string() }
    }
}

/// What a model says of a source is the client's business; what it says of files is not.
impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        match &error {
            ModelError::TooLong { .. }
            | ModelError::BeyondPositions { .. }
            | ModelError::TooManyFrames { .. } => Self::Large(error.to_string()),
            ModelError::Constraints { .. }
            | ModelError::NoHead { .. }
            | ModelError::OtherTask { .. }
            | ModelError::OtherSource { .. }
            | ModelError::OtherImage { .. }
            | ModelError::OtherSound { .. }
            | ModelError::NoFrames { .. } => Self::Bad(error.to_string()),
            _ => {
                tracing::error!(%error, "a model failed");
                Self::Broken
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.told())).into_response();
        if matches!(self, Self::Full | Self::Stopping) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
        }
        // What follows on the connection is the rest of a request that was not read.
        if matches!(self, Self::Slow(_) | Self::Large(_) | Self::Kind(_)) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
