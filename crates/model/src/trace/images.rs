//! What a model looked at in an image, while it wrote of it or told what it is.

use super::{Looked, Matrix, Piece, Tracing, numbers, pieces};
use crate::constraints::Asked;
use crate::error::ModelError;
use crate::memory::Memory;
use crate::saved::Saved;
use gatto_data::images::{Grid, Pixels};
use gatto_data::tokens::{Kind, UNKNOWN};
use gatto_data::{Source, evaluation_batches_of_images, in_input_order};
use gatto_search::Choices;

/// A pass of an image, and of a text about it, through a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageTrace {
    /// The regions of the image.
    pub grid: Grid,
    /// What was written, with its end; nothing if the model has no decoder.
    pub target: Vec<Piece>,
    /// log p of each target token.
    pub log_probabilities: Vec<f32>,
    /// What else could have stood in the place of each; empty unless asked for.
    pub choices: Vec<Choices>,
    /// Where the model looked: a row per target token, a weight per region. Of several heads and layers it is the mean;
    /// of a head that weighs regions, one row. `None` where nothing looks.
    pub weights: Option<Matrix>,
    /// Where each head of each layer looked while reading: a row and a column per patch, behind those of the class token
    /// if there is one. Empty unless asked for, and for what is no Vision Transformer.
    pub layers: Vec<Vec<Matrix>>,
    /// Whether a class token stands before the patches.
    pub class_token: bool,
}

impl Saved {
    /// Forces texts of images through the model, and tells where it looked at each of their tokens, which come without
    /// an end. At most `batch` are computed together. `heads` asks for what every head of a Vision Transformer saw.
    ///
    /// # Errors
    /// If the model does not read such images, or has too few positions for a text.
    pub fn trace_images(
        &self,
        pairs: &[(&Pixels, Vec<u32>)],
        batch: usize,
        heads: bool,
    ) -> Result<Vec<ImageTrace>, ModelError> {
        self.trace_images_as(pairs, batch, Tracing { heads, ..Tracing::default() })
    }

    /// [`Saved::trace_images`] with what else is asked for.
    ///
    /// # Errors
    /// As there.
    pub fn trace_images_as(
        &self,
        pairs: &[(&Pixels, Vec<u32>)],
        batch: usize,
        Tracing { heads, choices }: Tracing,
    ) -> Result<Vec<ImageTrace>, ModelError> {
        let Some(grid) = self.plan.grid() else {
            let wanted = self.plan.sources();
            return Err(ModelError::OtherSource { index: 0, found: "an image", wanted });
        };
        let mut images = Vec::with_capacity(pairs.len());
        for (index, (image, target)) in pairs.iter().enumerate() {
            if let Source::Image(image) = self.source(index, Asked::Image(image))? {
                images.push((image, target.clone()));
            }
            super::check_length(index, target.len(), self.plan.most_target())?;
        }
        let longest = pairs.iter().map(|(_, target)| target.len() + 1).max().unwrap_or(1);
        let scores = longest.saturating_mul(self.tokens.target.size()).max(1);
        let batch = batch.min(super::MOST_SCORES / scores).min(self.plan.most_images());
        let mut found = Vec::with_capacity(pairs.len());
        for batch in evaluation_batches_of_images(&images, batch)? {
            let (looked, memory) = Looked::at(self, &batch.source, &batch.target, choices);
            let regions = RegionHeads::new(self, memory.as_ref(), heads);
            for (row, index) in batch.indices.into_iter().enumerate() {
                let target = &pairs[index as usize].1;
                let written = self.printed(target);
                let logs = looked.logs(row, written.len());
                let weights = looked.weights(row, written.len(), grid.len());
                let trace = ImageTrace {
                    grid,
                    choices: looked.choices(row, written.len()),
                    target: if logs.is_some() { written } else { Vec::new() },
                    log_probabilities: logs.map(<[f32]>::to_vec).unwrap_or_default(),
                    weights: weights.or_else(|| regions.pooled(row, grid.len())),
                    layers: regions.layers(row),
                    class_token: regions.class_token,
                };
                found.push((index, trace));
            }
        }
        Ok(in_input_order(found))
    }
}

impl Saved {
    /// The tokens of a text, its end behind them. Words are counted as they are printed, without those that are not in
    /// the vocabulary.
    pub(super) fn printed(&self, target: &[u32]) -> Vec<Piece> {
        let mut found = pieces(&self.tokens.target, target);
        if self.tokens.target.kind() == Kind::Word {
            let mut printed = 0..;
            for (piece, &token) in found.iter_mut().zip(target) {
                piece.word = if token == UNKNOWN { None } else { printed.next() };
            }
        }
        found
    }
}

/// What looked while the images of a batch were read, as plain numbers.
struct RegionHeads {
    /// [B, H, S, S] of each layer, and its sizes.
    layers: Vec<(Vec<f32>, [usize; 4])>,
    /// What each region counted for a head: [B, S].
    pooling: Option<Vec<f32>>,
    class_token: bool,
}

impl RegionHeads {
    fn new(saved: &Saved, memory: Option<&Memory>, heads: bool) -> Self {
        let told = memory.and_then(|memory| saved.model.tell(memory, &mut gatto_nn::Noise::none()));
        let layers = memory.filter(|_| heads).map(|memory| memory.heads.as_slice()).unwrap_or_default();
        Self {
            layers: layers.iter().map(|layer| (numbers(layer.clone()), layer.dims())).collect(),
            pooling: told.and_then(|told| told.weights).map(numbers),
            class_token: memory.is_some_and(|memory| memory.class.is_some()),
        }
    }

    fn pooled(&self, row: usize, regions: usize) -> Option<Matrix> {
        self.pooling.as_ref().map(|weights| vec![weights[row * regions..][..regions].to_vec()])
    }

    fn layers(&self, row: usize) -> Vec<Vec<Matrix>> {
        let of_layer = |(weights, [_, heads, rows, columns]): &(Vec<f32>, [usize; 4])| {
            let line = |head: usize, at: usize| {
                weights[((row * heads + head) * rows + at) * columns..][..*columns].to_vec()
            };
            (0..*heads).map(|head| (0..*rows).map(|at| line(head, at)).collect()).collect()
        };
        self.layers.iter().map(of_layer).collect()
    }
}
