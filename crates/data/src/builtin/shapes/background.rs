//! What lies behind the objects: quiet colours that none of them can be lost in, with patterns and noise.

use super::scene::Object;
use super::things::named;
use crate::builtin::dice::Dice;
use crate::random::mixed;

named! {
    /// The pattern of a background.
    Pattern {
        /// One colour.
        Plain = "plain",
        /// From one colour to the other, from one corner to the opposite.
        Slope = "slope",
        /// Slanting stripes of both colours.
        Stripes = "stripes",
        /// A board of squares of both colours.
        Checks = "checks",
        /// Soft spots of one colour on the other.
        Clouds = "clouds",
    }
}

/// What lies behind the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Background {
    /// How the two colours are mixed.
    pub pattern: Pattern,
    /// Red, green and blue of the first colour.
    pub first: [u8; 3],
    /// Red, green and blue of the second.
    pub second: [u8; 3],
    /// The width of a stripe, a square or a spot, in thousandths of the side.
    pub scale: u16,
    /// How far noise goes up or down, of 255.
    pub noise: u8,
    /// What spots and noise are made from.
    pub key: u64,
}

/// The least distance, as [`contrast`] measures it, between a background and an object.
const LEAST_CONTRAST: u32 = 26_000;
/// The least difference in grey, of 255: enough for who sees few colours, and for models that see none.
const LEAST_GREY: i32 = 18;

impl Background {
    /// A random background from which these objects stand out, or `None` if none was drawn.
    pub(super) fn draw(dice: &mut Dice, objects: &[Object]) -> Option<Self> {
        for _ in 0..100 {
            // A grey, leaning a little to some colour, and another like it.
            let tone = 40 + dice.below(190) as i32;
            let lean = |dice: &mut Dice| dice.below(33) as i32 - 16;
            let lighter = dice.below(45) as i32 - 22;
            let first = [tone + lean(dice), tone + lean(dice), tone + lean(dice)];
            let second = first.map(|value| value + lighter + lean(dice) / 3);
            let [first, second] = [first, second].map(|colour| colour.map(|value| value.clamp(0, 255) as u8));
            let pattern = *dice.pick(Pattern::ALL);
            let scale = 60 + dice.below(160) as u16;
            let noise = dice.below(17) as u8;
            let key = (dice.below(1 << 30) as u64) << 30 | dice.below(1 << 30) as u64;
            let lost = |object: &Object| {
                let colour = object.colour.channels();
                [first, second].into_iter().any(|ground| {
                    let apart = (grey(colour) - grey(ground)).abs();
                    contrast(colour, ground) < LEAST_CONTRAST || apart < LEAST_GREY
                })
            };
            if !objects.iter().any(lost) {
                return Some(Self { pattern, first, second, scale, noise, key });
            }
        }
        None
    }

    /// One colour and no noise.
    pub fn plain(colour: [u8; 3]) -> Self {
        Self { pattern: Pattern::Plain, first: colour, second: colour, scale: 100, noise: 0, key: 0 }
    }

    /// The share of the second colour at a point, which is given in units.
    pub(super) fn share(&self, x: f32, y: f32) -> f32 {
        let scale = f32::from(self.scale.max(1));
        match self.pattern {
            Pattern::Plain => 0.0,
            // Keys are of 60 bits; the lowest decides which corner comes first.
            Pattern::Slope if self.key & 1 == 0 => ((x + y) / 2000.0).clamp(0.0, 1.0),
            Pattern::Slope => ((1000.0 - x + y) / 2000.0).clamp(0.0, 1.0),
            Pattern::Stripes => edge(((x + 0.6 * y) / scale).rem_euclid(2.0), scale),
            Pattern::Checks => {
                let (a, b) =
                    (edge((x / scale).rem_euclid(2.0), scale), edge((y / scale).rem_euclid(2.0), scale));
                a + b - 2.0 * a * b
            }
            Pattern::Clouds => self.cloud(x / (2.0 * scale), y / (2.0 * scale)),
        }
    }

    /// Values at the corners of a grid, with smooth passages between them.
    fn cloud(&self, x: f32, y: f32) -> f32 {
        let corner = |column: f32, row: f32| {
            let number = (column as i64 as u64).wrapping_mul(1 << 20).wrapping_add(row as i64 as u64);
            (mixed(self.key, number) >> 40) as f32 / (1u64 << 24) as f32
        };
        let (column, row) = (x.floor(), y.floor());
        let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
        let (across, down) = (smooth(x - column), smooth(y - row));
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        mix(
            mix(corner(column, row), corner(column + 1.0, row), across),
            mix(corner(column, row + 1.0), corner(column + 1.0, row + 1.0), across),
            down,
        )
    }

    /// The noise of a pixel in each channel, from -1 to 1, small values more often than large.
    pub(super) fn noise_at(&self, pixel: usize) -> [f32; 3] {
        let bits = mixed(self.key ^ 0x5eed, pixel as u64);
        // Two bytes for each channel: their mean falls into a triangle around the middle.
        let byte = |number: u32| f32::from((bits >> (8 * number)) as u8);
        [0, 2, 4].map(|first| (byte(first) + byte(first + 1)) / 255.0 - 1.0)
    }
}

/// 0 in the first half of a period of 2, 1 in the second, with a passage of a few units between.
fn edge(phase: f32, scale: f32) -> f32 {
    let soft = 8.0 / scale;
    let rise = ((phase - 1.0) / soft + 0.5).clamp(0.0, 1.0);
    let fall = ((2.0 - phase) / soft + 0.5).clamp(0.0, 1.0);
    let wrapped = (0.5 - phase / soft).clamp(0.0, 1.0);
    rise.min(fall).max(wrapped)
}

/// How different two colours look: the squared distance with the weights of Compuserve's *redmean*.
pub(super) fn contrast(a: [u8; 3], b: [u8; 3]) -> u32 {
    let [red, green, blue] = [0, 1, 2].map(|channel| i64::from(a[channel]) - i64::from(b[channel]));
    let mean = (i64::from(a[0]) + i64::from(b[0])) / 2;
    ((((512 + mean) * red * red) >> 8) + 4 * green * green + (((767 - mean) * blue * blue) >> 8)) as u32
}

/// How light a colour is, from 0 to 255.
pub(super) fn grey(colour: [u8; 3]) -> i32 {
    let [red, green, blue] = colour.map(i32::from);
    (299 * red + 587 * green + 114 * blue) / 1000
}
