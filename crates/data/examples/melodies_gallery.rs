//! Writes melodies of the built-in task `melodies` as WAV files, with a list of their notes, to listen to:
//! `cargo run --release -p gatto-data --example melodies_gallery -- FOLDER [COUNT] [SEED] [RATE]`.
//!
//! `melodies.tsv` and `melodies.jsonl` in the folder are lists that sound files are read by; the second knows when each note
//! sounds.

use std::path::Path;

use gatto_data::builtin::melodies::Melodies;
use gatto_data::{Part, files};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder to write into")?;
    let count: u64 = arguments.next().map_or(Ok(20), |count| count.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let rate: u32 = arguments.next().map_or(Ok(16_000), |rate| rate.parse())?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let task = Melodies::new(rate)?;
    let (mut tsv, mut jsonl) = (String::new(), String::new());
    for index in 0..count {
        let example = task.example(seed, Part::Train, index)?;
        let name = format!("{index:03}.wav");
        example.sound.write_wav(&folder.join(&name))?;
        let said = &example.said;
        let timbre = said.speaker.as_deref().unwrap_or_default();
        tsv += &format!("{name}\t{}\t{timbre}\n", said.text);
        let mut line = serde_json::to_value(said)?;
        line["path"] = name.as_str().into();
        jsonl += &format!("{line}\n");
        eprintln!("{name}  {:5.2} s  {timbre:8} {}", example.sound.seconds(), said.text);
    }
    for (name, text) in [("melodies.tsv", tsv), ("melodies.jsonl", jsonl)] {
        files::replace(&folder.join(name), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}
