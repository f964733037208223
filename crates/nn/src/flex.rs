//! The way from Burn's tensors to plain slices of the CPU backend and back: what it takes to make
//! a kernel one operation of the gradient graph.
//!
//! Every function here returns `None` where a tensor does not live on the CPU, so that the caller
//! can take the plain form instead.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, BackendTypes, DispatchDevice, Flex};
use burn::tensor::{Shape, Tensor, TensorData};
use std::fmt::Debug;
use std::marker::PhantomData;

type Tracked = <Autodiff<Flex> as BackendTypes>::FloatTensorPrimitive;

/// An input of an operation: its values, and its place in the gradient graph if it has one.
pub(crate) struct Operand {
    /// The values, row-major without gaps.
    pub(crate) values: Values,
    tracked: Option<Tracked>,
}

impl Operand {
    /// The operand of a tensor on the CPU.
    pub(crate) fn of<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        if !tensor.is_autodiff() {
            let plain = tensor.clone().try_into_primitive::<Flex>().ok()?;
            return Some(Self { values: Values::new(&plain), tracked: None });
        }
        let tracked = tensor.clone().try_into_primitive::<Autodiff<Flex>>().ok()?;
        Some(Self { values: Values::new(tracked.primitive()), tracked: Some(tracked) })
    }

    /// Whether it will get a gradient, should there be a backward pass.
    pub(crate) fn wants_gradient(&self) -> bool {
        self.tracked.as_ref().is_some_and(Tracked::is_tracked)
    }

    /// Whether gradients may be asked for.
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracked.is_some()
    }
}

/// Whether a tensor lives on the CPU, outside any gradient graph.
pub(crate) fn is_plain<const D: usize>(tensor: &Tensor<D>) -> bool {
    !tensor.is_autodiff() && tensor.clone().try_into_primitive::<Flex>().is_ok()
}

/// f32 values of the CPU, shared and never copied.
#[derive(Clone, Debug)]
pub(crate) struct Values(FlexTensor);

impl Values {
    /// Those of a tensor that lives on the CPU, outside any gradient.
    pub(crate) fn of<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        if tensor.is_autodiff() { None } else { Some(Operand::of(tensor)?.values) }
    }

    fn new(tensor: &FlexTensor) -> Self {
        Self(tensor.to_contiguous())
    }

    /// The values as a slice.
    pub(crate) fn slice(&self) -> &[f32] {
        self.0.as_slice::<f32>().unwrap_or_default()
    }
}

/// What an operation remembers for its backward pass, and that pass.
pub(crate) trait Gradient<const N: usize>: Clone + Debug + Send + 'static {
    /// From the gradient of the output to those of the `N` inputs, each with its input's shape;
    /// `None` where an input gets none.
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; N];
}

#[derive(Debug)]
struct Operation<G>(PhantomData<G>);

impl<G: Gradient<N>, const N: usize> Backward<Flex, N> for Operation<G> {
    type State = G;

    fn backward(self, ops: Ops<G, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let output = Values::new(&grads.consume::<Flex>(&ops.node));
        let gradients = ops.state.gradients(output.slice());
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let (Some(parent), Some((values, shape))) = (parent, gradient) {
                grads.register::<Flex>(parent.id, FlexTensor::from_data(TensorData::new(values, shape)));
            }
        }
    }
}

/// Makes a computed output one node of the graph behind its inputs, or a plain tensor where no
/// input takes part in a graph. `remember` is called only if a backward pass can come.
pub(crate) fn operation<const D: usize, const N: usize, G: Gradient<N>>(
    inputs: [Operand; N],
    output: Vec<f32>,
    shape: [usize; D],
    remember: impl FnOnce() -> G,
) -> Tensor<D> {
    operation_keeping(inputs, output, shape, |_| remember())
}

/// [`operation`] for a backward pass that reads the output again.
pub(crate) fn operation_keeping<const D: usize, const N: usize, G: Gradient<N>>(
    inputs: [Operand; N],
    output: Vec<f32>,
    shape: [usize; D],
    remember: impl FnOnce(Values) -> G,
) -> Tensor<D> {
    if !inputs.iter().any(Operand::is_tracked) {
        return plain(output, shape);
    }
    let output = FlexTensor::from_data(TensorData::new(output, shape));
    let nodes = inputs.map(|input| match input.tracked {
        Some(tracked) => tracked.node(),
        None => Tracked::new(input.values.0).node(),
    });
    let prepared = Operation(PhantomData).prepare::<NoCheckpointing>(nodes).compute_bound().stateful();
    Tensor::from_primitive::<Autodiff<Flex>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(remember(Values(output.clone())), output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

/// A tensor of the CPU outside any gradient graph.
pub(crate) fn plain<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_primitive::<Flex>(FlexTensor::from_data(TensorData::new(values, shape)))
}

/// Changes the values of a tensor: where they are, if they live on the CPU and nobody else holds
/// them, else on a copy.
pub fn update<const D: usize>(tensor: Tensor<D>, change: impl FnOnce(&mut [f32])) -> Tensor<D> {
    let (device, shape) = (tensor.device(), tensor.shape());
    if !matches!(device.as_dispatch(), DispatchDevice::Flex(_)) {
        let mut values = tensor.try_into_vec_as::<f32>().unwrap_or_default();
        change(&mut values);
        return Tensor::from_data(TensorData::new(values, shape), &device);
    }
    match tensor.try_into_primitive::<Flex>() {
        Ok(primitive) => {
            let mut whole = primitive.to_contiguous();
            drop(primitive); // or there are two who hold the values, and they are copied
            change(whole.storage_mut::<f32>());
            Tensor::from_primitive::<Flex>(whole)
        }
        Err(error) => unreachable!("a tensor of the CPU backend is one: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn values_that_nobody_else_holds_are_changed_where_they_are() {
        let tensor = Tensor::<1>::from_data([1.0f32, 2.0, 3.0], &Device::flex());
        let mut first = std::ptr::null();
        let tensor = update(tensor, |values| {
            values[0] = 7.0;
            first = values.as_ptr();
        });
        let held = tensor.clone();
        let mut places = Vec::new();
        let changed = update(tensor, |values| {
            values[1] = 8.0;
            places.push(values.as_ptr());
        });
        assert_ne!(places[0], first, "somebody else holds them");
        let again = update(changed, |values| places.push(values.as_ptr()));
        assert_eq!(places[0], places[1]);
        assert_eq!(held.try_into_vec_as::<f32>().unwrap(), [7.0, 2.0, 3.0]);
        assert_eq!(again.try_into_vec_as::<f32>().unwrap(), [7.0, 8.0, 3.0]);
    }
}
