//! `[encoder.cnn]`, `[encoder.vit]`: what reads an image. How large it is, `[images]` says.
//!
//! ```toml
//! [images]
//! height = 64
//! width = 64
//!
//! [encoder.cnn]
//! channels = [32, 64, 128]  # of each stage; every stage but the first halves the sides
//! stem_stride = 2           # so there is a region for every 8 × 8 pixels
//!
//! # or
//! [encoder.vit]
//! patch = 8
//! width = 192
//! ```

use super::check::{DEEPEST, WIDEST, rate, within};
use super::{Complaint, MOST_PARAMETERS, TransformerConfig};
use gatto_data::images::{Grid, Preparation};
use gatto_nn::Activation;
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;
use gatto_nn::vision::{COORDINATES, GridPositionKind, ResidualConfig};
use serde::{Deserialize, Serialize};

/// How regions and patches know where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// By a vector for each.
    Learned,
    /// By waves, for row and column.
    Sinusoidal,
    /// By coordinates, which stand behind what was seen and are not added to it.
    Coordinates,
    /// They do not.
    None,
}

impl PlaceKind {
    pub(crate) fn of_grid(self) -> Option<GridPositionKind> {
        match self {
            Self::Learned => Some(GridPositionKind::Learned),
            Self::Sinusoidal => Some(GridPositionKind::Sinusoidal),
            Self::Coordinates | Self::None => None,
        }
    }
}

/// A residual network of convolutions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CnnConfig {
    /// Channels of every stage; the last are what is seen of a region.
    pub channels: Vec<usize>,
    /// Blocks of every stage.
    pub blocks: usize,
    /// Pixels from one place of the first convolution to the next.
    pub stem_stride: usize,
    /// Groups of a norm.
    pub groups: usize,
    /// How regions know where they stand.
    pub positions: PlaceKind,
    /// Dropout on the states of regions.
    pub dropout: f64,
}

impl Default for CnnConfig {
    fn default() -> Self {
        Self {
            channels: vec![32, 64, 128],
            blocks: 1,
            stem_stride: 2,
            groups: 8,
            positions: PlaceKind::Learned,
            dropout: 0.0,
        }
    }
}

impl CnnConfig {
    /// The network for images of so many channels.
    pub(crate) fn network(&self, input_channels: usize) -> ResidualConfig {
        ResidualConfig {
            input_channels,
            stem_stride: self.stem_stride,
            channels: self.channels.clone(),
            blocks: self.blocks,
            groups: self.groups,
        }
    }

    /// Pixels from one region to the next.
    pub fn stride(&self) -> usize {
        self.stem_stride << (self.channels.len() - 1)
    }

    /// Width of a region's state.
    pub fn width(&self) -> usize {
        self.channels.last().copied().unwrap_or(0) + self.places()
    }

    /// How many of the last values of a region's state tell where it stands, and nothing else.
    pub fn places(&self) -> usize {
        if self.positions == PlaceKind::Coordinates { COORDINATES } else { 0 }
    }

    pub(super) fn check(&self, images: &Preparation) -> Result<(), Complaint> {
        let key = |name: &str| format!("encoder.cnn.{name}");
        if self.channels.is_empty() || self.channels.len() > 8 {
            let message =
                format!("has {} stages; write one to eight, such as [32, 64, 128]", self.channels.len());
            return Err(Complaint::new(key("channels"), message));
        }
        within(key("blocks"), self.blocks, DEEPEST)?;
        within(key("groups"), self.groups, WIDEST)?;
        rate(key("dropout"), self.dropout)?;
        if !matches!(self.stem_stride, 1 | 2) {
            return Err(Complaint::new(key("stem_stride"), format!("is {}; write 1 or 2", self.stem_stride)));
        }
        for &channels in &self.channels {
            within(key("channels"), channels, WIDEST)?;
            if !channels.is_multiple_of(self.groups) {
                let message = format!(
                    "is {}, which {channels} channels cannot be divided into; write a number that divides all of them",
                    self.groups
                );
                return Err(Complaint::new(key("groups"), message));
            }
        }
        let (mut count, mut before) = (0u64, self.channels[0] as u64);
        for &channels in &self.channels {
            let channels = channels as u64;
            count += 9 * channels * (before + (2 * self.blocks as u64 - 1) * channels);
            before = channels;
        }
        too_many(key("channels"), count)?;
        let waves = self.positions == PlaceKind::Sinusoidal;
        check_waves(waves, key("positions"), self.width())?;
        check_sides("a region", key("stem_stride"), self.stride(), images)
    }
}

/// A Vision Transformer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VitConfig {
    /// Pixels of a patch on a side.
    pub patch: usize,
    /// Width of a layer.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of heads; the width is divided among them.
    pub heads: usize,
    /// Width inside the feed-forward blocks; four times the layer's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed_forward: Option<usize>,
    /// Between the two maps of a feed-forward block.
    pub activation: Activation,
    /// Where the norm of a sublayer stands.
    pub norm: NormOrder,
    /// How patches know where they stand.
    pub positions: PlaceKind,
    /// `learned`: rows and columns of the positions, which lie between them in a grid of another size; the image's if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_grid: Option<[usize; 2]>,
    /// Whether a token stands for the whole image.
    pub class_token: bool,
    /// Dropout on patches and on what every sublayer adds.
    pub dropout: f64,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
}

impl Default for VitConfig {
    fn default() -> Self {
        Self {
            patch: 8,
            width: 192,
            layers: 6,
            heads: 4,
            feed_forward: None,
            activation: Activation::Gelu,
            norm: NormOrder::Pre,
            positions: PlaceKind::Learned,
            position_grid: None,
            class_token: true,
            dropout: 0.0,
            attention_dropout: 0.0,
        }
    }
}

impl VitConfig {
    /// Its layers of self-attention.
    pub(crate) fn layers(&self) -> TransformerConfig {
        TransformerConfig {
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            feed_forward: self.feed_forward,
            activation: self.activation,
            norm: self.norm,
            positions: PositionKind::None,
            dropout: self.dropout,
            attention_dropout: self.attention_dropout,
            ..TransformerConfig::default()
        }
    }

    pub(super) fn check(&self, images: &Preparation) -> Result<(), Complaint> {
        let key = |name: &str| format!("encoder.vit.{name}");
        within(key("patch"), self.patch, 1024)?;
        self.layers().check("encoder.vit")?;
        let unfit = match self.positions {
            PlaceKind::None => Some("\"none\", and patches then stand nowhere"),
            PlaceKind::Coordinates => {
                Some("\"coordinates\", which the regions of [encoder.cnn] have beside them")
            }
            PlaceKind::Learned | PlaceKind::Sinusoidal => None,
        };
        if let Some(unfit) = unfit {
            let message = format!("is {unfit}; write \"learned\" or \"sinusoidal\"");
            return Err(Complaint::new(key("positions"), message));
        }
        if let Some([rows, columns]) = self.position_grid {
            if self.positions != PlaceKind::Learned {
                let message = "is for `positions = \"learned\"`; remove it, or write that";
                return Err(Complaint::new(key("position_grid"), message));
            }
            within(key("position_grid"), rows, 1024)?;
            within(key("position_grid"), columns, 1024)?;
            too_many(key("position_grid"), (rows * columns) as u64 * self.width as u64)?;
        }
        check_waves(self.positions == PlaceKind::Sinusoidal, key("positions"), self.width)?;
        let inputs = (self.patch * self.patch * images.channels) as u64;
        too_many(key("patch"), inputs * self.width as u64)?;
        check_sides("a patch", key("patch"), self.patch, images)
    }
}

/// Waves need two features for the row and two for the column.
fn check_waves(waves: bool, key: String, width: usize) -> Result<(), Complaint> {
    match waves && !width.is_multiple_of(4) {
        true => {
            let message =
                format!("is \"sinusoidal\", which needs a width that is a multiple of 4, and it is {width}");
            Err(Complaint::new(key, message))
        }
        false => Ok(()),
    }
}

fn too_many(key: String, count: u64) -> Result<(), Complaint> {
    match count > MOST_PARAMETERS {
        true => {
            let message =
                format!("makes {count} parameters, and at most {MOST_PARAMETERS} can be built; write less");
            Err(Complaint::new(key, message))
        }
        false => Ok(()),
    }
}

/// Refuses images that cannot be divided into whole regions, or into too many.
fn check_sides(what: &str, key: String, side: usize, images: &Preparation) -> Result<(), Complaint> {
    const MOST_REGIONS: usize = 16_384;
    for (name, pixels) in [("height", images.height), ("width", images.width)] {
        if !pixels.is_multiple_of(side) {
            let (less, more) = (pixels / side * side, pixels.next_multiple_of(side));
            let remedy = if less == 0 { format!("{more}") } else { format!("{less} or {more}") };
            let message =
                format!("is {pixels}, but {what} has {side} pixels on a side ({key}); write {remedy}");
            return Err(Complaint::new(format!("images.{name}"), message));
        }
    }
    match Grid::of_patches(images.height, images.width, side) {
        Some(grid) if grid.len() <= MOST_REGIONS => Ok(()),
        _ => {
            let message = format!("makes more than {MOST_REGIONS} regions of an image; write a larger one");
            Err(Complaint::new(key, message))
        }
    }
}
