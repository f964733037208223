//! Writes overlays of every kind into a directory, to look at and for the browser test:
//!
//! ```text
//! cargo run --release -p gatto-inspect --example overlay_page -- DIRECTORY
//! ```
//!
//! The images are scenes of the built-in task `shapes`; where the model looked is made up: round spots where the words
//! are, a haze for the others, and now and then a spot in the wrong place.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use gatto_data::builtin::shapes::{Asked, ScenePart, Shapes};
use gatto_data::images::{Grid, Image, ImageExample, PixelBox};
use gatto_data::words;
use gatto_inspect::overlay::{
    Colours, Failure, Focus, Map, Maps, Overlay, Seen, Shown, View, failures_page, html, maps_png, maps_svg,
    maps_terminal, png, svg, terminal,
};

type Made<T> = Result<T, Box<dyn Error>>;

fn main() -> Made<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let overlays = overlays()?;
    for (name, overlay) in &overlays {
        write(&directory, name, overlay)?;
    }
    let all: Vec<Seen> = overlays.iter().map(|(_, overlay)| overlay.into()).collect();
    fs::write(directory.join("all.html"), html(&all))?;
    fs::write(
        directory.join("failures.html"),
        failures_page("The worst captions of a model", &failures()?)?,
    )?;
    let maps = maps()?;
    fs::write(directory.join("maps.html"), html(&[(&maps).into()]))?;
    let both = Seen { overlay: Some(&overlays[0].1), maps: Some(&maps) };
    fs::write(directory.join("both.html"), html(&[both]))?;
    fs::write(directory.join("maps.svg"), maps_svg(&maps))?;
    fs::write(directory.join("maps.png"), maps_png(&maps, 1.5)?)?;
    fs::write(directory.join("maps.ansi"), maps_terminal(&maps, 100, Colours::True))?;
    Ok(())
}

fn write(directory: &Path, name: &str, overlay: &Overlay) -> Made<()> {
    let file = |ending: &str| directory.join(format!("{name}.{ending}"));
    let shown = Shown::default();
    fs::write(file("html"), html(&[overlay.into()]))?;
    fs::write(file("svg"), svg(overlay, shown))?;
    fs::write(file("png"), png(overlay, shown, 1.5)?)?;
    fs::write(file("txt"), terminal(overlay, 100, Colours::None, shown))?;
    fs::write(file("ansi"), terminal(overlay, 100, Colours::True, shown))?;
    Ok(())
}

fn overlays() -> Made<Vec<(&'static str, Overlay)>> {
    let grid = Grid { rows: 14, columns: 14 };
    let large = scene(224, 3)?;
    let small = scene(64, 8)?;
    let caption = large.texts[0].text.clone();
    let views = vec![
        View { name: "attention".to_owned(), words: looked(&large, grid, 1.0, 0) },
        View { name: "gradient × input".to_owned(), words: looked(&large, grid, 0.02, 40) },
        View { name: "erasure".to_owned(), words: looked(&large, grid, 3.0, 80) },
    ];
    let out = Overlay::new(format!("scene.png: {caption}"), large.image.clone(), grid, views)?;
    let coarse = Grid { rows: 8, columns: 8 };
    let three: Vec<Focus> = looked(&small, coarse, 1.0, 7).into_iter().take(3).collect();
    let three = Overlay::of_words("three words", small.image.clone(), coarse, three)?;
    let mut many: Vec<Focus> = Vec::new();
    for round in 0..4 {
        many.extend(looked(&large, grid, 1.0, 100 * round));
    }
    many.truncate(25);
    let many = Overlay::of_words("twenty-five words", large.image.clone(), grid, many)?;
    let wide = Overlay::of_words("", wide(), Grid { rows: 6, columns: 12 }, wide_words())?;
    Ok(vec![("out", out), ("three", three), ("many", many), ("wide", wide), ("hostile", hostile()?)])
}

/// An example of the task with captions.
fn scene(side: usize, index: u64) -> Made<ImageExample> {
    Ok(Shapes::new(side, Asked::Captions(3))?.example(1, ScenePart::Valid, index)?)
}

/// The words of the first caption, most of which look where they should.
fn looked(example: &ImageExample, grid: Grid, strength: f32, seed: usize) -> Vec<Focus> {
    let text = &example.texts[0];
    let image = &example.image;
    let focus = |(index, word): (usize, &str)| {
        let boxes = text.mentions.iter().find(|mention| mention.word == index);
        let boxes = boxes.map(|mention| mention.boxes.clone()).unwrap_or_default();
        let lost = noise(index + seed) > 0.85;
        let weights = spots(image, grid, if lost { &[] } else { &boxes }, strength, index + seed);
        let probability = 1.0 - 0.6 * noise(3 * index + seed).powi(3);
        Focus::new(word, weights).with_probability(probability).with_boxes(boxes)
    };
    words::split(&text.text).into_iter().enumerate().map(focus).collect()
}

/// A round spot at each box over a haze; a wide spot somewhere if there is none.
fn spots(image: &Image, grid: Grid, boxes: &[PixelBox], strength: f32, seed: usize) -> Vec<f32> {
    let (height, width) = (image.height() as f32, image.width() as f32);
    let mut centres: Vec<[f32; 3]> = boxes
        .iter()
        .map(|thing| {
            let (x, y) = thing.centre();
            [x / width, y / height, 0.4 * thing.width().max(thing.height()) / width]
        })
        .collect();
    if centres.is_empty() {
        centres.push([0.2 + 0.6 * noise(seed + 5), 0.2 + 0.6 * noise(seed + 9), 0.25]);
    }
    let weight = |(region, part): (usize, PixelBox)| {
        let (x, y) = part.centre();
        let near = |[at_x, at_y, wide]: &[f32; 3]| {
            let (x, y) = (x / width - at_x, y / height - at_y);
            (-(x * x + y * y) / (2.0 * wide * wide)).exp()
        };
        centres.iter().map(near).sum::<f32>() + 0.03 * noise(seed * 1000 + region)
    };
    let regions = grid.regions(image.height(), image.width()).into_iter();
    let weights: Vec<f32> = regions.enumerate().map(weight).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum * strength).collect()
}

/// Numbers from 0 to 1 without rhyme or reason, the same in every run.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u32).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    (mixed.wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 24) as f32
}

/// Rollout and the heads of a Transformer with six layers.
fn maps() -> Made<Maps> {
    let example = scene(224, 5)?;
    let grid = Grid { rows: 14, columns: 14 };
    let boxes: Vec<PixelBox> =
        example.texts[0].mentions.iter().flat_map(|mention| mention.boxes.clone()).collect();
    let head = |seed: usize| {
        let first = boxes.get(seed % (boxes.len() + 2)).map(std::slice::from_ref).unwrap_or_default();
        spots(&example.image, grid, first, 1.0, seed)
    };
    let heads = (0..6).map(|layer| (0..8).map(|at| head(31 * layer + at)).collect()).collect();
    let large = vec![
        Map::new("attention rollout", spots(&example.image, grid, &boxes, 1.0, 1)),
        Map::new("mean of the last layer", spots(&example.image, grid, &boxes[..1], 1.0, 2)),
    ];
    Ok(Maps::new("scene.png: where the class token looks", example.image.clone(), grid, large, heads)?)
}

/// A landscape, so that not everything is square.
fn wide() -> Image {
    let (height, width) = (300, 600);
    let mut bytes = Vec::with_capacity(height * width * 3);
    for row in 0..height {
        for column in 0..width {
            let hill = 180.0 + 40.0 * (column as f32 / 90.0).sin();
            let sun = (row as f32 - 80.0).hypot(column as f32 - 450.0) < 40.0;
            let sky = [120 + (row / 4) as u8, 170, 220 - (row / 6) as u8];
            let pixel = if sun {
                [250, 220, 90]
            } else if row as f32 > hill {
                [70, 120, 60]
            } else {
                sky
            };
            bytes.extend(pixel);
        }
    }
    Image::new(height, width, 3, bytes).unwrap_or_else(|_| unreachable!("as many bytes as pixels"))
}

fn wide_words() -> Vec<Focus> {
    let sun = PixelBox::new(410.0, 40.0, 490.0, 120.0);
    let image = wide();
    let grid = Grid { rows: 6, columns: 12 };
    let focus = |word: &str, boxes: Vec<PixelBox>, seed| {
        Focus::new(word, spots(&image, grid, &boxes, 1.0, seed)).with_boxes(boxes)
    };
    let hills = PixelBox::new(0.0, 200.0, 600.0, 300.0);
    vec![
        focus("the", Vec::new(), 1),
        focus("sun", vec![sun], 2),
        focus("over", Vec::new(), 3),
        focus("hills", vec![hills], 4),
    ]
}

/// Captions in which one word was put in the place of another.
fn failures() -> Made<Vec<Failure>> {
    let grid = Grid { rows: 14, columns: 14 };
    let mut failures = Vec::new();
    for index in 0..30u64 {
        let example = scene(if index % 3 == 0 { 64 } else { 224 }, index)?;
        let seed = 17 * index as usize;
        let mut words = looked(&example, grid, 1.0, seed);
        let named: Vec<usize> = (0..words.len()).filter(|&word| !words[word].boxes.is_empty()).collect();
        let Some(&at) = named.get(seed % named.len().max(1)) else { continue };
        let said = std::mem::replace(&mut words[at].word, ["purple", "heart", "three"][seed % 3].to_owned());
        words[at].weights = spots(&example.image, grid, &[], 1.0, seed + 3);
        let kind = ["wrong colour", "thing that is not there", "wrong number"][seed % 3];
        let overlay = Overlay::of_words(example.name.clone(), example.image.clone(), grid, words)?;
        failures.push(Failure {
            overlay,
            wrong: vec![at],
            references: example.texts.iter().map(|text| text.text.clone()).collect(),
            reasons: vec![format!(
                "It says *{}* where *{said}* would be right.",
                ["purple", "heart", "three"][seed % 3]
            )],
            kinds: vec![kind.to_owned()],
            score: noise(seed + 1),
            figures: vec![
                ("log-probability".to_owned(), -12.0 * noise(seed + 2)),
                ("pointing".to_owned(), noise(seed + 4)),
            ],
        });
    }
    let hostile = hostile()?;
    let lines = vec!["<b onmouseover=window.harmed=1>".to_owned(), "القطة على الطاولة".to_owned()];
    failures.push(Failure {
        overlay: hostile,
        wrong: vec![0, 4],
        references: lines.clone(),
        reasons: lines,
        kinds: vec!["</script>".to_owned()],
        score: 2.0,
        figures: Vec::new(),
    });
    Ok(failures)
}

fn hostile() -> Made<Overlay> {
    let texts = [
        "</script><img src=x onerror=window.harmed=1>",
        "<!--<script>",
        "]]>&amp;\"'`${1}",
        "\u{1b}[31m\u{202e}abc",
        "القطة",
        "图书馆图书馆图书馆图书馆图书馆",
        "",
    ];
    let grid = Grid { rows: 3, columns: 5 };
    let image = Image::filled(8, 12, &[90, 160, 200])?;
    let words =
        texts.iter().enumerate().map(|(index, text)| Focus::new(*text, spots(&image, grid, &[], 1.0, index)));
    Ok(Overlay::of_words("<script>window.harmed=1</script>", image.clone(), grid, words.collect())?)
}
