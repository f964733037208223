//! Parameters by name: to and from safetensors files, and from one model into another.

use crate::error::ModelError;
use crate::stored::{Parameter, Stored};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use gatto_nn::Precision;
use safetensors::{Dtype, tensor::TensorView};
use std::collections::BTreeMap;
use std::path::Path;

/// The values of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    /// Row-major values.
    pub values: Vec<f32>,
}

/// Parameters by their place in the model, such as `encoder.network.layers.0.forward.input`.
pub type Weights = BTreeMap<String, Weight>;

/// Follows the place of a parameter while a module is walked through.
#[derive(Default)]
struct Place(Vec<String>);

impl Place {
    /// The name of an enum's variant is passed over: which encoder it is stands in the configuration.
    fn enter(&mut self, name: &str, container: &str) {
        self.0.push(if container.starts_with("Enum:") { String::new() } else { name.to_owned() });
    }

    fn exit(&mut self) {
        self.0.pop();
    }

    /// The name of the parameter here.
    fn name(&self) -> String {
        self.0.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

/// Something to do with every parameter of a module, which is told its name.
pub trait Visit {
    /// Looks at one parameter.
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>);
}

/// Shows every parameter of a module to `visitor`.
pub fn visit(module: &impl Module, visitor: &mut impl Visit) {
    module.visit(&mut Walk { place: Place::default(), with: visitor });
}

/// A change to every parameter of a module, which is told its name.
pub trait Change {
    /// What becomes of one parameter.
    fn change<const D: usize>(&mut self, name: String, param: Param<Tensor<D>>) -> Param<Tensor<D>>;
}

/// The module with every parameter as `changer` leaves it.
pub fn change<M: Module>(module: M, changer: &mut impl Change) -> M {
    module.map(&mut Walk { place: Place::default(), with: changer })
}

/// Burn's walks know the way, but not the name.
struct Walk<'a, W> {
    place: Place,
    with: &'a mut W,
}

impl<V: Visit> ModuleVisitor for Walk<'_, V> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.place.enter(name, container);
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.exit();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.with.visit(self.place.name(), param);
    }
}

impl<C: Change> ModuleMapper for Walk<'_, C> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.place.enter(name, container);
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.exit();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.with.change(self.place.name(), param)
    }
}

impl Visit for Weights {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor.try_into_vec_as::<f32>().unwrap_or_default();
        self.insert(name, Weight { shape, values });
    }
}

/// All parameters of a module.
pub fn collect(module: &impl Module) -> Weights {
    let mut found = Weights::new();
    visit(module, &mut found);
    found
}

struct Install<'a> {
    path: &'a Path,
    weights: &'a mut Weights,
    whole: bool,
    error: Option<ModelError>,
}

impl Change for Install<'_> {
    fn change<const D: usize>(&mut self, name: String, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let expected = param.dims().to_vec();
        let path = self.path.to_owned();
        match self.weights.remove(&name) {
            Some(weight) if weight.shape == expected => param.map(|old| {
                let data = TensorData::new(weight.values, weight.shape);
                let new = Tensor::from_data(data, &old.device());
                if old.is_require_grad() { new.require_grad() } else { new }
            }),
            Some(weight) => {
                let found = weight.shape;
                self.error.get_or_insert(ModelError::Shape { path, name, found, expected });
                param
            }
            None => {
                if self.whole {
                    self.error.get_or_insert(ModelError::Missing { path, name });
                }
                param
            }
        }
    }
}

/// Puts every one of `weights`, which came from `path`, in its place. With `whole`, the module must
/// find all its parameters among them.
pub fn install<M: Module>(
    module: M,
    mut weights: Weights,
    path: &Path,
    whole: bool,
) -> Result<M, ModelError> {
    let mut install = Install { path, weights: &mut weights, whole, error: None };
    let module = change(module, &mut install);
    match (install.error, weights.keys().next()) {
        (Some(error), _) => Err(error),
        (None, Some(name)) => Err(unknown(path, name)),
        (None, None) => Ok(module),
    }
}

/// A file with weights that no parameter of the model has.
pub(crate) fn unknown(path: &Path, name: &str) -> ModelError {
    let message = format!("it has weights for `{name}`, which the model has not");
    ModelError::Damaged { path: path.to_owned(), message }
}

/// Writes weights to a safetensors file, in one piece or not at all.
pub fn save(path: &Path, weights: &Weights) -> Result<(), ModelError> {
    write(path, weights.iter().map(|(name, weight)| (name, Written::floats(weight))).collect())
}

/// A tensor as it is written.
pub(crate) struct Written {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Written {
    pub(crate) fn floats(weight: &Weight) -> Self {
        let bytes = weight.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: weight.shape.clone(), bytes }
    }
}

/// Writes tensors to a safetensors file, in one piece or not at all.
pub(crate) fn write<N: AsRef<str> + Ord + std::fmt::Display>(
    path: &Path,
    tensors: Vec<(N, Written)>,
) -> Result<(), ModelError> {
    let damaged = |error: safetensors::SafeTensorError| ModelError::Damaged {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let views = tensors
        .iter()
        .map(|(name, tensor)| Ok((name, TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes)?)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(damaged)?;
    let file = safetensors::serialize(views, None).map_err(damaged)?;
    Ok(gatto_data::files::replace(path, |out| out.write_all(&file))?)
}

/// Reads a safetensors file of floats. One in eight bits is refused: nothing can be learnt from there on.
pub fn load(path: &Path) -> Result<Weights, ModelError> {
    let stored = Stored::open(path)?;
    if stored.precision() == Precision::Int8 {
        return Err(ModelError::Quantised {
            path: path.to_owned(),
            problem: "which are for prediction and cannot be trained",
        });
    }
    let read = |(name, parameter): (&String, &Parameter)| {
        let weight = Weight { shape: parameter.shape.clone(), values: stored.floats(parameter)? };
        Ok((name.clone(), weight))
    };
    stored.parameters().iter().map(read).collect()
}
