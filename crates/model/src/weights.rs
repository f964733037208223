//! Parameters by name: to and from safetensors files, and from one model into another.

use crate::error::ModelError;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
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
        (None, Some(name)) => Err(ModelError::Damaged {
            path: path.to_owned(),
            message: format!("it has weights for `{name}`, which the model has not"),
        }),
        (None, None) => Ok(module),
    }
}

/// Writes weights to a safetensors file, in one piece or not at all.
pub fn save(path: &Path, weights: &Weights) -> Result<(), ModelError> {
    let bytes: Vec<(&String, &Weight, Vec<u8>)> = weights
        .iter()
        .map(|(name, weight)| (name, weight, weight.values.iter().flat_map(|v| v.to_le_bytes()).collect()))
        .collect();
    let damaged = |error: safetensors::SafeTensorError| ModelError::Damaged {
        path: path.to_owned(),
        message: error.to_string(),
    };
    let views = bytes
        .iter()
        .map(|(name, weight, bytes)| Ok((name, TensorView::new(Dtype::F32, weight.shape.clone(), bytes)?)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(damaged)?;
    let file = safetensors::serialize(views, None).map_err(damaged)?;
    Ok(gatto_data::files::replace(path, |out| out.write_all(&file))?)
}

/// Reads a safetensors file of f32 tensors.
pub fn load(path: &Path) -> Result<Weights, ModelError> {
    let file =
        std::fs::read(path).map_err(|error| ModelError::Unreadable { path: path.to_owned(), error })?;
    let damaged = |message: String| ModelError::Damaged { path: path.to_owned(), message };
    let tensors = SafeTensors::deserialize(&file).map_err(|error| damaged(error.to_string()))?;
    let mut weights = Weights::new();
    for (name, view) in tensors.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(damaged(format!("`{name}` holds {:?} and not F32 values", view.dtype())));
        }
        let values =
            view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        weights.insert(name.to_owned(), Weight { shape: view.shape().to_vec(), values });
    }
    Ok(weights)
}
