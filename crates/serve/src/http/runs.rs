//! `GET /v1/runs`: training as it goes on.

use super::App;
use crate::refusal::{Refusal, Told};
use crate::runs::{RunInfo, RunSeen, Runs, Wanted};
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The points of a curve unless told otherwise, and the most.
const POINTS: usize = 1000;
const MOST_POINTS: usize = 10_000;

/// The runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunsAnswer {
    runs: Vec<RunInfo>,
}

/// What of a run is wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunQuery {
    /// Only what came behind this step.
    after: Option<u64>,
    /// The most points of a curve, 1000 if it is left out; where there are more, some are left out evenly.
    points: Option<usize>,
}

fn shown(app: &App) -> Result<Arc<Runs>, Refusal> {
    let none =
        || Refusal::Missing("no training runs are shown here; start the service with --runs".to_owned());
    app.runs.clone().ok_or_else(none)
}

/// The training runs that are shown
#[utoipa::path(
    get,
    path = "/v1/runs",
    responses((status = 200, body = RunsAnswer), (status = 403, body = Told), (status = 404, body = Told))
)]
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Json<RunsAnswer>, Refusal> {
    app.admit(&headers, None)?;
    Ok(Json(RunsAnswer { runs: shown(&app)?.all().await? }))
}

/// A training run: its curves, what it writes of some examples, and its configuration
///
/// Whoever has seen a run before asks for what is new with `after`.
#[utoipa::path(
    get,
    path = "/v1/runs/{name}",
    params(("name" = String, Path, description = "The name of the run; `/` in it may be written `%2F`"), RunQuery),
    responses(
        (status = 200, body = RunSeen),
        (status = 400, body = Told),
        (status = 403, body = Told),
        (status = 404, body = Told),
        (status = 413, body = Told)
    )
)]
pub(crate) async fn one(
    State(app): State<App>,
    name: Result<Path<String>, PathRejection>,
    query: Result<Query<RunQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Json<RunSeen>, Refusal> {
    app.admit(&headers, None)?;
    let Path(name) = name.map_err(|error| Refusal::Bad(error.body_text()))?;
    let Query(RunQuery { after, points }) = query.map_err(|error| Refusal::Bad(error.body_text()))?;
    let points = points.unwrap_or(POINTS);
    if !(2..=MOST_POINTS).contains(&points) {
        return Err(Refusal::Bad(format!("`points` must be from 2 to {MOST_POINTS}")));
    }
    shown(&app)?.one(name, Wanted { after, points }).await.map(Json)
}
