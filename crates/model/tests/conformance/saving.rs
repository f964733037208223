//! First values come from the seed, and what is saved comes back bit for bit.

use crate::variants::{all, scores};
use burn::tensor::Device;
use gatto_data::Padded;
use gatto_model::weights;

/// Biases, the sharpness of a score, norms and the mixture of features start from constants; all else
/// is drawn, and what distances add to scores too.
fn is_drawn(name: &str) -> bool {
    let constant = ["bias", "sharpness", "norm.scale", "norm.shift", "features.mixture", "features.scale"];
    name.ends_with("positions.bias") || !constant.iter().any(|end| name.ends_with(end))
}

#[test]
fn a_seed_gives_the_same_first_weights_and_another_seed_others() {
    let device = Device::flex();
    for variant in all() {
        let first = weights::collect(&variant.fresh(1, &device));
        assert_eq!(first, weights::collect(&variant.fresh(1, &device)), "{}", variant.name);
        let other = weights::collect(&variant.fresh(2, &device));
        for (name, weight) in &first {
            assert_eq!(weight.values != other[name].values, is_drawn(name), "{} {name}", variant.name);
            assert!(weight.values.iter().all(|value| value.is_finite()), "{} {name}", variant.name);
        }
    }
}

#[test]
fn what_is_saved_gives_the_same_scores_bit_for_bit() {
    let device = Device::flex();
    let folder = tempfile::tempdir().expect("a folder");
    for variant in all() {
        let model = variant.model(&device);
        let path = folder.path().join("model.safetensors");
        weights::save(&path, &weights::collect(&model)).expect("saved");
        let loaded =
            weights::install(variant.fresh(9, &device), weights::load(&path).expect("loaded"), &path, true);
        let loaded = loaded.expect("all weights in place");
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        let bits = |model| {
            let scores = scores(&variant, model, &source, &target).concat().concat();
            scores.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(bits(&loaded), bits(&model), "{}", variant.name);
    }
}
