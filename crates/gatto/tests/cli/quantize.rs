//! `gatto quantize`

use crate::models::{
    attentive, bidirectional, classifier, labeller, language_model, masked, model, transformer, translator,
    writer,
};
use crate::{gatto, json, names, refused, run, text, written};
use std::fs;
use std::path::Path;

/// A model in eight bits, in a folder of its own.
fn quantized(model: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let said = written(run(gatto(&["quantize"]).arg(model).arg("-o").arg(folder.path().join("small")), None));
    assert!(said.contains("matrices in eight bits") && said.ends_with('\n'), "{said}");
    assert_eq!(names(folder.path()), ["small"], "nothing else is left behind");
    folder
}

#[test]
fn a_model_in_eight_bits_gives_what_int8_gives() {
    let lines = "a b c\nthe film is [MASK] good\n\nthe cat sees the dog\n";
    for model in [
        model(),
        attentive(),
        transformer(),
        translator(),
        language_model(),
        classifier(),
        labeller(),
        masked(),
        writer(),
    ] {
        let folder = quantized(model);
        let small = folder.path().join("small");
        let predicted = |model: &Path, more: &[&str]| {
            written(run(gatto(&["predict", "--json"]).arg(model).args(more), Some(lines.as_bytes())))
        };
        let expected = predicted(model, &["--precision", "int8"]);
        assert_eq!(predicted(&small, &[]), expected, "{}", model.display());
        assert_eq!(predicted(&small, &["--precision", "int8"]), expected, "{}", model.display());
        assert_ne!(predicted(model, &[]), expected, "{}", model.display());
    }
}

#[test]
fn every_command_loads_it() {
    for model in [attentive(), transformer(), bidirectional()] {
        let folder = quantized(model);
        let small = folder.path().join("small");
        // The data of the model is found from the other folder too.
        let held = ["--examples", "20", "--part", "valid", "--json"];
        let evaluated = |model: &Path, more: &[&str]| {
            json(run(gatto(&["evaluate"]).arg(model).args(held).args(more), None))
        };
        assert_eq!(evaluated(&small, &[]), evaluated(model, &["--precision", "int8"]), "{}", model.display());
        let told = written(run(gatto(&["info"]).arg(&small), None));
        assert!(told.contains("\nprecision    int8 for ") && told.contains("  int8\n"), "{told}");
        let told = json(run(gatto(&["info", "--json"]).arg(&small), None));
        assert_eq!(told["precision"], "int8");
        let bytes = fs::metadata(small.join("model.safetensors")).expect("a file").len();
        assert_eq!(told["bytes"].as_u64(), Some(bytes));
        let before = json(run(gatto(&["info", "--json"]).arg(model), None));
        assert_eq!(before["precision"], "float");
        for key in ["parameters", "weights", "architecture"] {
            assert_eq!(told[key], before[key], "{key}");
        }
        assert!(before["bytes"].as_u64() > told["bytes"].as_u64(), "{told}");
    }
    for model in [attentive(), transformer()] {
        let folder = quantized(model);
        let small = folder.path().join("small");
        for (name, lines) in [("source", "a b\nc d e\n"), ("target", "b a\ne d c\n")] {
            fs::write(folder.path().join(name), lines).expect("written");
        }
        let scored = |model: &Path, more: &[&str]| {
            let mut command = gatto(&["score"]);
            command.arg(model).args(more);
            for side in ["source", "target"] {
                command.arg(format!("--{side}")).arg(folder.path().join(side));
            }
            written(run(&mut command, None))
        };
        assert_eq!(scored(&small, &[]), scored(model, &["--precision", "int8"]));
        // An explanation asks for gradients, of what the integers stand for.
        for flags in [&[][..], &["--explain"], &["--tree"]] {
            let drawn = written(run(gatto(&["look"]).arg(&small).arg("a b c").args(flags), None));
            assert!(!drawn.is_empty() && !drawn.contains("NaN"), "{drawn}");
        }
        let mut command = gatto(&["explain-report", "--examples", "3", "--part", "valid", "--json"]);
        let told = json(run(command.arg(&small), None));
        assert!(told["kendall_tau"]["gradient_and_erasure"].is_number(), "{told}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_a_remedy() {
    let folder = quantized(attentive());
    let small = folder.path().join("small");
    let files = names(&small);
    let float = refused(run(gatto(&["predict", "--precision", "float"]).arg(&small), Some(b"a\n")));
    assert!(
        float.contains("model.safetensors: holds weights of eight bits, which cannot be floats"),
        "{float}"
    );
    assert!(float.contains("take the model that it was made of"), "{float}");

    let again = folder.path().join("again");
    let twice = refused(run(gatto(&["quantize"]).arg(&small).arg("-o").arg(&again), None));
    assert!(twice.contains("cannot be quantised again"), "{twice}");

    let occupied = refused(run(gatto(&["quantize"]).arg(attentive()).arg("-o").arg(&small), None));
    assert!(occupied.contains("small: is there already and not an empty folder"), "{occupied}");
    fs::write(folder.path().join("file"), "mine").expect("written");
    let file =
        refused(run(gatto(&["quantize"]).arg(attentive()).arg("-o").arg(folder.path().join("file")), None));
    assert!(file.contains("file: is there already"), "{file}");
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("read"), "mine");

    let config = attentive().parent().expect("a folder").join("config.toml");
    for more in [&["--resume"][..], &[]] {
        let resumed =
            refused(run(gatto(&["train", "--quiet"]).arg(&config).arg("--out").arg(&small).args(more), None));
        let expected = if more.is_empty() { "holds a run" } else { "cannot be trained; take the model" };
        assert!(resumed.contains(expected), "{resumed}");
    }
    let from = format!(
        "{}\n[[init]]\nfrom = {small:?}\npart = \"encoder\"\n",
        fs::read_to_string(&config).expect("read")
    );
    let path = folder.path().join("init.toml");
    fs::write(&path, from).expect("written");
    let init = refused(run(
        gatto(&["train", "--quiet"]).arg(&path).arg("--out").arg(folder.path().join("run")),
        None,
    ));
    assert!(init.contains("which are for prediction and cannot be trained"), "{init}");

    let missing = refused(run(gatto(&["quantize", "no-such-run"]).arg("-o").arg(&again), None));
    assert!(missing.contains("no-such-run: is not a run directory"), "{missing}");
    let usage = run(gatto(&["quantize"]).arg(attentive()), None);
    assert_eq!(usage.status.code(), Some(2), "{}", text(&usage.stderr));
    assert_eq!(names(folder.path()), ["file", "init.toml", "small"], "nothing is left behind");
    assert_eq!(names(&small), files);

    // A folder that is there and empty is taken.
    fs::create_dir(&again).expect("created");
    written(run(gatto(&["quantize"]).arg(attentive()).arg("-o").arg(&again), None));
    assert_eq!(names(&again), files);
}
