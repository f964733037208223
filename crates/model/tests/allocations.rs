//! Once a translation is under way, a token asks for no memory, whatever thread it is made on. A test binary of its own, as all
//! that is asked for is counted.

use burn::tensor::Device;
use gatto_data::Padded;
use gatto_model::config::{
    FeedKind, QueryKind, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, SharingConfig, Stepping, Task,
    Vocabularies,
};
use gatto_nn::attention::ScoreKind;
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;
use gatto_nn::{Noise, Precision};
use gatto_search::{
    Beam, Ensemble, Followed, Fusion, Logits, Mean, Sampling, Step, Wanted, beam_search, greedy, sample,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const VOCABULARY: usize = 300;
/// The most that a hundred tokens may ask for.
const MOST: usize = 10;

/// How a sentence is written.
#[derive(Clone, Copy, Debug)]
enum Way {
    Beam(usize),
    Greedy,
    Sampled,
}

/// The same model, but no sequence ends by itself.
struct Endless<S>(S);

impl<S: Step> Step for Endless<S> {
    type State = S::State;

    fn start(&self) -> (S::State, u32) {
        self.0.start()
    }

    fn step(&self, tokens: &[u32], state: S::State) -> (Logits, S::State) {
        self.0.step(tokens, state)
    }

    fn select(&self, state: S::State, rows: &[usize]) -> S::State {
        self.0.select(state, rows)
    }

    fn take_back(&self, logits: Logits, state: &mut S::State) {
        self.0.take_back(logits, state);
    }

    fn end(&self) -> u32 {
        u32::MAX
    }

    fn forbidden(&self) -> &[u32] {
        self.0.forbidden()
    }
}

/// How often memory is asked for while three sentences become so many tokens each, by the layers of models that every translation
/// goes through.
fn allocations(model: &Model, way: Way, tokens: usize) -> usize {
    let source = Padded::new(&[vec![9u32; 7], vec![30; 5], vec![50; 7]]);
    let memory = model.encode(&source, &mut Noise::none());
    let alone = Ensemble::new(vec![Stepping::new(model, memory, 3)], Mean::default()).expect("a model");
    let beside: Vec<(Stepping<'_>, f64)> = Vec::new();
    let writer = Endless(Followed::new(Fusion::new(alone, 1.0, beside), vec![0, 1, 2], None));
    let (prompts, limits) = (vec![Vec::new(); 3], [tokens; 3]);
    let wanted = vec![Wanted { max_length: tokens, ..Wanted::default() }; 3];
    let region = Region::new(MEMORY);
    let lengths: Vec<usize> = match way {
        Way::Beam(size) => {
            let found = beam_search(&writer, &wanted, &Beam { size, ..Beam::default() });
            found.iter().map(|found| found.best[0].written.hypothesis.tokens.len()).collect()
        }
        Way::Greedy => greedy(&writer, &limits).iter().map(|found| found.tokens.len()).collect(),
        Way::Sampled => {
            let draw = |row: usize, place: usize| (place * 7 + row) as f64 * 0.13 % 1.0;
            let found = sample(&writer, &prompts, &limits, &Sampling::default(), draw);
            found.iter().map(|found| found.hypothesis.tokens.len()).collect()
        }
    };
    let stats = region.change();
    assert_eq!(lengths, limits);
    stats.allocations + stats.reallocations
}

fn model(config: ModelConfig) -> Model {
    let plan = config.plan(true).expect("a plan");
    Model::new(&plan, Vocabularies { source: VOCABULARY, target: VOCABULARY }, 3, &Device::flex())
}

fn transformers() -> impl Iterator<Item = (String, Model)> {
    let kinds = [PositionKind::Sinusoidal, PositionKind::Learned, PositionKind::Rotary];
    let both = [(NormOrder::Post, false), (NormOrder::Pre, true)];
    kinds.into_iter().flat_map(move |positions| both.map(|(norm, tied)| (positions, norm, tied))).map(
        |(positions, norm, tied)| {
            let layers =
                TransformerConfig { width: 32, heads: 4, layers: 2, positions, norm, ..Default::default() };
            let config = ModelConfig {
                encoder: Some(EncoderConfig::Transformer(layers.clone())),
                decoder: Some(DecoderConfig::Transformer(layers)),
                sharing: SharingConfig { output: tied, ..Default::default() },
                ..ModelConfig::new(Task::Translate)
            };
            (format!("{positions:?} {norm:?}"), model(config))
        },
    )
}

/// Every score, both queries, all cells, several ways to feed, one layer and two; and no attention at all.
fn recurrent() -> impl Iterator<Item = (String, Model)> {
    let reading = || RecurrentEncoderConfig { width: 12, bidirectional: true, ..Default::default() };
    let writing = |layers: usize| RecurrentDecoderConfig { width: 20, layers, ..Default::default() };
    let looking = ScoreKind::ALL.into_iter().enumerate().map(|(number, score)| AttentionConfig {
        score,
        max_positions: score.has_positions().then_some(9),
        query: [QueryKind::Current, QueryKind::Previous][number % 2],
        feed: [FeedKind::Context, FeedKind::Nothing, FeedKind::Attentional, FeedKind::Attentional]
            [number % 4],
        gate: number % 3 == 0,
        deep_output: number % 3 == 1,
        ..Default::default()
    });
    looking.map(Some).chain([None]).enumerate().map(move |(number, attention)| {
        let name = format!("{attention:?}");
        let (encoder, decoder) = match number % 3 {
            0 => (EncoderConfig::Lstm(reading()), DecoderConfig::Lstm(writing(2))),
            1 => (EncoderConfig::Gru(reading()), DecoderConfig::Gru(writing(1))),
            _ => (EncoderConfig::Rnn(reading()), DecoderConfig::Rnn(writing(1))),
        };
        let (encoder, decoder) = (Some(encoder), Some(decoder));
        (name, model(ModelConfig { encoder, decoder, attention, ..ModelConfig::new(Task::Translate) }))
    })
}

#[test]
fn a_token_asks_for_no_memory() {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        for (name, mut model) in transformers().chain(recurrent()) {
            for precision in [Precision::Float, Precision::Int8] {
                model.prepare(precision);
                for way in [Way::Greedy, Way::Sampled, Way::Beam(1), Way::Beam(4)] {
                    // The least of a few times: what is made when it is first asked for does not count, and a thread may have its
                    // first share of the work late.
                    let count = |tokens: usize| {
                        (0..4)
                            .map(|_| pool.install(|| allocations(&model, way, tokens)))
                            .min()
                            .unwrap_or_default()
                    };
                    // A list that outgrows its memory doubles it, and each page has more columns than the one before: that is
                    // seldom. One piece of memory for each token would be a hundred.
                    let [few, many] = [140, 240].map(count);
                    let what = format!("{name}, {precision:?}, {way:?}, {threads} threads");
                    assert!(many <= few + MOST, "{what}: {few} and {many}");
                }
            }
        }
    }
}
