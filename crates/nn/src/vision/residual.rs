//! Residual networks (He et al., 2016), with group norm.
//!
//! A block is y = relu(norm(f₂ * relu(norm(f₁ * x))) + s(x)), where f₁ and f₂ are convolutions with windows of 3 × 3 and
//! the shortcut s is x itself or, where the shapes differ, the norm of a 1 × 1 convolution of it.

use super::{Convolution, GroupNorm, Window};
use crate::{Initial, Preparing};
use burn::module::Module;
use burn::tensor::Tensor;

/// Two convolutions and a way around them.
#[derive(Module, Debug)]
pub struct ResidualBlock {
    /// f₁, which has the stride of the block.
    pub first: Convolution,
    /// Behind f₁.
    pub first_norm: GroupNorm,
    /// f₂.
    pub second: Convolution,
    /// Behind f₂.
    pub second_norm: GroupNorm,
    /// s, where it is not x itself.
    pub shortcut: Option<Shortcut>,
}

/// The way around a block that changes the shape.
#[derive(Module, Debug)]
pub struct Shortcut {
    /// 1 × 1, with the stride of the block.
    pub convolution: Convolution,
    /// Behind it.
    pub norm: GroupNorm,
}

impl ResidualBlock {
    /// A block from `input` to `output` channels; `groups` divides the latter.
    pub fn new(input: usize, output: usize, stride: usize, groups: usize, initial: &mut Initial) -> Self {
        let convolve =
            |input, window, initial: &mut Initial| Convolution::new(input, output, window, false, initial);
        Self {
            first: convolve(input, Window::square(3, stride), initial),
            first_norm: GroupNorm::new(output, groups, initial),
            second: convolve(output, Window::square(3, 1), initial),
            second_norm: GroupNorm::new(output, groups, initial),
            shortcut: (input != output || stride != 1).then(|| Shortcut {
                convolution: convolve(input, Window::square(1, stride), initial),
                norm: GroupNorm::new(output, groups, initial),
            }),
        }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.first.prepare(how);
        self.second.prepare(how);
        if let Some(shortcut) = &mut self.shortcut {
            shortcut.convolution.prepare(how);
        }
    }

    /// [B, H, W, C] → [B, ⌈H / stride⌉, ⌈W / stride⌉, O].
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let around = match &self.shortcut {
            Some(Shortcut { convolution, norm }) => norm.forward(convolution.forward(x.clone()), None, false),
            None => x.clone(),
        };
        let inside = self.first_norm.forward(self.first.forward(x), None, true);
        self.second_norm.forward(self.second.forward(inside), Some(around), true)
    }
}

/// The choices that make a residual network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidualConfig {
    /// Channels of an image.
    pub input_channels: usize,
    /// The stride of the first convolution.
    pub stem_stride: usize,
    /// Channels of every stage; those of the first convolution are the first stage's.
    pub channels: Vec<usize>,
    /// Blocks of every stage. The first block of each stage but the first has stride 2.
    pub blocks: usize,
    /// Groups of a norm: they divide the channels of every stage.
    pub groups: usize,
}

impl ResidualConfig {
    /// Rows and columns of the last map for images of so many.
    ///
    /// Every region's cell is the rectangle of the image that lies at the same place of the grid: region (i, j) of H′ × W′
    /// stands for rows i H / H′ to (i + 1) H / H′ and the columns accordingly. What it has seen, its receptive field, is
    /// larger and reaches beyond that cell on all sides.
    pub fn map(&self, height: usize, width: usize) -> (usize, usize) {
        let stem = Window::square(3, self.stem_stride).places(height, width);
        let halved = |(height, width), _| Window::square(3, 2).places(height, width);
        let stages = if self.blocks == 0 { 1 } else { self.channels.len() };
        (1..stages).fold(stem, halved)
    }
}

/// A convolution, then stages of blocks.
#[derive(Module, Debug)]
pub struct ResidualNetwork {
    /// 3 × 3, on the image.
    pub stem: Convolution,
    /// Behind it.
    pub stem_norm: GroupNorm,
    /// The blocks of all stages.
    pub blocks: Vec<ResidualBlock>,
}

impl ResidualNetwork {
    /// A network with first values from `initial`.
    pub fn new(config: &ResidualConfig, initial: &mut Initial) -> Self {
        let ResidualConfig { input_channels, stem_stride, ref channels, blocks, groups } = *config;
        let mut width = channels.first().copied().unwrap_or(input_channels);
        let stem = Convolution::new(input_channels, width, Window::square(3, stem_stride), false, initial);
        let stem_norm = GroupNorm::new(width, groups, initial);
        let mut all = Vec::with_capacity(channels.len() * blocks);
        for (stage, &channels) in channels.iter().enumerate() {
            for block in 0..blocks {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                all.push(ResidualBlock::new(width, channels, stride, groups, initial));
                width = channels;
            }
        }
        Self { stem, stem_norm, blocks: all }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.stem.prepare(how);
        self.blocks.iter_mut().for_each(|block| block.prepare(how));
    }

    /// Images [B, H, W, C] to maps [B, H′, W′, O], with H′ and W′ as [`ResidualConfig::map`] tells.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let x = self.stem_norm.forward(self.stem.forward(images), None, true);
        self.blocks.iter().fold(x, |x, block| block.forward(x))
    }
}
