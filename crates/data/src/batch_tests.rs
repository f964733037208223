use super::*;
use proptest::prelude::*;

fn read_by(batch: &Batch) -> &Padded {
    batch.source.tokens().unwrap()
}

fn seen_by(batch: &Batch) -> &ImageBatch {
    match &batch.source {
        Sources::Images(images) => images,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_end_and_are_padded() {
    let examples = [(vec![5, 6, 7], vec![8]), (vec![9], vec![])];
    let batches = evaluation_batches(&examples, &Limits::examples(2)).unwrap();
    assert_eq!(batches.len(), 1);
    let batch = &batches[0];
    assert_eq!(batch.indices, [1, 0]);
    assert_eq!(read_by(batch).ids, [9, END, PAD, PAD, 5, 6, 7, END]);
    assert_eq!(read_by(batch).lengths, [2, 4]);
    assert_eq!(batch.target.ids, [END, PAD, 8, END]);
    assert_eq!((batch.target.rows, batch.target.width), (2, 2));
    assert_eq!(read_by(batch).row(0), [9, END]);
    assert_eq!(read_by(batch).tokens(), 6);
}

#[test]
fn sources_that_are_predicted_together_have_one_length() {
    let sources: Vec<Source> = (0..20).map(|n| Source::Tokens(vec![9; n % 3])).collect();
    let batches = prediction_batches(sources, &Limits::examples(5)).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [5, 2, 5, 2, 5, 1]);
    for batch in &batches {
        assert!(read_by(batch).lengths.iter().all(|length| *length == read_by(batch).width));
    }
    let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[test]
fn chosen_examples_come_with_all_their_targets() {
    let examples: Vec<_> = (1..8).map(|n| (vec![n; n as usize], vec![n + 10; 3])).collect();
    let batch = evaluation_batches(&examples, &Limits::examples(7)).unwrap().remove(0);
    let chosen = batch.select(&[4, 1]);
    assert_eq!((chosen.rows(), &chosen.indices[..]), (2, &[4, 1][..]));
    assert_eq!(read_by(&chosen).row(0), [5, 5, 5, 5, 5, END]);
    assert_eq!(read_by(&chosen).row(1), [2, 2, END]);
    assert_eq!((read_by(&chosen).width, chosen.target.row(1)), (6, &[12, 12, 12, END][..]));
    let images: Vec<Pixels> = (0..3).map(|n| Pixels::new(1, 2, 1, vec![n as f32; 2]).unwrap()).collect();
    let texts: Vec<Vec<u32>> = (0..6).map(|n| vec![n + 20]).collect();
    let images = ImageBatch::new(images.iter()).unwrap();
    let captioned = Batch::of_images(images, &texts, Ending::TOKENS, vec![7, 8, 9]).select(&[2, 0]);
    assert_eq!((&captioned.indices[..], captioned.each), (&[9, 7][..], 2));
    assert_eq!(seen_by(&captioned).values, [2.0, 2.0, 0.0, 0.0]);
    assert_eq!(captioned.target.ids, [24, END, 25, END, 20, END, 21, END]);
    assert_eq!(batch.select(&[]).rows(), 0);
}

#[test]
fn parts_hold_all_rows_in_order_and_no_more_padding_than_they_need() {
    let examples: Vec<_> = (1..8).map(|n| (vec![n; n as usize], vec![n + 10; 3])).collect();
    let batch = evaluation_batches(&examples, &Limits::examples(7)).unwrap().remove(0);
    for count in [0, 1, 2, 3, 7, 20] {
        let parts = batch.parts(count);
        assert_eq!(parts.len(), count.clamp(1, 7));
        assert_eq!(parts.iter().flat_map(|part| part.indices.clone()).collect::<Vec<_>>(), batch.indices);
        let mut row = 0;
        for part in &parts {
            assert_eq!((read_by(part).rows, part.target.rows), (part.rows(), part.rows()));
            assert_eq!(Some(&read_by(part).width), read_by(part).lengths.iter().max());
            for inside in 0..part.rows() {
                assert_eq!(read_by(part).row(inside), read_by(&batch).row(row));
                assert_eq!(part.target.row(inside), batch.target.row(row));
                row += 1;
            }
        }
    }
    assert_eq!(batch.parts(1), [batch]);
}

fn image(number: usize, height: usize, width: usize) -> Pixels {
    Pixels::new(height, width, 3, vec![number as f32; height * width * 3]).unwrap()
}

#[test]
fn images_are_predicted_in_batches_beside_texts() {
    let source = |n: usize| match n % 3 {
        0 => Source::Tokens(vec![9; n % 2]),
        _ => Source::Image(image(n, 4, 5)),
    };
    let batches = prediction_batches((0..12).map(source).collect(), &Limits::examples(3)).unwrap();
    let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..12).collect::<Vec<_>>());
    let images: Vec<&Batch> = batches.iter().filter(|batch| batch.source.tokens().is_none()).collect();
    assert_eq!(images.iter().map(|batch| batch.rows()).collect::<Vec<_>>(), [3, 3, 2]);
    for batch in images {
        let found = seen_by(batch);
        assert_eq!((found.rows, found.height, found.width, found.channels), (batch.rows(), 4, 5, 3));
        assert_eq!((batch.source.rows(), batch.source.size()), (batch.rows(), batch.rows() * 60));
        for (row, &index) in batch.indices.iter().enumerate() {
            assert!(found.row(row).iter().all(|value| *value == index as f32));
        }
    }
    let uneven = vec![Source::Image(image(0, 4, 5)), Source::Image(image(1, 5, 4))];
    let error = prediction_batches(uneven, &Limits::examples(8)).unwrap_err().to_string();
    assert!(error.contains("image 2 of the batch has another shape"), "{error}");
}

/// However many may stand in a batch, their values are bounded.
#[test]
fn few_large_images_are_computed_together() {
    let (most, side) = (MOST_VALUES / (1024 * 1024 * 3), 1024);
    let sources = (0..=most).map(|n| Source::Image(image(n, side, side))).collect();
    let batches = prediction_batches(sources, &Limits::examples(64)).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [most, 1]);
}

fn sound(frames: usize, value: f32) -> Frames {
    Frames { values: vec![value; frames * 3], bands: 3, hop: 0.01 }
}

#[test]
fn sounds_that_are_predicted_together_have_one_length() {
    let sources = (0..20).map(|n| Source::Sound(sound(1 + n % 3, n as f32))).collect();
    let batches = prediction_batches(sources, &Limits::examples(5)).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [5, 2, 5, 2, 5, 1]);
    let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
    for batch in &batches {
        let Sources::Sound(sounds) = &batch.source else { panic!("sounds") };
        assert!(sounds.lengths.iter().all(|length| *length == sounds.frames));
        for (row, &index) in batch.indices.iter().enumerate() {
            assert_eq!(sounds.row(row), vec![index as f32; 3 * (1 + index as usize % 3)]);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[test]
fn sounds_are_validated_on_with_others_of_nearly_their_length() {
    let examples = [9, 1, 4, 2].map(|length| (sound(length, length as f32), vec![7; length]));
    let batches = evaluation_batches_of_sounds(examples.to_vec(), &Limits::tokens(9)).unwrap();
    assert_eq!(
        batches.iter().map(|batch| batch.indices.clone()).collect::<Vec<_>>(),
        [vec![1, 3], vec![2], vec![0]]
    );
    let Sources::Sound(sounds) = &batches[0].source else { panic!("sounds") };
    assert_eq!(sounds.values, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(batches[0].target.ids, [7, END, PAD, 7, 7, END]);
    let parts = batches[0].parts(2);
    let Sources::Sound(first) = &parts[0].source else { panic!("sounds") };
    assert_eq!(
        (first.rows, first.frames, first.row(0)),
        (1, 1, &[1.0; 3][..]),
        "no more padding than it needs"
    );
    assert_eq!(parts[1].target.row(0), [7, 7, END]);
}

#[test]
fn images_and_their_texts_stay_in_order() {
    let examples: Vec<(Pixels, Vec<u32>)> = (0..5).map(|n| (image(n, 2, 2), vec![9; n])).collect();
    let batches = evaluation_batches_of_images(&examples, 2).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [2, 2, 1]);
    let indices: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4]);
    assert_eq!(batches[1].target.ids, [9, 9, END, PAD, 9, 9, 9, END]);
    let parts = batches[1].parts(3);
    assert_eq!(parts.len(), 2);
    for (row, part) in parts.iter().enumerate() {
        assert_eq!((seen_by(part).rows, seen_by(part).row(0)), (1, seen_by(&batches[1]).row(row)));
        assert_eq!(part.target.row(0), batches[1].target.row(row));
    }
    assert_eq!(batches[1].parts(1), [batches[1].clone()]);
    assert!(evaluation_batches_of_images(&[], 2).unwrap().is_empty());
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    for (limits, key) in [
        (Limits::tokens(0), "`batch_tokens`: 0 holds"),
        (Limits::examples(0), "`batch_examples`"),
        (Limits { batch_tokens: None, batch_examples: None }, "needs a limit"),
    ] {
        let error = evaluation_batches(&[], &limits).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn padding_nothing_is_empty() {
    let none = Padded::new::<Vec<u32>>(&[]);
    assert_eq!((none.rows, none.width, none.ids.len()), (0, 0, 0));
}

proptest! {
    #[test]
    fn every_example_is_in_one_batch_within_the_limits(
        lengths in prop::collection::vec((0usize..20, 0usize..20), 0..60),
        tokens in prop::option::of(1usize..100),
        rows in prop::option::of(1usize..9),
    ) {
        prop_assume!(tokens.is_some() || rows.is_some());
        let limits = Limits { batch_tokens: tokens, batch_examples: rows };
        let examples: Vec<_> = lengths
            .iter()
            .enumerate()
            .map(|(i, (s, t))| (vec![10 + i as u32; *s], vec![500 + i as u32; *t]))
            .collect();
        let batches = evaluation_batches(&examples, &limits).unwrap();
        for batch in &batches {
            let width = read_by(batch).width.max(batch.target.width);
            prop_assert!(limits.allow(batch.rows(), width) || batch.rows() == 1);
        }
        let rows = batches.iter().flat_map(|batch| {
            (0..batch.rows()).map(|row| {
                let (source, target) = (read_by(batch).row(row), batch.target.row(row));
                let whole = [source, target].map(|side| side.strip_suffix(&[END]).unwrap().to_vec());
                (batch.indices[row], (whole[0].clone(), whole[1].clone()))
            })
        });
        prop_assert_eq!(in_input_order(rows), examples);
    }
}
