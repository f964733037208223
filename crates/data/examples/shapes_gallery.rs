//! Draws contact sheets of the built-in task `shapes`, with boxes and captions, to look at:
//! `cargo run --release -p gatto-data --example shapes_gallery -- FOLDER [SEED] [SIDE]`.

use std::path::Path;

use gatto_data::Image;
use gatto_data::builtin::shapes::{Asked, ScenePart, Shapes, is_true};
use gatto_data::images::{ImageExample, PixelBox};

const COLUMNS: usize = 4;
const ROWS: usize = 4;
const CAPTIONS: usize = 5;
const MARGIN: usize = 12;
/// Letters are 5 × 8 dots.
const ADVANCE: usize = 6;
const LINE: usize = 11;
const LINES: usize = 10;
const INK: [u8; 3] = [20, 20, 20];
const GREY: [u8; 3] = [120, 120, 120];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder to write into")?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let side: usize = arguments.next().map_or(Ok(64), |side| side.parse())?;
    std::fs::create_dir_all(&folder)?;
    let task = Shapes::new(side, Asked::Captions(CAPTIONS))?;
    for part in [ScenePart::Train, ScenePart::Unseen] {
        let sheet = sheet(&task, seed, part)?;
        let path = Path::new(&folder).join(format!("shapes-{}-{side}.png", part.name()));
        sheet.write_png(&path)?;
        eprintln!("{}", path.display());
    }
    Ok(())
}

/// A sheet under way.
struct Paper {
    image: Image,
}

impl Paper {
    fn dot(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        let (height, width) = (self.image.height(), self.image.width());
        if x < width && y < height {
            self.image.bytes_mut()[(y * width + x) * 3..][..3].copy_from_slice(&colour);
        }
    }

    /// Each pixel of an image as a square of `zoom` dots.
    fn paste(&mut self, image: &Image, left: usize, top: usize, zoom: usize) {
        for y in 0..image.height() * zoom {
            for x in 0..image.width() * zoom {
                if let Some(&[red, green, blue]) = image.pixel(y / zoom, x / zoom) {
                    self.dot(left + x, top + y, [red, green, blue]);
                }
            }
        }
    }

    /// A dashed frame of black and white, to be seen on anything.
    fn frame(&mut self, frame: &PixelBox, left: usize, top: usize, zoom: usize) {
        let zoomed = |value: f32| (value * zoom as f32) as usize;
        let (x0, x1) = (left + zoomed(frame.left), left + zoomed(frame.right) - 1);
        let (y0, y1) = (top + zoomed(frame.top), top + zoomed(frame.bottom) - 1);
        let dash = |n: usize| if (n / 3).is_multiple_of(2) { [255; 3] } else { [0; 3] };
        for x in x0..=x1 {
            self.dot(x, y0, dash(x));
            self.dot(x, y1, dash(x));
        }
        for y in y0..=y1 {
            self.dot(x0, y, dash(y));
            self.dot(x1, y, dash(y));
        }
    }

    fn line(&mut self, text: &str, left: usize, top: usize, colour: [u8; 3]) {
        for (place, letter) in text.chars().enumerate() {
            for (row, bits) in glyph(letter).iter().enumerate() {
                for column in (0..5).filter(|column| bits & (16 >> column) != 0) {
                    self.dot(left + place * ADVANCE + column, top + row, colour);
                }
            }
        }
    }
}

fn sheet(task: &Shapes, seed: u64, part: ScenePart) -> Result<Image, Box<dyn std::error::Error>> {
    let zoom = 192usize.div_ceil(task.side());
    let picture = task.side() * zoom;
    let (across, down) = (picture + MARGIN, picture + MARGIN + LINES * LINE);
    let image = Image::filled(ROWS * down + MARGIN, COLUMNS * across + MARGIN, &[250; 3])?;
    let mut paper = Paper { image };
    for number in 0..ROWS * COLUMNS {
        let (left, top) = (MARGIN + number % COLUMNS * across, MARGIN + number / COLUMNS * down);
        let scene = task.scene(seed, part, number as u64)?;
        let example: ImageExample = task.example(seed, part, number as u64)?;
        paper.paste(&example.image, left, top, zoom);
        for object in scene.drawn(task.side()).boxes {
            paper.frame(&object, left, top, zoom);
        }
        let mut y = top + picture + 4;
        for (place, text) in example.texts.iter().enumerate() {
            let colour = match (is_true(&scene, &text.text), place % 2) {
                (false, _) => [220, 0, 0],
                (true, 0) => INK,
                (true, _) => GREY,
            };
            for line in wrapped(&text.text, picture / ADVANCE) {
                paper.line(&line, left, y, colour);
                y += LINE - 1;
            }
        }
    }
    Ok(paper.image)
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if lines[last].len() + 1 + word.len() <= width {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines
}

/// The dots of a letter, row after row, the leftmost in the highest of five bits.
fn glyph(letter: char) -> [u8; 8] {
    match letter {
        'a' => [0, 0, 0x0e, 0x01, 0x0f, 0x11, 0x0f, 0],
        'b' => [0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e, 0],
        'c' => [0, 0, 0x0e, 0x11, 0x10, 0x11, 0x0e, 0],
        'd' => [0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0],
        'e' => [0, 0, 0x0e, 0x11, 0x1f, 0x10, 0x0e, 0],
        'f' => [0x06, 0x08, 0x1c, 0x08, 0x08, 0x08, 0x08, 0],
        'g' => [0, 0, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x0e],
        'h' => [0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11, 0],
        'i' => [0x04, 0, 0x0c, 0x04, 0x04, 0x04, 0x0e, 0],
        'j' => [0x02, 0, 0x06, 0x02, 0x02, 0x02, 0x12, 0x0c],
        'k' => [0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12, 0],
        'l' => [0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e, 0],
        'm' => [0, 0, 0x1a, 0x15, 0x15, 0x15, 0x15, 0],
        'n' => [0, 0, 0x1e, 0x11, 0x11, 0x11, 0x11, 0],
        'o' => [0, 0, 0x0e, 0x11, 0x11, 0x11, 0x0e, 0],
        'p' => [0, 0, 0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10],
        'q' => [0, 0, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x01],
        'r' => [0, 0, 0x16, 0x18, 0x10, 0x10, 0x10, 0],
        's' => [0, 0, 0x0f, 0x10, 0x0e, 0x01, 0x1e, 0],
        't' => [0x08, 0x08, 0x1c, 0x08, 0x08, 0x08, 0x06, 0],
        'u' => [0, 0, 0x11, 0x11, 0x11, 0x11, 0x0f, 0],
        'v' => [0, 0, 0x11, 0x11, 0x11, 0x0a, 0x04, 0],
        'w' => [0, 0, 0x11, 0x15, 0x15, 0x15, 0x0a, 0],
        'x' => [0, 0, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0],
        'y' => [0, 0, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e],
        'z' => [0, 0, 0x1f, 0x02, 0x04, 0x08, 0x1f, 0],
        ',' => [0, 0, 0, 0, 0, 0x04, 0x04, 0x08],
        _ => [0; 8],
    }
}
