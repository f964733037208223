//! Training batches of images, and those that are held out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::*;
use super::picture;
use crate::tokens::{END, Kind, PAD, Recipe, Tokenizer};
use crate::{Batch, DataError, IGNORED, Labels, Sources, Stream, StreamState, Unit};

/// Images in memory of which some cannot be had.
struct Patchy {
    examples: Vec<ImageExample>,
    bad: Vec<u64>,
}

impl ImageSet for Patchy {
    fn len(&self) -> u64 {
        self.examples.len() as u64
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        match self.bad.contains(&index) {
            true => Err(ImageError::named(&format!("{index}.png"), ImageProblem::Missing).into()),
            false => self.examples.get(index),
        }
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        self.examples.texts(index)
    }
}

/// So many images of 6 × 7 pixels, no two of them alike.
fn set(count: usize, texts: impl Fn(usize) -> Vec<String>) -> Vec<ImageExample> {
    let example = |number: usize| {
        let mut image = picture(6, 7, 3);
        image.bytes_mut()[..3].copy_from_slice(&[number as u8, 255 - number as u8, 7]);
        let texts = texts(number).into_iter().map(ImageText::new).collect();
        ImageExample { name: format!("{number}.png"), image, texts }
    };
    (0..count).map(example).collect()
}

/// Three captions of two to four words, each of which tells its image.
fn captions(number: usize) -> Vec<String> {
    vec![format!("image {number}"), format!("the image {number}"), format!("this is image {number}")]
}

fn words(count: usize) -> ImageCoder {
    let texts = (0..count).flat_map(captions);
    let recipe = Recipe { kind: Kind::Word, size: 300, ..Recipe::default() };
    ImageCoder::Captions(Arc::new(Tokenizer::train(&recipe, texts).unwrap()))
}

fn labels(names: &[&str]) -> ImageCoder {
    let examples: Vec<ImageExample> = set(names.len(), |number| vec![names[number].to_owned()]);
    let mut texts = texts_of(&examples, u64::MAX).unwrap();
    ImageCoder::Labels(Arc::new(Labels::learn(Unit::Sequence, &mut texts).unwrap()))
}

const CHANGED: Augmentation = Augmentation { flip: 0.5, crop: 0.5, stretch: 1.2, colour: 0.2 };

fn settings(batch: usize) -> ImageStreamSettings {
    ImageStreamSettings {
        seed: 5,
        batch,
        captions: 1,
        max_length: 20,
        skip_bad: false,
        preparation: Preparation { height: 4, width: 5, augmentation: CHANGED, ..Preparation::default() },
        ahead: AheadSettings { threads: 2, waiting: 3 },
    }
}

fn stream(set: impl ImageSet + 'static, coder: &ImageCoder, settings: &ImageStreamSettings) -> ImageStream {
    ImageStream::resume(Arc::new(set), coder.clone(), settings.clone(), StreamState::default()).unwrap()
}

fn taken(stream: &mut ImageStream, count: usize) -> Vec<Batch> {
    (0..count).map(|_| stream.next().unwrap()).collect()
}

fn numbers(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| batch.indices.clone()).collect()
}

#[test]
fn a_pass_has_every_image_once_in_an_order_of_seed_and_epoch_alone() {
    let (coder, settings) = (words(11), settings(4));
    let mut first = stream(set(11, captions), &coder, &settings);
    let batches = taken(&mut first, 6);
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [4, 4, 3, 4, 4, 3]);
    assert_eq!(first.epoch(), 1);
    let passes = [numbers(&batches[..3]), numbers(&batches[3..])];
    assert_ne!(passes[0], passes[1], "each pass has its own order");
    for pass in &passes {
        let mut sorted = pass.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..11).collect::<Vec<_>>());
    }
    // Neither threads nor the size of a batch count, nor what the texts are.
    let other =
        ImageStreamSettings { batch: 5, ahead: AheadSettings { threads: 1, waiting: 9 }, ..settings.clone() };
    let again = taken(&mut stream(set(11, captions), &coder, &other), 3);
    assert_eq!(numbers(&again), passes[0]);
    let all: Vec<f32> = batches[..3].iter().flat_map(|batch| pixels(batch).values.clone()).collect();
    assert_eq!(again.iter().flat_map(|batch| pixels(batch).values.clone()).collect::<Vec<_>>(), all);
    let seeded = ImageStreamSettings { seed: 6, ..settings };
    assert_ne!(numbers(&taken(&mut stream(set(11, captions), &coder, &seeded), 3)), passes[0]);
}

fn pixels(batch: &Batch) -> &ImageBatch {
    match &batch.source {
        Sources::Images(images) => images,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_are_the_images_they_are_numbered_as_with_one_of_their_captions() {
    let (coder, settings) = (words(11), settings(4));
    let ImageCoder::Captions(tokens) = &coder else { unreachable!() };
    let examples = set(11, captions);
    let mut stream = stream(examples.clone(), &coder, &settings);
    let mut said: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for epoch in 0..12 {
        for batch in taken(&mut stream, 3) {
            assert_eq!(pixels(&batch).rows, batch.rows());
            for (row, &index) in batch.indices.iter().enumerate() {
                let draw = Draw { seed: 5, epoch, example: index };
                let expected = Ready::new(&examples, index, &settings.preparation, Some(draw)).unwrap();
                assert_eq!(pixels(&batch).row(row), expected.pixels.values(), "epoch {epoch}, image {index}");
                let (end, caption) = batch.target.row(row).split_last().unwrap();
                assert_eq!(*end, END);
                let known = captions(index as usize);
                let found = known.iter().position(|text| tokens.encode(text) == caption).unwrap();
                assert_eq!(found, draw.caption(3));
                said.entry(index).or_default().push(found);
            }
            let padding = batch.target.ids.iter().filter(|id| **id == PAD).count();
            assert_eq!(padding, batch.target.ids.len() - batch.target.tokens());
        }
    }
    for (image, captions) in said {
        let mut different = captions.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(captions.len(), 12);
        assert!(different.len() >= 2, "image {image} is always told by {different:?}");
    }
}

#[test]
fn a_stream_resumed_anywhere_goes_on_with_the_same_batches() {
    let coder = words(11);
    for batch in [1, 4, 11, 30] {
        let settings = ImageStreamSettings { skip_bad: true, max_length: 3, ..settings(batch) };
        let some = || Patchy { examples: set(11, captions), bad: vec![2, 7] };
        let whole = {
            let mut stream = stream(some(), &coder, &settings);
            (0..25)
                .map(|_| {
                    let batch = stream.next().unwrap();
                    (batch, stream.state(), stream.epoch(), stream.skipped(), stream.dropped())
                })
                .collect::<Vec<_>>()
        };
        for at in 0..24 {
            let state = whole[at].1.clone();
            let state: StreamState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
            let set: Arc<dyn ImageSet> = Arc::new(some());
            let mut resumed = ImageStream::resume(set, coder.clone(), settings.clone(), state).unwrap();
            assert_eq!(
                (resumed.state(), resumed.epoch(), resumed.skipped(), resumed.dropped()),
                (whole[at].1.clone(), whole[at].2, whole[at].3, whole[at].4)
            );
            for (step, expected) in whole[at + 1..].iter().enumerate().take(7) {
                let batch = resumed.next().unwrap();
                let found = (batch, resumed.state(), resumed.epoch(), resumed.skipped(), resumed.dropped());
                assert_eq!(found, *expected, "resumed at {at}, {step} on");
            }
        }
    }
}

#[test]
fn bad_images_are_errors_or_counted() {
    let coder = words(6);
    let some = || Patchy { examples: set(6, captions), bad: vec![1, 4] };
    let mut strict = stream(some(), &coder, &settings(6));
    let error = strict.next().unwrap_err().to_string();
    assert!(error.contains(".png: the image is not there"), "{error}");
    let mut lenient = stream(some(), &coder, &ImageStreamSettings { skip_bad: true, ..settings(6) });
    for epoch in 0..3 {
        let batch = lenient.next().unwrap();
        let mut left = batch.indices.clone();
        left.sort_unstable();
        assert_eq!((left.as_slice(), lenient.skipped(), lenient.epoch()), (&[0, 2, 3, 5][..], 2, epoch));
    }
    assert_eq!(lenient.dropped(), 0);
}

#[test]
fn long_captions_are_dropped_and_counted() {
    let coder = words(8);
    let long = |number: usize| {
        vec![if number < 3 { format!("this is image {number}") } else { format!("image {number}") }]
    };
    let mut stream = stream(set(8, long), &coder, &ImageStreamSettings { max_length: 3, ..settings(3) });
    let batches = taken(&mut stream, 2);
    let mut left = numbers(&batches);
    left.sort_unstable();
    assert_eq!((left.as_slice(), stream.dropped(), stream.skipped()), (&[3, 4, 5, 6, 7][..], 3, 0));
    assert!(batches.iter().all(|batch| batch.target.lengths.iter().all(|length| *length == 3)));
    taken(&mut stream, 1);
    assert!(stream.dropped() <= 3, "counted anew in each pass");
}

#[test]
fn a_set_without_a_usable_image_is_an_error() {
    let coder = words(4);
    let lenient = ImageStreamSettings { skip_bad: true, max_length: 3, ..settings(3) };
    let all_bad = Patchy { examples: set(4, captions), bad: vec![0, 1, 2, 3] };
    let error = stream(all_bad, &coder, &lenient).next().unwrap_err();
    assert!(matches!(error, DataError::NoExamples { read: 4, skipped: 4, too_long: 0, .. }), "{error}");
    let long = |number: usize| vec![format!("this is image {number}")];
    let bad_or_long = Patchy { examples: set(4, long), bad: vec![3] };
    let error = stream(bad_or_long, &coder, &lenient).next().unwrap_err();
    assert!(
        matches!(error, DataError::NoExamples { read: 4, skipped: 1, too_long: 3, max_length: 3 }),
        "{error}"
    );
    let resume = |set: Vec<ImageExample>, settings: ImageStreamSettings, state: StreamState| {
        ImageStream::resume(Arc::new(set), coder.clone(), settings, state).map(drop).unwrap_err().to_string()
    };
    let start = StreamState::default;
    let error = resume(Vec::new(), lenient.clone(), start());
    assert!(error.contains("a set of 0 images"), "{error}");
    let error = resume(set(4, captions), ImageStreamSettings { batch: 0, ..lenient.clone() }, start());
    assert!(error.contains("`batch_examples`") && error.contains("write 1 or more"), "{error}");
    let error = resume(set(4, captions), ImageStreamSettings { captions: 0, ..lenient.clone() }, start());
    assert!(error.contains("`captions`") && error.contains("write 1 or more"), "{error}");
    let mut state = start();
    state.pool_start.example = 5;
    let error = resume(set(4, captions), lenient.clone(), state);
    assert!(error.contains("a set of 4 images") && error.contains("image 5"), "{error}");
    let preparation = Preparation { height: 0, ..Preparation::default() };
    let error = resume(set(4, captions), ImageStreamSettings { preparation, ..lenient }, start());
    assert!(error.contains("`height`"), "{error}");
}

#[test]
fn labels_are_rows_of_one_and_unknown_ones_are_bad_images() {
    let coder = labels(&["cat", "dog"]);
    let told = |number: usize| vec![["cat", "dog", "cow"][number % 3].to_owned()];
    let error = stream(set(6, told), &coder, &settings(6)).next().unwrap_err().to_string();
    assert!(error.contains("has the label \"cow\", which is none of those"), "{error}");
    let mut lenient = stream(set(6, told), &coder, &ImageStreamSettings { skip_bad: true, ..settings(6) });
    let batch = lenient.next().unwrap();
    assert_eq!((batch.rows(), batch.target.width, lenient.skipped()), (4, 1, 2));
    let ImageCoder::Labels(labels) = &coder else { unreachable!() };
    for (row, &index) in batch.indices.iter().enumerate() {
        assert_eq!(batch.target.ids[row], labels.id(&told(index as usize)[0]).unwrap());
    }
    assert_eq!(batch.target.asked(), 4);
    assert!(!batch.target.ids.contains(&IGNORED));
}

#[test]
fn several_captions_of_an_image_stand_behind_each_other() {
    let coder = words(11);
    let ImageCoder::Captions(tokens) = &coder else { unreachable!() };
    let two = ImageStreamSettings { captions: 2, ..settings(4) };
    let mut several = stream(set(11, captions), &coder, &two);
    let mut one = stream(set(11, captions), &coder, &settings(4));
    for _ in 0..6 {
        let (batch, single) = (several.next().unwrap(), one.next().unwrap());
        assert_eq!((&batch.source, &batch.indices), (&single.source, &single.indices));
        assert_eq!((batch.each, batch.target.rows), (2, 2 * batch.rows()));
        for (row, &index) in batch.indices.iter().enumerate() {
            let known: Vec<Vec<u32>> = captions(index as usize)
                .iter()
                .map(|text| [tokens.encode(text), vec![END]].concat())
                .collect();
            let [first, second] = [2 * row, 2 * row + 1].map(|row| batch.target.row(row));
            assert_eq!(first, single.target.row(row), "from the one that stands alone on");
            let place = known.iter().position(|caption| caption == first).unwrap();
            assert_eq!(second, known[(place + 1) % 3]);
        }
        // Parts have the captions of their images.
        let parts = batch.parts(2);
        let rows: Vec<&[u32]> =
            parts.iter().flat_map(|part| (0..part.target.rows).map(|row| part.target.row(row))).collect();
        assert_eq!(rows, (0..batch.target.rows).map(|row| batch.target.row(row)).collect::<Vec<_>>());
        assert!(parts.iter().all(|part| part.each == 2 && part.target.rows == 2 * part.rows()));
    }
    // Where an image has fewer, some come again.
    let four = ImageStreamSettings { captions: 4, ..settings(3) };
    let batch = stream(set(3, |number| vec![format!("image {number}")]), &coder, &four).next().unwrap();
    assert_eq!((batch.each, batch.target.rows), (4, 12));
    assert!((0..12).all(|row| batch.target.row(row) == batch.target.row(row / 4 * 4)));
}

#[test]
fn held_images_are_not_changed_and_have_their_first_text() {
    let coder = words(9);
    let ImageCoder::Captions(tokens) = &coder else { unreachable!() };
    let (examples, preparation) = (set(9, captions), settings(1).preparation);
    let hold = |count, batch| {
        HeldImages::new(Arc::new(examples.clone()), coder.clone(), preparation, count, batch, false).unwrap()
    };
    let held = hold(7, 3);
    assert_eq!((held.len(), held.is_empty()), (3, false));
    let batches: Vec<Batch> = (0..held.len()).map(|number| held.batch(number).unwrap().unwrap()).collect();
    assert_eq!(numbers(&batches), (0..7).collect::<Vec<_>>());
    for batch in &batches {
        for (row, &index) in batch.indices.iter().enumerate() {
            let plain = Ready::new(&examples, index, &preparation, None).unwrap();
            assert_eq!(pixels(batch).row(row), plain.pixels.values(), "no augmentation");
            let caption = [tokens.encode(&captions(index as usize)[0]), vec![END]].concat();
            assert_eq!(batch.target.row(row), caption);
            assert_eq!(held.texts(index), captions(index as usize));
        }
    }
    assert_eq!(held.batch(1).unwrap().as_ref(), Some(&batches[1]), "as often as one likes");
    assert!(held.texts(7).is_empty(), "only those that are held");
    assert_eq!(hold(100, 0).len(), 9, "no more than there are");
    assert!(hold(0, 3).is_empty());
    let bad = Patchy { examples: examples.clone(), bad: vec![1] };
    let held = HeldImages::new(Arc::new(bad), coder.clone(), preparation, 9, 3, false).unwrap();
    let error = held.batch(0).unwrap_err().to_string();
    assert!(error.contains("1.png: the image is not there"), "{error}");
    assert!(held.batch(1).is_ok());
    let bad = Patchy { examples: examples.clone(), bad: vec![1, 3, 4, 5] };
    let held = HeldImages::new(Arc::new(bad), coder.clone(), preparation, 9, 3, true).unwrap();
    let left: Vec<Option<Vec<u64>>> =
        (0..3).map(|number| held.batch(number).unwrap().map(|batch| batch.indices)).collect();
    assert_eq!(left, [Some(vec![0, 2]), None, Some(vec![6, 7, 8])], "passed over if wished");
    let long = set(5, |number| {
        vec![if number == 1 { format!("this is image {number}") } else { format!("image {number}") }]
    });
    let held = HeldImages::new(Arc::new(long), coder, preparation, 5, 2, false).unwrap();
    let (held, left_out) = held.no_longer_than(3);
    let batches: Vec<Batch> = (0..held.len()).map(|number| held.batch(number).unwrap().unwrap()).collect();
    assert_eq!((left_out, numbers(&batches).as_slice(), held.len()), (1, &[0, 2, 3, 4][..], 2));
    let unknown = labels(&["cat"]);
    let cow = Arc::new(set(1, |_| vec!["cow".into()]));
    let error = HeldImages::new(cow, unknown, preparation, 1, 1, true).unwrap_err().to_string();
    assert!(error.contains("\"cow\""), "known before training begins: {error}");
}
