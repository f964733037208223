//! Runs over images: they learn, they go on where they were to the last bit, and what is wrong with an image is told or
//! counted.

use burn::tensor::Device;
use gatto_data::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};
use gatto_data::images::{ImageSet, Pixels, Preparation, Ready};
use gatto_kernels::crew::Crew;
use gatto_model::weights::{self, Weights};
use gatto_model::{Model, Request, Saved, Vocabularies, WEIGHTS, Writers};
use gatto_train::checkpoint::Checkpoint;
use gatto_train::record::{Event, Recorder};
use gatto_train::{ConfigFile, Ending, Lesson, Outcome, RunOptions, TrainError, gather, run};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder for files and runs.
struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, text: &str) -> ConfigFile {
        let parsed =
            ConfigFile::parse(Path::new("test.toml"), text.to_owned(), self.folder.path().to_owned(), &[]);
        parsed.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn try_run(&self, name: &str, text: &str) -> (Result<Outcome, TrainError>, Vec<String>) {
        let mut notes = Notes(Vec::new());
        let outcome = run(&self.config(text), &RunOptions::new(self.path(name)), &mut notes);
        (outcome, notes.0)
    }

    fn run(&self, name: &str, text: &str) -> Outcome {
        self.try_run(name, text).0.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn weights(&self, name: &str) -> Weights {
        weights::load(&self.path(name).join(WEIGHTS)).expect("weights")
    }

    /// `count` scenes as files, listed with their first caption.
    fn scenes(&self, count: u64) -> Vec<String> {
        self.listed(count, 1)
    }

    /// The same with this many captions of each.
    fn listed(&self, count: u64, captions: usize) -> Vec<String> {
        let task = Shapes::new(DRAWN, Asked::Captions(captions)).expect("scenes");
        let scenes = DrawnShapes { task, part: ScenePart::Train, seed: 4, count };
        let mut list = String::new();
        let mut captions = Vec::new();
        for index in 0..count {
            let example = scenes.get(index).expect("a scene");
            fs::write(self.path(&format!("{index}.png")), example.image.png().expect("a PNG"))
                .expect("written");
            for caption in &example.texts {
                list += &format!("{index}.png\t{}\n", caption.text);
            }
            captions.push(example.texts[0].text.clone());
        }
        fs::write(self.path("list.tsv"), list).expect("written");
        captions
    }

    fn pixels(&self, count: u64) -> Vec<Pixels> {
        let task = Shapes::new(DRAWN, Asked::Captions(1)).expect("scenes");
        let scenes = DrawnShapes { task, part: ScenePart::Train, seed: 4, count };
        let preparation = Preparation { height: SIDE, width: SIDE, ..Preparation::default() };
        let ready = |index| Ready::new(&scenes, index, &preparation, None).expect("a scene").pixels;
        (0..count).map(ready).collect()
    }
}

/// What a run has noted.
struct Notes(Vec<String>);

impl Recorder for Notes {
    fn record(&mut self, event: &Event<'_>) {
        if let Event::Noted(note) = event {
            self.0.push((*note).to_owned());
        }
    }
}

/// Sides of scenes, and of what is read where they come from files.
const DRAWN: usize = 64;
const SIDE: usize = 32;

const IMAGES: &str = "[images]\nheight = 32\nwidth = 32\n";
const CNN: &str = "[encoder.cnn]\nchannels = [8, 8, 16]\ngroups = 4\nstem_stride = 2\n";
const TOLD: &str = "[decoder.lstm]\nwidth = 32\nembedding = 16\n[attention]\nquery = \"previous\"\ngate = true\n\
                    deep_output = true\n";

#[test]
fn a_caption_model_learns_eight_scenes_by_heart() {
    let shop = Workshop::new();
    let captions = shop.scenes(8);
    for (name, parts) in [
        ("soft", format!("{CNN}{TOLD}doubly_stochastic = 0.1\n")),
        ("transformer", format!("{CNN}[decoder.transformer]\nwidth = 32\nlayers = 1\nheads = 4\n")),
        (
            "vit",
            format!(
                "[encoder.vit]\npatch = 8\nwidth = 32\nlayers = 1\n{}",
                TOLD.replace("previous", "current")
            ),
        ),
    ] {
        let text = format!(
            "task = \"caption\"\n[data]\ntrain = {{ images = \".\", tsv = \"list.tsv\" }}\n\
             valid = {{ images = \".\", tsv = \"list.tsv\" }}\n[tokens]\nkind = \"word\"\n{IMAGES}{parts}\
             [search]\nmax_length = 40\n[train]\nmax_length = 40\nsteps = 120\nbatch_examples = 8\n\
             learning_rate = 8e-3\nwarmup = 10\nvalidate_every = 120\ncheckpoint_every = 120\n"
        );
        let figures = shop.run(name, &text).last.expect("a validation");
        assert_eq!(figures.exact_match, Some(1.0), "{name}: {figures:?}");
        assert!(figures.loss < 0.2, "{name}: {figures:?}");
        // The figures are those of the model that was saved, and of what it writes.
        let saved = Saved::load(&shop.path(name), &Device::flex()).expect("a saved model");
        let pixels = shop.pixels(8);
        let requests: Vec<Request<'_>> = pixels.iter().map(Request::free).collect();
        let written = Writers::alone(&saved).expect("a writer").best(&requests, 1, 3).expect("captions");
        for (best, caption) in written.iter().zip(&captions) {
            assert_eq!(best[0].text, saved.tokens.target.normalise(caption), "{name}");
        }
    }
}

#[test]
fn a_classifier_learns_eight_scenes_by_heart() {
    let shop = Workshop::new();
    shop.scenes(8);
    let labels: String = (0..8).map(|n| format!("{n}.png\t{}\n", ["one", "two", "three"][n % 3])).collect();
    fs::write(shop.path("list.tsv"), labels).expect("written");
    for (name, parts) in [
        ("vit", "[encoder.vit]\npatch = 8\nwidth = 32\nlayers = 1\n".to_owned()),
        ("cnn", format!("{CNN}[head]\npooling = \"attention\"\n")),
    ] {
        let text = format!(
            "task = \"classify\"\n[data]\ntrain = {{ images = \".\", tsv = \"list.tsv\" }}\n\
             valid = {{ images = \".\", tsv = \"list.tsv\" }}\n{IMAGES}{parts}[train]\nsteps = 60\n\
             batch_examples = 8\nlearning_rate = 5e-3\nvalidate_every = 60\ncheckpoint_every = 60\n"
        );
        let figures = shop.run(name, &text).last.expect("a validation");
        assert!(figures.accuracy > 0.99 && figures.loss < 0.3, "{name}: {figures:?}");
        assert_eq!(figures.exact_match, None);
        let folder = shop.path(name);
        assert!(!folder.join("tokenizer.json").exists(), "{name}: labels need no tokens");
        let saved = Saved::load(&folder, &Device::flex()).expect("a saved model");
        let told = saved.classify_images(&shop.pixels(8), 3).expect("labels");
        let names = saved.labels.as_ref().expect("labels");
        let found: Vec<&str> = told.iter().filter_map(|told| names.name(told.label)).collect();
        let expected: Vec<&str> = (0..8).map(|n| ["one", "two", "three"][n % 3]).collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// All that is drawn goes on where it was: order, captions, changes of images and dropout.
const CHANGED: &str = "[images]\nheight = 64\nwidth = 64\n[images.augmentation]\ncolour = 0.2\n";

fn resumed_exactly(name: &str, text: impl Fn(u64) -> String) {
    let shop = Workshop::new();
    shop.listed(12, 3);
    let whole = shop.run("whole", &text(17));
    assert_eq!((whole.ending, whole.step), (Ending::Completed, 17), "{name}");
    // Stopped at a checkpoint, behind one, and twice.
    for stops in [&[5][..], &[7], &[4, 11]] {
        let parts = format!("parts {stops:?}");
        for (number, &stop) in stops.iter().chain([&17]).enumerate() {
            let options = RunOptions { resume: number > 0, ..RunOptions::new(shop.path(&parts)) };
            let outcome = run(&shop.config(&text(stop)), &options, &mut ()).expect("a run");
            assert_eq!((outcome.ending, outcome.step), (Ending::Completed, stop), "{name}");
        }
        let last = |name: &str| {
            Checkpoint::load(&shop.path(name).join("checkpoints/step-00000017"))
                .expect("a checkpoint")
                .weights
        };
        assert_eq!(last(&parts), last("whole"), "{name}, {stops:?}");
        assert_eq!(shop.weights(&parts), shop.weights("whole"), "{name}, {stops:?}");
    }
    // And the seed is all that it depends on.
    shop.run("again", &text(17));
    assert_eq!(shop.weights("again"), shop.weights("whole"), "{name}");
    shop.run("other", &text(17).replace("seed = 3", "seed = 4"));
    assert_ne!(shop.weights("other"), shop.weights("whole"), "{name}");
}

/// A caption model that looks, over images from somewhere.
fn looking(data: &str, images: &str, attention: &str, steps: u64) -> String {
    format!(
        "task = \"caption\"\nseed = 3\n[data]\n{data}[tokens]\nkind = \"word\"\n{images}{CNN}dropout = 0.1\n\
         [decoder.lstm]\nwidth = 16\ndropout = 0.2\n[attention]\nquery = \"previous\"\ngate = true\n\
         deep_output = true\n{attention}[search]\nmax_length = 6\n[train]\nsteps = {steps}\nbatch_examples = 5\n\
         accumulate = 2\nmax_length = 30\nvalidate_every = 6\nvalid_examples = 6\ncheckpoint_every = 5\nkeep = 9\n"
    )
}

#[test]
fn a_caption_model_with_attention_resumes_exactly() {
    let shapes = "builtin = \"shapes\"\nexamples = 24\n";
    resumed_exactly("soft", |steps| looking(shapes, CHANGED, "", steps));
    resumed_exactly("hard", |steps| looking(shapes, CHANGED, "focus = \"hard\"\n", steps));
}

#[test]
fn a_run_over_files_with_several_captions_and_random_parts_resumes_exactly() {
    let files =
        "train = { images = \".\", tsv = \"list.tsv\" }\nvalid = { images = \".\", tsv = \"list.tsv\" }\n";
    let parts = format!("{CHANGED}crop = 0.5\nstretch = 1.3\nflip = 0.5\n");
    resumed_exactly("files", |steps| {
        format!(
            "{}captions = 2\n",
            looking(
                files,
                &parts,
                "doubly_stochastic = 0.5\nconcentration = { price = 0.1, after = 7 }\n",
                steps
            )
        )
    });
}

#[test]
fn a_vision_transformer_that_tells_labels_resumes_exactly() {
    resumed_exactly("vit", |steps| {
        format!(
            "task = \"classify\"\nseed = 3\n[data]\nbuiltin = \"shapes\"\nasked = \"largest-colour\"\nexamples = 24\n\
             {CHANGED}flip = 0.5\n[encoder.vit]\npatch = 8\nwidth = 16\nlayers = 2\nheads = 2\ndropout = 0.1\n\
             attention_dropout = 0.2\n[train]\nsteps = {steps}\nbatch_examples = 7\nvalidate_every = 6\n\
             valid_examples = 6\ncheckpoint_every = 5\nkeep = 9\n"
        )
    });
}

/// A run over the files of [`Workshop::scenes`], with these lines under [data].
fn over_files(lines: &str) -> String {
    format!(
        "task = \"caption\"\n[data]\ntrain = {{ images = \".\", tsv = \"list.tsv\" }}\n{lines}\n[tokens]\nkind = \"word\"\n\
         {IMAGES}{CNN}[decoder.gru]\nwidth = 8\n[train]\nsteps = 4\nbatch_examples = 4\nmax_length = 40\n"
    )
}

#[test]
fn broken_images_stop_a_run_or_are_counted() {
    let shop = Workshop::new();
    shop.scenes(8);
    fs::write(shop.path("3.png"), b"this is no image").expect("written");
    let (outcome, _) = shop.try_run("strict", &over_files(""));
    let error = outcome.map(drop).expect_err("a broken image").to_string();
    assert!(error.contains("3.png") && error.contains("is no PNG, JPEG, WebP or BMP image"), "{error}");
    let (outcome, notes) = shop.try_run("lenient", &over_files("skip_bad = true"));
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        notes.iter().any(|note| note.contains("1 bad images were passed over in this pass")),
        "{notes:?}"
    );
    // The same where it is validated on.
    fs::rename(shop.path("list.tsv"), shop.path("valid.tsv")).expect("renamed");
    fs::write(shop.path("list.tsv"), "0.png\ta scene\n1.png\tanother scene\n").expect("written");
    let validated = |lines: &str| {
        let valid = "valid = { images = \".\", tsv = \"valid.tsv\" }";
        format!("{}validate_every = 4\n", over_files(&format!("{valid}\n{lines}")))
    };
    let error =
        shop.try_run("valid strict", &validated("")).0.map(drop).expect_err("a broken image").to_string();
    assert!(error.contains("3.png") && error.contains("is no PNG, JPEG, WebP or BMP image"), "{error}");
    let outcome = shop.try_run("valid lenient", &validated("skip_bad = true")).0;
    let figures = outcome.unwrap_or_else(|error| panic!("{error}")).last.expect("a validation");
    assert!(figures.loss.is_finite(), "{figures:?}");
}

#[test]
fn long_captions_are_left_out_and_noted() {
    let shop = Workshop::new();
    shop.scenes(8);
    let list = fs::read_to_string(shop.path("list.tsv")).expect("a list");
    let long = list.replacen("1.png\t", &format!("1.png\t{}", "very ".repeat(60)), 1);
    fs::write(shop.path("list.tsv"), long).expect("written");
    let (outcome, notes) = shop.try_run("run", &over_files(""));
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        notes.iter().any(|note| note.contains("1 examples with more than train.max_length = 40 tokens")),
        "{notes:?}"
    );
}

/// A decoder has no position for a caption that is longer than any that it was taught.
#[test]
fn long_captions_of_the_validation_are_left_out_too() {
    let shop = Workshop::new();
    shop.scenes(8);
    let list = fs::read_to_string(shop.path("list.tsv")).expect("a list");
    let long = list.replacen("1.png\t", &format!("1.png\t{}", "very ".repeat(60)), 1);
    fs::write(shop.path("valid.tsv"), long).expect("written");
    let text = over_files("valid = { images = \".\", tsv = \"valid.tsv\" }").replace(
        "[decoder.gru]\nwidth = 8",
        "[decoder.transformer]\nwidth = 8\nlayers = 1\nheads = 2\npositions = \"learned\"\nmax_positions = 41",
    );
    let text = format!("{text}validate_every = 4\n[search]\nmax_length = 10\n");
    let (outcome, notes) = shop.try_run("run", &text);
    let figures = outcome.unwrap_or_else(|error| panic!("{error}")).last.expect("a validation");
    assert!(figures.loss.is_finite());
    assert!(notes.iter().any(|note| note.contains("1 images with a too long caption")), "{notes:?}");
}

/// The gradient of a batch of images does not depend on how it is divided among hands.
#[test]
fn small_batches_and_many_hands_make_the_gradient_of_one_large() {
    use gatto_data::Stream as _;
    use gatto_data::images::{AheadSettings, ImageCoder, ImageStream, ImageStreamSettings, texts_of};
    use gatto_data::{OneSide, Side, TokenizerPair};
    use std::sync::Arc;
    let shop = Workshop::new();
    let file = shop.config(&format!(
        "task = \"caption\"\n[data]\nbuiltin = \"shapes\"\nexamples = 12\n[tokens]\nkind = \"word\"\n{CNN}{TOLD}\
         doubly_stochastic = 0.5\n"
    ));
    let set = gatto_train::corpora::open_images(&file.config, &file.base, ScenePart::Train)
        .expect("images")
        .expect("a training part");
    let mut texts = OneSide::new(Box::new(texts_of(set.as_ref(), 12).expect("texts")), Side::Target);
    let tokens = TokenizerPair::train(&file.config.tokens, &mut texts).expect("a vocabulary");
    let plan = file.config.plan().expect("a plan");
    let model = Model::new(&plan, Vocabularies::of(&tokens), 3, &Device::flex().autodiff());
    let settings = |batch| ImageStreamSettings {
        seed: 1,
        batch,
        captions: 1,
        max_length: 60,
        skip_bad: false,
        preparation: plan.images.expect("images"),
        ahead: AheadSettings::default(),
    };
    let gathered = |size: usize, threads: usize| {
        let coder = ImageCoder::Captions(Arc::clone(&tokens.target));
        let mut stream = ImageStream::resume(Arc::clone(&set), coder, settings(size), Default::default())
            .expect("a stream");
        let batches: Vec<_> = (0..12 / size).map(|_| stream.next().expect("a batch")).collect();
        let lesson = Lesson { attention: plan.attention.as_ref(), ..Lesson::new(&file.config.train, 1, 1) };
        gather(&model, &batches, &lesson, &Crew::new(threads))
    };
    let large = gathered(12, 1);
    for (size, threads) in [(4, 1), (12, 2), (12, 3), (6, 2)] {
        let small = gathered(size, threads);
        assert_eq!(large.tokens, small.tokens);
        assert!((large.loss - small.loss).abs() < 1e-4 * large.loss, "{} {}", large.loss, small.loss);
        for (name, gradient) in &large.gradients {
            for (a, b) in gradient.values().iter().zip(&*small.gradients[name].values()) {
                assert!((a - b).abs() < 1e-5 * a.abs().max(1.0), "{name}: {a} {b}");
            }
        }
        let again = gathered(size, threads);
        assert_eq!((again.loss, again.gradients), (small.loss, small.gradients), "the same bits every time");
    }
}
