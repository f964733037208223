//! What becomes of the sums of a product on their way to where they are written.

use crate::activation::{Activation, activate};

/// Values that are ended together.
const EIGHT: usize = 8;

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

    /// Writes the sums of the columns from `from` on, by eights: pieces of a fixed length stay in registers.
    #[inline(always)]
    pub(crate) fn write(&self, from: usize, sums: &[f32], to: &mut [f32]) {
        let bias = self.bias.map(|bias| &bias[from..from + to.len()]);
        let (bias, bias_rest) = bias.map_or((&[][..], &[][..]), |bias| bias.as_chunks::<EIGHT>());
        let (sums, sums_rest) = sums[..to.len()].as_chunks::<EIGHT>();
        let (to, to_rest) = to.as_chunks_mut::<EIGHT>();
        // What stands at `to` may never have been written: it is read only where the sums are added to it.
        for (index, (to, sums)) in to.iter_mut().zip(sums).enumerate() {
            *to = self.end(*sums, bias.get(index), self.add.then_some(&*to));
        }
        if !to_rest.is_empty() {
            let whole = |rest: &[f32]| std::array::from_fn(|lane| rest.get(lane).copied().unwrap_or(0.0));
            let bias = self.bias.map(|_| whole(bias_rest));
            let there = self.add.then(|| whole(to_rest));
            let ended = self.end(whole(sums_rest), bias.as_ref(), there.as_ref());
            to_rest.iter_mut().zip(ended).for_each(|(to, value)| *to = value);
        }
    }

    #[inline(always)]
    fn end(
        &self,
        mut sums: [f32; EIGHT],
        bias: Option<&[f32; EIGHT]>,
        there: Option<&[f32; EIGHT]>,
    ) -> [f32; EIGHT] {
        if let Some(bias) = bias {
            for lane in 0..EIGHT {
                sums[lane] += bias[lane];
            }
        }
        if let Some(activation) = self.activation {
            activate(activation, &mut sums);
        }
        if let Some(there) = there {
            for lane in 0..EIGHT {
                sums[lane] += there[lane];
            }
        }
        sums
    }
}
