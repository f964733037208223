//! From a file into a model, one tensor after the other: what is made ready for prediction goes straight there, and
//! only the rest becomes parameters. So there are never two copies of the weights, but for the tensor at hand.

use crate::config::Plan;
use crate::error::ModelError;
use crate::model::{Model, Vocabularies};
use crate::stored::{Parameter, Stored};
use crate::weights::{self, Change, Visit};
use burn::module::{Param, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use gatto_nn::{Matrix, Precision, Preparing, Supply};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How a model is taken from a file.
#[derive(Clone, Copy, Debug)]
pub struct Taking {
    /// How weights are kept for prediction; those in eight bits stay so.
    pub precision: Precision,
    /// Whether every parameter has its values, also where prediction does not need it: those of eight bits are then
    /// s q.
    pub whole: bool,
}

impl Model {
    /// The model of a plan with the weights of a file, ready for prediction.
    pub fn from_file(
        plan: &Plan,
        vocabularies: Vocabularies,
        stored: &Stored,
        taking: Taking,
        device: &Device,
    ) -> Result<Self, ModelError> {
        load(Self::blank(plan, vocabularies, device), stored, taking)
    }
}

fn load(model: Model, stored: &Stored, Taking { precision, whole }: Taking) -> Result<Model, ModelError> {
    let reader = Reader::new(&model, stored)?;
    let (model, asked) = asked(model);
    // Parameters first: whatever else a model makes ready may read them.
    let left_out = if whole { BTreeSet::new() } else { asked };
    let mut fill = Fill { stored, places: &reader.places, left_out: &left_out, error: None };
    let mut model = weights::change(model, &mut fill);
    if let Some(error) = fill.error {
        return Err(error);
    }
    model.prepare(Preparing::from_supply(precision, &reader));
    match reader.error.into_inner() {
        Some(error) => Err(error),
        None => Ok(model.with_parameters(left_out.is_empty())),
    }
}

/// The matrices of a model that have a form in eight bits, by their names. Token vectors that are an output layer as
/// well are not among them.
pub(crate) fn quantisable(model: Model, stored: &Stored) -> Result<BTreeSet<String>, ModelError> {
    let reader = Reader::new(&model, stored)?;
    let (_, asked) = asked(model);
    Ok(asked.iter().filter_map(|id| reader.places.get(id)).map(|(name, _)| name.clone()).collect())
}

/// The parameters that a blank model makes ready and does not need besides.
fn asked(mut model: Model) -> (Model, BTreeSet<ParamId>) {
    let asked = Asked::default();
    model.prepare(Preparing::trial(&asked));
    (model, asked.0.into_inner())
}

/// Remembers what it is asked for, and gives nothing.
#[derive(Default)]
struct Asked(RefCell<BTreeSet<ParamId>>);

impl Supply for Asked {
    fn supply(&self, id: ParamId, _: &mut dyn FnMut(Matrix<'_>)) {
        self.0.borrow_mut().insert(id);
    }
}

/// Reads what is made ready.
struct Reader<'a> {
    stored: &'a Stored,
    places: Places<'a>,
    error: RefCell<Option<ModelError>>,
}

/// Where the values of a parameter are.
type Places<'a> = BTreeMap<ParamId, (String, &'a Parameter)>;

impl<'a> Reader<'a> {
    /// Refuses a file that is not of this model, before anything is read.
    fn new(model: &Model, stored: &'a Stored) -> Result<Self, ModelError> {
        let mut look = Look { stored, places: Places::new(), error: None };
        weights::visit(model, &mut look);
        if let Some(error) = look.error {
            return Err(error);
        }
        let known: BTreeSet<&String> = look.places.values().map(|(name, _)| name).collect();
        if let Some(name) = stored.parameters().keys().find(|name| !known.contains(name)) {
            return Err(weights::unknown(stored.path(), name));
        }
        Ok(Self { stored, places: look.places, error: RefCell::default() })
    }
}

impl Supply for Reader<'_> {
    fn supply(&self, id: ParamId, take: &mut dyn FnMut(Matrix<'_>)) {
        let Some((_, parameter)) = self.places.get(&id).filter(|_| self.error.borrow().is_none()) else {
            return;
        };
        if let Err(error) = self.stored.show(parameter, take) {
            *self.error.borrow_mut() = Some(error);
        }
    }
}

/// Finds the place of every parameter.
struct Look<'a> {
    stored: &'a Stored,
    places: Places<'a>,
    error: Option<ModelError>,
}

impl Visit for Look<'_> {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        let (path, expected) = (self.stored.path(), param.dims());
        let error = match self.stored.parameters().get(&name) {
            None => ModelError::Missing { path: path.to_owned(), name },
            Some(found) if found.shape != expected => {
                let (found, expected) = (found.shape.clone(), expected.to_vec());
                ModelError::Shape { path: path.to_owned(), name, found, expected }
            }
            Some(found) => return drop(self.places.insert(param.id, (name, found))),
        };
        self.error.get_or_insert(error);
    }
}

/// Gives parameters their values, but for those that are left out.
struct Fill<'a> {
    stored: &'a Stored,
    places: &'a Places<'a>,
    left_out: &'a BTreeSet<ParamId>,
    error: Option<ModelError>,
}

impl Change for Fill<'_> {
    fn change<const D: usize>(&mut self, _: String, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let place = self.places.get(&param.id).filter(|_| !self.left_out.contains(&param.id));
        let Some((_, parameter)) = place.filter(|_| self.error.is_none()) else { return param };
        match self.stored.floats(parameter) {
            Ok(values) => param.map(|old| {
                let data = TensorData::new(values, parameter.shape.clone());
                let new = Tensor::from_data(data, &old.device());
                if old.is_require_grad() { new.require_grad() } else { new }
            }),
            Err(error) => {
                self.error = Some(error);
                param
            }
        }
    }
}
