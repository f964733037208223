//! Maps over the regions of images beside each other, over many images.

use super::images::Explained;
use super::pointing::Maps;
use super::report::Agreement;
use super::{ImageExplanation, Pointing, Report, rollout};
use gatto_data::images::{ImageText, Mention, Pixels};
use gatto_model::{ModelError, Saved};

/// Regions that are blanked together.
const BLANKED: [usize; 3] = [1, 3, 5];

/// An image, and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageCase {
    /// The image.
    pub pixels: Pixels,
    /// The tokens of a text without their end; or one label.
    pub target: Vec<u32>,
    /// The same with the boxes of what its words name; none if nobody knows them, or what it says is not so.
    pub text: Option<ImageText>,
}

/// How far maps over the regions of images agree, and how well they point.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageReport {
    /// Where the model looked beside the other maps. Of a Vision Transformer that does not look in another way it
    /// is what [`rollout`](super::rollout()) gives.
    pub agreement: Report,
    /// Whether it is.
    pub rollout: bool,
    /// How well each map points at what words name; no words if no image had boxes.
    pub pointing: Pointing,
    /// Images whose text had boxes.
    pub located: usize,
}

/// Images that are explained one after the other.
#[derive(Debug)]
pub struct ImageSurvey<'a> {
    saved: &'a Saved,
    agreement: Agreement,
    rollout: bool,
    pointing: Pointing,
    located: usize,
}

impl<'a> ImageSurvey<'a> {
    /// None so far. The model must have been loaded whole; the seed is for what is blanked at random.
    pub fn new(saved: &'a Saved, seed: u64) -> Self {
        let agreement = Agreement::new(&BLANKED, seed);
        Self { saved, agreement, rollout: false, pointing: Pointing::default(), located: 0 }
    }

    /// Explains one more; false if the model has nothing that looks at regions.
    ///
    /// # Errors
    /// As [`super::explain_image`].
    pub fn add(&mut self, seen: &ImageCase) -> Result<bool, ModelError> {
        let Explained { case, explanation } = Explained::new(self.saved, &seen.pixels, &seen.target)?;
        let ImageExplanation { trace, gradient, erasure } = explanation;
        self.rollout = trace.weights.is_none();
        let weights = match &trace.weights {
            Some(weights) => weights.clone(),
            None if trace.layers.is_empty() => return Ok(false),
            None => vec![rollout(&trace)],
        };
        let logs = &trace.log_probabilities;
        self.agreement.add(self.saved, &case, logs, [&weights, &gradient, &erasure], trace.grid.len())?;
        if let Some(text) = &seen.text {
            self.located += 1;
            let maps = Maps { attention: &weights, gradient: &gradient, erasure: &erasure };
            let sides = [seen.pixels.height(), seen.pixels.width()];
            match self.saved.plan.decoder() {
                Some(_) => self.pointing.add(text, &trace.target, maps, trace.grid, sides),
                None => self.add_label(text, maps, &trace, sides),
            }
        }
        Ok(true)
    }

    /// A label is told as a whole, however many words it has.
    fn add_label(
        &mut self,
        text: &ImageText,
        maps: Maps<'_>,
        trace: &gatto_model::ImageTrace,
        sides: [usize; 2],
    ) {
        let Some(Mention { boxes, .. }) = text.mentions.first() else { return };
        let rows = [maps.attention, maps.gradient, maps.erasure].map(|rows| rows[0].as_slice());
        self.pointing.add_word(&text.text, boxes, rows, trace.grid, sides);
    }

    /// The means so far.
    pub fn report(&self) -> ImageReport {
        ImageReport {
            agreement: self.agreement.report(),
            rollout: self.rollout,
            pointing: self.pointing.clone(),
            located: self.located,
        }
    }
}
