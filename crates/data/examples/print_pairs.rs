//! Prints training pairs of a built-in task, to read:
//! `cargo run --release -p gatto-data --example print_pairs -- phrases 100 1` (task, count, seed).

use gatto_data::Part;
use gatto_data::builtin::{Builtin, LengthRange};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let task = Builtin::named(&arguments.next().unwrap_or("phrases".into()), LengthRange::default())?;
    let count = arguments.next().map_or(Ok(20), |count| count.parse())?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    for index in 0..count {
        let pair = task.example(seed, Part::Train, index)?;
        eprintln!("{}\n    {}", pair.source, pair.target);
    }
    Ok(())
}
