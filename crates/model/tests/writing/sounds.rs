//! Models that hear, which were never trained: what they write depends on nothing but the sound, and others may have a say.

use crate::independence::with_threads;
use crate::saved;
use gatto_data::sound::{Frames, LogMel, Preparation};
use gatto_data::{Padded, Sources};
use gatto_model::config::{
    AlignedKind, ConvolutionConfig, CtcConfig, FeedKind, FocusKind, ListenerConfig, RecurrentDecoderConfig,
    SoundTransformerConfig, TransformerConfig,
};
use gatto_model::{
    Asked, AttentionConfig, DecoderConfig, EncoderConfig, ModelConfig, ModelError, Prediction, Request,
    Saved, Stepping, Task, Writers,
};
use gatto_nn::{Noise, Precision};
use gatto_search::{Normalise, SearchConfig, score};

const BANDS: usize = 10;
/// Many lengths, each several times.
const COUNT: usize = 40;

fn sounds() -> Vec<Frames> {
    let of = |number: usize| {
        let frames = [3, 40, 17, 90, 41][number % 5];
        let value = |at: usize| ((number * 131 + at * 37) as f32 * 0.61).sin();
        Frames { values: (0..frames * BANDS).map(value).collect(), bands: BANDS, hop: 0.01 }
    };
    (0..COUNT).map(of).collect()
}

fn hearing(encoder: EncoderConfig, decoder: DecoderConfig, attention: Option<AttentionConfig>) -> Saved {
    let sound = Preparation { features: LogMel { bands: BANDS, ..LogMel::default() }, ..Default::default() };
    saved(ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        attention,
        sound: Some(sound),
        ctc: Some(CtcConfig::default()),
        ..ModelConfig::new(Task::Transcribe)
    })
}

fn listener(convolutions: Vec<usize>) -> EncoderConfig {
    EncoderConfig::Listener(ListenerConfig {
        convolutions,
        width: 20,
        layers: 2,
        pyramid: 1,
        ..Default::default()
    })
}

fn lstm() -> DecoderConfig {
    DecoderConfig::Lstm(RecurrentDecoderConfig { width: 32, embedding: Some(16), ..Default::default() })
}

fn models() -> Vec<(&'static str, Saved)> {
    let fed = AttentionConfig { feed: FeedKind::Context, ..Default::default() };
    let convolved = AttentionConfig { convolution: Some(ConvolutionConfig::default()), ..fed.clone() };
    let advancing = AttentionConfig {
        focus: FocusKind::Local,
        aligned: Some(AlignedKind::Advancing),
        window: Some(4),
        ..Default::default()
    };
    let stack = TransformerConfig { width: 32, heads: 4, layers: 2, ..Default::default() };
    let transformer = SoundTransformerConfig { width: 32, layers: 2, ..Default::default() };
    vec![
        ("pyramid", hearing(listener(vec![]), lstm(), Some(fed))),
        ("convolution of weights", hearing(listener(vec![]), lstm(), Some(convolved))),
        ("convolutions, advancing", hearing(listener(vec![4, 4]), lstm(), Some(advancing))),
        (
            "transformers",
            hearing(EncoderConfig::SoundTransformer(transformer), DecoderConfig::Transformer(stack), None),
        ),
    ]
}

fn language_model() -> Saved {
    let decoder = Some(DecoderConfig::Gru(RecurrentDecoderConfig { width: 24, ..Default::default() }));
    saved(ModelConfig { decoder, ..ModelConfig::new(Task::LanguageModel) })
}

fn best(writers: &Writers<'_>, sounds: &[Frames], batch: usize, beam: usize) -> Vec<Vec<Prediction>> {
    let requests: Vec<Request<'_>> = sounds.iter().map(Request::free).collect();
    writers.best(&requests, beam, batch).expect("texts")
}

#[test]
fn neither_company_nor_threads_change_a_bit_of_what_is_heard() {
    let sounds = sounds();
    for (name, mut model) in models() {
        for (beam, ctc, weight, ready) in
            [(1, 0.0, 0.0, None), (4, 0.4, 0.0, None), (3, 0.3, 0.5, Some(Precision::Float))]
        {
            if let Some(precision) = ready {
                model.model.prepare(precision);
            }
            let written = |threads: usize, batch: usize, sounds: Vec<Frames>| {
                let Saved { task, plan, model, tokens, .. } = &model;
                let (task, plan, model, tokens) = (*task, plan.clone(), model.clone(), tokens.clone());
                with_threads(threads, move || {
                    let search = SearchConfig { beam, ctc, max_length: 6, ..SearchConfig::default() };
                    let saved = Saved {
                        task,
                        plan,
                        model,
                        tokens,
                        labels: None,
                        search,
                        statistics: None,
                        shortlist: None,
                    };
                    let language = language_model();
                    let writers = Writers::alone(&saved).expect("a writer");
                    let writers = match weight > 0.0 {
                        true => writers.beside_language_model(&language, weight).expect("the same tokens"),
                        false => writers,
                    };
                    best(&writers, &sounds, batch, beam)
                })
            };
            let alone = written(1, 1, sounds.clone());
            assert!(alone.iter().all(|best| !best.is_empty()), "{name}");
            for (threads, batch) in [(2, 1), (1, 7), (2, 64)] {
                let found = written(threads, batch, sounds.clone());
                assert_eq!(found, alone, "{name}, beam {beam}, {threads} threads, batch {batch}");
            }
            let mut turned = written(2, 64, sounds.iter().rev().cloned().collect());
            turned.reverse();
            assert_eq!(turned, alone, "{name}, beam {beam}");
        }
    }
}

/// What search adds up, beginning by beginning, is what the loss says of the whole.
#[test]
fn a_search_by_what_states_tell_alone_reports_the_loss_of_its_output() {
    let sounds: Vec<Frames> = sounds().into_iter().take(5).collect();
    for (name, mut model) in models() {
        let normalise = Normalise::None;
        model.search = SearchConfig { beam: 4, ctc: 1.0, max_length: 6, normalise, ..Default::default() };
        let writers = Writers::alone(&model).expect("a writer");
        for (sound, found) in sounds.iter().zip(best(&writers, &sounds, 8, 4)) {
            let batch = gatto_data::sound::SoundBatch::new([sound]).expect("a sound");
            let memory = model.model.encode(&Sources::Sound(batch), &mut Noise::none()).expect("an encoder");
            assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{name}");
            for prediction in found.iter().filter(|prediction| prediction.hypothesis.finished) {
                let tokens = [&prediction.hypothesis.tokens[..], &[gatto_data::tokens::END]].concat();
                let loss = model.model.ctc_losses(&memory, &Padded::new(&[tokens])).expect("a loss");
                let loss = f64::from(loss.into_scalar::<f32>());
                assert!((prediction.score + loss).abs() < 1e-3, "{name}: {} {loss}", prediction.score);
            }
        }
    }
}

#[test]
fn a_language_model_has_its_say() {
    let sounds: Vec<Frames> = sounds().into_iter().take(10).collect();
    let language = language_model();
    for (name, mut model) in models() {
        model.search =
            SearchConfig { beam: 3, max_length: 6, normalise: Normalise::None, ..Default::default() };
        let alone = best(&Writers::alone(&model).expect("a writer"), &sounds, 8, 3);
        let beside = |weight: f64| {
            let writers = Writers::alone(&model).expect("a writer").beside_language_model(&language, weight);
            best(&writers.expect("the same tokens"), &sounds, 8, 3)
        };
        let tokens = |found: &[Vec<Prediction>]| -> Vec<Vec<u32>> {
            found.iter().map(|best| best[0].hypothesis.tokens.clone()).collect()
        };
        assert_eq!(tokens(&beside(0.0)), tokens(&alone), "{name}: one that does not count");
        let strong = beside(3.0);
        assert_ne!(tokens(&strong), tokens(&alone), "{name}");
        let asked: Vec<Asked<'_>> = sounds.iter().map(Asked::Sound).collect();
        let texts: Vec<String> = strong.iter().map(|best| best[0].text.clone()).collect();
        let own = Writers::alone(&model).expect("a writer").score_each(&asked, &texts, 8).expect("scores");
        for (row, prediction) in strong.iter().map(|best| &best[0]).enumerate() {
            if !prediction.hypothesis.finished {
                continue;
            }
            let said = score(
                &Stepping::new(&language.model, None, 1),
                std::slice::from_ref(&prediction.hypothesis.tokens),
            );
            let expected = f64::from(own[row].score()) + 3.0 * f64::from(said[0].score());
            assert!((prediction.score - expected).abs() < 1e-3, "{name}: {} {expected}", prediction.score);
        }
    }
}

#[test]
fn what_cannot_be_heard_is_refused() {
    let (_, model) = models().remove(3);
    let writers = Writers::alone(&model).expect("a writer");
    let refused =
        |frames: &Frames| writers.best(&[Request::free(frames)], 1, 8).map(drop).expect_err("refused");
    let frames = |count: usize, bands: usize| Frames { values: vec![0.0; count * bands], bands, hop: 0.01 };
    let error = refused(&frames(9, BANDS + 1));
    assert!(matches!(error, ModelError::OtherSound { index: 0, found: 11, wanted: 10 }), "{error}");
    assert!(matches!(refused(&frames(0, BANDS)), ModelError::NoFrames { index: 0 }));
    let most = model.plan.most_frames();
    assert!(matches!(refused(&frames(most + 1, BANDS)), ModelError::TooManyFrames { .. }));
    let error = writers.best(&[Request::free("a text")], 1, 8).map(drop).expect_err("refused");
    assert_eq!(error.to_string(), "source 1 is a text, and the model reads sounds; give it that");
    let (_, text) = crate::models().remove(0);
    let sound = frames(9, BANDS);
    let error = Writers::alone(&text).expect("a writer").best(&[Request::free(&sound)], 1, 8);
    assert!(matches!(error, Err(ModelError::OtherSource { wanted: "texts", .. })), "{error:?}");
}

#[test]
fn a_language_model_that_is_none_or_has_other_tokens_is_refused() {
    let (_, model) = models().remove(0);
    let (_, other) = models().remove(1);
    let beside = |other: &Saved| {
        let writers = Writers::alone(&model).expect("a writer");
        writers.beside_language_model(other, 0.3).map(drop).expect_err("refused").to_string()
    };
    let error = beside(&other);
    assert!(error.contains("`task = \"transcribe\"`, and a language model is needed"), "{error}");
    let mut strange = language_model();
    let recipe = gatto_data::tokens::Recipe { kind: gatto_data::tokens::Kind::Char, ..Default::default() };
    let tokens =
        gatto_data::tokens::Tokenizer::train(&recipe, ["abc"].map(str::to_owned)).expect("a vocabulary");
    strange.tokens = gatto_data::tokens::TokenizerPair::together(tokens);
    let error = beside(&strange);
    assert!(error.contains("has other tokens") && error.contains("tokens.from"), "{error}");
}

#[test]
fn tokens_are_heard_state_by_state() {
    let (_, model) = models().remove(0);
    let sounds = sounds();
    let given: Vec<&Frames> = sounds.iter().collect();
    let heard = model.heard(&given, 8).expect("what is heard");
    let alone: Vec<_> = given.iter().map(|sound| model.heard(&[*sound], 1).expect("one").remove(0)).collect();
    assert_eq!(heard, alone);
    for (sound, heard) in sounds.iter().zip(&heard) {
        let states = sound.len().div_ceil(2);
        assert!(heard.iter().all(|heard| heard.position < states && heard.probability > 0.0));
    }
    let text = crate::models().remove(0).1;
    assert!(matches!(text.heard(&given[..1], 8), Err(ModelError::OtherSource { .. })));
}
