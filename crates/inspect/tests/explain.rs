//! Explanations are what they say: held to the model itself, asked in another way.

use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::Padded;
use gatto_data::tokens::{END, Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_inspect::explain::{Report, explain, report};
use gatto_model::config::{
    AlignedKind, FeedKind, FocusKind, QueryKind, RecurrentDecoderConfig, RecurrentEncoderConfig,
    TransformerConfig,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Forced, Model, ModelConfig, Prediction, Saved, Task,
    Trace, Vocabularies, log_probabilities, weights,
};
use gatto_nn::attention::ScoreKind;
use gatto_nn::{Activation, Initial, Noise};
use std::path::Path;

const SOURCES: [&str; 5] = ["the cat sees the dog", "dog", "", "a cat and a dog see the table", "the cat"];
const TARGETS: [&str; 5] =
    ["il gatto vede il cane", "cane", "un", "un gatto e un cane vedono il tavolo", "il gatto"];

/// A model with random weights, large enough that every token counts.
fn saved(attention: Option<AttentionConfig>) -> Saved {
    let reading =
        RecurrentEncoderConfig { width: 5, embedding: Some(4), bidirectional: true, ..Default::default() };
    let writing = RecurrentDecoderConfig { width: 6, embedding: Some(4), ..Default::default() };
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Gru(reading)),
        decoder: Some(DecoderConfig::Gru(writing)),
        attention,
        ..ModelConfig::new(Task::Translate)
    };
    of(config)
}

/// The same of layers of self-attention.
fn transformer() -> Saved {
    // Without the corners of a ReLU, at which a slope has no meaning.
    let activation = Activation::Gelu;
    let layers = || TransformerConfig { width: 6, layers: 2, heads: 3, activation, ..Default::default() };
    of(ModelConfig {
        encoder: Some(EncoderConfig::Transformer(layers())),
        decoder: Some(DecoderConfig::Transformer(layers())),
        ..ModelConfig::new(Task::Translate)
    })
}

fn of(config: ModelConfig) -> Saved {
    let plan = config.plan(false).expect("a plan");
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let [source, target] = [SOURCES, TARGETS]
        .map(|texts| Tokenizer::train(&recipe, texts.map(str::to_owned)).expect("a vocabulary"));
    let tokens = TokenizerPair::apart(source, target);
    let model = Model::new(&plan, Vocabularies::of(&tokens), 4, &Device::flex().autodiff());
    let mut initial = Initial::new(9, &Device::flex());
    let mut values = weights::collect(&model);
    for weight in values.values_mut() {
        let noise = initial.normal([weight.values.len()], 0.5).val();
        let noise = noise.try_into_vec_as::<f32>().expect("values");
        weight.values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
    }
    let model = weights::install(model, values, Path::new("given"), true).expect("weights that fit");
    let mut saved = Saved {
        task: Task::Translate,
        plan,
        model,
        tokens,
        labels: None,
        search: Default::default(),
        statistics: None,
        shortlist: None,
    };
    saved.search.max_length = 12;
    saved
}

/// Models that look in different ways, and one that does not look.
fn models() -> Vec<(&'static str, Saved)> {
    let fed = AttentionConfig {
        score: ScoreKind::General,
        query: QueryKind::Previous,
        feed: FeedKind::Attentional,
        coverage: true,
        ..Default::default()
    };
    let local = AttentionConfig {
        score: ScoreKind::Cosine,
        focus: FocusKind::Local,
        aligned: Some(AlignedKind::Monotone),
        window: Some(2),
        ..Default::default()
    };
    let hard = AttentionConfig { focus: FocusKind::Hard, ..Default::default() };
    vec![
        ("soft", saved(Some(AttentionConfig::default()))),
        ("fed", saved(Some(fed))),
        ("local", saved(Some(local))),
        ("hard", saved(Some(hard))),
        ("none", saved(None)),
        ("transformer", transformer()),
    ]
}

fn pairs(saved: &Saved) -> Vec<Forced> {
    let encode = |(source, target): (&str, &str)| {
        (saved.tokens.source.encode(source), saved.tokens.target.encode(target))
    };
    SOURCES.into_iter().zip(TARGETS).map(encode).collect()
}

fn trace(saved: &Saved, pair: &Forced) -> Trace {
    saved.trace(std::slice::from_ref(pair), 1).expect("a trace").remove(0)
}

fn without(pair: &Forced, left_out: usize) -> Forced {
    let mut source = pair.0.clone();
    source.remove(left_out);
    (source, pair.1.clone())
}

#[test]
fn erasure_is_what_the_log_probability_loses_without_a_token() {
    for (name, saved) in models() {
        let mut largest = 0.0f32;
        for pair in pairs(&saved) {
            let explanation = explain(&saved, &pair).expect("an explanation");
            let whole = trace(&saved, &pair);
            assert_eq!(explanation.erasure.len(), pair.1.len() + 1, "{name}");
            for (t, costs) in explanation.erasure.iter().enumerate() {
                assert_eq!(costs.len(), pair.0.len() + 1, "{name}");
                assert_eq!(costs.last(), Some(&0.0), "{name}: the end is never left out");
                for (left_out, cost) in costs[..pair.0.len()].iter().enumerate() {
                    let less = trace(&saved, &without(&pair, left_out));
                    let expected = whole.log_probabilities[t] - less.log_probabilities[t];
                    assert!(
                        (cost - expected).abs() < 1e-4,
                        "{name}, {t}, {left_out}: {cost}, not {expected}"
                    );
                    largest = largest.max(expected.abs());
                }
            }
        }
        assert!(largest > 0.1, "{name}: no token matters");
    }
}

/// log p of every target token when the vector of source token `at` is `scale` times as long.
fn scaled(model: &Model, pair: &Forced, at: usize, scale: f32) -> Vec<f32> {
    let [source, target] =
        [&pair.0, &pair.1].map(|tokens| Padded::new(&[[tokens.as_slice(), &[END]].concat()]));
    let vectors = model.source_vectors(&source).expect("vectors"); // [1, S, C]
    let mut scales = vec![1.0; source.width];
    scales[at] = scale;
    let scales = Tensor::<3>::from_data(TensorData::new(scales, [1, source.width, 1]), &vectors.device());
    let memory = model.encode_vectors(&source, vectors * scales);
    let forward = model.forward(&model.teacher_inputs(&target), memory.as_ref(), &mut Noise::none());
    log_probabilities(forward.logits, &target).try_into_vec_as().expect("values")
}

#[test]
fn gradient_times_input_is_the_slope_along_a_vector() {
    const H: f32 = 1e-2;
    for (name, saved) in models() {
        let mut largest = 0.0f32;
        for pair in pairs(&saved) {
            let explanation = explain(&saved, &pair).expect("an explanation");
            assert_eq!(explanation.gradient.len(), pair.1.len() + 1, "{name}");
            for at in 0..=pair.0.len() {
                let [less, more] = [1.0 - H, 1.0 + H].map(|scale| scaled(&saved.model, &pair, at, scale));
                for (t, row) in explanation.gradient.iter().enumerate() {
                    assert_eq!(row.len(), pair.0.len() + 1, "{name}");
                    let slope = (more[t] - less[t]) / (2.0 * H);
                    assert!((row[at] - slope).abs() < 2e-3, "{name}, {t}, {at}: {}, not {slope}", row[at]);
                    largest = largest.max(slope.abs());
                }
            }
        }
        assert!(largest > 0.1, "{name}: no token matters");
    }
}

/// A trace is made behind the search; what it sees is what the search saw.
#[test]
fn a_trace_has_the_log_probabilities_of_the_search() {
    for (name, saved) in models() {
        let predictions = saved.predict(&SOURCES, 4).expect("predictions");
        let pair = |(source, prediction): (&&str, &Prediction)| {
            (saved.tokens.source.encode(source), prediction.hypothesis.tokens.clone())
        };
        let pairs: Vec<Forced> = SOURCES.iter().zip(&predictions).map(pair).collect();
        let traces = saved.trace(&pairs, 3).expect("traces");
        let mut compared = 0;
        for ((pair, prediction), trace) in pairs.iter().zip(&predictions).zip(&traces) {
            let found = &prediction.hypothesis;
            let written = found.tokens.len();
            compared += found.log_probabilities.len();
            assert_eq!(found.log_probabilities.len(), written + usize::from(found.finished), "{name}");
            assert_eq!(trace.log_probabilities.len(), written + 1, "{name}: the end may have been cut off");
            for (traced, searched) in trace.log_probabilities.iter().zip(&found.log_probabilities) {
                assert!((traced - searched).abs() < 1e-4, "{name}: {traced}, not {searched}");
            }
            assert_eq!(trace.weights.is_none(), name == "none", "{name}");
            for row in trace.weights.iter().flatten() {
                assert_eq!(row.len(), pair.0.len() + 1, "{name}");
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: {row:?}");
            }
        }
        assert!(compared > 2 * SOURCES.len(), "{name}: it writes hardly anything to compare");
    }
}

fn reported(saved: &Saved, pairs: &[Forced], seed: u64) -> Report {
    let mut seen = 0;
    let found = report(saved, pairs, seed, || seen += 1).expect("a report").expect("it looks");
    assert_eq!(seen, pairs.len());
    found
}

#[test]
fn a_report_is_the_mean_over_tokens() {
    for (name, saved) in models() {
        let pairs = pairs(&saved);
        if name == "none" {
            assert_eq!(report(&saved, &pairs, 1, || ()).expect("no failure"), None);
            continue;
        }
        let found = reported(&saved, &pairs, 1);
        let tokens = |most: usize| -> usize {
            pairs.iter().filter(|pair| pair.0.len() > most).map(|pair| pair.1.len() + 1).sum()
        };
        let all: usize = pairs.iter().map(|pair| pair.1.len() + 1).sum();
        assert_eq!((found.examples, found.tokens), (pairs.len(), all), "{name}");
        for correlation in [found.gradient, found.erasure, found.gradient_and_erasure] {
            assert!(correlation.is_some_and(|tau| (-1.0..=1.0).contains(&tau)), "{name}: {found:?}");
        }
        let counts: Vec<_> = found.falls.iter().map(|fall| (fall.deleted, fall.tokens)).collect();
        assert_eq!(counts, [1, 2, 3].map(|deleted| (deleted, tokens(deleted))), "{name}");
        for fall in found.falls.iter().flat_map(|fall| [fall.attended, fall.random]) {
            assert!((-1.0..=1.0).contains(&fall), "{name}: {found:?}");
        }
        let expected = fall_without_the_most_attended(&saved, &pairs);
        assert!((found.falls[0].attended - expected).abs() < 1e-5, "{name}: {found:?}, not {expected}");

        assert_eq!(reported(&saved, &pairs, 1), found, "{name}: the same seed");
        let mut other = reported(&saved, &pairs, 2);
        assert_ne!(other, found, "{name}: another seed");
        other.falls.iter_mut().zip(&found.falls).for_each(|(other, found)| other.random = found.random);
        assert_eq!(other, found, "{name}: a seed is for random deletions alone");
    }
}

/// The mean fall of a target token's probability when its most attended source token is deleted.
fn fall_without_the_most_attended(saved: &Saved, pairs: &[Forced]) -> f64 {
    let mut falls = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.0.len() > 1) {
        let whole = trace(saved, pair);
        for (t, row) in whole.weights.as_ref().expect("weights").iter().enumerate() {
            // Of equals, the first.
            let most = (0..pair.0.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a token");
            let less = trace(saved, &without(pair, most));
            falls.push(f64::from(whole.log_probabilities[t].exp() - less.log_probabilities[t].exp()));
        }
    }
    falls.iter().sum::<f64>() / falls.len() as f64
}
