//! Clipping of the gradient's norm and a step of Adam: `cargo bench -p gatto-kernels --bench optimise`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::optimise::{AdamStep, Decay, Gradient, adam, sum_of_squares};
use std::sync::Mutex;

const LR: f64 = 1e-3;
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.98;
const EPS: f64 = 1e-9;
const STEP: u64 = 10;
/// The largest norm.
const MOST: f64 = 1.0;

#[derive(Clone)]
struct State {
    param: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
}

fn zip(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn plain(state: &mut State, gradient: &[f32]) {
    let squares: Vec<f32> = gradient.iter().map(|g| g * g).collect();
    let norm = squares.iter().map(|&g| f64::from(g)).sum::<f64>().sqrt();
    let scale = (MOST / norm).min(1.0) as f32;
    let g: Vec<f32> = gradient.iter().map(|g| g * scale).collect();
    let (b1, b2) = (BETA1 as f32, BETA2 as f32);
    state.m = zip(&state.m, &g, |m, g| b1 * m + (1.0 - b1) * g);
    state.v = zip(&state.v, &zip(&g, &g, |a, b| a * b), |v, square| b2 * v + (1.0 - b2) * square);
    let roots: Vec<f32> = state.v.iter().map(|v| v.sqrt()).collect();
    let corrected = (1.0 - BETA2.powi(STEP as i32)).sqrt() as f32;
    let below: Vec<f32> = roots.iter().map(|root| root / corrected + EPS as f32).collect();
    let size = (LR / (1.0 - BETA1.powi(STEP as i32))) as f32;
    state.param = zip(&state.param, &zip(&state.m, &below, |m, below| m / below), |p, step| p - size * step);
}

fn ours(State { param, m, v }: &mut State, gradient: &[f32]) {
    let scale = (MOST / sum_of_squares(gradient).sqrt()).min(1.0) as f32;
    let with = AdamStep {
        lr: LR,
        beta1: BETA1,
        beta2: BETA2,
        eps: EPS,
        weight_decay: Decay::None,
        scale,
        step: STEP,
    };
    adam(param, Gradient::Whole(gradient), m, v, &with);
}

fn main() {
    let mut table = Beside::new("optimise");
    for (work, count) in [("W1", 7_600_000), ("a matrix, 256 × 1024", 256 * 1024)] {
        let gradient = values(count, 1);
        let squares = values(count, 3).iter().map(|v| v * v).collect();
        let start = State { param: values(count, 2), m: values(count, 4), v: squares };
        let (mut one, mut other) = (start.clone(), start);
        plain(&mut one, &gradient);
        ours(&mut other, &gradient);
        let pairs = one
            .param
            .iter()
            .zip(&other.param)
            .chain(one.m.iter().zip(&other.m))
            .chain(one.v.iter().zip(&other.v));
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-4), "the forms differ");
        // Both go on from where they were, as copies of the state would be timed too.
        let (one, other) = (Mutex::new(one), Mutex::new(other));
        table.compare(
            &format!("{work}, {count} parameters"),
            || {
                plain(&mut one.lock().expect("no panic"), &gradient);
                []
            },
            || {
                ours(&mut other.lock().expect("no panic"), &gradient);
                []
            },
        );
    }
    table.finish();
}
