//! `POST /v1/trace`: what a model does while it answers.

use super::App;
use super::body::read_json;
use super::predict::{NO_SOURCE, check_text, from_base64};
use super::wishes::{MaskWish, SearchWish, Wishes, masked};
use crate::looking::{Looking, Seen};
use crate::refusal::{Refusal, Told};
use crate::work::{Reading, Way};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use gatto_model::{AttentionKind, Constraints, Task};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most candidates beside the chosen ones.
const MOST_BESIDE: usize = 100;

/// What to look at.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TraceRequest {
    /// The name of the model; may be left out if there is only one.
    model: Option<String>,
    /// A text.
    text: Option<String>,
    /// An image, as base64 of a file.
    image: Option<String>,
    /// A recording that is heard at once, as base64 of a file.
    sound: Option<String>,
    /// Look while the model writes this, in place of what it would write itself.
    target: Option<String>,
    /// Every head of every layer, beside the mean.
    heads: bool,
    /// Only this attention: `cross`, `pooling`, `encoder` or `decoder`.
    attention: Option<AttentionName>,
    /// Only this layer, from 1.
    layer: Option<usize>,
    /// Gradient × input, and erasure.
    attributions: bool,
    /// So many of the most probable tokens in the place of each token of the output, whatever the search chose.
    candidates: usize,
    /// The search, step by step.
    beams: Option<BeamsWish>,
    /// How many hypotheses are followed at once.
    beam: Option<usize>,
    /// The most tokens to write.
    max_length: Option<usize>,
    /// Finer settings of the search.
    search: Option<SearchWish>,
    /// The output begins with this.
    prefix: String,
    /// The tokens that the output begins with, in place of a text, by their numbers.
    prefix_tokens: Vec<u32>,
    /// Phrases that must appear.
    must: Vec<String>,
    /// Phrases that must not appear.
    never: Vec<String>,
    /// Heads of the model that give nought. Where they look is seen all the same.
    mask: Vec<MaskWish>,
    /// Matrices as bytes, in place of lists of numbers.
    compact: bool,
}

/// An attention of a model.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AttentionName {
    Cross,
    Pooling,
    Encoder,
    Decoder,
}

impl From<AttentionName> for AttentionKind {
    fn from(name: AttentionName) -> Self {
        match name {
            AttentionName::Cross => Self::Cross,
            AttentionName::Pooling => Self::Pooling,
            AttentionName::Encoder => Self::Encoder,
            AttentionName::Decoder => Self::Decoder,
        }
    }
}

/// How much of a search is seen.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BeamsWish {
    /// The outputs that it leads to.
    n_best: usize,
    /// Candidates at each step that were not chosen.
    beside: usize,
}

impl Default for BeamsWish {
    fn default() -> Self {
        Self { n_best: 1, beside: 3 }
    }
}

/// What a model does while it answers
///
/// Where it looks, head by head; what its search considered at each step; what its output depends on.
#[utoipa::path(
    post,
    path = "/v1/trace",
    request_body = TraceRequest,
    responses(
        (status = 200, body = Seen),
        (status = 400, body = Told),
        (status = 403, body = Told),
        (status = 404, body = Told),
        (status = 413, body = Told),
        (status = 429, body = Told),
        (status = 504, body = Told)
    )
)]
pub(crate) async fn trace(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Seen>, Refusal> {
    app.admit(&headers, None)?;
    let request: TraceRequest = read_json(&app, &headers, body).await?;
    let hosted = masked(app.model(request.model.as_deref())?, &request.mask)?;
    let reading = match (request.text, request.image, request.sound) {
        (Some(text), None, None) => {
            check_text(&app, &hosted, 0, &text)?;
            Reading::Text(text)
        }
        (None, Some(image), None) => Reading::Image(app.image(&hosted, from_base64("image", &image)?).await?),
        (None, None, Some(sound)) => {
            Reading::Sound(app.recording(&hosted, from_base64("sound", &sound)?).await?.whole()?)
        }
        _ => return Err(Refusal::Bad(NO_SOURCE.to_owned())),
    };
    let constraints = Constraints {
        prefix: request.prefix,
        prefix_tokens: request.prefix_tokens,
        must: request.must,
        never: request.never,
    };
    let beams = request.beams.map(|beams| (beams.n_best, beams.beside));
    if beams.is_some_and(|(_, beside)| beside > MOST_BESIDE) {
        return Err(Refusal::Bad(format!("`beams.beside` must be at most {MOST_BESIDE}")));
    }
    if request.candidates > MOST_BESIDE {
        return Err(Refusal::Bad(format!("`candidates` must be at most {MOST_BESIDE}")));
    }
    let wishes = Wishes {
        beam: request.beam,
        // A recording of one piece may have several outputs after all.
        n_best: beams.map(|(count, _)| count).filter(|_| hosted.saved.task != Task::Transcribe),
        max_length: request.max_length,
        search: request.search.as_ref(),
        sample: None,
        alternatives: None,
        // And a beginning of its own.
        constraints: match hosted.saved.task {
            Task::Transcribe => &[],
            _ => std::slice::from_ref(&constraints),
        },
    };
    let way = wishes.way(&hosted, &app.limits)?;
    way.most_rows(&hosted.saved, 1, app.limits.memory)?;
    let search = match way {
        Way::Best { search, .. } | Way::Heard { search } => search,
        _ => hosted.saved.search.clone(), // nothing is searched for
    };
    let looking = Looking {
        hosted,
        reading,
        target: request.target,
        constraints,
        search,
        heads: request.heads,
        attention: request.attention.map(AttentionKind::from),
        layer: request.layer,
        attributions: request.attributions,
        beams,
        candidates: request.candidates,
        compact: request.compact,
        cells: app.limits.cells,
    };
    app.alone(move || looking.look()).await.map(Json)
}
