//! Every parameter's gradient against finite differences.

use crate::heads::answers;
use crate::variants::{Variant, all, assert_close, values};
use burn::module::Param;
use burn::tensor::{Device, Gradients, Tensor};
use gatto_data::{Padded, Sources};
use gatto_model::config::FeedKind;
use gatto_model::weights::{self, Visit, Weight, Weights};
use gatto_model::{Memory, Model};
use gatto_nn::loss::{Targets, cross_entropy, mixture_cross_entropy};
use gatto_nn::positions::PositionKind;
use gatto_nn::{Initial, Noise};
use std::collections::BTreeMap;

/// Whether a parameter has no part in the loss: a baseline learns from costs, which are not here, and so does what leads to
/// a choice where there is one.
fn is_idle(variant: &Variant, name: &str) -> bool {
    name.contains("baseline") || chooses_and_gates(variant) && name.contains(".look.")
}

/// Whether a position of the source is chosen, and only a share of what stands there let through: then there is no
/// mixture over all choices to learn from, and what led to the choice has no slope.
fn chooses_and_gates(variant: &Variant) -> bool {
    variant.chooses() && variant.plan.attention.as_ref().is_some_and(|attention| attention.gate)
}

struct Take<'a> {
    variant: &'a Variant,
    gradients: &'a Gradients,
    found: Weights,
}

impl Visit for Take<'_> {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        let gradient = match param.val().grad(self.gradients) {
            Some(gradient) => gradient,
            None if is_idle(self.variant, &name) => param.val().inner() * 0.0,
            None => panic!("{name} has no gradient"),
        };
        self.found.insert(name, Weight { shape: gradient.dims().to_vec(), values: values(gradient) });
    }
}

/// The loss of every target position, or of every answer of a head; where a position of the source is chosen, of the mixture over
/// all choices, since a choice itself has no slope.
pub(crate) fn losses(
    variant: &Variant,
    model: &Model,
    memory: Option<Memory>,
    source: &Sources,
    target: &Padded,
) -> Tensor<1> {
    let noise = &mut Noise::none();
    let told = memory.as_ref().and_then(|memory| model.tell(memory, noise));
    if let (Some(task), Some(told)) = (variant.head(), told) {
        let (ids, weights) = answers(task, source, told.logits.dims());
        return cross_entropy(told.logits, &Targets { ids, weights, smoothing: 0.1 });
    }
    let inputs = model.teacher_inputs(target);
    let mut weights = vec![0.0; target.ids.len()];
    for (row, &length) in target.lengths.iter().enumerate() {
        weights[row * target.width..][..length].fill(1.0);
    }
    let targets = Targets { ids: target.ids.clone(), weights, smoothing: 0.1 };
    let everywhere = match chooses_and_gates(variant) {
        true => None,
        false => model.forward_everywhere(&inputs, memory.as_ref(), noise),
    };
    let written = match everywhere {
        Some((logits, log_weights)) => mixture_cross_entropy(logits, log_weights, &targets),
        None => cross_entropy(model.forward(&inputs, memory.as_ref(), noise).logits, &targets),
    };
    // What states tell by themselves is learnt beside it.
    match memory.and_then(|memory| model.ctc_losses(&memory, target)) {
        Some(told) => Tensor::cat(vec![written, told], 0),
        None => written,
    }
}

/// The sum of the losses of all target tokens, and its gradient in every parameter.
pub(crate) fn loss_and_gradients(
    variant: &Variant,
    model: &Model,
    source: &Sources,
    target: &Padded,
) -> (f64, Weights) {
    let memory = model.encode(source, &mut Noise::none());
    let loss = losses(variant, model, memory, source, target).sum();
    let gradients = loss.backward();
    let mut take = Take { variant, gradients: &gradients, found: Weights::new() };
    weights::visit(model, &mut take);
    (f64::from(loss.into_scalar::<f32>()), take.found)
}

/// The loss as a function of the weights.
struct Surface<'a> {
    variant: &'a Variant,
    weights: Weights,
    source: Sources,
    target: Padded,
}

impl Surface<'_> {
    /// Each token's loss in f32, their sum in f64.
    fn loss(&self, change: impl FnOnce(&mut Weights)) -> f64 {
        let mut weights = self.weights.clone();
        change(&mut weights);
        let model = self.variant.with(weights, &Device::flex());
        let memory = model.encode(&self.source, &mut Noise::none());
        let losses = losses(self.variant, &model, memory, &self.source, &self.target);
        values(losses).into_iter().map(f64::from).sum()
    }

    /// The derivative along the line that `change` moves on, by the difference of fourth order
    /// (8 (f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h.
    ///
    /// Its own error falls with h⁴: nothing at h = 0.01. What remains is rounding: each of some twenty
    /// losses is off by about 2e-7, so their sum by 1e-6, and the difference by about 1.5e-6 / h = 1.5e-4.
    fn slope(&self, h: f32, change: impl Fn(&mut Weights, f32)) -> f64 {
        difference(h, |shift: f32| self.loss(|weights| change(weights, shift)))
    }
}

fn difference(h: f32, at: impl Fn(f32) -> f64) -> f64 {
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * f64::from(h))
}

/// Asserts that the loss, as a function of the way that was gone, has this slope.
pub(crate) fn slope_of(what: &str, gradient: f64, loss: impl Fn(f32) -> f64) {
    assert_slope(what, gradient, true, |h| difference(h, &loss));
}

const H: f32 = 0.01;
/// Twice the rounding above, and as much again of the value where that is large.
const TOLERANCE: f64 = 3e-4;
/// Scores of attention bend more (the cosine of a short query most of all), and so do norms and the
/// head's choice of the largest; there h⁴ is something:
/// with a quarter of h it is nothing again, and rounding is four times as much.
const TOLERANCE_WITH_ATTENTION: f64 = 1e-3;

/// The gradient is the slope, seen with h or, where it bends, with a quarter of h.
fn assert_slope(what: &str, gradient: f64, bends: bool, slope: impl Fn(f32) -> f64) {
    let tolerance = if bends { TOLERANCE_WITH_ATTENTION } else { TOLERANCE };
    let close = |slope: f64| (gradient - slope).abs() <= tolerance * slope.abs().max(1.0);
    let first = slope(H);
    let is_slope = close(first) || bends && close(slope(H / 4.0));
    assert!(is_slope, "{what}: the gradient is {gradient}, the slope {first}");
}

/// The places that are looked at: the three largest gradients, and three spread over the parameter.
fn places(gradient: &[f32]) -> Vec<usize> {
    let mut found: Vec<usize> = (0..gradient.len()).collect();
    found.sort_by(|&a, &b| gradient[b].abs().total_cmp(&gradient[a].abs()));
    found.truncate(3);
    found.extend([0, gradient.len() / 2, gradient.len() - 1]);
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a parameter changes nothing: a bias of keys adds the same to all scores of a query, unless
/// positions turn it.
fn is_silent(variant: &Variant, name: &str) -> bool {
    let turned = variant.self_attention().is_some_and(|settings| settings.positions == PositionKind::Rotary);
    name.ends_with(".key.bias") && (name.contains(".cross.") || !turned)
}

/// Several tests, so that they run beside each other.
#[test]
fn every_gradient_of_recurrent_models_is_the_slope() {
    check_slopes(|variant| {
        reads_texts(variant) && variant.self_attention().is_none() && variant.head().is_none()
    });
}

#[test]
fn every_gradient_of_transformers_and_heads_is_the_slope() {
    check_slopes(|variant| {
        reads_texts(variant) && (variant.self_attention().is_some() || variant.head().is_some())
    });
}

#[test]
fn every_gradient_of_models_of_images_is_the_slope() {
    check_slopes(|variant| variant.plan.images.is_some());
}

#[test]
fn every_gradient_of_models_that_hear_is_the_slope() {
    check_slopes(|variant| variant.plan.sound.is_some());
}

fn reads_texts(variant: &Variant) -> bool {
    variant.plan.images.is_none() && variant.plan.sound.is_none()
}

fn check_slopes(of: fn(&Variant) -> bool) {
    for variant in all().into_iter().filter(|variant| of(variant) && !variant.jumps()) {
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        let model = variant.model(&Device::flex().autodiff());
        let (_, gradients) = loss_and_gradients(&variant, &model, &source, &target);
        let looks = variant.plan.attention.is_some();
        let layers = variant.self_attention().is_some() || !reads_texts(&variant);
        let bends = looks || layers || variant.head().is_some();
        let surface = Surface { variant: &variant, weights: variant.weights(), source, target };
        for (name, gradient) in gradients.iter().filter(|(name, _)| !is_idle(&variant, name)) {
            let what = format!("{} {name}", variant.name);
            let largest = gradient.values.iter().map(|value| value.abs()).fold(0.0, f32::max);
            if name == "encoder.class" {
                continue; // a norm of something shorter than h bends too much; PyTorch's gradient is in golden_vision
            }
            if is_silent(&variant, name) {
                assert!(largest < 1e-5, "{what} has a gradient of {largest}");
                continue;
            }
            // Behind a rectifier and a norm of very few pixels little may be left, and where a window is predicted by a
            // sigmoid.
            let fed = variant.plan.attention.as_ref().is_some_and(|look| look.feed == FeedKind::Context);
            let least = match reads_texts(&variant) {
                true if fed => 1e-5,
                true => 1e-4,
                false => 1e-7,
            };
            assert!(largest > least, "{what} has no gradient to speak of");
            // Transformers and convolutions have many parameters: one direction in the space of each.
            if layers {
                let this = Weights::from([(name.clone(), gradient.clone())]);
                let way = uphill(&this);
                assert_slope(&what, along(&this, &way), bends, |h| surface.slope_along(h, &way));
                continue;
            }
            // There are many models that look: two places of a parameter, and all of them at once.
            let most = if looks { 2 } else { usize::MAX };
            for at in places(&gradient.values).into_iter().take(most) {
                let slope = |h| {
                    surface.slope(h, |weights, shift| {
                        weights.get_mut(name).expect("the same parameters").values[at] += shift;
                    })
                };
                assert_slope(&format!("{what}[{at}]"), f64::from(gradient.values[at]), bends, slope);
            }
        }
        let what = format!("{}, all at once", variant.name);
        let way = direction(&gradients);
        assert_slope(&what, along(&gradients, &way), bends, |h| surface.slope_along(h, &way));
    }
}

/// A way in the space of some parameters.
type Direction = BTreeMap<String, Vec<f32>>;

/// A direction that is the same for the same names; its length is 1.
fn direction(weights: &Weights) -> Direction {
    let mut initial = Initial::new(5, &Device::flex());
    let mut draw = |weight: &Weight| values(initial.normal([weight.values.len()], 1.0).val());
    scaled(weights.iter().map(|(name, weight)| (name.clone(), draw(weight))).collect())
}

/// Half the way of the gradient, half any: a wrong size shows, and so does a wrong place.
fn uphill(gradients: &Weights) -> Direction {
    let steepest = gradients.iter().map(|(name, weight)| (name.clone(), weight.values.clone())).collect();
    let (mut way, any) = (scaled(steepest), direction(gradients));
    for (part, other) in way.values_mut().zip(any.values()) {
        // Less of it, so that the two never cancel.
        part.iter_mut().zip(other).for_each(|(step, other)| *step += 0.5 * other);
    }
    scaled(way)
}

/// The direction with length 1.
fn scaled(mut way: Direction) -> Direction {
    let length = way.values().flatten().map(|step| step * step).sum::<f32>().sqrt();
    way.values_mut().flatten().for_each(|step| *step /= length);
    way
}

fn along(gradients: &Weights, way: &Direction) -> f64 {
    let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
    let pairs = way.iter().flat_map(|(name, part)| gradients[name].values.iter().zip(part));
    pairs.map(product).sum()
}

impl Surface<'_> {
    fn slope_along(&self, h: f32, way: &Direction) -> f64 {
        self.slope(h, |weights, shift| {
            for (name, part) in way {
                let weight = weights.get_mut(name).expect("the same parameters");
                weight.values.iter_mut().zip(part).for_each(|(value, step)| *value += shift * step);
            }
        })
    }
}

/// Other devices run the plain forms, and so does the CPU where gradients have checkpoints.
#[test]
fn fused_and_plain_blocks_make_the_same_model() {
    for variant in all() {
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        let devices = [Device::flex().autodiff(), Device::flex().autodiff().gradient_checkpointing()];
        let [fused, plain] =
            devices.map(|device| loss_and_gradients(&variant, &variant.model(&device), &source, &target));
        assert!((fused.0 - plain.0).abs() < 1e-5 * plain.0, "{}: {} and {}", variant.name, fused.0, plain.0);
        // Without projections, scores have no scale: they are large, and so is their rounding. So are they behind
        // convolutions over frames, whose large biases keep rectifiers from their kinks: the first layer reads tens, and
        // scores are hundreds. Gradients are checked there against slopes, as all others are.
        let bare = variant.self_attention().is_some_and(|settings| !settings.projections);
        let front = plain.1.keys().any(|name| name.starts_with("encoder.front."));
        let tolerance = match (front, bare) {
            (true, _) => 1e-3,
            (_, true) => 1e-4,
            _ => 2e-5,
        };
        for (name, gradient) in &plain.1 {
            let what = format!("{} {name}", variant.name);
            assert_close(&what, &fused.1[name].values, &gradient.values, tolerance);
        }
    }
}
