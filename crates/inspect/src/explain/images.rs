//! What an output depends on in an image.

use super::{BATCH, Case, ended, erasure, gradient};
use burn::module::Module;
use gatto_data::images::{Grid, ImageBatch, Pixels};
use gatto_data::{DataError, Sources};
use gatto_model::{ImageTrace, Matrix, ModelError, Piece, Saved};

/// A trace of an image beside other answers to the same question, each a row per target token and a column
/// per region. Where a label is told in place of a text, there is one row, and the trace has the label as the
/// only target token.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageExplanation {
    /// Where the model looked, with what every head of a Vision Transformer saw.
    pub trace: ImageTrace,
    /// Gradient × input, summed over the pixels of a region.
    pub gradient: Matrix,
    /// What it costs, in nats, to have the mean colour all over a region.
    pub erasure: Matrix,
}

/// The most pixels of images that are computed together: 64 of 64 × 64.
const MOST_PIXELS: usize = 64 * 64 * 64;

/// An image and what a model says of it.
pub(super) struct SeenCase<'a> {
    pub(super) image: &'a Pixels,
    /// The tokens of a text without their end, or one label.
    pub(super) said: Said<'a>,
    pub(super) grid: Grid,
}

/// What is said of an image.
#[derive(Clone, Copy)]
pub(super) enum Said<'a> {
    Text(&'a [u32]),
    Label(u32),
}

impl Case for SeenCase<'_> {
    fn copies(&self, rows: usize) -> Result<Sources, ModelError> {
        let batch = ImageBatch::new(std::iter::repeat_n(self.image, rows));
        Ok(Sources::Images(batch.map_err(DataError::from)?))
    }

    fn answer(&self) -> Vec<u32> {
        match self.said {
            Said::Text(tokens) => ended(tokens),
            Said::Label(label) => vec![label],
        }
    }

    fn most(&self) -> usize {
        (MOST_PIXELS / (self.image.height() * self.image.width()).max(1)).clamp(1, BATCH)
    }

    fn without(&self, saved: &Saved, left_out: &[Vec<usize>]) -> Result<Matrix, ModelError> {
        let most = self.most();
        let mut found = Vec::with_capacity(left_out.len());
        for some in left_out.chunks(most) {
            let images: Vec<Pixels> = some
                .iter()
                .map(|regions| blanked(self.image, self.grid, regions))
                .collect::<Result<_, _>>()?;
            match self.said {
                Said::Text(tokens) => {
                    let pairs: Vec<_> = images.iter().map(|image| (image, tokens.to_vec())).collect();
                    let traces = saved.trace_images(&pairs, most, false)?;
                    found.extend(traces.into_iter().map(|trace| trace.log_probabilities));
                }
                Said::Label(label) => {
                    let told = saved.classify_images(&images, most)?;
                    found.extend(told.iter().map(|told| vec![log_of(&told.probabilities, label)]));
                }
            }
        }
        Ok(found)
    }
}

/// Explains what a model says of an image, token by token: `target` is a text without its end. For a model that
/// tells labels it is the id of one, or nothing for the one that it tells. The model must have been loaded whole.
///
/// # Errors
/// If the model does not read such images, or was not loaded whole.
pub fn explain_image(saved: &Saved, image: &Pixels, target: &[u32]) -> Result<ImageExplanation, ModelError> {
    Explained::new(saved, image, target).map(|explained| explained.explanation)
}

/// An explanation, and of what.
pub(super) struct Explained<'a> {
    pub(super) case: SeenCase<'a>,
    pub(super) explanation: ImageExplanation,
}

impl<'a> Explained<'a> {
    pub(super) fn new(saved: &Saved, image: &'a Pixels, target: &'a [u32]) -> Result<Self, ModelError> {
        if !saved.model.is_whole() {
            return Err(ModelError::NotWhole);
        }
        let writes = saved.plan.decoder().is_some();
        let text = if writes { target.to_vec() } else { Vec::new() };
        let Some(mut trace) = saved.trace_images(&[(image, text)], 1, true)?.pop() else {
            unreachable!("as many traces as images")
        };
        let said = match writes {
            true => Said::Text(target),
            false => Said::Label(label(saved, image, target, &mut trace)?),
        };
        let case = SeenCase { image, said, grid: trace.grid };
        let erasure = erasure(saved, &case, &trace.log_probabilities, trace.grid.len())?;
        let gradient = gradient(&saved.model.clone().train(), &case)?;
        Ok(Self { case, explanation: ImageExplanation { trace, gradient, erasure } })
    }
}

/// The label that is explained, which becomes the target of the trace.
fn label(saved: &Saved, image: &Pixels, target: &[u32], trace: &mut ImageTrace) -> Result<u32, ModelError> {
    let Some(told) = saved.classify_images(std::slice::from_ref(image), 1)?.pop() else {
        unreachable!("as many answers as images")
    };
    let label = target.first().map_or(told.label, |label| *label);
    let name = saved.labels.as_ref().and_then(|labels| labels.name(label)).unwrap_or_default();
    trace.target = vec![Piece { text: name.to_owned(), word: Some(0), id: None }];
    trace.log_probabilities = vec![log_of(&told.probabilities, label)];
    Ok(label)
}

/// The log of one probability, as small as there are any.
fn log_of(probabilities: &[f32], label: u32) -> f32 {
    probabilities.get(label as usize).map_or(0.0, |p| *p).max(f32::MIN_POSITIVE).ln()
}

/// The image with the mean colour, which is 0 after preparation, all over some regions of a grid, counted row
/// after row.
///
/// # Errors
/// Never for an image that there is.
pub fn blanked(image: &Pixels, grid: Grid, regions: &[usize]) -> Result<Pixels, ModelError> {
    let (height, width, channels) = (image.height(), image.width(), image.channels());
    let mut values = image.values().to_vec();
    let regions = regions.iter().filter(|region| **region < grid.len());
    for found in
        regions.map(|region| grid.region(region / grid.columns, region % grid.columns, height, width))
    {
        let columns = found.left as usize * channels..found.right as usize * channels;
        for row in found.top as usize..found.bottom as usize {
            values[row * width * channels..][columns.clone()].fill(0.0);
        }
    }
    Ok(Pixels::new(height, width, channels, values).map_err(DataError::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_blanked_and_nothing_else() {
        let image = Pixels::new(4, 6, 1, (1..=24).map(|n| n as f32).collect()).expect("an image");
        let grid = Grid { rows: 2, columns: 3 };
        let found = blanked(&image, grid, &[1, 5, 6]).expect("an image");
        let kept: Vec<f32> = found.values().iter().copied().filter(|value| *value != 0.0).collect();
        assert_eq!(
            kept,
            [1.0, 2.0, 5.0, 6.0, 7.0, 8.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 19.0, 20.0, 21.0, 22.0]
        );
        assert_eq!(blanked(&image, grid, &[]).expect("an image"), image);
    }
}
