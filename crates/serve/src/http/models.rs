//! Which models there are, and how the service does.

use super::App;
use super::body::{parse, read_body};
use crate::refusal::{Refusal, Told};
use crate::room::Hosted;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gatto_model::{AttentionKind, HeadCount};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The models.
#[derive(Serialize, ToSchema)]
pub(crate) struct Models {
    models: Vec<ModelInfo>,
    /// Whether there are training runs to see, at `/v1/runs`.
    runs: bool,
}

/// A model.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelInfo {
    name: String,
    /// What it is for, as in its configuration.
    #[schema(example = "translate")]
    task: String,
    /// What it reads: `texts`, `images` or `sounds`.
    reads: &'static str,
    /// What it translates between, if that was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    languages: Option<LanguagePair>,
    parameters: usize,
    /// The sizes of its vocabularies.
    vocabularies: Sizes,
    /// The labels that it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    /// What can be looked at: `cross`, `pooling`, `encoder`, `decoder`.
    attentions: Vec<&'static str>,
    /// The heads that can be masked.
    heads: Vec<HeadsOf>,
    /// The beam unless told otherwise.
    beam: usize,
    /// The most tokens that are written unless told otherwise.
    max_length: usize,
    /// How often a model of this name has been loaded.
    load: u64,
}

/// The heads of an attention.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeadsOf {
    /// `cross`, `encoder` or `decoder`.
    attention: &'static str,
    layers: usize,
    /// Of each layer.
    heads: usize,
}

impl From<HeadCount> for HeadsOf {
    fn from(HeadCount { attention, layers, heads }: HeadCount) -> Self {
        Self { attention: attention.name(), layers, heads }
    }
}

/// Codes of languages.
#[derive(Serialize, ToSchema)]
pub(crate) struct LanguagePair {
    source: String,
    target: String,
}

/// Sizes of vocabularies.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sizes {
    source: usize,
    target: usize,
}

impl ModelInfo {
    fn of(hosted: &Arc<Hosted>, most: usize) -> Self {
        let saved = &hosted.saved;
        let languages = hosted.place.languages.as_ref();
        Self {
            name: hosted.name().to_owned(),
            task: saved.task.to_string(),
            reads: saved.plan.sources(),
            languages: languages
                .map(|found| LanguagePair { source: found.source.clone(), target: found.target.clone() }),
            parameters: hosted.parameters,
            vocabularies: Sizes { source: saved.tokens.source.size(), target: saved.tokens.target.size() },
            labels: saved.labels.as_ref().map(|labels| labels.names().to_vec()),
            attentions: saved.plan.attentions().into_iter().map(AttentionKind::name).collect(),
            heads: saved.plan.heads().into_iter().map(HeadsOf::from).collect(),
            beam: saved.search.beam,
            max_length: saved.search.max_length.min(most),
            load: hosted.load,
        }
    }
}

/// The models that are served
#[utoipa::path(get, path = "/v1/models", responses((status = 200, body = Models)))]
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Json<Models>, Refusal> {
    app.admit(&headers, None)?;
    let models = app.room.all().iter().map(|hosted| ModelInfo::of(hosted, app.limits.max_length)).collect();
    Ok(Json(Models { models, runs: app.runs.is_some() }))
}

/// Which model to load again.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceRequest {
    /// Its name; all of them if it is left out.
    model: Option<String>,
}

/// What became of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReplaceAnswer {
    replaced: Vec<String>,
    /// Models that could not be loaded, and stay as they were.
    failed: Vec<Failed>,
}

/// A model that could not be loaded.
#[derive(Serialize, ToSchema)]
pub(crate) struct Failed {
    model: String,
    error: String,
}

impl App {
    /// Loads models from their directories again, without a request that is dropped.
    pub(crate) async fn replace(&self, name: Option<String>) -> Result<ReplaceAnswer, Refusal> {
        let app = self.clone();
        let replaced = tokio::task::spawn_blocking(move || app.room.replace(name.as_deref()));
        let outcome = replaced.await.map_err(|_| Refusal::Broken)?;
        let outcome = outcome.map_err(|error| Refusal::Missing(error.to_string()))?;
        let mut answer = ReplaceAnswer { replaced: Vec::new(), failed: Vec::new() };
        for replaced in outcome {
            match replaced.error {
                None => {
                    tracing::info!(model = replaced.name, "replaced");
                    self.metrics.replaced(&replaced.name);
                    answer.replaced.push(replaced.name);
                }
                Some(error) => {
                    tracing::error!(model = replaced.name, %error, "stays as it was");
                    // Where files lie is told to the log alone.
                    let error = "cannot be loaded; see the log of the service".to_owned();
                    answer.failed.push(Failed { model: replaced.name, error });
                }
            }
        }
        Ok(answer)
    }
}

/// Loads models from their directories again
///
/// Requests under way are answered by the model that they were admitted for. Needs an API key; a service without keys
/// refuses it, and takes `SIGHUP` instead.
#[utoipa::path(
    post,
    path = "/v1/models/replace",
    request_body = ReplaceRequest,
    responses((status = 200, body = ReplaceAnswer), (status = 403, body = Told), (status = 404, body = Told))
)]
pub(crate) async fn replace(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    if app.keys.is_empty() {
        return Err(Refusal::Key("the service has no API keys, and so nobody may do this; send it a SIGHUP"));
    }
    app.admit(&headers, None)?;
    let bytes = read_body(&app, &headers, body).await?;
    let request: ReplaceRequest = if bytes.is_empty() { ReplaceRequest::default() } else { parse(&bytes)? };
    let answer = app.replace(request.model).await?;
    let status = if answer.failed.is_empty() { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
    Ok((status, Json(answer)).into_response())
}

/// A state in a word.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the service lives
#[utoipa::path(get, path = "/health", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Whether requests may be sent here; not once it is about to stop
#[utoipa::path(
    get,
    path = "/ready",
    responses((status = 200, body = Health), (status = 503, body = Told))
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, Refusal> {
    if app.is_ready() { Ok(Json(Health { status: "ok" })) } else { Err(Refusal::Stopping) }
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text(app.queue.len())).into_response()
}
