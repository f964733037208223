//! Small translators that were never trained, and what they write.

mod images;
mod independence;
mod masking;
mod shortlist;
mod sounds;
mod wishes;

use burn::tensor::Device;
use gatto_data::tokens::{Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_model::config::{
    FeedKind, FocusKind, QueryKind, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Prediction, Request, Saved,
    SharingConfig, Task, Vocabularies, Writers,
};
use gatto_nn::Precision;
use gatto_nn::attention::ScoreKind;
use gatto_search::SearchConfig;

pub(crate) const SENTENCES: usize = 1000;

pub(crate) fn word(number: u64) -> String {
    format!("w{number}")
}

/// Sentences of 1 to 12 words.
pub(crate) fn sentences() -> Vec<String> {
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word((seed >> 33) % 190)
    };
    let sentence = |number: usize| (0..1 + number * 7 % 12).map(|_| next()).collect::<Vec<_>>().join(" ");
    (0..SENTENCES).map(sentence).collect()
}

pub(crate) fn saved(config: ModelConfig) -> Saved {
    let plan = config.plan(true).expect("a plan");
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let tokens =
        TokenizerPair::together(Tokenizer::train(&recipe, (0..190).map(word)).expect("a vocabulary"));
    let model = Model::new(&plan, Vocabularies::of(&tokens), 5, &Device::flex());
    Saved {
        task: config.task,
        plan,
        model,
        tokens,
        labels: None,
        search: SearchConfig::default(),
        statistics: None,
        shortlist: None,
    }
}

pub(crate) fn models() -> Vec<(String, Saved)> {
    let settings = TransformerConfig { width: 64, heads: 4, layers: 2, ..Default::default() };
    let transformer = ModelConfig {
        encoder: Some(EncoderConfig::Transformer(settings.clone())),
        decoder: Some(DecoderConfig::Transformer(settings)),
        ..ModelConfig::new(Task::Translate)
    };
    let recurrent = |attention: AttentionConfig| {
        let reading = RecurrentEncoderConfig { width: 40, bidirectional: true, ..Default::default() };
        let writing =
            RecurrentDecoderConfig { width: 70, embedding: Some(48), output: Some(48), ..Default::default() };
        ModelConfig {
            encoder: Some(EncoderConfig::Lstm(reading)),
            decoder: Some(DecoderConfig::Lstm(writing)),
            attention: Some(attention),
            sharing: SharingConfig { output: true, ..Default::default() },
            ..ModelConfig::new(Task::Translate)
        }
    };
    let additive = AttentionConfig { score: ScoreKind::Additive, ..Default::default() };
    let general = AttentionConfig { score: ScoreKind::General, ..Default::default() };
    let hard = AttentionConfig { focus: FocusKind::Hard, prediction_seed: Some(3), ..additive.clone() };
    let covering = AttentionConfig {
        coverage: true,
        feed: FeedKind::Attentional,
        query: QueryKind::Previous,
        ..additive.clone()
    };
    let looking = [("additive", additive), ("general", general), ("hard", hard), ("covering", covering)];
    let recurrent =
        looking.map(|(name, attention)| (format!("recurrent, {name}"), saved(recurrent(attention))));
    recurrent.into_iter().chain([("transformer".to_owned(), saved(transformer))]).collect()
}

/// The same models with their weights made ready for prediction: as they are, and in eight bits.
pub(crate) fn prepared_models() -> Vec<(String, Saved)> {
    let prepared = |precision: Precision| {
        models().into_iter().map(move |(name, mut saved)| {
            saved.model.prepare(precision);
            (format!("{name}, {precision:?}"), saved)
        })
    };
    prepared(Precision::Float).chain(prepared(Precision::Int8)).collect()
}

/// The best outputs of each sentence.
pub(crate) fn best(saved: &Saved, sentences: &[String], batch: usize, count: usize) -> Vec<Vec<Prediction>> {
    let requests: Vec<Request<'_>> =
        sentences.iter().map(|sentence| Request::free(sentence.as_str())).collect();
    let writers = Writers::alone(saved).expect("a translator");
    writers.best(&requests, count, batch).expect("predictions")
}
