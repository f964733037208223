//! A look of plain rows at prediction, which asks for no memory: the fused twin of [`Attention::look`] where its focus is soft and
//! nothing of a look is remembered.

use super::{Attention, Source};
use crate::flex::Values;
use burn::tensor::Tensor;
use gatto_kernels::attention::{Mask, Source as Seen, look};

/// A source as plain values.
#[derive(Clone, Debug)]
pub(super) struct PlainSource {
    states: Values,
    keys: Option<Values>,
    mask: Values,
}

impl PlainSource {
    /// None where it does not live on the CPU, or is in a gradient.
    pub(super) fn new(states: &Tensor<3>, keys: Option<&Tensor<3>>, mask: &Tensor<2>) -> Option<Self> {
        let keys = match keys {
            Some(keys) => Some(Values::of(keys)?),
            None => None,
        };
        Some(Self { states: Values::of(states)?, keys, mask: Values::of(mask)? })
    }
}

/// What looks work with. Its memory is that of the looks before.
#[derive(Clone, Debug, Default)]
pub struct LookRoom {
    mapped: Vec<f32>,
    owners: Vec<u32>,
}

impl Attention {
    /// Whether [`Attention::look_in_place`] can be asked for.
    pub fn can_look_in_place(&self, source: &Source) -> bool {
        let forgetful = self.coverage.is_none() && self.trail.is_none();
        forgetful && self.focus.is_soft() && self.score.has_comparison() && source.plain.is_some()
    }

    /// Looks at the source with plain queries [R, Q], and leaves what is seen, [R, H], in place of what is in a list.
    pub fn look_in_place(
        &self,
        query: &[f32],
        rows: usize,
        source: &Source,
        room: &mut LookRoom,
        context: &mut Vec<f32>,
    ) {
        let LookRoom { mapped, owners } = room;
        let comparison = self.score.comparison(query, query.len() / rows.max(1), mapped);
        let (Some(plain), Some((compared, relevance))) = (&source.plain, comparison) else { return };
        let [_, positions, wide] = source.states.dims();
        owners.clear();
        owners.extend(source.fan.owners(rows));
        context.resize(rows * wide, 0.0);
        let seen = Seen {
            keys: plain.keys.as_ref().map_or(&[], Values::slice),
            states: plain.states.slice(),
            mask: Mask { exists: plain.mask.slice(), columns: positions, rows: Some(owners) },
            widths: [compared.len() / rows.max(1), wide],
        };
        look(compared, relevance, &seen, context);
    }
}
