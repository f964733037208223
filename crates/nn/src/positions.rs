//! Where a token stands: self-attention by itself sees a set, not a sequence.
//!
//! | name               | what it does                                                      | from                     |
//! |--------------------|-------------------------------------------------------------------|--------------------------|
//! | `sinusoidal`       | adds sin(p / 10000^(2i/C)) and cos to features 2i and 2i + 1      | Vaswani et al. (2017)    |
//! | `learned`          | adds a learned vector for every position up to a maximum          | Gehring et al. (2017)    |
//! | `index`            | adds the bare number p to every feature                           |                          |
//! | `relative`         | adds a learned number per head and bucket of distances to scores  | Raffel et al. (2020)     |
//! | `relative-clipped` | adds q · a_{j − i} to scores, distances clipped at ± k            | Shaw et al. (2018)       |
//! | `rotary`           | turns queries and keys by angles p · 10000^(−2i/D)                | Su et al. (2021)         |
//! | `none`             | nothing                                                           |                          |
//!
//! The first three act on token vectors, the others inside self-attention, where only distances
//! count. All of them are in this file: a new one is a line in [`PositionKind`], its parameters in
//! [`Positions::new`], and its place in one of the methods.
//!
//! Letters: `B` sentences, `T` queries, `S` keys, `H` heads, `D` width of a head, `C` width.

use crate::flex::{Gradient, Operand, Values, operation};
use crate::{Initial, Preparing, linear_map};
use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Shape, Tensor, TensorData};
use gatto_kernels::rotary as kernel;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// The list of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PositionKind {
    /// Waves of many lengths.
    #[default]
    Sinusoidal,
    /// A vector for each.
    Learned,
    /// The bare sequence number.
    Index,
    /// Buckets of distances.
    Relative,
    /// Distances up to a bound.
    RelativeClipped,
    /// Angles.
    Rotary,
    /// Nothing.
    None,
}

impl PositionKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Sinusoidal,
        Self::Learned,
        Self::Index,
        Self::Relative,
        Self::RelativeClipped,
        Self::Rotary,
        Self::None,
    ];
}

/// The choices that make positions.
#[derive(Clone, Copy, Debug)]
pub struct PositionSettings {
    /// Which.
    pub kind: PositionKind,
    /// C.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// Whether keys behind a query are never seen.
    pub causal: bool,
    /// `learned`: how many positions there are.
    pub most: usize,
    /// `relative`: the number of buckets.
    pub buckets: usize,
    /// The distance beyond which all are the same; that of the clipped kind too.
    pub reach: usize,
}

/// Positions with their parameters, for all layers of a stack.
#[derive(Module, Debug)]
pub struct Positions {
    /// `learned`: [positions, C].
    weight: Option<Param<Tensor<2>>>,
    /// `relative`: [buckets, H].
    bias: Option<Param<Tensor<2>>>,
    /// `relative-clipped`: [2 k + 1, D].
    keys: Option<Param<Tensor<2>>>,
    /// `weight` as plain values, once it is ready.
    #[module(skip)]
    ready: Option<Values>,
    #[module(skip)]
    waves: Waves,
    #[module(skip)]
    settings: PositionSettings,
}

/// Vectors of `sinusoidal` for the first positions, which all copies of a model share. They are made when they are first asked
/// for: powers and sines were a twentieth of a step with one sentence.
#[derive(Clone, Debug, Default)]
struct Waves(Arc<Mutex<Vec<f32>>>);

impl Waves {
    /// The most values that are kept.
    const MOST: usize = 1 << 20;

    /// The vectors of some positions, one behind the other. The width is always the same.
    fn of(&self, positions: impl Iterator<Item = usize>, width: usize) -> Vec<f32> {
        let mut values = Vec::with_capacity(positions.size_hint().0 * width);
        positions.for_each(|p| self.with(p, width, |vector| values.extend_from_slice(vector)));
        values
    }

    /// What is made of the vector of a position.
    fn with<R>(&self, p: usize, width: usize, work: impl FnOnce(&[f32]) -> R) -> R {
        let vector = |p: usize| (0..width).map(move |i| wave(p, i, width));
        if (p + 1) * width > Self::MOST {
            return work(&vector(p).collect::<Vec<f32>>());
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for next in kept.len() / width.max(1)..=p {
            kept.extend(vector(next));
        }
        work(&kept[p * width..][..width])
    }
}

/// Where some tokens stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// How many columns lie before theirs.
    pub first: usize,
    /// How many of a row's first columns are padding, for rows that end together.
    pub padding: Option<&'a [usize]>,
}

impl Positions {
    /// Positions with first values from `initial`.
    pub fn new(settings: PositionSettings, initial: &mut Initial) -> Self {
        let PositionSettings { kind, width, heads, most, buckets, reach, .. } = settings;
        let head = width / heads.max(1);
        Self {
            weight: (kind == PositionKind::Learned).then(|| initial.normal([most, width], 1.0)),
            bias: (kind == PositionKind::Relative).then(|| initial.normal([buckets, heads], 0.1)),
            keys: (kind == PositionKind::RelativeClipped)
                .then(|| initial.normal([2 * reach + 1, head], (head as f64).sqrt().recip())),
            ready: None,
            waves: Waves::default(),
            settings,
        }
    }

    /// Token vectors [B, T, C] that know where they stand, if this is how they are told.
    pub fn add(&self, x: Tensor<3>, place: Place<'_>) -> Tensor<3> {
        let ([batch, time, width], device) = (x.dims(), x.device());
        let rows: Vec<Vec<usize>> = match place.padding {
            Some(padding) => padding.iter().map(|&padding| place.columns(time, padding)).collect(),
            None => vec![place.columns(time, 0)],
        };
        let shape = [rows.len(), time, width];
        let numbers = rows.into_iter().flatten();
        let added = match (self.settings.kind, &self.weight) {
            (PositionKind::Learned, Some(weight)) => {
                // Padding behind a short row may lie beyond the last position; any will do for it.
                let last = weight.dims()[0].saturating_sub(1);
                let ids: Vec<usize> = numbers.map(|number| number.min(last)).collect();
                weight.val().select(0, integers(&ids, &device)).reshape(shape)
            }
            (PositionKind::Sinusoidal, _) => floats(self.waves.of(numbers, width), shape, &device),
            (PositionKind::Index, _) => {
                let values = numbers.flat_map(|p| std::iter::repeat_n(p as f32, width)).collect();
                floats(values, shape, &device)
            }
            _ => return x,
        };
        x + added.expand([batch, time, width])
    }

    /// Makes the weights ready for prediction.
    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        self.ready = self.weight.as_ref().and_then(|weight| how.values(weight));
    }

    /// Whether [`Positions::add_in_place`] has what it needs.
    pub(crate) fn can_add_in_place(&self) -> bool {
        self.weight.is_some() == self.ready.is_some()
    }

    /// [`Positions::add`] of one column [B, 1, C] as plain values, once weights are ready.
    pub(crate) fn add_in_place(&self, x: &mut [f32], place: Place<'_>) {
        let width = self.settings.width;
        let column = |row: usize| place.first.saturating_sub(place.padding.map_or(0, |padding| padding[row]));
        let rows = x.chunks_exact_mut(width).enumerate();
        match (self.settings.kind, &self.ready) {
            (PositionKind::Learned, Some(vectors)) => {
                let last = (vectors.slice().len() / width).saturating_sub(1);
                rows.for_each(|(row, x)| add(x, &vectors.slice()[column(row).min(last) * width..][..width]));
            }
            (PositionKind::Sinusoidal, _) if place.padding.is_none() => {
                self.waves.with(place.first, width, |vector| {
                    x.chunks_exact_mut(width).for_each(|x| add(x, vector));
                });
            }
            (PositionKind::Sinusoidal, _) => {
                rows.for_each(|(row, x)| self.waves.with(column(row), width, |vector| add(x, vector)));
            }
            (PositionKind::Index, _) => {
                rows.for_each(|(row, x)| x.iter_mut().for_each(|value| *value += column(row) as f32));
            }
            _ => {}
        }
    }

    /// What the distance of key and query adds to scores, whatever they are: [1, H, T, S] for queries
    /// behind `first` columns and all keys.
    pub fn bias(&self, first: usize, queries: usize, keys: usize) -> Option<Tensor<4>> {
        let bias = self.bias.as_ref()?.val();
        let PositionSettings { heads, causal, buckets, reach, .. } = self.settings;
        let ids: Vec<usize> = distances(first, queries, keys)
            .map(|distance| bucket(distance, causal, buckets, reach))
            .collect();
        let chosen = bias.clone().select(0, integers(&ids, &bias.device())); // [T·S, H]
        Some(chosen.reshape([queries, keys, heads]).permute([2, 0, 1]).unsqueeze_dim::<4>(0))
    }

    /// What the distance of key and query adds to scores of these queries [B, T, C], which are multiplied
    /// by `scale`: [B, H, T, S].
    pub fn bias_of(&self, query: &Tensor<3>, first: usize, keys: usize, scale: f64) -> Option<Tensor<4>> {
        let table = self.keys.as_ref()?.val(); // [2 k + 1, D]
        let ([batch, time, width], heads) = (query.dims(), self.settings.heads);
        let (head, reach) = (width / heads, self.settings.reach as i64);
        let ids: Vec<usize> = distances(first, time, keys)
            .map(|distance| (distance.clamp(-reach, reach) + reach) as usize)
            .collect();
        let ids = integers(&ids, &query.device()).reshape([1, time, 1, keys]);
        let count = table.dims()[0];
        let rows = query.clone().reshape([batch * time * heads, head]);
        let products = linear_map(rows, table.transpose()).reshape([batch, time, heads, count]);
        let chosen = products.gather(3, ids.expand([batch, time, heads, keys])); // [B, T, H, S]
        Some(chosen.permute([0, 2, 1, 3]) * scale)
    }

    /// Queries or keys [B, T, C] of self-attention, turned if this is how they are told.
    pub fn turn(&self, x: Tensor<3>, first: usize) -> Tensor<3> {
        match self.settings.kind {
            PositionKind::Rotary => rotary(x, self.settings.heads, first),
            _ => x,
        }
    }

    /// [`Positions::turn`] of one column [B, 1, C] as plain values.
    pub(crate) fn turn_in_place(&self, x: &mut [f32], first: usize) {
        let PositionSettings { kind, width, heads, .. } = self.settings;
        if kind == PositionKind::Rotary {
            let (batch, width) = (x.len() / width, width / heads);
            kernel::in_place(kernel::Shape { batch, steps: 1, heads, width, first }, x);
        }
    }

    /// Whether [`Positions::bias_of`] has something to say.
    pub(crate) fn ask_queries(&self) -> bool {
        self.keys.is_some()
    }

    /// The most tokens of a sequence, where there is a limit.
    pub fn most(&self) -> Option<usize> {
        self.weight.as_ref().map(|weight| weight.dims()[0])
    }
}

impl Place<'_> {
    /// The positions of `time` columns in a row with so much padding in front; padding has position 0.
    fn columns(&self, time: usize, padding: usize) -> Vec<usize> {
        (self.first..self.first + time).map(|column| column.saturating_sub(padding)).collect()
    }
}

/// Adds a vector to another.
fn add(x: &mut [f32], vector: &[f32]) {
    x.iter_mut().zip(vector).for_each(|(value, added)| *value += added);
}

/// Feature `i` of position `p`.
pub(crate) fn wave(p: usize, i: usize, width: usize) -> f32 {
    let angle = p as f64 / 10_000f64.powf((i - i % 2) as f64 / width as f64);
    (if i.is_multiple_of(2) { angle.sin() } else { angle.cos() }) as f32
}

/// How far each key is ahead of each query.
fn distances(first: usize, queries: usize, keys: usize) -> impl Iterator<Item = i64> {
    (first..first + queries).flat_map(move |query| (0..keys).map(move |key| key as i64 - query as i64))
}

/// The bucket of a distance: near ones have their own, far ones share theirs with others about as
/// far, and all beyond `reach` have the last.
fn bucket(distance: i64, causal: bool, buckets: usize, reach: usize) -> usize {
    let (side, buckets) = match causal {
        true => (0, buckets),
        false => (if distance > 0 { buckets / 2 } else { 0 }, buckets / 2),
    };
    let far = if causal { (-distance).max(0) } else { distance.abs() } as usize;
    let exact = buckets / 2;
    if far < exact {
        return side + far;
    }
    let share = (far as f64 / exact as f64).ln() / (reach as f64 / exact as f64).ln();
    side + (exact + (share * (buckets - exact) as f64) as usize).min(buckets - 1)
}

/// Turns features i and i + D/2 of every head by p · 10000^(−2i/D): `x` [B, T, C], its first column
/// at position `first`.
pub fn rotary(x: Tensor<3>, heads: usize, first: usize) -> Tensor<3> {
    match fused_rotary(&x, heads, first) {
        Some(turned) => turned,
        None => rotary_plain(x, heads, first),
    }
}

/// The rotation in plain tensor operations.
pub fn rotary_plain(x: Tensor<3>, heads: usize, first: usize) -> Tensor<3> {
    let ([batch, time, width], device) = (x.dims(), x.device());
    let half = width / heads / 2;
    let angle = |p: usize, i: usize| p as f64 * 10_000f64.powf(-(i as f64) / half as f64);
    let table = |f: fn(f64) -> f64| {
        let values = (first..first + time).flat_map(|p| (0..half).map(move |i| f(angle(p, i)) as f32));
        floats::<4>(values.collect(), [1, time, 1, half], &device)
    };
    let (cos, sin) = (table(f64::cos), table(f64::sin));
    let x = x.reshape([batch, time, heads, 2 * half]);
    let (a, b) = (x.clone().narrow(3, 0, half), x.narrow(3, half, half));
    let turned = vec![a.clone() * cos.clone() - b.clone() * sin.clone(), b * cos + a * sin];
    Tensor::cat(turned, 3).reshape([batch, time, width])
}

impl Gradient<1> for kernel::Shape {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        let Self { batch, steps, heads, width, .. } = *self;
        [Some((kernel::backward(*self, output), Shape::new([batch, steps, heads * width])))]
    }
}

fn fused_rotary(x: &Tensor<3>, heads: usize, first: usize) -> Option<Tensor<3>> {
    let [batch, steps, width] = x.dims();
    let shape = kernel::Shape { batch, steps, heads, width: width / heads, first };
    let operand = Operand::of(x)?;
    let turned = kernel::forward(shape, operand.values.slice());
    Some(operation([operand], turned, x.dims(), || shape))
}

fn integers(values: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

fn floats<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// `tools/golden_transformer.py`, where T5's own function made the tables.
    const GOLDEN: &str = include_str!("../../../tests/golden/transformer.json");

    #[test]
    fn buckets_are_those_of_t5() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let tables = golden["bucket_tables"].as_array().unwrap();
        assert_eq!(tables.len(), 4);
        for table in tables {
            let number = |key: &str| table[key].as_i64().unwrap();
            let causal = !table["bidirectional"].as_bool().unwrap();
            let (buckets, reach) = (number("buckets") as usize, number("distance") as usize);
            for (distance, expected) in (number("first")..).zip(table["values"].as_array().unwrap()) {
                let found = bucket(distance, causal, buckets, reach);
                assert_eq!(Some(found as u64), expected.as_u64(), "{distance} of {buckets}, causal {causal}");
            }
        }
    }

    #[test]
    fn waves_are_those_of_the_paper() {
        // p / 10000^(2i/C) with C = 4: p itself for the first pair, p / 100 for the second.
        let found = [0, 1, 2, 3].map(|i| wave(3, i, 4));
        let expected = [3f64.sin(), 3f64.cos(), 0.03f64.sin(), 0.03f64.cos()].map(|value| value as f32);
        assert_eq!(found, expected);
    }

    #[test]
    fn waves_that_are_kept_are_those_that_are_computed() {
        let (waves, width) = (Waves::default(), 1 << 17);
        // The last of these lie beyond what is kept.
        for positions in [vec![3], vec![0, 7, 3], vec![9, 1]] {
            let expected: Vec<f32> =
                positions.iter().flat_map(|&p| (0..width).map(move |i| wave(p, i, width))).collect();
            assert_eq!(waves.of(positions.into_iter(), width), expected);
        }
        assert_eq!(waves.0.lock().unwrap().len(), 8 * width);
    }
}
