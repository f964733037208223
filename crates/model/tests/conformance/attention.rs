//! Where models look: weights are shares of what exists, and of nothing else.

use crate::variants::{Variant, all, values, widened};
use burn::tensor::Device;
use gatto_data::Padded;
use gatto_model::config::FocusKind;
use gatto_nn::Noise;

/// The weights of every variant that looks, as [row][step][position], for sources that are three
/// columns wider than the longest of them.
fn weights(variant: &Variant, noise: &mut Noise) -> Option<Vec<Vec<Vec<f32>>>> {
    let model = variant.model(&Device::flex());
    let source = widened(&Padded::new(&variant.sources()), 3, 7);
    let target = Padded::new(&variant.targets());
    let memory = model.encode(&source, noise);
    let found = model.forward(&model.teacher_inputs(&target), memory.as_ref(), noise).alignment?.weights;
    let [_, time, positions] = found.dims();
    assert_eq!([time, positions], [target.width, source.width], "{}", variant.name);
    let rows: Vec<Vec<f32>> = values(found).chunks_exact(positions).map(<[f32]>::to_vec).collect();
    Some(rows.chunks_exact(time).map(<[Vec<f32>]>::to_vec).collect())
}

#[test]
fn weights_sum_to_one_on_what_exists_and_are_zero_elsewhere() {
    let mut looked = 0;
    for variant in all() {
        for noise in [&mut Noise::none(), &mut Noise::seeded(3)] {
            let Some(weights) = weights(&variant, noise) else { continue };
            looked += 1;
            for (row, (source, steps)) in variant.sources().iter().zip(&weights).enumerate() {
                for (t, weights) in steps.iter().enumerate() {
                    let (inside, outside) = weights.split_at(source.len());
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

#[test]
fn each_focus_looks_where_it_should() {
    for variant in all() {
        let Some(attention) = variant.plan.attention.clone() else { continue };
        let weights = weights(&variant, &mut Noise::none()).expect("it looks");
        for (source, steps) in variant.sources().iter().zip(&weights) {
            for (t, weights) in steps.iter().enumerate() {
                let seen: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
                let (first, last) = (seen[0], seen[seen.len() - 1]);
                match attention.focus {
                    FocusKind::Soft => assert_eq!(seen.len(), source.len(), "{}", variant.name),
                    FocusKind::Hard => assert_eq!(seen.len(), 1, "{}", variant.name),
                    FocusKind::Local => {
                        let window = attention.window.expect("it is given");
                        assert!(last - first <= 2 * window, "{} {seen:?}", variant.name);
                        if attention.aligned == Some(gatto_model::config::AlignedKind::Monotone) {
                            let centre = t.min(source.len() - 1);
                            let expected =
                                centre.saturating_sub(window)..=(centre + window).min(source.len() - 1);
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
    for variant in all().into_iter().filter(Variant::chooses) {
        let draw = |key| weights(&variant, &mut Noise::seeded(key)).expect("it looks");
        assert_eq!(draw(1), draw(1), "{}", variant.name);
        differ += usize::from(draw(1) != draw(2));
    }
    assert!(differ > 10, "other keys are other draws: {differ}");
}
