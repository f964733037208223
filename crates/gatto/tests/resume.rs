//! Training that can be killed at any moment: the real program, resumed, ends with the very weights and
//! figures of a run that was never stopped. And what else can go wrong with a run directory.

#![allow(clippy::print_stdout, reason = "a test says how often it killed, and what it skipped")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Dropout, scheduled sampling, a choice of the hardest examples, accumulation, several pools in a pass and a schedule with
/// a memory: all that a run must carry over.
const CONFIG: &str = r#"
task = "translate"
seed = 3
[data]
builtin = "reverse"
max_length = 6
examples = 500
[tokens]
kind = "word"
[encoder.gru]
width = 24
layers = 2
dropout = 0.2
[decoder.gru]
width = 24
dropout = 0.2
[train]
steps = 60
batch_examples = 16
accumulate = 2
pool = 100
max_length = 12
learning_rate = 1e-2
schedule = "plateau"
plateau_patience = 0
log_every = 3
validate_every = 10
valid_examples = 40
checkpoint_every = 7
sampling = { decay = "linear", k = 80.0, minimum = 0.2 }
hardest = { share = 0.6, after = 5 }
[search]
max_length = 10
"#;

/// A folder with a configuration and the runs that are made of it.
struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    fn new() -> Self {
        Self::with(CONFIG)
    }

    fn with(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("small.toml"), config).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, out: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatto"));
        command
            .arg("train")
            .arg(self.path("small.toml"))
            .arg("--out")
            .arg(out)
            .args(["--threads", "2"])
            .args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn train(&self, out: &Path, more: &[&str]) -> Output {
        self.command(out, more).output().expect("the program runs")
    }

    /// Trains to the end.
    fn complete(&self, name: &str, more: &[&str]) -> PathBuf {
        let out = self.path(name);
        let output = self.train(&out, more);
        assert!(output.status.success(), "{}", said(&output));
        out
    }
}

fn said(output: &Output) -> String {
    assert!(output.stdout.is_empty(), "training says nothing on standard output");
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Expects the program to fail with status 1, and gives what it said.
fn refused(output: &Output) -> String {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: ") || said.contains("\nerror: "), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn without(value: &mut Value, keys: &[&str]) {
    let object = value.as_object_mut().expect("an object");
    for key in keys {
        assert!(object.remove(*key).is_some(), "{key}");
    }
}

/// All that a run leaves and that must not depend on when it was stopped, by file.
fn left_by(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut found = BTreeMap::new();
    for name in ["model.safetensors", "tokenizer.json"] {
        found.insert(name.to_owned(), read(&run.join(name)));
    }
    if run.join("labels.json").exists() {
        found.insert("labels.json".to_owned(), read(&run.join("labels.json")));
    }
    let journal = String::from_utf8(read(&run.join("metrics.jsonl"))).expect("text");
    for (number, line) in journal.lines().enumerate() {
        let mut entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        match entry["kind"].as_str() {
            Some("train") => without(&mut entry, &["seconds", "tokens_per_second"]),
            Some("samples") => {}
            _ => without(&mut entry, &["seconds"]),
        }
        found.insert(format!("metrics.jsonl, line {number:04}"), entry.to_string().into_bytes());
    }
    for name in names(&run.join("checkpoints")) {
        let place = run.join("checkpoints").join(&name);
        for file in names(&place) {
            let mut content = read(&place.join(&file));
            if file == "state.json" {
                let mut state: Value = serde_json::from_slice(&content).expect("valid JSON");
                // The figures' length in bytes depends on the digits of the times among them.
                without(&mut state["run"], &["seconds", "metrics_bytes"]);
                content = state.to_string().into_bytes();
            }
            found.insert(format!("{name}/{file}"), content);
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn unfinished(run: &Path) -> Vec<String> {
    let mut found = names(run);
    found.extend(names(&run.join("checkpoints")));
    found.retain(|name| name.ends_with(".tmp"));
    found
}

fn assert_same(found: &Path, expected: &Path) {
    let (found, expected) = (left_by(found), left_by(expected));
    let only = |a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        a.keys().filter(|name| !b.contains_key(*name)).cloned().collect()
    };
    let (more, less) = (only(&found, &expected), only(&expected, &found));
    assert!(more.is_empty() && less.is_empty(), "too many {more:?}, too few {less:?}");
    for (name, content) in &expected {
        if &found[name] != content {
            let texts =
                [&found[name], content].map(|c| String::from_utf8_lossy(&c[..c.len().min(400)]).into_owned());
            panic!("{name} differs: {} and not {}", texts[0], texts[1]);
        }
    }
}

/// A stream of numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Waits until `seen` or the end of the process, at most half a minute.
fn wait_until(child: &mut Child, mut seen: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        if seen() {
            return true;
        }
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        sleep(Duration::from_micros(200));
    }
    panic!("nothing has happened for half a minute")
}

#[test]
fn killed_at_random_moments_it_ends_the_same() {
    let shop = Workshop::new();
    let whole = shop.complete("whole", &[]);
    assert_eq!(names(&whole.join("checkpoints")), ["step-00000049", "step-00000056", "step-00000060"]);

    killed_runs_end_like(&whole, &shop, Dice(0), Kills { all: 20, while_writing: 8 });
}

/// Hard attention compares the cost of a choice with a mean of earlier costs, which must go on as well.
#[test]
fn killed_with_hard_attention_it_ends_the_same() {
    let attention = "[attention]\nfocus = \"hard\"\nbaseline = \"average\"\nmarginal_steps = 10\n[train]\n";
    let shop = Workshop::with(&CONFIG.replace("[train]\n", attention));
    let whole = shop.complete("whole", &[]);
    let run = killed_runs_end_like(&whole, &shop, Dice(4), Kills { all: 5, while_writing: 1 });
    // It is in what was compared, and no longer what it began with.
    let state = fs::read(run.join("checkpoints/step-00000060/state.json")).expect("a state");
    let state: Value = serde_json::from_slice(&state).expect("valid JSON");
    let average = state["run"]["average_loss"].as_f64().expect("a mean of losses");
    assert!(average > 0.0, "{average}");
}

/// Muon remembers one mean of a matrix, Adam two of all else.
#[test]
fn killed_with_muon_it_ends_the_same() {
    let shop = Workshop::with(&CONFIG.replace("[train]\n", "[train]\noptimiser = \"muon\"\n"));
    let whole = shop.complete("whole", &[]);
    killed_runs_end_like(&whole, &shop, Dice(6), Kills { all: 3, while_writing: 1 });
}

/// A task without a decoder, of the same data.
fn without_decoder(task: &str) -> String {
    let config = CONFIG.replace("translate", task).replace("[decoder.gru]\nwidth = 24\ndropout = 0.2\n", "");
    let hides = task == "masked-language-model";
    let of_others = |line: &str| line.starts_with("sampling") || hides && line.starts_with("hardest");
    config.lines().filter(|line| !of_others(line)).map(|line| format!("{line}\n")).collect()
}

/// Labels, and tokens that are drawn to be hidden.
#[test]
fn killed_without_a_decoder_it_ends_the_same() {
    for (seed, task) in [(11, "label"), (12, "masked-language-model")] {
        let shop = Workshop::with(&without_decoder(task));
        let whole = shop.complete("whole", &[]);
        assert_eq!(whole.join("labels.json").exists(), task == "label");
        killed_runs_end_like(&whole, &shop, Dice(seed), Kills { all: 3, while_writing: 1 });
    }
}

/// How often the program was killed, and how often of these in the middle of writing.
#[derive(Clone, Copy, Debug)]
struct Kills {
    all: u64,
    while_writing: u64,
}

/// Makes runs, each killed again and again, until there were `enough` kills: how many one run has time for
/// depends on the machine. Every one ends like `whole`; gives the last.
fn killed_runs_end_like(whole: &Path, shop: &Workshop, mut dice: Dice, enough: Kills) -> PathBuf {
    let mut kills = Kills { all: 0, while_writing: 0 };
    for number in 0..50 {
        let run = shop.path(&format!("killed-{number}"));
        killed_until_it_ends(shop, &run, &mut dice, &mut kills);
        assert_eq!(unfinished(&run), Vec::<String>::new());
        assert_same(&run, whole);
        if kills.all >= enough.all && kills.while_writing >= enough.while_writing {
            println!("{kills:?} in {} runs", number + 1);
            return run;
        }
    }
    panic!("{kills:?} in 50 runs, and not {enough:?}")
}

/// Starts and kills the program until it gets to its end.
fn killed_until_it_ends(shop: &Workshop, run: &Path, dice: &mut Dice, kills: &mut Kills) {
    for times in 0.. {
        // Killed before it had written its configuration, it has not begun.
        let resume: &[&str] = if run.join("config.toml").exists() { &["--resume"] } else { &[] };
        let mut child = shop.command(run, resume).spawn().expect("the program runs");
        if times < 40 && dice.below(2) == 0 {
            // As soon as a checkpoint, the first or a later one, is being written.
            let (mut skip, mut before) = (dice.below(3), false);
            wait_until(&mut child, || {
                let now = !unfinished(run).is_empty();
                let begins = now && !before;
                before = now;
                skip = if begins && skip > 0 { skip - 1 } else { return begins };
                false
            });
        } else if times < 40 {
            // Later and later, so that it comes to an end.
            sleep(Duration::from_millis(20 + dice.below(60 + 8 * times)));
        }
        if times < 40 && child.try_wait().expect("a child").is_none() {
            child.kill().expect("killed");
            child.wait().expect("gone");
            kills.all += 1;
            kills.while_writing += u64::from(!unfinished(run).is_empty());
            continue;
        }
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", said(&output));
        return;
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
fn interrupted_it_saves_and_goes_on_as_if_nothing_had_been() {
    // The mean of the last checkpoints: the ones that interruptions make are not among them.
    let config = CONFIG
        .replace("steps = 60", "steps = 200\naverage = 3")
        .replace("checkpoint_every = 7", "checkpoint_every = 30");
    let shop = Workshop::with(&config);
    let whole = shop.complete("whole", &[]);
    let run = shop.path("run");
    let mut interrupted = 0;
    for more in [4, 12, 1, 2, 20] {
        let resume: &[&str] = if run.exists() { &["--resume"] } else { &[] };
        let journal = run.join("metrics.jsonl");
        let written = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        let before = written();
        let mut child = shop.command(&run, resume).spawn().expect("the program runs");
        if wait_until(&mut child, || written() >= before + more) {
            interrupt(&child);
        }
        let output = child.wait_with_output().expect("an end");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        if said.contains("interrupted; everything is saved, go on with --resume") {
            interrupted += 1;
            assert!(run.join("model.safetensors").exists());
        }
    }
    assert!(interrupted >= 2, "interrupted {interrupted} times only");
    shop.complete("run", &["--resume"]);
    assert_same(&run, &whole);
}

#[test]
fn a_run_that_is_over_can_be_resumed_and_lengthened() {
    let shop = Workshop::new();
    let whole = shop.complete("whole", &[]);
    let run = shop.complete("run", &["--set", "train.steps=30"]);
    let before = left_by(&run);
    shop.complete("run", &["--resume", "--set", "train.steps=30"]);
    assert_eq!(left_by(&run), before, "there was nothing left to do");
    shop.complete("run", &["--resume"]);
    assert_same(&run, &whole);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}

fn flip(path: &Path) {
    let mut content = fs::read(path).expect("read");
    let middle = content.len() * 2 / 3;
    content[middle] ^= 0x10;
    fs::write(path, content).expect("written");
}

fn truncate(path: &Path) {
    let content = fs::read(path).expect("read");
    fs::write(path, &content[..content.len() / 2]).expect("written");
}

type Damage = fn(&Path);

#[test]
fn a_damaged_checkpoint_is_named_and_the_one_before_it_serves() {
    let shop = Workshop::new();
    let whole = shop.complete("whole", &[]);
    let half = shop.complete("half", &["--set", "train.steps=30"]);
    let newest = "step-00000030";
    let damages: [(&str, &str, Damage); 5] = [
        ("flipped", "weights.safetensors", flip),
        ("cut", "optimiser.safetensors", truncate),
        ("gone", "weights.safetensors", |path| fs::remove_file(path).expect("removed")),
        ("stateless", "state.json", |path| fs::remove_file(path).expect("removed")),
        ("torn", "state.json", truncate),
    ];
    for (name, file, damage) in damages {
        let run = shop.path(name);
        copy(&half, &run);
        damage(&run.join("checkpoints").join(newest).join(file));
        let output = shop.train(&run, &["--resume"]);
        let said = said(&output);
        assert!(output.status.success(), "{name}: {said}");
        let note = said.lines().find(|line| line.starts_with("note: ") && line.contains(newest));
        assert!(
            note.is_some_and(|note| note.contains("is damaged") && note.contains(file)),
            "{name}: {said}"
        );
        assert!(said.contains("steps 28 to 60"), "{name}: {said}");
        assert_same(&run, &whole);
    }

    let run = shop.path("all");
    copy(&half, &run);
    for checkpoint in names(&run.join("checkpoints")) {
        flip(&run.join("checkpoints").join(checkpoint).join("optimiser.safetensors"));
    }
    let before = names(&run);
    let said = refused(&shop.train(&run, &["--resume"]));
    for checkpoint in names(&run.join("checkpoints")) {
        assert!(
            said.contains(&format!(
                "{checkpoint}: is damaged: optimiser.safetensors is not as it was written"
            )),
            "{said}"
        );
    }
    assert_eq!(names(&run), before);
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let shop = Workshop::new();
    let said = refused(&shop.train(&shop.path("small.toml").join("run"), &[]));
    assert!(said.contains("small.toml/run: cannot be created"), "{said}");

    // Whoever may do anything may also write where nobody may.
    let locked = shop.path("locked");
    fs::create_dir(&locked).expect("created");
    let mut permissions = fs::metadata(&locked).expect("a folder").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions.clone()).expect("set");
    if fs::write(locked.join("probe"), "").is_ok() {
        println!("skipped: this user can write into a read-only folder");
        return;
    }
    let said = refused(&shop.train(&locked.join("run"), &[]));
    assert!(said.contains("locked/run: cannot be created"), "{said}");
    let said = refused(&shop.train(&locked, &[]));
    assert!(said.contains("locked") && said.contains("cannot be created"), "{said}");
}

/// A small disk in memory, gone when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf) -> Option<Self> {
        fs::create_dir(&at).expect("created");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn on_a_full_disk_it_stops_and_what_was_saved_stays() {
    let shop = Workshop::new();
    let Some(disk) = Disk::mount(shop.path("disk")) else {
        println!("skipped: no small disk can be mounted here");
        return;
    };
    let whole = shop.complete("whole", &[]);
    let run = shop.complete("disk/run", &["--set", "train.steps=30"]);
    // All the room that is left, but for a little: too little for a checkpoint.
    let ballast = disk.0.join("ballast");
    let mut size = 1 << 20;
    while fs::write(&ballast, vec![0; size]).is_err() {
        size -= 4096;
    }
    fs::write(&ballast, vec![0; size - 40 * 1024]).expect("written");

    let before = names(&run.join("checkpoints"));
    let said = refused(&shop.train(&run, &["--resume"]));
    assert!(said.contains("No space left on device") && said.contains("disk/run/"), "{said}");
    assert_eq!(names(&run.join("checkpoints")), before, "the checkpoints stay, and nothing half-written");
    fs::remove_file(&ballast).expect("removed");
    shop.complete("disk/run", &["--resume"]);
    assert_eq!(unfinished(&run), Vec::<String>::new());
    assert_same(&run, &whole);
}

#[test]
fn a_loss_that_is_no_number_stops_training_with_advice() {
    let shop = Workshop::new();
    let wild =
        ["train.learning_rate=1000.0", "train.clip=0.0", "train.optimiser=sgd", "train.weight_decay=10.0"];
    let mut arguments: Vec<&str> = wild.iter().flat_map(|change| ["--set", *change]).collect();
    arguments.extend(["--set", "train.checkpoint_every=1"]);
    let run = shop.path("wild");
    let said = refused(&shop.train(&run, &arguments));
    assert!(said.contains("training has diverged"), "{said}");
    assert!(said.contains("hint: lower train.learning_rate (now ") && said.contains("train.clip"), "{said}");
    assert!(!names(&run.join("checkpoints")).is_empty(), "what was saved before stays");
}

#[test]
fn one_process_at_a_time() {
    let shop = Workshop::with(&CONFIG.replace("steps = 60", "steps = 1000000"));
    let run = shop.path("run");
    let mut first = shop.command(&run, &[]).spawn().expect("the program runs");
    let begun = wait_until(&mut first, || run.join("config.toml").exists());
    let second = shop.train(&run, &["--resume"]);
    first.kill().expect("killed");
    first.wait().expect("gone");
    assert!(begun);
    let said = refused(&second);
    assert!(said.contains("another process is training here"), "{said}");
    // The lock goes with the process that held it.
    let mut third = shop.command(&run, &["--resume"]).spawn().expect("the program runs");
    let journal = run.join("metrics.jsonl");
    let length = || fs::metadata(&journal).map_or(0, |found| found.len());
    let before = length();
    let goes_on = wait_until(&mut third, || length() > before);
    third.kill().expect("killed");
    third.wait().expect("gone");
    assert!(goes_on);
}

#[test]
fn a_directory_in_use_is_not_written_over() {
    let shop = Workshop::new();
    let said = refused(&shop.train(&shop.path("nothing"), &["--resume"]));
    assert!(said.contains("nothing: holds no checkpoint to go on from; leave out --resume"), "{said}");
    let run = shop.complete("run", &["--set", "train.steps=8"]);
    let before = left_by(&run);
    let said = refused(&shop.train(&run, &[]));
    assert!(said.contains("run: already holds a run; add --resume"), "{said}");
    for (change, key) in [
        ("train.learning_rate=1e-4", "train.learning_rate"),
        ("encoder.gru.width=32", "encoder.gru.width"),
        ("seed=9", "seed"),
        ("train.sampling.k=90.0", "train.sampling.k"),
        ("train.hardest.share=0.7", "train.hardest.share"),
        ("data.examples=501", "data.examples"),
    ] {
        let said = refused(&shop.train(&run, &["--resume", "--set", change]));
        assert!(said.contains(&format!("was started with another configuration ({key} differs)")), "{said}");
    }
    assert_eq!(left_by(&run), before);
}

#[test]
fn a_run_that_could_not_start_leaves_its_directory_free() {
    let config = CONFIG
        .replace("builtin = \"reverse\"\nmax_length = 6\nexamples = 500", "train = { tsv = \"pairs.tsv\" }");
    let shop = Workshop::with(&config.replace("schedule = \"plateau\"\n", ""));
    let run = shop.path("run");
    let said = refused(&shop.train(&run, &[]));
    assert!(said.contains("pairs.tsv"), "{said}");
    fs::write(shop.path("pairs.tsv"), "a b\tb a\nc d e\te d c\n").expect("written");
    shop.complete("run", &["--set", "train.steps=4"]);
    assert!(run.join("model.safetensors").exists());
}
