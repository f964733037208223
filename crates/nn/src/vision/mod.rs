//! What reads images: convolutions, group norm, residual networks, and patches with their positions.
//!
//! Letters: `B` images, `H` rows, `W` columns, `C` channels. Images have their channels last, [B, H, W, C], so that a
//! map [B, H′, W′, C] is at once a sequence of H′ · W′ regions, row by row.

mod convolution;
mod group_norm;
mod patches;
mod residual;

pub use convolution::{Convolution, convolution, convolution_plain};
pub use gatto_kernels::convolution::Window;
pub use group_norm::{GroupNorm, group_norm, group_norm_plain};
pub use patches::{COORDINATES, GridPositionKind, GridPositions, coordinates, patches};
pub use residual::{ResidualBlock, ResidualConfig, ResidualNetwork, Shortcut};
