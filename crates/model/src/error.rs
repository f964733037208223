//! What can be wrong with a model and its files.

use std::path::PathBuf;

impl From<crate::config::Complaint> for ModelError {
    fn from(complaint: crate::config::Complaint) -> Self {
        Self::Plan { key: complaint.key, message: complaint.message }
    }
}

/// A model that cannot be built, loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The configuration is not usable.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// The choices do not go together.
    #[error("`{key}` {message}")]
    Plan {
        /// The key.
        key: String,
        /// What is wrong with it, and the remedy.
        message: String,
    },
    /// There is no model in a directory.
    #[error("{}: is not a run directory: it has no {missing}; train a model with `gatto train CONFIG --out DIR`", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
        /// The first file that is missing.
        missing: &'static str,
    },
    /// The vocabulary or another data file is not usable.
    #[error(transparent)]
    Data(#[from] gatto_data::DataError),
    /// The vocabulary is not as the configuration says.
    #[error("{}: `tokens.shared` {message}", path.display())]
    Vocabulary {
        /// The configuration.
        path: PathBuf,
        /// What there is instead, and the remedy.
        message: String,
    },
    /// There are more or fewer labels than the weights tell apart.
    #[error(
        "{}: lists {found} labels, and the weights beside it tell {expected} apart; restore the file, or train again",
        path.display()
    )]
    OtherLabels {
        /// The labels.
        path: PathBuf,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The model is not for what is asked of it.
    #[error("the model is for `task = \"{found}\"`, and not for `task = \"{wanted}\"`")]
    OtherTask {
        /// What it is for.
        found: crate::Task,
        /// What is asked of it.
        wanted: crate::Task,
    },
    /// A text for a model that reads images, or the like.
    #[error("source {} is {found}, and the model reads {wanted}; give it that", index + 1)]
    OtherSource {
        /// Which, counted from zero.
        index: usize,
        /// What it is.
        found: &'static str,
        /// What the model reads: texts, images or sounds.
        wanted: &'static str,
    },
    /// A sound whose frames are not those that the model reads.
    #[error(
        "sound {} has frames of {found} values, and the model reads {wanted}; prepare it as the model's configuration says",
        index + 1
    )]
    OtherSound {
        /// Which, counted from zero.
        index: usize,
        /// Values of its frames.
        found: usize,
        /// Those that the model reads.
        wanted: usize,
    },
    /// A sound without a frame.
    #[error("sound {} is empty; leave it out", index + 1)]
    NoFrames {
        /// Which, counted from zero.
        index: usize,
    },
    /// A sound is longer than what is read at once.
    #[error("sound {} has {count} frames; at most {limit} can be read at once: cut it at its pauses", index + 1)]
    TooManyFrames {
        /// Which, counted from zero.
        index: usize,
        /// Its frames.
        count: usize,
        /// The most frames.
        limit: usize,
    },
    /// Models that prepare sounds in different ways.
    #[error(
        "model {model} reads sounds in another way than the first; only models with the same [sound] write together"
    )]
    OtherSounds {
        /// Which, counted from one.
        model: usize,
    },
    /// Models that prepare images in different ways.
    #[error(
        "model {model} reads images in another way than the first; only models with the same [images] write together"
    )]
    OtherImages {
        /// Which, counted from one.
        model: usize,
    },
    /// An image of another shape than the model reads.
    #[error(
        "image {} is {found:?} as height, width and channels, and the model reads {wanted:?}; prepare it as the model's \
         configuration says", index + 1
    )]
    OtherImage {
        /// Which, counted from zero.
        index: usize,
        /// Its height, width and channels.
        found: [usize; 3],
        /// Those that the model reads.
        wanted: [usize; 3],
    },
    /// A source is longer than what is read at once.
    #[error("source {} has {count} tokens; at most {limit} can be read at once: split it", index + 1)]
    TooLong {
        /// Which of the sources, from 0.
        index: usize,
        /// Its tokens.
        count: usize,
        /// The most tokens.
        limit: usize,
    },
    /// A source has more tokens than the model has positions for.
    #[error(
        "source {} has {count} tokens with its end, and `max_positions` of this model is {limit}: split it, \
         or train with more",
        index + 1
    )]
    BeyondPositions {
        /// Which of the sources, from 0.
        index: usize,
        /// Its tokens.
        count: usize,
        /// The most tokens.
        limit: usize,
    },
    /// A head that is to be masked is not there.
    #[error("there is no head {head}: {known}; heads are written ATTENTION:LAYER:HEAD, counted from 1")]
    NoHead {
        /// The head.
        head: crate::HeadPlace,
        /// The heads that there are.
        known: String,
    },
    /// What is wanted of an output cannot be had.
    #[error("source {}: {problem}", index + 1)]
    Constraints {
        /// Which of the sources, from 0.
        index: usize,
        /// What is wrong.
        problem: crate::ConstraintProblem,
    },
    /// Models that are to write together have other tokens.
    #[error(
        "model {model} of those that write together has other tokens: its {side} token {id} is `{theirs}`, and that \
         of the first is `{ours}`; train them with one vocabulary (`tokens.from`)"
    )]
    OtherTokens {
        /// Which of the models, from 1.
        model: usize,
        /// Whether it is of the source or of the target.
        side: &'static str,
        /// The first token that differs.
        id: u32,
        /// What it is in the first model.
        ours: String,
        /// What it is in the other.
        theirs: String,
    },
    /// States that tell nothing by themselves.
    #[error("the encoder of the model tells no tokens by itself; train one with [ctc]")]
    NoCtc,
    /// A language model that is none.
    #[error("{found}, and a language model is needed (`task = \"language-model\"`)")]
    NoLanguageModel {
        /// What it is instead.
        found: String,
    },
    /// A model that no shortlist can serve.
    #[error("{}: {reason}; a shortlist is for models that write of a text", path.display())]
    NotShortlistable {
        /// The run directory.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// There is no shortlist.
    #[error("{}: is not there; make one with `gatto shortlist {}`", path.display(), directory.display())]
    NoShortlist {
        /// The file.
        path: PathBuf,
        /// The run directory.
        directory: PathBuf,
    },
    /// A shortlist does not go with its model, or is none.
    #[error(
        "{}: is not a usable shortlist: {message}; make it again with `gatto shortlist {}`",
        path.display(),
        directory.display()
    )]
    BadShortlist {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
        /// The run directory.
        directory: PathBuf,
    },
    /// Models cannot write together.
    #[error(transparent)]
    Ensemble(#[from] gatto_search::EnsembleError),
    /// A file cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Unwritable(#[from] gatto_data::WriteError),
    /// A weights file is not a safetensors file that a model can have.
    #[error("{}: is not a usable weights file: {message}; restore it from a copy, or train again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A weights file in eight bits is not what is asked for.
    #[error("{}: holds weights of eight bits, {problem}; take the model that it was made of", path.display())]
    Quantised {
        /// The file.
        path: PathBuf,
        /// What cannot be done with it.
        problem: &'static str,
    },
    /// There is nothing in a model that could be kept in eight bits.
    #[error("{}: has no weights that could be kept in eight bits; use it as it is", path.display())]
    NothingToQuantise {
        /// The weights.
        path: PathBuf,
    },
    /// A folder that is to be made is there.
    #[error("{}: is there already and not an empty folder; name one that does not exist yet", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// A model has its weights ready for prediction and no parameters beside them.
    #[error(
        "the model was loaded for prediction alone; load it whole (`Saved::load_whole`) to ask for gradients"
    )]
    NotWhole,
    /// A weights file lacks a parameter of the model.
    #[error("{}: has no weights for `{name}`; it belongs to a model of another configuration", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The parameter.
        name: String,
    },
    /// A parameter has another shape in the file than in the model.
    #[error(
        "{}: `{name}` is {found:?} in the file and {expected:?} in the model; \
         make the widths and vocabularies of both the same, or leave this part out",
        path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The parameter.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape in the model.
        expected: Vec<usize>,
    },
}
