//! What `gatto predict` says of where a model looked.

use crate::models::{POSITIONS, attentive, forgetful, located, model};
use crate::{gatto, json_lines, matrix, refused, run, snapshot, written};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn predict(model: &Path, more: &[&str]) -> Command {
    let mut command = gatto(&["predict"]);
    command.arg(model).args(more);
    command
}

/// 120 lines of one to four letters, in no order of length.
fn lines() -> String {
    let letter = |n: usize, k: usize| char::from(b'a' + ((n * 11 + k * (n + 5) + k * k) % 26) as u8);
    let line = |n: usize| (0..1 + n * 7 % 4).map(|k| letter(n, k).to_string()).collect::<Vec<_>>().join(" ");
    (0..120).map(|n| line(n) + "\n").collect()
}

type Links = BTreeSet<(usize, usize)>;

/// The text and the links of `text ||| 0-1 1-0`.
fn linked(line: &str) -> (&str, Links) {
    let (text, links) = line.split_once(" ||| ").expect("a text and its links");
    let link = |link: &str| {
        let (source, target) = link.split_once('-').expect("two words");
        (source.parse().expect("a number"), target.parse().expect("a number"))
    };
    (text, links.split(' ').filter(|link| !link.is_empty()).map(link).collect())
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn links_of(object: &Value) -> Links {
    let index = |value: &Value| value.as_u64().expect("an index") as usize;
    let links = object["links"].as_array().expect("a list").iter();
    links.map(|link| (index(&link[0]), index(&link[1]))).collect()
}

#[test]
fn a_model_that_reverses_looks_from_the_end_to_the_start() {
    let lines = lines();
    let plain = written(run(&mut predict(attentive(), &[]), Some(lines.as_bytes())));
    let found = written(run(&mut predict(attentive(), &["--alignment"]), Some(lines.as_bytes())));
    assert_eq!(
        found,
        written(run(&mut predict(attentive(), &["--alignment=links"]), Some(lines.as_bytes())))
    );
    assert_eq!(found.lines().count(), lines.lines().count());
    let (mut all, mut reversed) = (0, 0);
    for ((source, plain), line) in lines.lines().zip(plain.lines()).zip(found.lines()) {
        let (text, links) = linked(line);
        assert_eq!(text, plain, "links change nothing of the text");
        let length = words(source);
        assert!(links.iter().all(|&(i, j)| i < length && j < words(text)), "{source}: {line}");
        assert_eq!(links.len(), words(text), "one link for every word: {line}");
        all += links.len();
        reversed += links.iter().filter(|(i, j)| i + j + 1 == length).count();
    }
    assert!(reversed * 10 > all * 9, "{reversed} of {all} links are the reversal");
}

#[test]
fn soft_alignments_are_the_weights_of_words() {
    let lines = lines();
    let soft = written(run(&mut predict(attentive(), &["--alignment=soft"]), Some(lines.as_bytes())));
    let objects = json_lines(run(&mut predict(attentive(), &["--json"]), Some(lines.as_bytes())));
    assert_eq!((soft.lines().count(), objects.len()), (120, 120));
    for ((source, line), object) in lines.lines().zip(soft.lines()).zip(&objects) {
        let (text, rows) = line.split_once(" ||| ").expect("a text and its weights");
        assert_eq!(text, object["text"].as_str().expect("text"));
        let rows: Vec<Vec<f64>> = rows
            .split_whitespace()
            .map(|row| row.split(',').map(|weight| weight.parse().expect("a number")).collect())
            .collect();
        assert_eq!(rows.len(), words(text), "{line}");
        // What the end of the source got is left out of the words, and so is the row of the target's end.
        for (row, exact) in rows.iter().zip(matrix(&object["weights"])) {
            assert_eq!(row.len(), words(source), "{line}");
            assert!(row.iter().sum::<f64>() <= 1.0 + 1e-3, "{line}");
            assert!(row.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-4), "{row:?} {exact:?}");
        }
    }
}

#[test]
fn json_has_the_weights_of_every_token() {
    let lines = lines();
    let objects = json_lines(run(&mut predict(attentive(), &["--json"]), Some(lines.as_bytes())));
    let found = written(run(&mut predict(attentive(), &["--alignment"]), Some(lines.as_bytes())));
    for ((source, object), line) in lines.lines().zip(&objects).zip(found.lines()) {
        let mut tokens: Vec<&str> = source.split(' ').collect();
        tokens.push("⟨/s⟩");
        assert_eq!(object["source_tokens"], serde_json::json!(tokens));
        let weights = matrix(&object["weights"]);
        assert_eq!(weights.len(), object["tokens"].as_array().expect("tokens").len() + 1, "{object}");
        for row in &weights {
            assert_eq!(row.len(), tokens.len());
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-4, "{object}");
        }
        assert_eq!(links_of(object), linked(line).1);
    }
}

#[test]
fn a_share_links_every_word_that_has_it() {
    let lines = lines();
    let mut command = predict(attentive(), &["--json", "--link-share", "0.001"]);
    let objects = json_lines(run(&mut command, Some(lines.as_bytes())));
    let mut more = 0;
    for object in &objects {
        let mut weights = matrix(&object["weights"]);
        weights.pop(); // the end of the target is no word
        let mut expected = Links::new();
        for (target, row) in weights.iter().enumerate() {
            let row = &row[..row.len() - 1]; // nor is that of the source
            let most = row.iter().copied().fold(0.0, f64::max);
            expected.extend((0..row.len()).filter(|&i| row[i] >= 0.001 * most).map(|i| (i, target)));
        }
        more += expected.len() - weights.len();
        assert_eq!(links_of(object), expected, "{object}");
    }
    assert!(more > 0, "no word has a second link: a larger share would be the same");
}

#[test]
fn alignments_do_not_depend_on_what_is_computed_together() {
    let lines = lines();
    let objects = |batch: &str| {
        let mut command = predict(attentive(), &["--json", "--batch", batch]);
        json_lines(run(&mut command, Some(lines.as_bytes())))
    };
    for (one, many) in objects("1").iter().zip(&objects("64")) {
        for key in ["source", "text", "tokens", "source_tokens", "links", "finished"] {
            assert_eq!(one[key], many[key], "{key}");
        }
        for (a, b) in matrix(&one["weights"]).iter().flatten().zip(matrix(&many["weights"]).iter().flatten())
        {
            assert!((a - b).abs() < 1e-4, "{a} alone and {b} in a batch: {}", one["source"]);
        }
    }
}

/// A word that is not in the vocabulary is not printed, and the words behind it are counted without it.
#[test]
fn links_count_the_words_that_are_printed() {
    let lines = lines();
    let objects = json_lines(run(&mut predict(forgetful(), &["--json"]), Some(lines.as_bytes())));
    let soft = written(run(&mut predict(forgetful(), &["--alignment=soft"]), Some(lines.as_bytes())));
    let mut before_another = 0;
    for (object, soft) in objects.iter().zip(soft.lines()) {
        let tokens = object["tokens"].as_array().expect("tokens");
        let printed: Vec<usize> = (0..tokens.len()).filter(|&at| tokens[at] != "⟨unk⟩").collect();
        before_another += usize::from(printed.iter().enumerate().any(|(word, &token)| word != token));
        let weights = matrix(&object["weights"]);
        let most = |row: &[f64]| (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let expected: Links = printed
            .iter()
            .enumerate()
            .filter_map(|(word, &token)| Some((most(&weights[token][..weights[token].len() - 1])?, word)))
            .collect();
        assert_eq!(links_of(object), expected, "{object}");
        let (text, rows) = soft.split_once(" ||| ").expect("a text and its weights");
        assert_eq!((rows.split_whitespace().count(), words(text)), (printed.len(), printed.len()), "{soft}");
    }
    assert!(before_another > 5, "only {before_another} outputs have an unknown word before a known one");
}

#[test]
fn without_attention_there_is_no_alignment() {
    let said = refused(run(&mut predict(model(), &["--alignment"]), Some(b"a b\n")));
    snapshot("predict-no-attention", &said, model().parent());
}

/// Of `location` attention: it has a weight for each position, and no more positions than it was built with.
#[test]
fn a_source_beyond_the_positions_is_named_by_its_line() {
    let longest = "abcdefghijk"; // and its end
    assert_eq!(longest.len() + 1, POSITIONS);
    let fits = format!("a b\n{longest}\n");
    let found = written(run(&mut predict(located(), &["--alignment"]), Some(fits.as_bytes())));
    assert_eq!(found.lines().count(), 2);
    let said = refused(run(&mut predict(located(), &[]), Some(format!("{fits}{longest}l\nb\n").as_bytes())));
    snapshot("predict-beyond-positions", &said, None);
    let said = refused(run(gatto(&["look"]).arg(located()).arg(format!("{longest}l")), None));
    snapshot("look-beyond-positions", &said, None);
}
