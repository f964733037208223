//! Cross-entropy with label smoothing.
//!
//! For logits o over V tokens and target y, with p = softmax(o):
//! L = −(1 − ε) log p_y − (ε / V) Σ_k log p_k   (Szegedy et al., 2016).

use crate::flex::{Gradient, Operand, Values, operation};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Shape, Tensor, TensorData};
use gatto_kernels::cross_entropy as kernel;
use std::sync::Arc;

/// What to compare logits with: one target and one weight per row.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The right token of each row, below V.
    pub ids: Vec<u32>,
    /// What each row counts: 0 for padding.
    pub weights: Vec<f32>,
    /// ε of label smoothing.
    pub smoothing: f64,
}

/// The weighted loss of every row: `logits` `[N, V]` → `[N]`.
pub fn cross_entropy(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    match fused(&logits, targets) {
        Some(loss) => loss,
        None => cross_entropy_plain(logits, targets),
    }
}

/// The loss in plain tensor operations.
pub fn cross_entropy_plain(logits: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let device = logits.device();
    let rows = targets.ids.len();
    let ids: Vec<i64> = targets.ids.iter().map(|&id| i64::from(id)).collect();
    let ids = Tensor::<2, Int>::from_data(TensorData::new(ids, [rows, 1]), &device);
    let weights = Tensor::<1>::from_data(TensorData::new(targets.weights.clone(), [rows]), &device);
    let log_probabilities = log_softmax(logits, 1); // [N, V]
    let chosen = log_probabilities.clone().gather(1, ids).squeeze_dim::<1>(1); // [N]
    let mean = log_probabilities.mean_dim(1).squeeze_dim::<1>(1); // [N]
    -(chosen * (1.0 - targets.smoothing) + mean * targets.smoothing) * weights
}

/// e⁻⁴⁰ is 4e-18: far below what a sum of f32 sees.
const NATS_BEHIND: f64 = 40.0;

/// The loss of a mixture: −log Σ_i α_i p_i(y) for every row, where `logits` [N·S, V] are those of its S
/// parts and `log_weights` [N, S] their log α. Smoothing acts on each part.
pub fn mixture_cross_entropy(logits: Tensor<2>, log_weights: Tensor<2>, targets: &Targets) -> Tensor<1> {
    let ([rows, parts], device) = (log_weights.dims(), log_weights.device());
    let each = Targets {
        ids: targets.ids.iter().flat_map(|&id| std::iter::repeat_n(id, parts)).collect(),
        weights: vec![1.0; rows * parts],
        smoothing: targets.smoothing,
    };
    let joint = log_weights - cross_entropy(logits, &each).reshape([rows, parts]); // [N, S]
    let largest = joint.clone().max_dim(1).detach(); // [N, 1]
    let behind = joint - largest.clone(); // [N, S]
    // A part this far behind has no say; its gradients would be numbers below the normal ones, over
    // which products are slow: without this, an update of hard attention took ten times as long.
    let silent = behind.clone().lower_elem(-NATS_BEHIND);
    let sums = behind.mask_fill(silent, f32::NEG_INFINITY).exp().sum_dim(1).log() + largest; // [N, 1]
    let weights = TensorData::new(targets.weights.clone(), [rows]);
    -sums.squeeze_dim::<1>(1) * Tensor::from_data(weights, &device)
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    logits: Values,
    shape: Shape,
    targets: Arc<Targets>,
    log_sums: Arc<Vec<f32>>,
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        let Targets { ids, weights, smoothing } = &*self.targets;
        let logits = self.logits.slice();
        let found = kernel::backward(logits, ids, weights, *smoothing as f32, &self.log_sums, output);
        [found.ok().map(|values| (values, self.shape.clone()))]
    }
}

fn fused(logits: &Tensor<2>, targets: &Targets) -> Option<Tensor<1>> {
    let operand = Operand::of(logits)?;
    let values = operand.values.clone();
    let Targets { ids, weights, smoothing } = targets;
    let losses = kernel::forward(values.slice(), ids, weights, *smoothing as f32).ok()?;
    let remember = || Kept {
        logits: values,
        shape: logits.shape(),
        targets: Arc::new(targets.clone()),
        log_sums: Arc::new(losses.log_sums),
    };
    Some(operation([operand], losses.rows, [ids.len()], remember))
}
