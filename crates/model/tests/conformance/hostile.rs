//! Files that are not what they should be: an error that names the file, never a panic.

use crate::variants::{Variant, all};
use burn::tensor::Device;
use gatto_data::tokens::{Kind, TokenizerPair, TokensConfig};
use gatto_data::{Example, Memory};
use gatto_model::config::{Plan, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig};
use gatto_model::weights::{self, Weight, Weights};
use gatto_model::{
    CONFIG, DecoderConfig, EncoderConfig, Model, ModelConfig, ModelError, Saved, SingleConfig, Task,
    Vocabularies, WEIGHTS,
};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn first() -> Variant {
    all().into_iter().next().expect("a variant")
}

/// A safetensors file with this header and so many bytes of data.
fn file(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + data, 0);
    bytes
}

fn load(bytes: &[u8]) -> Result<Weights, ModelError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hostile.safetensors");
    fs::write(&path, bytes).expect("written");
    weights::load(&path)
}

fn whole() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole.safetensors");
    weights::save(&path, &first().weights()).expect("saved");
    fs::read(&path).expect("read")
}

#[test]
fn hostile_weights_are_refused_by_name() {
    let whole = whole();
    let mut huge = whole.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut long = whole.clone();
    long[..8].copy_from_slice(&(whole.len() as u64).to_le_bytes());
    let header = |dtype: &str, shape: &str, end: usize| {
        format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#)
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("seven bytes", vec![1; 7]),
        ("text", b"these are no weights at all, but a text".to_vec()),
        ("header of 2^64 bytes", huge),
        ("header as long as the file", long),
        ("header that is no JSON", file("{\"a\": ", 8)),
        ("header that is a list", file("[1, 2]", 8)),
        ("truncated", whole[..whole.len() - 1].to_vec()),
        ("half", whole[..whole.len() / 2].to_vec()),
        ("something behind the end", [whole.clone(), vec![0; 4]].concat()),
        ("f64", file(&header("F64", "[1]", 8), 8)),
        ("i32", file(&header("I32", "[2]", 8), 8)),
        ("unknown type", file(&header("F99", "[2]", 8), 8)),
        ("shape larger than its data", file(&header("F32", "[3]", 8), 8)),
        ("shape that overflows", file(&header("F32", "[4294967296, 4294967296, 4]", 0), 0)),
        ("negative shape", file(&header("F32", "[-2]", 8), 8)),
        (
            "offsets that overlap",
            file(
                r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#,
                12,
            ),
        ),
        (
            "a gap between tensors",
            file(
                r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#,
                12,
            ),
        ),
        (
            "offsets beyond the file",
            file(r#"{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}"#, 8),
        ),
        ("i8 without scales", file(&header("I8", "[2, 4]", 8), 8)),
        ("i8 that is no matrix", file(&header("I8", "[8]", 8), 8)),
        (
            "i8 with too few scales",
            file(
                r#"{"a":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},"a.scale":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
                8,
            ),
        ),
        (
            "i8 with scales of i8",
            file(
                r#"{"a":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},"a.scale":{"dtype":"I8","shape":[2],"data_offsets":[4,6]}}"#,
                6,
            ),
        ),
        (
            "i8 of too many rows",
            file(
                r#"{"a":{"dtype":"I8","shape":[70000,0],"data_offsets":[0,0]},"a.scale":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#,
                0,
            ),
        ),
        ("offsets that run backwards", file(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, 8)),
    ];
    for (name, bytes) in cases {
        let error = load(&bytes).map(|_| ()).expect_err(name).to_string();
        assert!(error.contains("hostile.safetensors: is not a usable weights file: "), "{name}: {error}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let missing = weights::load(&folder.path().join("nothing")).map(|_| ()).expect_err("missing").to_string();
    assert!(missing.contains("nothing: cannot be read"), "{missing}");
    let directory = weights::load(folder.path()).map(|_| ()).expect_err("a folder").to_string();
    assert!(directory.contains("cannot be read"), "{directory}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(load(&bytes).is_err());
    }

    #[test]
    fn a_changed_header_never_panics(changes in prop::collection::vec((0usize..400, any::<u8>()), 1..4)) {
        let mut bytes = whole();
        for (at, value) in changes {
            bytes[at] = value;
        }
        // The change may happen to make another valid file; it must then fit or be refused.
        if let Ok(weights) = load(&bytes) {
            let _ = weights::install(first().fresh(1, &Device::flex()), weights, Path::new("changed"), true);
        }
    }
}

#[test]
fn weights_of_another_model_are_refused_by_name() {
    let variant = first();
    let name = "encoder.embedding.weight";
    let install = |change: &dyn Fn(&mut Weights), whole| {
        let mut weights = variant.weights();
        change(&mut weights);
        let fresh = variant.fresh(1, &Device::flex());
        weights::install(fresh, weights, Path::new("other"), whole)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let missing = install(&|weights| drop(weights.remove(name)), true).expect_err("one is missing");
    assert!(missing.contains("other: has no weights for `encoder.embedding.weight`"), "{missing}");
    install(&|weights| drop(weights.remove(name)), false).expect("a part may be left out");
    let extra = |weights: &mut Weights| {
        weights.insert("encoder.more".into(), Weight { shape: vec![1], values: vec![0.0] });
    };
    let extra = install(&extra, true).expect_err("one too many");
    assert!(extra.contains("it has weights for `encoder.more`, which the model has not"), "{extra}");
    let reshape = |weights: &mut Weights| {
        let weight = weights.get_mut(name).expect("it is there");
        weight.shape.reverse();
    };
    let shape = install(&reshape, true).expect_err("another shape");
    assert!(shape.contains("is [3, 12] in the file and [12, 3] in the model"), "{shape}");
}

const MODEL: &str = "task = \"translate\"\n[encoder.gru]\nwidth = 4\n[decoder.gru]\nwidth = 4\n\
                     [tokens]\nkind = \"word\"\n[data]\nbuiltin = \"copy\"\n";

/// A run directory as training leaves it, untrained.
fn directory() -> tempfile::TempDir {
    directory_of(MODEL, &plan())
}

/// The same of a model with this configuration and plan.
fn directory_of(model: &str, plan: &Plan) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let config = TokensConfig { kind: Kind::Word, ..TokensConfig::default() };
    let mut corpus = Memory::new(vec![Example::new("a b c", "c b a")]);
    let tokens = TokenizerPair::train(&config, &mut corpus).expect("a vocabulary");
    tokens.save(folder.path()).expect("saved");
    fs::write(folder.path().join(CONFIG), model).expect("written");
    let model = Model::new(plan, Vocabularies::of(&tokens), 1, &Device::flex());
    weights::save(&folder.path().join(WEIGHTS), &weights::collect(&model)).expect("saved");
    folder
}

/// The plan of [`MODEL`].
fn plan() -> Plan {
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Gru(RecurrentEncoderConfig { width: 4, ..Default::default() })),
        decoder: Some(DecoderConfig::Gru(RecurrentDecoderConfig { width: 4, ..Default::default() })),
        ..ModelConfig::new(Task::Translate)
    };
    config.plan(true).expect("a plan")
}

type Damage = fn(&Path);

#[test]
fn a_run_directory_with_a_missing_or_damaged_file_is_refused_by_its_name() {
    let device = Device::flex();
    let good = directory();
    let saved = Saved::load(good.path(), &device).expect("a whole directory");
    assert_eq!(saved.predict(&["a b", "", "c"], 2).expect("predictions").len(), 3);

    let missing = Saved::load(&good.path().join("no-such-run"), &device).map(|_| ()).expect_err("missing");
    assert!(missing.to_string().contains("no-such-run"), "{missing}");
    for name in [CONFIG, WEIGHTS, "tokenizer.json"] {
        let damages: [(&str, Damage); 5] = [
            ("missing", |path| fs::remove_file(path).expect("removed")),
            ("empty", |path| fs::write(path, "").expect("written")),
            ("garbage", |path| fs::write(path, [0xff, 0xfe, 0x00, 0x17, 0x80]).expect("written")),
            ("truncated", |path| {
                let bytes = fs::read(path).expect("read");
                fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
            }),
            ("a folder", |path| {
                fs::remove_file(path).expect("removed");
                fs::create_dir(path).expect("created");
            }),
        ];
        for (damage, change) in damages {
            let folder = directory();
            change(&folder.path().join(name));
            let error = Saved::load(folder.path(), &device).map(|_| ()).expect_err(damage).to_string();
            // Half a configuration can be one: of another model, which then the weights do not fit.
            let named = if (name, damage) == (CONFIG, "truncated") { WEIGHTS } else { name };
            assert!(error.contains(named), "{name} {damage}: {error}");
        }
    }
}

#[test]
fn vocabularies_that_are_not_as_the_configuration_says_are_refused() {
    let device = Device::flex();
    let refused = |folder: &tempfile::TempDir| {
        Saved::load(folder.path(), &device).map(|_| ()).expect_err("refused").to_string()
    };
    let folder = directory();
    fs::write(folder.path().join(CONFIG), MODEL.replace("[tokens]", "[tokens]\nshared = false"))
        .expect("written");
    let error = refused(&folder);
    assert!(error.contains("config.toml: `tokens.shared` says one vocabulary for each side"), "{error}");

    let folder = directory();
    let both = folder.path().join("tokenizer.json");
    for name in ["tokenizer.source.json", "tokenizer.target.json"] {
        fs::copy(&both, folder.path().join(name)).expect("copied");
    }
    fs::remove_file(both).expect("removed");
    let error = refused(&folder);
    assert!(error.contains("config.toml: `tokens.shared` says one vocabulary for both sides"), "{error}");
    assert!(error.contains("tokenizer.source.json"), "{error}");

    let folder = directory();
    fs::write(folder.path().join(CONFIG), format!("{MODEL}[search]\nmax_length = 0\n")).expect("written");
    let error = refused(&folder);
    assert!(error.contains("config.toml:11:1: `search.max_length` must be from 1 to 100000"), "{error}");
}

#[test]
fn a_source_that_is_too_long_is_refused_by_its_number() {
    let saved = Saved::load(directory().path(), &Device::flex()).expect("a whole directory");
    let long = |count: usize| "a ".repeat(count);
    saved.predict(&[long(10_000)], 1).expect("just short enough");
    let error = saved.predict(&["a".to_owned(), long(10_001)], 1).map(drop).expect_err("too long");
    assert!(matches!(error, ModelError::TooLong { index: 1, count: 10_001, limit: 10_000 }), "{error}");
    assert!(error.to_string().contains("source 2 has 10001 tokens; at most 10000"), "{error}");
}

#[test]
fn a_source_without_positions_is_refused_by_its_number() {
    let layers = "width = 4\nheads = 2\nlayers = 1\npositions = \"learned\"\nmax_positions = 6";
    let settings: TransformerConfig = toml::from_str(layers).expect("settings");
    let (reads, writes) = (settings.clone(), settings.clone());
    let single = ModelConfig {
        single: Some(SingleConfig::Transformer(settings)),
        ..ModelConfig::new(Task::Translate)
    };
    let pair = ModelConfig {
        encoder: Some(EncoderConfig::Transformer(reads)),
        decoder: Some(DecoderConfig::Transformer(writes)),
        ..ModelConfig::new(Task::Translate)
    };
    let rest = MODEL.replace("[encoder.gru]\nwidth = 4\n[decoder.gru]\nwidth = 4\n", "");
    for (config, tables) in [
        (single, format!("[single.transformer]\n{layers}\n")),
        (pair, format!("[encoder.transformer]\n{layers}\n[decoder.transformer]\n{layers}\n")),
    ] {
        let folder = directory_of(&format!("{rest}{tables}"), &config.plan(true).expect("a plan"));
        let saved = Saved::load(folder.path(), &Device::flex()).expect("a whole directory");
        saved.predict(&["a b c a b", "", "c"], 3).expect("five tokens, and an end or a separator");
        let error = saved.predict(&["a", "a b c a b c"], 3).map(drop).expect_err("one too many");
        let expected = matches!(error, ModelError::BeyondPositions { index: 1, count: 7, limit: 6 });
        assert!(expected, "{tables}: {error}");
        assert!(error.to_string().contains("source 2 has 7 tokens with its end"), "{error}");
    }
}

#[test]
fn a_vocabulary_of_another_size_is_refused() {
    let folder = directory();
    let config = TokensConfig { kind: Kind::Word, ..TokensConfig::default() };
    let mut corpus = Memory::new(vec![Example::new("a b c d e", "f")]);
    let tokens = TokenizerPair::train(&config, &mut corpus).expect("a vocabulary");
    tokens.save(folder.path()).expect("saved");
    let error =
        Saved::load(folder.path(), &Device::flex()).map(|_| ()).expect_err("another size").to_string();
    assert!(error.contains("in the file and") && error.contains(WEIGHTS), "{error}");
}
