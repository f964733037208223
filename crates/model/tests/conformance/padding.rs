//! Padding is invisible: adding padding, or another sentence to the batch, changes no result.

use crate::gradients::loss_and_gradients;
use crate::transformers::layers;
use crate::variants::{all, assert_close, scores, variant, widened, writers};
use burn::tensor::Device;
use gatto_data::Padded;
use gatto_data::tokens::{END, PAD};
use gatto_model::config::TransformerConfig;
use gatto_model::{ModelConfig, SingleConfig, Task, write};
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;

const TOLERANCE: f32 = 1e-5;
/// What padding may look like: as it should, and as a token that must not be read.
const FILLERS: [u32; 2] = [PAD, 7];

#[test]
fn a_sentence_has_the_same_scores_alone_and_in_any_company() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let targets = variant.targets();
        let (source, target) = (variant.source(), Padded::new(&targets));
        let together = scores(&variant, &model, &source, &target);
        let wide = FILLERS.map(|token| {
            scores(&variant, &model, &variant.wide_source(3, token), &widened(&target, 2, token))
        });
        for row in 0..targets.len() {
            let alone = scores(&variant, &model, &variant.source_of(row), &Padded::new(&targets[row..=row]));
            let expected = alone[0].concat();
            let name = format!("{} row {row}", variant.name);
            assert_close(&name, &together[row].concat(), &expected, TOLERANCE);
            for wide in &wide {
                assert_close(&format!("{name}, padded"), &wide[row].concat(), &expected, TOLERANCE);
            }
        }
    }
}

#[test]
fn a_sentence_is_written_the_same_alone_and_in_any_company() {
    for variant in writers() {
        let model = variant.model(&Device::flex());
        let source = variant.source();
        let together = write(&model, &source, &vec![9; source.rows()]);
        let wide =
            FILLERS.map(|token| write(&model, &variant.wide_source(3, token), &vec![9; source.rows()]));
        for row in 0..source.rows() {
            let alone = &write(&model, &variant.source_of(row), &[9])[0];
            for found in [&together[row], &wide[0][row], &wide[1][row]] {
                assert_eq!(found.tokens, alone.tokens, "{} row {row}", variant.name);
                assert_eq!(found.finished, alone.finished, "{} row {row}", variant.name);
                let name = format!("{} row {row}", variant.name);
                assert_close(&name, &found.log_probabilities, &alone.log_probabilities, TOLERANCE);
            }
        }
    }
}

#[test]
fn padding_and_company_change_no_gradient() {
    for variant in all() {
        // No slopes are taken, and biases that keep rectifiers from their kinks would make scores of hundreds, with gradients
        // that are rounded accordingly.
        let model = variant.with(variant.drawn_weights(), &Device::flex().autodiff());
        let targets = variant.targets();
        let (source, target) = (variant.source(), Padded::new(&targets));
        let (loss, together) = loss_and_gradients(&variant, &model, &source, &target);
        for token in FILLERS {
            let (wide_loss, wide) = loss_and_gradients(
                &variant,
                &model,
                &variant.wide_source(3, token),
                &widened(&target, 2, token),
            );
            assert!(
                (wide_loss - loss).abs() < 1e-5 * loss.abs(),
                "{}: {wide_loss} and not {loss}",
                variant.name
            );
            for (name, gradient) in &together {
                // Products of other shapes sum in another order.
                assert_close(
                    &format!("{} {name}", variant.name),
                    &wide[name].values,
                    &gradient.values,
                    2.0 * TOLERANCE,
                );
            }
        }
        // The gradient of a batch is the sum of the gradients of its sentences.
        let mut sum = together.clone();
        sum.values_mut().for_each(|weight| weight.values.fill(0.0));
        for row in 0..targets.len() {
            let (source, target) = (variant.source_of(row), Padded::new(&targets[row..=row]));
            for (name, gradient) in loss_and_gradients(&variant, &model, &source, &target).1 {
                let total = &mut sum.get_mut(&name).expect("the same parameters").values;
                total.iter_mut().zip(&gradient.values).for_each(|(sum, value)| *sum += value);
            }
        }
        for (name, gradient) in &together {
            // Sums of five in another order: a little more than one product's rounding.
            assert_close(
                &format!("{} {name}", variant.name),
                &sum[name].values,
                &gradient.values,
                2.0 * TOLERANCE,
            );
        }
    }
}

/// Each row has positions enough; where one with a long source and one with a long target stand side by
/// side, the padding behind the first would need more.
#[test]
fn padding_needs_no_positions() {
    let settings =
        TransformerConfig { max_positions: Some(8), ..layers(PositionKind::Learned, NormOrder::Pre) };
    let single = Some(SingleConfig::Transformer(settings));
    let config = ModelConfig { single, ..ModelConfig::new(Task::Translate) };
    let variant = variant("few positions".to_owned(), true, config);
    assert_eq!((variant.plan.most_source(), variant.plan.most_target()), (Some(8), Some(8)));
    let model = variant.model(&Device::flex());
    let sources = [vec![5, 6, 7, 8, 9, 5, END], vec![END]];
    let targets = [vec![6, END], vec![9, 8, 7, 6, 5, 9, END]];
    let together = scores(&variant, &model, &Padded::new(&sources).into(), &Padded::new(&targets));
    for (row, together) in together.iter().enumerate() {
        let (source, target) = (Padded::new(&sources[row..=row]), Padded::new(&targets[row..=row]));
        let alone = scores(&variant, &model, &source.into(), &target).concat();
        assert_close(&format!("row {row}"), &together.concat(), &alone.concat(), TOLERANCE);
    }
}
