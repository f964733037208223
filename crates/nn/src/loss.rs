//! Cross-entropy with label smoothing.
//!
//! For logits o over V tokens and target y, with p = softmax(o):
//! L = −(1 − ε) log p_y − (ε / V) Σ_k log p_k   (Szegedy et al., 2016).

use crate::flex::{Gradient, Operand, Values, operation};
use crate::{linear, linear_transposed};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Shape, Tensor, TensorData};
use gatto_kernels::cross_entropy as kernel;
use gatto_kernels::linear::{Gradients, Shape as MapShape};
use std::sync::{Arc, Mutex, PoisonError};

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

/// A map to logits: `weight` `[H, V]`, or `[V, H]` if `transposed`, and `bias` `[V]`.
#[derive(Clone, Debug)]
pub struct Projection {
    /// W.
    pub weight: Tensor<2>,
    /// Whether it is stored with a row for every token, as token vectors are.
    pub transposed: bool,
    /// b.
    pub bias: Tensor<1>,
}

impl Projection {
    /// The logits of `x` `[N, H]`: `[N, V]`.
    pub fn logits(self, x: Tensor<2>) -> Tensor<2> {
        match self.transposed {
            true => linear_transposed(x, self.weight, self.bias),
            false => linear(x, self.weight, self.bias),
        }
    }
}

/// [`cross_entropy`] of the logits that `projection` makes of `x` `[N, H]`. In training they are never all in
/// memory, and rows that count for nothing have none.
pub fn projected_cross_entropy(x: Tensor<2>, projection: Projection, targets: &Targets) -> Tensor<1> {
    match fused_projected(&x, &projection, targets) {
        Some(loss) => loss,
        None => cross_entropy(projection.logits(x), targets),
    }
}

/// What the forward pass has found out for the backward pass, which has little left to do.
#[derive(Clone, Debug)]
struct Found {
    /// The gradients of the sum of all losses; taken by who needs them.
    gradients: Arc<Mutex<Option<Gradients>>>,
    x: Values,
    weight: Values,
    bias: Values,
    shape: MapShape,
    targets: Arc<Targets>,
}

impl Found {
    fn compute(&self, g: Option<&[f32]>) -> Option<(Vec<f32>, Gradients)> {
        let Self { x, weight, bias, shape, targets, .. } = self;
        let (x, weight, bias) = (x.slice(), weight.slice(), bias.slice());
        let Targets { ids, weights, smoothing } = &**targets;
        let projection = kernel::Projection { shape: *shape, x, weight, bias };
        kernel::losses_and_gradients(projection, ids, weights, *smoothing as f32, g).ok()
    }

    /// The gradients of Σ g_n L_n. Those of the plain sum do where all `g` are the same, as with a mean.
    fn weighted(&self, g: &[f32]) -> Option<Gradients> {
        let counted = g.iter().zip(&self.targets.weights).filter(|(_, weight)| **weight != 0.0);
        let mut counted = counted.map(|(g, _)| *g);
        let first = counted.next().unwrap_or(1.0);
        let taken = self.gradients.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut gradients) = taken.filter(|_| counted.all(|g| g == first)) else {
            return self.compute(Some(g)).map(|(_, gradients)| gradients);
        };
        if first != 1.0 {
            for values in [&mut gradients.x, &mut gradients.weight, &mut gradients.bias] {
                gatto_kernels::optimise::scale(values, first);
            }
        }
        Some(gradients)
    }
}

impl Gradient<3> for Found {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let MapShape { rows, input, output: classes, transposed } = self.shape;
        let Some(found) = self.weighted(output) else { return [None, None, None] };
        let weight = if transposed { [classes, input] } else { [input, classes] };
        [
            Some((found.x, Shape::new([rows, input]))),
            Some((found.weight, Shape::new(weight))),
            Some((found.bias, Shape::new([classes]))),
        ]
    }
}

fn fused_projected(x: &Tensor<2>, projection: &Projection, targets: &Targets) -> Option<Tensor<1>> {
    let Projection { weight, transposed, bias } = projection;
    let ([rows, input], [output]) = (x.dims(), bias.dims());
    let operands = [Operand::of(x)?, Operand::of(weight)?, Operand::of(bias)?];
    if !operands.iter().any(Operand::is_tracked) {
        return None;
    }
    let [x, weight, bias] = operands.each_ref().map(|operand| operand.values.clone());
    let shape = MapShape { rows, input, output, transposed: *transposed };
    let (gradients, targets) = (Arc::default(), Arc::new(targets.clone()));
    let found = Found { gradients, x, weight, bias, shape, targets };
    let (losses, gradients) = found.compute(None)?;
    *found.gradients.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradients);
    Some(operation(operands, losses, [rows], || found))
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
