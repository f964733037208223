//! What a model does while it answers: where it looks, what its search considered, what its output depends on.
//!
//! As for `gatto look`, the tokens of the output, or of one that is given, are forced through the model once more.

use crate::answers::Output;
use crate::error::ServeError;
use crate::matrices::Sent;
use crate::picture::Picture;
use crate::refusal::Refusal;
use crate::room::Hosted;
use crate::work::Reading;
use gatto_data::images::Pixels;
use gatto_data::sound::{Frames, Timeline};
use gatto_inspect::explain::{explain, explain_image};
use gatto_model::config::Reader;
use gatto_model::{
    Asked, AttentionKind, Constraints, Forced, HeadCount, Matrix, Piece, Request, Saved, Searched, Task,
    Tracing, Writers,
};
use gatto_search::{Choices, Considered, Fate, SearchConfig};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The most tokens, or regions, on either side of an output that is explained: each of them is left out once.
const MOST_EXPLAINED: usize = 320;

/// Cells that are sent as bytes in the room of one that is sent as a number.
const COMPACT: usize = 8;
/// Cells that are made for each that may be sent.
const MADE: usize = 16;

/// What is to be seen.
pub(crate) struct Looking {
    pub(crate) hosted: Arc<Hosted>,
    pub(crate) reading: Reading,
    /// What is forced through the model, in place of what it would write.
    pub(crate) target: Option<String>,
    pub(crate) constraints: Constraints,
    pub(crate) search: SearchConfig,
    /// Whether every head is seen, and which attention and layer alone.
    pub(crate) heads: bool,
    pub(crate) attention: Option<AttentionKind>,
    pub(crate) layer: Option<usize>,
    pub(crate) attributions: bool,
    /// How many outputs the search leads to, and how many candidates that were not chosen are seen at each step.
    pub(crate) beams: Option<(usize, usize)>,
    /// How many candidates are seen at each place of the output.
    pub(crate) candidates: usize,
    /// Whether matrices are sent as bytes.
    pub(crate) compact: bool,
    /// The most cells of all matrices.
    pub(crate) cells: usize,
}

/// What was seen.
#[derive(Serialize, ToSchema)]
pub(crate) struct Seen {
    model: String,
    task: String,
    /// What was written, told or given.
    text: String,
    /// The tokens of the source, with its end; nothing of an image.
    source: Vec<Token>,
    /// The tokens of the output, with its end; nothing where nothing is written.
    target: Vec<Token>,
    /// log p of each token of the output.
    log_probabilities: Vec<f32>,
    /// How undecided the model was at each token of the output: the entropy of all that could stand there, in nats.
    entropies: Vec<f32>,
    /// What could have stood in the place of each, the most probable first, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Vec<Possible>>,
    /// A row for each token of the output, a weight for each token of the source or region of the image; the mean of
    /// heads and layers. Nothing for a model without attention to its source.
    weights: Option<Sent>,
    /// The regions of an image: rows and columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[usize; 2]>,
    /// The part of the image that the regions cover: left, top, width and height, as shares of the upright image.
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<[f64; 4]>,
    /// When the states of a recording are, a column of weights each.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Times>,
    /// Every head, if that was asked for.
    attentions: Vec<Heads>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributions: Option<Attributions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beams: Option<Beams>,
}

/// Stretches of a recording, one after the other.
#[derive(Serialize, ToSchema)]
pub(crate) struct Times {
    /// How many there are.
    places: usize,
    /// Seconds from one to the next.
    step: f64,
    /// Where the first begins, in seconds.
    start: f64,
}

/// A token.
#[derive(Serialize, ToSchema)]
pub(crate) struct Token {
    text: String,
    /// The word that it is a piece of; nothing for the end.
    word: Option<usize>,
    /// Its number in the vocabulary of its side; nothing for what is no token, such as a label.
    id: Option<u32>,
}

/// A token that could have stood at a place.
#[derive(Serialize, ToSchema)]
pub(crate) struct Possible {
    token: String,
    /// Its number, as `prefix_tokens` takes it.
    id: u32,
    log_probability: f32,
}

/// One attention of a model, head by head.
#[derive(Serialize, ToSchema)]
pub(crate) struct Heads {
    /// `cross`, `pooling`, `encoder` or `decoder`.
    kind: &'static str,
    /// What looks, a row each; nothing of an image.
    queries: Vec<Token>,
    /// What is looked at, a column each; nothing of an image, whose regions stand row after row, behind the class token
    /// if there is one.
    keys: Vec<Token>,
    /// The first layer that is here, from 1.
    first_layer: usize,
    /// The weights of every head of every layer.
    layers: Vec<Vec<Sent>>,
    /// Whether a class token stands before the regions.
    class_token: bool,
}

/// What the output depends on: a row for each of its tokens, a column for each token of the source or region.
#[derive(Serialize, ToSchema)]
pub(crate) struct Attributions {
    /// Gradient × input.
    gradient: Sent,
    /// What leaving a token or region out costs, in nats.
    erasure: Sent,
}

/// A search, step by step.
#[derive(Serialize, ToSchema)]
pub(crate) struct Beams {
    /// The best outputs, best first.
    best: Vec<Output>,
    /// What the search writes if it follows one hypothesis.
    greedy: Option<Output>,
    /// What was considered at each step, the chosen ones first.
    steps: Vec<Vec<Candidate>>,
}

/// A token behind a hypothesis, as the search saw it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Candidate {
    /// The hypothesis before it, as a place in the list of the step before.
    parent: Option<usize>,
    group: usize,
    token: String,
    /// The number of the token, as `prefix_tokens` takes it.
    id: u32,
    log_probability: f32,
    /// How undecided the model was behind the hypothesis before it: the entropy of all tokens there, in nats.
    entropy: f32,
    score: f64,
    /// `given`, `kept`, `finished`, `unfinished`, `dropped`, `beaten`, `forbidden`, `repeated`, `too-short`, `again` or
    /// `phrases`.
    fate: &'static str,
    /// The place among the outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// By how much it was beaten.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<f64>,
}

impl Looking {
    /// Looks.
    pub(crate) fn look(&self) -> Result<Seen, Refusal> {
        let mut seen = match &self.reading {
            Reading::Text(text) => self.at_text(text)?,
            Reading::Image(picture) => self.at_image(picture)?,
            Reading::Sound(frames) => self.at_sound(frames)?,
        };
        if let Some((count, beside)) = self.beams {
            seen.beams = Some(self.searched(count, beside)?);
        }
        Ok(seen)
    }

    fn saved(&self) -> &Saved {
        &self.hosted.saved
    }

    fn whole(&self) -> Result<Arc<Saved>, Refusal> {
        self.hosted.whole().map_err(|error| match error {
            ServeError::Changed => Refusal::Bad(error.to_string()),
            other => {
                tracing::error!(error = %other, "a model cannot be loaded whole");
                Refusal::Broken
            }
        })
    }

    fn nothing(&self, text: String) -> Seen {
        Seen {
            model: self.hosted.name().to_owned(),
            task: self.saved().task.to_string(),
            text,
            source: Vec::new(),
            target: Vec::new(),
            log_probabilities: Vec::new(),
            entropies: Vec::new(),
            candidates: Vec::new(),
            weights: None,
            grid: None,
            covered: None,
            timeline: None,
            attentions: Vec::new(),
            attributions: None,
            beams: None,
        }
    }

    fn at_text(&self, text: &str) -> Result<Seen, Refusal> {
        let saved = self.saved();
        let (said, pair) = self.passed(text)?;
        self.check_cells(pair.0.len() + 1, pair.1.len() + 1)?;
        let pairs = std::slice::from_ref(&pair);
        let traces = saved.trace_as(pairs, 1, self.tracing())?;
        let trace = traces.into_iter().next().ok_or(Refusal::Broken)?;
        let attributions = match self.attributions {
            false => None,
            true => {
                self.check_explained(pair.0.len(), pair.1.len())?;
                if saved.task != Task::Translate {
                    return Err(Refusal::Bad(
                        "`attributions` are for translators, captioners and images".into(),
                    ));
                }
                let found = explain(&*self.whole()?, &pair)?;
                Some(self.attributed(found.gradient, found.erasure))
            }
        };
        let attentions = trace.attentions.into_iter().filter(|found| self.wants(found.kind));
        let attentions = attentions.map(|found| {
            let (first_layer, layers) = self.layers(found.layers);
            Heads {
                kind: found.kind.name(),
                queries: tokens(&found.queries),
                keys: tokens(&found.keys),
                first_layer,
                layers,
                class_token: false,
            }
        });
        Ok(Seen {
            source: tokens(&trace.source),
            target: tokens(&trace.target),
            log_probabilities: trace.log_probabilities,
            entropies: entropies(&trace.choices),
            candidates: self.possible(&trace.choices),
            weights: trace.weights.map(|weights| self.sent(weights)),
            attentions: attentions.collect(),
            attributions,
            ..self.nothing(said)
        })
    }

    fn at_image(&self, picture: &Picture) -> Result<Seen, Refusal> {
        let saved = self.saved();
        let pixels = &picture.pixels;
        let (said, target) = self.said(pixels)?;
        let regions = saved.plan.grid().map_or(0, |grid| grid.len());
        self.check_cells(regions + 1, target.len() + 1)?;
        let traces = saved.trace_images_as(&[(pixels, target.clone())], 1, self.tracing())?;
        let trace = traces.into_iter().next().ok_or(Refusal::Broken)?;
        let attributions = match self.attributions {
            false => None,
            true => {
                self.check_explained(regions, target.len())?;
                let found = explain_image(&*self.whole()?, pixels, &target)?;
                Some(self.attributed(found.gradient, found.erasure))
            }
        };
        let (first_layer, layers) = self.layers(trace.layers);
        let seen = self.heads && !layers.is_empty() && self.wants(AttentionKind::Encoder);
        let heads = seen.then(|| Heads {
            kind: AttentionKind::Encoder.name(),
            queries: Vec::new(),
            keys: Vec::new(),
            first_layer,
            layers,
            class_token: trace.class_token,
        });
        Ok(Seen {
            target: tokens(&trace.target),
            log_probabilities: trace.log_probabilities,
            entropies: entropies(&trace.choices),
            candidates: self.possible(&trace.choices),
            weights: trace.weights.map(|weights| self.sent(weights)),
            grid: Some([trace.grid.rows, trace.grid.columns]),
            covered: Some(picture.covered),
            attentions: heads.into_iter().collect(),
            attributions,
            ..self.nothing(said)
        })
    }

    fn at_sound(&self, frames: &Frames) -> Result<Seen, Refusal> {
        let saved = self.saved();
        if self.attributions || self.heads {
            return Err(Refusal::Bad("`attributions` and `heads` are for texts and images".into()));
        }
        let (said, target) = match &self.target {
            Some(target) => {
                let tokens = saved.tokens.target.encode(target);
                (saved.tokens.target.decode(&tokens), tokens)
            }
            None => self.written(Asked::Sound(frames))?,
        };
        self.check_cells(frames.len() + 1, target.len() + 1)?;
        let traces = saved.trace_sounds_as(&[(frames, target)], self.tracing().choices)?;
        let trace = traces.into_iter().next().ok_or(Refusal::Broken)?;
        let Timeline { places, step, start } = trace.timeline;
        Ok(Seen {
            target: tokens(&trace.target),
            log_probabilities: trace.log_probabilities,
            entropies: entropies(&trace.choices),
            candidates: self.possible(&trace.choices),
            weights: trace.weights.map(|weights| self.sent(weights)),
            timeline: Some(Times { places, step, start }),
            ..self.nothing(said)
        })
    }

    /// What is said of a text, and the tokens that go through the model: the source and what the model makes of it, or
    /// should make of it; for a language model the text itself; without a decoder what is read.
    fn passed(&self, text: &str) -> Result<(String, Forced), Refusal> {
        let saved = self.saved();
        if saved.task == Task::LanguageModel {
            return Ok((text.to_owned(), (Vec::new(), saved.tokens.target.encode(text))));
        }
        if saved.task == Task::MaskedLanguageModel {
            let filled = saved.fill(&[text], 1, 1)?.into_iter().next().ok_or(Refusal::Broken)?;
            return Ok((filled.text, (saved.encode_gaps(text), Vec::new())));
        }
        let read = saved.encode_source(0, text)?;
        let (said, written) = match (&self.target, saved.task) {
            (Some(target), Task::Translate) => {
                (saved.tokens.target.normalise(target), saved.tokens.target.encode(target))
            }
            (Some(_), _) => return Err(Refusal::Bad("`target` is for models that write of a source".into())),
            (None, Task::Translate) => self.written(Asked::Text(text))?,
            (None, Task::Classify) => {
                let told = saved.classify(&[text], 1)?;
                let label = told.first().and_then(|told| saved.labels.as_ref()?.name(told.label));
                (label.unwrap_or_default().to_owned(), Vec::new())
            }
            (None, _) => (text.to_owned(), Vec::new()),
        };
        Ok((said, (read, written)))
    }

    /// What is said of an image: a caption, or a label.
    fn said(&self, pixels: &Pixels) -> Result<(String, Vec<u32>), Refusal> {
        let saved = self.saved();
        match (&self.target, saved.task) {
            (Some(target), Task::Caption) => {
                let tokens = saved.tokens.target.encode(target);
                Ok((saved.tokens.target.decode(&tokens), tokens))
            }
            (Some(_), _) => Err(Refusal::Bad("`target` is for models that write of a source".into())),
            (None, Task::Caption) => self.written(Asked::Image(pixels)),
            (None, _) => {
                let told = saved.classify_images(std::slice::from_ref(pixels), 1)?;
                let label = told.first().and_then(|told| saved.labels.as_ref()?.name(told.label));
                Ok((label.unwrap_or_default().to_owned(), Vec::new()))
            }
        }
    }

    fn writers(&self) -> Result<Writers<'_>, Refusal> {
        Ok(Writers::alone(self.saved())?.searching(self.search.clone()))
    }

    fn written(&self, asked: Asked<'_>) -> Result<(String, Vec<u32>), Refusal> {
        let found = self.writers()?.best(&[Request::new(asked, &self.constraints)], 1, 1)?;
        let best = found.into_iter().flatten().next().ok_or(Refusal::Broken)?;
        Ok((best.text, best.hypothesis.tokens))
    }

    fn searched(&self, count: usize, beside: usize) -> Result<Beams, Refusal> {
        let saved = self.saved();
        if !saved.task.writes_of_sources() {
            return Err(Refusal::Bad("`beams` are for models that write of a source".into()));
        }
        let asked = match &self.reading {
            Reading::Text(text) => Asked::Text(text),
            Reading::Image(picture) => Asked::Image(&picture.pixels),
            Reading::Sound(frames) => Asked::Sound(frames),
        };
        let found = self.writers()?.searched(Request::new(asked, &self.constraints), count, beside)?;
        let Searched { best, greedy, steps } = found;
        let candidate = |considered: &Considered| candidate(saved, considered);
        Ok(Beams {
            best: best.iter().map(|prediction| Output::of(saved, prediction)).collect(),
            greedy: greedy.as_ref().map(|prediction| Output::of(saved, prediction)),
            steps: steps.iter().map(|step| step.iter().map(candidate).collect()).collect(),
        })
    }

    fn wants(&self, kind: AttentionKind) -> bool {
        self.attention.is_none_or(|wanted| wanted == kind)
    }

    /// The layers that are wanted, and the number of the first, from 1.
    fn layers(&self, layers: Vec<Vec<Matrix>>) -> (usize, Vec<Vec<Sent>>) {
        let (first, count) = self.layer.map_or((1, usize::MAX), |number| (number, 1));
        let wanted = layers.into_iter().skip(first.saturating_sub(1)).take(count);
        (first, wanted.map(|heads| heads.into_iter().map(|head| self.sent(head)).collect()).collect())
    }

    fn tracing(&self) -> Tracing {
        Tracing { heads: self.heads, choices: Some(self.candidates) }
    }

    /// The candidates at each place, if they are wanted.
    fn possible(&self, choices: &[Choices]) -> Vec<Vec<Possible>> {
        if self.candidates == 0 {
            return Vec::new();
        }
        let tokens = &self.saved().tokens.target;
        let possible = |&(id, log_probability): &(u32, f32)| Possible {
            token: tokens.token(id).to_owned(),
            id,
            log_probability,
        };
        choices.iter().map(|choices| choices.best.iter().map(possible).collect()).collect()
    }

    fn attributed(&self, gradient: Matrix, erasure: Matrix) -> Attributions {
        Attributions { gradient: self.sent(gradient), erasure: self.sent(erasure) }
    }

    fn sent(&self, matrix: Matrix) -> Sent {
        Sent::new(matrix, self.compact)
    }

    /// Refuses a trace that would be too large to send, or to make, before it is made: of sources and outputs of so many
    /// tokens, their ends among them.
    fn check_cells(&self, read: usize, written: usize) -> Result<(), Refusal> {
        let saved = self.saved();
        let inputs = if saved.plan.reader == Reader::Itself { read + written } else { written };
        let of_layer = |kind| match kind {
            AttentionKind::Encoder => read.saturating_mul(read),
            AttentionKind::Decoder => written.saturating_mul(inputs),
            AttentionKind::Cross | AttentionKind::Pooling => written.saturating_mul(read),
        };
        let plain = read.saturating_mul(written);
        let (mut made, mut sent) = (plain, plain);
        for HeadCount { attention, layers, heads } in saved.plan.heads().into_iter().filter(|_| self.heads) {
            let cells = of_layer(attention).saturating_mul(heads);
            made = made.saturating_add(cells.saturating_mul(layers));
            if self.wants(attention) {
                let layers = if self.layer.is_some() { 1 } else { layers };
                sent = sent.saturating_add(cells.saturating_mul(layers));
            }
        }
        let most = if self.compact { self.cells.saturating_mul(COMPACT) } else { self.cells };
        let limits = [(sent, most), (made, self.cells.saturating_mul(MADE))];
        match limits.into_iter().find(|(cells, most)| cells > most) {
            None => Ok(()),
            Some((cells, most)) => Err(Refusal::Large(format!(
                "the trace would have {cells} cells, and {most} are the most; take a shorter text, or leave `heads` out, or \
                 ask for one `attention` and `layer`, or for `compact` matrices"
            ))),
        }
    }

    fn check_explained(&self, read: usize, written: usize) -> Result<(), Refusal> {
        match read > MOST_EXPLAINED || written > MOST_EXPLAINED {
            true => Err(Refusal::Large(format!(
                "`attributions` are for at most {MOST_EXPLAINED} tokens on each side, and there are {read} and {written}"
            ))),
            false => Ok(()),
        }
    }
}

fn tokens(pieces: &[Piece]) -> Vec<Token> {
    pieces.iter().map(|piece| Token { text: piece.text.clone(), word: piece.word, id: piece.id }).collect()
}

fn entropies(choices: &[Choices]) -> Vec<f32> {
    choices.iter().map(|choices| choices.entropy).collect()
}

fn candidate(saved: &Saved, considered: &Considered) -> Candidate {
    let (fate, rank, by) = match considered.fate {
        Fate::Given => ("given", None, None),
        Fate::Kept => ("kept", None, None),
        Fate::Finished { rank } => ("finished", rank, None),
        Fate::Unfinished { rank } => ("unfinished", Some(rank), None),
        Fate::Dropped => ("dropped", None, None),
        Fate::Beaten { by } => ("beaten", None, Some(by)),
        Fate::Forbidden => ("forbidden", None, None),
        Fate::Repeated => ("repeated", None, None),
        Fate::TooShort => ("too-short", None, None),
        Fate::Again => ("again", None, None),
        Fate::Phrases => ("phrases", None, None),
    };
    Candidate {
        parent: considered.parent,
        group: considered.group,
        token: saved.tokens.target.token(considered.token).to_owned(),
        id: considered.token,
        log_probability: considered.log_probability,
        entropy: considered.entropy,
        score: considered.score,
        fate,
        rank,
        by,
    }
}
