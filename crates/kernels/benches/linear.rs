//! Products of matrices and affine maps, beside three loops: `cargo bench -p gatto-kernels --bench linear`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::batched;
use gatto_kernels::linear::{Gradients, Shape, backward, forward, forward_steady};
use gatto_kernels::prepared::Prepared;

/// `to += a b`, for `a` with these strides of rows and columns and the rows of `b` in one piece.
fn multiply(
    to: &mut [f32],
    a: &[f32],
    strides: (usize, usize),
    b: &[f32],
    [rows, depth, columns]: [usize; 3],
) {
    for row in 0..rows {
        let to = &mut to[row * columns..][..columns];
        for k in 0..depth {
            let value = a[row * strides.0 + k * strides.1];
            to.iter_mut().zip(&b[k * columns..][..columns]).for_each(|(to, b)| *to += value * b);
        }
    }
}

fn transposed(x: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|at| x[at % rows * columns + at / rows]).collect()
}

/// `x W + b`, for a weight `[O, I]` as one sum after the other.
fn plain(shape: Shape, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let Shape { rows, input, output, .. } = shape;
    let mut y = bias.repeat(rows);
    if !shape.transposed {
        multiply(&mut y, x, (input, 1), weight, [rows, input, output]);
        return y;
    }
    for (y, x) in y.chunks_exact_mut(output).zip(x.chunks_exact(input)) {
        for (y, weight) in y.iter_mut().zip(weight.chunks_exact(input)) {
            *y += x.iter().zip(weight).map(|(x, w)| x * w).sum::<f32>();
        }
    }
    y
}

fn plain_backward(shape: Shape, x: &[f32], weight: &[f32], gradient: &[f32]) -> [Vec<f32>; 3] {
    let Shape { rows, input, output, .. } = shape;
    let (mut of_x, mut of_weight, mut of_bias) =
        (vec![0.0; rows * input], vec![0.0; input * output], vec![0.0; output]);
    multiply(&mut of_x, gradient, (output, 1), &transposed(weight, input, output), [rows, output, input]);
    multiply(&mut of_weight, x, (1, input), gradient, [input, rows, output]);
    multiply(&mut of_bias, &vec![1.0; rows], (rows, 1), gradient, [1, rows, output]);
    [of_x, of_weight, of_bias]
}

/// One product per sentence, without a transpose.
fn plain_batched(shape: batched::Shape, a: &[f32], m: &[f32]) -> Vec<f32> {
    let batched::Shape { rows, inner, columns, .. } = shape;
    let mut result = vec![0.0; shape.batch * rows * columns];
    let pairs = a.chunks_exact(rows * inner).zip(m.chunks_exact(inner * columns));
    for (to, (a, m)) in result.chunks_exact_mut(rows * columns).zip(pairs) {
        multiply(to, a, (inner, 1), m, [rows, inner, columns]);
    }
    result
}

fn main() {
    let mut table = Beside::new("linear");
    learning(&mut table);
    prediction(&mut table);
    by_sentences(&mut table);
    table.finish();
}

/// Layers of W1 and of W2's output, forward and backward.
fn learning(table: &mut Beside) {
    for (work, rows, input, output) in
        [("W1", 1536, 256, 256), ("W1", 1536, 256, 1024), ("W1", 1536, 1024, 256), ("W2", 1536, 512, 1024)]
    {
        let shape = Shape { rows, input, output, transposed: false };
        let (x, weight, bias) = (values(rows * input, 1), values(input * output, 2), values(output, 3));
        let gradient = values(rows * output, 4);
        let size = format!("{work}, {rows} × {input} → {output}");
        table.compare(&size, || [plain(shape, &x, &weight, &bias)], || [forward(shape, &x, &weight, &bias)]);
        table.compare(
            &format!("{size}, backward"),
            || plain_backward(shape, &x, &weight, &gradient),
            || {
                let Gradients { x, weight, bias } = backward(shape, &x, &weight, &gradient);
                [x, weight, bias]
            },
        );
    }
}

/// Steps of W3 and W3b: weights as they stand, as token vectors do, and made ready.
fn prediction(table: &mut Beside) {
    for (work, rows, input, output) in [
        ("W3", 1, 256, 1024),
        ("W3", 32, 256, 8000),
        ("W3b", 1, 512, 2048),
        ("W3b", 32, 512, 2048),
        ("W3b", 160, 512, 2048),
    ] {
        let (x, weight, bias) = (values(rows * input, 1), values(input * output, 2), values(output, 3));
        let size = format!("{work}, {rows} × {input} → {output}");
        for transposed in [false, true] {
            let shape = Shape { rows, input, output, transposed };
            let plain = || [plain(shape, &x, &weight, &bias)];
            let name = if transposed { "steady, [O, I]" } else { "steady" };
            table.compare(&format!("{size}, {name}"), plain, || [forward_steady(shape, &x, &weight, &bias)]);
            if !transposed {
                let ready = Prepared::floats(&weight, input, output, false);
                table.compare(&format!("{size}, ready"), plain, || [ready.forward(&x, Some(&bias))]);
            }
        }
    }
}

/// Contexts of W2's attention: weights times states.
fn by_sentences(table: &mut Beside) {
    for (work, batch, rows) in [("W2c", 64, 24), ("W4, a step", 160, 1)] {
        let shape = batched::Shape { batch, rows, inner: 24, columns: 512, transposed: false };
        let (a, m) = (values(batch * rows * 24, 1), values(batch * 24 * 512, 2));
        let size = format!("{work}, {batch} of {rows} × 24 → 512");
        let plain = || [plain_batched(shape, &a, &m)];
        match rows {
            1 => table.compare(&size, plain, || [batched::forward_steady(shape, &a, &m)]),
            _ => table.compare(&size, plain, || [batched::forward(shape, &a, &m)]),
        }
    }
}
