//! Measures how fast scenes of the built-in task `shapes` are made, on one core:
//! `cargo run --release -p gatto-data --example shapes_speed`.

use std::time::Instant;

use gatto_data::builtin::shapes::{Asked, ScenePart, Shapes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (side, part, count) in [
        (64, ScenePart::Train, 4_000),
        (64, ScenePart::Valid, 400),
        (64, ScenePart::Unseen, 4_000),
        (128, ScenePart::Train, 1_000),
        (224, ScenePart::Train, 400),
    ] {
        let task = Shapes::new(side, Asked::Captions(5))?;
        let start = Instant::now();
        let mut captions = 0;
        for index in 0..count {
            captions += task.example(1, part, index)?.texts.len();
        }
        let seconds = start.elapsed().as_secs_f64();
        let name = part.name();
        let rate = count as f64 / seconds * 60.0;
        eprintln!("{side:>3} × {side:<3} {name:<6} {rate:>8.0} examples a minute, {captions} captions");
        let start = Instant::now();
        for index in 0..count {
            task.scene(1, part, index)?;
        }
        let scene = start.elapsed().as_secs_f64() / count as f64 * 1e6;
        let all = seconds / count as f64 * 1e6;
        eprintln!("          {all:.0} µs each, of which the scene {scene:.0} µs");
    }
    Ok(())
}
