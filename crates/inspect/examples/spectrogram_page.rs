//! Writes spectrograms of every kind into a directory, to look at and for the browser test:
//!
//! ```text
//! cargo run --release -p gatto-inspect --example spectrogram_page -- DIRECTORY
//! ```
//!
//! The sounds are melodies of the built-in task; when the model listened is made up: at the beginning of each note, and
//! a little around it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use gatto_data::Part;
use gatto_data::builtin::melodies::Melodies;
use gatto_data::sound::Preparer;
use gatto_inspect::spectrogram::{Colours, Heard, Spectrogram, html, png, svg, terminal};

type Made<T> = Result<T, Box<dyn Error>>;

fn main() -> Made<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let [first, second] = [melody(0, false)?, melody(5, true)?];
    write(&directory, "melody", &first)?;
    write(&directory, "hostile", &second)?;
    fs::write(directory.join("both.html"), html(&[&first, &second]))?;
    Ok(())
}

fn write(directory: &Path, name: &str, picture: &Spectrogram) -> Made<()> {
    let file = |ending: &str| directory.join(format!("{name}.{ending}"));
    fs::write(file("html"), html(&[picture]))?;
    fs::write(file("svg"), svg(picture))?;
    fs::write(file("png"), png(picture, 1.5)?)?;
    fs::write(file("txt"), terminal(picture, 100, Colours::None))?;
    fs::write(file("ansi"), terminal(picture, 100, Colours::True))?;
    Ok(())
}

fn melody(index: u64, hostile: bool) -> Made<Spectrogram> {
    let task = Melodies::new(16_000)?;
    let example = task.example(1, Part::Test, index)?;
    let preparer = Preparer::new(task.preparation(), None)?;
    let powers = preparer.powers(&example.sound);
    let timeline = powers.timeline().joined(4);
    let notes: Vec<&str> = example.said.text.split(' ').collect();
    let token = |(number, mention): (usize, &gatto_data::sound::Mention)| {
        let near = timeline.place(mention.start);
        let weight = |place: usize| match place.abs_diff(near) {
            0 => 0.8,
            1 => 0.08,
            2 => 0.02,
            _ => 0.0,
        };
        let name =
            if hostile { format!("<b>{}</b>&\u{202e}", notes[number]) } else { notes[number].to_owned() };
        Heard {
            probability: Some(0.99 - 0.05 * number as f32),
            known: Some((mention.start, mention.end)),
            ..Heard::new(name, (0..timeline.places).map(weight).collect())
        }
    };
    let tokens = example.said.mentions.iter().enumerate().map(token).collect();
    let title = match hostile {
        true => "</script><img src=x onerror=alert(1)>".to_owned(),
        false => format!("{} → {}", example.name, example.said.text),
    };
    let features = task.preparation().features;
    let pitches = (features.lowest, features.highest.unwrap_or(8_000.0));
    Ok(Spectrogram::new(title, powers, pitches, timeline, tokens)?.with_sound(example.sound.wav()))
}
