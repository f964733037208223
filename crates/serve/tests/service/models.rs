//! Models to serve. Each is trained once, by the first test that needs it, and not for long: what they answer need not
//! be right.

use gatto_train::{ConfigFile, RunOptions, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The run directory of a configuration, with files beside it.
pub(crate) fn trained(name: &str, config: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("created");
    for (file, content) in files {
        fs::write(folder.join(file), content).expect("written");
    }
    let path = folder.join("config.toml");
    let config = ConfigFile::parse(&path, config.into(), folder.clone(), &[]).expect("a configuration");
    let directory = folder.join("run");
    run(&config, &RunOptions::new(&directory), &mut ()).expect("a run");
    directory
}

const REVERSING: &str = r#"
task = "translate"
[data]
builtin = "reverse"
max_length = 5
[tokens]
kind = "word"
[encoder.gru]
width = 24
bidirectional = true
[decoder.gru]
width = 32
bridge = "attention-only"
[attention]
score = "additive"
query = "current"
[train]
steps = 120
batch_examples = 32
learning_rate = 1e-2
validate_every = 120
valid_examples = 20
pool = 2000
[search]
max_length = 12
"#;

/// A model with attention that has begun to reverse symbols.
pub(crate) fn reversing() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| trained("reversing", REVERSING, &[]))
}

/// A Transformer that has begun to.
pub(crate) fn transformer() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let layers = "width = 16\nlayers = 2\nheads = 2\n";
        let start = REVERSING.split("[encoder").next().expect("data and tokens");
        let end = REVERSING.split_once("[train]").expect("training").1.replace("120", "30");
        let parts = format!("[encoder.transformer]\n{layers}[decoder.transformer]\n{layers}");
        trained("transformer", &format!("{start}{parts}[train]{end}"), &[])
    })
}

/// A model with the vocabulary of [`reversing`] that was trained on another seed.
pub(crate) fn other() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| trained("other", &format!("seed = 77\n{}", REVERSING.replace("= 120", "= 2")), &[]))
}

/// A translator that has begun to translate, and knows the words of its sources.
pub(crate) fn translator() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = REVERSING
            .replace("\"reverse\"\nmax_length = 5", "\"phrases\"\nexamples = 5_000")
            .replace("\"word\"", "\"word\"\nshared = false\nsize = 300")
            .replace("max_length = 12", "max_length = 30");
        trained("translator", &config, &[])
    })
}

/// A model that never ends what it writes: the end is as probable as any of its many other tokens, and it has no time
/// to learn better.
pub(crate) fn endless() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = "task = \"language-model\"\n[data]\nbuiltin = \"copy\"\n[tokens]\nkind = \"word\"\n\
                      [decoder.gru]\nwidth = 256\n[train]\nsteps = 1\nvalid_examples = 4\n[search]\nmax_length = 50_000\n\
                      min_length = 49_999\n";
        trained("endless", config, &[])
    })
}

/// Texts that a model has read, each with a label and labels of its words.
const JUDGED: [(&str, &str, &str); 4] = [
    ("the film is good", "positive", "DET NOUN AUX ADJ"),
    ("the film is bad", "negative", "DET NOUN AUX ADJ"),
    ("is the book good ?", "positive", "AUX DET NOUN ADJ PUNCT"),
    ("is the book bad ?", "negative", "AUX DET NOUN ADJ PUNCT"),
];

fn judging(name: &str, task: &str, files: &str, parts: &str) -> PathBuf {
    let config = format!(
        "task = \"{task}\"\n[data]\ntrain = {files}\nvalid = {files}\n{parts}\n[search]\nmax_length = 8\n[train]\n\
         steps = 40\nbatch_examples = 4\nlearning_rate = 8e-3\nvalidate_every = 40\nmax_length = 30\n"
    );
    let lines = |of: fn(&(&str, &str, &str)) -> String| {
        JUDGED.iter().map(|found| of(found) + "\n").collect::<String>()
    };
    let files = [
        ("classes.tsv", lines(|found| format!("{}\t{}", found.0, found.1))),
        ("tags.tsv", lines(|found| format!("{}\t{}", found.0, found.2))),
        ("text.txt", lines(|found| found.0.to_owned())),
    ];
    trained(name, &config, &files.each_ref().map(|(file, content)| (*file, content.as_str())))
}

const BOTH_WAYS: &str = "[encoder.gru]\nwidth = 16\nbidirectional = true";

pub(crate) fn classifier() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = format!("{BOTH_WAYS}\n[head]\npooling = \"attention\"");
        judging("classifier", "classify", "{ tsv = \"classes.tsv\" }", &parts)
    })
}

pub(crate) fn labeller() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| judging("labeller", "label", "{ tsv = \"tags.tsv\" }", BOTH_WAYS))
}

pub(crate) fn masked() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = "[tokens]\nkind = \"word\"\n[encoder.transformer]\nwidth = 16\nheads = 2\nlayers = 1";
        judging("masked", "masked-language-model", "{ text = \"text.txt\" }", parts)
    })
}

pub(crate) fn writer() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        judging("writer", "language-model", "{ text = \"text.txt\" }", "[decoder.gru]\nwidth = 24")
    })
}

const CAPTIONER: &str = r#"
task = "caption"
[tokens]
kind = "word"
[encoder.cnn]
channels = [8, 8]
stem_stride = 2
[attention]
score = "additive"
[decoder.gru]
width = 16
[data]
builtin = "shapes"
[images]
height = 64
width = 64
[search]
max_length = 8
[train]
steps = 4
batch_examples = 8
validate_every = 4
valid_examples = 4
"#;

/// A model with attention that has hardly begun to write captions.
pub(crate) fn captioner() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| trained("captioner", CAPTIONER, &[]))
}

/// One that sees all of an image, out of proportion if need be, and not its middle.
pub(crate) fn stretching() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = CAPTIONER.replace("[images]", "[images]\nfit = \"stretch\"");
        trained("stretching", &config, &[])
    })
}

/// A model that hears melodies, badly.
pub(crate) fn listener() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = "task = \"transcribe\"\n[data]\nbuiltin = \"melodies\"\nmax_length = 4\nexamples = 100\n[sound]\nrate = 8000\n\
                      [sound.features]\nwindow = 64.0\nhop = 20.0\nbands = 32\nlowest = 200.0\n[tokens]\nkind = \"word\"\n\
                      [encoder.listener]\ncell = \"gru\"\nwidth = 16\nlayers = 2\npyramid = 1\n[attention]\n\
                      query = \"previous\"\n[decoder.gru]\nwidth = 24\nembedding = 16\nbridge = \"attention-only\"\n[search]\n\
                      max_length = 10\n[train]\nsteps = 4\nbatch_examples = 8\nmax_seconds = 12\nvalidate_every = 4\n\
                      valid_examples = 4\n";
        trained("listener", config, &[])
    })
}
