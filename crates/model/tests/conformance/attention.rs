//! Where models look: weights are shares of what exists, and of nothing else.

use crate::variants::{Variant, values, writers};
use burn::tensor::{Device, Tensor};
use gatto_data::{Padded, Sources};
use gatto_model::config::{FocusKind, Reader};
use gatto_nn::Noise;

/// The weights of every variant that looks, as [row][step][position], for sources that are three
/// columns wider than the longest of them.
fn weights(variant: &Variant, noise: &mut Noise) -> Option<Vec<Vec<Vec<f32>>>> {
    let model = variant.model(&Device::flex());
    let source = variant.wide_source(3, 7);
    let target = Padded::new(&variant.targets());
    let memory = model.encode(&source, noise);
    let found = model.forward(&model.teacher_inputs(&target), memory.as_ref(), noise).alignment?.weights;
    let [_, time, positions] = found.dims();
    let most = match &source {
        Sources::Tokens(tokens) => tokens.width,
        Sources::Images(_) => variant.lengths()[0],
        Sources::Sound(sounds) => sounds.frames.div_ceil(variant.plan.frames_per_state().unwrap_or(1)),
    };
    assert_eq!([time, positions], [target.width, most], "{}", variant.name);
    let rows: Vec<Vec<f32>> = values(found).chunks_exact(positions).map(<[f32]>::to_vec).collect();
    Some(rows.chunks_exact(time).map(<[Vec<f32>]>::to_vec).collect())
}

#[test]
fn weights_sum_to_one_on_what_exists_and_are_zero_elsewhere() {
    let mut looked = 0;
    for variant in writers() {
        for noise in [&mut Noise::none(), &mut Noise::seeded(3)] {
            let Some(weights) = weights(&variant, noise) else { continue };
            looked += 1;
            for (row, (&length, steps)) in variant.lengths().iter().zip(&weights).enumerate() {
                for (t, weights) in steps.iter().enumerate() {
                    let (inside, outside) = weights.split_at(length);
                    let sum: f32 = inside.iter().sum();
                    let place = format!("{} row {row} step {t}: {weights:?}", variant.name);
                    assert!((sum - 1.0).abs() < 1e-5, "{place}");
                    assert!(inside.iter().all(|&weight| weight >= 0.0), "{place}");
                    assert!(outside.iter().all(|&weight| weight == 0.0), "{place}");
                }
            }
        }
    }
    assert!(looked >= 300, "{looked}");
}

/// Asserts that the heads of a layer [B, H, T, S] look at what `sees`, and at nothing else.
fn assert_seen(what: &str, layer: Tensor<4>, sees: impl Fn(usize, usize, usize) -> bool) {
    let [_, heads, time, columns] = layer.dims();
    for (row, weights) in values(layer).chunks_exact(columns).enumerate() {
        let (sentence, t) = (row / (heads * time), row % time);
        let seen = (0..columns).any(|column| sees(sentence, t, column));
        let sum: f32 = weights.iter().sum();
        let place = format!("{what} sentence {sentence} step {t}: {weights:?}");
        assert!((sum - f32::from(u8::from(seen))).abs() < 1e-5, "{place}");
        for (column, &weight) in weights.iter().enumerate() {
            assert!(weight == 0.0 || weight > 0.0 && sees(sentence, t, column), "{place}");
        }
    }
}

#[test]
fn heads_look_at_what_exists_and_at_nothing_later() {
    let mut looked = [0; 3];
    for variant in writers() {
        let Variant { name, plan, .. } = &variant;
        let model = variant.model(&Device::flex());
        let (source, lengths) = (variant.wide_source(3, 7), variant.lengths());
        let target = Padded::new(&variant.targets());
        let noise = &mut Noise::none();
        let memory = model.encode(&source, noise);
        let forward = model.forward(&model.teacher_inputs(&target), memory.as_ref(), noise);
        // A single network has read the source, but for its end, in columns of its own that end together.
        let single = plan.reader == Reader::Itself;
        let width = source.tokens().map_or(0, |tokens| tokens.width);
        let before = if single { width } else { 0 };
        let begins = |row: usize| if single { width - (lengths[row] - 1) } else { 0 };
        // A class token stands before what it stands for.
        let class = usize::from(memory.as_ref().is_some_and(|memory| memory.class.is_some()));
        let encoder = memory.map(|memory| memory.heads).unwrap_or_default();
        for (found, layers) in looked.iter_mut().zip([&encoder, &forward.heads, &forward.cross_heads]) {
            *found += layers.len();
        }
        for layer in encoder {
            assert_seen(&format!("{name}, encoder"), layer, |row, t, column| match single {
                true => column >= begins(row) && column <= t,
                false => column < class + lengths[row],
            });
        }
        for layer in forward.heads {
            let sees = |row: usize, t, column| column >= begins(row) && column <= before + t;
            assert_seen(&format!("{name}, decoder"), layer, sees);
        }
        for layer in forward.cross_heads {
            assert_seen(&format!("{name}, cross"), layer, |row, _, column| column < lengths[row]);
        }
    }
    assert!(looked.iter().all(|&layers| layers > 20), "{looked:?}");
}

#[test]
fn each_focus_looks_where_it_should() {
    for variant in writers() {
        let Some(attention) = variant.plan.attention.clone() else { continue };
        let weights = weights(&variant, &mut Noise::none()).expect("it looks");
        for (&length, steps) in variant.lengths().iter().zip(&weights) {
            for (t, weights) in steps.iter().enumerate() {
                let seen: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
                let (first, last) = (seen[0], seen[seen.len() - 1]);
                match attention.focus {
                    FocusKind::Soft => assert_eq!(seen.len(), length, "{}", variant.name),
                    FocusKind::Hard => assert_eq!(seen.len(), 1, "{}", variant.name),
                    FocusKind::Local => {
                        let window = attention.window.expect("it is given");
                        assert!(last - first <= 2 * window, "{} {seen:?}", variant.name);
                        if attention.aligned == Some(gatto_model::config::AlignedKind::Monotone) {
                            let centre = t.min(length - 1);
                            let expected = centre.saturating_sub(window)..=(centre + window).min(length - 1);
                            assert_eq!((first, last), expected.into_inner(), "{} step {t}", variant.name);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn draws_depend_on_the_key_the_source_and_the_step_alone() {
    let mut differ = 0;
    for variant in writers().into_iter().filter(Variant::chooses) {
        let draw = |key| weights(&variant, &mut Noise::seeded(key)).expect("it looks");
        assert_eq!(draw(1), draw(1), "{}", variant.name);
        differ += usize::from(draw(1) != draw(2));
    }
    assert!(differ > 10, "other keys are other draws: {differ}");
}
