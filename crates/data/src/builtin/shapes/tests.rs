//! What holds for every scene, drawing and caption.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::truth::Margin;
use super::*;
use crate::images::Image;
use crate::words;

fn captions() -> Shapes {
    Shapes::new(64, Asked::Captions(5)).unwrap()
}

fn scenes(part: ScenePart, count: u64) -> impl Iterator<Item = Scene> {
    (0..count).map(move |index| captions().scene(11, part, index).unwrap())
}

/// An object that stands upright.
fn object(shape: Shape, colour: Colour, size: Size, x: u16, y: u16) -> Object {
    Object { shape, colour, size, radius: size.radii().0, x, y, turn: 0, shade: 0 }
}

/// A small red triangle on the left, a large blue circle on the right, and a medium blue square that covers a part
/// of the circle.
fn known() -> Scene {
    let objects = vec![
        object(Shape::Circle, Colour::Blue, Size::Large, 760, 400),
        object(Shape::Triangle, Colour::Red, Size::Small, 200, 450),
        object(Shape::Square, Colour::Blue, Size::Medium, 620, 570),
    ];
    Scene::new(objects, Background::plain([200, 200, 200]))
}

#[test]
fn an_example_depends_on_nothing_but_seed_part_and_index() {
    for part in ScenePart::ALL {
        let set = DrawnShapes { task: captions(), part, seed: 3, count: 12 };
        let forward: Vec<ImageExample> = (0..set.len()).map(|index| set.get(index).unwrap()).collect();
        let backward: Vec<ImageExample> = (0..set.len()).rev().map(|index| set.get(index).unwrap()).collect();
        assert!(forward.iter().eq(backward.iter().rev()));
        assert_ne!(forward[0].image, DrawnShapes { seed: 4, ..set }.get(0).unwrap().image);
        assert_ne!(forward[0].image, forward[1].image);
        for (index, example) in forward.iter().enumerate() {
            let texts: Vec<String> = example.texts.iter().map(|text| text.text.clone()).collect();
            assert_eq!(set.texts(index as u64).unwrap(), texts);
            assert_eq!(example.name, format!("shapes/{}/{index}", part.name()));
        }
    }
}

/// These values are for ever: published figures rest on them.
#[test]
fn scenes_never_change() {
    let scene = captions().scene(1, ScenePart::Train, 0).unwrap();
    let drawing = scene.drawn(64);
    let sum = drawing.image.bytes().iter().fold(0, |sum, byte| crate::random::mixed(sum, u64::from(*byte)));
    let told: Vec<String> = scene.captions(2).iter().map(Caption::to_string).collect();
    assert_eq!(
        (scene.fingerprint(), sum, told.join("; ").as_str()),
        (FINGERPRINT, PIXELS, "a triangle is right of an orange diamond; an orange diamond is on the left")
    );
}

const FINGERPRINT: u64 = 16818057175879196486;
const PIXELS: u64 = 17567366949445586257;

#[test]
fn parts_share_no_scene_even_with_different_seeds() {
    let mut seen: Vec<HashSet<Vec<Object>>> = Vec::new();
    for (part, seed) in ScenePart::ALL.into_iter().zip(1..) {
        let scenes = (0..400).map(|index| captions().scene(seed, part, index).unwrap());
        let scenes: Vec<Scene> = scenes.collect();
        assert!(scenes.iter().all(|scene| ScenePart::of(scene) == part));
        seen.push(scenes.into_iter().map(|scene| scene.objects().to_vec()).collect());
    }
    for (number, part) in seen.iter().enumerate() {
        assert_eq!(part.len(), 400, "all of them differ");
        assert!(seen[..number].iter().all(|other| other.is_disjoint(part)));
    }
}

#[test]
fn parts_have_their_shares() {
    let mut rng = generator(5, 5);
    let mut counts = BTreeMap::new();
    let drawn = std::iter::repeat_with(|| Scene::draw(&mut Dice(&mut rng), 3, false)).flatten();
    for scene in drawn.take(20_000) {
        *counts.entry(ScenePart::of(&scene).name()).or_insert(0) += 1;
    }
    assert!((18_600..19_000).contains(&counts["train"]), "{counts:?}");
    assert!((500..700).contains(&counts["valid"]) && (500..700).contains(&counts["test"]), "{counts:?}");
    assert_eq!(counts.get("unseen"), None);
}

#[test]
fn combinations_are_unseen_in_one_part_only() {
    for part in ScenePart::ALL {
        let mut shapes = HashSet::new();
        let mut colours = HashSet::new();
        let mut unseen = HashSet::new();
        for scene in scenes(part, 400) {
            let held: Vec<&Object> = scene.objects().iter().filter(|object| object.is_unseen()).collect();
            assert_eq!(held.len(), usize::from(part == ScenePart::Unseen));
            unseen.extend(held.iter().map(|object| (object.shape, object.colour)));
            shapes.extend(scene.objects().iter().map(|object| object.shape));
            colours.extend(scene.objects().iter().map(|object| object.colour));
        }
        assert_eq!((shapes.len(), colours.len()), (8, 8));
        assert_eq!(unseen.len(), if part == ScenePart::Unseen { 8 } else { 0 });
    }
}

#[test]
fn scenes_keep_their_rules() {
    let (mut counts, mut covered) = ([0usize; 6], 0);
    for scene in scenes(ScenePart::Train, 2_000) {
        let objects = scene.objects();
        counts[objects.len()] += 1;
        for (number, a) in objects.iter().enumerate() {
            assert!(scene.seen(number) >= 0.75);
            let (least, most) = a.size.radii();
            assert!((least..=most).contains(&a.radius));
            let reach = (f32::from(a.radius) * outline::REACH) as u16;
            assert!([a.x, a.y].iter().all(|at| (reach..=UNITS - reach).contains(at)));
            let background = scene.background();
            for colour in [background.first, background.second] {
                assert!(background::contrast(a.colour.channels(), colour) > 20_000);
                assert!(background::grey(colour).abs_diff(background::grey(a.colour.channels())) > 15);
            }
            for (before, b) in objects.iter().enumerate().skip(number + 1) {
                let alike = (a.shape, a.colour) == (b.shape, b.colour);
                assert!(!alike || [a.size.min(b.size), a.size.max(b.size)] == [Size::Small, Size::Large]);
                let hidden = scene.hidden(number, before);
                assert!(hidden == 0.0 || a.colour != b.colour);
                covered += usize::from(hidden > 0.05);
                assert_eq!(scene.hidden(before, number), 0.0);
            }
        }
    }
    assert_eq!(counts.iter().sum::<usize>(), 2_000);
    assert!(counts[2..].iter().all(|count| (420..580).contains(count)), "{counts:?}");
    assert!(covered > 300, "some objects cover others: {covered}");
}

#[test]
fn captions_that_are_told_are_true_and_several() {
    let mut kinds = HashSet::new();
    for part in ScenePart::ALL {
        for scene in scenes(part, 400) {
            let told = scene.captions(5);
            assert_eq!(told.len(), 5, "{scene:?}");
            for caption in &told {
                let text = caption.to_string();
                assert_eq!(Caption::parse(&text).as_ref(), Some(caption), "{text}");
                assert!(is_true(&scene, &text), "{text}: {scene:?}");
                kinds.insert(std::mem::discriminant(caption));
                // One object each, and no other could be meant.
                if !matches!(caption, Caption::Count { .. } | Caption::Only { .. }) {
                    assert!(
                        caption.names().iter().all(|name| scene.of_kind(&name.kind).len() == 1),
                        "{text}"
                    );
                }
            }
            let distinct: HashSet<String> = told.iter().map(Caption::to_string).collect();
            assert_eq!(distinct.len(), told.len());
            assert_eq!(scene.captions(2), told[..2]);
            if part == ScenePart::Unseen {
                let meaning = scene.meaning(&told[0]).unwrap();
                let speaks = |objects: &Vec<usize>| objects.iter().any(|o| scene.objects()[*o].is_unseen());
                let relation = matches!(told[0], Caption::Relations { .. });
                assert!(!relation || meaning.iter().any(speaks), "{}", told[0]);
            }
        }
    }
    assert_eq!(kinds.len(), 5);
}

#[test]
fn what_is_so_is_true_and_what_is_not_is_false() {
    let scene = known();
    for text in [
        "there is a small red triangle",
        "there is a red triangle and a blue circle",
        "there is a blue object, a triangle and a blue object",
        "there are three objects",
        "there are two blue objects",
        "there is one small object",
        "a small red triangle is left of a blue circle",
        "the blue circle is right of the triangle",
        "the circle is above the square",
        "a blue object is larger than a red triangle",
        "a square is in front of a circle and right of a triangle",
        "the large circle is behind the blue square",
        "a small object is on the left",
        "the circle is on the right",
        "the largest object is a blue circle",
        "the leftmost object is an object",
        "the lowest object is a square",
        "  there are three objects ",
    ] {
        assert_eq!(scene.verdict(text), Verdict::True, "{text}");
    }
    for text in [
        "there is a large red triangle",
        "there is a small square",
        "there is a red triangle and a red object",
        "there is a blue object, a blue object and a blue object",
        "there are two objects",
        "there are four objects",
        "there is one blue object",
        "a red triangle is right of a blue circle",
        "the blue object is right of the triangle", // there are two
        "the square is above the circle",
        "a circle is left of a circle",
        "a triangle is larger than a blue object",
        "the circle is in front of the square",
        "a triangle is behind a square",
        "a square is in front of a circle and left of a triangle",
        "the square is on the left",
        "the triangle is at the top",
        "the largest object is a blue square",
        "the highest object is a triangle",
        "a green circle is left of a star",
    ] {
        assert_eq!(scene.verdict(text), Verdict::False, "{text}");
    }
    for text in [
        "",
        "a",
        "there are three object",
        "there are three objects.",
        "There are three objects",
        "there are one objects",
        "there are six objects",
        "there is two objects",
        "there is the red triangle",
        "there is an red triangle",
        "there is a blue object, a triangle, a blue object",
        "there is a triangle and a circle and a square",
        "there is a red small triangle",
        "there is a medium square",
        "a triangle is left of",
        "a triangle is left of a circle left of a square",
        "a triangle left of a circle",
        "a triangle is  left of a circle",
        "a triangle is left of a circle and a square",
        "the largest object is the blue circle",
        "the largest circle is a blue object",
        "a heptagon is left of a circle",
        "there is a circle, a circle, a circle, a circle, a circle and a circle",
    ] {
        assert_eq!(scene.verdict(text), Verdict::NoCaption, "{text}");
    }
}

/// A caption with one thing in it changed so that it cannot be true, where there is such a change.
fn spoilt(scene: &Scene, text: &str) -> Vec<String> {
    let opposites = [
        ("left of", "right of"),
        ("above", "below"),
        ("larger than", "smaller than"),
        ("in front of", "behind"),
        ("on the left", "on the right"),
        ("at the top", "at the bottom"),
        ("largest", "smallest"),
        ("leftmost", "rightmost"),
        ("highest", "lowest"),
        ("two", "three"),
        ("four", "five"),
    ];
    let mut spoilt = Vec::new();
    for (a, b) in opposites.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
        if text.contains(a) {
            spoilt.push(text.replacen(a, b, 1));
        }
    }
    let article = |text: String| {
        let text = text.replace("a orange", "an orange");
        ["red", "yellow", "green", "blue", "pink", "white", "black"]
            .iter()
            .fold(text, |text, colour| text.replace(&format!("an {colour}"), &format!("a {colour}")))
    };
    let objects = scene.objects();
    let absent = Colour::ALL.iter().find(|c| objects.iter().all(|object| object.colour != **c)).unwrap();
    for colour in Colour::ALL.iter().filter(|colour| text.contains(colour.word())) {
        spoilt.push(article(text.replacen(colour.word(), absent.word(), 1)));
    }
    let absent = Shape::ALL.iter().find(|s| objects.iter().all(|object| object.shape != **s)).unwrap();
    for shape in Shape::ALL.iter().filter(|shape| text.contains(shape.word())) {
        let (from, to) = match text.contains(shape.plural()) {
            true => (shape.plural(), absent.plural()),
            false => (shape.word(), absent.word()),
        };
        spoilt.push(text.replacen(from, to, 1));
    }
    spoilt
}

#[test]
fn captions_with_something_changed_are_false() {
    let mut count = 0;
    for scene in scenes(ScenePart::Train, 800) {
        for caption in scene.captions(5) {
            // Another object of the same kind may be at the other end.
            let clear = caption.names().iter().all(|name| scene.of_kind(&name.kind).len() == 1);
            if matches!(caption, Caption::Only { .. }) && !clear {
                continue;
            }
            for text in spoilt(&scene, &caption.to_string()) {
                assert_eq!(scene.verdict(&text), Verdict::False, "{caption} / {text}: {scene:?}");
                count += 1;
            }
        }
    }
    assert!(count > 8_000, "{count}");
}

#[test]
fn what_is_said_is_clearer_than_what_is_true() {
    for scene in scenes(ScenePart::Valid, 100) {
        let count = scene.objects().len();
        for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            for &relation in Relation::ALL {
                let said = scene.holds(relation, a, b, Margin::Said);
                assert!(!said || scene.holds(relation, a, b, Margin::True));
                assert!(!said || !scene.holds(relation, b, a, Margin::True));
            }
        }
    }
}

#[test]
fn words_know_the_boxes_of_what_they_name() {
    let scene = known();
    let boxes = scene.drawn(100).boxes;
    let told = |text: &str| {
        let caption = Caption::parse(text).unwrap();
        let told = scene.with_boxes(&caption, &boxes);
        assert_eq!(told.text, text);
        let words = words::split(text);
        told.mentions.iter().map(|m| (words[m.word].to_owned(), m.boxes.clone())).collect::<Vec<_>>()
    };
    let [circle, triangle, square] = [boxes[0], boxes[1], boxes[2]];
    let named = |words: &[(&str, &[PixelBox])]| -> Vec<(String, Vec<PixelBox>)> {
        words.iter().map(|(word, boxes)| ((*word).to_owned(), boxes.to_vec())).collect()
    };
    assert_eq!(
        told("a small red triangle is left of the blue circle"),
        named(&[
            ("small", &[triangle]),
            ("red", &[triangle]),
            ("triangle", &[triangle]),
            ("blue", &[circle]),
            ("circle", &[circle])
        ])
    );
    assert_eq!(
        told("there are two blue objects"),
        named(&[("two", &[circle, square]), ("blue", &[circle, square]), ("objects", &[circle, square])])
    );
    assert_eq!(
        told("there is a square, a triangle and a circle"),
        named(&[("square", &[square]), ("triangle", &[triangle]), ("circle", &[circle])])
    );
    assert_eq!(
        told("the largest object is a circle"),
        named(&[("largest", &[circle]), ("object", &[circle]), ("circle", &[circle])])
    );
    let caption = Caption::parse("there is a green moon").unwrap();
    assert_eq!(scene.with_boxes(&caption, &boxes).mentions, []);
}

#[test]
fn texts_of_others_have_boxes_if_they_are_true() {
    for asked in [Asked::Captions(5), Asked::Largest, Asked::Count] {
        let set =
            DrawnShapes { task: Shapes::new(64, asked).unwrap(), part: ScenePart::Test, seed: 2, count: 8 };
        for index in 0..set.len() {
            for told in set.get(index).unwrap().texts {
                assert!(!told.mentions.is_empty());
                let located = set.located(index, &told.text).unwrap();
                assert_eq!(located, Some(told), "{asked:?}");
            }
            assert_eq!(set.located(index, "there are six objects").unwrap(), None);
        }
    }
    let task = captions();
    let boxes = known().drawn(64).boxes;
    let found = task.located(&known(), "a triangle is left of a circle").unwrap();
    let named: Vec<_> = found.mentions.iter().map(|said| (said.word, said.boxes.clone())).collect();
    assert_eq!(named, [(1, vec![boxes[1]]), (6, vec![boxes[0]])]);
    assert_eq!(task.located(&known(), "a triangle is right of a circle"), None);
}

/// How much of each pixel an object takes: its colour is white, all else is black.
fn taken(scene: &Scene, object: usize, side: usize) -> Image {
    let black = Colour::Black.channels();
    let colour = |number| if number == object { Colour::White } else { Colour::Black };
    let objects = scene.objects().iter().enumerate();
    let objects = objects.map(|(number, there)| Object { colour: colour(number), shade: 0, ..*there });
    Scene::new(objects.collect(), Background::plain(black)).drawn(side).image.grey()
}

#[test]
fn boxes_hold_what_is_to_be_seen_of_an_object_and_no_more() {
    for (scene, side) in scenes(ScenePart::Test, 60).zip([64, 97, 128, 224].into_iter().cycle()) {
        for (object, found) in scene.drawn(side).boxes.iter().enumerate() {
            let image = taken(&scene, object, side);
            // Black is 22, white 248; a pixel is the object's own if it takes 30 % of it.
            let own = |row, column| image.pixel(row, column).unwrap()[0];
            let (mut rows, mut columns) = (vec![0u8; side], vec![0u8; side]);
            for place in 0..side * side {
                let (row, column) = (place / side, place % side);
                rows[row] = rows[row].max(own(row, column));
                columns[column] = columns[column].max(own(row, column));
                let inside = found.contains(column as f32 + 0.5, row as f32 + 0.5);
                assert!(inside || own(row, column) < 22 + 70, "{object} {found:?} {scene:?}");
            }
            for touched in [rows[found.top as usize], rows[found.bottom as usize - 1]] {
                assert!(touched > 22 + 66, "{found:?} is too high");
            }
            for touched in [columns[found.left as usize], columns[found.right as usize - 1]] {
                assert!(touched > 22 + 66, "{found:?} is too wide");
            }
        }
    }
}

#[test]
fn a_circle_is_where_it_should_be() {
    let circle = Object { radius: 200, ..object(Shape::Circle, Colour::Red, Size::Large, 500, 250) };
    let scene = Scene::new(vec![circle], Background::plain([10, 200, 10]));
    let Drawing { image, boxes } = scene.drawn(100);
    // The radius of a circle is 0.97 × 200 units, 19.4 pixels, of which the last covers 0.4 of its pixel.
    assert_eq!(boxes, [PixelBox::new(30.0, 5.0, 70.0, 45.0)]);
    assert_eq!(image.pixel(25, 50).unwrap(), Colour::Red.channels());
    assert_eq!(image.pixel(70, 50).unwrap(), [10, 200, 10]);
    let red: f64 = image.bytes().chunks(3).map(|p| (f64::from(p[0]) - 10.0) / 185.0).sum();
    let area = std::f64::consts::PI * 19.4 * 19.4;
    assert!((red / area - 1.0).abs() < 0.01, "{red} {area}");
}

#[test]
fn labels_are_of_the_largest_object_or_a_number() {
    let labels = |asked| {
        let task = Shapes::new(64, asked).unwrap();
        let scenes = (0..60).map(|index| task.scene(2, ScenePart::Test, index).unwrap());
        let labels: Vec<(Scene, Vec<String>)> = scenes.map(|s| (s.clone(), task.texts(&s))).collect();
        let example = task.example(2, ScenePart::Test, 0).unwrap();
        assert_eq!(example.texts[0].text, labels[0].1[0]);
        assert!(labels.iter().all(|(_, labels)| labels.len() == 1));
        labels
    };
    for asked in [Asked::LargestShape, Asked::LargestColour, Asked::Largest] {
        for (scene, label) in labels(asked) {
            let radius = |object: &&Object| object.radius;
            let largest = scene.objects().iter().max_by_key(radius).unwrap();
            let rest = scene.objects().iter().filter(|object| *object != largest);
            assert!(rest.map(|object| object.radius).all(|other| 4 * largest.radius >= 5 * other));
            let (colour, shape) = (largest.colour.word(), largest.shape.word());
            match asked {
                Asked::LargestShape => assert_eq!(label[0], shape),
                Asked::LargestColour => assert_eq!(label[0], colour),
                _ => assert_eq!(label[0], format!("{colour} {shape}")),
            }
        }
    }
    let numbers = ["no", "one", "two", "three", "four", "five"];
    for (scene, label) in labels(Asked::Count) {
        assert_eq!(label[0], numbers[scene.objects().len()]);
    }
    let mut seen = HashSet::new();
    for (scene, label) in labels(Asked::CountOf(Colour::Blue)) {
        let count = scene.objects().iter().filter(|object| object.colour == Colour::Blue).count();
        assert_eq!(label[0], numbers[count]);
        seen.insert(count);
    }
    assert!(seen.len() > 1);
}

#[test]
fn tasks_that_make_no_sense_are_refused() {
    for side in [0, 63, 225] {
        let error = Shapes::new(side, Asked::Count).unwrap_err().to_string();
        assert!(error.contains("64 to 224"), "{error}");
    }
    for captions in [0, 17] {
        assert!(Shapes::new(64, Asked::Captions(captions)).is_err());
    }
}

#[test]
fn a_scene_is_the_same_at_every_size() {
    let [small, large] = [64, 224].map(|side| Shapes::new(side, Asked::Captions(5)).unwrap());
    for index in 0..20 {
        let [a, b] = [small, large].map(|task| task.example(1, ScenePart::Train, index).unwrap());
        assert_eq!((a.image.width(), b.image.width()), (64, 224));
        for (a, b) in a.texts.iter().zip(&b.texts) {
            assert_eq!(a.text, b.text);
            for (a, b) in a.mentions.iter().zip(&b.mentions) {
                for (a, b) in a.boxes.iter().zip(&b.boxes) {
                    assert!((a.left * 3.5 - b.left).abs() < 6.0 && (a.bottom * 3.5 - b.bottom).abs() < 6.0);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_judge(text in "(the|a|an|is|are|there|red|large|circle|objects|and|,|left|of|two|one| ){0,12}") {
        let scene = known();
        let verdict = scene.verdict(&text);
        prop_assert_eq!(Caption::parse(&text).is_none(), verdict == Verdict::NoCaption);
    }

    #[test]
    fn any_scene_can_be_drawn(
        objects in prop::collection::vec((0usize..8, 0usize..8, 0u16..1500, 0u16..1500, 1u16..900, any::<i8>()), 0..5),
        side in 1usize..80,
        pattern in 0usize..5,
        scale in any::<u16>(),
        key in any::<u64>(),
    ) {
        let objects: Vec<Object> = objects
            .into_iter()
            .map(|(shape, colour, x, y, radius, turn)| Object {
                radius, turn, shade: turn,
                ..object(Shape::ALL[shape], Colour::ALL[colour], Size::Small, x, y)
            })
            .collect();
        let pattern = Pattern::ALL[pattern];
        let background = Background { pattern, first: [0; 3], second: [255; 3], scale, noise: 255, key };
        let scene = Scene::new(objects, background);
        let drawing = scene.drawn(side);
        prop_assert_eq!(drawing.boxes.len(), scene.objects().len());
        prop_assert_eq!(drawing.image.height(), side);
        for text in scene.captions(3) {
            prop_assert!(is_true(&scene, &text.to_string()));
        }
    }
}
