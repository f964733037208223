//! Convolution and group norm of images: `cargo bench -p gatto-kernels --bench convolution`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::convolution::{Shape, Window, backward, forward};
use gatto_kernels::group_norm::{self, Args, Kept};

const EPSILON: f32 = 1e-5;

/// Calls `work` with every place, every pixel that its window sees, and the first row of the weight for that pixel.
fn windows(shape: Shape, mut work: impl FnMut(usize, usize, usize)) {
    let Shape { batch, height, width, input, window, .. } = shape;
    let (rows, columns) = shape.places();
    for place in 0..batch * rows * columns {
        let (image, i, j) = (place / (rows * columns), place / columns % rows, place % columns);
        for tap in 0..window.height * window.width {
            let row = (i * window.stride + tap / window.width).wrapping_sub(window.padding);
            let column = (j * window.stride + tap % window.width).wrapping_sub(window.padding);
            if row < height && column < width {
                work(place, (image * height + row) * width + column, tap * input);
            }
        }
    }
}

/// Loops over places, pixels, channels.
fn plain(shape: Shape, x: &[f32], weight: &[f32]) -> Vec<f32> {
    let Shape { batch, input, output, .. } = shape;
    let (rows, columns) = shape.places();
    let mut y = vec![0.0; batch * rows * columns * output];
    windows(shape, |place, pixel, first| {
        let y = &mut y[place * output..][..output];
        for (c, x) in x[pixel * input..][..input].iter().enumerate() {
            let weight = &weight[(first + c) * output..][..output];
            y.iter_mut().zip(weight).for_each(|(y, w)| *y += x * w);
        }
    });
    y
}

/// The gradients of x and of the weight.
fn plain_backward(shape: Shape, x: &[f32], weight: &[f32], gradient: &[f32]) -> [Vec<f32>; 2] {
    let Shape { input, output, .. } = shape;
    let (mut of_x, mut of_weight) = (vec![0.0; x.len()], vec![0.0; weight.len()]);
    windows(shape, |place, pixel, first| {
        let gradient = &gradient[place * output..][..output];
        for c in 0..input {
            let (x, row) = (x[pixel * input + c], (first + c) * output);
            let products = weight[row..][..output].iter().zip(gradient).map(|(w, g)| w * g);
            of_x[pixel * input + c] += products.sum::<f32>();
            of_weight[row..][..output].iter_mut().zip(gradient).for_each(|(w, g)| *w += x * g);
        }
    });
    [of_x, of_weight]
}

/// The norm of each group, pass after pass: `x̂`, and `1 / √(σ² + ε)` of each value.
fn normed(x: &[f32], shape: group_norm::Shape) -> [Vec<f32>; 2] {
    let centre = means(x, shape);
    let centred: Vec<f32> = x.iter().zip(&centre).map(|(x, mean)| x - mean).collect();
    let squares: Vec<f32> = centred.iter().map(|x| x * x).collect();
    let reciprocal: Vec<f32> = means(&squares, shape).iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect();
    [centred.iter().zip(&reciprocal).map(|(x, r)| x * r).collect(), reciprocal]
}

/// The mean of its group and image for every value.
fn means(x: &[f32], shape: group_norm::Shape) -> Vec<f32> {
    let group_norm::Shape { pixels, channels, groups, .. } = shape;
    let (image, inside) = (pixels * channels, channels / groups);
    let group = |at: usize| at / image * groups + at % channels / inside;
    let mut sums = vec![0.0; shape.batch * groups];
    x.iter().enumerate().for_each(|(at, x)| sums[group(at)] += x);
    (0..x.len()).map(|at| sums[group(at)] / (pixels * inside) as f32).collect()
}

fn plain_norm(
    x: &[f32],
    scale: &[f32],
    shift: &[f32],
    residual: &[f32],
    shape: group_norm::Shape,
) -> Vec<f32> {
    let [hat, _] = normed(x, shape);
    let channels = scale.len();
    let scaled: Vec<f32> = hat.iter().enumerate().map(|(at, x)| x * scale[at % channels]).collect();
    let shifted: Vec<f32> = scaled.iter().enumerate().map(|(at, x)| x + shift[at % channels]).collect();
    let sum: Vec<f32> = shifted.iter().zip(residual).map(|(x, residual)| x + residual).collect();
    sum.iter().map(|x| x.max(0.0)).collect()
}

/// The gradients of x, γ, β and the residual; `x̂` and the reciprocals are what the forward pass has kept.
fn plain_norm_backward(
    [hat, reciprocal]: &[Vec<f32>; 2],
    scale: &[f32],
    y: &[f32],
    gradient: &[f32],
    shape: group_norm::Shape,
) -> [Vec<f32>; 4] {
    let channels = scale.len();
    let passed: Vec<f32> = gradient.iter().zip(y).map(|(g, y)| if *y > 0.0 { *g } else { 0.0 }).collect();
    let scaled: Vec<f32> = passed.iter().enumerate().map(|(at, g)| g * scale[at % channels]).collect();
    let along: Vec<f32> = scaled.iter().zip(hat).map(|(g, x)| g * x).collect();
    let (straight, along) = (means(&scaled, shape), means(&along, shape));
    let rest = |at: usize| reciprocal[at] * (scaled[at] - straight[at] - hat[at] * along[at]);
    let (mut of_scale, mut of_shift) = (vec![0.0; channels], vec![0.0; channels]);
    for at in 0..hat.len() {
        of_scale[at % channels] += passed[at] * hat[at];
        of_shift[at % channels] += passed[at];
    }
    [(0..hat.len()).map(rest).collect(), of_scale, of_shift, passed]
}

fn convolutions() {
    let mut table = Beside::new("convolution");
    for (side, input, output, size, stride) in [
        (64, 3, 32, 3, 2),
        (32, 32, 32, 3, 1),
        (32, 32, 64, 3, 2),
        (32, 32, 64, 1, 2),
        (16, 64, 64, 3, 1),
        (8, 128, 128, 3, 1),
        (8, 128, 128, 1, 1),
    ] {
        let shape = Shape {
            batch: 8,
            height: side,
            width: side,
            input,
            output,
            window: Window::square(size, stride),
        };
        let (rows, columns) = shape.places();
        let (x, weight) = (values(8 * side * side * input, 1), values(shape.depth() * output, 2));
        let gradient = values(8 * rows * columns * output, 3);
        let what = format!("8 × {side} × {side} × {input} → {output}, {size} × {size}, stride {stride}");
        table.compare(&what, || [plain(shape, &x, &weight)], || [forward(shape, &x, &weight, None)]);
        table.compare(
            &format!("{what}, backward"),
            || plain_backward(shape, &x, &weight, &gradient),
            || {
                let found = backward(shape, &x, &weight, &gradient, true);
                [found.x.unwrap_or_default(), found.weight]
            },
        );
    }
    table.finish();
}

fn norms() {
    let mut table = Beside::new("group norm");
    for (side, channels) in [(32, 32), (16, 64), (8, 128)] {
        let shape = group_norm::Shape { batch: 8, pixels: side * side, channels, groups: 8 };
        let count = 8 * side * side * channels;
        let (x, residual, gradient) = (values(count, 1), values(count, 2), values(count, 3));
        let (scale, shift) = (values(channels, 4), values(channels, 5));
        let args = Args {
            shape,
            x: &x,
            scale: &scale,
            shift: &shift,
            epsilon: EPSILON,
            residual: Some(&residual),
            relu: true,
        };
        let what = format!("8 × {side} × {side} × {channels}, residual, relu");
        table.compare(
            &what,
            || [plain_norm(&x, &scale, &shift, &residual, shape)],
            || [group_norm::forward(&args).y],
        );
        let (kept, normed) = (normed(&x, shape), group_norm::forward(&args));
        let again =
            Kept { shape, x: &x, scale: &scale, tape: &normed.tape, residual: true, y: Some(&normed.y) };
        table.compare(
            &format!("{what}, backward"),
            || plain_norm_backward(&kept, &scale, &normed.y, &gradient, shape),
            || {
                let found = group_norm::backward(&again, &gradient);
                [found.x, found.scale, found.shift, found.residual.unwrap_or_default()]
            },
        );
    }
    table.finish();
}

fn main() {
    convolutions();
    norms();
}
