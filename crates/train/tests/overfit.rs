//! The test that a training loop learns: 32 examples, known by heart, for every model, optimiser,
//! schedule and regulariser; and what else a run must do, on the same examples.

use burn::tensor::Device;
use gatto_data::{Batch, Limits, TokenizerPair, evaluation_batches};
use gatto_kernels::crew::Crew;
use gatto_model::weights::{self, Weight, Weights};
use gatto_model::{Model, Saved, Vocabularies, WEIGHTS};
use gatto_train::checkpoint::{self, Checkpoint};
use gatto_train::config::{HardestConfig, TrainConfig};
use gatto_train::{ConfigFile, Ending, Lesson, Outcome, RunOptions, TrainError, gather, run};
use std::fs;
use std::path::{Path, PathBuf};

/// 32 pairs: three to six letters become one to five others, by no rule.
fn examples() -> Vec<(String, String)> {
    let letters = |mut seed: usize, count: usize| {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ["a", "b", "c", "d", "e", "f", "g", "h"][(seed >> 33) % 8]
        };
        (0..count).map(|_| next()).collect::<Vec<_>>().join(" ")
    };
    (0..32).map(|n| (letters(2 * n + 1, 3 + n % 4), letters(1000 + 2 * n, 1 + n % 5))).collect()
}

/// A folder with the examples, and the runs that are made of them.
struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let lines: String =
            examples().iter().map(|(source, target)| format!("{source}\t{target}\n")).collect();
        fs::write(folder.path().join("pairs.tsv"), lines).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, task: &str, parts: &str, train: &str) -> ConfigFile {
        let text = format!(
            "task = \"{task}\"\n[data]\ntrain = {{ tsv = \"pairs.tsv\" }}\nvalid = {{ tsv = \"pairs.tsv\" }}\n\
             [tokens]\nkind = \"word\"\n{parts}\n[search]\nmax_length = 10\n[train]\nmax_length = 20\n{train}\n"
        );
        let parsed =
            ConfigFile::parse(Path::new("test.toml"), text.clone(), self.folder.path().to_owned(), &[]);
        parsed.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn try_run(&self, name: &str, file: &ConfigFile) -> Result<Outcome, TrainError> {
        run(file, &RunOptions::new(self.path(name)), &mut ())
    }

    fn run(&self, name: &str, file: &ConfigFile) -> Outcome {
        self.try_run(name, file).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn weights(&self, name: &str) -> Weights {
        weights::load(&self.path(name).join(WEIGHTS)).expect("weights")
    }
}

const GRU: &str = "[encoder.gru]\nwidth = 48\n[decoder.gru]\nwidth = 48";
/// Learns the examples within seconds.
const QUICK: &str =
    "steps = 250\nbatch_examples = 16\nlearning_rate = 8e-3\nvalidate_every = 250\ncheckpoint_every = 250";

/// Trains, and expects every example to be known by heart.
fn learns(name: &str, parts: &str, train: &str, most: f64) {
    let shop = Workshop::new();
    let outcome = shop.run("run", &shop.config("translate", parts, train));
    let figures = outcome.last.expect("a validation");
    assert_eq!(figures.exact_match, Some(1.0), "{name}: {figures:?}");
    assert!(figures.loss < most, "{name}: {figures:?}");
    assert!(figures.accuracy > 0.999, "{name}: {figures:?}");
    // The figures are those of the model that was saved, and of what it writes.
    let saved = Saved::load(&shop.path("run"), &Device::flex()).expect("a saved model");
    let (sources, targets): (Vec<_>, Vec<_>) = examples().into_iter().unzip();
    let written: Vec<_> =
        saved.predict(&sources, 7).expect("predictions").into_iter().map(|p| p.text).collect();
    assert_eq!(written, targets, "{name}");
}

/// A tiny run overfits for every model variant: each axis of a model, with each cell.
mod every_variant {
    use super::{QUICK, learns};

    const CELLS: [&str; 3] = ["rnn", "lstm", "gru"];
    const WIDTH: &str = "width = 40";

    /// An encoder and a decoder of one cell, each with these lines.
    fn pair(cell: &str, encoder: &str, decoder: &str) -> String {
        format!("[encoder.{cell}]\n{encoder}\n[decoder.{cell}]\n{decoder}")
    }

    fn alike(cell: &str, lines: &str) -> String {
        pair(cell, &format!("{WIDTH}\n{lines}"), &format!("{WIDTH}\n{lines}"))
    }

    fn reading(cell: &str, lines: &str) -> String {
        pair(cell, &format!("{WIDTH}\n{lines}"), WIDTH)
    }

    fn writing(cell: &str, lines: &str) -> String {
        pair(cell, WIDTH, &format!("{WIDTH}\n{lines}"))
    }

    fn sharing(cell: &str, lines: &str) -> String {
        format!("{}\n[sharing]\n{lines}", alike(cell, ""))
    }

    fn looking(cell: &str, lines: &str) -> String {
        format!("{}\n[attention]\n{lines}", alike(cell, ""))
    }

    /// A cell beside the next of the list.
    fn mixed(cell: &str) -> String {
        let place = CELLS.iter().position(|other| *other == cell).unwrap_or(0);
        format!("[encoder.{cell}]\n{WIDTH}\n[decoder.{}]\n{WIDTH}", CELLS[(place + 1) % CELLS.len()])
    }

    /// One test per axis, so that they run beside each other.
    macro_rules! axes {
        ($($axis:ident: $parts:expr,)*) => {
            $(#[test]
            fn $axis() {
                let parts: fn(&str) -> String = $parts;
                for cell in CELLS {
                    learns(&format!("{} {cell}", stringify!($axis)), &parts(cell), QUICK, 0.05);
                }
            })*
        };
    }

    /// Draws are a noisy teacher: twice the updates, half of them with every choice summed over, or none.
    #[test]
    fn hard_attention() {
        let longer = QUICK.replace("250", "500");
        for cell in CELLS {
            for lines in ["marginal_steps = 250", "baseline = \"learned\""] {
                let parts = looking(cell, &format!("focus = \"hard\"\n{lines}"));
                learns(&format!("hard {cell}, {lines}"), &parts, &longer, 0.05);
            }
        }
    }

    /// Layers of self-attention with these lines.
    const LAYERS: &str = "width = 40\nheads = 4\nlayers = 2";

    /// They learn with a smaller rate, and some steps to warm up.
    fn transformer_learns(name: &str, parts: &str) {
        let slower = QUICK.replace("8e-3", "3e-3\nwarmup = 20");
        learns(name, parts, &slower, 0.05);
    }

    #[test]
    fn transformer() {
        for norm in ["post", "pre"] {
            let lines = format!("{LAYERS}\nnorm = \"{norm}\"");
            transformer_learns(norm, &pair("transformer", &lines, &lines));
        }
    }

    #[test]
    fn single_transformer() {
        for positions in ["sinusoidal", "rotary"] {
            let parts = format!("[single.transformer]\n{LAYERS}\npositions = \"{positions}\"");
            transformer_learns(positions, &parts);
        }
    }

    #[test]
    fn transformer_beside_a_recurrent_network() {
        let attention = format!("[encoder.transformer]\n{LAYERS}\n[decoder.gru]\n{WIDTH}\n[attention]");
        transformer_learns("transformer to gru", &attention);
        let memory = format!("[encoder.gru]\n{WIDTH}\n[decoder.transformer]\n{LAYERS}");
        transformer_learns("gru to transformer", &memory);
    }

    axes! {
        plain: |cell| alike(cell, ""),
        two_layers: |cell| alike(cell, "layers = 2"),
        bidirectional: |cell| reading(cell, "bidirectional = true"),
        reversed: |cell| reading(cell, "reversed = true"),
        every_step: |cell| writing(cell, "bridge = \"every-step\""),
        both: |cell| writing(cell, "bridge = \"both\""),
        all_shared: |cell| sharing(cell, "encoder_decoder = true\nembeddings = true\noutput = true"),
        shared_network: |cell| sharing(cell, "encoder_decoder = true"),
        shared_embeddings: |cell| sharing(cell, "embeddings = true"),
        tied_output: |cell| sharing(cell, "output = true"),
        single: |cell| format!("[single.{cell}]\n{WIDTH}"),
        mixed_widths: |cell| pair(cell, "width = 32\nembedding = 16", "width = 48\nembedding = 24"),
        mixed_cells: mixed,
        asked_by_the_previous_state: |cell| looking(cell, "query = \"previous\""),
        asked_by_the_current_state: |cell| looking(cell, "query = \"current\""),
        fed_and_covered: |cell| looking(cell, "feed = \"attentional\"\ncoverage = true"),
        location: |cell| looking(cell, "score = \"location\"\nmax_positions = 21"),
        general: |cell| looking(cell, "score = \"general\""),
        dot: |cell| looking(cell, "score = \"dot\""),
        scaled_dot: |cell| looking(cell, "score = \"scaled-dot\""),
        cosine: |cell| looking(cell, "score = \"cosine\""),
        local: |cell| looking(cell, "focus = \"local\"\nwindow = 2"),
        local_monotone: |cell| looking(cell, "focus = \"local\"\naligned = \"monotone\""),
    }
}

/// What a language model can know of the examples: all but their first letters.
#[test]
fn a_language_model_learns() {
    let shop = Workshop::new();
    let outcome = shop.run("run", &shop.config("language-model", "[decoder.gru]\nwidth = 48", QUICK));
    let figures = outcome.last.expect("a validation");
    assert_eq!(figures.exact_match, None);
    // Uniform over the nine tokens that occur is log 9 = 2.2; what the prefixes leave open is below 1.
    assert!(figures.loss < 1.0, "{figures:?}");
    assert!((figures.perplexity - figures.loss.exp()).abs() < 1e-9);

    let layers = "[decoder.transformer]\nwidth = 32\nlayers = 2";
    let outcome = shop.run("layers", &shop.config("language-model", layers, &QUICK.replace("8e-3", "3e-3")));
    let figures = outcome.last.expect("a validation");
    assert!(figures.loss < 1.0, "{figures:?}");

    // One sentence, over and over, leaves nothing open.
    fs::write(shop.path("pairs.tsv"), "x\ta b c d\n".repeat(32)).expect("written");
    for decoder in ["lstm", "transformer"] {
        let parts = format!("[decoder.{decoder}]\nwidth = 16");
        let outcome = shop.run(decoder, &shop.config("language-model", &parts, QUICK));
        let figures = outcome.last.expect("a validation");
        assert!(figures.loss < 0.05 && figures.accuracy == 1.0, "{figures:?}");
    }
}

#[test]
fn every_optimiser_learns() {
    for (name, settings) in [
        ("adamw", "optimiser = \"adamw\"\nweight_decay = 0.01\nlearning_rate = 8e-3"),
        ("adam with decay", "optimiser = \"adam\"\nweight_decay = 1e-6\nlearning_rate = 8e-3"),
        ("muon", "optimiser = \"muon\"\nmomentum = 0.95\nweight_decay = 0.01\nlearning_rate = 8e-3"),
        ("sgd", "optimiser = \"sgd\"\nmomentum = 0.9\nlearning_rate = 0.5\nclip = 1.0"),
    ] {
        let steps = if name == "sgd" { 600 } else { 300 };
        let train = format!("steps = {steps}\nbatch_examples = 16\nvalidate_every = {steps}\n{settings}");
        learns(name, GRU, &train, 0.05);
    }
}

#[test]
fn every_schedule_learns() {
    for schedule in [
        "schedule = \"inverse-square-root\"\nwarmup = 40",
        "schedule = \"cosine\"\nwarmup = 20",
        "schedule = \"plateau\"\nplateau_patience = 0",
        "schedule = \"constant\"\nwarmup = 10\naccumulate = 2",
    ] {
        let train = format!("{}\n{schedule}", QUICK.replace("validate_every = 250", "validate_every = 50"));
        learns(schedule, GRU, &train, 0.05);
    }
}

#[test]
fn scheduled_sampling_learns_with_every_decay() {
    for decay in [
        "{ decay = \"constant\", k = 0.8 }",
        "{ decay = \"linear\", k = 200.0, minimum = 0.2 }",
        "{ decay = \"exponential\", k = 0.99 }",
        "{ decay = \"inverse-sigmoid\", k = 40.0 }",
    ] {
        learns(decay, GRU, &format!("{QUICK}\nsampling = {decay}"), 0.05);
    }
}

/// The tokens of a source and of its target.
type Encoded = (Vec<u32>, Vec<u32>);

/// A model that has learnt nothing, and the tokens of all examples.
fn untrained(file: &ConfigFile) -> (Model, Vec<Encoded>) {
    let mut corpus = gatto_train::corpora::open(&file.config, &file.base, gatto_data::Part::Train)
        .expect("a corpus")
        .expect("a training part");
    let tokens = TokenizerPair::train(&file.config.tokens, corpus.as_mut()).expect("a vocabulary");
    let encoded = examples()
        .iter()
        .map(|(source, target)| (tokens.source.encode(source), tokens.target.encode(target)))
        .collect();
    let plan = file.config.plan().expect("a plan");
    (Model::new(&plan, Vocabularies::of(&tokens), 3, &Device::flex().autodiff()), encoded)
}

#[test]
fn the_hardest_examples_are_those_with_the_largest_loss() {
    let shop = Workshop::new();
    let (model, encoded) = untrained(&shop.config("translate", GRU, QUICK));
    let batch = evaluation_batches(&encoded, &Limits::examples(32)).expect("batches").remove(0);
    let of = |batch: &Batch, config: &TrainConfig, step: u64, threads: usize| {
        gather(&model, std::slice::from_ref(batch), &Lesson::new(config, step, 1), &Crew::new(threads))
    };
    let all = TrainConfig::default();
    let loss_of = |row: usize| of(&batch.select(&[row]), &all, 9, 1).loss;
    let mut rows: Vec<(f64, usize)> = (0..batch.rows()).map(|row| (loss_of(row), row)).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    // Losses are compared in eight bits, so that the choice is sure where a gap lies between two of them.
    let gap = |count: &usize| rows[count - 1].0 - rows[*count].0;
    let count = (2..16).max_by(|one, other| gap(one).total_cmp(&gap(other))).expect("a number");
    assert!(gap(&count) > 0.01 * rows[count].0, "{rows:?}");
    let mut hardest: Vec<usize> = rows[..count].iter().map(|(_, row)| *row).collect();
    hardest.sort_unstable();
    let share = count as f64 / rows.len() as f64;
    let some = TrainConfig { hardest: Some(HardestConfig { share, after: 8 }), ..all.clone() };
    assert_eq!(of(&batch, &some, 9, 1).gradients, of(&batch.select(&hardest), &all, 9, 1).gradients);
    // Until then, and with a share of all, it is as if nothing had been chosen.
    let whole = of(&batch, &all, 8, 1);
    assert_eq!(of(&batch, &some, 8, 1).gradients, whole.gradients);
    let everything = TrainConfig { hardest: Some(HardestConfig { share: 1.0, after: 0 }), ..all.clone() };
    assert_eq!(of(&batch, &everything, 8, 1).gradients, whole.gradients);
    // One example is the least, however many hands there are.
    let one = TrainConfig { hardest: Some(HardestConfig { share: 1e-9, after: 0 }), ..all };
    for threads in [1, 2, 3] {
        assert!((of(&batch, &one, 9, threads).loss - rows[0].0).abs() < 0.02 * rows[0].0);
        let again = of(&batch, &some, 9, threads);
        assert_eq!(of(&batch, &some, 9, threads).gradients, again.gradients);
        assert!((again.loss - of(&batch, &some, 9, 1).loss).abs() < 1e-4 * again.loss);
        // Of several batches, each has its own.
        let batches = [batch.select(&[0, 1, 2]), batch.clone()];
        let both = gather(&model, &batches, &Lesson::new(&one, 9, 1), &Crew::new(threads)).loss;
        let apart: f64 = batches.iter().map(|batch| of(batch, &one, 9, 1).loss).sum();
        assert!((both - apart).abs() < 1e-4 * apart, "{both} {apart}");
    }
}

#[test]
fn what_is_learnt_from_the_hardest_is_known_of_all() {
    learns("hardest", GRU, &format!("{QUICK}\nhardest = {{ share = 0.5, after = 20 }}"), 0.05);
}

#[test]
fn what_hinders_learning_by_heart_does_not_stop_it() {
    // The best that smoothing lets a model be: (1 − ε + ε / V) on the target, a loss of about 0.1.
    learns("label smoothing", GRU, &format!("{QUICK}\nlabel_smoothing = 0.1"), 0.2);
    let dropout = "[encoder.gru]\nwidth = 64\nlayers = 2\ndropout = 0.1\n[decoder.gru]\nwidth = 64\nlayers = 2\ndropout = 0.1";
    learns("dropout", dropout, QUICK, 0.05);
}

#[test]
fn small_batches_and_many_hands_make_the_gradient_of_one_large() {
    let shop = Workshop::new();
    let (model, encoded) = untrained(&shop.config("translate", GRU, QUICK));
    let gathered = |size: usize, threads: usize| {
        let batches = evaluation_batches(&encoded, &Limits::examples(size)).expect("batches");
        let config = TrainConfig { label_smoothing: 0.1, ..Default::default() };
        let gathered = gather(&model, &batches, &Lesson::new(&config, 1, 1), &Crew::new(threads));
        (batches.len(), gathered)
    };
    let (one, large) = gathered(32, 1);
    assert_eq!(one, 1);
    for (size, threads, count) in [(11, 1, 3), (32, 2, 1), (32, 3, 1), (16, 2, 2), (11, 2, 3)] {
        let (found, small) = gathered(size, threads);
        assert_eq!(found, count);
        assert_eq!(large.tokens, small.tokens);
        assert!((large.loss - small.loss).abs() < 1e-4 * large.loss, "{} {}", large.loss, small.loss);
        for (name, gradient) in &large.gradients {
            for (a, b) in gradient.values().iter().zip(&*small.gradients[name].values()) {
                assert!((a - b).abs() < 1e-5, "{name}: {a} {b}");
            }
        }
        let again = gathered(size, threads).1;
        assert_eq!((again.loss, again.gradients), (small.loss, small.gradients), "the same bits every time");
    }
}

/// Every kind of dropout, and what each of them drew, goes on where it was.
#[test]
fn a_transformer_with_dropout_resumes_exactly() {
    let shop = Workshop::new();
    let layers = "width = 16\nlayers = 2\nheads = 2\npositions = \"relative\"\ndropout = 0.1\n\
                  embedding_dropout = 0.2\nattention_dropout = 0.3\nactivation_dropout = 0.4";
    let parts = format!("[encoder.transformer]\n{layers}\n[decoder.transformer]\n{layers}");
    let config = |steps: u64| {
        let train = format!(
            "steps = {steps}\nbatch_examples = 8\nvalidate_every = 8\ncheckpoint_every = 5\nkeep = 9"
        );
        shop.config("translate", &parts, &train)
    };
    shop.run("whole", &config(16));
    shop.run("parts", &config(7));
    assert_ne!(shop.weights("parts"), shop.weights("whole"));
    let options = RunOptions { resume: true, ..RunOptions::new(shop.path("parts")) };
    let outcome = run(&config(16), &options, &mut ()).expect("resumed");
    assert_eq!((outcome.ending, outcome.step), (Ending::Completed, 16));
    let last = |name: &str| {
        Checkpoint::load(&shop.path(name).join("checkpoints/step-00000016")).expect("a checkpoint").weights
    };
    assert_eq!(last("parts"), last("whole"));
    assert_eq!(shop.weights("parts"), shop.weights("whole"));
}

#[test]
fn training_stops_when_validation_no_longer_gets_better() {
    let shop = Workshop::new();
    let train = "steps = 100\nlearning_rate = 1e-9\nvalidate_every = 5\ncheckpoint_every = 4\n\
                 best_by = \"exact-match\"\npatience = 2";
    let file = shop.config("translate", GRU, train);
    let outcome = shop.run("run", &file);
    // Step 5 is the best there is; 10 and 15 are no better.
    assert_eq!((outcome.ending, outcome.step), (Ending::StoppedEarly, 15));
    assert_eq!(outcome.best, Some((0.0, 5)));
    // A run that has stopped stays stopped, and its checkpoints stay as they are.
    let steps = || -> Vec<u64> {
        let found = checkpoint::list(&shop.path("run/checkpoints")).expect("checkpoints");
        found.into_iter().map(|(step, _)| step).collect()
    };
    assert_eq!(steps(), [8, 12, 15]);
    let options = RunOptions { resume: true, ..RunOptions::new(shop.path("run")) };
    let again = run(&file, &options, &mut ()).expect("resumed");
    assert_eq!((again.ending, again.step), (Ending::StoppedEarly, 15));
    assert_eq!(steps(), [8, 12, 15]);
}

#[test]
fn a_plateau_lowers_the_learning_rate_of_a_run() {
    let shop = Workshop::new();
    let train = "steps = 40\nlearning_rate = 1e-9\nvalidate_every = 5\nbest_by = \"exact-match\"\nlog_every = 40\n\
                 schedule = \"plateau\"\nplateau_patience = 1\nplateau_factor = 0.5";
    shop.run("run", &shop.config("translate", GRU, train));
    let journal = gatto_train::record::Journal::read(&shop.path("run/metrics.jsonl")).expect("a journal");
    let rate = journal.iter().find_map(|entry| match entry {
        gatto_train::record::Entry::Train(figures) => Some(figures.learning_rate),
        _ => None,
    });
    // Best at 5; halved at 15, 25 and 35.
    assert_eq!(rate, Some(1e-9 / 8.0));
}

fn mean(of: &[Weights]) -> Weights {
    let average = |name: &String, weight: &Weight| {
        let at = |i: usize| {
            of.iter().map(|weights| f64::from(weights[name].values[i])).sum::<f64>() / of.len() as f64
        };
        Weight {
            shape: weight.shape.clone(),
            values: (0..weight.values.len()).map(|i| at(i) as f32).collect(),
        }
    };
    of[0].iter().map(|(name, weight)| (name.clone(), average(name, weight))).collect()
}

#[test]
fn the_last_checkpoints_are_averaged() {
    let shop = Workshop::new();
    let train =
        "steps = 25\nlearning_rate = 1e-2\nvalidate_every = 10\ncheckpoint_every = 4\nkeep = 4\naverage = 3";
    let file = shop.config("translate", GRU, train);
    shop.run("run", &file);
    let all = checkpoint::list(&shop.path("run/checkpoints")).expect("checkpoints");
    assert_eq!(all.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [16, 20, 24, 25]);
    let load = |path: &PathBuf| Checkpoint::load(path).expect("a whole checkpoint").weights;
    let last: Vec<Weights> = all[1..].iter().map(|(_, path)| load(path)).collect();
    assert_ne!(last[0], last[2]);
    assert_eq!(shop.weights("run"), mean(&last));
}

#[test]
fn the_best_weights_are_kept_and_not_the_last() {
    let shop = Workshop::new();
    // A learning rate that ruins what was learned, from some step on.
    let train = "steps = 40\noptimiser = \"sgd\"\nlearning_rate = 30.0\nclip = 5.0\nvalidate_every = 1\ncheckpoint_every = 1\nkeep = 40";
    let outcome = shop.run("run", &shop.config("translate", GRU, train));
    let (_, best) = outcome.best.expect("a best step");
    assert!(best < 40, "the last step is the best");
    let place = shop.path("run/checkpoints").join(format!("step-{best:08}"));
    assert_eq!(shop.weights("run"), Checkpoint::load(&place).expect("a checkpoint").weights);
}

/// Settings under which no value moves, since the rate is 0 in f32: what a run leaves is what it started from.
const STILL: &str = "steps = 1\noptimiser = \"sgd\"\nmomentum = 0.0\nlearning_rate = 1e-300\nclip = 0.0";
const APART: &str = "shared = false\n[encoder.gru]\nwidth = 24\n[decoder.gru]\nwidth = 24";

fn init(from: &str, part: &str, into: Option<&str>) -> String {
    let into = into.map_or(String::new(), |into| format!("into = \"{into}\"\n"));
    format!("{APART}\n[[init]]\nfrom = \"{from}\"\npart = \"{part}\"\n{into}")
}

#[test]
fn a_part_starts_from_a_saved_model_and_the_others_from_the_seed() {
    let shop = Workshop::new();
    let language =
        shop.config("language-model", "[decoder.gru]\nwidth = 24", "steps = 20\nvalidate_every = 20");
    shop.run("language", &language);
    shop.run("drawn", &shop.config("translate", APART, STILL));
    let (language, drawn) = (shop.weights("language"), shop.weights("drawn"));
    for (name, part, into) in [
        ("decoder", "decoder", None),
        ("vectors", "decoder.embedding", None),
        ("network", "decoder.network", Some("encoder.network")),
        ("all", "", None),
    ] {
        shop.run(name, &shop.config("translate", &init("language", part, into), STILL));
        let (mut copied, mut left) = (0, 0);
        for (key, weight) in shop.weights(name) {
            let target = into.unwrap_or(part);
            let origin = key.strip_prefix(target).map(|rest| format!("{part}{rest}"));
            match origin.filter(|origin| language.contains_key(origin)) {
                Some(origin) => {
                    assert_eq!(weight, language[&origin], "{name}: {key}");
                    copied += 1;
                }
                None => {
                    assert_eq!(weight, drawn[&key], "{name}: {key}");
                    left += 1;
                }
            }
        }
        assert!(copied > 0 && left > 0, "{name}: {copied} {left}");
    }
}

#[test]
fn a_frozen_part_does_not_change_by_a_bit() {
    let shop = Workshop::new();
    shop.run("drawn", &shop.config("translate", APART, STILL));
    let drawn = shop.weights("drawn");
    for (name, part) in
        [("encoder", "encoder"), ("vectors", "decoder.embedding"), ("network", "encoder.network")]
    {
        let train = format!(
            "steps = 12\nvalidate_every = 12\noptimiser = \"adamw\"\nweight_decay = 0.1\nfreeze = [\"{part}\"]"
        );
        shop.run(name, &shop.config("translate", APART, &train));
        for (key, weight) in shop.weights(name) {
            let frozen = key.starts_with(&format!("{part}."));
            assert_eq!(weight == drawn[&key], frozen, "{name}: {key}");
        }
    }
}

#[test]
fn parts_that_do_not_exist_are_named_with_those_that_do() {
    let shop = Workshop::new();
    let language = shop.config("language-model", "[decoder.gru]\nwidth = 24", STILL);
    shop.run("language", &language);
    let error = |name: &str, parts: &str, train: &str| {
        let file = shop.config("translate", parts, train);
        shop.try_run(name, &file).map(drop).expect_err(name).to_string()
    };
    let message = error("a", &init("language", "encoder", None), STILL);
    assert!(message.contains("no part `encoder`; its parts are decoder.embedding"), "{message}");
    let message = error("b", &init("language", "decoder", Some("reader")), STILL);
    assert!(message.contains("no part `reader`; its parts are decoder.embedding"), "{message}");
    assert!(message.contains("encoder.network"), "{message}");
    let message = error("c", APART, &format!("{STILL}\nfreeze = [\"encoder.attention\"]"));
    assert!(message.contains("`train.freeze`: the model has no part `encoder.attention`"), "{message}");
    // Half a name is no part.
    let message = error("d", APART, &format!("{STILL}\nfreeze = [\"enc\"]"));
    assert!(message.contains("no part `enc`"), "{message}");
    let message = error("e", &init("nowhere", "decoder", None), STILL);
    assert!(message.contains("nowhere/model.safetensors: cannot be read"), "{message}");
    let wide = "shared = false\n[encoder.gru]\nwidth = 24\n[decoder.gru]\nwidth = 32";
    let message = error("f", &init("language", "decoder", None).replace(APART, wide), STILL);
    assert!(message.contains("in the file and"), "{message}");
    // What could not start has not taken the directory.
    shop.run("a", &shop.config("translate", APART, STILL));
}

#[test]
fn a_model_that_is_frozen_whole_is_refused() {
    let shop = Workshop::new();
    let train = format!("{STILL}\nfreeze = [\"encoder\", \"decoder\"]");
    let error = shop
        .try_run("run", &shop.config("translate", APART, &train))
        .map(drop)
        .expect_err("nothing to learn");
    assert!(error.to_string().contains("`train.freeze`: leaves nothing of the model to learn"), "{error}");
}
