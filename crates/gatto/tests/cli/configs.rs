//! Configurations: those that cannot be used, and every one that `gatto new` gives.

use crate::{gatto, refused, run, snapshot, text, written};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn configurations_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.toml");
    let good = "task = \"translate\"\n[data]\nbuiltin = \"reverse\"\n[encoder.gru]\nwidth = 8\n[decoder.gru]\nwidth = 8\n";
    for (name, config, more) in [
        ("unknown-key", good.replacen("width", "widht", 1), &[][..]),
        ("unknown-table", format!("{good}[trian]\nsteps = 3\n"), &[]),
        ("bad-value", good.replacen("width = 8", "width = 0", 1), &[]),
        (
            "bad-combination",
            format!("{good}[sharing]\noutput = true\nembeddings = true\n[tokens]\nshared = false\n"),
            &[],
        ),
        ("bad-type", good.replacen("width = 8", "width = \"wide\"", 1), &[]),
        ("no-toml", "task = \n".to_owned(), &[]),
        ("bad-set", good.to_owned(), &["--set", "train.steps"]),
        ("bad-set-key", good.to_owned(), &["--set", "train.stepz=3"]),
    ] {
        fs::write(&path, config).expect("written");
        let out = folder.path().join("run");
        let said = refused(run(gatto(&["train"]).arg(&path).arg("--out").arg(&out).args(more), None));
        snapshot(&format!("train-{name}"), &said, Some(folder.path()));
        assert!(!out.exists(), "{name}: a run that cannot start leaves nothing");
    }
    let said = refused(run(gatto(&["train"]).arg(folder.path().join("missing.toml")), None));
    snapshot("train-missing", &said, Some(folder.path()));
    let data = "task = \"translate\"\n[data]\ntrain = { source = \"a.en\", target = \"a.it\" }\n[encoder.gru]\n[decoder.gru]\n";
    fs::write(&path, data).expect("written");
    let output = run(gatto(&["train"]).arg(&path).arg("--out").arg(folder.path().join("run")), None);
    assert_eq!(output.status.code(), Some(1));
    snapshot("train-missing-data", &text(&output.stderr), Some(folder.path()));
}

pub(crate) fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

/// The names and texts of all configurations.
pub(crate) fn recipes() -> Vec<(String, String)> {
    let paths = fs::read_dir(configs()).expect("configurations").flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("text"))
        })
        .collect()
}

/// What makes a configuration small enough for a test.
fn small(config: &str) -> Vec<String> {
    let mut changes: Vec<String> = Vec::new();
    let mut set = |change: String| changes.extend(["--set".to_owned(), change]);
    for part in ["encoder", "decoder", "single"] {
        if config.contains(&format!("[{part}.transformer]")) {
            for (key, value) in [("width", 8), ("feed_forward", 8), ("heads", 2)] {
                set(format!("{part}.transformer.{key}={value}"));
            }
        }
    }
    for (table, key) in [("decoder.lstm", "output"), ("head", "hidden")] {
        if config.contains(&format!("\n{key} = 1")) {
            set(format!("{table}.{key}=8"));
        }
    }
    for (part, cell) in ["encoder", "decoder", "single", "features"]
        .iter()
        .flat_map(|part| ["rnn", "lstm", "gru"].map(|cell| (part, cell)))
    {
        if config.contains(&format!("[{part}.{cell}]")) {
            set(format!("{part}.{cell}.width=8"));
            set(format!("{part}.{cell}.embedding=8"));
        }
    }
    if config.contains("[encoder.listener]") {
        set("encoder.listener.width=8".to_owned());
    }
    if config.contains("[encoder.sound-transformer]") {
        for (key, value) in
            [("width", "8"), ("feed_forward", "8"), ("heads", "2"), ("convolutions", "[4, 4]")]
        {
            set(format!("encoder.sound-transformer.{key}={value}"));
        }
    }
    if config.contains("join =") {
        set("data.join.examples=40".to_owned());
        set("data.join.held_out=10".to_owned());
    }
    if config.contains("builtin =") {
        set("data.examples=300".to_owned());
    }
    if config.contains("[search]") {
        set("search.max_length=8".to_owned());
    }
    for (key, value) in [("steps", 2), ("valid_examples", 20), ("batch_examples", 16), ("warmup", 1)] {
        set(format!("train.{key}={value}"));
    }
    if config.contains("cooldown =") {
        set("train.cooldown=1".to_owned());
    }
    changes
}

/// Some images and labels of MNIST's kind in `mnist`, and one image as a file, whose name it gives.
fn write_digits(folder: &Path) -> String {
    let mnist = folder.join("mnist");
    fs::create_dir(&mnist).expect("a folder");
    let count = 32u8;
    let pixels: Vec<u8> = (0..usize::from(count) * 28 * 28).map(|n| (n * 7 % 251) as u8).collect();
    let images = [&[0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28][..], &pixels].concat();
    let labels: Vec<u8> =
        [0, 0, 8, 1, 0, 0, 0, count].into_iter().chain((0..count).map(|n| n % 10)).collect();
    for part in ["train", "t10k"] {
        fs::write(mnist.join(format!("{part}-images-idx3-ubyte")), &images).expect("written");
        fs::write(mnist.join(format!("{part}-labels-idx1-ubyte")), &labels).expect("written");
    }
    let image = gatto::data::Image::new(28, 28, 1, pixels[..28 * 28].to_vec()).expect("an image");
    let path = folder.join("digit.png");
    image.write_png(&path).expect("written");
    path.to_string_lossy().into_owned()
}

/// Some recordings of spoken digits in `fsdd`, of two speakers, and their lists.
fn write_spoken_digits(folder: &Path) {
    let spoken = folder.join("fsdd");
    fs::create_dir(&spoken).expect("a folder");
    let mut lists = ["train", "valid"].map(|part| (part, String::new()));
    for (take, word) in ["zero", "one", "two", "three", "four", "five"].iter().enumerate() {
        let speaker = ["anna", "bo"][take % 2];
        let samples = (0..2_000 + 300 * take).map(|n| (n as f32 * (0.2 + 0.05 * take as f32)).sin() * 0.3);
        let sound = gatto::data::Sound { samples: samples.collect(), rate: 8_000 };
        let name = format!("{take}_{speaker}_0.wav");
        sound.write_wav(&spoken.join(&name)).expect("written");
        lists.iter_mut().for_each(|(_, list)| *list += &format!("{name}\t{word}\t{speaker}\n"));
    }
    for (part, list) in lists {
        fs::write(folder.join(format!("digits-{part}.tsv")), list).expect("written");
    }
}

/// Every configuration trains, and every one that can predicts; those that start from others come after
/// them.
#[test]
fn every_configuration_trains_and_predicts() {
    let folder = tempfile::tempdir().expect("a folder");
    for part in ["train", "val", "test"] {
        fs::write(folder.path().join(format!("{part}.en")), "the cat\nthe dog sees the cat\n")
            .expect("written");
        fs::write(folder.path().join(format!("{part}.de")), "die Katze\nder Hund sieht die Katze\n")
            .expect("written");
    }
    for side in ["en", "de"] {
        fs::write(folder.path().join(format!("test_2016_flickr.{side}")), "a\n").expect("written");
    }
    for part in ["train", "dev"] {
        // As many labels as words; to a classifier they are one label.
        let lines = "the cat\tD N\nthe dog sees the cat\tD N V D N\n";
        fs::write(folder.path().join(format!("{part}.tsv")), lines).expect("written");
    }
    for part in ["train", "valid"] {
        fs::write(folder.path().join(format!("{part}.txt")), "the cat\nthe dog sees the cat\n")
            .expect("written");
    }
    let digits = write_digits(folder.path());
    write_spoken_digits(folder.path());
    let train = |name: &str, config: &str, out: &str, more: &[&str]| {
        fs::write(folder.path().join(format!("{name}.toml")), config).expect("written");
        let mut command = gatto(&["train"]);
        command
            .current_dir(folder.path())
            .arg(format!("{name}.toml"))
            .args(small(config))
            .args(more)
            .args(["--out", out]);
        let output = run(&mut command, None);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        assert_eq!(text(&output.stdout), "", "{name}");
        assert!(said.contains("finished at step 2"), "{name}: {said}");
        folder.path().join(out)
    };
    let mut all = recipes();
    all.sort_by_key(|(_, config)| config.contains("[[init]]"));
    assert!(all.len() >= 14);
    for (name, config) in &all {
        if name == "language-model" {
            train(name, config, "runs/english", &[]);
            train(name, config, "runs/italian", &["--set", "data.side=target"]);
            let mut command = gatto(&["predict"]);
            let found = written(run(command.arg(folder.path().join("runs/english")), Some(b"the\n")));
            assert!(found.starts_with("the") && found.lines().count() == 1, "{found}");
            continue;
        }
        let out = match name.as_str() {
            "bidirectional-language-model" => "runs/bilm".to_owned(),
            "masked-language-model" => "runs/masked".to_owned(),
            "caption-soft" => "runs/caption-soft".to_owned(),
            name => format!("out/{name}"),
        };
        let run_directory = train(name, config, &out, &[]);
        if name == "bidirectional-language-model" {
            continue; // it is there to be built upon
        }
        if config.contains("[encoder.cnn]") || config.contains("[encoder.vit]") {
            let image = if name == "vit-mnist" { digits.as_str() } else { "shapes/test/0" };
            let found = written(run(gatto(&["predict"]).arg(&run_directory).arg(image), None));
            assert_eq!(found.lines().count(), 1, "{name}: {found}");
            continue;
        }
        if config.contains("\n[sound]") {
            let sound = match name.as_str() {
                "melodies" => "melodies/test/0".to_owned(),
                _ => folder.path().join("fsdd/0_anna_0.wav").to_string_lossy().into_owned(),
            };
            let found = written(run(gatto(&["predict"]).arg(&run_directory).arg(sound), None));
            assert_eq!(found.lines().count(), 1, "{name}: {found}");
            continue;
        }
        let looks = config.contains("\n[attention]");
        let mut command = gatto(if looks { &["predict", "--alignment"] } else { &["predict"] });
        let found = written(run(command.arg(&run_directory), Some(b"the cat\n\n1 May 2020\n")));
        assert_eq!(found.lines().count(), 3, "{name}");
        assert!(found.lines().all(|line| line.contains(" ||| ") == looks), "{name}: {found}");
        for file in
            ["config.toml", "model.safetensors", "metrics.jsonl", "curves.svg", "tensorboard", "checkpoints"]
        {
            assert!(run_directory.join(file).exists(), "{name}: {file}");
        }
    }
}

#[test]
fn a_run_finds_its_files_from_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "task = \"translate\"\n[data]\ntrain = { tsv = \"a.tsv\" }\ntest = { tsv = \"a.tsv\" }\nskip_bad = true\n\
                  [tokens]\nkind = \"word\"\n[encoder.rnn]\nwidth = 4\n[decoder.rnn]\nwidth = 4\n[train]\nsteps = 2\n[search]\nmax_length = 5\n";
    fs::write(folder.path().join("files.toml"), config).expect("written");
    fs::write(folder.path().join("a.tsv"), "a b\tb a\nc\tc\n").expect("written");
    let output = run(gatto(&["train", "files.toml", "--quiet"]).current_dir(folder.path()), None);
    assert_eq!(written(output), "");
    let evaluate = || run(gatto(&["evaluate"]).arg(folder.path().join("runs/files")), None);
    let report = written(evaluate());
    assert!(report.contains("of 2)"), "{report}");
    // All lines of a file are looked at, and those that cannot be used are counted.
    let lines = "a b\tb a\n".repeat(2100) + "no tab\n\tno source\n";
    fs::write(folder.path().join("a.tsv"), lines).expect("written");
    let output = evaluate();
    assert!(text(&output.stdout).contains("of 2100)"), "{}", text(&output.stdout));
    assert_eq!(text(&output.stderr), "note: 2 bad lines are passed over\n");
}
