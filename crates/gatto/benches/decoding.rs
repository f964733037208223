//! What a new token costs when the keys and values of those before it are kept, and when all is
//! computed again: `cargo bench --bench decoding`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use gatto::Device;
use gatto::data::Padded;
use gatto::data::tokens::END;
use gatto::model::config::TransformerConfig;
use gatto::model::{DecoderConfig, EncoderConfig, Model, ModelConfig, Task, Vocabularies};
use gatto::nn::Noise;
use std::time::{Duration, Instant};

#[allow(dead_code, reason = "a service gives pages back, and none is measured here")]
#[path = "../src/allocator.rs"]
mod allocator;

const BATCH: usize = 8;
const SOURCE: usize = 24;
const LENGTHS: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// Steps behind each length, of which the median counts.
const STEPS: usize = 33;

fn model() -> Model {
    let settings = TransformerConfig { width: 256, layers: 3, heads: 4, ..Default::default() };
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Transformer(settings.clone())),
        decoder: Some(DecoderConfig::Transformer(settings)),
        ..ModelConfig::new(Task::Translate)
    };
    let plan = match config.plan(false) {
        Ok(plan) => plan,
        Err(complaint) => panic!("{complaint:?}"),
    };
    Model::new(&plan, Vocabularies { source: 8000, target: 8000 }, 1, &Device::flex())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() {
    allocator::for_training();
    let model = model();
    let source = Padded::new(&vec![vec![7u32; SOURCE]; BATCH]);
    let memory = model.encode(&source, &mut Noise::none());
    let mut state = model.start(memory.as_ref(), BATCH);
    let mut kept = Vec::new();
    for _ in 0..LENGTHS[LENGTHS.len() - 1] + STEPS {
        let start = Instant::now();
        let (logits, next) = model.step(&[END; BATCH], state);
        drop(logits);
        state = next;
        kept.push(start.elapsed());
    }
    println!("{BATCH} sentences, Transformer 3+3, width 256, vocabulary 8000; ms per new token of all");
    println!("{:>8} {:>10} {:>10} {:>7}", "length", "kept", "again", "ratio");
    for length in LENGTHS {
        let with = median(kept[length..length + STEPS].to_vec());
        let prefix = Padded::new(&vec![vec![9u32; length]; BATCH]);
        let whole = || {
            let start = Instant::now();
            drop(model.forward(&prefix, memory.as_ref(), &mut Noise::none()));
            start.elapsed()
        };
        let without = median((0..5).map(|_| whole()).collect());
        println!(
            "{length:>8} {:>10.2} {:>10.2} {:>7.1}",
            milliseconds(with),
            milliseconds(without),
            without.as_secs_f64() / with.as_secs_f64()
        );
    }
}
