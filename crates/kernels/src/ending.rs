//! What becomes of the sums of a product on their way to where they are written.

use crate::activation::{Activation, activate};

/// `to = f(sum + b)`, or `to += f(sum + b)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending<'a> {
    /// `b`, `[O]`; nothing if not given.
    pub bias: Option<&'a [f32]>,
    /// `f`; nothing if not given.
    pub activation: Option<Activation>,
    /// Whether it is added to what stands there.
    pub add: bool,
}

impl<'a> Ending<'a> {
    /// `to = sum + b`.
    pub fn bias(bias: Option<&'a [f32]>) -> Self {
        Self { bias, ..Self::default() }
    }

    /// Writes the sums of the columns from `from` on.
    #[inline(always)]
    pub(crate) fn write(&self, from: usize, sums: &mut [f32], to: &mut [f32]) {
        if let Some(bias) = self.bias {
            for (sum, b) in sums.iter_mut().zip(&bias[from..]) {
                *sum += b;
            }
        }
        if let Some(activation) = self.activation {
            activate(activation, sums);
        }
        if self.add {
            for (to, sum) in to.iter_mut().zip(&*sums) {
                *to += sum;
            }
        } else {
            to.copy_from_slice(sums);
        }
    }
}
