//! Data and tokens, unknown keys, keys set from outside, and files.

use super::{FILES, PAIR, and, check, parse, with};
use gatto_train::ConfigFile;

#[test]
fn data_and_tokens_that_make_no_sense_are_refused_where_they_stand() {
    let cases: Vec<(String, &str, &str)> = vec![
        (with(PAIR, "builtin = \"copy\"", ""), "2:2", "`data.train` is missing; write `train ="),
        (with(PAIR, "\"copy\"", "\"coppy\""), "3:1", "there is no built-in task `coppy`"),
        (with(PAIR, "\"copy\"", "\"dates\"\nmax_length = 3"), "4:1", "belongs to copy, reverse and sort"),
        (with(PAIR, "\"copy\"", "\"copy\"\ntrain = { tsv = \"a\" }"), "4:1", "exclude each other"),
        (with(FILES, "{ tsv = \"a\" }", "{ source = \"a\" }"), "3:1", "add `target"),
        (
            and(PAIR, "[tokens]\nkind = \"word\"\nsize = 5"),
            "10:1",
            "`tokens.size` is too small: a vocabulary",
        ),
        (and(PAIR, "[tokens]\nsize = 3000000000"), "9:1", "`tokens.size` is too big"),
        (
            and(PAIR, "[tokens]\nmax_examples = 0"),
            "9:1",
            "`tokens.max_examples` 0 leaves nothing to learn from",
        ),
        (
            and(PAIR, "[tokens]\nshared = true\n[tokens.source]\nkind = \"char\""),
            "9:1",
            "cannot differ by side",
        ),
    ];
    check(cases);
}

#[test]
fn what_is_not_known_or_of_the_wrong_kind_is_refused_where_it_stands() {
    let cases: Vec<(String, &str, &str)> = vec![
        (and(PAIR, "widht = 3"), "8:1", "hint: did you mean `width`?"),
        (with(PAIR, "encoder.lstm", "encoder.lsmt"), "4:10", "hint: did you mean `lstm`?"),
        (and(PAIR, "[trian]"), "8:2", "hint: did you mean `train`?"),
        (and(PAIR, "[train]\n stpes = 3"), "9:2", "hint: did you mean `steps`?"),
        (and(PAIR, "bridge = \"first\""), "8:10", "unknown variant `first`"),
        (with(PAIR, "translate", "translation"), "1:8", "hint: did you mean `translate`?"),
        (and(PAIR, "[train]\nsteps = \"many\""), "9:9", "invalid type: string \"many\", expected u64"),
        (and(PAIR, "[train]\nsteps = -1"), "9:9", "invalid value: integer `-1`, expected u64"),
        (and(PAIR, "[train]\noptimiser = \"adan\""), "9:13", "hint: did you mean `adam`?"),
        (with(PAIR, "task = \"translate\"\n", ""), "1:1", "missing field `task`"),
        (with(PAIR, "[data]\nbuiltin = \"copy\"\n", ""), "1:1", "missing field `data`"),
        (and(PAIR, "width = 8"), "8:1", "duplicate key"),
        (and(PAIR, "[train"), "8:", ""),
        (and(PAIR, "layers ="), "8:", ""),
        ("\u{0}".to_owned(), "1:", ""),
    ];
    check(cases);
}

#[test]
fn keys_can_be_set_from_outside() {
    let file =
        parse(PAIR, &["train.steps=7", "encoder.lstm.width=16", "data.builtin=sort", "train.clip = 0.5"]);
    let config = file.expect("accepted").config;
    assert_eq!((config.train.steps, config.train.clip), (7, 0.5));
    assert_eq!(config.data.builtin.as_deref(), Some("sort"));
    assert_eq!(config.encoder.expect("an encoder").states(), 16);
    let again = parse(PAIR, &["train.steps=7"]).expect("accepted");
    assert_eq!(parse(&again.text, &[]).expect("the text that is kept").config, again.config);

    for (change, message) in [
        ("train.steps", "has no `=`"),
        ("task.kind=3", "`task` is a value and has no keys inside it"),
        ("train.stepz=3", "did you mean `steps`?"),
        ("train.steps=0", "`train.steps` is 0; write 1 or more"),
        ("train.steps=many", "invalid type: string \"many\""),
    ] {
        let error = parse(PAIR, &[change]).map(drop).expect_err(change);
        assert!(error.starts_with(&format!("--set {change}: ")) && error.contains(message), "{error}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| {
        ConfigFile::read(&folder.path().join(name), &[]).map(drop).expect_err("no configuration").to_string()
    };
    assert!(read("missing.toml").contains("missing.toml: cannot be read"), "{}", read("missing.toml"));
    std::fs::write(folder.path().join("bytes.toml"), [0xff, 0xfe]).expect("written");
    assert!(read("bytes.toml").contains("bytes.toml: cannot be read"), "{}", read("bytes.toml"));
    std::fs::write(folder.path().join("huge.toml"), vec![b'#'; 2 << 20]).expect("written");
    assert!(read("huge.toml").contains("huge.toml: is 2097152 bytes long"), "{}", read("huge.toml"));
}
