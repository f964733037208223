//! Preparation, random changes, and the way to a batch.

use std::fs;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::*;
use super::picture;
use crate::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};

const CHANGED: Augmentation = Augmentation { flip: 0.5, crop: 0.4, stretch: 1.5, colour: 0.3 };

fn draw(epoch: u64, example: u64) -> Draw {
    Draw { seed: 1, epoch, example }
}

#[test]
fn the_middle_is_taken_or_the_whole() {
    let image = picture(40, 100, 3);
    let crop = Preparation { height: 20, width: 20, ..Preparation::default() };
    let prepared = crop.prepare(&image, None).unwrap();
    assert_eq!(prepared.view.part, PixelBox::new(30.0, 0.0, 70.0, 40.0));
    let expected = image.cut(0, 30, 40, 40).unwrap().resized(20, 20, Filter::CatmullRom).unwrap();
    assert_eq!(prepared.pixels, Normalisation::HALF.apply(&expected));
    let stretch = Preparation { fit: Fit::Stretch, channels: 1, ..crop };
    let prepared = stretch.prepare(&image, None).unwrap();
    assert_eq!(prepared.view.part, PixelBox::whole(40, 100));
    assert_eq!((prepared.pixels.height(), prepared.pixels.channels()), (20, 1));
    let high = Preparation { height: 40, width: 10, ..crop };
    assert_eq!(high.prepare(&image, None).unwrap().view.part, PixelBox::new(45.0, 0.0, 55.0, 40.0));
    let tiny = high.prepare(&picture(1, 1, 1), None).unwrap();
    assert_eq!((tiny.pixels.height(), tiny.pixels.width(), tiny.pixels.channels()), (40, 10, 3));
}

#[test]
fn changes_depend_on_seed_epoch_and_example_alone() {
    let image = picture(30, 30, 3);
    let changed = Preparation { height: 16, width: 16, augmentation: CHANGED, ..Preparation::default() };
    let made = |draw| changed.prepare(&image, Some(draw)).unwrap();
    assert_eq!(made(draw(3, 4)), made(draw(3, 4)));
    for other in [draw(4, 4), draw(3, 5), draw(4, 3), Draw { seed: 2, ..draw(3, 4) }] {
        assert_ne!(made(draw(3, 4)), made(other));
    }
    // Nothing to change, nothing changed.
    let plain = Preparation { augmentation: Augmentation::default(), ..changed };
    assert_eq!(plain.prepare(&image, Some(draw(3, 4))).unwrap(), plain.prepare(&image, None).unwrap());
    assert_ne!(made(draw(3, 4)), changed.prepare(&image, None).unwrap());
}

#[test]
fn changes_are_as_often_and_as_far_as_told() {
    let image = picture(50, 40, 3);
    let changed = Preparation { height: 10, width: 10, augmentation: CHANGED, ..Preparation::default() };
    let (mut flipped, mut least, mut most) = (0, f32::MAX, 0.0f32);
    for example in 0..600 {
        let View { part, flipped: mirrored, .. } =
            changed.prepare(&image, Some(draw(0, example))).unwrap().view;
        flipped += usize::from(mirrored);
        assert_eq!(part.share_inside(&PixelBox::whole(50, 40)), 1.0);
        (least, most) = (least.min(part.area()), most.max(part.area()));
        let odd = part.width() / part.height();
        assert!((0.6..1.65).contains(&odd), "{odd}");
    }
    assert!((240..360).contains(&flipped), "{flipped}");
    // The largest parts of these proportions have between 1200 and 1900 of the 2000 pixels.
    assert!(least > 400.0 && least < 800.0 && most > 1_500.0, "{least} {most}");
    let captions: Vec<usize> = (0..100).map(|example| draw(0, example).caption(5)).collect();
    assert!((0..5).all(|caption| captions.iter().filter(|chosen| **chosen == caption).count() > 8));
    assert_eq!(draw(0, 0).caption(0), 0);
}

#[test]
fn random_parts_keep_the_proportions_wanted() {
    let augmentation = Augmentation { crop: 0.5, ..Augmentation::default() };
    let square = Preparation { height: 10, width: 10, augmentation, ..Preparation::default() };
    for (height, width) in [(100, 1000), (480, 640), (64, 64)] {
        let (image, side) = (picture(height, width, 1), height.min(width) as f32);
        for example in 0..50 {
            let part = square.prepare(&image, Some(draw(0, example))).unwrap().view.part;
            assert!((part.width() - part.height()).abs() <= 1.0, "{part:?}");
            assert!(part.width() >= side * 0.5f32.sqrt() - 1.0, "{part:?}");
        }
    }
}

#[test]
fn colours_move_and_stay_within_bounds() {
    let image = Image::filled(8, 8, &[200, 100, 50]).unwrap();
    let augmentation = Augmentation { colour: 0.4, ..Augmentation::default() };
    let changed = Preparation { height: 8, width: 8, augmentation, ..Preparation::default() };
    let mut seen = Vec::new();
    for example in 0..50 {
        let made = changed.prepare(&image, Some(draw(0, example))).unwrap();
        let made = changed.normalisation.undo(&made.pixels);
        assert!(made.bytes().chunks(3).all(|pixel| pixel == &made.bytes()[..3]), "still one colour");
        assert!(made.bytes()[0] > made.bytes()[1] && made.bytes()[1] > made.bytes()[2], "still orange");
        seen.push(made.bytes()[0]);
    }
    seen.sort_unstable();
    assert!(seen[0] < 160 && seen[49] > 230, "{seen:?}");
}

#[test]
fn boxes_go_along() {
    let view = View { part: PixelBox::new(10.0, 20.0, 50.0, 40.0), flipped: false, height: 40, width: 40 };
    let found = PixelBox::new(20.0, 10.0, 60.0, 30.0);
    assert_eq!(view.map(&found), Some(PixelBox::new(10.0, 0.0, 40.0, 20.0)));
    assert_eq!(View { flipped: true, ..view }.map(&found), Some(PixelBox::new(0.0, 0.0, 30.0, 20.0)));
    assert_eq!(view.map(&PixelBox::new(0.0, 0.0, 10.0, 50.0)), None);
}

#[test]
fn a_box_still_holds_its_object_after_all_changes() {
    // A white square on black.
    let mut image = Image::filled(60, 60, &[0, 0, 0]).unwrap();
    for row in 20..35 {
        image.bytes_mut()[(row * 60 + 15) * 3..(row * 60 + 33) * 3].fill(255);
    }
    let white = PixelBox::new(15.0, 20.0, 33.0, 35.0);
    let augmentation = Augmentation { colour: 0.0, ..CHANGED };
    let changed = Preparation { height: 64, width: 64, channels: 1, augmentation, ..Preparation::default() };
    for example in 0..100 {
        let made = changed.prepare(&image, Some(draw(0, example))).unwrap();
        let mapped = made.view.map(&white).unwrap_or(PixelBox::new(0.0, 0.0, 0.0, 0.0));
        let made = changed.normalisation.undo(&made.pixels);
        let bright = made.bytes().iter().filter(|byte| **byte > 127).count() as f32;
        let inside = (0..64 * 64).filter(|place| made.bytes()[*place] > 127);
        let inside =
            inside.filter(|place| mapped.contains((place % 64) as f32 + 0.5, (place / 64) as f32 + 0.5));
        let inside = inside.count() as f32;
        assert!(inside + 8.0 >= 0.95 * bright && (bright - mapped.area()).abs() <= 0.1 * mapped.area() + 8.0);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let usual = Preparation::default();
    let changed = |augmentation| Preparation { augmentation, ..usual };
    let none = Augmentation::default();
    for (wrong, key) in [
        (Preparation { height: 0, ..usual }, "`height`"),
        (Preparation { width: 9_999, ..usual }, "`width`"),
        (Preparation { channels: 4, ..usual }, "`channels`"),
        (changed(Augmentation { flip: 1.5, ..none }), "`augmentation.flip`"),
        (changed(Augmentation { crop: 0.0, ..none }), "`augmentation.crop`"),
        (changed(Augmentation { crop: f32::NAN, ..none }), "`augmentation.crop`"),
        (changed(Augmentation { stretch: 0.5, ..none }), "`augmentation.stretch`"),
        (changed(Augmentation { colour: 1.0, ..none }), "`augmentation.colour`"),
        (
            Preparation {
                normalisation: Normalisation { deviation: [0.0; 3], ..Normalisation::HALF },
                ..usual
            },
            "`normalisation.deviation`",
        ),
    ] {
        let error = wrong.prepare(&picture(2, 2, 3), None).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

fn shapes() -> Arc<dyn ImageSet> {
    let task = Shapes::new(64, Asked::Captions(3)).unwrap();
    Arc::new(DrawnShapes { task, part: ScenePart::Train, seed: 1, count: 24 })
}

#[test]
fn a_pass_is_the_same_whatever_the_threads() {
    let order = shuffled(24, 7, 2);
    assert_ne!(order, shuffled(24, 7, 3));
    assert_ne!(order, shuffled(24, 8, 2));
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..24).collect::<Vec<_>>());

    let preparation = Preparation { height: 32, width: 32, augmentation: CHANGED, ..Preparation::default() };
    let pass = |threads, order: &[u64]| -> Vec<Ready> {
        let settings = AheadSettings { threads, waiting: 2 };
        ready(shapes(), order.to_vec(), preparation, Some((7, 2)), settings)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let one = pass(1, &order);
    assert_eq!(one.iter().map(|ready| ready.index).collect::<Vec<_>>(), order);
    assert_eq!(pass(3, &order), one);
    assert_eq!(pass(2, &order[10..]), one[10..], "a pass goes on where it was left");
    let mentioned = one.iter().flat_map(|ready| &ready.texts).flat_map(|text| &text.mentions);
    for found in mentioned.flat_map(|mention| &mention.boxes) {
        assert!(found.share_inside(&PixelBox::whole(32, 32)) > 0.999, "{found:?}");
    }
    let batch = ImageBatch::new(one.iter().map(|ready| &ready.pixels)).unwrap();
    assert_eq!((batch.rows, batch.channels, batch.height, batch.width), (24, 3, 32, 32));
    assert_eq!(batch.values.len(), 24 * 3 * 32 * 32);
    assert_eq!(batch.row(5), one[5].pixels.values());
}

#[test]
fn numbers_beyond_the_set_are_refused() {
    let error = ready(shapes(), vec![3, 24], Preparation::default(), None, AheadSettings::default());
    assert!(
        error.err().unwrap().to_string().contains("a set of 24 images: has no example boundary at image 24")
    );
}

#[test]
fn batches_are_of_one_shape() {
    let pixels = |side| Normalisation::HALF.apply(&picture(side, side, 3));
    let error = ImageBatch::new([&pixels(4), &pixels(4), &pixels(5)]).unwrap_err().to_string();
    assert!(error.contains("image 3 of the batch has another shape"), "{error}");
    assert!(ImageBatch::new([]).is_err());
}

#[test]
fn broken_images_of_a_pass_come_in_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut list = String::new();
    for number in 0..6 {
        let bytes = picture(8, 8, 3).png().unwrap();
        let length = if number == 2 { 40 } else { bytes.len() };
        fs::write(folder.path().join(format!("{number}.png")), &bytes[..length]).unwrap();
        list += &format!("{number}.png\tnumber {number}\n");
    }
    let path = folder.path().join("list.tsv");
    fs::write(&path, list).unwrap();
    let set = ImageFolder::open(ImageFiles::new(folder.path(), path, Texts::Captions)).unwrap();
    let order = (0..set.len()).collect();
    let mut skipped = Skipped::default();
    let mut names = Vec::new();
    let settings = AheadSettings { threads: 2, waiting: 1 };
    for ready in ready(Arc::new(set), order, Preparation::default(), None, settings).unwrap() {
        match ready {
            Ok(ready) => names.push(ready.name),
            Err(error) => skipped.pass(error).unwrap(),
        }
    }
    assert_eq!(names, ["0.png", "1.png", "3.png", "4.png", "5.png"]);
    assert_eq!(skipped.count(Reason::Broken), 1);
    assert!(skipped.first()[0].contains("list.tsv, line 3: "), "{:?}", skipped.first());
}

proptest! {
    #[test]
    fn any_image_can_be_prepared(
        height in 1usize..50, width in 1usize..50, to_height in 1usize..40, to_width in 1usize..40,
        grey in any::<bool>(), stretch in any::<bool>(), example in any::<u64>(),
    ) {
        let fit = if stretch { Fit::Stretch } else { Fit::Crop };
        let wanted = Preparation {
            height: to_height, width: to_width, channels: 3, fit, augmentation: CHANGED, ..Preparation::default()
        };
        let image = picture(height, width, if grey { 1 } else { 3 });
        for draw in [None, Some(draw(0, example))] {
            let Prepared { pixels, view } = wanted.prepare(&image, draw).unwrap();
            prop_assert_eq!((pixels.height(), pixels.width(), pixels.channels()), (to_height, to_width, 3));
            prop_assert_eq!(view.part.share_inside(&PixelBox::whole(height, width)), 1.0);
            prop_assert!(pixels.values().iter().all(|value| value.abs() <= 1.0));
        }
    }
}
