//! Tasks without a decoder: a few examples known by heart, with recurrent layers and with self-attention.

use burn::tensor::Device;
use gatto_data::{Labels, Limits, Part, TokenizerPair};
use gatto_kernels::crew::Crew;
use gatto_model::{Model, Saved, Task, Vocabularies};
use gatto_train::config::TrainConfig;
use gatto_train::record::ValidFigures;
use gatto_train::{ConfigFile, Lesson, RunOptions, TrainError, corpora, gather, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const RECURRENT: &str = "[encoder.gru]\nwidth = 24\nbidirectional = true";
const ATTENTION: &str = "[encoder.transformer]\nwidth = 32\nheads = 4\nlayers = 1\nfeed_forward = 64";
const QUICK: &str =
    "steps = 200\nbatch_examples = 16\nlearning_rate = 8e-3\nvalidate_every = 200\ncheckpoint_every = 200";

/// 24 texts of three to six words, a label for each by no rule, and one for every word.
fn examples() -> Vec<(String, &'static str, String)> {
    let words = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut seed = 1usize;
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let example = |number: usize| {
        let source: Vec<&str> = (0..3 + number % 4).map(|_| words[next(8)]).collect();
        let tags: Vec<&str> = source.iter().map(|_| ["X", "Y", "Z"][next(3)]).collect();
        (source.join(" "), ["one", "two words", "three"][next(3)], tags.join(" "))
    };
    (0..24).map(example).collect()
}

struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        let shop = Self { folder: tempfile::tempdir().expect("a folder") };
        let lines = |column: fn(&(String, &str, String)) -> String| -> String {
            examples().iter().map(|example| format!("{}\t{}\n", example.0, column(example))).collect()
        };
        fs::write(shop.path("classify.tsv"), lines(|example| example.1.to_owned())).expect("written");
        fs::write(shop.path("label.tsv"), lines(|example| example.2.clone())).expect("written");
        // Every word tells its whole sentence.
        fs::write(shop.path("masked.txt"), "a b c d\ne f g\nh i j k l\nm n o\n".repeat(8)).expect("written");
        fs::write(shop.path("bidirectional.txt"), "a b c d\n".repeat(32)).expect("written");
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, task: Task, parts: &str, train: &str) -> ConfigFile {
        let files = match task {
            Task::Classify => "{ tsv = \"classify.tsv\" }",
            Task::Label => "{ tsv = \"label.tsv\" }",
            Task::MaskedLanguageModel => "{ text = \"masked.txt\" }",
            _ => "{ text = \"bidirectional.txt\" }",
        };
        let text = format!(
            "task = \"{task}\"\n[data]\ntrain = {files}\nvalid = {files}\n[tokens]\nkind = \"word\"\n{parts}\n\
             [train]\nmax_length = 20\n{train}\n"
        );
        let parsed =
            ConfigFile::parse(Path::new("test.toml"), text.clone(), self.folder.path().to_owned(), &[]);
        parsed.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn try_run(&self, name: &str, file: &ConfigFile) -> Result<ValidFigures, TrainError> {
        run(file, &RunOptions::new(self.path(name)), &mut ()).map(|outcome| outcome.last.expect("figures"))
    }

    /// Trains, and expects every answer to be known by heart.
    fn learns(&self, name: &str, file: &ConfigFile) -> Saved {
        let figures = self.try_run(name, file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(figures.loss < 0.1 && figures.accuracy == 1.0, "{name}: {figures:?}");
        assert_eq!(figures.exact_match, None);
        Saved::load(&self.path(name), &Device::flex()).expect("a saved model")
    }
}

#[test]
fn texts_get_their_labels_with_every_pooling() {
    let shop = Workshop::new();
    let (sources, labels): (Vec<_>, Vec<_>) = examples().into_iter().map(|(a, b, _)| (a, b)).unzip();
    for (name, encoder) in [("recurrent", RECURRENT), ("attention", ATTENTION)] {
        for pooling in ["last", "mean", "max", "attention", "class-token"] {
            let parts = format!("{encoder}\n[head]\npooling = \"{pooling}\"");
            let name = format!("{name}-{pooling}");
            let saved = shop.learns(&name, &shop.config(Task::Classify, &parts, QUICK));
            let names = saved.labels.as_ref().expect("labels").names();
            assert_eq!(names, ["one", "three", "two words"]);
            let found = saved.classify(&sources, 7).expect("labels");
            for ((found, label), source) in found.iter().zip(&labels).zip(&sources) {
                assert_eq!(names[found.label as usize], *label, "{name}: {source}");
                assert!((found.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                assert_eq!(found.weights.is_some(), pooling == "attention", "{name}");
                if let Some(weights) = &found.weights {
                    assert_eq!(weights.len(), source.split(' ').count() + 1);
                    assert!((weights.iter().map(|(_, weight)| weight).sum::<f32>() - 1.0).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn words_get_their_labels() {
    let shop = Workshop::new();
    let (sources, tags): (Vec<_>, Vec<_>) = examples().into_iter().map(|(a, _, c)| (a, c)).unzip();
    for (name, encoder) in [("recurrent", RECURRENT), ("attention", ATTENTION)] {
        let saved = shop.learns(name, &shop.config(Task::Label, encoder, QUICK));
        let names = saved.labels.as_ref().expect("labels").names();
        for (found, tags) in saved.label(&sources, 7).expect("labels").iter().zip(&tags) {
            let told: Vec<&str> = found.labels.iter().map(|&label| names[label as usize].as_str()).collect();
            assert_eq!(told.join(" "), *tags, "{name}");
            assert!(found.confidences.iter().all(|p| (0.3..=1.0).contains(p)));
        }
        let none = saved.label(&["", " \t "], 2).expect("no labels");
        assert!(none.iter().all(|found| found.words.is_empty() && found.labels.is_empty()));
        assert!(saved.classify(&["a"], 1).is_err_and(|error| error.to_string().contains("task = \"label\"")));
        assert!(saved.predict(&["a"], 1).is_err());
    }
}

#[test]
fn hidden_tokens_are_found_again() {
    let shop = Workshop::new();
    // Not as fast: whether the last token is found is a matter of luck then.
    let longer = QUICK.replace("200", "800").replace("8e-3", "3e-3");
    for (name, encoder) in [("recurrent", RECURRENT), ("attention", ATTENTION)] {
        let saved = shop.learns(name, &shop.config(Task::MaskedLanguageModel, encoder, &longer));
        let filled = saved.fill(&["a b [MASK] d", "[MASK] f g", "h i j k l", "m n [MASK]"], 3, 2);
        let texts: Vec<String> = filled.expect("filled").into_iter().map(|found| found.text).collect();
        assert_eq!(texts, ["a b c d", "e f g", "h i j k l", "m n o"], "{name}");
    }
}

/// Both directions know what comes, wherever they start.
#[test]
fn a_language_model_of_both_directions_learns() {
    let shop = Workshop::new();
    for cell in ["gru", "lstm"] {
        let encoder = RECURRENT.replace("gru", cell);
        shop.learns(cell, &shop.config(Task::BidirectionalLanguageModel, &encoder, QUICK));
    }
}

#[test]
fn what_hinders_learning_by_heart_does_not_stop_it() {
    let shop = Workshop::new();
    let parts = format!("{ATTENTION}\ndropout = 0.1\n[head]\nhidden = 24\ndropout = 0.1");
    let train =
        QUICK.replace("200", "400") + "\naccumulate = 2\nlabel_smoothing = 0.05\nschedule = \"cosine\"";
    let figures = shop.try_run("run", &shop.config(Task::Label, &parts, &train)).expect("trained");
    assert!(figures.accuracy > 0.97 && figures.loss < 0.3, "{figures:?}");
}

#[test]
fn small_batches_make_the_gradient_of_a_large_one() {
    let shop = Workshop::new();
    for task in [Task::Classify, Task::Label, Task::BidirectionalLanguageModel] {
        let file = shop.config(task, RECURRENT, QUICK);
        let mut corpus =
            corpora::open(&file.config, &file.base, Part::Train).expect("a corpus").expect("a part");
        let tokens =
            TokenizerPair::train_on_sources(&file.config.tokens, corpus.as_mut()).expect("a vocabulary");
        let labels = task.unit().map(|unit| Arc::new(Labels::learn(unit, corpus.as_mut()).expect("labels")));
        let coder = task.coder(&tokens, labels.as_ref());
        let mut rows = Vec::new();
        while let Some((_, row)) = coder.read(corpus.as_mut()).expect("an example") {
            rows.push(row);
        }
        let sizes = Vocabularies::with_labels(&tokens, labels.as_deref());
        let model = Model::new(&file.config.plan().expect("a plan"), sizes, 3, &Device::flex().autodiff());
        let config = TrainConfig { label_smoothing: 0.1, ..Default::default() };
        let gathered = |size: usize| {
            let batches = coder.batches(&rows, &Limits::examples(size)).expect("batches");
            gather(&model, &batches, &Lesson { task, ..Lesson::new(&config, 1, 1) }, &Crew::none())
        };
        let (large, small) = (gathered(100), gathered(7));
        assert_eq!(large.tokens, small.tokens, "{task}");
        assert!((large.loss - small.loss).abs() < 1e-4 * large.loss, "{task}");
        assert!(large.gradients.keys().any(|name| name.starts_with("head.")), "{task}");
        for (name, gradient) in &large.gradients {
            for (a, b) in gradient.values().iter().zip(&*small.gradients[name].values()) {
                assert!((a - b).abs() < 1e-5, "{task}, {name}: {a} {b}");
            }
        }
    }
}

const STILL: &str = "steps = 1\noptimiser = \"sgd\"\nmomentum = 0.0\nlearning_rate = 1e-300\nclip = 0.0";

#[test]
fn an_encoder_is_given_on_and_a_head_only_to_the_same_labels() {
    let shop = Workshop::new();
    shop.try_run("first", &shop.config(Task::Classify, RECURRENT, STILL)).expect("trained");
    let given = |part: &str| format!("{RECURRENT}\n[[init]]\nfrom = \"first\"\npart = \"{part}\"");
    shop.try_run("same", &shop.config(Task::Classify, &given(""), STILL)).expect("the same labels");
    shop.try_run("encoder", &shop.config(Task::Label, &given("encoder"), STILL)).expect("the same tokens");
    let error = shop.try_run("head", &shop.config(Task::Label, &given("head"), STILL));
    let error = error.map(drop).expect_err("other labels").to_string();
    assert!(error.contains("cannot give `head.output.bias`: it was learnt with other labels"), "{error}");
}

#[test]
fn labels_that_stand_in_the_directory_are_kept_in_their_order() {
    let shop = Workshop::new();
    fs::create_dir(shop.path("run")).expect("created");
    fs::write(shop.path("run/labels.json"), "[\"two words\", \"spare\", \"three\", \"one\"]")
        .expect("written");
    shop.try_run("run", &shop.config(Task::Classify, RECURRENT, STILL)).expect("trained");
    let saved = Saved::load(&shop.path("run"), &Device::flex()).expect("a saved model");
    assert_eq!(saved.labels.expect("labels").names(), ["two words", "spare", "three", "one"]);
    assert_eq!(saved.model.vocabularies().target, 4);
}
