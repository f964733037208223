//! Group normalisation of images (Wu & He 2018), with what stands behind it:
//! `y = relu((x − μ) / √(σ² + ε) · γ + β + residual)`, the last two if wanted.
//!
//! Letters: `B` images, `P` pixels, `C` channels in `G` groups, `n = P C / G`; `μ` and `σ²` the mean and the variance (with
//! `1 / n`) of a group of an image, `r = 1 / √(σ² + ε)`, `x̂ = (x − μ) r`. Backwards, with `g` the gradient of `y` where it
//! passes the ReLU and means over a group: `dx = r (gγ − mean(gγ) − x̂ mean(gγ x̂))`, `dγ = Σ g x̂` and `dβ = Σ g` over all
//! pixels, and `g` itself is that of the residual.
//!
//! All of it goes over some channels at a time, whose sums stay in registers. Images do not depend on each other.

use rayon::prelude::*;
use std::mem::MaybeUninit;

use crate::activation;
use crate::maths::vectorised;

/// The sizes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: images.
    pub batch: usize,
    /// `P`: pixels of an image.
    pub pixels: usize,
    /// `C`: channels of a pixel.
    pub channels: usize,
    /// `G`: groups, as many channels in each.
    pub groups: usize,
}

impl Shape {
    /// Values of an image.
    fn image(self) -> usize {
        self.pixels * self.channels
    }

    fn check(self, x: &[f32], scale: &[f32]) {
        let Self { batch, channels, groups, .. } = self;
        assert!(groups > 0 && channels.is_multiple_of(groups), "group norm: no equal groups in {self:?}");
        assert_eq!(x.len(), batch * self.image(), "group norm: x is not [B, P, C] for {self:?}");
        assert_eq!(scale.len(), channels, "group norm: the scale is not [C] for {self:?}");
    }
}

/// What is normalised, and what stands behind it.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// The sizes.
    pub shape: Shape,
    /// `[B, P, C]`.
    pub x: &'a [f32],
    /// `γ`, `[C]`.
    pub scale: &'a [f32],
    /// `β`, `[C]`.
    pub shift: &'a [f32],
    /// `ε`.
    pub epsilon: f32,
    /// `[B, P, C]`, added behind the norm.
    pub residual: Option<&'a [f32]>,
    /// Whether what is below zero then becomes zero.
    pub relu: bool,
}

/// What the forward pass returns.
#[derive(Clone, Debug)]
pub struct Normed {
    /// `[B, P, C]`.
    pub y: Vec<f32>,
    /// What the backward pass reads.
    pub tape: Tape,
}

/// What the forward pass knows of each group of an image.
#[derive(Clone, Debug)]
pub struct Tape {
    /// `[B, G]`: `μ` and `1 / √(σ² + ε)`.
    pub groups: Vec<(f32, f32)>,
}

/// The gradients of the inputs.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[B, P, C]`.
    pub x: Vec<f32>,
    /// `[C]`.
    pub scale: Vec<f32>,
    /// `[C]`.
    pub shift: Vec<f32>,
    /// `[B, P, C]`, if there was one.
    pub residual: Option<Vec<f32>>,
}

/// Pixels that are summed before their sum is added to the others'.
const PIXELS: usize = 64;

/// Work on some channels of all pixels of an image.
trait Channels {
    /// The `L` channels from `from` on.
    fn block<const L: usize>(&mut self, from: usize);
}

/// All channels, as many at a time as registers hold.
#[inline(always)]
fn in_blocks(channels: usize, work: &mut impl Channels) {
    let mut from = 0;
    while from < channels {
        match channels - from {
            32.. => {
                work.block::<32>(from);
                from += 32;
            }
            16.. => {
                work.block::<16>(from);
                from += 16;
            }
            8.. => {
                work.block::<8>(from);
                from += 8;
            }
            _ => {
                work.block::<1>(from);
                from += 1;
            }
        }
    }
}

/// `L` values from `from` on.
#[inline(always)]
fn some<const L: usize>(values: &[f32], from: usize) -> &[f32; L] {
    let (block, _) = values[from..from + L].as_chunks::<L>();
    &block[0]
}

/// Adds to each of `N` sums what `term` makes of the values of every pixel that stand at the channels from `from` on.
#[inline(always)]
fn summed<const L: usize, const N: usize, const M: usize>(
    (channels, from): (usize, usize),
    inputs: [&[f32]; M],
    mut term: impl FnMut(usize, [&[f32; L]; M], &mut [[f32; L]; N]),
) -> [[f32; L]; N] {
    let mut sums = [[0.0; L]; N];
    let pixels = inputs[0].len() / channels;
    for first in (0..pixels).step_by(PIXELS) {
        let mut part = [[0.0; L]; N];
        for pixel in first..pixels.min(first + PIXELS) {
            let at = pixel * channels + from;
            term(at, inputs.map(|input| some(input, at)), &mut part);
        }
        for (sum, part) in sums.iter_mut().zip(part) {
            (0..L).for_each(|lane| sum[lane] += part[lane]);
        }
    }
    sums
}

/// `Σ x`, or `Σ (x − μ)²` where the means are known, for every channel of an image.
struct Moments<'a> {
    x: &'a [f32],
    /// `[C]`.
    means: Option<&'a [f32]>,
    /// `[C]`.
    sums: &'a mut [f32],
}

impl Channels for Moments<'_> {
    #[inline(always)]
    fn block<const L: usize>(&mut self, from: usize) {
        let place = (self.sums.len(), from);
        let [sums] = match self.means {
            None => summed::<L, 1, 1>(place, [self.x], |_, [x], [sum]| {
                (0..L).for_each(|lane| sum[lane] += x[lane]);
            }),
            Some(means) => {
                let means = *some::<L>(means, from);
                summed::<L, 1, 1>(place, [self.x], |_, [x], [sum]| {
                    for lane in 0..L {
                        let centred = x[lane] - means[lane];
                        sum[lane] += centred * centred;
                    }
                })
            }
        };
        self.sums[from..from + L].copy_from_slice(&sums);
    }
}

/// `y` of an image.
struct Normalise<'a> {
    x: &'a [f32],
    residual: Option<&'a [f32]>,
    relu: bool,
    /// `[C]` each: `μ`, `r γ` and `β`.
    means: &'a [f32],
    factors: &'a [f32],
    shift: &'a [f32],
    y: &'a mut [MaybeUninit<f32>],
}

impl Channels for Normalise<'_> {
    #[inline(always)]
    fn block<const L: usize>(&mut self, from: usize) {
        match (self.residual, self.relu) {
            (Some(residual), true) => self.write::<L>(from, |at, y| relu(plus(y, some(residual, at)))),
            (Some(residual), false) => self.write::<L>(from, |at, y| plus(y, some(residual, at))),
            (None, true) => self.write::<L>(from, |_, y| relu(y)),
            (None, false) => self.write::<L>(from, |_, y| y),
        }
    }
}

impl Normalise<'_> {
    #[inline(always)]
    fn write<const L: usize>(&mut self, from: usize, end: impl Fn(usize, [f32; L]) -> [f32; L]) {
        let channels = self.means.len();
        let [means, factors, shift] =
            [self.means, self.factors, self.shift].map(|values| *some::<L>(values, from));
        for (pixel, y) in self.y.chunks_exact_mut(channels).enumerate() {
            let at = pixel * channels + from;
            let mut values = *some::<L>(self.x, at);
            for lane in 0..L {
                values[lane] = (values[lane] - means[lane]) * factors[lane] + shift[lane];
            }
            y[from..from + L].write_copy_of_slice(&end(at, values));
        }
    }
}

#[inline(always)]
fn plus<const L: usize>(mut y: [f32; L], other: &[f32; L]) -> [f32; L] {
    (0..L).for_each(|lane| y[lane] += other[lane]);
    y
}

#[inline(always)]
fn relu<const L: usize>(mut y: [f32; L]) -> [f32; L] {
    (0..L).for_each(|lane| y[lane] = activation::relu(y[lane]));
    y
}

/// Normalises every image.
///
/// # Panics
/// If a slice does not have the length that the shape asks for, or groups would differ in size.
pub fn forward(args: &Args<'_>) -> Normed {
    let Args { shape, x, scale, shift, epsilon, residual, relu } = *args;
    shape.check(x, scale);
    assert_eq!(shift.len(), shape.channels, "group norm: the shift is not [C] for {shape:?}");
    assert!(
        residual.is_none_or(|residual| residual.len() == x.len()),
        "group norm: the residual is not as x"
    );
    let (image, mut groups) = (shape.image().max(1), vec![(0.0, 0.0); shape.batch * shape.groups]);
    let mut y = Box::new_uninit_slice(x.len());
    let images = y.par_chunks_mut(image).zip(x.par_chunks(image)).zip(groups.par_chunks_mut(shape.groups));
    images.enumerate().for_each(|(index, ((y, x), groups))| {
        let residual = residual.map(|residual| &residual[index * image..][..image]);
        vectorised(
            #[inline(always)]
            || {
                let [means, mut factors] = statistics(shape, x, epsilon, groups);
                factors.iter_mut().zip(scale).for_each(|(factor, scale)| *factor *= scale);
                let (means, factors) = (&means, &factors);
                in_blocks(shape.channels, &mut Normalise { x, residual, relu, means, factors, shift, y });
            },
        );
    });
    // SAFETY: the chunks cover it, and each is written as a whole: every channel of every pixel.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    let y = unsafe { y.assume_init() }.into_vec();
    Normed { y, tape: Tape { groups } }
}

/// Finds `μ` and `r` of each group of an image; returns them for each channel.
#[inline(always)]
fn statistics(shape: Shape, x: &[f32], epsilon: f32, groups: &mut [(f32, f32)]) -> [Vec<f32>; 2] {
    let Shape { channels, groups: count, .. } = shape;
    let inside = channels / count;
    let share = 1.0 / (shape.pixels * inside) as f32;
    let (mut means, mut sums) = (vec![0.0; channels], vec![0.0; channels]);
    in_blocks(channels, &mut Moments { x, means: None, sums: &mut sums });
    for (means, sums) in means.chunks_exact_mut(inside).zip(sums.chunks_exact(inside)) {
        means.fill(share * sums.iter().sum::<f32>());
    }
    in_blocks(channels, &mut Moments { x, means: Some(&means), sums: &mut sums });
    for (group, (means, sums)) in
        groups.iter_mut().zip(means.chunks_exact(inside).zip(sums.chunks_exact_mut(inside)))
    {
        let variance = share * sums.iter().sum::<f32>();
        *group = (means[0], 1.0 / (variance + epsilon).sqrt());
        sums.fill(group.1);
    }
    [means, sums]
}

/// What the backward pass reads again.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// The sizes.
    pub shape: Shape,
    /// `[B, P, C]`.
    pub x: &'a [f32],
    /// `γ`, `[C]`.
    pub scale: &'a [f32],
    /// From the forward pass.
    pub tape: &'a Tape,
    /// Whether there was a residual.
    pub residual: bool,
    /// The output, if it went through a ReLU.
    pub y: Option<&'a [f32]>,
}

/// `Σ g` and `Σ g (x − μ)` of every channel of an image; the gradient of the residual besides.
struct Backward<'a> {
    x: &'a [f32],
    y: Option<&'a [f32]>,
    gradient: &'a [f32],
    /// `[C]`.
    means: &'a [f32],
    straight: &'a mut [f32],
    along: &'a mut [f32],
    residual: Option<&'a mut [MaybeUninit<f32>]>,
}

/// The gradient of a pixel where it passes the ReLU, `y > 0`.
#[inline(always)]
fn passed<const L: usize>(gradient: &[f32; L], y: Option<&[f32; L]>) -> [f32; L] {
    let mut passed = *gradient;
    if let Some(y) = y {
        (0..L).for_each(|lane| passed[lane] = if y[lane] > 0.0 { passed[lane] } else { 0.0 });
    }
    passed
}

impl Channels for Backward<'_> {
    #[inline(always)]
    fn block<const L: usize>(&mut self, from: usize) {
        let (place, means) = ((self.means.len(), from), *some::<L>(self.means, from));
        let mut residual = self.residual.as_deref_mut();
        let mut add = |at: usize, x: &[f32; L], passed: [f32; L], [straight, along]: &mut [[f32; L]; 2]| {
            for lane in 0..L {
                straight[lane] += passed[lane];
                along[lane] += passed[lane] * (x[lane] - means[lane]);
            }
            if let Some(residual) = &mut residual {
                residual[at..at + L].write_copy_of_slice(&passed);
            }
        };
        let [straight, along] = match self.y {
            Some(y) => summed::<L, 2, 3>(place, [self.x, self.gradient, y], |at, [x, gradient, y], sums| {
                add(at, x, passed(gradient, Some(y)), sums);
            }),
            None => summed::<L, 2, 2>(place, [self.x, self.gradient], |at, [x, gradient], sums| {
                add(at, x, passed(gradient, None), sums);
            }),
        };
        self.straight[from..from + L].copy_from_slice(&straight);
        self.along[from..from + L].copy_from_slice(&along);
    }
}

/// `dx = g r γ − r mean(gγ) − (x − μ) r² mean(gγ x̂)` of an image.
struct Turn<'a> {
    x: &'a [f32],
    y: Option<&'a [f32]>,
    gradient: &'a [f32],
    /// `[C]` each: `μ`, `r γ`, `r mean(gγ)` and `r² mean(gγ x̂)`.
    means: &'a [f32],
    factors: &'a [f32],
    straight: &'a [f32],
    along: &'a [f32],
    to: &'a mut [MaybeUninit<f32>],
}

impl Channels for Turn<'_> {
    #[inline(always)]
    fn block<const L: usize>(&mut self, from: usize) {
        match self.y {
            Some(y) => self.write::<L>(from, |at, gradient| passed(gradient, Some(some(y, at)))),
            None => self.write::<L>(from, |_, gradient| *gradient),
        }
    }
}

impl Turn<'_> {
    #[inline(always)]
    fn write<const L: usize>(&mut self, from: usize, passed: impl Fn(usize, &[f32; L]) -> [f32; L]) {
        let channels = self.means.len();
        let [means, factors, straight, along] =
            [self.means, self.factors, self.straight, self.along].map(|values| *some::<L>(values, from));
        for (pixel, to) in self.to.chunks_exact_mut(channels).enumerate() {
            let at = pixel * channels + from;
            let (x, mut gradient) = (some::<L>(self.x, at), passed(at, some(self.gradient, at)));
            for lane in 0..L {
                let centred = x[lane] - means[lane];
                gradient[lane] = gradient[lane] * factors[lane] - straight[lane] - centred * along[lane];
            }
            to[from..from + L].write_copy_of_slice(&gradient);
        }
    }
}

/// The gradients, from that of the output, `[B, P, C]`.
///
/// # Panics
/// As [`forward`], and if the tape is not that of `x`.
pub fn backward(kept: &Kept<'_>, output: &[f32]) -> Gradients {
    let Kept { shape, x, scale, tape, residual, y } = *kept;
    shape.check(x, scale);
    let Shape { batch, pixels, channels, groups } = shape;
    assert_eq!(output.len(), x.len(), "group norm: the gradient is not [B, P, C]");
    assert!(y.is_none_or(|y| y.len() == x.len()), "group norm: y is not [B, P, C]");
    assert_eq!(tape.groups.len(), batch * groups, "group norm: the tape is not that of x");
    let (image, inside) = (shape.image().max(1), channels / groups);
    let share = 1.0 / (pixels * inside) as f32;
    let mut of_x = Box::new_uninit_slice(x.len());
    let mut of_residual = Box::new_uninit_slice(if residual { x.len() } else { 0 });
    // `[B, 2, C]`: what each image adds to `dγ` and `dβ`.
    let mut shares = vec![0.0; batch * 2 * channels];
    let residuals: Vec<Option<&mut [MaybeUninit<f32>]>> = match residual {
        true => of_residual.chunks_mut(image).map(Some).collect(),
        false => (0..x.len() / image).map(|_| None).collect(),
    };
    let images = of_x.par_chunks_mut(image).zip(shares.par_chunks_mut((2 * channels).max(1))).zip(residuals);
    images.enumerate().for_each(|(index, ((to, shares), residual))| {
        let own = |values: &'_ [f32]| index * image..(index * image + image).min(values.len());
        let (x, gradient, y) = (&x[own(x)], &output[own(output)], y.map(|y| &y[own(y)]));
        let of_groups = &tape.groups[index * groups..][..groups];
        let (along, straight) = shares.split_at_mut(channels);
        vectorised(
            #[inline(always)]
            || {
                let of_channels = |f: &dyn Fn(usize) -> f32| (0..channels).map(f).collect::<Vec<f32>>();
                let means = of_channels(&|channel| of_groups[channel / inside].0);
                let factors = of_channels(&|channel| scale[channel] * of_groups[channel / inside].1);
                let mut pass = Backward { x, y, gradient, means: &means, straight, along, residual };
                in_blocks(channels, &mut pass);
                let (straight, along) = (pass.straight, pass.along);
                let mut of_mean = vec![[0.0; 2]; groups];
                for (group, found) in of_mean.iter_mut().enumerate() {
                    let (own, r) = (group * inside..(group + 1) * inside, of_groups[group].1);
                    along[own.clone()].iter_mut().for_each(|sum| *sum *= r);
                    let mean = |sums: &[f32]| {
                        share
                            * sums[own.clone()]
                                .iter()
                                .zip(&scale[own.clone()])
                                .map(|(s, g)| s * g)
                                .sum::<f32>()
                    };
                    *found = [r * mean(straight), r * r * mean(along)];
                }
                let straight = of_channels(&|channel| of_mean[channel / inside][0]);
                let along = of_channels(&|channel| of_mean[channel / inside][1]);
                let (means, factors, straight, along) = (&means, &factors, &straight, &along);
                in_blocks(channels, &mut Turn { x, y, gradient, means, factors, straight, along, to });
            },
        );
    });
    let mut found =
        Gradients { x: Vec::new(), scale: vec![0.0; channels], shift: vec![0.0; channels], residual: None };
    for share in shares.chunks_exact((2 * channels).max(1)) {
        let (along, straight) = share.split_at(channels);
        found.scale.iter_mut().zip(along).for_each(|(sum, share)| *sum += share);
        found.shift.iter_mut().zip(straight).for_each(|(sum, share)| *sum += share);
    }
    // SAFETY: the chunks cover both, and each is written as a whole: every channel of every pixel.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe {
        found.x = of_x.assume_init().into_vec();
        found.residual = residual.then(|| of_residual.assume_init().into_vec());
    }
    found
}

#[cfg(test)]
mod tests;
