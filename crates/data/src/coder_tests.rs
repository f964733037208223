//! Rows of every kind, and how they end.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::corpus::{Files, Memory};
use crate::tokens::{END, Kind, PAD, Recipe};

/// A tokenizer that learnt nothing but bytes, or the few words of these tests.
fn tokens(kind: Kind) -> Arc<Tokenizer> {
    let recipe = Recipe { kind, size: 300, ..Recipe::default() };
    Arc::new(Tokenizer::train(&recipe, ["the cat is on the table".to_owned()]).unwrap())
}

fn labels(names: &[&str]) -> Arc<Labels> {
    let examples = names.iter().map(|name| Example::new("a", *name)).collect();
    Arc::new(Labels::learn(Unit::Sequence, &mut Memory::new(examples)).unwrap())
}

fn tags(kind: Kind) -> Coder {
    Coder::Tags { tokens: tokens(kind), labels: labels(&["A", "B", "C"]) }
}

#[test]
fn texts_are_the_tokens_of_both_sides() {
    let pair = TokenizerPair { source: tokens(Kind::Byte), target: tokens(Kind::Word) };
    let example = Example::new("the cat", "");
    let rows = Coder::Texts(pair.clone()).encode(&example).unwrap();
    assert_eq!(rows, pair.encode(&example));
    let batches = Coder::Texts(pair).batches(&[rows], &Limits::examples(1)).unwrap();
    assert_eq!(batches[0].target.ids, [END]);
    assert_eq!(batches[0].target.asked(), 1);
}

#[test]
fn a_class_is_a_row_of_one_without_end() {
    let (tokens, labels) = (tokens(Kind::Word), labels(&["bad", "very good"]));
    let coder = Coder::Classes { tokens: tokens.clone(), labels };
    let rows = [("the cat", " very good "), ("is", "bad")]
        .map(|(source, target)| coder.encode(&Example::new(source, target)).unwrap());
    assert_eq!(rows, [(tokens.encode("the cat"), vec![1]), (tokens.encode("is"), vec![0])]);
    let batch = &coder.batches(&rows, &Limits::examples(2)).unwrap()[0];
    assert_eq!(batch.indices, [1, 0]);
    assert_eq!((batch.target.ids.as_slice(), batch.target.width), ([0, 1].as_slice(), 1));
    assert_eq!((batch.target.lengths.as_slice(), batch.target.asked()), ([1, 1].as_slice(), 2));
    assert_eq!(batch.source.tokens().unwrap().row(0), [tokens.encode("is")[0], END]);
}

#[test]
fn tags_stand_at_the_first_token_of_their_word() {
    let coder = tags(Kind::Byte);
    let rows = [Example::new("ab  c", "B A"), Example::new(" d ", "C")].map(|e| coder.encode(&e).unwrap());
    let batch = &coder.batches(&rows, &Limits::examples(2)).unwrap()[0];
    let byte = |letter: u8| 5 + u32::from(letter);
    assert_eq!(batch.source.tokens().unwrap().row(1), [byte(b'a'), byte(b'b'), byte(b' '), byte(b'c'), END]);
    assert_eq!(batch.target.row(1), [1, IGNORED, IGNORED, 0, IGNORED]);
    assert_eq!(batch.source.tokens().unwrap().ids[..5], [byte(b'd'), END, PAD, PAD, PAD]);
    assert_eq!(batch.target.ids[..5], [2, IGNORED, IGNORED, IGNORED, IGNORED]);
    assert_eq!(batch.target.lengths, [2, 5]);
    assert_eq!((batch.target.tokens(), batch.target.asked()), (7, 3));
}

#[test]
fn examples_that_cannot_be_used_are_told_or_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("s"), "a b\na b\na\n").unwrap();
    fs::write(path("t"), "A B\nA\nD\n").unwrap();
    fs::write(path("tsv"), "a b\tA B\n\na b\tA\na\tD\nb\tC").unwrap();
    let coder = tags(Kind::Word);
    let all = |files: &Files, skip_bad: bool| {
        let mut corpus = files.open(skip_bad).unwrap();
        let mut found = Vec::new();
        while let Some((example, rows)) = coder.read(&mut corpus)? {
            assert_eq!(coder.encode(&example).unwrap(), rows);
            found.push(example.target);
        }
        Ok::<_, DataError>((found, corpus.position().example, corpus.skipped()))
    };
    let parallel = Files::Parallel { source: path("s"), target: path("t") };
    let error = all(&parallel, false).unwrap_err().to_string();
    assert!(error.contains("/t, line 2: the source has 2 words, but the target 1 labels"), "{error}");
    assert_eq!(all(&parallel, true).unwrap(), (vec!["A B".into()], 1, 2));
    let tsv = Files::Tsv { path: path("tsv"), columns: [0, 1] };
    assert_eq!(all(&tsv, true).unwrap(), (vec!["A B".into(), "C".into()], 2, 3));
    fs::write(path("tsv"), "a b\tA B\r\na\tD\r\n").unwrap();
    let error = all(&tsv, false).unwrap_err().to_string();
    let expected = "/tsv, line 2: the label \"D\" is none of those learnt (A, B, C); correct it";
    assert!(error.contains(expected) && error.contains("skip_bad = true"), "{error}");
}

#[test]
fn in_memory_the_number_of_the_example_is_told() {
    let mut corpus = Memory::new(vec![Example::new("a", "A"), Example::new("a", "")]);
    let coder = tags(Kind::Word);
    assert!(coder.read(&mut corpus).unwrap().is_some());
    let error = coder.read(&mut corpus).unwrap_err().to_string();
    assert_eq!(error, "example 2 of the corpus: the target is empty; give it text");
}

proptest! {
    #[test]
    fn tags_are_as_wide_as_their_sources(
        words in prop::collection::vec(prop::collection::vec("[a-zè猫'.]{1,6}", 1..8), 1..6),
        kind in prop::sample::select(vec![Kind::Word, Kind::Char, Kind::Byte, Kind::Bpe, Kind::Unigram]),
    ) {
        let coder = tags(kind);
        let label = |number: usize| ["A", "B", "C"][number % 3];
        let examples: Vec<Example> = words.iter().map(|words| {
            let labels: Vec<&str> = (0..words.len()).map(label).collect();
            Example::new(words.join("  "), labels.join(" "))
        }).collect();
        let rows: Vec<Rows> = examples.iter().map(|example| coder.encode(example).unwrap()).collect();
        for batch in coder.batches(&rows, &Limits::examples(3)).unwrap() {
            prop_assert_eq!(&batch.source.tokens().unwrap().lengths, &batch.target.lengths);
            prop_assert_eq!(batch.source.tokens().unwrap().width, batch.target.width);
            for (row, index) in batch.indices.iter().enumerate() {
                let found: Vec<u32> =
                    batch.target.row(row).iter().copied().filter(|id| *id != IGNORED).collect();
                let expected: Vec<u32> = (0..words[*index as usize].len()).map(|word| word as u32 % 3).collect();
                prop_assert_eq!(found, expected);
            }
            let asked: usize = batch.indices.iter().map(|index| words[*index as usize].len()).sum();
            prop_assert_eq!(batch.target.asked(), asked);
            for row in 0..batch.rows() {
                let padding = &batch.target.ids[row * batch.target.width..][batch.target.lengths[row]..batch.target.width];
                prop_assert!(padding.iter().all(|id| *id == IGNORED));
            }
        }
    }
}
