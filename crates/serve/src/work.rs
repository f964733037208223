//! What is asked of a model, and how that is computed for several sources at once.

use crate::answers::Answer;
use crate::picture::Picture;
use crate::refusal::Refusal;
use crate::room::Hosted;
use gatto_data::images::Pixels;
use gatto_data::sound::Frames;
use gatto_model::{
    AttentionKind, Constraints, Continuing, Draw, Filled, Labelled, ModelError, Prediction, Request, Saved,
    Writers,
};
use gatto_search::{Follower, Sampling, SearchConfig, beam_memory};
use std::sync::Arc;

/// Tokens that are told for each gap of a text.
const FILLINGS: usize = 5;

/// What is read.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    /// A text.
    Text(String),
    /// An image, prepared for the model.
    Image(Arc<Picture>),
    /// A sound, prepared for the model.
    Sound(Arc<Frames>),
}

/// One source, and what is wanted of its output.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) reading: Reading,
    pub(crate) constraints: Constraints,
    /// Where its draws come from, if its tokens are drawn.
    pub(crate) draw: Draw,
}

impl Item {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.reading {
            Reading::Text(text) => Some(text),
            Reading::Image(_) | Reading::Sound(_) => None,
        }
    }

    fn frames(&self) -> Option<&Frames> {
        match &self.reading {
            Reading::Sound(frames) => Some(frames),
            Reading::Text(_) | Reading::Image(_) => None,
        }
    }

    fn request(&self) -> Request<'_> {
        match &self.reading {
            Reading::Text(text) => Request::new(text.as_str(), &self.constraints),
            Reading::Image(picture) => Request::new(&picture.pixels, &self.constraints),
            Reading::Sound(frames) => Request::new(frames.as_ref(), &self.constraints),
        }
    }
}

/// What is asked of a model. Sources of which the same is asked may be computed together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Way {
    /// The best outputs of a search: one, or so many.
    Best { search: SearchConfig, count: Option<usize> },
    /// What is said in a piece of a recording, and when.
    Heard { search: SearchConfig },
    /// Outputs that are drawn.
    Drawn { search: SearchConfig, sampling: Sampling, count: Option<usize> },
    /// The most probable tokens at a place, and how the output goes on behind them.
    Others { search: SearchConfig, at: Option<usize>, count: usize },
    /// What a language model writes behind a text.
    Continued { search: SearchConfig, sampling: Option<Sampling>, count: Option<usize> },
    /// A label.
    Classified,
    /// A label for each word.
    Labelled,
    /// Gaps that are filled.
    Filled,
}

impl Way {
    /// How many sequences are followed for each source, and the most tokens of one; nothing if nothing is written.
    fn sequences(&self) -> Option<(usize, usize)> {
        match self {
            Self::Best { search, .. }
            | Self::Heard { search }
            | Self::Continued { search, sampling: None, .. } => Some((search.beam, search.max_length)),
            Self::Drawn { search, count, .. } | Self::Continued { search, count, .. } => {
                Some((count.unwrap_or(1), search.max_length))
            }
            Self::Others { search, count, .. } => {
                Some((search.beam.saturating_mul(*count), search.max_length))
            }
            Self::Classified | Self::Labelled | Self::Filled => None,
        }
    }

    /// The most sources that are computed together, so that the search needs no more than so many bytes; a refusal if
    /// one is too much.
    pub(crate) fn most_rows(&self, saved: &Saved, batch: usize, memory: u64) -> Result<usize, Refusal> {
        let Some((beam, length)) = self.sequences() else { return Ok(batch) };
        let state = saved.plan.state_bytes(length);
        let one = beam_memory(1, beam, saved.model.vocabularies().target, state).bytes.max(1);
        match memory / one {
            0 => Err(Refusal::Large(format!(
                "a beam of {beam} with up to {length} tokens needs {} MiB, and there are {} for it; ask for a smaller \
                 `beam` or `n_best`, or a lower `max_length`",
                one >> 20,
                memory >> 20
            ))),
            rows => Ok(batch.min(usize::try_from(rows).unwrap_or(usize::MAX))),
        }
    }
}

/// The tokens of a source, which those that are computed together have in common; a refusal if the model cannot read so
/// many. Images are all of one size.
pub(crate) fn length(hosted: &Hosted, way: &Way, index: usize, item: &Item) -> Result<usize, Refusal> {
    let (saved, Some(text)) = (&hosted.saved, item.text()) else {
        return Ok(item.frames().map_or(0, Frames::len));
    };
    Ok(match way {
        Way::Continued { .. } => saved.tokens.target.encode(text).len(),
        Way::Labelled => saved.tokens.source.encode_words(text).0.len(),
        Way::Filled => saved.encode_gaps(text).len(),
        Way::Best { .. } | Way::Heard { .. } | Way::Drawn { .. } | Way::Others { .. } | Way::Classified => {
            saved.encode_source(index, text)?.len()
        }
    })
}

/// What a model makes of sources, in their order.
pub(crate) fn answers(
    saved: &Saved,
    way: &Way,
    items: &[&Item],
    follower: &dyn Follower,
) -> Result<Vec<Answer>, ModelError> {
    let rows = items.len();
    let requests = || items.iter().map(|item| item.request()).collect::<Vec<_>>();
    let texts = || items.iter().map(|item| item.text().unwrap_or_default()).collect::<Vec<_>>();
    let draws = || items.iter().map(|item| item.draw).collect::<Vec<_>>();
    let writers = |search: &SearchConfig| {
        Ok::<_, ModelError>(Writers::alone(saved)?.searching(search.clone()).followed_by(follower))
    };
    Ok(match way {
        Way::Best { search, count } => {
            let found = writers(search)?.best(&requests(), count.unwrap_or(1), rows)?;
            let answer =
                |(item, found): (&&Item, Vec<_>)| Answer::of_predictions(saved, item.text(), &found, *count);
            items.iter().zip(found).filter_map(answer).collect()
        }
        Way::Heard { search } => {
            let found: Vec<Prediction> =
                writers(search)?.best(&requests(), 1, rows)?.into_iter().flatten().collect();
            let traces = match saved.plan.attentions().contains(&AttentionKind::Cross) {
                true => {
                    let written = found.iter().map(|found| found.hypothesis.tokens.clone());
                    let pairs: Vec<_> = items.iter().filter_map(|item| item.frames()).zip(written).collect();
                    saved.trace_sounds(&pairs)?
                }
                false => Vec::new(),
            };
            let mut traces = traces.iter();
            found.iter().map(|found| Answer::of_heard(saved, found, traces.next())).collect()
        }
        Way::Drawn { search, sampling, count } => {
            let found =
                writers(search)?.drawn_each(&requests(), &draws(), sampling, count.unwrap_or(1), rows)?;
            let answer =
                |(item, found): (&&Item, Vec<_>)| Answer::of_predictions(saved, item.text(), &found, *count);
            items.iter().zip(found).filter_map(answer).collect()
        }
        Way::Others { search, at, count } => {
            let found = writers(search)?.others(&requests(), *at, *count, rows)?;
            let answer = |(item, found): (&&Item, Vec<_>)| Answer::of_others(saved, item.text(), &found);
            items.iter().zip(found).map(answer).collect()
        }
        Way::Continued { search, sampling, count } => {
            let draws = draws();
            let continuing = Continuing {
                search,
                drawn: sampling.as_ref().map(|sampling| (sampling, draws.as_slice())),
                count: count.unwrap_or(1),
                batch: rows,
                follower: Some(follower),
            };
            let texts = texts();
            let found = saved.continue_each(&texts, &continuing)?;
            let answer = |(text, found): (&&str, Vec<_>)| Answer::of_continued(saved, text, &found, *count);
            texts.iter().zip(found).filter_map(answer).collect()
        }
        Way::Classified => {
            let found = match items.iter().map(|item| image(item)).collect::<Option<Vec<Pixels>>>() {
                Some(images) => saved.classify_images(&images, rows)?,
                None => saved.classify(&texts(), rows)?,
            };
            let answer = |(item, found): (&&Item, _)| Answer::of_class(saved, item.text(), found);
            items.iter().zip(found).map(answer).collect()
        }
        Way::Labelled => {
            let answer = |(text, found): (&str, Labelled)| Answer::of_labels(saved, text, found);
            let found = saved.label(&texts(), rows)?;
            texts().into_iter().zip(found).map(answer).collect()
        }
        Way::Filled => {
            let answer = |(text, found): (&str, Filled)| Answer::of_filled(saved, text, found);
            let found = saved.fill(&texts(), rows, FILLINGS)?;
            texts().into_iter().zip(found).map(answer).collect()
        }
    })
}

fn image(item: &Item) -> Option<Pixels> {
    match &item.reading {
        Reading::Text(_) | Reading::Sound(_) => None,
        Reading::Image(picture) => Some(picture.pixels.clone()),
    }
}
