//! Help, bad usage, and what every command has in common.

use crate::configs::{configs, recipes};
use crate::predict::{mixed_lines, predict};
use crate::{checked, gatto, refused, run, snapshot, text, written};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Command;

const COMMANDS: [&str; 15] = [
    "demo",
    "new",
    "train",
    "predict",
    "score",
    "evaluate",
    "metric",
    "look",
    "explain-report",
    "serve",
    "info",
    "quantize",
    "shortlist",
    "completions",
    "man",
];

#[test]
fn help_of_every_command() {
    snapshot("help", &written(run(&mut gatto(&["--help"]), None)), None);
    snapshot("help-short", &written(run(&mut gatto(&["-h"]), None)), None);
    for command in COMMANDS {
        let help = written(run(&mut gatto(&[command, "--help"]), None));
        snapshot(&format!("help-{command}"), &help, None);
        assert_eq!(written(run(gatto(&[command, "--help"]).env("NO_COLOR", "1"), None)), help);
    }
    let version = written(run(&mut gatto(&["--version"]), None));
    assert_eq!(version, concat!("gatto ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bad_usage_has_status_2() {
    for (name, arguments) in [
        ("nothing", &[][..]),
        ("unknown-command", &["trian"]),
        ("no-config", &["train"]),
        ("unknown-flag", &["train", "a.toml", "--sed", "3"]),
        ("seed-too-large", &["train", "a.toml", "--seed", "9223372036854775808"]),
        ("no-threads", &["train", "a.toml", "--threads", "0"]),
        ("unknown-device", &["predict", "run", "--device", "abacus"]),
        ("no-batch", &["predict", "run", "--batch", "0"]),
        ("half-a-corpus", &["evaluate", "run", "--source", "a"]),
        ("unknown-shell", &["completions", "dos"]),
        ("unknown-alignment", &["predict", "run", "--alignment=diagonal"]),
        ("alignment-and-json", &["predict", "run", "--alignment", "--json"]),
        ("link-share-too-large", &["predict", "run", "--link-share", "1.5"]),
        ("wrong-and-json", &["evaluate", "run", "--wrong", "3", "--json"]),
        ("unknown-metric", &["evaluate", "run", "--metric", "bleurt"]),
        ("unknown-noise", &["evaluate", "run", "--noise", "typos,fog"]),
        ("noise-rate-too-large", &["evaluate", "run", "--noise", "all", "--noise-rate", "2"]),
        ("rate-without-noise", &["evaluate", "run", "--noise-rate", "0.2"]),
        ("two-groupings", &["evaluate", "run", "--by", "0", "--by-file", "a"]),
    ] {
        let output = run(&mut gatto(arguments), None);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(text(&output.stdout), "", "{name}");
        snapshot(&format!("usage-{name}"), &text(&output.stderr), None);
    }
}

#[test]
fn new_lists_prints_and_writes() {
    let list = written(run(&mut gatto(&["new"]), None));
    snapshot("new", &list, None);
    snapshot("new-unknown", &refused(run(&mut gatto(&["new", "revers"]), None)), None);
    let folder = tempfile::tempdir().expect("a folder");
    for name in list.lines().map(|line| line.split(' ').next().expect("a name")) {
        let config = written(run(&mut gatto(&["new", name]), None));
        let path = configs().join(format!("{name}.toml"));
        assert_eq!(config, fs::read_to_string(path).expect("a configuration"));
        let path = folder.path().join(name);
        assert_eq!(written(run(gatto(&["new", name, "-o"]).arg(&path), None)), "");
        assert_eq!(fs::read_to_string(&path).expect("written"), config);
    }
    // Every configuration is on the list.
    let mut names: Vec<String> = recipes().iter().map(|(name, _)| name.clone()).collect();
    names.sort();
    let mut listed: Vec<&str> = list.lines().map(|line| line.split(' ').next().expect("a name")).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    let said = refused(run(gatto(&["new", "copy", "-o"]).arg(folder.path().join("missing/copy.toml")), None));
    assert!(said.contains("missing/copy.toml: cannot be written"), "{said}");
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish"] {
        let script = written(run(&mut gatto(&["completions", shell]), None));
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man/man1");
    assert_eq!(written(run(gatto(&["man"]).arg(&pages), None)), "");
    for command in COMMANDS {
        let page = fs::read_to_string(pages.join(format!("gatto-{command}.1"))).expect("a page");
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(pages.join("gatto.1").exists());
    fs::write(folder.path().join("file"), "").expect("written");
    let said = refused(run(gatto(&["man"]).arg(folder.path().join("file")), None));
    assert!(said.contains("file: cannot be"), "{said}");
}

/// Ctrl-C stops training in good order, and says so; a hang-up is left to `nohup`.
#[cfg(target_os = "linux")]
#[test]
fn the_first_interrupt_stops_training_after_its_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("long.toml");
    let text_of = "task = \"translate\"\n[data]\nbuiltin = \"copy\"\n[tokens]\nkind = \"word\"\n[encoder.rnn]\nwidth = 4\n\
                   [decoder.rnn]\nwidth = 4\n[train]\nsteps = 1000000\n";
    fs::write(&config, text_of).expect("written");
    let mut command = gatto(&["train", "--quiet"]);
    let child = command.arg(&config).arg("--out").arg(folder.path().join("run")).spawn().expect("it runs");
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
        u64::from_str_radix(mask, 16).expect("a mask")
    };
    let [hang_up, interrupt] = [1, 2].map(|signal| 1 << (signal - 1));
    while caught() & interrupt == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(caught() & hang_up, 0);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = checked(child.wait_with_output().expect("an end"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "stopping after this step; press Ctrl-C again to stop at once\n");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("in.txt");
    fs::write(&input, mixed_lines().repeat(40)).expect("written");
    let mut child = predict(&["--batch", "1", "-i"]).arg(&input).spawn().expect("it runs");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    drop(output); // as `head -1` does
    let end = child.wait_with_output().expect("an end");
    assert_eq!(end.status.code(), Some(0), "{}", text(&end.stderr));
    assert_eq!(text(&end.stderr), "");

    for arguments in [&["new", "phrases"][..], &["completions", "bash"], &["--help"], &["new"]] {
        let mut child = gatto(arguments).spawn().expect("it runs");
        drop(child.stdout.take());
        let end = child.wait_with_output().expect("an end");
        assert_eq!(end.status.code(), Some(0), "{arguments:?}: {}", text(&end.stderr));
        assert_eq!(text(&end.stderr), "", "{arguments:?}");
    }
}
