//! Models to try commands on. Each is trained once, by the first test that needs it.

use crate::{gatto, run, written};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("created");
    folder
}

/// The run directory of a configuration, `cli-NAME/run` among the files that tests leave.
fn trained(name: &str, config: &str) -> PathBuf {
    trained_on(name, config, &[])
}

/// The same, with files beside the configuration.
fn trained_on(name: &str, config: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = scratch(&format!("cli-{name}"));
    for (file, content) in files {
        fs::write(folder.join(file), content).expect("written");
    }
    fs::write(folder.join("config.toml"), config).expect("written");
    let run_directory = folder.join("run");
    let mut command = gatto(&["train", "--quiet"]);
    let output = run(command.arg(folder.join("config.toml")).arg("--out").arg(&run_directory), None);
    assert_eq!(written(output), "", "a quiet run says nothing");
    run_directory
}

/// A model that reverses up to six symbols, well enough to be looked at. It has no attention.
pub(crate) fn model() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = "task = \"translate\"\n[data]\nbuiltin = \"reverse\"\nmax_length = 6\n[tokens]\nkind = \"word\"\n\
                      [encoder.gru]\nwidth = 64\n[decoder.gru]\nwidth = 64\n[search]\nmax_length = 30\n[train]\nsteps = 300\n\
                      batch_examples = 64\nlearning_rate = 1e-2\nvalidate_every = 300\nvalid_examples = 100\npool = 5000\n";
        trained("model", config)
    })
}

/// A model that reverses up to four symbols, all of which it has to look up: the decoder starts from nothing.
const REVERSING: &str = r#"
task = "translate"
[data]
builtin = "reverse"
max_length = 4
[tokens]
kind = "word"
[encoder.gru]
width = 32
bidirectional = true
[decoder.gru]
width = 48
bridge = "attention-only"
[attention]
score = "additive"
query = "current"
[train]
steps = 400
batch_examples = 64
learning_rate = 1e-2
schedule = "cosine"
validate_every = 400
valid_examples = 100
pool = 5000
[search]
max_length = 12
"#;

/// A model with attention that reverses up to four symbols, nearly always rightly.
pub(crate) fn attentive() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| trained("attentive", REVERSING))
}

/// A Transformer that reverses up to four symbols, nearly always rightly.
pub(crate) fn transformer() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let layers = "width = 32\nlayers = 2\nheads = 4\nnorm = \"pre\"\n";
        let start = REVERSING.split("[encoder").next().expect("data and tokens");
        let end = REVERSING.split_once("[train]").expect("training").1;
        let parts = format!("[encoder.transformer]\n{layers}[decoder.transformer]\n{layers}");
        trained("transformer", &format!("{start}{parts}[train]{end}"))
    })
}

/// A model with attention whose vocabulary holds seven of the 26 letters that it has met.
pub(crate) fn forgetful() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = REVERSING.replace("\"word\"", "\"word\"\nsize = 12").replace("= 400", "= 150");
        trained("forgetful", &config)
    })
}

/// A model with attention that has begun to translate, with the most frequent words alone, from a task that
/// knows which words belong together.
pub(crate) fn translator() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = REVERSING
            .replace("\"reverse\"\nmax_length = 4", "\"phrases\"\nexamples = 20_000")
            .replace("\"word\"", "\"word\"\nshared = false\nsize = 200")
            .replace("max_length = 12", "max_length = 40");
        trained("translator", &config)
    })
}

/// The most tokens of a source for [`located`], its end included.
pub(crate) const POSITIONS: usize = 12;

/// A model of characters whose attention knows so many positions, and that has learnt nothing.
pub(crate) fn located() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = REVERSING
            .replace("\"word\"", "\"char\"")
            .replace("\"additive\"", &format!("\"location\"\nmax_positions = {POSITIONS}"))
            .replace("steps = 400", &format!("steps = 2\nmax_length = {}", POSITIONS - 1));
        trained("located", &config)
    })
}

/// A language model that has learnt nothing.
pub(crate) fn language_model() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = "task = \"language-model\"\n[data]\nbuiltin = \"copy\"\n[tokens]\nkind = \"word\"\n\
                      [decoder.rnn]\nwidth = 4\n[train]\nsteps = 2\nvalid_examples = 10\n";
        trained("language-model", config)
    })
}

/// Nouns that are judged, each adjective of which says how.
const NOUNS: [&str; 3] = ["film", "book", "meal"];
const GOOD: [&str; 3] = ["good", "great", "nice"];
const BAD: [&str; 3] = ["bad", "awful", "poor"];

/// All judgements: a text, its label, and the labels of its words.
fn judgements() -> Vec<(String, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (label, adjectives) in [("very positive", GOOD), ("negative", BAD)] {
        for (noun, adjective) in NOUNS.iter().flat_map(|noun| adjectives.map(|adjective| (noun, adjective))) {
            found.push((format!("the {noun} is {adjective}"), label, "DET NOUN AUX ADJ"));
            found.push((format!("is the {noun} {adjective} ?"), label, "AUX DET NOUN ADJ PUNCT"));
        }
    }
    found
}

/// A model of this task that knows the judgements: `classify`, `label`, `masked-language-model`,
/// `bidirectional-language-model` or `writer`, a language model.
fn judging(name: &str, task: &str, files: &str, parts: &str) -> PathBuf {
    let lines = |of: fn(&(String, &str, &str)) -> String| -> String {
        judgements().iter().map(|judgement| of(judgement) + "\n").collect()
    };
    let config = format!(
        "task = \"{task}\"\n[data]\ntrain = {files}\nvalid = {files}\n{parts}\n[search]\nmax_length = 12\n[train]\n\
         steps = 250\nbatch_examples = 18\nlearning_rate = 8e-3\nvalidate_every = 250\nmax_length = 30\n"
    );
    let written = [
        ("classes.tsv", lines(|judgement| format!("{}\t{}", judgement.0, judgement.1))),
        ("tags.tsv", lines(|judgement| format!("{}\t{}", judgement.0, judgement.2))),
        ("text.txt", lines(|judgement| judgement.0.clone())),
    ];
    trained_on(name, &config, &written.each_ref().map(|(file, content)| (*file, content.as_str())))
}

const BOTH_WAYS: &str = "[encoder.gru]\nwidth = 24\nbidirectional = true";
const SELF_ATTENTION: &str = "[encoder.transformer]\nwidth = 32\nheads = 4\nlayers = 1\nfeed_forward = 64\n\
                              positions = \"learned\"\nmax_positions = 32";

/// A model that tells good from bad, and what each token counted.
pub(crate) fn classifier() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = format!("{BOTH_WAYS}\n[head]\npooling = \"attention\"");
        judging("classifier", "classify", "{ tsv = \"classes.tsv\" }", &parts)
    })
}

/// A model that labels words, and has 32 positions.
pub(crate) fn labeller() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| judging("labeller", "label", "{ tsv = \"tags.tsv\" }", SELF_ATTENTION))
}

/// A masked language model of words.
pub(crate) fn masked() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = format!("[tokens]\nkind = \"word\"\n{SELF_ATTENTION}");
        judging("masked", "masked-language-model", "{ text = \"text.txt\" }", &parts)
    })
}

/// A language model of both directions.
pub(crate) fn bidirectional() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        judging("bidirectional", "bidirectional-language-model", "{ text = \"text.txt\" }", BOTH_WAYS)
    })
}

/// A language model that knows the judgements.
pub(crate) fn writer() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        judging("writer", "language-model", "{ text = \"text.txt\" }", "[decoder.gru]\nwidth = 32")
    })
}

/// A small model of images.
fn of_images(name: &str, parts: &str) -> PathBuf {
    let config = format!(
        "{parts}\n[data]\nbuiltin = \"shapes\"\n[images]\nheight = 64\nwidth = 64\n[search]\nmax_length = 20\n\
         [train]\nsteps = 20\nbatch_examples = 16\nlearning_rate = 1e-2\nvalidate_every = 20\nvalid_examples = 8\n"
    );
    trained(name, &config)
}

const REGIONS: &str = "[encoder.cnn]\nchannels = [8, 8, 16]\nstem_stride = 2";

/// A model with attention that has hardly begun to write captions.
pub(crate) fn captioner() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = format!(
            "task = \"caption\"\n[tokens]\nkind = \"word\"\n{REGIONS}\n[attention]\nscore = \"additive\"\n\
             [decoder.gru]\nwidth = 24"
        );
        of_images("captioner", &parts)
    })
}

/// A Vision Transformer that has hardly begun to tell the largest of some things.
pub(crate) fn patches() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let parts = "task = \"classify\"\n[encoder.vit]\npatch = 16\nwidth = 16\nlayers = 2\nheads = 2\n[head]\n\
                     pooling = \"class-token\"";
        of_images("patches", parts)
    })
}

/// Convolutions that tell the same from the mean region, and look at none of them.
pub(crate) fn blurred() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| of_images("blurred", &format!("task = \"classify\"\n{REGIONS}")))
}

/// A model that hears melodies, badly: it has had little time.
pub(crate) fn listener() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let config = "task = \"transcribe\"\n[data]\nbuiltin = \"melodies\"\nmax_length = 4\nexamples = 400\n[sound]\nrate = 8000\n\
                      [sound.features]\nwindow = 64.0\nhop = 20.0\nbands = 32\nlowest = 200.0\n[tokens]\nkind = \"word\"\n\
                      [encoder.listener]\ncell = \"gru\"\nwidth = 24\nlayers = 2\npyramid = 1\n[attention]\nquery = \"previous\"\n\
                      [decoder.gru]\nwidth = 32\nembedding = 16\nbridge = \"attention-only\"\n[search]\nmax_length = 10\n\
                      [train]\nsteps = 60\nbatch_examples = 16\nmax_seconds = 12\nlearning_rate = 1e-2\nvalidate_every = 60\n\
                      valid_examples = 20\n";
        trained("listener", config)
    })
}
