//! The list of models that hear, and what holds of them alone.

use crate::gradients::slope_of;
use crate::transformers::layers;
use crate::variants::{Variant, assert_close, decoder, scores, values, variant, writing};
use burn::tensor::{Device, Tensor};
use gatto_data::Padded;
use gatto_data::sound::{Frames, LogMel, Preparation, SoundBatch};
use gatto_model::config::{
    AlignedKind, CellKind, ConvolutionConfig, CtcConfig, FeedKind, FocusKind, ListenerConfig, QueryKind,
    SoundTransformerConfig,
};
use gatto_model::weights::Weights;
use gatto_model::{AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Task};
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;
use gatto_nn::{Activation, Noise};
use std::ops::Range;

/// Frames of each sound: very different ones, odd ones among them.
pub(crate) const FRAMES: [usize; 5] = [1, 9, 4, 29, 2];

/// Five bands: halved once, one of them has no neighbour.
fn sound(deltas: usize) -> Preparation {
    Preparation { features: LogMel { bands: 5, ..LogMel::default() }, deltas, ..Preparation::default() }
}

fn listener(settings: ListenerConfig) -> (String, EncoderConfig) {
    (format!("{settings:?}"), EncoderConfig::Listener(settings))
}

fn small() -> ListenerConfig {
    ListenerConfig { width: 3, layers: 2, pyramid: 1, ..ListenerConfig::default() }
}

fn transformer(
    convolutions: Vec<usize>,
    positions: PositionKind,
    norm: NormOrder,
) -> (String, EncoderConfig) {
    let settings = SoundTransformerConfig {
        convolutions,
        width: 8,
        layers: 1,
        heads: 2,
        feed_forward: Some(6),
        activation: Activation::Gelu,
        positions,
        norm,
        ..Default::default()
    };
    (format!("{settings:?}"), EncoderConfig::SoundTransformer(settings))
}

fn encoders() -> Vec<(String, EncoderConfig)> {
    use CellKind::{Gru, Lstm, Rnn};
    let mut found: Vec<_> = [Rnn, Lstm, Gru].map(|cell| listener(ListenerConfig { cell, ..small() })).into();
    found.extend([
        listener(ListenerConfig { pyramid: 0, ..small() }),
        listener(ListenerConfig { pyramid: 2, ..small() }),
        listener(ListenerConfig { layers: 3, pyramid: 2, bidirectional: false, ..small() }),
        listener(ListenerConfig { convolutions: vec![2], ..small() }),
        listener(ListenerConfig { convolutions: vec![2, 3], pyramid: 0, layers: 1, ..small() }),
        transformer(vec![2, 2], PositionKind::Sinusoidal, NormOrder::Pre),
        transformer(vec![3], PositionKind::Relative, NormOrder::Post),
        transformer(vec![], PositionKind::None, NormOrder::Pre),
    ]);
    found
}

fn hearing(
    name: &str,
    (of, encoder): (String, EncoderConfig),
    decoder: DecoderConfig,
    attention: Option<AttentionConfig>,
    ctc: bool,
) -> Variant {
    let deltas = usize::from(name.contains("deltas"));
    let config = ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        attention,
        sound: Some(sound(deltas)),
        ctc: ctc.then(CtcConfig::default),
        ..ModelConfig::new(Task::Transcribe)
    };
    variant(format!("{of}: {name}"), false, config)
}

/// Every encoder before a recurrent decoder and a Transformer, and one before every way to look.
pub(crate) fn all() -> Vec<Variant> {
    let mut found = Vec::new();
    let fed = AttentionConfig { feed: FeedKind::Context, ..Default::default() };
    for encoder in encoders() {
        found.push(hearing("lstm", encoder.clone(), decoder("lstm", writing()), Some(fed.clone()), true));
        let stack = DecoderConfig::Transformer(layers(PositionKind::Sinusoidal, NormOrder::Pre));
        found.push(hearing("transformer", encoder, stack, None, false));
    }
    for query in [QueryKind::Previous, QueryKind::Current] {
        for attention in ways_to_look() {
            let attention = AttentionConfig { query, ..attention };
            let name = format!("gru, {attention:?}");
            found.push(hearing(&name, listener(small()), decoder("gru", writing()), Some(attention), false));
        }
    }
    for encoder in [
        listener(ListenerConfig { convolutions: vec![2], ..small() }),
        transformer(vec![2], PositionKind::Rotary, NormOrder::Pre),
    ] {
        let stack = DecoderConfig::Transformer(layers(PositionKind::Rotary, NormOrder::Pre));
        found.push(hearing("of frames with deltas", encoder, stack, None, true));
    }
    found
}

fn ways_to_look() -> Vec<AttentionConfig> {
    let soft = AttentionConfig::default();
    let convolved = AttentionConfig {
        convolution: Some(ConvolutionConfig { channels: 2, width: 5 }),
        ..AttentionConfig::default()
    };
    let local = |aligned| AttentionConfig {
        focus: FocusKind::Local,
        window: Some(40),
        aligned: Some(aligned),
        ..Default::default()
    };
    vec![
        soft,
        AttentionConfig { coverage: true, feed: FeedKind::Attentional, ..convolved.clone() },
        convolved,
        local(AlignedKind::Predicted),
        local(AlignedKind::Advancing),
        AttentionConfig { focus: FocusKind::Hard, ..Default::default() },
    ]
}

/// Sounds of the given numbers, whose frames look random.
pub(crate) fn drawn(sound: &Preparation, which: Range<usize>) -> SoundBatch {
    let bands = sound.width();
    let value = |row: usize, at: usize| ((row * 131 + at * 37) as f32 * 0.61).sin() * 1.5;
    let of_row = |row: usize| Frames {
        values: (0..FRAMES[row] * bands).map(|at| value(row, at)).collect(),
        bands,
        hop: 0.01,
    };
    let frames: Vec<Frames> = which.map(of_row).collect();
    SoundBatch::new(&frames).expect("sounds")
}

/// The sounds with so many more frames, which must not be heard.
pub(crate) fn longer(sounds: &SoundBatch, more: usize, filler: f32) -> SoundBatch {
    let frames = sounds.frames + more;
    let mut values = Vec::with_capacity(sounds.rows * frames * sounds.bands);
    for row in 0..sounds.rows {
        values.extend_from_slice(sounds.row(row));
        values.resize((row + 1) * frames * sounds.bands, filler);
    }
    SoundBatch { values, frames, ..sounds.clone() }
}

/// Biases so large that no rectifier is near its kink: there the loss has a slope.
pub(crate) fn away_from_kinks(weights: &mut Weights) {
    for (_, weight) in
        weights.iter_mut().filter(|(name, _)| name.starts_with("encoder.front.") && name.ends_with(".bias"))
    {
        weight.values.iter_mut().for_each(|value| *value = 9.0 + 0.1 * (*value - value.round()));
    }
}

fn sounds_of(variant: &Variant, rows: Range<usize>) -> SoundBatch {
    drawn(&variant.plan.sound.expect("a model that hears"), rows)
}

#[test]
fn states_are_those_that_the_plan_tells() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let memory = model.encode(&variant.source(), &mut Noise::none()).expect("an encoder");
        let span = variant.plan.frames_per_state().expect("a model that hears");
        assert_eq!(memory.frames_per_state, span, "{}", variant.name);
        let lengths = FRAMES.map(|frames| frames.div_ceil(span));
        assert_eq!(memory.lengths, lengths, "{}", variant.name);
        let width = variant.plan.encoder().map_or(0, EncoderConfig::states);
        assert_eq!(memory.states.dims(), [5, 29usize.div_ceil(span), width], "{}", variant.name);
        let mask = values(memory.mask.clone());
        for (row, mask) in mask.chunks_exact(29usize.div_ceil(span)).enumerate() {
            let exists = |at: usize| f32::from(u8::from(at < lengths[row]));
            assert!(mask.iter().enumerate().all(|(at, &mask)| mask == exists(at)), "{}", variant.name);
        }
        let mut identities = memory.identities.clone();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), 5, "{}: sounds differ, and so do their numbers", variant.name);
    }
}

/// Another value, in any frame, is another answer.
#[test]
fn every_frame_is_heard() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let sounds = sounds_of(&variant, 0..5);
        let target = Padded::new(&variant.targets());
        let of = |sounds: SoundBatch| scores(&variant, &model, &sounds.into(), &target);
        let before = of(sounds.clone());
        for frame in [0, 3, 8, 27, 28] {
            let mut changed = sounds.clone();
            changed.values[(3 * changed.frames + frame) * changed.bands + 1] += 2.0;
            let after = of(changed);
            assert_ne!(after[3], before[3], "{}: frame {frame}", variant.name);
            assert_eq!(after[1], before[1], "{}: another sound", variant.name);
        }
    }
}

#[test]
fn frames_can_be_given_in_place_of_a_sound() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let source = variant.source();
        let vectors = model.source_vectors(&source).expect("frames");
        let bands = variant.plan.sound.expect("a model that hears").width();
        assert_eq!(vectors.dims(), [5, 29, bands], "{}", variant.name);
        let memory = model.encode_vectors(&source, vectors).expect("an encoder");
        let plain = model.encode(&source, &mut Noise::none()).expect("an encoder");
        assert_eq!(values(memory.states), values(plain.states), "{}", variant.name);
    }
}

#[test]
fn the_gradient_in_the_frames_is_the_slope() {
    for variant in all().into_iter().filter(|variant| !variant.jumps()).step_by(3) {
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        let model = variant.model(&Device::flex().autodiff());
        let loss = |model: &Model, vectors: Tensor<3>| {
            let memory = model.encode_vectors(&source, vectors);
            crate::gradients::losses(&variant, model, memory, &source, &target)
        };
        let vectors = model.source_vectors(&source).expect("frames").detach().require_grad();
        let gradients = loss(&model, vectors.clone()).sum().backward();
        let gradient = values(vectors.grad(&gradients).expect("a gradient in the frames"));
        let largest = (0..gradient.len()).max_by(|&a, &b| gradient[a].abs().total_cmp(&gradient[b].abs()));
        let at = largest.expect("a value");
        let plain = variant.model(&Device::flex());
        let given = plain.source_vectors(&source).expect("frames");
        slope_of(&variant.name, f64::from(gradient[at]), |shift| {
            let mut moved = values(given.clone());
            moved[at] += shift;
            let moved = burn::tensor::TensorData::new(moved, given.shape());
            let moved = Tensor::<3>::from_data(moved, &Device::flex());
            values(loss(&plain, moved)).into_iter().map(f64::from).sum()
        });
        // What lies behind the end of a sound has no say.
        let bands = vectors.dims()[2];
        for (row, &frames) in FRAMES.iter().enumerate() {
            let behind = &gradient[(row * 29 + frames) * bands..(row + 1) * 29 * bands];
            assert!(behind.iter().all(|value| *value == 0.0), "{} row {row}", variant.name);
        }
    }
}

/// Sounds of one length, as they are predicted: not nearly, but every bit.
#[test]
fn neighbours_of_the_same_length_change_no_bit_of_a_score() {
    for variant in all() {
        let mut model = variant.model(&Device::flex());
        let bands = variant.plan.sound.expect("a model that hears").width();
        let of_row = |row: usize| Frames {
            values: (0..13 * bands).map(|at| ((row * 71 + at * 29) as f32 * 0.43).sin()).collect(),
            bands,
            hop: 0.01,
        };
        let frames: Vec<Frames> = (0..5).map(of_row).collect();
        let targets = variant.targets();
        let of = |model: &Model, rows: Range<usize>| {
            let sounds = SoundBatch::new(&frames[rows.clone()]).expect("sounds");
            let found = scores(&variant, model, &sounds.into(), &Padded::new(&targets[rows]));
            let bits = |row: Vec<Vec<f32>>| row.concat().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            found.into_iter().map(bits).collect::<Vec<_>>()
        };
        for ready in [false, true] {
            if ready {
                model.prepare(gatto_nn::Precision::Float);
            }
            let together = of(&model, 0..5);
            for (row, together) in together.iter().enumerate() {
                assert_eq!(&of(&model, row..row + 1)[0], together, "{}, ready {ready}", variant.name);
            }
        }
    }
}

/// What states tell by themselves: the same alone and in company, and the loss of what is heard is low.
#[test]
fn what_states_tell_does_not_depend_on_company() {
    let mut told = 0;
    for variant in all().into_iter().filter(|variant| variant.plan.ctc.is_some()) {
        let model = variant.model(&Device::flex());
        let noise = &mut Noise::none();
        let target = Padded::new(&variant.targets());
        let memory = model.encode(&variant.source(), noise).expect("an encoder");
        let together = values(model.ctc_losses(&memory, &target).expect("losses"));
        let heard = model.heard(&memory).expect("tokens");
        let wide = model.encode(&variant.wide_source(3, 7), noise).expect("an encoder");
        let wide = values(model.ctc_losses(&wide, &target).expect("losses"));
        assert_close(&variant.name, &wide, &together, 1e-5);
        for (row, heard) in heard.iter().enumerate() {
            let memory = model.encode(&variant.source_of(row), noise).expect("an encoder");
            let target = Padded::new(&variant.targets()[row..=row]);
            let alone = values(model.ctc_losses(&memory, &target).expect("losses"));
            assert_close(&format!("{} row {row}", variant.name), &together[row..=row], &alone, 1e-5);
            let tokens = |row: &[gatto_model::Heard]| row.iter().map(|heard| heard.token).collect::<Vec<_>>();
            assert_eq!(tokens(heard), tokens(&model.heard(&memory).expect("tokens")[0]), "{}", variant.name);
            assert!(heard.windows(2).all(|pair| pair[0].position < pair[1].position), "{}", variant.name);
            told += heard.len();
        }
        // A target with more tokens than there are states counts for nothing, and any other for something.
        for (row, loss) in together.iter().enumerate() {
            let states = memory.lengths[row];
            let labels = &variant.targets()[row];
            let labels = &labels[..labels.len() - 1];
            let again = labels.windows(2).filter(|pair| pair[0] == pair[1]).count();
            let possible = labels.len() + again <= states;
            assert_eq!(*loss > 0.0, possible, "{} row {row}: {loss}", variant.name);
        }
    }
    assert!(told > 10, "{told}");
}
