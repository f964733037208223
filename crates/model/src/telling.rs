//! What a model without a decoder tells of texts: a label for each, or a label for each of its words.

use crate::config::{Pooling, Task, Writer};
use crate::error::ModelError;
use crate::model::Model;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use crate::trace::MOST_SCORES;
use burn::tensor::activation::softmax;
use gatto_data::images::Pixels;
use gatto_data::tokens::END;
use gatto_data::{Batch, Limits, Padded, evaluation_batches, in_input_order, prediction_batches};
use gatto_kernels::crew::Crew;
use gatto_nn::Noise;

/// What a model thinks of a text as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    /// The most probable label, by its id.
    pub label: u32,
    /// The probabilities of all labels, by id.
    pub probabilities: Vec<f32>,
    /// The tokens of the text for the eye, its end included, and what each counted, where that is learned.
    pub weights: Option<Vec<(String, f32)>>,
}

/// What a model thinks of the words of a text, which white space separates.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// The words.
    pub words: Vec<String>,
    /// The most probable label of each, by its id.
    pub labels: Vec<u32>,
    /// The probability of each label.
    pub confidences: Vec<f32>,
}

/// Tokens of a source without their end, and the positions among them that are asked about.
pub(crate) type Asked = (Vec<u32>, Vec<usize>);

/// What was told of one source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// The probabilities of all answers, for each position that was asked about.
    pub(crate) probabilities: Vec<Vec<f32>>,
    /// What each token counted.
    pub(crate) weights: Option<Vec<f32>>,
}

impl Saved {
    /// The label of each source, in order. Sources of similar length are computed together, at most
    /// `batch` at a time.
    pub fn classify<S: AsRef<str>>(
        &self,
        sources: &[S],
        batch: usize,
    ) -> Result<Vec<Classified>, ModelError> {
        self.require(Task::Classify)?;
        let tokenizer = &self.tokens.source;
        let asked: Vec<Asked> =
            sources.iter().map(|source| (tokenizer.encode(source.as_ref()), vec![0])).collect();
        let answers = self.answers(&asked, batch)?;
        let classified = |(answer, (tokens, _)): (Answer, &Asked)| {
            let shown = tokens.iter().chain([&END]).map(|&id| tokenizer.token(id).to_owned());
            let weights = answer.weights.map(|weights| shown.zip(weights).collect());
            let probabilities = answer.probabilities.into_iter().next().unwrap_or_default();
            Classified { label: best(&probabilities).0, probabilities, weights }
        };
        Ok(answers.into_iter().zip(&asked).map(classified).collect())
    }

    /// The label of each image, in order; they are prepared as the model's configuration says. At most `batch` are
    /// computed together.
    pub fn classify_images(&self, images: &[Pixels], batch: usize) -> Result<Vec<Classified>, ModelError> {
        self.require(Task::Classify)?;
        let mut sources = Vec::with_capacity(images.len());
        for (index, image) in images.iter().enumerate() {
            sources.push(self.source(index, image.into())?);
        }
        let limits = Limits::examples(batch.min(self.plan.most_images()));
        let work = prediction_batches(sources, &limits)?.into_iter().map(|batch| (self.model.clone(), batch));
        let told = Crew::of_current_pool().each(work.collect(), |(model, batch): (Model, Batch)| {
            let answers = answers_of(&model, &batch, 1, &vec![&[0][..]; batch.rows()]);
            batch.indices.into_iter().zip(answers).collect::<Vec<_>>()
        });
        let classified = |answer: Answer| {
            let probabilities = answer.probabilities.into_iter().next().unwrap_or_default();
            Classified { label: best(&probabilities).0, probabilities, weights: None }
        };
        Ok(in_input_order(told.into_iter().flatten()).into_iter().map(classified).collect())
    }

    /// The labels of the words of each source, in order.
    pub fn label<S: AsRef<str>>(&self, sources: &[S], batch: usize) -> Result<Vec<Labelled>, ModelError> {
        self.require(Task::Label)?;
        let asked: Vec<Asked> =
            sources.iter().map(|source| self.tokens.source.encode_words(source.as_ref())).collect();
        let answers = self.answers(&asked, batch)?;
        let labelled = |(answer, source): (Answer, &S)| {
            let (labels, confidences) = answer.probabilities.iter().map(|found| best(found)).unzip();
            let words = source.as_ref().split_whitespace().map(str::to_owned).collect();
            Labelled { words, labels, confidences }
        };
        Ok(answers.into_iter().zip(sources).map(labelled).collect())
    }

    /// What is told at the positions that are asked about; a label of the whole stands at position 0.
    pub(crate) fn answers(&self, asked: &[Asked], batch: usize) -> Result<Vec<Answer>, ModelError> {
        let mut rows = Vec::with_capacity(asked.len());
        for (index, (source, _)) in asked.iter().enumerate() {
            self.check_source(index, source.len())?;
            rows.push((source.clone(), Vec::new()));
        }
        let scores = (MOST_SCORES / self.model.vocabularies().target.max(1)).clamp(1, BATCH_TOKENS);
        let limits = Limits { batch_tokens: Some(scores), batch_examples: Some(batch) };
        let mut found = Vec::with_capacity(asked.len());
        for batch in evaluation_batches(&rows, &limits)? {
            let places: Vec<&[usize]> =
                batch.indices.iter().map(|&index| asked[index as usize].1.as_slice()).collect();
            let tokens = batch.source.tokens().map_or(0, |tokens| tokens.width);
            let width = if self.task == Task::Classify { 1 } else { tokens };
            let answers = answers_of(&self.model, &batch, width, &places);
            found.extend(batch.indices.into_iter().zip(answers));
        }
        Ok(in_input_order(found))
    }

    /// Refuses more tokens than can be read at once.
    fn check_source(&self, index: usize, tokens: usize) -> Result<(), ModelError> {
        let framed = match &self.plan.writer {
            Writer::Head(Task::Classify, head) => head.pooling == Some(Pooling::ClassToken),
            Writer::Head(task, _) => *task == Task::BidirectionalLanguageModel,
            Writer::Decoder(_) => false,
        };
        let count = tokens + 1 + usize::from(framed);
        match self.plan.most_source() {
            Some(limit) if count > limit => Err(ModelError::BeyondPositions { index, count, limit }),
            _ if tokens > LONGEST_SOURCE => {
                Err(ModelError::TooLong { index, count: tokens, limit: LONGEST_SOURCE })
            }
            _ => Ok(()),
        }
    }
}

/// What is told of a batch at the positions that are asked about, where a source has `width` of them.
fn answers_of(model: &Model, batch: &Batch, width: usize, places: &[&[usize]]) -> Vec<Answer> {
    let mut answers = vec![Answer::default(); places.len()];
    if places.iter().all(|places| places.is_empty()) {
        return answers;
    }
    let rows: Vec<usize> = places
        .iter()
        .enumerate()
        .flat_map(|(row, places)| places.iter().map(move |place| row * width + place))
        .collect();
    let noise = &mut Noise::none();
    let memory = model.encode(&batch.source, noise);
    let told = memory.and_then(|memory| model.tell_at(&memory, Some(&rows), noise));
    let Some(told) = told else { return answers };
    let count = told.logits.dims()[1];
    let probabilities = softmax(told.logits, 1).try_into_vec_as::<f32>().unwrap_or_default();
    let mut probabilities = probabilities.chunks_exact(count.max(1)).map(<[f32]>::to_vec);
    let weights = told.weights.map(|weights| weights.try_into_vec_as::<f32>().unwrap_or_default());
    for (row, (answer, places)) in answers.iter_mut().zip(places).enumerate() {
        answer.probabilities = probabilities.by_ref().take(places.len()).collect();
        let of_row = |(weights, tokens): (&Vec<f32>, &Padded)| {
            weights[row * tokens.width..][..tokens.lengths[row]].to_vec()
        };
        answer.weights = weights.as_ref().zip(batch.source.tokens()).map(of_row);
    }
    answers
}

/// The most probable answer, and its probability; of equals, the first.
fn best(probabilities: &[f32]) -> (u32, f32) {
    let better = |best: (u32, f32), next: (u32, f32)| if next.1 > best.1 { next } else { best };
    (0..).zip(probabilities.iter().copied()).reduce(better).unwrap_or((0, 0.0))
}
