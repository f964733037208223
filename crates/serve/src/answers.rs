//! What clients are answered: the keys are those of `gatto predict --json`.

use gatto_inspect::look::{HeardWord, heard_words};
use gatto_model::{Classified, Continued, Filled, Labelled, Other, Prediction, Saved, SoundTrace};
use gatto_search::Hypothesis;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The answer to one text or image.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// A translation or a caption.
    Written(Written),
    /// The best translations or captions.
    Best(Best),
    /// What else could stand at a place.
    Others(Others),
    /// What a language model wrote behind a text.
    Continued(ContinuedText),
    /// The best continuations.
    BestContinued(BestContinued),
    /// A label.
    Classified(ClassifiedText),
    /// A label for each word.
    Labelled(LabelledText),
    /// A text with its gaps filled.
    Filled(FilledText),
    /// What is said in a recording.
    Transcribed(Transcribed),
    /// What is said in a piece of one.
    Heard(HeardPiece),
}

/// An output and how probable it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Output {
    /// The text.
    pub(crate) text: String,
    /// Its tokens.
    tokens: Vec<String>,
    /// log p of each token, and of the end if it was written.
    log_probabilities: Vec<f32>,
    /// log p of the whole.
    score: f32,
    /// What outputs are ranked by.
    normalised_score: f64,
    /// Whether the model ended it; otherwise the length limit did.
    finished: bool,
    /// How many of its tokens were given, as the beginning.
    #[serde(skip_serializing_if = "is_zero")]
    given: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Output {
    fn new(saved: &Saved, text: &str, hypothesis: &Hypothesis, normalised_score: f64, given: usize) -> Self {
        Self {
            text: text.to_owned(),
            tokens: shown(saved, &hypothesis.tokens),
            log_probabilities: hypothesis.log_probabilities.clone(),
            score: hypothesis.score(),
            normalised_score,
            finished: hypothesis.finished,
            given,
        }
    }

    /// The same without its text.
    pub(crate) fn untexted(self) -> Untexted {
        let Self { tokens, log_probabilities, score, normalised_score, finished, .. } = self;
        Untexted { tokens, log_probabilities, score, normalised_score, finished }
    }

    pub(crate) fn of(saved: &Saved, prediction: &Prediction) -> Self {
        Self::new(saved, &prediction.text, &prediction.hypothesis, prediction.score, prediction.given)
    }
}

/// Tokens of the target for the eye.
fn shown(saved: &Saved, tokens: &[u32]) -> Vec<String> {
    tokens.iter().map(|&id| saved.tokens.target.token(id).to_owned()).collect()
}

/// A translation or a caption.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Written {
    /// The source; images are not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(flatten)]
    pub(crate) output: Output,
}

/// The best translations or captions, the best first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Best {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    pub(crate) n_best: Vec<Output>,
}

/// What else could stand at a place of an output, the most probable first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Others {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    alternatives: Vec<Alternative>,
}

/// A token, and how the output goes on behind it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Alternative {
    token: String,
    probability: f32,
    #[serde(flatten)]
    output: Output,
}

/// A text and what a language model wrote behind it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ContinuedText {
    prompt: String,
    prompt_tokens: Vec<String>,
    prompt_log_probabilities: Vec<f32>,
    #[serde(flatten)]
    output: Output,
}

/// The best continuations of a text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct BestContinued {
    prompt: String,
    n_best: Vec<ContinuedText>,
}

/// The label of a text or an image.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ClassifiedText {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    label: String,
    confidence: f32,
    /// The probabilities of all labels.
    probabilities: BTreeMap<String, f32>,
    /// The tokens of the text, where it is learned what each counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<String>>,
    /// What each token counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f32>>,
}

/// The labels of the words of a text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LabelledText {
    source: String,
    words: Vec<String>,
    labels: Vec<String>,
    confidences: Vec<f32>,
}

/// A text with its gaps filled.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FilledText {
    source: String,
    text: String,
    /// The best tokens for each gap.
    gaps: Vec<Vec<Filling>>,
}

/// What is said in a recording, and when.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Transcribed {
    /// How long it is.
    pub(crate) seconds: f64,
    pub(crate) text: String,
    /// Its words, where the model knows when they sound.
    pub(crate) words: Vec<SpokenWord>,
    /// The pieces that it was heard in.
    pub(crate) pieces: Vec<TranscribedPiece>,
}

/// A word and when it sounds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SpokenWord {
    word: String,
    probability: Option<f32>,
    /// From which second of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<f64>,
    /// To which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<f64>,
}

/// A piece of a recording.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TranscribedPiece {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) output: Option<Untexted>,
}

/// How probable the text of a piece is; nothing where nothing is to be heard.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Untexted {
    tokens: Vec<String>,
    log_probabilities: Vec<f32>,
    score: f32,
    normalised_score: f64,
    finished: bool,
}

/// What was heard in a piece; times are those of the piece.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HeardPiece {
    #[serde(flatten)]
    pub(crate) output: Output,
    pub(crate) words: Vec<SpokenWord>,
}

/// A token that could fill a gap.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Filling {
    token: String,
    probability: f32,
}

impl Answer {
    /// The outputs for a source: one, or a list if so many were asked for.
    pub(crate) fn of_predictions(
        saved: &Saved,
        source: Option<&str>,
        found: &[Prediction],
        count: Option<usize>,
    ) -> Option<Self> {
        let source = source.map(str::to_owned);
        let mut outputs = found.iter().map(|prediction| Output::of(saved, prediction));
        match count {
            Some(_) => Some(Self::Best(Best { source, n_best: outputs.collect() })),
            None => outputs.next().map(|output| Self::Written(Written { source, output })),
        }
    }

    pub(crate) fn of_others(saved: &Saved, source: Option<&str>, found: &[Other]) -> Self {
        let alternative = |other: &Other| Alternative {
            token: other.token.clone(),
            probability: other.probability,
            output: Output::of(saved, &other.prediction),
        };
        let alternatives = found.iter().map(alternative).collect();
        Self::Others(Others { source: source.map(str::to_owned), alternatives })
    }

    pub(crate) fn of_continued(
        saved: &Saved,
        prompt: &str,
        found: &[Continued],
        count: Option<usize>,
    ) -> Option<Self> {
        let text = |found: &Continued| ContinuedText {
            prompt: prompt.to_owned(),
            prompt_tokens: shown(saved, &found.prompt),
            prompt_log_probabilities: found.prompt_log_probabilities.clone(),
            output: Output::new(saved, &found.text, &found.hypothesis, found.score, 0),
        };
        let mut texts = found.iter().map(text);
        match count {
            Some(_) => Some(Self::BestContinued(BestContinued {
                prompt: prompt.to_owned(),
                n_best: texts.collect(),
            })),
            None => texts.next().map(Self::Continued),
        }
    }

    /// What was heard in a piece, and when, where the model listens.
    pub(crate) fn of_heard(saved: &Saved, found: &Prediction, trace: Option<&SoundTrace>) -> Self {
        let word = |heard: HeardWord| SpokenWord {
            word: heard.written.text,
            probability: heard.written.probability,
            start: heard.heard.map(|(start, _)| start),
            end: heard.heard.map(|(_, end)| end),
        };
        let words = trace.map(|trace| heard_words(trace, &found.text)).unwrap_or_default();
        Self::Heard(HeardPiece {
            output: Output::of(saved, found),
            words: words.into_iter().map(word).collect(),
        })
    }

    pub(crate) fn of_class(saved: &Saved, source: Option<&str>, found: Classified) -> Self {
        let names = saved.labels.iter().flat_map(|labels| labels.names());
        let (tokens, weights) = found.weights.map(|weights| weights.into_iter().unzip()).unzip();
        Self::Classified(ClassifiedText {
            source: source.map(str::to_owned),
            label: label(saved, found.label),
            confidence: found.probabilities.get(found.label as usize).copied().unwrap_or_default(),
            probabilities: names.cloned().zip(found.probabilities).collect(),
            tokens,
            weights,
        })
    }

    pub(crate) fn of_labels(saved: &Saved, source: &str, found: Labelled) -> Self {
        Self::Labelled(LabelledText {
            source: source.to_owned(),
            words: found.words,
            labels: found.labels.into_iter().map(|id| label(saved, id)).collect(),
            confidences: found.confidences,
        })
    }

    pub(crate) fn of_filled(saved: &Saved, source: &str, found: Filled) -> Self {
        let filling =
            |(id, probability)| Filling { token: saved.tokens.source.token(id).to_owned(), probability };
        let gaps = found.gaps.into_iter().map(|gap| gap.into_iter().map(filling).collect()).collect();
        Self::Filled(FilledText { source: source.to_owned(), text: found.text, gaps })
    }

    /// The texts of a translation, the best first.
    pub(crate) fn texts(self) -> Vec<String> {
        match self {
            Self::Written(written) => vec![written.output.text],
            Self::Best(best) => best.n_best.into_iter().map(|output| output.text).collect(),
            _ => Vec::new(),
        }
    }
}

/// The name of a label.
fn label(saved: &Saved, id: u32) -> String {
    saved.labels.as_ref().and_then(|labels| labels.name(id)).unwrap_or_default().to_owned()
}
