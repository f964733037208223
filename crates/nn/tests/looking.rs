//! A recurrent layer that looks before or after every step: the plain form against the fused one, gradients included.

use burn::tensor::{Device, Tensor, TensorData};
use gatto_nn::Initial;
use gatto_nn::recurrent::{
    Cell, CellState, LayerInput, LayerLook, LayerWeights, LookingOutput, looking_layer, looking_layer_plain,
};
use proptest::prelude::*;

type Form = fn(Cell, LayerInput, LayerLook, LayerWeights) -> LookingOutput;

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

/// Mask [B, N] of rows with these lengths.
fn mask(lengths: &[usize], count: usize, device: &Device) -> Tensor<2> {
    let values = lengths.iter().flat_map(|&n| (0..count).map(move |at| f32::from(at < n)));
    Tensor::from_data(TensorData::new(values.collect::<Vec<_>>(), [lengths.len(), count]), device)
}

/// What a layer gives, and the gradient of a weighted sum of it in every input.
fn everything(
    form: Form,
    cell: Cell,
    [time, input, width]: [usize; 3],
    [positions, of_key, context, unfed]: [usize; 4],
    lengths: &[(usize, usize)],
    seed: u64,
) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let (targets, sources): (Vec<usize>, Vec<usize>) = lengths.iter().copied().unzip();
    let (batch, fed) = (lengths.len(), context - unfed.min(context - 1));
    let mut initial = Initial::new(seed, &device);
    let x = initial.normal([batch, time, input], 1.0).val();
    let weights = LayerWeights::new(
        initial.normal([input + fed, cell.gates() * width], 0.5).val(),
        initial.normal([width, cell.gates() * width], 0.5).val(),
        initial.normal([cell.bias_blocks() * width], 0.5).val(),
    );
    let hidden = initial.normal([batch, width], 1.0).val();
    let carried = (cell == Cell::Lstm).then(|| initial.normal([batch, width], 1.0).val());
    let first = CellState { hidden, cell: carried };
    let look = LayerLook {
        keys: initial.normal([batch, positions, of_key], 1.0).val(),
        states: initial.normal([batch, positions, context], 1.0).val(),
        mask: mask(&sources, positions, &device),
        query: initial.normal([width, of_key], 0.5).val(),
        vector: initial.normal([of_key], 1.0).val(),
        after: seed % 4 < 2,
        fed,
    };
    let exists = mask(&targets, time, &device);
    let given =
        LayerInput { x: x.clone(), mask: exists, first: first.clone(), reverse: seed.is_multiple_of(2) };
    let LookingOutput { seen, weights: shares, last } = form(cell, given, look.clone(), weights.clone());
    let mut loss = (seen.clone() * initial.normal([batch, time, context + width], 1.0).val().detach()).sum()
        + (shares.clone() * initial.normal([batch, time, positions], 1.0).val().detach()).sum()
        + (last.hidden.clone() * initial.normal([batch, width], 1.0).val().detach()).sum();
    let mut found = vec![values(seen), values(shares), values(last.hidden)];
    if let Some(c) = last.cell {
        loss = loss + (c.clone() * initial.normal([batch, width], 1.0).val().detach()).sum();
        found.push(values(c));
    }
    let gradients = loss.backward();
    let gradient = |what: &str, found: Option<Tensor<3>>| values(found.unwrap_or_else(|| panic!("{what}")));
    found.push(gradient("x", x.grad(&gradients)));
    found.push(gradient("keys", look.keys.grad(&gradients)));
    found.push(gradient("states", look.states.grad(&gradients)));
    let matrices = [weights.input, weights.recurrent, look.query, first.hidden];
    found.extend(matrices.iter().map(|matrix| values(matrix.grad(&gradients).expect("a matrix"))));
    found.extend(
        [weights.bias, look.vector].iter().map(|vector| values(vector.grad(&gradients).expect("a vector"))),
    );
    found.extend(first.cell.map(|cell| values(cell.grad(&gradients).expect("c0"))));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn fused_and_plain_agree(
        cell in prop_oneof![Just(Cell::Rnn), Just(Cell::Lstm), Just(Cell::Gru)],
        layer in [1usize..6, 1..9, 1..12],
        look in [1usize..6, 1..9, 1..12, 0..6],
        shares in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 1..5),
        seed in 0u64..1000,
    ) {
        // Every source has a position at least.
        let length = |&(target, source): &(f64, f64)| {
            (1 + (target * layer[0] as f64) as usize, 1 + (source * look[0] as f64) as usize)
        };
        let lengths: Vec<_> = shares.iter().map(length).collect();
        let [fused, plain] =
            [looking_layer as Form, looking_layer_plain].map(|form| everything(form, cell, layer, look, &lengths, seed));
        for (which, (fused, plain)) in fused.iter().zip(&plain).enumerate() {
            prop_assert_eq!(fused.len(), plain.len());
            for (a, b) in fused.iter().zip(plain) {
                prop_assert!((a - b).abs() <= 2e-4 * b.abs().max(1.0), "{which}: {a} and not {b}");
            }
        }
    }
}
