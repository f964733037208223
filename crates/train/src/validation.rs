//! Looking at a model from outside, on examples that it does not learn from.

use crate::asked::{Asked, Draws};
use crate::config::Config;
use crate::corpora;
use crate::learning::answered;
use crate::record::{Event, Recorder, Sample, ValidFigures};
use crate::vocabulary::Vocabulary;
use gatto_data::builtin::shapes::ScenePart;
use gatto_data::images::HeldImages;
use gatto_data::sound::{self, HeldSounds};
use gatto_data::{Batch, Coder, Corpus, DataError, Limits, Part, TokenizerPair};
use gatto_kernels::crew::Crew;
use gatto_metrics::ExactMatch;
use gatto_model::config::Plan;
use gatto_model::{Model, Task, write};
use gatto_nn::Noise;
use std::borrow::Cow;
use std::ops::AddAssign;
use std::path::Path;

/// Sums over the answers to some examples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Σ −log p of the right answers, in nats.
    pub loss: f64,
    /// Answers whose score is the highest.
    pub right: usize,
    /// Answers that were asked for.
    pub asked: usize,
}

impl Tally {
    /// Counts the answers that a model, which takes part in no gradient, gives to one more batch. Of
    /// each example the same tokens are hidden every time.
    pub fn count(&mut self, model: &Model, config: &Config, batch: &Batch) {
        Self::each(model, config, batch).into_iter().for_each(|tally| *self += tally);
    }

    /// The answers that such a model gives, of each example of a batch by itself.
    pub fn each(model: &Model, config: &Config, batch: &Batch) -> Vec<Self> {
        let (task, vocabulary) = (config.task, model.vocabularies().source);
        let asked = Asked::new(task, batch, &config.train.masking(), vocabulary, Draws::Example);
        Self::of(model, task, batch, &asked)
    }

    /// The same for what is asked already.
    pub(crate) fn of(model: &Model, task: Task, batch: &Batch, asked: &Asked<'_>) -> Vec<Self> {
        let answers = answered(model, task, batch, asked, &mut Noise::none()).answers(&asked.targets);
        let mut tallies = vec![Self::default(); batch.rows()];
        let answers =
            asked.targets.ids.iter().zip(&asked.targets.weights).zip(&answers.best).zip(&answers.losses);
        for (answer, (((id, &weight), best), loss)) in answers.enumerate() {
            if weight > 0.0 {
                let tally = &mut tallies[asked.example_of(answer)];
                tally.loss += f64::from(*loss);
                tally.right += usize::from(id == best);
                tally.asked += 1;
            }
        }
        tallies
    }

    /// The mean loss of an answer.
    pub fn mean(&self) -> f64 {
        self.loss / self.asked.max(1) as f64
    }

    /// The share of right answers.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.asked.max(1) as f64
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Self) {
        self.loss += more.loss;
        self.right += more.right;
        self.asked += more.asked;
    }
}

/// The examples of a validation.
#[derive(Debug)]
pub enum Validation {
    /// Texts.
    Texts {
        /// All of them.
        batches: Vec<Batch>,
        /// What each example's output is compared with, by its number; only where text is written.
        references: Vec<String>,
        /// The first sources, as far as samples are taken of them.
        sources: Vec<String>,
    },
    /// Images.
    Images(HeldImages),
    /// Recordings.
    Sounds(HeldSounds),
}

/// Images that are validated on together.
const IMAGES_AT_ONCE: usize = 64;
/// Recordings that are validated on together, at most.
const SOUNDS_AT_ONCE: usize = 32;
/// Examples whose outputs are written down at every validation: the first.
const SAMPLES: usize = 4;
/// The most letters of a text that is written down.
const MOST_LETTERS: usize = 1000;

impl Validation {
    /// The validation part of a configuration, if it has one.
    pub(crate) fn open(
        config: &Config,
        plan: &Plan,
        base: &Path,
        vocabulary: &Vocabulary,
        recorder: &mut dyn Recorder,
    ) -> Result<Option<Self>, DataError> {
        if let Some(sound) = plan.sound {
            return Self::open_sounds(config, sound, base, vocabulary, recorder);
        }
        let Some(images) = plan.images else {
            let corpus = corpora::open(config, base, Part::Valid)?;
            return corpus
                .map(|mut corpus| Self::read(corpus.as_mut(), config, &vocabulary.coder(), recorder))
                .transpose();
        };
        let Some(set) = corpora::open_images(config, base, ScenePart::Valid)? else { return Ok(None) };
        let (coder, count) = (vocabulary.image_coder(), config.train.valid_examples as u64);
        let max_length = config.train.max_length;
        let held = HeldImages::new(set, coder, images, count, IMAGES_AT_ONCE, config.data.skip_bad)?;
        let (held, too_long) = held.no_longer_than(max_length);
        if held.is_empty() {
            let problem = format!(
                "has no image to validate on ({too_long} have a caption with more than train.max_length = {max_length} \
                 tokens); check the list, or raise train.max_length"
            );
            return Err(DataError::Config { key: "data.valid".into(), problem });
        }
        if too_long > 0 {
            let note = format!("validation leaves out {too_long} images with a too long caption");
            recorder.record(&Event::Noted(&note));
        }
        Ok(Some(Self::Images(held)))
    }

    /// The same of recordings.
    fn open_sounds(
        config: &Config,
        preparation: sound::Preparation,
        base: &Path,
        vocabulary: &Vocabulary,
        recorder: &mut dyn Recorder,
    ) -> Result<Option<Self>, DataError> {
        let Some(sounds) = corpora::open_sounds(config, base, Part::Valid)? else { return Ok(None) };
        let hearing = vocabulary.hearing(config, base, preparation)?;
        let (count, max_length) = (config.train.valid_examples as u64, config.train.max_length);
        let limits = Limits { batch_examples: Some(SOUNDS_AT_ONCE), ..config.train.sound_limits() };
        let held = HeldSounds::new(sounds.set, hearing, 0..count, &limits, config.data.skip_bad)?;
        let (held, too_long) = held.no_longer_than(max_length);
        let skipped = sounds.skipped.total();
        if held.is_empty() {
            let problem = format!(
                "has no recording to validate on ({too_long} have a text with more than train.max_length = \
                 {max_length} tokens); check the list, or raise train.max_length"
            );
            return Err(DataError::Config { key: "data.valid".into(), problem });
        }
        if skipped + too_long > 0 {
            let note =
                format!("validation leaves out {skipped} bad recordings and {too_long} with a too long text");
            recorder.record(&Event::Noted(&note));
        }
        Ok(Some(Self::Sounds(held)))
    }

    /// Reads as many examples of a corpus as `config` asks for, and notes what had to be left out.
    pub fn read(
        corpus: &mut dyn Corpus,
        config: &Config,
        coder: &Coder,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, DataError> {
        let (most, max_length) = (config.train.valid_examples, config.train.max_length);
        let (mut examples, mut references, mut sources, mut too_long) =
            (Vec::new(), Vec::new(), Vec::new(), 0);
        while examples.len() < most
            && let Some((example, rows)) = coder.read(corpus)?
        {
            if rows.0.len().max(rows.1.len()) > max_length {
                too_long += 1;
                continue;
            }
            examples.push(rows);
            if let Coder::Texts(tokens) = coder {
                references.push(tokens.target.normalise(&example.target));
                if sources.len() < SAMPLES {
                    sources.push(shortened(&example.source));
                }
            }
        }
        let skipped = corpus.skipped();
        if examples.is_empty() {
            let problem = format!(
                "has no example to validate on ({skipped} bad lines, {too_long} with more than \
                 train.max_length = {max_length} tokens); check the file, or raise train.max_length"
            );
            return Err(DataError::Config { key: "data.valid".into(), problem });
        }
        if skipped + too_long > 0 {
            let note = format!("validation leaves out {skipped} bad lines and {too_long} too long examples");
            recorder.record(&Event::Noted(&note));
        }
        let limits = Limits::tokens(4096.max(max_length + 1));
        Ok(Self::Texts { batches: coder.batches(&examples, &limits)?, references, sources })
    }

    fn len(&self) -> usize {
        match self {
            Self::Texts { batches, .. } => batches.len(),
            Self::Images(held) => held.len(),
            Self::Sounds(held) => held.len(),
        }
    }

    /// A batch; none if nothing in it can be used.
    fn batch(&self, number: usize) -> Result<Option<Cow<'_, Batch>>, DataError> {
        match self {
            Self::Texts { batches, .. } => Ok(Some(Cow::Borrowed(&batches[number]))),
            Self::Images(held) => Ok(held.batch(number)?.map(Cow::Owned)),
            Self::Sounds(held) => Ok(held.batch(number)?.map(Cow::Owned)),
        }
    }

    /// Whether an output is what is wanted of an example: for an image one of its captions.
    fn count(&self, exact: &mut ExactMatch, output: &str, index: u64, tokens: &TokenizerPair) {
        match self {
            Self::Texts { references, .. } => exact.count(output, &references[index as usize]),
            Self::Images(held) => {
                let captions = held.texts(index).iter().map(|text| tokens.target.normalise(text));
                let captions: Vec<String> = captions.collect();
                let right = captions.iter().find(|caption| *caption == output);
                exact.count(output, right.or(captions.first()).map_or("", String::as_str));
            }
            Self::Sounds(held) => exact.count(output, &tokens.target.normalise(held.text(index))),
        }
    }

    /// An example with what was written of it.
    fn sample(&self, index: u64, output: &str, tokens: &TokenizerPair) -> Sample {
        let (source, reference) = match self {
            Self::Texts { references, sources, .. } => {
                (sources.get(index as usize).cloned(), references.get(index as usize).cloned())
            }
            Self::Images(held) => (None, held.texts(index).first().map(|text| tokens.target.normalise(text))),
            Self::Sounds(held) => (None, Some(tokens.target.normalise(held.text(index)))),
        };
        let reference = shortened(&reference.unwrap_or_default());
        Sample { source, reference, output: shortened(output) }
    }

    /// The figures of a model that takes part in no gradient, and what it wrote of the first examples.
    pub fn figures(
        &self,
        model: &Model,
        config: &Config,
        tokens: &TokenizerPair,
        crew: &Crew,
    ) -> Result<(ValidFigures, Vec<Sample>), DataError> {
        let writes = config.task.writes_of_sources();
        let work = (0..self.len()).map(|number| (model.clone(), number)).collect();
        let seen: Vec<Result<Seen, DataError>> = crew.each(work, |(model, number)| {
            let (mut tally, mut exact, mut samples) = Seen::default();
            let Some(batch) = self.batch(number)? else { return Ok((tally, exact, samples)) };
            tally.count(&model, config, &batch);
            if writes {
                let most = vec![config.search.max_length; batch.rows()];
                let written = write(&model, &batch.source, &most);
                for (hypothesis, &index) in written.iter().zip(&batch.indices) {
                    let output = tokens.target.decode(&hypothesis.tokens);
                    self.count(&mut exact, &output, index, tokens);
                    samples.push((index, output));
                }
                keep_first(&mut samples);
            }
            Ok((tally, exact, samples))
        });
        let (mut tally, mut exact, mut samples) = Seen::default();
        for found in seen {
            let (more, matching, written) = found?;
            tally += more;
            exact += matching;
            samples.extend(written);
        }
        keep_first(&mut samples);
        let samples = samples.iter().map(|(index, output)| self.sample(*index, output, tokens)).collect();
        let figures = ValidFigures {
            step: 0,
            loss: tally.mean(),
            perplexity: tally.mean().exp(),
            accuracy: tally.accuracy(),
            exact_match: writes.then(|| exact.share()),
            best: false,
            seconds: 0.0,
        };
        Ok((figures, samples))
    }
}

/// What a batch adds: answers, outputs that are right, and outputs by the number of their example.
type Seen = (Tally, ExactMatch, Vec<(u64, String)>);

/// The outputs of the first examples, in order.
fn keep_first(samples: &mut Vec<(u64, String)>) {
    samples.sort_unstable_by_key(|&(index, _)| index);
    samples.truncate(SAMPLES);
}

/// The beginning of a text that is too long to be written down at every validation.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
