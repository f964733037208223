//! Runs over sounds: they learn, they go on where they were to the last bit, and what is wrong with a recording is told or
//! counted.

use burn::tensor::Device;
use gatto_data::Part;
use gatto_data::builtin::melodies::Melodies;
use gatto_data::sound::{Sound, Statistics, Wanted, decode_file};
use gatto_model::weights::{self, Weights};
use gatto_model::{Request, Saved, WEIGHTS, Writers};
use gatto_train::checkpoint::Checkpoint;
use gatto_train::record::{Event, Recorder};
use gatto_train::{ConfigFile, Ending, Outcome, RunOptions, TrainError, run};
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

    /// `count` melodies as files, listed with their notes and their timbre.
    fn melodies(&self, count: u64) -> Vec<String> {
        let task = Melodies::new(8_000).expect("melodies");
        let (mut list, mut texts) = (String::new(), Vec::new());
        for index in 0..count {
            let example = task.example(4, Part::Train, index).expect("a melody");
            example.sound.write_wav(&self.path(&format!("{index}.wav"))).expect("written");
            let speaker = example.said.speaker.unwrap_or_default();
            list += &format!("{index}.wav\t{}\t{speaker}\n", example.said.text);
            texts.push(example.said.text);
        }
        fs::write(self.path("list.tsv"), list).expect("written");
        texts
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

const SOUND: &str =
    "[sound]\nrate = 8000\n[sound.features]\nwindow = 64.0\nhop = 20.0\nbands = 32\nlowest = 200.0\n";
const LISTENER: &str = "[encoder.listener]\ncell = \"gru\"\nwidth = 24\nlayers = 2\npyramid = 1\n";
const SPELLER: &str = "[decoder.gru]\nwidth = 32\nembedding = 16\nbridge = \"attention-only\"\n[attention]\nquery = \"previous\"\n";
const FILES: &str =
    "train = { sounds = \".\", tsv = \"list.tsv\" }\nvalid = { sounds = \".\", tsv = \"list.tsv\" }\n";

#[test]
fn a_listener_learns_six_melodies_by_heart() {
    let shop = Workshop::new();
    let texts = shop.melodies(6);
    let text = format!(
        "task = \"transcribe\"\n[data]\n{FILES}cache = \"kept\"\n[tokens]\nkind = \"word\"\n\
         {}{LISTENER}{SPELLER}[search]\nmax_length = 12\n[train]\nmax_length = 12\nsteps = 200\nbatch_examples = 6\n\
         learning_rate = 1e-2\nwarmup = 10\nschedule = \"cosine\"\nvalidate_every = 200\ncheckpoint_every = 200\n",
        SOUND.replace("8000", "8000\nnormalisation = \"corpus\"\ndeltas = 1")
    );
    let figures = shop.run("run", &text).last.expect("a validation");
    assert_eq!(figures.exact_match, Some(1.0), "{figures:?}");
    assert_eq!(fs::read_dir(shop.path("kept")).expect("a cache").count(), 6, "features are kept");
    // What a corpus is divided by stands in the run directory, and the saved model hears with it.
    let known = Statistics::load(&shop.path("run")).expect("statistics");
    assert_eq!(known.mean.len(), 64);
    let saved = Saved::load(&shop.path("run"), &Device::flex()).expect("a saved model");
    let preparer = saved.preparer().expect("settings").expect("sounds");
    for (index, text) in texts.iter().enumerate() {
        let wanted = Wanted { rate: Some(8_000), part: None };
        let sound = decode_file(&shop.path(&format!("{index}.wav")), &wanted, &Default::default());
        let frames = preparer.prepare(&sound.expect("a sound"), None).frames;
        let best = Writers::alone(&saved).expect("a writer").best(&[Request::free(&frames)], 1, 1);
        let best = best.expect("an output");
        assert_eq!(best[0][0].text, *text);
        // Each note is heard somewhere in the recording.
        let tokens = best[0][0].hypothesis.tokens.clone();
        let trace = saved.trace_sounds(&[(&frames, tokens)]).expect("a trace").remove(0);
        assert_eq!(trace.timeline.places, frames.len().div_ceil(2));
        let weights = trace.weights.expect("attention");
        assert_eq!((weights.len(), trace.target.len()), (text.split(' ').count() + 1, weights.len()));
        assert!(weights.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4));
    }
    // In eight bits it hears with the same.
    gatto_model::quantise(&shop.path("run"), &shop.path("small"), |_| Ok(())).expect("a smaller model");
    assert_eq!(Statistics::load(&shop.path("small")).expect("statistics"), known);
    fs::remove_file(shop.path("run").join(Statistics::FILE)).expect("removed");
    let error = Saved::load(&shop.path("run"), &Device::flex()).expect_err("no statistics").to_string();
    assert!(error.contains("sound.json"), "{error}");
}

/// A run whose recordings are changed at random, stopped and resumed anywhere, is the run that was never stopped.
fn resumed_exactly(name: &str, prepare: impl Fn(&Workshop), text: impl Fn(u64) -> String) {
    let shop = Workshop::new();
    prepare(&shop);
    shop.run("whole", &text(13));
    for stops in [&[5][..], &[4, 9]] {
        let parts = format!("parts {stops:?}");
        for (number, &stop) in stops.iter().chain([&13]).enumerate() {
            let options = RunOptions { resume: number > 0, ..RunOptions::new(shop.path(&parts)) };
            let outcome = run(&shop.config(&text(stop)), &options, &mut ()).expect("a run");
            assert_eq!((outcome.ending, outcome.step), (Ending::Completed, stop), "{name}");
        }
        let last = |run: &str| {
            let path = shop.path(run).join("checkpoints/step-00000013");
            Checkpoint::load(&path).expect("a checkpoint").weights
        };
        assert_eq!(last(&parts), last("whole"), "{name}, {stops:?}");
        assert_eq!(shop.weights(&parts), shop.weights("whole"), "{name}, {stops:?}");
    }
    shop.run("other", &text(13).replace("seed = 3", "seed = 4"));
    assert_ne!(shop.weights("other"), shop.weights("whole"), "{name}");
}

fn changed(data: &str, steps: u64) -> String {
    format!(
        "task = \"transcribe\"\nseed = 3\n[data]\n{data}[tokens]\nkind = \"word\"\n{SOUND}[sound.augmentation]\n\
         speed = 10\nnoise = 0.5\ntime_masks = 1\nband_masks = 1\nband_width = 5\n{LISTENER}dropout = 0.1\n{SPELLER}\
         [search]\nmax_length = 6\n[train]\nsteps = {steps}\nbatch_examples = 4\nbatch_frames = 2000\npool = 10\n\
         accumulate = 2\nmax_length = 30\nvalidate_every = 6\nvalid_examples = 4\ncheckpoint_every = 5\nkeep = 9\n"
    )
}

#[test]
fn a_run_over_melodies_resumes_exactly() {
    resumed_exactly("melodies", |_| {}, |steps| changed("builtin = \"melodies\"\nexamples = 24\n", steps));
}

#[test]
fn a_run_over_joined_files_with_a_cache_resumes_exactly() {
    let join = "join = { least = 1, most = 2, examples = 24, held_out = 5 }\ncache = \"kept\"\n";
    let prepare = |shop: &Workshop| drop(shop.melodies(8));
    resumed_exactly("joined", prepare, |steps| changed(&format!("{FILES}{join}"), steps));
}

#[test]
fn recordings_that_cannot_be_used_stop_a_run_or_are_counted() {
    let shop = Workshop::new();
    shop.melodies(8);
    let text = |lines: &str| {
        format!(
            "task = \"transcribe\"\n[data]\n{FILES}{lines}\n[tokens]\nkind = \"word\"\n{SOUND}{LISTENER}{SPELLER}\
             [search]\nmax_length = 6\n[train]\nsteps = 5\nbatch_examples = 3\nmax_length = 30\nmax_seconds = 20\n\
             validate_every = 5\n"
        )
    };
    // Two hours of it, whose header tells so: nobody waits for the step at which it would come.
    let long = Sound { samples: vec![0.1; 8_000 * 25], rate: 8_000 };
    long.write_wav(&shop.path("3.wav")).expect("written");
    let error = shop.try_run("long", &text("")).0.map(drop).expect_err("a long recording").to_string();
    assert!(error.contains("list.tsv, line 4") && error.contains("3.wav"), "{error}");
    assert!(error.contains("is 25.0 seconds long, but no more than 20 seconds"), "{error}");
    assert!(!shop.path("long").exists(), "a run that cannot begin leaves nothing");
    // And one that is broken behind its header.
    let whole = fs::read(shop.path("5.wav")).expect("a file");
    fs::write(shop.path("5.wav"), &whole[..whole.len() / 2]).expect("written");
    let (outcome, notes) = shop.try_run("lenient", &text("skip_bad = true"));
    let figures = outcome.unwrap_or_else(|error| panic!("{error}")).last.expect("a validation");
    assert!(figures.loss.is_finite());
    let noted = |part: &str| notes.iter().any(|note| note.contains(part));
    assert!(noted("recordings that are passed over: 1 too large; the first:"), "{notes:?}");
    assert!(noted("1 bad recordings were passed over in this pass"), "{notes:?}");
}
