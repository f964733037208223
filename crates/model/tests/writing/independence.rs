//! What a sentence becomes depends on nothing but the sentence: not on how many are computed together, on
//! which stand beside it, or on the number of threads. Not nearly: every bit. And what search says of its
//! output is what scoring that output says.

use burn::tensor::Device;
use gatto_data::tokens::{Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_model::config::{RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Prediction, Saved, SharingConfig,
    Task, Vocabularies,
};
use gatto_nn::attention::ScoreKind;
use gatto_search::SearchConfig;

const SENTENCES: usize = 1000;

fn word(number: u64) -> String {
    format!("w{number}")
}

/// Sentences of 1 to 12 words.
fn sentences() -> Vec<String> {
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word((seed >> 33) % 190)
    };
    let sentence = |number: usize| (0..1 + number * 7 % 12).map(|_| next()).collect::<Vec<_>>().join(" ");
    (0..SENTENCES).map(sentence).collect()
}

fn saved(config: ModelConfig) -> Saved {
    let plan = config.plan(true).expect("a plan");
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let tokens =
        TokenizerPair::together(Tokenizer::train(&recipe, (0..190).map(word)).expect("a vocabulary"));
    let model = Model::new(&plan, Vocabularies::of(&tokens), 5, &Device::flex());
    Saved { task: config.task, plan, model, tokens, labels: None, search: SearchConfig::default() }
}

fn models() -> Vec<(String, Saved)> {
    let settings = TransformerConfig { width: 64, heads: 4, layers: 2, ..Default::default() };
    let transformer = ModelConfig {
        encoder: Some(EncoderConfig::Transformer(settings.clone())),
        decoder: Some(DecoderConfig::Transformer(settings)),
        ..ModelConfig::new(Task::Translate)
    };
    let recurrent = |score| {
        let reading = RecurrentEncoderConfig { width: 40, bidirectional: true, ..Default::default() };
        let writing =
            RecurrentDecoderConfig { width: 70, embedding: Some(48), output: Some(48), ..Default::default() };
        ModelConfig {
            encoder: Some(EncoderConfig::Lstm(reading)),
            decoder: Some(DecoderConfig::Lstm(writing)),
            attention: Some(AttentionConfig { score, ..Default::default() }),
            sharing: SharingConfig { output: true, ..Default::default() },
            ..ModelConfig::new(Task::Translate)
        }
    };
    let looking = [ScoreKind::Additive, ScoreKind::General];
    let recurrent = looking.map(|score| (format!("recurrent, {score:?}"), saved(recurrent(score))));
    recurrent.into_iter().chain([("transformer".to_owned(), saved(transformer))]).collect()
}

fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

#[test]
fn neither_company_nor_threads_change_a_bit() {
    let sentences = sentences();
    for (name, mut saved) in models() {
        for beam in [1, 5] {
            saved.search = SearchConfig { beam, max_length: 8, ..SearchConfig::default() };
            let (model, tokens, plan) = (saved.model.clone(), saved.tokens.clone(), saved.plan.clone());
            let written =
                move |threads: usize, batch: usize, sentences: Vec<String>| -> Vec<Vec<Prediction>> {
                    let (model, tokens, plan) = (model.clone(), tokens.clone(), plan.clone());
                    with_threads(threads, move || {
                        let search = SearchConfig { beam, max_length: 8, ..SearchConfig::default() };
                        let saved =
                            Saved { task: Task::Translate, plan, model, tokens, labels: None, search };
                        saved.predict_best(&sentences, batch, beam).expect("predictions")
                    })
                };
            let alone = written(1, 1, sentences.clone());
            assert!(alone.iter().all(|best| !best.is_empty()));
            for (threads, batch) in [(2, 1), (1, 7), (2, 7), (1, 64), (2, 64), (3, 64)] {
                let found = written(threads, batch, sentences.clone());
                let other = (0..SENTENCES).find(|&row| found[row] != alone[row]);
                let shown = other.map(|row| (&found[row], &alone[row]));
                assert!(other.is_none(), "{name}, beam {beam}, {threads} threads, batch {batch}: {shown:?}");
            }
            // The other way round, each has other neighbours.
            let mut turned = written(2, 64, sentences.iter().rev().cloned().collect());
            turned.reverse();
            assert_eq!(turned, alone, "{name}, beam {beam}");
        }
    }
}

#[test]
fn what_search_reports_is_what_scoring_gives() {
    let sentences: Vec<String> = sentences().into_iter().take(100).collect();
    for (name, mut saved) in models() {
        saved.search = SearchConfig { beam: 5, max_length: 8, ..SearchConfig::default() };
        let found = saved.predict_best(&sentences, 16, 5).expect("predictions");
        let mut checked = 0;
        for (source, best) in sentences.iter().zip(&found) {
            assert!(best.windows(2).all(|pair| pair[0].score >= pair[1].score), "{name}: sorted");
            for Prediction { text, hypothesis, .. } in best {
                if saved.tokens.target.encode(text) != hypothesis.tokens {
                    continue; // a word that is not in the vocabulary has no text
                }
                let scored = saved.score(&[source], &[text], 1).expect("scores").remove(0);
                assert!(
                    scored.log_probabilities.starts_with(&hypothesis.log_probabilities),
                    "{name}: {source}"
                );
                checked += 1;
            }
        }
        assert!(checked > 100, "{name}: {checked} sequences were scored");
    }
}
