//! The addresses of the service, and what is true of every answer.

mod body;
mod docs;
mod models;
mod page;
mod predict;
mod runs;
mod state;
mod stream;
mod trace;
mod wishes;

pub(crate) use body::{is_form, is_json, parse as parse_body, read_body};
pub use docs::open_api;
pub(crate) use predict::check_text;
pub(crate) use state::App;

use crate::error::ServeError;
use crate::refusal::Refusal;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::time::Instant;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// What pages may load: what this service serves, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' blob: data:; media-src 'self' blob: data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// All addresses.
pub(crate) fn router(app: &App, origins: &[String]) -> Result<Router, ServeError> {
    let router = Router::new()
        .route("/", get(page::page))
        .route("/page.css", get(page::style))
        .route("/page.js", get(page::script))
        .route("/docs", get(docs::page))
        .route("/docs/page.css", get(docs::style))
        .route("/docs/page.js", get(docs::script))
        .route("/openapi.json", get(docs::document))
        .route("/health", get(models::health))
        .route("/ready", get(models::ready))
        .route("/metrics", get(models::metrics))
        .route("/v1/models", get(models::list))
        .route("/v1/models/replace", post(models::replace))
        .route("/v1/predict", post(predict::predict))
        .route("/v1/trace", post(trace::trace))
        .route("/v1/runs", get(runs::list))
        .route("/v1/runs/{*name}", get(runs::one))
        .merge(crate::libre::router())
        .fallback(async || Refusal::Missing("there is nothing at this address; see /docs".to_owned()))
        .method_not_allowed_fallback(async || {
            let told = Refusal::Bad("this address has another method; see /docs".to_owned()).told();
            (axum::http::StatusCode::METHOD_NOT_ALLOWED, axum::Json(told))
        })
        .with_state(app.clone());
    let router = match origins.is_empty() {
        true => router,
        false => router.layer(cross_origin(origins)?),
    };
    Ok(router.layer(from_fn_with_state(app.clone(), observed)))
}

/// Lets pages of these origins ask; `*` is all of them.
fn cross_origin(origins: &[String]) -> Result<CorsLayer, ServeError> {
    let origin = |origin: &String| {
        let bad = || ServeError::Origin { origin: origin.clone() };
        let host =
            origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://")).ok_or_else(bad)?;
        match host.is_empty() || host.contains('/') {
            true => Err(bad()),
            false => HeaderValue::from_str(origin).map_err(|_| bad()),
        }
    };
    let allowed = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(origins.iter().map(origin).collect::<Result<Vec<_>, _>>()?),
    };
    Ok(CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE]))
}

/// Counts and logs a request, and gives its answer the headers of all.
async fn observed(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    // Addresses that there are, so that strangers cannot make up labels without end.
    let known = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let mut response = next.run(request).await;
    let (status, took) = (response.status(), began.elapsed());
    app.metrics.answered(&known, status, took);
    let milliseconds = took.as_secs_f64() * 1e3;
    tracing::info!(%method, path, status = status.as_u16(), milliseconds, "answered");
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A file that is part of the binary.
fn embedded(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
