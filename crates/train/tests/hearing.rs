//! Models that hear learn: every encoder of sounds, with every attention for spelling, and what states tell by themselves.
//!
//! A sound is a row of patterns, one for each token, that last three to six frames each, with silence between them.

use burn::module::Module;
use burn::tensor::Device;
use gatto_data::sound::{Frames, LogMel, Preparation, SoundBatch};
use gatto_data::tokens::END;
use gatto_data::{Batch, Padded, Sources};
use gatto_kernels::crew::Crew;
use gatto_model::config::{
    AlignedKind, ConvolutionConfig, CtcConfig, FeedKind, FocusKind, ListenerConfig, Plan, QueryKind,
    RecurrentDecoderConfig, SoundTransformerConfig, TransformerConfig,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Task, Vocabularies, write,
};
use gatto_nn::Noise;
use gatto_train::config::TrainConfig;
use gatto_train::{Gradients, Lesson, Optimiser, Updated, gather, update};

const BANDS: usize = 8;
const TOKENS: usize = 9;

/// Tokens from 5 on.
fn texts() -> Vec<Vec<u32>> {
    (0..12u32).map(|row| (0..2 + row % 3).map(|at| 5 + (row * 3 + at * at + at) % 4).collect()).collect()
}

fn sound(text: &[u32]) -> Frames {
    let mut values = vec![0.0; 2 * BANDS];
    for (at, &token) in text.iter().enumerate() {
        for _ in 0..3 + (at + token as usize) % 4 {
            let loud = |band: usize| if band / 2 == token as usize - 5 { 1.5 } else { -0.3 };
            values.extend((0..BANDS).map(loud));
        }
        values.extend([0.0; 2 * BANDS]);
    }
    Frames { values, bands: BANDS, hop: 0.01 }
}

fn batch() -> Batch {
    let texts = texts();
    let sounds: Vec<Frames> = texts.iter().map(|text| sound(text)).collect();
    let ended: Vec<Vec<u32>> = texts.iter().map(|text| [&text[..], &[END]].concat()).collect();
    Batch {
        source: Sources::Sound(SoundBatch::new(&sounds).expect("sounds")),
        target: Padded::new(&ended),
        indices: (0..texts.len() as u64).collect(),
        each: 1,
    }
}

fn plan(encoder: EncoderConfig, decoder: DecoderConfig, attention: Option<AttentionConfig>) -> Plan {
    let sound = Preparation { features: LogMel { bands: BANDS, ..LogMel::default() }, ..Default::default() };
    let config = ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        attention,
        sound: Some(sound),
        ctc: Some(CtcConfig::default()),
        ..ModelConfig::new(Task::Transcribe)
    };
    config.plan(false).expect("a plan")
}

fn listener(convolutions: Vec<usize>) -> EncoderConfig {
    EncoderConfig::Listener(ListenerConfig {
        convolutions,
        width: 24,
        layers: 2,
        pyramid: 1,
        ..Default::default()
    })
}

fn gru() -> DecoderConfig {
    DecoderConfig::Gru(RecurrentDecoderConfig { width: 32, embedding: Some(16), ..Default::default() })
}

fn new(plan: &Plan) -> Model {
    Model::new(plan, Vocabularies { source: TOKENS, target: TOKENS }, 3, &Device::flex().autodiff())
}

fn lesson<'a>(plan: &'a Plan, config: &'a TrainConfig, step: u64) -> Lesson<'a> {
    let ctc = plan.ctc.map(|ctc| ctc.weight);
    let attention = plan.attention.as_ref();
    Lesson { task: Task::Transcribe, attention, ctc, ..Lesson::new(config, step, step) }
}

fn learns(plan: &Plan, steps: u64) {
    let (batch, config, mut optimiser) = (batch(), TrainConfig::default(), Optimiser::default());
    let mut model = new(plan);
    for step in 1..=steps {
        let lesson = lesson(plan, &config, step);
        let Updated { model: after, .. } =
            update(model, std::slice::from_ref(&batch), &lesson, 5e-3, &mut optimiser, &Crew::none())
                .expect("an update");
        model = after;
    }
    let plain = model.valid();
    let written = write(&plain, &batch.source, &vec![9; batch.rows()]);
    let written: Vec<Vec<u32>> = written.into_iter().map(|found| found.tokens).collect();
    assert_eq!(written, texts(), "what the decoder writes");
    let memory = plain.encode(&batch.source, &mut Noise::none()).expect("an encoder");
    let heard = plain.heard(&memory).expect("what states tell");
    let heard: Vec<Vec<u32>> =
        heard.iter().map(|row| row.iter().map(|heard| heard.token).collect()).collect();
    assert_eq!(heard, texts(), "what states tell by themselves");
}

#[test]
fn a_pyramid_learns_to_hear() {
    let attention = AttentionConfig { query: QueryKind::Previous, ..Default::default() };
    learns(&plan(listener(vec![]), gru(), Some(attention)), 250);
}

#[test]
fn convolutions_and_attention_that_knows_its_last_look_learn_to_hear() {
    let attention = AttentionConfig {
        feed: FeedKind::Context,
        convolution: Some(ConvolutionConfig { channels: 4, width: 5 }),
        ..Default::default()
    };
    let encoder = EncoderConfig::Listener(ListenerConfig {
        convolutions: vec![8],
        width: 24,
        layers: 1,
        pyramid: 0,
        ..Default::default()
    });
    learns(&plan(encoder, gru(), Some(attention)), 250);
}

#[test]
fn a_window_that_advances_learns_to_hear() {
    let attention = AttentionConfig {
        focus: FocusKind::Local,
        aligned: Some(AlignedKind::Advancing),
        window: Some(3),
        ..Default::default()
    };
    learns(&plan(listener(vec![]), gru(), Some(attention)), 300);
}

#[test]
fn transformers_learn_to_hear() {
    let layers = TransformerConfig { width: 32, layers: 1, heads: 4, ..Default::default() };
    let encoder = SoundTransformerConfig {
        convolutions: vec![8],
        width: 32,
        layers: 2,
        heads: 4,
        ..Default::default()
    };
    let decoder = DecoderConfig::Transformer(layers);
    learns(&plan(EncoderConfig::SoundTransformer(encoder), decoder, None), 300);
}

/// λ of what states tell, and the rest of what the decoder writes; nothing else.
#[test]
fn the_joint_gradient_is_the_weighted_sum_of_both() {
    let attention = AttentionConfig { query: QueryKind::Previous, ..Default::default() };
    let plan = plan(listener(vec![]), gru(), Some(attention));
    let (model, batch, config) = (new(&plan), batch(), TrainConfig::default());
    let of = |ctc: Option<f64>| -> Gradients {
        let lesson = Lesson { ctc, ..lesson(&plan, &config, 1) };
        gather(&model, std::slice::from_ref(&batch), &lesson, &Crew::none()).gradients
    };
    let (alone, joint, told) = (of(None), of(Some(0.25)), of(Some(1.0)));
    assert!(alone.get("ctc.weight").is_none_or(|weight| weight.values().iter().all(|value| *value == 0.0)));
    for (name, joint) in &joint {
        let of = |of: &Gradients, at: usize| of.get(name).map_or(0.0, |gradient| gradient.values()[at]);
        for (at, &value) in joint.values().iter().enumerate() {
            let expected = 0.75 * of(&alone, at) + 0.25 * of(&told, at);
            assert!((value - expected).abs() < 1e-5 * expected.abs().max(1.0), "{name}: {value} {expected}");
        }
    }
    let largest = joint["ctc.weight"].values().iter().map(|value| value.abs()).fold(0.0, f32::max);
    assert!(largest > 1e-3, "{largest}");
}

/// Rows in parts, on several threads: the same gradient.
#[test]
fn parts_of_a_batch_have_its_gradient() {
    let attention = AttentionConfig { query: QueryKind::Previous, ..Default::default() };
    let plan = plan(listener(vec![4]), gru(), Some(attention));
    let (model, config) = (new(&plan), TrainConfig::default());
    let batch = batch();
    let of = |batches: &[Batch]| gather(&model, batches, &lesson(&plan, &config, 1), &Crew::none());
    let (whole, parts) = (of(std::slice::from_ref(&batch)), of(&batch.parts(3)));
    assert_eq!(whole.tokens, parts.tokens);
    assert!((whole.loss - parts.loss).abs() < 1e-4 * whole.loss, "{} {}", whole.loss, parts.loss);
    for (name, gradient) in &whole.gradients {
        for (a, b) in gradient.values().iter().zip(&*parts.gradients[name].values()) {
            assert!((a - b).abs() < 1e-5 * a.abs().max(1.0), "{name}: {a} {b}");
        }
    }
}
