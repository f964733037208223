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
    let folder = scratch(&format!("cli-{name}"));
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
