//! A training run, from its first step or from a checkpoint to its end.

use crate::checkpoint::{self, Checkpoint, Keep, RunState, failed};
use crate::config::{Config, ConfigFile, Figure};
use crate::error::TrainError;
use crate::examples::Examples;
use crate::learning::Lesson;
use crate::optimiser::Optimiser;
use crate::origin::Origin;
use crate::record::tensorboard::EventWriter;
use crate::record::{Entry, Event, Journal, Recorder, SampleFigures, StepFigures, ValidFigures, draw_curves};
use crate::schedule::better;
use crate::start;
use crate::update::{Updated, update};
use crate::validation::Validation;
use crate::vocabulary::Vocabulary;
use burn::module::Module;
use burn::tensor::Device;
use gatto_data::Stream;
use gatto_data::random::mixed;
use gatto_kernels::crew::Crew;
use gatto_model::{CONFIG, Model, ModelError, Stored, Task, WEIGHTS, weights};
use gatto_nn::Precision;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const JOURNAL: &str = "metrics.jsonl";
const CHECKPOINTS: &str = "checkpoints";
const TENSORBOARD: &str = "tensorboard";
const CURVES: &str = "curves.svg";
const LOCK: &str = ".lock";

/// Where and how to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The run directory.
    pub directory: PathBuf,
    /// Whether to go on with the run in it.
    pub resume: bool,
    /// Where to compute.
    pub device: Device,
    /// Set from elsewhere to save and stop after the step under way.
    pub stop: Arc<AtomicBool>,
}

impl RunOptions {
    /// A new run in `directory` on the CPU.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            resume: false,
            device: Device::flex(),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps were made.
    Completed,
    /// The validation figure stopped getting better.
    StoppedEarly,
    /// It was asked to stop; it can be resumed.
    Interrupted,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Updates made.
    pub step: u64,
    /// Why it ended.
    pub ending: Ending,
    /// Figures of the last validation of this session.
    pub last: Option<ValidFigures>,
    /// The best validation figure, and its step.
    pub best: Option<(f64, u64)>,
}

/// Trains as the configuration says, and leaves a run directory.
pub fn run(
    file: &ConfigFile,
    options: &RunOptions,
    recorder: &mut dyn Recorder,
) -> Result<Outcome, TrainError> {
    let directory = options.directory.as_path();
    let new = !directory.exists();
    let _lock = prepare(file, options)?;
    let (mut session, model) = Session::open(file, options, recorder).inspect_err(|_| {
        if new {
            fs::remove_dir_all(directory).ok(); // nothing began here
        }
    })?;
    sign(file, &session.vocabulary, session.texts, directory)?;
    recorder.record(&Event::Started {
        step: session.state.step,
        steps: file.config.train.steps,
        parameters: model.num_params(),
        directory,
    });
    let (model, ending) = session.train(model, options, recorder)?;
    session.finish(&model, ending, recorder)
}

/// Makes the run directory, or finds the one to go on with, and locks it.
fn prepare(file: &ConfigFile, options: &RunOptions) -> Result<File, TrainError> {
    let directory = options.directory.as_path();
    let config = directory.join(CONFIG);
    let used = config.exists();
    if used && !options.resume {
        return Err(TrainError::Occupied { path: directory.to_owned() });
    }
    let weights = directory.join(WEIGHTS);
    if used && Stored::open(&weights).is_ok_and(|stored| stored.precision() == Precision::Int8) {
        let problem = "which are for prediction and cannot be trained";
        return Err(ModelError::Quantised { path: weights, problem }.into());
    }
    if !used && options.resume {
        return Err(TrainError::NothingToResume { path: directory.to_owned() });
    }
    fs::create_dir_all(directory).map_err(failed(directory, "cannot be created"))?;
    let lock = directory.join(LOCK);
    let lock_file = File::create(&lock).map_err(failed(&lock, "cannot be created"))?;
    if lock_file.try_lock().is_err() {
        return Err(TrainError::Locked { path: directory.to_owned() });
    }
    if options.resume {
        let before = ConfigFile::read(&config, &[])?.config;
        if let Some(key) = difference(&before, &file.config) {
            return Err(TrainError::OtherConfig { path: directory.to_owned(), key });
        }
    }
    checkpoint::tidy(directory)?;
    checkpoint::tidy(&directory.join(CHECKPOINTS))?;
    Ok(lock_file)
}

/// Writes down what the run is, once it is known that it can start: a directory in which nothing
/// could begin stays free for the corrected configuration.
fn sign(file: &ConfigFile, vocabulary: &Vocabulary, texts: bool, directory: &Path) -> Result<(), TrainError> {
    Origin::of(file).save(directory)?;
    gatto_data::files::replace(&directory.join(CONFIG), |out| out.write_all(file.text.as_bytes()))?;
    // Last: a vocabulary without a configuration would be taken for one that was put there.
    Ok(vocabulary.save(directory, texts)?)
}

/// The first key in which two configurations differ, the number of steps aside.
fn difference(before: &Config, now: &Config) -> Option<String> {
    let mut before = before.clone();
    before.train.steps = now.train.steps;
    let [before, now] = [&before, now].map(|config| toml::Table::try_from(config).unwrap_or_default());
    differing_key(&before, &now)
}

fn differing_key(before: &toml::Table, now: &toml::Table) -> Option<String> {
    let key = before.keys().chain(now.keys()).find(|key| before.get(*key) != now.get(*key))?;
    let inside = match (before.get(key), now.get(key)) {
        (Some(toml::Value::Table(before)), Some(toml::Value::Table(now))) => differing_key(before, now),
        _ => None,
    };
    Some(inside.map_or_else(|| key.clone(), |inside| format!("{key}.{inside}")))
}

/// All that training holds but the model, which goes from step to step by value so that its
/// parameters can change where they are.
struct Session<'a> {
    config: &'a Config,
    directory: &'a Path,
    vocabulary: Vocabulary,
    /// Whether it reads or writes text.
    texts: bool,
    stream: Box<dyn Stream>,
    validation: Option<Validation>,
    optimiser: Optimiser,
    state: RunState,
    journal: Journal,
    events: EventWriter,
    crew: Crew,
    last: Option<ValidFigures>,
    /// Seconds of earlier sessions, and when this one began.
    clock: (f64, Instant),
    /// When the last line of figures was written, and the tokens by then.
    lately: (Instant, u64),
}

impl<'a> Session<'a> {
    fn open(
        file: &'a ConfigFile,
        options: &'a RunOptions,
        recorder: &mut dyn Recorder,
    ) -> Result<(Self, Model), TrainError> {
        let (config, base) = (&file.config, file.base.as_path());
        let directory = options.directory.as_path();
        let checkpoint = resumed(directory, options.resume, recorder)?;
        let plan = config.plan().map_err(ModelError::from)?;
        let mut examples = Examples::open(config, &plan, base, recorder)?;
        let vocabulary = examples.vocabulary(config, base, directory, recorder)?;
        recorder.record(&Event::Preparing("reading the first examples"));
        let validation = Validation::open(config, &plan, base, &vocabulary, recorder)?;
        let model = start::drawn(config, vocabulary.sizes(), &options.device)?;
        let (model, optimiser, state) = match checkpoint {
            Some(found) => {
                let path = directory.join(CHECKPOINTS);
                (weights::install(model, found.weights, &path, true)?, found.optimiser, found.run)
            }
            None => (start::transfer(model, file, &vocabulary)?, Optimiser::default(), RunState::default()),
        };
        let model = start::frozen(model, config)?;
        let stream = examples.stream(config, base, &vocabulary, state.stream.clone())?;
        let journal = Journal::open(&directory.join(JOURNAL), state.metrics_bytes)?;
        let events = open_events(file, directory, options.resume, state.step)?;
        let session = Self {
            config,
            directory,
            vocabulary,
            texts: plan.has_texts(),
            stream,
            validation,
            optimiser,
            journal,
            events,
            crew: Crew::of_current_pool(),
            last: None,
            clock: (state.seconds, Instant::now()),
            lately: (Instant::now(), state.tokens),
            state,
        };
        Ok((session, model))
    }

    fn train(
        &mut self,
        mut model: Model,
        options: &RunOptions,
        recorder: &mut dyn Recorder,
    ) -> Result<(Model, Ending), TrainError> {
        let config = &self.config.train;
        let mut saved = self.state.step;
        let ending = loop {
            if self.state.step >= config.steps {
                break Ending::Completed;
            }
            // Before a step and not behind it: a run that is resumed here makes no further one.
            if config.patience > 0 && self.state.waited >= config.patience {
                break Ending::StoppedEarly;
            }
            if options.stop.load(Ordering::Relaxed) {
                break Ending::Interrupted;
            }
            model = self.step(model, recorder)?;
            let step = self.state.step;
            if step.is_multiple_of(config.validate_every) || step == config.steps {
                self.validate(&model, recorder)?;
            }
            if step.is_multiple_of(config.checkpoint_every) {
                self.save(&model, false)?;
                saved = step;
            }
        };
        if saved < self.state.step {
            self.save(&model, ending == Ending::Interrupted)?;
        } else if ending != Ending::Interrupted {
            // Killed between its last checkpoint and here, a run has old ones left to remove.
            self.keep(false).prune(&self.directory.join(CHECKPOINTS), self.state.step)?;
        }
        Ok((model, ending))
    }

    /// One update.
    fn step(&mut self, model: Model, recorder: &mut dyn Recorder) -> Result<Model, TrainError> {
        let config = &self.config.train;
        let step = self.state.step + 1;
        let mut batches = Vec::new();
        for _ in 0..config.accumulate {
            let (epoch, left_out) = (self.stream.epoch(), self.left_out());
            batches.push(self.stream.next()?);
            if self.stream.epoch() > epoch {
                self.note_left_out(left_out, recorder);
            }
        }
        let lesson = Lesson {
            task: self.config.task,
            config,
            attention: self.config.attention.as_ref(),
            ctc: self.config.ctc.map(|ctc| ctc.weight),
            step,
            key: mixed(self.config.seed, step),
            average_loss: self.state.average_loss.unwrap_or_default(),
        };
        let learning_rate = self.state.schedule.learning_rate(config, step);
        let Updated { model, loss, tokens, norm } =
            update(model, &batches, &lesson, learning_rate, &mut self.optimiser, &self.crew)?;
        self.state.step = step;
        self.state.tokens += tokens as u64;
        self.state.pending.0 += loss;
        self.state.pending.1 += tokens as u64;
        let loss = loss / tokens.max(1) as f64;
        self.state.average_loss =
            Some(self.state.average_loss.map_or(loss, |average| average + (loss - average) / 20.0));
        recorder.record(&Event::Stepped { step, loss, tokens_per_second: self.speed() });
        if step.is_multiple_of(config.log_every) || step == config.steps {
            self.log(norm, learning_rate, recorder)?;
        }
        Ok(model)
    }

    /// Bad lines and over-long examples of this pass so far.
    fn left_out(&self) -> (u64, u64) {
        (self.stream.skipped(), self.stream.dropped())
    }

    fn note_left_out(&self, (skipped, dropped): (u64, u64), recorder: &mut dyn Recorder) {
        let most = self.config.train.max_length;
        if skipped > 0 {
            let what = match self.config.task {
                Task::Transcribe => "bad recordings",
                Task::Caption => "bad images",
                _ if self.texts => "bad lines",
                _ => "bad images",
            };
            recorder.record(&Event::Noted(&format!("{skipped} {what} were passed over in this pass")));
        }
        if dropped > 0 {
            let note =
                format!("{dropped} examples with more than train.max_length = {most} tokens were left out");
            recorder.record(&Event::Noted(&note));
        }
    }

    fn seconds(&self) -> f64 {
        self.clock.0 + self.clock.1.elapsed().as_secs_f64()
    }

    fn speed(&self) -> f64 {
        (self.state.tokens - self.lately.1) as f64 / self.lately.0.elapsed().as_secs_f64().max(1e-9)
    }

    fn log(
        &mut self,
        gradient_norm: f64,
        learning_rate: f64,
        recorder: &mut dyn Recorder,
    ) -> Result<(), TrainError> {
        let (loss, tokens) = std::mem::take(&mut self.state.pending);
        let figures = StepFigures {
            step: self.state.step,
            epoch: self.stream.epoch(),
            loss: loss / tokens.max(1) as f64,
            gradient_norm,
            learning_rate,
            tokens: self.state.tokens,
            tokens_per_second: self.speed(),
            seconds: self.seconds(),
        };
        self.lately = (Instant::now(), self.state.tokens);
        self.scalars(&[
            ("train/loss", figures.loss),
            ("train/gradient_norm", gradient_norm),
            ("train/learning_rate", learning_rate),
            ("train/tokens_per_second", figures.tokens_per_second),
        ])?;
        recorder.record(&Event::Logged(&figures));
        self.journal.write(&Entry::Train(figures))
    }

    fn scalars(&mut self, values: &[(&str, f64)]) -> Result<(), TrainError> {
        let step = self.state.step;
        let write = |events: &mut EventWriter| {
            values.iter().try_for_each(|(tag, value)| events.scalar(tag, *value as f32, step, now()))?;
            events.flush()
        };
        write(&mut self.events).map_err(failed(self.events.path(), "cannot be written"))
    }

    /// Looks at the model, keeps it if it is the best so far.
    fn validate(&mut self, model: &Model, recorder: &mut dyn Recorder) -> Result<(), TrainError> {
        let Some(validation) = &self.validation else { return Ok(()) };
        let begun = Instant::now();
        let plain = model.valid();
        let (mut figures, examples) =
            validation.figures(&plain, self.config, &self.vocabulary.tokens, &self.crew)?;
        let config = &self.config.train;
        let figure = match config.best_by {
            Figure::Loss => figures.loss,
            Figure::Perplexity => figures.perplexity,
            Figure::Accuracy => figures.accuracy,
            Figure::ExactMatch => figures.exact_match.unwrap_or_default(),
        };
        figures.step = self.state.step;
        figures.best = better(config.best_by, figure, self.state.best.map(|(best, _)| best));
        figures.seconds = self.seconds();
        self.state.schedule.validated(config, figure);
        if figures.best {
            self.state.best = Some((figure, self.state.step));
            self.state.waited = 0;
            weights::save(&self.directory.join(WEIGHTS), &weights::collect(&plain))?;
        } else {
            self.state.waited += 1;
        }
        let mut scalars = vec![("valid/loss", figures.loss), ("valid/accuracy", figures.accuracy)];
        scalars.extend(figures.exact_match.map(|share| ("valid/exact_match", share)));
        self.scalars(&scalars)?;
        recorder.record(&Event::Validated(&figures));
        self.journal.write(&Entry::Valid(figures.clone()))?;
        if !examples.is_empty() {
            self.journal.write(&Entry::Samples(SampleFigures { step: figures.step, examples }))?;
        }
        self.last = Some(figures);
        self.lately.0 += begun.elapsed(); // validation is not training
        self.draw()
    }

    fn save(&mut self, model: &Model, passing: bool) -> Result<(), TrainError> {
        self.state.metrics_bytes = self.journal.sync()?;
        self.state.seconds = self.seconds();
        self.state.stream = self.stream.state();
        let checkpoint = Checkpoint {
            run: self.state.clone(),
            weights: weights::collect(model),
            optimiser: self.optimiser.clone(),
        };
        checkpoint.save(&self.directory.join(CHECKPOINTS), self.keep(passing)).map(drop)
    }

    fn keep(&self, passing: bool) -> Keep {
        let train = &self.config.train;
        Keep { last: train.keep, every: train.checkpoint_every, passing }
    }

    fn draw(&self) -> Result<(), TrainError> {
        let picture = draw_curves(&Journal::read(&self.directory.join(JOURNAL))?);
        gatto_data::files::replace(&self.directory.join(CURVES), |out| out.write_all(picture.as_bytes()))?;
        Ok(())
    }

    fn finish(
        mut self,
        model: &Model,
        ending: Ending,
        recorder: &mut dyn Recorder,
    ) -> Result<Outcome, TrainError> {
        self.note_left_out(self.left_out(), recorder);
        let (step, path) = (self.state.step, self.directory.join(WEIGHTS));
        let averaged = match (ending, self.config.train.average) {
            (Ending::Interrupted, _) | (_, 0) => None,
            (_, count) => checkpoint::average(&self.directory.join(CHECKPOINTS), count)?,
        };
        if let Some(weights) = &averaged {
            weights::save(&path, weights)?;
        } else if self.state.best.is_none() {
            weights::save(&path, &weights::collect(model))?; // nothing to choose the best by
        }
        self.events.flush().map_err(failed(self.events.path(), "cannot be written"))?;
        self.draw()?;
        let reason = match (ending, averaged.is_some()) {
            (Ending::Interrupted, _) => "interrupted; everything is saved, go on with --resume".to_owned(),
            (_, true) => {
                format!("model.safetensors is the mean of the last {} checkpoints", self.config.train.average)
            }
            (Ending::StoppedEarly, _) => "the validation figure no longer gets better".to_owned(),
            (Ending::Completed, _) => "all steps made".to_owned(),
        };
        recorder.record(&Event::Finished { step, reason: &reason });
        Ok(Outcome { step, ending, last: self.last, best: self.state.best })
    }
}

/// The newest whole checkpoint of a run that goes on, if it has one yet.
fn resumed(
    directory: &Path,
    resume: bool,
    recorder: &mut dyn Recorder,
) -> Result<Option<Checkpoint>, TrainError> {
    if !resume {
        return Ok(None);
    }
    let (found, damaged) = Checkpoint::newest(&directory.join(CHECKPOINTS))?;
    for error in &damaged {
        recorder.record(&Event::Noted(&format!("{error}; going back to the checkpoint before it")));
    }
    match (found, damaged.into_iter().next_back()) {
        (None, Some(error)) => Err(error),
        (None, None) => {
            recorder
                .record(&Event::Noted("no checkpoint was written before the run was stopped; starting anew"));
            Ok(None)
        }
        (found, _) => Ok(found),
    }
}

fn open_events(
    file: &ConfigFile,
    directory: &Path,
    resume: bool,
    step: u64,
) -> Result<EventWriter, TrainError> {
    let folder = directory.join(TENSORBOARD);
    let opened = match resume {
        true => EventWriter::append(&folder, now(), step + 1, CHECKPOINTS),
        false => EventWriter::create(&folder, now()).and_then(|mut events| {
            events.text("config", &format!("```toml\n{}\n```", file.text), 0, now())?;
            Ok(events)
        }),
    };
    opened.map_err(failed(&folder, "cannot be written"))
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
