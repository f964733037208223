//! Once a translation is under way, a token asks for no memory. A test binary of its own: here all that is asked for is counted.

use allocation_counter::measure;
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
use gatto_search::{Beam, Wanted, beam_search};

const VOCABULARY: usize = 300;

/// How often memory is asked for while three sentences become so many tokens each.
fn allocations(model: &Model, beam: &Beam, tokens: usize) -> u64 {
    let source = Padded::new(&[vec![9u32; 7], vec![30; 7], vec![50; 7]]);
    let wanted = Wanted { min_length: tokens - 1, max_length: tokens, ..Wanted::default() };
    let wanted = vec![wanted; 3];
    let memory = model.encode(&source, &mut Noise::none());
    let stepping = Stepping::new(model, memory, 3);
    let found = measure(|| {
        let found = beam_search(&stepping, &wanted, beam);
        assert!(found.iter().all(|found| found.best[0].written.hypothesis.log_probabilities.len() == tokens));
    });
    found.count_total
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

/// Every score, both queries, all cells and ways to feed, of one layer and of two; and no attention at all.
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
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for (name, mut model) in transformers().chain(recurrent()) {
        for precision in [Precision::Float, Precision::Int8] {
            model.prepare(precision);
            for size in [1, 4] {
                let beam = Beam { size, ..Beam::default() };
                let count = |tokens: usize| pool.install(|| allocations(&model, &beam, tokens));
                count(140); // what is made when it is first asked for
                // A list that outgrows its memory doubles it, a page has room for as many columns as there are: once or twice
                // for each of them in a hundred tokens, to each of which a single one would be a hundred.
                let [few, many] = [40, 140].map(count);
                assert!(many - few < 40, "{name}, {precision:?}, beam of {size}: {few} and {many}");
            }
        }
    }
}
