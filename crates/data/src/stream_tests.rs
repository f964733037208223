//! Order, completeness, limits and exact resumption of training batches.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::batch::IGNORED;
use crate::corpus::{Files, Memory};
use crate::labels::{Labels, Unit};
use crate::tokens::{END, Kind, Recipe, Tokenizer, TokenizerPair};

fn bytes() -> Tokenizer {
    Tokenizer::train(&Recipe { kind: Kind::Byte, ..Recipe::default() }, []).unwrap()
}

fn texts() -> Coder {
    Coder::Texts(TokenizerPair::together(bytes()))
}

/// `count` examples of lengths from 1 to 12; no two are alike.
fn examples(count: usize) -> Vec<Example> {
    let text = |seed: usize| format!("{}{seed}", "x".repeat(seed * 7 % 10));
    (0..count).map(|i| Example::new(text(i), text(i + 3))).collect()
}

fn settings(pool: usize) -> StreamSettings {
    StreamSettings { seed: 7, pool, limits: Limits::tokens(40), max_length: 20, thinning: None }
}

fn memory(count: usize) -> Box<dyn Corpus> {
    Box::new(Memory::new(examples(count)))
}

/// The batches of so many passes.
fn passes(stream: &mut BatchStream, count: u64) -> Vec<Batch> {
    let end = stream.epoch() + count;
    let mut batches = Vec::new();
    loop {
        let batch = stream.next().unwrap();
        if stream.epoch() == end {
            return batches;
        }
        batches.push(batch);
    }
}

fn indices(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| batch.indices.iter().copied()).collect()
}

#[test]
fn the_seed_makes_the_order() {
    let run = |seed| {
        let mut stream =
            BatchStream::new(memory(50), texts(), StreamSettings { seed, ..settings(1000) }).unwrap();
        passes(&mut stream, 2)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    let both = indices(&run(7));
    let (first, second) = both.split_at(50);
    assert_ne!(first, second, "each pass has its own order");
    assert_ne!(first, (0..50).collect::<Vec<_>>());
}

#[test]
fn rows_are_the_examples_they_are_numbered_as() {
    let (all, coder) = (examples(30), texts());
    let mut stream = BatchStream::new(memory(30), coder.clone(), settings(8)).unwrap();
    for batch in passes(&mut stream, 2) {
        for (row, index) in batch.indices.iter().enumerate() {
            let (mut source, mut target) = coder.encode(&all[*index as usize]).unwrap();
            source.push(END);
            target.push(END);
            assert_eq!(batch.source.tokens().unwrap().row(row), source);
            assert_eq!(batch.target.row(row), target);
        }
    }
}

#[test]
fn a_pool_is_shuffled_within_itself_only() {
    let mut stream = BatchStream::new(memory(20), texts(), settings(5)).unwrap();
    let order = indices(&passes(&mut stream, 1));
    for (pool, found) in order.chunks(5).enumerate() {
        let expected: BTreeSet<u64> = (pool as u64 * 5..pool as u64 * 5 + 5).collect();
        assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected);
    }
}

/// Every kind of corpus with the same examples, plain and gzipped, and some bad lines to pass over.
fn corpora(folder: &std::path::Path, count: usize) -> Vec<Files> {
    let all = examples(count);
    let column = |side: fn(&Example) -> &str| {
        all.iter().map(|example| format!("{}\n", side(example))).collect::<String>()
    };
    let source = format!("\n{}", column(|example| &example.source));
    let target = format!("bad\n{}surplus\n", column(|example| &example.target));
    let tsv: String =
        all.iter().map(|example| format!("{}\t{}\nbad\n", example.source, example.target)).collect();
    let jsonl: String =
        all.iter().map(|example| format!("{{}}\r\n{}\n", serde_json::to_string(example).unwrap())).collect();
    let text = format!("\u{feff}\n{}", column(|example| &example.target));
    let mut files = Vec::new();
    for zipped in [false, true] {
        let file = |name: &str, content: &str| {
            let path = folder.join(format!("{name}{zipped}"));
            if zipped {
                let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                gzip.write_all(content.as_bytes()).unwrap();
                fs::write(&path, gzip.finish().unwrap()).unwrap();
            } else {
                fs::write(&path, content).unwrap();
            }
            path
        };
        files.push(Files::Parallel { source: file("s", &source), target: file("t", &target) });
        files.push(Files::Tsv { path: file("tsv", &tsv), columns: [0, 1] });
        files.push(Files::Jsonl { path: file("jsonl", &jsonl), keys: ["source".into(), "target".into()] });
        files.push(Files::Single { path: file("text", &text) });
    }
    files
}

/// Resumes at every batch of two passes, from the state as it would be saved, and compares the rest.
fn resume_everywhere(
    name: &str,
    open: &dyn Fn() -> Box<dyn Corpus>,
    coder: &Coder,
    settings: &StreamSettings,
) {
    let mut stream = BatchStream::new(open(), coder.clone(), settings.clone()).unwrap();
    let mut states = Vec::new();
    let mut batches = Vec::new();
    while stream.epoch() < 2 {
        let left_out = (stream.dropped(), stream.skipped());
        states.push((serde_json::to_string(&stream.state()).unwrap(), left_out));
        batches.push(stream.next().unwrap());
    }
    for (at, (state, left_out)) in states.iter().enumerate() {
        let state: StreamState = serde_json::from_str(state).unwrap();
        let mut resumed = BatchStream::resume(open(), coder.clone(), settings.clone(), state).unwrap();
        assert_eq!((resumed.dropped(), resumed.skipped()), *left_out, "{name} at {at}");
        for (number, batch) in batches.iter().enumerate().skip(at) {
            assert_eq!(&resumed.next().unwrap(), batch, "{name}: batch {number} resumed at {at}");
        }
    }
}

#[test]
fn resuming_is_exact_everywhere_for_every_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = corpora(folder.path(), 23);
    for max_length in [9, 20] {
        for pool in [6, 23, 100] {
            let settings = StreamSettings { max_length, ..settings(pool) };
            for files in &kinds {
                let open = || Box::new(files.open(true).unwrap()) as Box<dyn Corpus>;
                resume_everywhere(&format!("{files:?}"), &open, &texts(), &settings);
            }
            resume_everywhere("memory", &|| memory(23), &texts(), &settings);
        }
    }
}

#[test]
fn bad_lines_are_counted_in_each_pass() {
    let folder = tempfile::tempdir().unwrap();
    let files = &corpora(folder.path(), 10)[1];
    let mut stream = BatchStream::new(Box::new(files.open(true).unwrap()), texts(), settings(100)).unwrap();
    for _ in 0..3 {
        assert_eq!(stream.skipped(), 10);
        passes(&mut stream, 1);
    }
}

#[test]
fn nothing_to_train_on_is_an_error() {
    let message = |corpus, max_length| {
        let settings = StreamSettings { max_length, ..settings(2) };
        let mut stream = BatchStream::new(corpus, texts(), settings).unwrap();
        let first = stream.next().unwrap_err().to_string();
        assert_eq!(stream.next().unwrap_err().to_string(), first, "and it stays one");
        first
    };
    assert!(message(memory(0), 20).contains("no usable example (0 read"));
    let long = vec![Example::new("x", "y".repeat(21)); 5];
    let found = message(Box::new(Memory::new(long)), 20);
    assert!(found.contains("5 read") && found.contains("5 longer than max_length = 20 tokens"), "{found}");
}

#[test]
fn over_long_examples_are_dropped_and_counted() {
    let mut all = examples(6);
    all.insert(2, Example::new("y".repeat(21), "z"));
    all.insert(5, Example::new("y", "z".repeat(21)));
    all.push(Example::new("y".repeat(20), "z".repeat(20)));
    let mut stream = BatchStream::new(Box::new(Memory::new(all)), texts(), settings(4)).unwrap();
    let mut found = indices(&passes(&mut stream, 1));
    found.sort_unstable();
    assert_eq!(found, [0, 1, 3, 4, 6, 7, 8]);
    let mut stream =
        BatchStream::new(Box::new(Memory::new(vec![Example::new("a", "b")])), texts(), settings(4)).unwrap();
    stream.next().unwrap();
    assert_eq!(stream.dropped(), 0);
}

fn thinned(below: usize, power: u32) -> StreamSettings {
    StreamSettings { thinning: Some(Thinning { below, power }), ..settings(500) }
}

#[test]
fn short_examples_are_thinned_by_their_length() {
    let all: Vec<Example> = (0..4000).map(|i| Example::new("x".repeat(2 + 2 * (i % 4)), "y")).collect();
    let stream = |seed| {
        let settings = StreamSettings { seed, ..thinned(8, 2) };
        BatchStream::new(Box::new(Memory::new(all.clone())), texts(), settings).unwrap()
    };
    let taken = indices(&passes(&mut stream(7), 1));
    let of_length = |length: u64| taken.iter().filter(|&index| 2 + 2 * (index % 4) == length).count();
    // Of 1000 each: 1/16, 1/4, 9/16 and all, within four deviations.
    for (length, expected, deviation) in [(2, 62.5, 7.7), (4, 250.0, 13.7), (6, 562.5, 15.7)] {
        let found = of_length(length) as f64;
        assert!((found - expected).abs() <= 4.0 * deviation, "{found} of length {length}");
    }
    assert_eq!(of_length(8), 1000);
    let both = indices(&passes(&mut stream(7), 2));
    let sorted = |part: &[u64]| part.iter().copied().collect::<BTreeSet<u64>>();
    assert_ne!(sorted(&both[..taken.len()]), sorted(&both[taken.len()..]), "each pass takes others");
    assert_eq!(both[..taken.len()], taken);
    assert_ne!(taken, indices(&passes(&mut stream(8), 1)));

    let mut whole = stream(7);
    passes(&mut whole, 1);
    whole.next().unwrap();
    let corpus = Box::new(Memory::new(all.clone()));
    let mut resumed = BatchStream::resume(corpus, texts(), thinned(8, 2), whole.state()).unwrap();
    assert_eq!(passes(&mut whole, 2), passes(&mut resumed, 2));
}

#[test]
fn a_pass_of_which_nothing_is_taken_is_refused() {
    let mut stream = BatchStream::new(memory(3), texts(), thinned(1_000_000, 8)).unwrap();
    let error = stream.next().err().unwrap().to_string();
    assert!(error.contains("`thinning.below`: of 3 examples not one was taken"), "{error}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (settings, remedy) in [
        (StreamSettings { pool: 0, ..settings(1) }, "`pool`"),
        (StreamSettings { max_length: 0, ..settings(1) }, "`max_length`"),
        (StreamSettings { max_length: 40, ..settings(1) }, "write 41 or more"),
        (StreamSettings { limits: Limits::examples(0), ..settings(1) }, "`batch_examples`"),
        (thinned(0, 1), "`thinning.below`"),
        (thinned(5, 0), "`thinning.power`"),
        (thinned(5, 9), "`thinning.power`"),
    ] {
        let error = BatchStream::new(memory(3), texts(), settings).err().unwrap().to_string();
        assert!(error.contains(remedy), "{error}");
    }
}

#[test]
fn a_state_of_another_corpus_is_refused() {
    let state = StreamState { next_batch: 1000, ..StreamState::default() };
    let result = BatchStream::resume(memory(3), texts(), settings(4), state);
    assert!(matches!(result, Err(DataError::Position { .. })));
    let pool_start = Position { example: 4, ..Position::start() };
    let state = StreamState { pool: 1, pool_start, ..StreamState::default() };
    assert!(matches!(
        BatchStream::resume(memory(3), texts(), settings(4), state),
        Err(DataError::Position { .. })
    ));
}

#[test]
fn a_bad_line_stops_the_stream_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let files = &corpora(folder.path(), 3)[1];
    let error = BatchStream::new(Box::new(files.open(false).unwrap()), texts(), settings(4)).err().unwrap();
    assert!(matches!(error, DataError::Line { line: 2, .. }), "{error}");
}

/// A file of `count` lines whose labels are right, and of as many whose labels are wrong.
fn labelled(folder: &std::path::Path, count: usize) -> Files {
    let line = |number: usize| match number % 3 {
        0 => format!("{0} {0}\tA B\n{0}\tunknown\n", "x".repeat(number)),
        1 => format!("{0}\tA B\n{0}\tB\n", "y".repeat(number)),
        _ => format!("{0}\t \n{0} z\tB A\n", "z".repeat(number)),
    };
    let path = folder.join("labelled");
    fs::write(&path, (1..=count).map(line).collect::<String>()).unwrap();
    Files::Tsv { path, columns: [0, 1] }
}

fn tags() -> Coder {
    let mut corpus = Memory::new(vec![Example::new("x y", "A B")]);
    let labels = Labels::learn(Unit::Word, &mut corpus).unwrap();
    Coder::Tags { tokens: Arc::new(bytes()), labels: Arc::new(labels) }
}

#[test]
fn labels_resume_exactly_and_wrong_ones_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let files = labelled(folder.path(), 12);
    let open = || Box::new(files.open(true).unwrap()) as Box<dyn Corpus>;
    let classes = {
        let labels = Labels::learn(Unit::Sequence, &mut Memory::new(vec![Example::new("x", "A B")])).unwrap();
        Coder::Classes { tokens: Arc::new(bytes()), labels: Arc::new(labels) }
    };
    for pool in [1, 5, 100] {
        for max_length in [9, 20] {
            let settings = StreamSettings { max_length, ..settings(pool) };
            resume_everywhere("tags", &open, &tags(), &settings);
            resume_everywhere("classes", &open, &classes, &settings);
        }
    }
    let mut stream =
        BatchStream::new(open(), tags(), StreamSettings { max_length: 39, ..settings(100) }).unwrap();
    for _ in 0..2 {
        assert_eq!(stream.skipped(), 12);
        let batches = passes_from(&mut stream, 12);
        let mut found = indices(&batches);
        found.sort_unstable();
        assert_eq!(found, (0..12).collect::<Vec<_>>(), "lines passed over have no number");
        for batch in batches {
            assert_eq!(
                (&batch.source.tokens().unwrap().lengths, batch.source.tokens().unwrap().width),
                (&batch.target.lengths, batch.target.width)
            );
            assert!(batch.target.ids.iter().all(|id| [0, 1, IGNORED].contains(id)));
        }
    }
}

#[test]
fn a_wrong_label_stops_the_stream_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let files = labelled(folder.path(), 5);
    let error = BatchStream::new(Box::new(files.open(false).unwrap()), tags(), settings(4)).err().unwrap();
    assert!(error.to_string().contains("/labelled, line 1: the source has 1 words"), "{error}");
    let wrong = vec![Example::new("x", "A"), Example::new("x", "C")];
    let error = BatchStream::new(Box::new(Memory::new(wrong)), tags(), settings(4)).err().unwrap();
    assert!(error.to_string().contains("example 2 of the corpus: the label \"C\""), "{error}");
}

#[test]
fn a_pass_of_wrong_labels_alone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong");
    fs::write(&path, "x\tC\n".repeat(7)).unwrap();
    let files = Files::Tsv { path, columns: [0, 1] };
    let mut stream = BatchStream::new(Box::new(files.open(true).unwrap()), tags(), settings(4)).unwrap();
    let error = stream.next().unwrap_err().to_string();
    assert!(error.contains("no usable example (0 read, 7 bad lines passed over"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_example_once_a_pass_within_the_limits(
        count in 1usize..60,
        pool in 1usize..40,
        seed: u64,
        tokens_limit in 21usize..200,
        rows in prop::option::of(1usize..6),
    ) {
        let limits = Limits { batch_tokens: Some(tokens_limit), batch_examples: rows };
        let settings = StreamSettings { seed, pool, limits, max_length: 20, thinning: None };
        let mut stream = BatchStream::new(memory(count), texts(), settings).unwrap();
        for _ in 0..2 {
            let batches = passes_from(&mut stream, count);
            for batch in &batches {
                prop_assert!(batch.rows() * batch.source.tokens().unwrap().width.max(batch.target.width) <= tokens_limit);
                prop_assert!(rows.is_none_or(|rows| batch.rows() <= rows));
                prop_assert!(batch.rows() > 0);
            }
            let mut found = indices(&batches);
            found.sort_unstable();
            prop_assert_eq!(found, (0..count as u64).collect::<Vec<_>>());
        }
    }
}

/// The batches that hold the next `count` examples.
fn passes_from(stream: &mut BatchStream, count: usize) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    while batches.iter().map(Batch::rows).sum::<usize>() < count {
        batches.push(stream.next().unwrap());
    }
    batches
}
