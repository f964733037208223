//! `POST /v1/predict`: what a model makes of texts or images.

use super::App;
use super::body::{is_json, kind, parse, read_body};
use super::stream::stream;
use super::wishes::{
    AlternativesWish, ConstraintsWish, MaskWish, OneOrMany, SampleWish, SearchWish, Wishes, masked,
};
use crate::answers::Answer;
use crate::hearing::Recording;
use crate::limits::Limits;
use crate::refusal::{Refusal, Told};
use crate::room::Hosted;
use crate::work::{Item, Reading};
use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatto_model::{Constraints, Draw};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// What a request without a source is told.
pub(super) const NO_SOURCE: &str = "give `text`, or `image` or `sound` for a model that reads them";

/// What to predict, and how.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PredictRequest {
    /// The name of the model; may be left out if there is only one.
    model: Option<String>,
    /// A text, or several.
    #[schema(example = "the cat is on the table")]
    text: Option<OneOrMany>,
    /// An image, or several, as base64 of a PNG, JPEG, BMP or WebP file.
    image: Option<OneOrMany>,
    /// A recording, or several, as base64 of a WAV, FLAC, Ogg Vorbis or MP3 file.
    sound: Option<OneOrMany>,
    /// How many hypotheses are followed at once.
    beam: Option<usize>,
    /// How many outputs each text gets; needs a beam of as many, or `sample`.
    n_best: Option<usize>,
    /// The most tokens to write for a text.
    max_length: Option<usize>,
    /// Finer settings of the search.
    search: Option<SearchWish>,
    /// Draw tokens in place of a search.
    sample: Option<SampleWish>,
    /// The most probable tokens at a place of the output, in place of the output.
    alternatives: Option<AlternativesWish>,
    /// Every output begins with this.
    prefix: Option<String>,
    /// The tokens that every output begins with, in place of a text, by their numbers as `/v1/trace` tells them.
    prefix_tokens: Vec<u32>,
    /// Phrases that must appear in every output.
    must: Vec<String>,
    /// Phrases that must not appear in any output.
    never: Vec<String>,
    /// What is wanted of each output, one for each text, in place of `prefix`, `must` and `never`.
    constraints: Option<Vec<ConstraintsWish>>,
    /// Heads of the model that give nought.
    mask: Vec<MaskWish>,
    /// Answer with server-sent events, as tokens are written.
    stream: bool,
    /// How long the answer may take.
    deadline_ms: Option<u64>,
}

/// The answers to a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct PredictAnswer {
    /// The name of the model.
    model: String,
    /// What it is for.
    task: String,
    /// One answer for each text or image, in order.
    answers: Vec<Answer>,
}

/// What an image or a recording that is sent by itself may say beside it.
#[derive(Debug, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    /// The name of the model.
    model: Option<String>,
    /// How many hypotheses are followed at once.
    beam: Option<usize>,
    /// How many outputs an image gets.
    n_best: Option<usize>,
    /// Answer with server-sent events.
    stream: bool,
}

/// What a model makes of texts or images
///
/// The body is JSON; or the bytes of an image or a recording, with `Content-Type: image/…` or `audio/…` and the settings in
/// the address. With
/// `stream` the answer is a sequence of server-sent events: `written` with the text so far, `answer` when a text
/// has its answer, `error`, and `done` at the end.
#[utoipa::path(
    post,
    path = "/v1/predict",
    request_body = PredictRequest,
    params(FileQuery),
    responses(
        (status = 200, body = PredictAnswer),
        (status = 400, body = Told),
        (status = 403, body = Told),
        (status = 404, body = Told),
        (status = 413, body = Told),
        (status = 429, body = Told),
        (status = 504, body = Told)
    )
)]
pub(crate) async fn predict(
    State(app): State<App>,
    query: Result<Query<FileQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    app.admit(&headers, None)?;
    let (request, sent) = if is_json(&headers) {
        (parse::<PredictRequest>(&read_body(&app, &headers, body).await?)?, None)
    } else if let Some(file) = FileKind::of(&headers) {
        let Query(query) = query.map_err(|error| Refusal::Bad(error.body_text()))?;
        let FileQuery { model, beam, n_best, stream } = query;
        let request = PredictRequest { model, beam, n_best, stream, ..PredictRequest::default() };
        (request, Some((file, read_body(&app, &headers, body).await?)))
    } else {
        let remedy = "send JSON, as `Content-Type: application/json`, or a file, as `Content-Type: image/png` or `audio/wav`";
        return Err(Refusal::Kind(remedy.to_owned()));
    };
    let hosted = masked(app.model(request.model.as_deref())?, &request.mask)?;
    let watched = request.stream;
    let deadline =
        request.deadline_ms.map_or(app.limits.deadline, Duration::from_millis).min(app.limits.deadline);
    let count = request.count() + usize::from(sent.is_some());
    let constraints = request.constraints(count)?;
    let wishes = Wishes {
        beam: request.beam,
        n_best: request.n_best,
        max_length: request.max_length,
        search: request.search.as_ref(),
        sample: request.sample.as_ref(),
        alternatives: request.alternatives.as_ref(),
        constraints: &constraints,
    };
    let way = wishes.way(&hosted, &app.limits)?;
    let seed = request.sample.as_ref().map_or(0, |sample| sample.seed);
    let (readings, recordings) = match readings(&app, &hosted, request, sent).await? {
        Sources::Each(readings) => (readings, None),
        Sources::Recordings(recordings) => (pieces(&recordings, &app.limits)?, Some(recordings)),
    };
    // The pieces of recordings are all free.
    let constraints =
        if recordings.is_some() { vec![Constraints::default(); readings.len()] } else { constraints };
    if watched && recordings.is_some() {
        return Err(Refusal::Bad("a recording is heard in pieces; leave `stream` out".to_owned()));
    }
    let item = |(line, (reading, constraints)): (u64, (Reading, Constraints))| Item {
        reading,
        constraints,
        draw: Draw { seed, line },
    };
    let items = (0..).zip(readings.into_iter().zip(constraints)).map(item).collect();
    let (model, task) = (hosted.name().to_owned(), hosted.saved.task.to_string());
    let ticket = app.ask(hosted, way, items, deadline, watched).await?;
    if watched {
        return Ok(stream(ticket, &model, &task));
    }
    let mut answers = ticket.all().await?;
    if let Some(recordings) = recordings {
        let mut heard = answers.into_iter();
        answers = recordings.iter().map(|recording| recording.together(&mut heard)).collect();
    }
    Ok(Json(PredictAnswer { model, task, answers }).into_response())
}

impl PredictRequest {
    /// How many sources there are.
    fn count(&self) -> usize {
        let of = |sources: &Option<OneOrMany>| match sources {
            None => 0,
            Some(OneOrMany::One(_)) => 1,
            Some(OneOrMany::Many(sources)) => sources.len(),
        };
        of(&self.text) + of(&self.image) + of(&self.sound)
    }

    /// What is wanted of each of `count` outputs.
    fn constraints(&self, count: usize) -> Result<Vec<Constraints>, Refusal> {
        let of_all = Constraints {
            prefix: self.prefix.clone().unwrap_or_default(),
            prefix_tokens: self.prefix_tokens.clone(),
            must: self.must.clone(),
            never: self.never.clone(),
        };
        let Some(own) = &self.constraints else { return Ok(vec![of_all; count]) };
        if of_all != Constraints::default() {
            return Err(Refusal::Bad(
                "`constraints` and `prefix`, `prefix_tokens`, `must` or `never` do not go together"
                    .to_owned(),
            ));
        }
        match own.len() == count {
            true => Ok(own.iter().cloned().map(Constraints::from).collect()),
            false => Err(Refusal::Bad(format!(
                "there are {} `constraints` and {count} sources; give one for each",
                own.len()
            ))),
        }
    }
}

/// A file that is sent by itself.
#[derive(Clone, Copy)]
enum FileKind {
    Image,
    Sound,
}

impl FileKind {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let kind = kind(headers).to_ascii_lowercase();
        match kind.split('/').next() {
            Some("image") => Some(Self::Image),
            Some("audio") => Some(Self::Sound),
            _ => None,
        }
    }
}

/// What is to be read.
enum Sources {
    /// Texts or images.
    Each(Vec<Reading>),
    /// Recordings, each of several pieces.
    Recordings(Vec<Recording>),
}

/// The pieces of recordings that are to be heard.
fn pieces(recordings: &[Recording], limits: &Limits) -> Result<Vec<Reading>, Refusal> {
    let pieces = recordings.iter().flat_map(|recording| &recording.pieces);
    let heard: Vec<Reading> = pieces.filter_map(|piece| piece.frames.clone()).map(Reading::Sound).collect();
    match heard.len() > limits.queue {
        true => Err(Refusal::Large(format!(
            "the recordings have {} pieces, and {} are heard at once",
            heard.len(),
            limits.queue
        ))),
        false => Ok(heard),
    }
}

/// The sources of a request, within their limits and ready to be read.
async fn readings(
    app: &App,
    hosted: &Arc<Hosted>,
    request: PredictRequest,
    sent: Option<(FileKind, Vec<u8>)>,
) -> Result<Sources, Refusal> {
    let limits = &app.limits;
    let most = |count: usize| match count > limits.texts {
        true => {
            Err(Refusal::Large(format!("there are {count} sources, and {} are read at once", limits.texts)))
        }
        false => Ok(()),
    };
    match (request.text, request.image, request.sound, sent) {
        (None, None, None, Some((FileKind::Image, bytes))) => {
            Ok(Sources::Each(vec![Reading::Image(app.image(hosted, bytes).await?)]))
        }
        (None, None, None, Some((FileKind::Sound, bytes))) => {
            Ok(Sources::Recordings(vec![app.recording(hosted, bytes).await?]))
        }
        (None, Some(images), None, None) => {
            let images = images.into_vec();
            most(images.len())?;
            let mut readings = Vec::with_capacity(images.len());
            for image in images {
                readings.push(Reading::Image(app.image(hosted, from_base64("image", &image)?).await?));
            }
            Ok(Sources::Each(readings))
        }
        (None, None, Some(sounds), None) => {
            let sounds = sounds.into_vec();
            most(sounds.len())?;
            let mut recordings = Vec::with_capacity(sounds.len());
            for sound in sounds {
                recordings.push(app.recording(hosted, from_base64("sound", &sound)?).await?);
            }
            Ok(Sources::Recordings(recordings))
        }
        (Some(texts), None, None, None) => {
            let texts = texts.into_vec();
            most(texts.len())?;
            for (index, text) in texts.iter().enumerate() {
                check_text(app, hosted, index, text)?;
            }
            Ok(Sources::Each(texts.into_iter().map(Reading::Text).collect()))
        }
        _ => Err(Refusal::Bad(NO_SOURCE.to_owned())),
    }
}

/// Refuses a text that is too long, or that the model does not read.
pub(crate) fn check_text(app: &App, hosted: &Hosted, index: usize, text: &str) -> Result<(), Refusal> {
    let most = app.limits.characters;
    let sources = hosted.saved.plan.sources();
    if sources != "texts" {
        return Err(Refusal::Bad(format!("the model `{}` reads {sources}, and no texts", hosted.name())));
    }
    // No character has more than four bytes, so that most texts need not be counted.
    if text.len() > most && text.chars().count() > most {
        let number = index + 1;
        return Err(Refusal::Large(format!("text {number} has more than {most} characters; split it")));
    }
    Ok(())
}

/// The bytes of a file, with or without what a browser puts before them.
pub(super) fn from_base64(key: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    let bare = match text.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,").map_or(address, |(_, bytes)| bytes),
        None => text,
    };
    STANDARD.decode(bare.trim()).map_err(|error| Refusal::Bad(format!("`{key}` is not base64: {error}")))
}
