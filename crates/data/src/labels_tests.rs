//! Labels learnt and read, and files that none may trip over.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::corpus::{Files, Memory};

fn corpus(pairs: &[(&str, &str)]) -> Memory {
    Memory::new(pairs.iter().map(|(source, target)| Example::new(*source, *target)).collect())
}

/// What reading a folder with this `labels.json` says.
fn load(content: &[u8]) -> Result<Labels, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), content).unwrap();
    Labels::load(folder.path()).map_err(|error| error.to_string())
}

#[test]
fn a_sequence_has_one_label_and_a_word_each_its_own() {
    let pairs = [("the cat", " very  good "), ("a dog", "bad bad")];
    let mut corpus = corpus(&pairs);
    let classes = Labels::learn(Unit::Sequence, &mut corpus).unwrap();
    assert_eq!(classes.names(), ["bad bad", "very  good"]);
    assert_eq!(corpus.position(), Position::start());
    let tags = Labels::learn(Unit::Word, &mut corpus).unwrap();
    assert_eq!(tags.names(), ["bad", "good", "very"]);
    assert_eq!((tags.len(), tags.id("good"), tags.id("Good")), (3, Some(1), None));
    assert_eq!((tags.name(2), tags.name(3)), (Some("very"), None));
    assert_eq!(tags.ids(Unit::Word, &Example::new("x\u{3000}y", "very\tbad")).unwrap(), [2, 0]);
}

#[test]
fn what_is_wrong_with_a_label_is_told() {
    let labels = Labels::learn(Unit::Word, &mut corpus(&[("a b", "N V")])).unwrap();
    let long = "x".repeat(MAX_NAME + 1);
    for (unit, source, target, problem) in [
        (Unit::Word, "a b", "N X", "the label \"X\" is none of those learnt (N, V); correct it"),
        (Unit::Word, "a b", "N", "the source has 2 words, but the target 1 labels; write one"),
        (Unit::Word, "a", "N V V", "the source has 1 words, but the target 3 labels"),
        (Unit::Word, "a", " ", "the target is empty"),
        (Unit::Word, " ", " ", "the source is empty"),
        (Unit::Word, "a", &long, "xxx…\" is no label, which has at most 256 bytes"),
        (Unit::Sequence, "a b", "N V", "the label \"N V\" is none of those learnt"),
        (Unit::Sequence, "a b", "\t", "the target is empty"),
        (Unit::Sequence, "a b", "N\nV", "\"N\\nV\" is no label"),
    ] {
        let found = labels.ids(unit, &Example::new(source, target)).unwrap_err().to_string();
        assert!(found.contains(problem), "{found}");
        assert!(found.len() < 300, "{found}");
    }
}

#[test]
fn messages_name_a_few_labels_only() {
    let names: Vec<String> = (0..1000).map(|number| format!("{number:0>200}")).collect();
    let labels = Labels::learn(Unit::Word, &mut corpus(&[(&"w ".repeat(1000), &names.join(" "))])).unwrap();
    let found = labels.ids(Unit::Word, &Example::new("a", "b")).unwrap_err().to_string();
    assert!(found.contains(", …); correct it") && found.len() < 1200, "{found}");
}

#[test]
fn a_corpus_without_labels_or_with_far_too_many_is_refused() {
    assert!(matches!(Labels::learn(Unit::Sequence, &mut corpus(&[])), Err(DataError::NoLabels)));
    let texts = |count: usize| {
        let example = |number: usize| Example::new("a", format!("sentence {number}"));
        Memory::new((0..count).map(example).collect())
    };
    assert_eq!(Labels::learn(Unit::Sequence, &mut texts(MAX_LABELS)).unwrap().len(), MAX_LABELS);
    let error = Labels::learn(Unit::Sequence, &mut texts(MAX_LABELS + 1)).unwrap_err().to_string();
    assert!(error.contains("more than 65536 different labels; check that its target"), "{error}");
}

#[test]
fn lines_without_right_labels_are_named_or_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tags.tsv");
    fs::write(&path, "a b\tN V\nno tab\na b\tADJ\nc\tX\n").unwrap();
    let files = Files::Tsv { path, columns: [0, 1] };
    let mut corpus = files.open(true).unwrap();
    let labels = Labels::learn(Unit::Word, &mut corpus).unwrap();
    assert_eq!(labels.names(), ["N", "V", "X"]);
    fs::write(folder.path().join("tags.tsv"), "a b\tN V\na b\tN\n").unwrap();
    let error = Labels::learn(Unit::Word, &mut files.open(false).unwrap()).unwrap_err().to_string();
    assert!(error.contains("tags.tsv, line 2: the source has 2 words, but the target 1 labels"), "{error}");
    assert!(error.ends_with("or set `skip_bad = true` to pass over such lines"), "{error}");
}

#[test]
fn what_was_saved_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!Labels::is_in(folder.path()));
    assert!(matches!(Labels::load(folder.path()), Err(DataError::Read { path, .. }) if path.ends_with(FILE)));
    let pairs = [("a", "\"quoted\""), ("a", "back\\slash"), ("a", "più bello 🐈"), ("a", "B-PER")];
    let labels = Labels::learn(Unit::Sequence, &mut corpus(&pairs)).unwrap();
    labels.save(folder.path()).unwrap();
    assert!(Labels::is_in(folder.path()));
    assert_eq!(Labels::load(folder.path()).unwrap(), labels);
    let error = labels.save(&folder.path().join("missing")).unwrap_err().to_string();
    assert!(error.contains("labels.json: cannot be written"), "{error}");
}

#[test]
fn ids_follow_the_order_of_the_file() {
    let labels = load(b"[\"positive\", \"negative\"]").unwrap();
    assert_eq!((labels.id("positive"), labels.id("negative")), (Some(0), Some(1)));
}

#[test]
fn the_largest_list_comes_back_and_a_larger_is_refused() {
    let name = |number: usize| format!("{number:\"<256}"); // every byte escaped, but the number's
    let mut labels = Labels::default();
    (0..MAX_LABELS).for_each(|number| labels.add(name(number)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    labels.save(folder.path()).unwrap();
    assert_eq!(Labels::load(folder.path()).unwrap(), labels);
    let mut names = labels.names;
    names.push("one more".to_owned());
    let error = load(&serde_json::to_vec(&names).unwrap()).unwrap_err();
    assert!(error.contains("there are more than 65536 labels"), "{error}");
}

#[test]
fn hostile_files_are_refused() {
    let deep = "[".repeat(100_000);
    let long = format!("[\"{}\"]", "x".repeat(MAX_NAME + 1));
    for (content, problem) in [
        ("", "EOF"),
        ("[]", "the list is empty"),
        ("{}", "expected a list of names"),
        ("[\"a\", 1]", "expected a string"),
        ("[\"a\", null]", "expected a string"),
        (deep.as_str(), "expected a string"),
        ("[\"a\",\n\"\"]", "\"\" is no name of a label at line 2"),
        ("[\"a\", \" b\"]", "\" b\" is no name"),
        ("[\"a\", \"b\\u0000\"]", "is no name"),
        ("[\"a\", \"b\\nc\"]", "is no name"),
        (long.as_str(), "xxx…\" is no name"),
        ("[\"a\", \"b\", \"a\"]", "label \"a\" stands twice"),
        ("[\"a\"", "EOF"),
        ("[\"a\"] []", "trailing characters"),
        ("[\"\\ud800\"]", "escape"),
    ] {
        let error = load(content.as_bytes()).unwrap_err();
        assert!(error.contains(problem), "{error}");
        assert!(error.contains("labels.json: is not a list of labels that Gatto wrote"), "{error}");
        assert!(error.ends_with("train again, or restore the file"), "{error}");
    }
    assert!(load(b"[\"\xff\"]").is_err());
    let huge = [b"[\"a\"".as_slice(), &vec![b' '; MAX_FILE as usize], b"]"].concat();
    assert!(load(&huge).unwrap_err().contains("larger than 64 MiB"));
}

proptest! {
    #[test]
    fn whatever_was_learnt_comes_back(targets in prop::collection::vec(".{0,12}", 1..20)) {
        let examples: Vec<Example> = targets.iter().map(|target| Example::new("source", target)).collect();
        let usable: Vec<Example> =
            examples.into_iter().filter(|example| Unit::Sequence.names(example).is_ok()).collect();
        prop_assume!(!usable.is_empty());
        let labels = Labels::learn(Unit::Sequence, &mut Memory::new(usable.clone())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        labels.save(folder.path()).unwrap();
        let loaded = Labels::load(folder.path()).unwrap();
        prop_assert_eq!(&loaded, &labels);
        prop_assert!(labels.names().is_sorted());
        for example in &usable {
            let ids = loaded.ids(Unit::Sequence, example).unwrap();
            prop_assert_eq!(loaded.name(ids[0]), Some(example.target.trim()));
        }
    }

    #[test]
    fn no_file_makes_a_panic(content in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = load(&content);
    }

    #[test]
    fn the_order_of_the_corpus_does_not_matter(order in Just((0..30u32).collect::<Vec<_>>()).prop_shuffle()) {
        let example = |number: &u32| Example::new("a", format!("label {}", number % 11));
        let shuffled = Memory::new(order.iter().map(example).collect());
        let sorted = Memory::new((0..11).map(|number| example(&number)).collect());
        let [left, right] = [shuffled, sorted].map(|mut corpus| Labels::learn(Unit::Sequence, &mut corpus).unwrap());
        prop_assert_eq!(left, right);
    }
}
