//! The heads of an attention: one panel for each, layer after layer, and which of them is seen.

use super::{Heatmap, HeatmapError, MOST_CELLS, MOST_HEADS, Panel, Scale, Token, check_count, check_panel};
use std::ops::Range;

/// How the panels of a heatmap are the heads of layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The attention that the heads belong to.
    pub name: String,
    /// The numbers of the layers, from 1.
    pub layers: Range<usize>,
    /// How many heads each layer has.
    pub heads: usize,
}

/// One of the heads, or all of them as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Head {
    /// The head of this number, from 1.
    Number(usize),
    /// The mean of all.
    #[default]
    Mean,
    /// The largest weight that any of them gave.
    Max,
}

/// What is seen of an attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choice {
    /// The layer, from 1; all of them if not given.
    pub layer: Option<usize>,
    /// The head.
    pub head: Head,
}

impl Heatmap {
    /// A panel for every head of every layer of the attention called `name`: `layers` holds the matrices.
    pub fn of_heads(
        title: impl Into<String>,
        name: impl Into<String>,
        source: Vec<Token>,
        target: Vec<Token>,
        layers: Vec<Vec<Vec<Vec<f32>>>>,
    ) -> Result<Self, HeatmapError> {
        let heads = layers.first().map_or(0, Vec::len);
        let grid = Grid { name: name.into(), layers: 1..layers.len() + 1, heads };
        // One of them can be drawn; whether all can is asked where all are to be drawn.
        Self::check_size(source.len(), target.len(), 1)?;
        check_count("heads", layers.iter().map(Vec::len).sum(), MOST_HEADS)?;
        if let Some((index, layer)) = layers.iter().enumerate().find(|(_, layer)| layer.len() != heads) {
            return Err(HeatmapError::Heads { layer: index + 1, heads: layer.len(), expected: heads });
        }
        let mut panels = Vec::with_capacity(layers.len() * heads);
        for (layer, matrices) in (1..).zip(layers) {
            for (head, values) in (1..).zip(matrices) {
                let name = format!("layer {layer}, head {head}");
                panels.push(Panel { name, scale: Scale::Share, values });
            }
        }
        for panel in &panels {
            check_panel(panel, source.len(), target.len())?;
        }
        Ok(Self { grid: Some(grid), ..Self::unchecked(title.into(), source, target, panels) })
    }

    /// How the panels are the heads of layers, if they are.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Refuses more cells than can be drawn at once.
    pub fn check_cells(&self) -> Result<(), HeatmapError> {
        check_count("cells", self.cells(), MOST_CELLS)
    }

    /// The heads of one layer alone.
    pub fn layer(&self, layer: usize) -> Result<Self, HeatmapError> {
        let Some(grid) = &self.grid else { return Ok(self.clone()) };
        let panels = grid.panels_of(layer)?;
        let grid = Grid { layers: layer..layer + 1, ..grid.clone() };
        Ok(Self { panels: self.panels[panels].to_vec(), grid: Some(grid), ..self.clone() })
    }

    /// One panel: a head, or what several of them make together. A heatmap of other panels stays as it is.
    pub fn pick(&self, choice: Choice) -> Result<Self, HeatmapError> {
        let Some(grid) = &self.grid else { return Ok(self.clone()) };
        let panel = self.picked(grid, choice)?;
        let name = grid.full_name(&panel.name);
        Ok(Self { panels: vec![Panel { name, ..panel }], grid: None, ..self.clone() })
    }

    /// The panel of a choice, named without its attention.
    pub(super) fn picked(&self, grid: &Grid, Choice { layer, head }: Choice) -> Result<Panel, HeatmapError> {
        let layer = layer.or((grid.layers.len() == 1).then_some(grid.layers.start));
        let range = layer.map_or(Ok(0..self.panels.len()), |layer| grid.panels_of(layer))?;
        let panels = &self.panels[range];
        let (scale, what) = match (head, layer) {
            (Head::Number(head), None) => {
                return Err(HeatmapError::WhichLayer { head, layers: grid.layers.len() });
            }
            (Head::Number(number), Some(_)) => {
                let absent = HeatmapError::Absent { what: "head", number, count: grid.heads };
                let panel = number.checked_sub(1).and_then(|index| panels.get(index)).ok_or(absent)?;
                let name = if self.panels.len() == 1 { String::new() } else { panel.name.clone() };
                return Ok(Panel { name, ..panel.clone() });
            }
            (Head::Mean, _) => (Scale::Share, "mean"),
            (Head::Max, _) => (Scale::Largest, "largest"),
        };
        let of = match (layer, grid.layers.len(), grid.heads) {
            _ if self.panels.len() == 1 => {
                return Ok(Panel { name: String::new(), ..self.panels[0].clone() });
            }
            (Some(layer), _, 1) => format!("layer {layer}"),
            (Some(_), 1, heads) => format!("{what} of {heads} heads"),
            (Some(layer), _, heads) => format!("layer {layer}, {what} of {heads} heads"),
            (None, layers, 1) => format!("{what} of {layers} layers"),
            (None, layers, heads) => format!("{what} of {heads} heads in {layers} layers"),
        };
        Ok(Panel { name: of, scale, values: combined(panels, scale) })
    }
}

impl Heatmap {
    /// The heads, and behind them what can be made of several: a panel for each of [`Grid::choices`].
    pub(super) fn with_choices(&self) -> Self {
        let Some(grid) = &self.grid else { return self.clone() };
        let panels = grid.choices().into_iter().filter_map(|choice| self.picked(grid, choice).ok());
        Self { panels: panels.collect(), ..self.clone() }
    }
}

impl Grid {
    /// Every head, then mean and maximum of all, and of each layer.
    pub(super) fn choices(&self) -> Vec<Choice> {
        let heads = (1..=self.heads).map(Head::Number);
        let each = self
            .layers
            .clone()
            .flat_map(|layer| heads.clone().map(move |head| Choice { layer: Some(layer), head }));
        let layers = self.layers.clone().map(Some);
        let both = |layer| [Head::Mean, Head::Max].map(|head| Choice { layer, head });
        let (whole, of_layers) = (both(None), layers.flat_map(both));
        match (self.layers.len(), self.heads) {
            (1, 1) => each.collect(),
            (1, _) => each.chain(of_layers).collect(),
            (_, 1) => each.chain(whole).collect(),
            _ => each.chain(whole).chain(of_layers).collect(),
        }
    }

    /// The name of a panel behind that of the attention.
    pub(super) fn full_name(&self, panel: &str) -> String {
        if panel.is_empty() { self.name.clone() } else { format!("{}: {panel}", self.name) }
    }

    /// Where the panels of a layer stand.
    fn panels_of(&self, layer: usize) -> Result<Range<usize>, HeatmapError> {
        if !self.layers.contains(&layer) {
            return Err(HeatmapError::Absent { what: "layer", number: layer, count: self.layers.len() });
        }
        let first = (layer - self.layers.start) * self.heads;
        Ok(first..first + self.heads)
    }
}

/// The mean of panels, or the largest value of each cell.
fn combined(panels: &[Panel], scale: Scale) -> Vec<Vec<f32>> {
    let cell = |row: usize, column: usize| {
        let values = panels.iter().map(|panel| panel.values[row][column]);
        match scale {
            Scale::Largest => values.fold(0.0, f32::max),
            _ => (values.map(f64::from).sum::<f64>() / panels.len() as f64) as f32,
        }
    };
    let size = |row: &Vec<f32>| row.len();
    let columns = panels[0].values.first().map_or(0, size);
    (0..panels[0].values.len()).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{heads, words};
    use super::*;

    fn pick(layer: Option<usize>, head: Head) -> Result<Panel, HeatmapError> {
        heads(2, 3).pick(Choice { layer, head }).map(|heatmap| heatmap.panels[0].clone())
    }

    #[test]
    fn a_head_is_the_panel_of_its_number() {
        let all = heads(2, 3);
        assert_eq!(all.panels.len(), 6);
        let panel = pick(Some(2), Head::Number(3)).unwrap();
        assert_eq!((panel.name.as_str(), panel.scale), ("attention: layer 2, head 3", Scale::Share));
        assert_eq!(panel.values, all.panels[5].values);
        let layer = all.layer(2).unwrap();
        assert_eq!(layer.panels, all.panels[3..]);
        assert_eq!(layer.pick(Choice { layer: None, head: Head::Number(3) }).unwrap().panels[0], panel);
    }

    #[test]
    fn means_and_maxima_are_over_what_was_chosen() {
        let all = heads(2, 3);
        let cells = |panel: usize| all.panels[panel].values[1][2];
        let mean = pick(None, Head::Mean).unwrap();
        assert_eq!(mean.name, "attention: mean of 3 heads in 2 layers");
        assert!((mean.values[1][2] - (0..6).map(cells).sum::<f32>() / 6.0).abs() < 1e-6);
        assert!(mean.values.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        let mean = pick(Some(2), Head::Mean).unwrap();
        assert_eq!(mean.name, "attention: layer 2, mean of 3 heads");
        assert!((mean.values[1][2] - (3..6).map(cells).sum::<f32>() / 3.0).abs() < 1e-6);
        let most = pick(Some(1), Head::Max).unwrap();
        assert_eq!(
            (most.name.as_str(), most.scale),
            ("attention: layer 1, largest of 3 heads", Scale::Largest)
        );
        assert_eq!(most.values[1][2], (0..3).map(cells).fold(0.0, f32::max));
    }

    #[test]
    fn names_say_no_more_than_there_is() {
        let name = |layers, heads_of_each, layer| {
            heads(layers, heads_of_each).pick(Choice { layer, head: Head::Mean }).unwrap().panels[0]
                .name
                .clone()
        };
        assert_eq!(name(1, 1, None), "attention");
        assert_eq!(name(1, 4, None), "attention: mean of 4 heads");
        assert_eq!(name(3, 1, None), "attention: mean of 3 layers");
        assert_eq!(name(3, 1, Some(2)), "attention: layer 2");
        let one = Choice { layer: Some(1), head: Head::Number(1) };
        assert_eq!(heads(1, 1).pick(one).unwrap().panels[0].name, "attention");
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let message = |layer, head| pick(layer, head).unwrap_err().to_string();
        let absent = "there is no layer 3: this attention has 2, numbered from 1";
        assert_eq!(message(Some(3), Head::Mean), absent);
        assert_eq!(message(Some(3), Head::Number(9)), absent);
        assert_eq!(message(Some(0), Head::Mean), absent.replace('3', "0"));
        let absent = "there is no head 4: this attention has 3, numbered from 1";
        assert_eq!(message(Some(1), Head::Number(4)), absent);
        assert_eq!(message(None, Head::Number(1)), "head 1 of which layer? There are 2, numbered from 1");
        assert!(heads(2, 3).layer(3).is_err());
    }

    #[test]
    fn layers_have_the_same_heads_and_every_head_fits_the_axes() {
        let one = || vec![vec![1.0]];
        let of = |layers| Heatmap::of_heads("", "attention", words("a"), words("b"), layers).unwrap_err();
        let uneven = HeatmapError::Heads { layer: 2, heads: 1, expected: 2 };
        assert_eq!(of(vec![vec![one(), one()], vec![one()]]), uneven);
        assert_eq!(of(vec![]), HeatmapError::Empty("heads"));
        let wrong = of(vec![vec![one(), vec![vec![0.5, 0.5]]]]);
        assert!(matches!(wrong, HeatmapError::Columns { .. }), "{wrong}");
        let many = of(vec![vec![one(); MOST_HEADS + 1]]);
        assert!(matches!(many, HeatmapError::TooLarge { what: "heads", .. }), "{many}");
    }

    #[test]
    fn the_largest_of_heads_is_the_largest_of_pieces_and_stays_without_the_end() {
        let source = vec![Token::piece("un", 0), Token::piece("able", 0), Token::end("</s>")];
        let layers = vec![vec![vec![vec![0.5, 0.25, 0.25]], vec![vec![0.125, 0.625, 0.25]]]];
        let all = Heatmap::of_heads("", "attention", source, words("b"), layers).unwrap();
        let most = |heatmap: &Heatmap| heatmap.pick(Choice { layer: None, head: Head::Max }).unwrap();
        assert_eq!(most(&all).panels[0].values, [[0.5, 0.625, 0.25]]);
        // Merged before, each head has the sum of its pieces; merged behind, there is no head to ask.
        assert_eq!(most(&all.merge_words()).panels[0].values, [[0.75, 0.25]]);
        assert_eq!(most(&all).merge_words().panels[0].values, [[0.625, 0.25]]);
        assert_eq!(most(&all).without_end().panels[0].values, [[0.5, 0.625]]);
    }
}
