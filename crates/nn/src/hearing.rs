//! What stands before the layers that hear: convolutions over time and pitch, each of which halves both.
//!
//! ```text
//! y = relu(W ∗ x + b)
//! ```
//!
//! with windows of 4 × 4 that move by two, from one frame and one band before the first of each two: what a place sees has
//! its middle in the middle of the frames that the place stands for. Behind the last frame of a sound there are zeros, at
//! every convolution, so that a sound is heard the same whatever longer ones stand beside it.
//!
//! `B` sounds, `T` frames, `F` bands, `C` channels.

use crate::recurrent::existing;
use crate::vision::{Convolution, Window};
use crate::{Activation, Initial, Preparing, activate};
use burn::module::Module;
use burn::tensor::Tensor;

/// The window of each convolution.
const WINDOW: Window = Window { height: 4, width: 4, stride: 2, padding: 1 };

/// Convolutions over the frames of sounds.
#[derive(Module, Debug)]
pub struct SoundFront {
    convolutions: Vec<Convolution>,
    /// How many values of a band a frame has: itself, and its changes.
    #[module(skip)]
    each: usize,
}

impl SoundFront {
    /// Convolutions of so many `channels`, over frames that have `each` values of every band.
    pub fn new(each: usize, channels: &[usize], initial: &mut Initial) -> Self {
        let mut before = each;
        let convolutions = channels.iter().map(|&channels| {
            let convolution = Convolution::new(before, channels, WINDOW, true, initial);
            before = channels;
            convolution
        });
        Self { convolutions: convolutions.collect(), each }
    }

    /// The width of what is made of frames with so many bands; none if they are too few.
    pub fn width(bands: usize, channels: &[usize]) -> Option<usize> {
        let halved = |bands: usize, _: &usize| Some(bands / 2).filter(|&bands| bands > 0);
        let bands = channels.iter().try_fold(bands, halved)?;
        Some(bands.saturating_mul(channels.last().copied().unwrap_or(1)))
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.convolutions.iter_mut().for_each(|convolution| convolution.prepare(how));
    }

    /// Reads frames [B, T, each · F], of which each row has so many: [B, T′, F′ · C], and how many of these each row has.
    pub fn forward(&self, frames: Tensor<3>, lengths: &[usize]) -> (Tensor<3>, Vec<usize>) {
        let [batch, time, width] = frames.dims();
        let device = frames.device();
        let halvings = self.convolutions.len();
        let whole = time.next_multiple_of(1 << halvings);
        let frames = match whole - time {
            0 => frames,
            missing => Tensor::cat(vec![frames, Tensor::zeros([batch, missing, width], &device)], 1),
        };
        let bands = width / self.each.max(1);
        let mut x = frames.reshape([batch, whole, self.each, bands]).swap_dims(2, 3); // [B, T, F, each]
        // Behind a sound all is zero, and then, as far as it is filled up, what convolutions make of zeros.
        x = silenced(x, lengths);
        let lengths: Vec<usize> = lengths.iter().map(|length| length.div_ceil(1 << halvings)).collect();
        for (depth, convolution) in self.convolutions.iter().enumerate() {
            x = activate(convolution.forward(x), Activation::Relu); // [B, T / 2, F / 2, C]
            let places: Vec<usize> = lengths.iter().map(|length| length << (halvings - 1 - depth)).collect();
            x = silenced(x, &places);
        }
        let [_, places, bands, channels] = x.dims();
        (x.reshape([batch, places, bands * channels]), lengths)
    }
}

/// Zeros in place of what is behind the first `lengths` places of each row.
fn silenced(x: Tensor<4>, lengths: &[usize]) -> Tensor<4> {
    let [batch, time, ..] = x.dims();
    if lengths.iter().all(|&length| length == time) {
        return x;
    }
    let exists = existing(lengths, time, &x.device());
    x * exists.reshape([batch, time, 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};

    fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as::<f32>().unwrap()
    }

    #[test]
    fn a_sound_is_heard_the_same_beside_a_longer_one() {
        let device = Device::flex();
        for channels in [&[][..], &[3], &[3, 2], &[2, 2, 2]] {
            let mut initial = Initial::new(3, &device);
            let mut front = SoundFront::new(2, channels, &mut initial);
            // Biases, so that silence is not nothing.
            for convolution in &mut front.convolutions {
                let width = convolution.weight.dims()[1];
                convolution.bias = Some(initial.normal([width], 1.0));
            }
            let values = numbers(initial.normal([2 * 13 * 18], 1.0).val());
            let both = Tensor::<3>::from_data(TensorData::new(values, [2, 13, 18]), &device);
            for length in 1..=13 {
                let (together, lengths) = front.forward(both.clone(), &[13, length]);
                let alone = both.clone().narrow(0, 1, 1).narrow(1, 0, length);
                let (alone, places) = front.forward(alone, &[length]);
                assert_eq!(places, [length.div_ceil(1 << channels.len())]);
                assert_eq!(lengths[1], places[0]);
                let bands = SoundFront::width(9, channels).unwrap() * if channels.is_empty() { 2 } else { 1 };
                assert_eq!(alone.dims(), [1, places[0], bands]);
                let heard = together.narrow(0, 1, 1).narrow(1, 0, places[0]);
                assert_eq!(numbers(heard), numbers(alone), "{channels:?}, length {length}");
            }
        }
    }

    /// A place sees as many frames before those that it stands for as behind them.
    #[test]
    fn a_place_stands_in_the_middle_of_what_it_sees() {
        let device = Device::flex();
        let mut front = SoundFront::new(1, &[1, 1], &mut Initial::new(1, &device));
        for convolution in &mut front.convolutions {
            convolution.weight = Initial::new(1, &device).constant([16, 1], 1.0);
        }
        let seen_by_third = |frame: usize| {
            let mut values = vec![0.0; 24 * 4];
            values[frame * 4] = 1.0;
            let sound = Tensor::<3>::from_data(TensorData::new(values, [1, 24, 4]), &device);
            numbers(front.forward(sound, &[24]).0)[2] > 0.0
        };
        let seen: Vec<usize> = (0..24).filter(|&frame| seen_by_third(frame)).collect();
        assert_eq!(seen, (5..15).collect::<Vec<_>>(), "three frames on each side of 8 to 11");
    }

    #[test]
    fn too_few_bands_cannot_be_halved() {
        assert_eq!(SoundFront::width(80, &[32, 32]), Some(640));
        assert_eq!(SoundFront::width(3, &[32, 32]), None);
        assert_eq!(SoundFront::width(7, &[]), Some(7));
    }
}
