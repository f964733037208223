//! `gatto metric`

use crate::{gatto, json, numbers, refused, run, text, written};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const REFERENCES: &str = "The cat is on the mat.\nIl gatto dorme bene sul divano.\n";
const MORE_REFERENCES: &str = "A cat sits on the mat.\nIl gatto dorme sul divano.\n";
const OUTPUTS: &str = "The cat sat on the mat.\nIl gatto dorme sul divano.\n";
const OTHER_OUTPUTS: &str = "The dog is on a mat.\nUn gatto dorme.\n";

/// A folder with the files of a corpus of two lines.
fn corpus() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("references", REFERENCES),
        ("more", MORE_REFERENCES),
        ("outputs", OUTPUTS),
        ("others", OTHER_OUTPUTS),
        ("short", "one\n"),
        ("empty", ""),
    ];
    for (name, lines) in files {
        fs::write(folder.path().join(name), lines).expect("written");
    }
    folder
}

/// `gatto metric` within the folder of a corpus, with arguments that white space separates.
fn metric(folder: &TempDir, arguments: &str) -> Command {
    let mut command = gatto(&["metric"]);
    command.args(arguments.split_whitespace()).current_dir(folder.path());
    command
}

/// What is written, with the version left out.
fn scored(folder: &TempDir, arguments: &str) -> String {
    let found = written(run(&mut metric(folder, arguments), None));
    found.replace(&format!("version:gatto-{}", env!("CARGO_PKG_VERSION")), "VERSION")
}

#[test]
fn every_metric_scores_a_corpus_of_two_lines() {
    let folder = corpus();
    let expected = [
        (
            "bleu references -i outputs",
            "BLEU = 42.07 92.3/72.7/44.4/14.3 (BP = 0.926 ratio = 0.929 hyp_len = 13 ref_len = 14)\n\
             nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|VERSION\n",
        ),
        (
            "bleu references more -i outputs",
            "BLEU = 73.24 92.3/81.8/66.7/57.1 (BP = 1.000 ratio = 1.000 hyp_len = 13 ref_len = 13)\n\
             nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|VERSION\n",
        ),
        (
            "chrf references -i outputs --word-order 2",
            "chrF2++ = 74.70\nnrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|VERSION\n",
        ),
        (
            "ter references -i outputs",
            "TER = 16.67\nnrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|VERSION\n",
        ),
        (
            "wer references -i outputs --lowercase",
            "WER = 16.67 %  (substitutions 1, deletions 1, insertions 0, of 12)\n\
             nrefs:1|case:lc|punct:yes|VERSION\n",
        ),
        (
            "per references -i outputs",
            "PER = 16.67 %  (substitutions 1, deletions 1, insertions 0, of 12)\n\
             nrefs:1|case:mixed|punct:yes|VERSION\n",
        ),
        (
            "rouge references -i outputs",
            "ROUGE-1 = 87.12 %  (precision 91.67 %, recall 83.33 %)\n\
             ROUGE-2 = 63.33 %  (precision 67.50 %, recall 60.00 %)\n\
             ROUGE-L = 87.12 %  (precision 91.67 %, recall 83.33 %)\n\
             nrefs:1|stem:no|VERSION\n",
        ),
        ("exact references more -i outputs", "exact match = 50.00 %  (1 of 2)\nnrefs:2|VERSION\n"),
        ("exact references -i outputs", "exact match = 0.00 %  (0 of 2)\nnrefs:1|VERSION\n"),
    ];
    for (arguments, expected) in expected {
        assert_eq!(scored(&folder, arguments), expected, "{arguments}");
    }
    // 8 of 53 characters: `is` for `sat`, and `bene` with its space.
    let found = json(run(&mut metric(&folder, "cer references -i outputs --json"), None));
    assert_eq!((&found["name"], &found["reference_length"]), (&"CER".into(), &53.into()));
    let edits =
        ["substitutions", "deletions", "insertions"].map(|kind| found[kind].as_u64().expect("a count"));
    assert_eq!(edits.iter().sum::<u64>(), 8, "{found}");
    assert!((found["score"].as_f64().expect("a score") - 800.0 / 53.0).abs() < 1e-9, "{found}");
}

#[test]
fn outputs_may_come_through_standard_input() {
    let folder = corpus();
    let piped = written(run(&mut metric(&folder, "bleu references"), Some(OUTPUTS.as_bytes())));
    assert_eq!(piped, written(run(&mut metric(&folder, "bleu references -i outputs"), None)));
}

#[test]
fn lines_are_scored_one_by_one() {
    let folder = corpus();
    assert_eq!(scored(&folder, "bleu references -i outputs --lines"), "48.89\n43.01\n");
    assert_eq!(scored(&folder, "exact more -i outputs --lines"), "0.00\n100.00\n");
    assert_eq!(
        scored(&folder, "rouge references -i outputs --lines"),
        "83.33\t60.00\t83.33\n90.91\t66.67\t90.91\n"
    );
    let found = json(run(&mut metric(&folder, "wer references -i outputs --lines --json"), None));
    assert!(numbers(&found["lines"]).iter().all(|score| (score - 100.0 / 6.0).abs() < 1e-9), "{found}");
    assert!(found["score"].is_null(), "{found}");
    // Two words have no n-grams of four: without the effective order, the same line would score 0.
    fs::write(folder.path().join("short"), "due parole\n").expect("written");
    assert_eq!(scored(&folder, "bleu short -i short --lines"), "100.00\n");
    assert!(scored(&folder, "bleu short -i short").starts_with("BLEU = 0.00 "));
    assert!(scored(&folder, "bleu short -i short --effective-order").starts_with("BLEU = 100.00 "));
}

#[test]
fn chance_is_told_from_more_than_chance() {
    let folder = corpus();
    let found = scored(&folder, "bleu references -i outputs --confidence --samples 100");
    assert!(found.starts_with("BLEU = 42.07 (μ = "), "{found}");
    assert!(found.contains("\nnrefs:1|bs:100|seed:12345|case:mixed|"), "{found}");

    let found = scored(&folder, "chrf references -i outputs --against others");
    let lines: Vec<&str> = found.lines().collect();
    assert!(lines[0].starts_with("chrF2 = ") && lines[2].starts_with("others: chrF2 = "), "{found}");
    assert!(lines[3].starts_with("difference = +"), "{found}");
    assert!(lines[3].ends_with(" (paired bootstrap, 1000 samples)"), "{found}");

    // The trial that was really made counts too, so nine trials cannot tell less than a tenth.
    let arguments = "ter references -i outputs --against others --test randomisation --trials 9 --json";
    let found = json(run(&mut metric(&folder, arguments), None));
    assert!(
        found["signature"].as_str().expect("a signature").starts_with("nrefs:1|ar:9|seed:12345|"),
        "{found}"
    );
    let p_value = found["p_value"].as_f64().expect("a p-value");
    assert!((0.1..=1.0).contains(&p_value), "{found}");
    let [system, other] =
        [&found["score"], &found["against"]["score"]].map(|score| score.as_f64().expect("one"));
    assert_eq!(found["difference"].as_f64(), Some(system - other));
    assert_eq!(found["against"]["file"], "others");
}

#[test]
fn texts_that_do_not_go_together_are_refused() {
    let folder = corpus();
    let remedy = "give as many lines of each, in the same order, empty where there is no text";
    let cases = [
        ("bleu references -i short", "short has 1 line but references has 2 lines"),
        ("wer references short -i outputs", "outputs has 2 lines but short has 1 line"),
        ("ter references -i outputs --against short", "short has 1 line but outputs has 2 lines"),
    ];
    for (arguments, expected) in cases {
        let said = refused(run(&mut metric(&folder, arguments), None));
        assert_eq!(said, format!("error: {expected}; {remedy}\n"), "{arguments}");
    }
    for name in ["bleu", "chrf", "ter", "wer", "cer", "per", "rouge", "exact"] {
        let remedy = "is empty; give it one line for each text to score";
        let said = refused(run(&mut metric(&folder, &format!("{name} empty -i outputs")), None));
        assert_eq!(said, format!("error: empty: {remedy}\n"), "{name}");
        let said = refused(run(&mut metric(&folder, &format!("{name} references")), None));
        assert_eq!(said, format!("error: standard input: {remedy}\n"), "{name}");
        let said = refused(run(&mut metric(&folder, &format!("{name} no-such-file -i outputs")), None));
        assert!(said.contains("no-such-file"), "{said}");
    }
}

#[test]
fn flags_of_other_metrics_are_refused() {
    let folder = corpus();
    for (arguments, expected) in [
        ("wer references -i outputs --tokenize 13a", "--tokenize"),
        ("exact references -i outputs --confidence", "--confidence"),
        ("per references -i outputs --lowercase", "--lowercase"),
        ("bleu references -i outputs --samples 9", "--confidence|--against <FILE>"),
        ("bleu references -i outputs --test bootstrap", "--against <FILE>"),
        ("bleu references -i outputs --lines --confidence", "--lines"),
        ("bleu references -i outputs --tokenize words", "13a, intl, char, zh, none"),
        ("bleu", "<REF>..."),
    ] {
        let output = run(&mut metric(&folder, arguments), None);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    for (arguments, expected) in [
        ("bleu references -i outputs --smooth-value 1", "takes no value"),
        ("chrf references -i outputs --char-order 0", "--word-order 0"),
        ("bleu references -i outputs --against others --trials 9", "--test randomisation"),
        ("bleu references -i outputs --against others --test randomisation --samples 9", "--trials"),
    ] {
        let said = refused(run(&mut metric(&folder, arguments), None));
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

/// A folder with a file for each name and text.
fn files(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, lines) in files {
        fs::write(folder.path().join(name), lines).expect("written");
    }
    folder
}

#[test]
fn labels_and_spans_are_counted() {
    let folder = files(&[
        ("gold", "good\nbad\ngood\nso so\n"),
        ("told", "good\ngood\ngood\nso so\n"),
        ("tags", "B-PER I-PER O B-LOC\nO B-ORG\n"),
        ("found", "B-PER I-PER O B-ORG\nO B-ORG\n"),
        ("short", "B-PER I-PER O\nO B-ORG\n"),
    ]);
    let found = scored(&folder, "labels gold -i told --confusion");
    let rows: Vec<&str> = found.lines().collect();
    assert_eq!(rows[0], "accuracy = 75.00 %  (3 of 4)  [30.06, 95.44]");
    // F1: bad 0, good 2 · 2/3 · 1 / (2/3 + 1) = 0.8, so so 1.
    assert_eq!(rows[1], "F1: micro 75.00 %, macro 60.00 %, weighted 65.00 %");
    assert_eq!(rows[4], "good     66.67 %  100.00 %   80.00 %         2");
    assert_eq!(
        rows[6..],
        [
            "reference  bad  good  so so",
            "bad          0     1      0",
            "good         0     2      0",
            "so so        0     0      1"
        ]
    );
    let all = json(run(&mut metric(&folder, "labels gold -i told --confusion --json"), None));
    assert_eq!(numbers(&all["confusion"]["counts"][0]), [0.0, 1.0, 0.0]);
    let words = scored(&folder, "labels tags -i found --words");
    assert!(words.starts_with("accuracy = 83.33 %  (5 of 6)"), "{words}");
    let spans = scored(&folder, "spans tags -i found");
    assert!(spans.starts_with("span F1 = 66.67 %  (2 right of 3 found, 3 in the references)"), "{spans}");
    assert!(spans.contains("ORG     50.00 %  100.00 %   66.67 %         1"), "{spans}");
    let said = refused(run(&mut metric(&folder, "spans tags -i short"), None));
    assert!(said.contains("short, line 1: has 3 labels and its reference 4"), "{said}");
}

#[test]
fn perplexity_alignment_and_calibration_are_measured() {
    let folder = files(&[
        ("texts", "ab c\nd\n"),
        ("logs", "-2.0\n-3.0\n"),
        ("gold", "0-0 1?2\n0-0\n"),
        ("links", "0-0 1-2\n0-1\n"),
        ("labels", "yes\nno\nyes\nyes\n"),
        ("sure", "0.9 yes\n0.8 no\n0.7 no\n0.4 no\n"),
        ("bad", "x\n0-0\n"),
    ]);
    let found = scored(&folder, "perplexity texts -i logs");
    // e^(5/5) for five words with their ends, e^(5/7) for five characters and two ends.
    assert!(found.starts_with("perplexity = 2.7183 per word  (5 words with their ends)"), "{found}");
    let said = refused(run(&mut metric(&folder, "perplexity texts -i bad"), None));
    assert!(said.contains("bad, line 1: `x` is no log-probability"), "{said}");
    // Found 3 links, 2 of them possible, 1 sure one of 2: 1 − (1 + 2) / (3 + 2).
    let found = scored(&folder, "alignment gold -i links");
    assert_eq!(found, "alignment error rate = 0.4000  (precision 0.6667, recall 0.5000)\n");
    let said = refused(run(&mut metric(&folder, "alignment gold -i bad"), None));
    assert!(said.contains("bad, line 1"), "{said}");
    let found = scored(&folder, "calibration labels -i sure --bins 2");
    assert!(found.starts_with("expected calibration error = 20.00 %  (4 answers)"), "{found}");
    let all = json(run(&mut metric(&folder, "calibration labels -i sure --bins 2 --json"), None));
    assert_eq!(all["bins"][1]["count"], 3);
    let said = refused(run(&mut metric(&folder, "calibration gold -i links"), None));
    assert!(said.contains("is no confidence from 0 to 1 and a label behind it"), "{said}");
}
