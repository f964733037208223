//! Label-smoothed cross-entropy: `cargo bench -p gatto-kernels --bench cross_entropy`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::cross_entropy::{backward, forward};

const SMOOTHING: f32 = 0.1;

/// What the targets are spread to, `[N, V]`.
fn spread(targets: &[u32], classes: usize) -> Vec<f32> {
    let mut dense = vec![SMOOTHING / classes as f32; targets.len() * classes];
    dense
        .chunks_exact_mut(classes)
        .zip(targets)
        .for_each(|(row, &target)| row[target as usize] += 1.0 - SMOOTHING);
    dense
}

/// `f` of every value and of what belongs to its row.
fn by_rows(x: &[f32], of_rows: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut y = x.to_vec();
    for (row, &of_row) in y.chunks_exact_mut(x.len() / of_rows.len()).zip(of_rows) {
        row.iter_mut().for_each(|x| *x = f(*x, of_row));
    }
    y
}

/// `z − log Σ exp z`, `[N, V]`.
fn log_softmax(logits: &[f32], classes: usize) -> Vec<f32> {
    let rows = logits.chunks_exact(classes);
    let largest: Vec<f32> = rows.map(|row| row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b))).collect();
    let shifted = by_rows(logits, &largest, |z, most| z - most);
    let exponentials: Vec<f32> = shifted.iter().map(|z| z.exp()).collect();
    let sums: Vec<f32> = exponentials.chunks_exact(classes).map(|row| row.iter().sum::<f32>().ln()).collect();
    by_rows(&shifted, &sums, |z, sum| z - sum)
}

fn plain(logits: &[f32], targets: &[u32], classes: usize) -> Vec<f32> {
    let products: Vec<f32> = log_softmax(logits, classes)
        .iter()
        .zip(spread(targets, classes))
        .map(|(log_p, share)| log_p * share)
        .collect();
    products.chunks_exact(classes).map(|row| -row.iter().sum::<f32>()).collect()
}

/// From the logarithms that the forward pass has kept.
fn plain_backward(log_p: &[f32], targets: &[u32], classes: usize) -> Vec<f32> {
    let p: Vec<f32> = log_p.iter().map(|x| x.exp()).collect();
    p.iter().zip(spread(targets, classes)).map(|(p, share)| p - share).collect()
}

fn main() {
    let mut table = Beside::new("cross_entropy");
    let (rows, classes) = (1536, 8000);
    let logits: Vec<f32> = values(rows * classes, 1).iter().map(|x| 5.0 * x).collect();
    let targets: Vec<u32> = (0..rows as u32).map(|row| row * 5).collect();
    let ones = vec![1.0; rows];
    let ours = || forward(&logits, &targets, &ones, SMOOTHING).expect("targets in range");
    let size = format!("W1 {rows} × {classes}");
    table.compare(&size, || [plain(&logits, &targets, classes)], || [ours().rows]);
    let (log_p, log_sums) = (log_softmax(&logits, classes), ours().log_sums);
    table.compare(
        &format!("{size}, backward"),
        || [plain_backward(&log_p, &targets, classes)],
        || [backward(&logits, &targets, &ones, SMOOTHING, &log_sums, &ones).expect("targets in range")],
    );
    table.finish();
}
