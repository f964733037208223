//! The flags of `gatto metric`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, value_parser};
use gatto::metrics::translation::Tokenizer;
use gatto::metrics::translation::significance::SEED;
use std::path::PathBuf;

/// `gatto metric`
#[derive(Debug, Args)]
pub(crate) struct Metric {
    /// What to measure.
    #[command(subcommand)]
    pub(super) name: Name,
}

/// The metrics.
#[derive(Debug, Subcommand)]
pub(super) enum Name {
    /// BLEU: how many n-grams of the outputs the references have too
    Bleu(BleuFlags),
    /// chrF: the F-score of n-grams of characters, and of words with --word-order 2 (chrF++)
    Chrf(ChrfFlags),
    /// Translation edit rate: edits and shifts for each word of the references
    Ter(TerFlags),
    /// Word error rate: edits for each word of the references
    Wer(ErrorFlags),
    /// Character error rate: edits for each character of the references
    Cer(ErrorFlags),
    /// Phoneme error rate: edits for each phoneme of the references, with white space between phonemes
    Per(Texts),
    /// ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words and the longest sequence in common
    ///
    /// A line is one sentence, so ROUGE-Lsum would be ROUGE-L.
    Rouge(RougeFlags),
    /// The share of outputs that are a reference, word for word
    Exact(Texts),
    /// Labels: accuracy, precision, recall and F1 of each, and which are taken for which
    Labels(LabelFlags),
    /// Spans that tags of words make (B-PER, I-PER, O): precision, recall and F1 of whole spans
    Spans(SpanFlags),
    /// Perplexity, from log p of each text as `gatto score` writes it; REF has the texts
    Perplexity(Pair),
    /// Alignment error rate of links in the Pharaoh format (0-0 1-2); in REF, 1?2 is a link that may be found
    Alignment(Pair),
    /// Expected calibration error: whether confidence can be believed; each output is a confidence and a label
    Calibration(CalibrationFlags),
}

/// Answers and what they should be, and how the result is written.
#[derive(Debug, Args)]
pub(super) struct Pair {
    /// What should be, one line for each answer (may be gzipped)
    #[arg(value_name = "REF")]
    pub(super) reference: PathBuf,
    /// Read answers from FILE (may be gzipped) in place of standard input
    #[arg(short, long, value_name = "FILE")]
    pub(super) input: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// `gatto metric labels`
#[derive(Debug, Args)]
pub(super) struct LabelFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) pair: Pair,
    /// A line has a label for each word, with white space between; else a line is a label
    #[arg(long)]
    pub(super) words: bool,
    /// Add how often each label was told for each
    #[arg(long)]
    pub(super) confusion: bool,
}

/// `gatto metric spans`
#[derive(Debug, Args)]
pub(super) struct SpanFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) pair: Pair,
    /// How tags make spans
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Scheme::Lenient)]
    pub(super) scheme: Scheme,
}

/// How tags make spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scheme {
    /// Every stretch that tags can mean, as in conlleval
    Lenient,
    /// B begins a span, and I goes on with it
    Iob2,
    /// The same with E for its end, and S for a span of one word
    Iobes,
}

/// `gatto metric calibration`
#[derive(Debug, Args)]
pub(super) struct CalibrationFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) pair: Pair,
    /// Bins of equal width that confidences are sorted into
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u16).range(1..=1000))]
    pub(super) bins: u16,
}

/// What is compared, and how the result is written.
#[derive(Debug, Args)]
pub(super) struct Texts {
    /// References, one line for each output (may be gzipped); of more than one file, each has a reference for
    /// every output
    #[arg(value_name = "REF", required = true)]
    pub(super) references: Vec<PathBuf>,
    /// Read outputs from FILE (may be gzipped) in place of standard input
    #[arg(short, long, value_name = "FILE")]
    pub(super) input: Option<PathBuf>,
    /// Print the score of each line, in place of the score of all together
    #[arg(long)]
    pub(super) lines: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Whether a score is more than chance.
#[derive(Debug, Args)]
pub(super) struct Chance {
    /// How it is asked.
    #[command(flatten)]
    pub(super) asked: Asked,
    /// How to tell chance from more than chance
    #[arg(long, value_enum, value_name = "TEST", default_value_t = Test::Bootstrap, requires = "against")]
    pub(super) test: Test,
    /// Samples that a bootstrap draws [default: 1000]
    #[arg(long, value_name = "N", value_parser = draws(), requires = "Asked")]
    pub(super) samples: Option<u32>,
    /// Trials that a randomisation makes [default: 10000]
    #[arg(long, value_name = "N", value_parser = draws(), requires = "against")]
    pub(super) trials: Option<u32>,
    /// Where the draws come from
    #[arg(long, value_name = "N", default_value_t = SEED, requires = "Asked")]
    pub(super) seed: u64,
}

/// What is asked about chance.
#[derive(Debug, Args)]
#[group(id = "Asked", multiple = true)]
pub(super) struct Asked {
    /// Add the interval that holds the score with a confidence of 95 %, by bootstrap resampling
    #[arg(long, conflicts_with = "lines")]
    pub(super) confidence: bool,
    /// Compare with the outputs of another system, and tell how likely such a difference is by chance
    #[arg(long, value_name = "FILE", conflicts_with = "lines")]
    pub(super) against: Option<PathBuf>,
}

/// Tests of the difference between two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Test {
    /// Draw lines again and again, the same for both systems
    Bootstrap,
    /// Exchange lines of the systems at random
    Randomisation,
}

/// `gatto metric bleu`
#[derive(Debug, Args)]
pub(super) struct BleuFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) texts: Texts,
    /// How a line is parted into tokens
    #[arg(long, value_name = "HOW", default_value = "13a", value_parser = tokenizers())]
    pub(super) tokenize: Tokenizer,
    /// What becomes of an order without a match
    #[arg(long, value_name = "HOW", default_value = "exp", value_parser = ["exp", "floor", "add-k", "none"])]
    pub(super) smooth: String,
    /// How much floor or add-k adds [default: 0.1 for floor, 1 for add-k]
    #[arg(long, value_name = "VALUE", value_parser = smooth_value)]
    pub(super) smooth_value: Option<f64>,
    /// Let capitals count as small letters
    #[arg(long)]
    pub(super) lowercase: bool,
    /// Leave orders out that the outputs are too short for, as is always done with --lines
    #[arg(long)]
    pub(super) effective_order: bool,
    /// The longest n-grams
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u16).range(1..=100))]
    pub(super) max_order: u16,
    /// Whether it is chance.
    #[command(flatten)]
    pub(super) chance: Chance,
}

/// `gatto metric chrf`
#[derive(Debug, Args)]
pub(super) struct ChrfFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) texts: Texts,
    /// The longest n-grams of words: 2 is chrF++
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(..=100))]
    pub(super) word_order: u16,
    /// The longest n-grams of characters
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = value_parser!(u16).range(..=100))]
    pub(super) char_order: u16,
    /// How many times recall weighs as much as precision
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..=1000))]
    pub(super) beta: u32,
    /// Let capitals count as small letters
    #[arg(long)]
    pub(super) lowercase: bool,
    /// Let white space count as a character
    #[arg(long)]
    pub(super) whitespace: bool,
    /// Whether it is chance.
    #[command(flatten)]
    pub(super) chance: Chance,
}

/// `gatto metric ter`
#[derive(Debug, Args)]
pub(super) struct TerFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) texts: Texts,
    /// Turn escapes back and let punctuation stand alone
    #[arg(long)]
    pub(super) normalized: bool,
    /// Leave punctuation out
    #[arg(long)]
    pub(super) no_punct: bool,
    /// Let --normalized and --no-punct see to Chinese and Japanese characters too
    #[arg(long)]
    pub(super) asian_support: bool,
    /// Let capitals differ from small letters
    #[arg(long)]
    pub(super) case_sensitive: bool,
    /// Whether it is chance.
    #[command(flatten)]
    pub(super) chance: Chance,
}

/// `gatto metric wer` and `gatto metric cer`
#[derive(Debug, Args)]
pub(super) struct ErrorFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) texts: Texts,
    /// Let capitals count as small letters
    #[arg(long)]
    pub(super) lowercase: bool,
    /// Leave punctuation out
    #[arg(long)]
    pub(super) strip_punctuation: bool,
}

/// `gatto metric rouge`
#[derive(Debug, Args)]
pub(super) struct RougeFlags {
    /// What is compared.
    #[command(flatten)]
    pub(super) texts: Texts,
    /// Compare the stems of English words in place of the words
    #[arg(long)]
    pub(super) stem: bool,
}

fn tokenizers() -> impl TypedValueParser<Value = Tokenizer> {
    let names = PossibleValuesParser::new(Tokenizer::ALL.map(Tokenizer::name));
    names.try_map(|name| name.parse::<Tokenizer>())
}

fn draws() -> impl TypedValueParser<Value = u32> {
    value_parser!(u32).range(1..=1_000_000)
}

fn smooth_value(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("write a number from 0 to 1000000".to_owned()),
    }
}
