//! Whether weights over the regions of an image lie on what a word names.
//!
//! For a word whose things have known boxes, and weights w ≥ 0 over the regions that sum to 1:
//!
//! - share inside: Σ_i w_i · (share of region i inside the boxes)
//! - pointing (after the pointing game of Zhang et al., 2016): 1 if the region with the largest weight
//!   [`hits`] one of the boxes, else 0
//!
//! A large thing is easily hit, so both stand beside what chance would give: even weights, and a random region.

use gatto_data::images::{Grid, ImageText, PixelBox};
use gatto_data::words;
use gatto_metrics::alignment::merge;
use gatto_model::Piece;
use std::collections::BTreeMap;

/// Whether a region of an image hits a box: the centre of one lies inside the other.
///
/// The pointing game asks whether a point lies in a box, and for regions that are smaller than the box this
/// is that, with the centre of the region as the point. Where a box is smaller than a region, it may hold no
/// centre at all; then it is hit by the one region that holds its own. So every box can be hit, however it
/// lies across the grid: a rule that asks for half of an area cannot be met by a small thing on the corner of
/// four regions, where a map that is right could not but miss.
pub fn hits(region: &PixelBox, found: &PixelBox) -> bool {
    let holds = |outer: &PixelBox, inner: &PixelBox| {
        let (x, y) = inner.centre();
        outer.contains(x, y)
    };
    holds(found, region) || holds(region, found)
}

/// What weighs regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Where the model looked.
    Attention,
    /// The size of gradient × input.
    Gradient,
    /// What erasure costs; what it gains counts as nothing.
    Erasure,
    /// Even weights, and a random region.
    Chance,
}

impl Method {
    /// All of them, as the figures list them.
    pub const ALL: [Self; 4] = [Self::Attention, Self::Gradient, Self::Erasure, Self::Chance];
}

/// Figures of one method, for one word or as means over some.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointed {
    /// The share of the weights inside the boxes.
    pub share: f64,
    /// How often the largest weight hits a box: the pointing accuracy.
    pub accuracy: f64,
}

impl Pointed {
    /// The figures of weights over regions, of which `covered` tells the share inside the boxes and `hit` which
    /// of them hit one. Of several largest weights each counts a part, and weights that are all zero say no more
    /// than even ones; so even weights are exactly chance.
    fn of(weights: &[f32], covered: &[f32], hit: &[bool]) -> Self {
        let even = vec![1.0; weights.len()];
        let weights = if weights.iter().any(|weight| *weight > 0.0) { weights } else { &even };
        let sum: f64 = weights.iter().copied().map(f64::from).sum();
        let inside: f64 =
            weights.iter().zip(covered).map(|(w, share)| f64::from(*w) * f64::from(*share)).sum();
        let largest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let peaks: Vec<bool> =
            weights.iter().zip(hit).filter(|(w, _)| **w == largest).map(|(_, hit)| *hit).collect();
        let right = peaks.iter().filter(|hit| **hit).count();
        Self { share: inside / sum, accuracy: right as f64 / peaks.len().max(1) as f64 }
    }
}

/// Figures of all methods over some words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// How many words there were.
    pub count: usize,
    /// Sums, by [`Method::ALL`].
    sums: [Pointed; 4],
}

impl Figures {
    /// The means of a method; zeros if there were no words.
    pub fn of(&self, method: Method) -> Pointed {
        let Pointed { share, accuracy } = self.sums[method as usize];
        let count = self.count.max(1) as f64;
        Pointed { share: share / count, accuracy: accuracy / count }
    }

    fn add(&mut self, found: &[Pointed; 4]) {
        self.count += 1;
        for (sum, found) in self.sums.iter_mut().zip(found) {
            sum.share += found.share;
            sum.accuracy += found.accuracy;
        }
    }
}

/// The three maps of one output, a row per token and a value per region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maps<'a> {
    pub(super) attention: &'a [Vec<f32>],
    pub(super) gradient: &'a [Vec<f32>],
    pub(super) erasure: &'a [Vec<f32>],
}

/// How well each method points at what words name, all together and word by word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointing {
    all: Figures,
    by_word: BTreeMap<String, Figures>,
}

impl Pointing {
    /// All words together.
    pub fn all(&self) -> &Figures {
        &self.all
    }

    /// Word by word, the most frequent first, of equals by the alphabet.
    pub fn words(&self) -> Vec<(&str, &Figures)> {
        let mut words: Vec<_> = self.by_word.iter().map(|(word, figures)| (word.as_str(), figures)).collect();
        words.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.count));
        words
    }

    /// Adds the words of a text whose boxes are known. A word of several tokens has the mean of their rows:
    /// gradients and costs are means before their size is taken, since log p of the word is the sum over
    /// its tokens.
    pub(super) fn add(
        &mut self,
        text: &ImageText,
        target: &[Piece],
        maps: Maps<'_>,
        grid: Grid,
        sides: [usize; 2],
    ) {
        let regions: Vec<Option<usize>> = (0..grid.len()).map(Some).collect();
        let tokens: Vec<Option<usize>> = target.iter().map(|piece| piece.word).collect();
        let [attention, gradient, erasure] =
            [maps.attention, maps.gradient, maps.erasure].map(|rows| merge(rows, &regions, &tokens));
        let named = words::split(&text.text);
        for said in &text.mentions {
            let rows = (attention.get(said.word), gradient.get(said.word), erasure.get(said.word));
            let (Some(word), (Some(attention), Some(gradient), Some(erasure))) = (named.get(said.word), rows)
            else {
                continue;
            };
            self.add_word(word, &said.boxes, [attention, gradient, erasure], grid, sides);
        }
    }

    /// Adds a word with these boxes: where the model looked, gradient × input, and erasure, over the regions of
    /// an image of this height and width.
    pub fn add_word(
        &mut self,
        word: &str,
        boxes: &[PixelBox],
        [attention, gradient, erasure]: [&[f32]; 3],
        grid: Grid,
        [height, width]: [usize; 2],
    ) {
        let covered = grid.covered(height, width, boxes);
        let regions = grid.regions(height, width);
        let hit: Vec<bool> =
            regions.iter().map(|region| boxes.iter().any(|found| hits(region, found))).collect();
        let size: Vec<f32> = gradient.iter().map(|value| value.abs()).collect();
        let cost: Vec<f32> = erasure.iter().map(|value| value.max(0.0)).collect();
        let even = vec![1.0; grid.len()];
        let found = [attention, &size, &cost, &even].map(|weights| Pointed::of(weights, &covered, &hit));
        self.all.add(&found);
        self.by_word.entry(word.to_owned()).or_default().add(&found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::images::Mention;

    const GRID: Grid = Grid { rows: 2, columns: 2 };
    const SIDES: [usize; 2] = [20, 20];

    /// Regions of 10 × 10 pixels; the first is all inside, and half of the second.
    fn upper() -> PixelBox {
        PixelBox::new(0.0, 0.0, 15.0, 10.0)
    }

    #[test]
    fn a_region_hits_if_a_centre_lies_in_the_other() {
        let region = PixelBox::new(10.0, 10.0, 20.0, 20.0);
        for (found, expected) in [
            (PixelBox::new(14.0, 14.0, 40.0, 40.0), true), // holds the region's centre
            (PixelBox::new(16.0, 14.0, 40.0, 40.0), false), // a third of the region, and no centre
            (PixelBox::new(10.0, 10.0, 13.0, 12.0), true), // small, and all inside
            (PixelBox::new(7.0, 7.0, 12.0, 12.0), false),  // small, mostly in another region
            (PixelBox::new(4.0, 4.0, 16.0, 16.0), true),   // on the corner of four, each of which hits
        ] {
            assert_eq!(hits(&region, &found), expected, "{found:?}");
        }
        let regions = Grid { rows: 4, columns: 4 }.regions(40, 40);
        let hit = |found: &PixelBox| regions.iter().filter(|region| hits(region, found)).count();
        assert_eq!(hit(&PixelBox::new(19.0, 19.0, 21.0, 21.0)), 1, "one holds the centre of a small box");
        assert_eq!(hit(&PixelBox::new(4.0, 4.0, 16.0, 16.0)), 4);
    }

    #[test]
    fn figures_of_made_up_weights() {
        let mut pointing = Pointing::default();
        let attention = [0.1, 0.4, 0.2, 0.3];
        let gradient = [1.0, -2.0, 5.0, 0.0];
        let erasure = [3.0, -9.0, 1.0, 0.0];
        pointing.add_word("circle", &[upper()], [&attention, &gradient, &erasure], GRID, SIDES);
        let figures = |method| pointing.all().of(method);
        let near = |found: Pointed, share: f64, accuracy: f64| {
            assert!((found.share - share).abs() < 1e-6 && found.accuracy == accuracy, "{found:?}");
        };
        // The second region's centre lies on the box's right side, which is no part of it.
        near(figures(Method::Attention), 0.1 + 0.4 / 2.0, 0.0);
        near(figures(Method::Gradient), (1.0 + 2.0 / 2.0) / 8.0, 0.0);
        near(figures(Method::Erasure), 3.0 / 4.0, 1.0);
        near(figures(Method::Chance), 1.5 / 4.0, 0.25);
    }

    #[test]
    fn weights_that_say_nothing_are_chance() {
        for weights in [[0.0; 4], [0.25; 4]] {
            let mut pointing = Pointing::default();
            let (above, small) = (PixelBox::new(0.0, 0.0, 16.0, 10.0), PixelBox::new(1.0, 17.0, 3.0, 19.0));
            pointing.add_word("two", &[above, small], [&weights; 3], GRID, SIDES);
            for method in Method::ALL {
                assert_eq!(pointing.all().of(method), pointing.all().of(Method::Chance));
            }
            let Pointed { share, accuracy } = pointing.all().of(Method::Chance);
            assert!(
                (share - (1.0 + 0.6 + 0.04) / 4.0).abs() < 1e-6 && accuracy == 0.75,
                "{share} {accuracy}"
            );
        }
    }

    #[test]
    fn words_are_made_of_tokens_and_counted() {
        let piece = |text: &str, word| Piece { text: text.to_owned(), word, id: None };
        // "a star": the second word has two tokens, whose rows are merged before anything else.
        let target = [piece("a", Some(0)), piece("st", Some(1)), piece("ar", Some(1)), piece("⟨/s⟩", None)];
        let rows = |first: [f32; 4], second: [f32; 4]| {
            vec![vec![0.0, 0.0, 0.0, 1.0], first.to_vec(), second.to_vec(), vec![0.0, 0.0, 0.0, 1.0]]
        };
        let attention = rows([0.0, 0.0, 0.6, 0.4], [1.0, 0.0, 0.0, 0.0]);
        let gradient = rows([-4.0, 1.0, 0.0, 0.0], [4.0, 1.0, 0.0, 0.0]);
        let erasure = rows([2.0, 0.0, 0.0, 0.0], [-2.0, 0.0, 0.5, 0.0]);
        let maps = Maps { attention: &attention, gradient: &gradient, erasure: &erasure };
        let mentions =
            vec![Mention { word: 1, boxes: vec![upper()] }, Mention { word: 7, boxes: vec![upper()] }];
        let text = ImageText { text: "a star".to_owned(), mentions };
        let mut pointing = Pointing::default();
        pointing.add(&text, &target, maps, GRID, SIDES);
        pointing.add(&text, &target, maps, GRID, SIDES);
        pointing.add_word("a", &[upper()], [&[1.0; 4]; 3], GRID, SIDES);
        let words: Vec<(&str, usize)> =
            pointing.words().into_iter().map(|(word, figures)| (word, figures.count)).collect();
        assert_eq!((pointing.all().count, words), (3, vec![("star", 2), ("a", 1)]));
        let star = pointing.words()[0].1;
        for (method, share, accuracy) in
            [(Method::Attention, 0.5, 1.0), (Method::Gradient, 0.5, 0.0), (Method::Erasure, 0.0, 0.0)]
        {
            let found = star.of(method);
            assert!(
                (found.share - share).abs() < 1e-6 && found.accuracy == accuracy,
                "{method:?}: {found:?}"
            );
        }
    }
}
