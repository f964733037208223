//! Weights in eight bits: what a file of them gives is what the floats give when they are turned into them.

use crate::variants::{Variant, all, scores};
use burn::tensor::Device;
use gatto_data::Padded;
use gatto_model::weights::{self, Weight};
use gatto_model::{Model, ModelError, Stored, Taking, quantise_weights};
use gatto_nn::Precision;
use std::fs;
use std::path::{Path, PathBuf};

/// The weights of a variant as a file of floats, and as one in eight bits.
fn files(variant: &Variant, folder: &Path) -> [PathBuf; 2] {
    let [floats, bytes] = ["floats", "bytes"].map(|name| folder.join(name));
    weights::save(&floats, &variant.weights()).expect("saved");
    let stored = Stored::open(&floats).expect("floats");
    let made = quantise_weights(&variant.plan, variant.vocabularies, &stored, &bytes).expect("quantised");
    assert!(made.matrices > 0, "{}", variant.name);
    assert_eq!(made.before, fs::metadata(&floats).expect("a file").len());
    assert_eq!(made.after, fs::metadata(&bytes).expect("a file").len());
    [floats, bytes]
}

fn load(variant: &Variant, path: &Path, precision: Precision, whole: bool) -> Model {
    let stored = Stored::open(path).expect("a file of weights");
    let taking = Taking { precision, whole };
    Model::from_file(&variant.plan, variant.vocabularies, &stored, taking, &Device::flex()).expect("a model")
}

fn bits(variant: &Variant, model: &Model) -> Vec<u32> {
    let (source, target) = (variant.source(), Padded::new(&variant.targets()));
    let scores = scores(variant, model, &source, &target).concat().concat();
    assert!(scores.iter().all(|score| score.is_finite()), "{}", variant.name);
    scores.into_iter().map(f32::to_bits).collect()
}

#[test]
fn a_file_in_eight_bits_gives_what_its_floats_give_in_eight_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut other = 0;
    for variant in all() {
        let [floats, bytes] = files(&variant, folder.path());
        let now = bits(&variant, &load(&variant, &floats, Precision::Int8, false));
        let stored = load(&variant, &bytes, Precision::Int8, false);
        assert_eq!(bits(&variant, &stored), now, "{}", variant.name);
        let whole = load(&variant, &bytes, Precision::Int8, true);
        assert_eq!(bits(&variant, &whole), now, "{} whole", variant.name);
        other += usize::from(bits(&variant, &load(&variant, &floats, Precision::Float, false)) != now);
    }
    assert!(other > 0, "eight bits are not the floats");
}

#[test]
fn what_is_ready_is_no_parameter_besides() {
    let folder = tempfile::tempdir().expect("a folder");
    for variant in all() {
        let [floats, bytes] = files(&variant, folder.path());
        let names = Stored::open(&bytes).expect("bytes");
        let given = variant.weights();
        let whole = load(&variant, &floats, Precision::Float, true);
        assert!(whole.is_whole());
        assert_eq!(weights::collect(&whole), given, "{}", variant.name);
        let mut prepared = variant.model(&Device::flex());
        prepared.prepare(Precision::Float);
        let expected = bits(&variant, &prepared);
        assert_eq!(bits(&variant, &whole), expected, "{}", variant.name);

        let lean = load(&variant, &floats, Precision::Float, false);
        assert!(!lean.is_whole());
        assert_eq!(bits(&variant, &lean), expected, "{}", variant.name);
        for (name, weight) in weights::collect(&lean) {
            assert_eq!(weight.shape, given[&name].shape, "{} {name}", variant.name);
            match names.parameters()[&name].precision() {
                // One value serves for all of them.
                Precision::Int8 => assert!(weight.values.iter().all(|value| value.is_nan())),
                Precision::Float => assert_eq!(weight, given[&name], "{} {name}", variant.name),
            }
        }
        // Whoever asks for gradients gets what the integers stand for.
        for (name, weight) in weights::collect(&load(&variant, &bytes, Precision::Int8, true)) {
            let Weight { values, shape } = &given[&name];
            let columns = shape.last().copied().unwrap_or(1);
            for (at, (found, value)) in weight.values.iter().zip(values).enumerate() {
                let column = values[at % columns..].iter().step_by(columns);
                let most = column.fold(0.0f32, |most, value| most.max(value.abs()));
                let allowed = match names.parameters()[&name].precision() {
                    Precision::Int8 => most / 127.0 * 0.51,
                    Precision::Float => 0.0,
                };
                assert!((found - value).abs() <= allowed, "{} {name}: {found} and not {value}", variant.name);
            }
        }
    }
}

#[test]
fn eight_bits_are_refused_where_they_cannot_serve() {
    let folder = tempfile::tempdir().expect("a folder");
    let variant = all().into_iter().next().expect("a variant");
    let [_, bytes] = files(&variant, folder.path());
    let error = weights::load(&bytes).map(drop).expect_err("not to be trained").to_string();
    assert!(error.contains("bytes: holds weights of eight bits, which are for prediction"), "{error}");
    let stored = Stored::open(&bytes).expect("bytes");
    let again = folder.path().join("again");
    let error = quantise_weights(&variant.plan, variant.vocabularies, &stored, &again).expect_err("twice");
    assert!(error.to_string().contains("cannot be quantised again; take the model"), "{error}");
    assert!(!again.exists());
}

/// A file that is cut short when it is open has an error, not a signal.
#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let variant = all().into_iter().next().expect("a variant");
    let files = files(&variant, folder.path());
    for path in files {
        let stored = Stored::open(&path).expect("weights");
        let len = fs::metadata(&path).expect("a file").len();
        fs::OpenOptions::new().write(true).open(&path).expect("a file").set_len(len / 2).expect("cut");
        let taking = Taking { precision: stored.precision(), whole: false };
        let found = Model::from_file(&variant.plan, variant.vocabularies, &stored, taking, &Device::flex());
        let error = found.map(drop).expect_err("cut short");
        assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("it has become shorter"), "{error}");
    }
}
