//! Where a Vision Transformer looked, which has no words: rollout, and every head of every layer.

use gatto_data::images::{Grid, Image};

use super::{MOST_WEIGHTS, OverlayError, check_count, check_grid, check_weights};

/// More layers, or more heads in a layer, than this are refused.
pub const MOST_HEADS: usize = 64;
/// More maps over all layers than this are refused.
pub const MOST_MAPS: usize = 8;

/// A weight for each region of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// What it shows: `attention rollout`, `mean of the last layer`.
    pub name: String,
    /// A weight per region, row after row: finite and not below zero. They need not sum to one.
    pub weights: Vec<f32>,
}

impl Map {
    /// A map of this name.
    pub fn new(name: impl Into<String>, weights: Vec<f32>) -> Self {
        Self { name: name.into(), weights }
    }
}

/// An image with maps of where a model looked: some that are shown large, and one for every head of every layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Maps {
    pub(super) title: String,
    pub(super) image: Image,
    pub(super) grid: Grid,
    pub(super) large: Vec<Map>,
    pub(super) heads: Vec<Vec<Map>>,
}

impl Maps {
    /// Checks that all maps fit the grid. `large` are those over all heads, such as rollout, and `heads` the weights of
    /// every head of every layer; either may be empty, but not both.
    pub fn new(
        title: impl Into<String>,
        image: Image,
        grid: Grid,
        large: Vec<Map>,
        heads: Vec<Vec<Vec<f32>>>,
    ) -> Result<Self, OverlayError> {
        check_grid(grid)?;
        let expected = heads.first().map_or(0, Vec::len);
        check_count(
            "maps",
            large.len() + heads.len() * expected.max(1),
            MOST_MAPS + MOST_HEADS * MOST_HEADS,
        )?;
        for (what, found, most) in [
            ("maps", large.len(), MOST_MAPS),
            ("layers", heads.len(), MOST_HEADS),
            ("heads", expected, MOST_HEADS),
        ] {
            if found > 0 || (what == "heads" && !heads.is_empty()) {
                check_count(what, found, most)?;
            }
        }
        if let Some(layer) = heads.iter().position(|layer| layer.len() != expected) {
            return Err(OverlayError::Heads { layer: layer + 1, heads: heads[layer].len(), expected });
        }
        check_count("weights", (large.len() + heads.len() * expected) * grid.len(), MOST_WEIGHTS)?;
        let named = |layer: usize, head: usize| format!("layer {}, head {}", layer + 1, head + 1);
        let layer = |(layer, heads): (usize, Vec<Vec<f32>>)| -> Vec<Map> {
            heads
                .into_iter()
                .enumerate()
                .map(|(head, weights)| Map::new(named(layer, head), weights))
                .collect()
        };
        let heads: Vec<Vec<Map>> = heads.into_iter().enumerate().map(layer).collect();
        for map in large.iter().chain(heads.iter().flatten()) {
            check_weights(&map.name, &map.weights, grid)?;
        }
        Ok(Self { title: title.into(), image, grid, large, heads })
    }

    /// What is looked at.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The maps over all heads.
    pub fn large(&self) -> &[Map] {
        &self.large
    }

    /// The maps of the heads, layer by layer.
    pub fn heads(&self) -> &[Vec<Map>] {
        &self.heads
    }
}
