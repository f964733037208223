//! Translators that write together, as one: mostly a single one.
//!
//! What a source becomes depends on nothing but the source: those that are computed together have one length, so
//! that none is padded, and every thread takes whole batches.

use crate::beside::Beside;
use crate::config::{Reader, Task};
use crate::constraints::{Asked, Request};
use crate::continuing::{Draw, Drawing};
use crate::ctc::CtcStepping;
use crate::error::ModelError;
use crate::model::Model;
use crate::saved::{BATCH_TOKENS, Saved};
use crate::stepping::Stepping;
use crate::writing::Prediction;
use gatto_data::images::{Augmentation, Preparation};
use gatto_data::tokens::Tokenizer;
use gatto_data::{Batch, Limits, Source, in_input_order, prediction_batches, sound};
use gatto_kernels::crew::Crew;
use gatto_nn::Noise;
use gatto_search::{
    Beam, Ensemble, Followed, Follower, Found, Fusion, Hypothesis, Mean, Place, Ranked, Repeated, Sampling,
    SearchConfig, Wanted, alternatives, beam_search, samples, score,
};

/// How often a sentence is searched for again because the pieces of its words have made what must not be.
const MOST_BREACHES: usize = 64;

/// Translators with one vocabulary that write together.
pub struct Writers<'a> {
    models: Vec<&'a Saved>,
    mean: Mean,
    /// A language model that has a say, and how much.
    language: Option<(&'a Saved, f64)>,
    pub(crate) search: SearchConfig,
    follower: Option<&'a dyn Follower>,
}

/// What else could stand at a place of an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// The token for the eye; the one that ends a sequence is one too.
    pub token: String,
    /// Its probability at that place.
    pub probability: f32,
    /// The whole output with it.
    pub prediction: Prediction,
}

/// The models of one batch, as search sees them.
type Stepped<'a> = Followed<'a, Fusion<Ensemble<Stepping<'a>>, Beside<'a>>>;

impl<'a> Writers<'a> {
    /// One model by itself, which searches as its configuration says.
    pub fn alone(model: &'a Saved) -> Result<Self, ModelError> {
        Self::together(vec![model], Mean::default())
    }

    /// Several models, which search as the first says.
    pub fn together(models: Vec<&'a Saved>, mean: Mean) -> Result<Self, ModelError> {
        let (first, others) = models.split_first().ok_or(gatto_search::EnsembleError::Empty)?;
        models.iter().try_for_each(|model| model.require_writer())?;
        for (number, model) in (2..).zip(others) {
            if images_of(first) != images_of(model) {
                return Err(ModelError::OtherImages { model: number });
            }
            if sounds_of(first) != sounds_of(model) {
                return Err(ModelError::OtherSounds { model: number });
            }
            let (ours, theirs) = (&first.tokens, &model.tokens);
            for (side, ours, theirs) in
                [("source", &ours.source, &theirs.source), ("target", &ours.target, &theirs.target)]
            {
                check_alike(number, side, ours, theirs)?;
            }
        }
        let search = first.search.clone();
        Ok(Self { models, mean, language: None, search, follower: None })
    }

    /// The same with another search.
    pub fn searching(self, search: SearchConfig) -> Self {
        Self { search, ..self }
    }

    /// The same with someone who follows what is written, and may call it off; sentences are the places of requests.
    pub fn followed_by(self, follower: &'a dyn Follower) -> Self {
        Self { follower: Some(follower), ..self }
    }

    /// The same beside a language model with the same tokens, whose log-probabilities count `weight` times: shallow
    /// fusion.
    ///
    /// # Errors
    /// If it is no language model, or its tokens are others.
    pub fn beside_language_model(self, model: &'a Saved, weight: f64) -> Result<Self, ModelError> {
        if model.task != Task::LanguageModel {
            return Err(ModelError::NoLanguageModel {
                found: format!("the model is for `task = \"{}\"`", model.task),
            });
        }
        check_alike(self.models.len() + 1, "target", self.tokenizer(), &model.tokens.target)?;
        Ok(Self { language: Some((model, weight.max(0.0))), ..self })
    }

    /// The `count` best outputs for each request that the search finds, the best first; fewer where it finds no
    /// more. At most `batch` sources are computed together, and fewer where they are long.
    pub fn best(
        &self,
        requests: &[Request<'_>],
        count: usize,
        batch: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let (sources, wanted) = self.read(requests)?;
        let beam = self.search.for_outputs(count);
        self.on_batches(sources, Some(&wanted), batch, |model, rows| {
            let mut wanted: Vec<Wanted> = rows.iter().map(|&row| wanted[row].clone()).collect();
            let requests: Vec<Request<'_>> = rows.iter().map(|&row| requests[row]).collect();
            let found = self.as_wished(model, &requests, &mut wanted, &beam);
            let each = |(found, wanted): (Found, &Wanted)| {
                found.best.into_iter().map(|best| self.ranked(best, &wanted.prefix)).collect()
            };
            found.into_iter().zip(&wanted).map(each).collect()
        })
    }

    /// `count` outputs for each request whose tokens are drawn; `first` is the number of the first source in the
    /// whole input. What must or must not appear is not heeded. The samples of a seed are those that it and the
    /// seeds behind it give when asked for one.
    pub fn drawn(
        &self,
        requests: &[Request<'_>],
        first: u64,
        drawing: &Drawing,
        count: usize,
        batch: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let draws = drawing.draws(first, requests.len());
        self.drawn_each(requests, &draws, &drawing.sampling, count, batch)
    }

    /// [`Writers::drawn`] where each request has a seed and a number of its own.
    pub fn drawn_each(
        &self,
        requests: &[Request<'_>],
        draws: &[Draw],
        sampling: &Sampling,
        count: usize,
        batch: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let (sources, wanted) = self.read(requests)?;
        self.on_batches(sources, Some(&wanted), batch, |model, rows| {
            let prefixes: Vec<Vec<u32>> = rows.iter().map(|&row| wanted[row].prefix.clone()).collect();
            let limits: Vec<usize> = rows.iter().map(|&row| wanted[row].max_length).collect();
            let number = |row: usize, sample: usize, place: usize| draws[rows[row]].number(sample, place);
            let found = samples(model, &prefixes, &limits, count, sampling, number);
            let whole = |(written, prefix): (Vec<_>, &Vec<u32>)| {
                let each = written.into_iter().map(|written: gatto_search::Continuation| {
                    let hypothesis = written.whole(prefix);
                    let score = self.search.settings().normalisation.score(&hypothesis);
                    self.prediction(hypothesis, score, prefix.len())
                });
                each.collect()
            };
            found.into_iter().zip(&prefixes).map(whole).collect()
        })
    }

    /// The `count` most probable tokens at a place of each output, and how it goes on behind them; the best
    /// continuation that the search finds. The place is behind the prefix of the request, or `at` tokens behind
    /// the beginning of the best output.
    pub fn others(
        &self,
        requests: &[Request<'_>],
        at: Option<usize>,
        count: usize,
        batch: usize,
    ) -> Result<Vec<Vec<Other>>, ModelError> {
        let best = match at {
            Some(_) => Some(self.best(requests, 1, batch)?),
            None => None,
        };
        let written = |row: usize| best.as_ref().and_then(|best| best[row].first());
        let (sources, wanted) = self.read(requests)?;
        let beam = self.search.settings();
        self.on_batches(sources, Some(&wanted), batch, |model, rows| {
            let of_row = |(number, &row): (usize, &usize)| {
                let prefix = &wanted[row].prefix;
                let tokens = written(row).map_or(prefix, |best| &best.hypothesis.tokens);
                let position = at.unwrap_or(prefix.len());
                let place = Place {
                    tokens,
                    position,
                    count,
                    min_length: prefix.len() + wanted[row].min_length,
                    max_length: prefix.len() + wanted[row].max_length,
                };
                let found = alternatives(model, number, &place, &beam);
                let other = |found: gatto_search::Alternative| {
                    let score = beam.normalisation.score(&found.hypothesis);
                    Other {
                        token: self.tokenizer().token(found.token).to_owned(),
                        probability: found.probability,
                        prediction: self.prediction(found.hypothesis, score, position.min(tokens.len())),
                    }
                };
                found.into_iter().map(other).collect()
            };
            rows.iter().enumerate().map(of_row).collect()
        })
    }

    /// log p of each token of the targets, one for each source, and of their ends.
    pub fn score<S: AsRef<str>, T: AsRef<str>>(
        &self,
        sources: &[S],
        targets: &[T],
        batch: usize,
    ) -> Result<Vec<Hypothesis>, ModelError> {
        let sources: Vec<Asked<'_>> = sources.iter().map(|source| source.as_ref().into()).collect();
        self.score_each(&sources, targets, batch)
    }

    /// [`Writers::score`] of texts, images or sounds.
    pub fn score_each<T: AsRef<str>>(
        &self,
        sources: &[Asked<'_>],
        targets: &[T],
        batch: usize,
    ) -> Result<Vec<Hypothesis>, ModelError> {
        let targets: Vec<Vec<u32>> =
            targets.iter().map(|target| self.tokenizer().encode(target.as_ref())).collect();
        let room =
            self.models.iter().filter_map(|model| model.plan.most_target()).min().unwrap_or(usize::MAX);
        if let Some((index, target)) = targets.iter().enumerate().find(|(_, target)| target.len() >= room) {
            return Err(ModelError::BeyondPositions { index, count: target.len() + 1, limit: room });
        }
        let encode = |(index, source): (usize, &Asked<'_>)| self.encode(index, *source);
        let sources = sources.iter().enumerate().map(encode).collect::<Result<Vec<_>, _>>()?;
        self.on_batches(sources, None, batch, |model, rows| {
            let wanted = |&row: &usize| targets.get(row).cloned().unwrap_or_default();
            score(model.model().model(), &rows.iter().map(wanted).collect::<Vec<_>>())
        })
    }

    /// The tokens of each source, and what is wanted of its output.
    pub(crate) fn read(&self, requests: &[Request<'_>]) -> Result<(Vec<Source>, Vec<Wanted>), ModelError> {
        let one = |(index, request): (usize, &Request<'_>)| {
            let source = self.encode(index, request.source)?;
            let tokens = match &source {
                Source::Tokens(tokens) => tokens.len(),
                Source::Image(_) => 0, // how long its caption is, an image does not tell
                Source::Sound(frames) => self.states_of(frames.len()),
            };
            let longest = self.longest(tokens);
            let shortest = self.search.shortest(tokens).min(longest.saturating_sub(1));
            let wanted = request.constraints.wanted(self.tokenizer(), shortest, longest);
            Ok((source, wanted.map_err(|problem| ModelError::Constraints { index, problem })?))
        };
        requests.iter().enumerate().map(one).collect()
    }

    fn encode(&self, index: usize, source: Asked<'_>) -> Result<Source, ModelError> {
        let mut encoded = self.models.iter().map(|model| model.source(index, source));
        let first = encoded.next().ok_or(gatto_search::EnsembleError::Empty)?;
        encoded.try_for_each(|other| other.map(drop))?;
        first
    }

    /// How many states the first model makes of so many frames.
    fn states_of(&self, frames: usize) -> usize {
        frames.div_ceil(self.models[0].plan.frames_per_state().unwrap_or(1))
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.models[0].tokens.target
    }

    /// The most tokens to write for a source of this many: no more than there are positions for. A single
    /// network has its source, without the end, in the same sequence.
    fn longest(&self, source: usize) -> usize {
        let room = |model: &&Saved| {
            let taken = if model.plan.reader == Reader::Itself { source } else { 0 };
            model.plan.most_target().map(|most| most.saturating_sub(taken))
        };
        let language = self.language.as_ref().map(|(model, _)| model);
        let rooms = self.models.iter().chain(language).filter_map(room);
        rooms.fold(self.search.longest(source), usize::min)
    }

    /// What `work` makes of the rows of each batch, in the order of the sources. `wanted` says what is wanted of their
    /// outputs, which models with a shortlist choose from it; if it is not given, all tokens have scores.
    pub(crate) fn on_batches<R: Send>(
        &self,
        sources: Vec<Source>,
        wanted: Option<&[Wanted]>,
        batch: usize,
        work: impl Fn(&Stepped<'_>, &[usize]) -> Vec<R> + Sync,
    ) -> Result<Vec<R>, ModelError> {
        let images = self.models.iter().map(|model| model.plan.most_images()).min().unwrap_or(usize::MAX);
        let frames =
            sources.iter().map(|source| if let Source::Sound(frames) = source { frames.len() } else { 0 });
        let frames = frames.max().unwrap_or(0);
        let sounds =
            self.models.iter().map(|model| model.plan.most_sounds(frames)).min().unwrap_or(usize::MAX);
        let most = batch.min(images).min(sounds);
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(most) };
        let batches = prediction_batches(sources, &limits)?;
        let models = || self.models.iter().map(|saved| saved.model.clone()).collect::<Vec<Model>>();
        let language = || self.language.map(|(saved, _)| saved.model.clone());
        let each = batches.into_iter().map(|batch| (models(), language(), batch)).collect();
        let (mean, looking) = (self.mean, self.search.coverage > 0.0);
        let found = Crew::of_current_pool().each(each, |(models, language, batch): Part| {
            let rows: Vec<usize> = batch.indices.iter().map(|&index| index as usize).collect();
            let stepping = |(model, saved): (_, &&Saved)| {
                let stepping =
                    Stepping::new(model, model.encode(&batch.source, &mut Noise::none()), batch.rows());
                let stepping = if looking { stepping.looking() } else { stepping };
                match (&saved.shortlist, batch.source.tokens(), wanted) {
                    (Some(shortlist), Some(sources), Some(wanted)) => {
                        stepping.among(shortlist.lists(sources, rows.iter().map(|&row| &wanted[row])))
                    }
                    _ => stepping,
                }
            };
            let steppings: Vec<Stepping<'_>> = models.iter().zip(&self.models).map(stepping).collect();
            let others = self.beside(&models, &steppings, language.as_ref(), batch.rows());
            let weight = if self.search.ctc > 0.0 { 1.0 - self.search.ctc } else { 1.0 };
            let together = Fusion::new(Ensemble::new(steppings, mean)?, weight, others);
            let made = work(&Followed::new(together, rows.clone(), self.follower), &rows);
            Ok(batch.indices.into_iter().zip(made).collect::<Vec<_>>())
        });
        let found = found.into_iter().collect::<Result<Vec<_>, ModelError>>()?;
        Ok(in_input_order(found.into_iter().flatten()))
    }

    /// What else has a say over a batch, and how much.
    fn beside<'m>(
        &self,
        models: &'m [Model],
        steppings: &[Stepping<'m>],
        language: Option<&'m Model>,
        rows: usize,
    ) -> Vec<(Beside<'m>, f64)> {
        let mut others = Vec::new();
        if self.search.ctc > 0.0 {
            let told = |(model, stepping): (&'m Model, &Stepping<'m>)| {
                stepping.memory().and_then(|memory| CtcStepping::new(model, memory))
            };
            let told: Vec<CtcStepping> = models.iter().zip(steppings).filter_map(told).collect();
            let each = self.search.ctc / told.len().max(1) as f64;
            others.extend(told.into_iter().map(|told| (Beside::Ctc(told), each)));
        }
        if let (Some(model), Some((_, weight))) = (language, self.language) {
            others.push((Beside::Language(Stepping::new(model, None, rows)), weight));
        }
        others
    }

    /// Searches for one sentence in each row of the model; again where the best have words that must not be, without
    /// the tokens that wrote them, which are then among what is wanted. After [`MOST_BREACHES`] rounds only those
    /// outputs are left that have none, if there are any.
    pub(crate) fn as_wished(
        &self,
        model: &Stepped<'_>,
        requests: &[Request<'_>],
        wanted: &mut [Wanted],
        beam: &Beam,
    ) -> Vec<Found> {
        let mut found = beam_search(model, wanted, beam);
        for round in 0..=MOST_BREACHES {
            let mut again = Vec::new();
            for (row, (request, wanted)) in requests.iter().zip(&mut *wanted).enumerate() {
                let breach = |best: &Ranked| {
                    let tokens = best.written.clone().whole(&wanted.prefix).tokens;
                    request.constraints.breach(self.tokenizer(), &tokens, wanted.prefix.len())
                };
                let breaches: Vec<Option<Vec<u32>>> = found[row].best.iter().map(breach).collect();
                if round == MOST_BREACHES && breaches.iter().any(Option::is_none) {
                    let mut breaches = breaches.into_iter();
                    found[row].best.retain(|_| breaches.next().flatten().is_none());
                } else if breaches.iter().any(Option::is_some) {
                    wanted.never.extend(breaches.into_iter().flatten());
                    again.push(row);
                }
            }
            if again.is_empty() || round == MOST_BREACHES {
                break;
            }
            let of_these: Vec<Wanted> = again.iter().map(|&row| wanted[row].clone()).collect();
            let repeated = Repeated { model, rows: again.clone() };
            for (row, better) in again.into_iter().zip(beam_search(&repeated, &of_these, beam)) {
                found[row] = better;
            }
        }
        found
    }

    pub(crate) fn ranked(&self, Ranked { written, score }: Ranked, prefix: &[u32]) -> Prediction {
        self.prediction(written.whole(prefix), score, prefix.len())
    }

    fn prediction(&self, hypothesis: Hypothesis, score: f64, given: usize) -> Prediction {
        Prediction { text: self.tokenizer().decode(&hypothesis.tokens), hypothesis, score, given }
    }
}

/// The models of a thread, the language model beside them, and a batch.
type Part = (Vec<Model>, Option<Model>, Batch);

/// How a model reads images; what is changed at random belongs to training.
fn images_of(model: &Saved) -> Option<Preparation> {
    let plain = Augmentation::default();
    model.plan.images.map(|images| Preparation { augmentation: plain, ..images })
}

/// How a model reads sounds; what is changed at random belongs to training.
fn sounds_of(model: &Saved) -> Option<sound::Preparation> {
    let plain = sound::Augmentation::default();
    model.plan.sound.map(|sound| sound::Preparation { augmentation: plain, ..sound })
}

/// Refuses a model whose tokens are others than those of the first.
fn check_alike(
    model: usize,
    side: &'static str,
    ours: &Tokenizer,
    theirs: &Tokenizer,
) -> Result<(), ModelError> {
    let most = ours.size().max(theirs.size()) as u32;
    let differs = |id: &u32| ours.token(*id) != theirs.token(*id);
    match (0..most).find(differs) {
        None if ours.size() == theirs.size() && ours.kind() == theirs.kind() => Ok(()),
        found => {
            let id = found.unwrap_or(0);
            let [ours, theirs] = [ours, theirs].map(|tokenizer| match (id as usize) < tokenizer.size() {
                true => tokenizer.token(id).to_owned(),
                false => "nothing".to_owned(),
            });
            Err(ModelError::OtherTokens { model, side, id, ours, theirs })
        }
    }
}
