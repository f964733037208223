//! The curves of a training run as one SVG picture: small multiples, one panel per figure, stacked over a
//! shared horizontal axis.
//!
//! ```
//! use gatto_inspect::curves::{Panel, Series, svg};
//!
//! let loss = Panel {
//!     title: "loss".to_owned(),
//!     series: vec![Series { name: "train".to_owned(), points: vec![(0.0, 8.9), (100.0, 5.2), (200.0, 4.1)] }],
//!     logarithmic: false,
//! };
//! let picture = svg(&[loss], "step");
//! assert!(picture.starts_with("<svg"));
//! ```
//!
//! Each line is labelled at its end with its name and last value, so no legend has to be looked up. A name
//! has the same colour in every panel; the colours are those of Okabe and Ito (2008), which remain apart for
//! colour-blind readers, in one shade for a light ground and one for a dark ground.

use std::cmp::Reverse;

use crate::axis::{Axis, brief};
use crate::svg::{Document, number, text_width};

/// One panel: a figure, or several that share a vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What stands over the panel.
    pub title: String,
    /// The lines.
    pub series: Vec<Series>,
    /// Whether the vertical axis is logarithmic; values that are not positive are then gaps.
    pub logarithmic: bool,
}

/// One line: points in the order of their x.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What stands at the end of the line.
    pub name: String,
    /// The points (x, y). One with a NaN or an infinity is a gap in the line.
    pub points: Vec<(f64, f64)>,
}

/// The picture's measures in pixels.
const WIDTH: f64 = 760.0;
const PANEL_HEIGHT: f64 = 150.0;
const LABEL_HEIGHT: f64 = 15.0;
const ABOVE_PANEL: f64 = 34.0;
const BELOW_PANEL: f64 = 24.0;
const FONT_SIZE: f64 = 12.0;
/// A longer line is thinned: there are not more columns of pixels than this.
const MOST_POINTS: usize = 1000;
/// A line of no more points than this shows each as a dot.
const MOST_DOTS: usize = 40;
/// Values beyond this are gaps, like infinities: their differences would overflow.
const LARGEST: f64 = 1e300;
const COLOURS: usize = 7;

/// Okabe and Ito's colours without the ones that vanish on the ground: yellow on white, blue on black.
const STYLE: &str = "
svg { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; color: #222222; }
.ground { fill: #ffffff; }
text { fill: currentColor; }
.title { font-size: 13px; font-weight: 600; }
.tick, .note { fill: #666666; font-size: 11px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: #e6e6e6; }
.axis { stroke: #8c8c8c; }
.curve { fill: none; stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; }
.thin { stroke-width: 1.2; }
.lead { fill: none; stroke-width: 1; opacity: 0.6; }
.dash { stroke-dasharray: 6 3; }
.dots { stroke-width: 5; stroke-linecap: round; fill: none; }
.c0 { stroke: #0072b2; } .c1 { stroke: #d55e00; } .c2 { stroke: #009e73; } .c3 { stroke: #cc79a7; }
.c4 { stroke: #e69f00; } .c5 { stroke: #56b4e9; } .c6 { stroke: #222222; }
@media (prefers-color-scheme: dark) {
svg { color: #e8e8e8; }
.ground { fill: #16181c; }
.tick, .note { fill: #a0a4aa; }
.grid { stroke: #2b2e34; }
.axis { stroke: #777c85; }
.c0 { stroke: #56b4e9; } .c1 { stroke: #e69f00; } .c4 { stroke: #f0e442; } .c5 { stroke: #d55e00; }
.c6 { stroke: #e8e8e8; }
}
";

/// Draws the panels one below the other. `x_label` says what the shared horizontal axis counts.
pub fn svg(panels: &[Panel], x_label: &str) -> String {
    let sketches: Vec<Sketch> = panels.iter().map(Sketch::new).collect();
    let names = names(panels);
    let lines = sketches.iter().flat_map(|sketch| &sketch.lines);
    let x_axis = Axis::horizontal(lines.flat_map(|line| line.runs.iter().flatten()).map(|(x, _)| *x));

    let widest = |labels: &mut dyn Iterator<Item = &str>| {
        labels.map(|label| text_width(label, FONT_SIZE)).fold(0.0, f64::max)
    };
    let left =
        22.0 + widest(&mut sketches.iter().flat_map(|s| s.axis.ticks.iter().map(|t| t.label.as_str())));
    let labels = widest(&mut sketches.iter().flat_map(|s| s.lines.iter().map(|l| l.label.as_str())));
    let right = (WIDTH - 44.0 - labels).max(left + 200.0);
    let width = right + 44.0 + labels;
    let panels_height: f64 = sketches.iter().map(|s| ABOVE_PANEL + s.height() + BELOW_PANEL).sum();

    let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
    let title = format!("Curves: {}", titles.join(", "));
    let mut document = Document::new(width, panels_height + 28.0, &title, STYLE);
    document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
    let mut top = 0.0;
    for (panel, sketch) in panels.iter().zip(&sketches) {
        document.label(left, top + ABOVE_PANEL - 11.0, "title", &panel.title);
        let frame =
            Frame { left, right, top: top + ABOVE_PANEL, bottom: top + ABOVE_PANEL + sketch.height() };
        sketch.draw(&mut document, &frame, &x_axis, &names);
        top = frame.bottom + BELOW_PANEL;
    }
    document.label((left + right) / 2.0, top + 12.0, "middle", x_label);
    document.finish()
}

/// The names of all series in the order they first appear: a name's place is its colour. A line that is named
/// by its panel's title needs none.
fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names = Vec::new();
    for panel in panels {
        for series in &panel.series {
            if series.name != panel.title && !names.contains(&series.name.as_str()) {
                names.push(series.name.as_str());
            }
        }
    }
    names
}

/// Where a panel's curves stand, in pixels.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A panel made ready: gaps found, lines thinned, the vertical axis chosen.
struct Sketch {
    lines: Vec<Line>,
    axis: Axis,
}

struct Line {
    name: String,
    /// Name and last value.
    label: String,
    /// Runs of points between gaps, none empty.
    runs: Vec<Vec<(f64, f64)>>,
}

impl Line {
    fn points(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }
}

impl Sketch {
    fn new(panel: &Panel) -> Self {
        let visible = |&(x, y): &(f64, f64)| {
            x.abs() <= LARGEST && y.abs() <= LARGEST && (!panel.logarithmic || y >= 1.0 / LARGEST)
        };
        let lines: Vec<Line> = panel
            .series
            .iter()
            .map(|series| {
                let points = series.points.iter().map(|point| Some(*point).filter(visible)).collect();
                let last = series.points.iter().rfind(|point| visible(point));
                let name = if series.name == panel.title { String::new() } else { shorten(&series.name) };
                let value = last.map_or("no data".to_owned(), |(_, y)| brief(*y));
                Line {
                    name: series.name.clone(),
                    label: format!("{name} {value}").trim().to_owned(),
                    runs: runs(&thin(points)),
                }
            })
            .collect();
        let values = lines.iter().flat_map(|line| line.runs.iter().flatten().map(|(_, y)| *y));
        let axis = Axis::vertical(values, panel.logarithmic);
        Self { lines, axis }
    }

    /// Tall enough for every label.
    fn height(&self) -> f64 {
        PANEL_HEIGHT.max(self.lines.len() as f64 * LABEL_HEIGHT)
    }

    fn draw(&self, document: &mut Document, frame: &Frame, x_axis: &Axis, names: &[&str]) {
        let &Frame { left, right, top, bottom } = frame;
        let x_at = |x: f64| left + x_axis.fraction(x) * (right - left);
        let y_at = |y: f64| bottom - self.axis.fraction(y) * (bottom - top);
        let place = |&(x, y): &(f64, f64)| (x_at(x), y_at(y));

        for tick in &x_axis.ticks {
            let x = x_at(tick.value);
            document.line((x, top), (x, bottom), "grid");
            document.label(x, bottom + 15.0, "tick middle", &tick.label);
        }
        for tick in &self.axis.ticks {
            let y = y_at(tick.value);
            document.line((left, y), (right, y), "grid");
            document.label(left - 7.0, y + 4.0, "tick end", &tick.label);
        }
        document.line((left, bottom), (right, bottom), "axis");
        if self.lines.iter().all(|line| line.runs.is_empty()) {
            document.label((left + right) / 2.0, (top + bottom) / 2.0 + 4.0, "note middle", "no data");
            return;
        }

        // A line of few points lies over one of many: the validation loss over the noise of the training loss.
        let mut order: Vec<&Line> = self.lines.iter().collect();
        order.sort_by_key(|line| Reverse(line.points()));
        for line in order {
            let colour = colour(&line.name, names);
            let runs: Vec<Vec<_>> = line.runs.iter().map(|run| run.iter().map(place).collect()).collect();
            let dense = line.points() > MOST_DOTS;
            let curve: String = runs.iter().map(|run| path(run)).collect();
            let weight = if dense { " thin" } else { "" };
            document.empty("path", &[("d", &curve), ("class", &format!("curve{weight} {colour}"))]);
            // A stroke of no length with round ends is a dot.
            let dotted = runs.iter().filter(|run| !dense || run.len() == 1).flatten();
            let dots: String = dotted.map(|&(x, y)| format!("M{} {}h0", number(x), number(y))).collect();
            if !dots.is_empty() {
                document.empty("path", &[("d", &dots), ("class", &format!("dots {colour}"))]);
            }
        }
        let ends: Vec<_> =
            self.lines.iter().map(|line| line.runs.last().and_then(|run| run.last()).map(place)).collect();
        self.draw_labels(document, frame, &ends, names);
    }

    /// Name and last value at each line's end, moved apart where they would overlap.
    fn draw_labels(
        &self,
        document: &mut Document,
        frame: &Frame,
        ends: &[Option<(f64, f64)>],
        names: &[&str],
    ) {
        let wanted: Vec<f64> = ends.iter().map(|end| end.map_or(frame.bottom, |(_, y)| y)).collect();
        let heights = spread(&wanted, LABEL_HEIGHT, frame.top, frame.bottom);
        for ((line, end), y) in self.lines.iter().zip(ends).zip(heights) {
            let colour = colour(&line.name, names);
            // A thin line leads from the curve to its label, unless the curve ended long before.
            if let Some(end) = end.filter(|(x, _)| frame.right - x < 40.0) {
                document.line(end, (frame.right + 12.0, y), &format!("lead {colour}"));
            }
            document.line((frame.right + 12.0, y), (frame.right + 26.0, y), &format!("curve {colour}"));
            document.label(frame.right + 32.0, y + 4.0, "label", &line.label);
        }
    }
}

/// The classes of a series' colour: that of its name, or the last, which is that of the text, if it needs none.
/// Beyond the last colour they return, dashed.
fn colour(name: &str, names: &[&str]) -> String {
    let place = names.iter().position(|known| *known == name).unwrap_or(COLOURS - 1);
    format!("c{}{}", place % COLOURS, if place / COLOURS % 2 == 1 { " dash" } else { "" })
}

/// A path through the points, in pixels.
fn path(points: &[(f64, f64)]) -> String {
    let step = |(index, &(x, y)): (usize, &(f64, f64))| {
        format!("{}{} {}", if index == 0 { 'M' } else { 'L' }, number(x), number(y))
    };
    points.iter().enumerate().map(step).collect()
}

/// At most [`MOST_POINTS`] of the points: the first, the last, and of each bucket of neighbours between them the
/// lowest and the highest, so that no spike is lost. A gap narrower than a bucket (about a pixel) is closed.
fn thin(points: Vec<Option<(f64, f64)>>) -> Vec<Option<(f64, f64)>> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let inner = &points[1..points.len() - 1];
    let buckets = MOST_POINTS / 2 - 1;
    let mut kept = vec![points[0]];
    for bucket in 0..buckets {
        let bucket = &inner[bucket * inner.len() / buckets..(bucket + 1) * inner.len() / buckets];
        let seen = || bucket.iter().flatten().enumerate();
        let low = seen().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let high = seen().max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        match low.zip(high) {
            None => kept.push(None),
            Some((low, high)) => {
                let (early, late) = if low.0 < high.0 { (low, high) } else { (high, low) };
                kept.push(Some(*early.1));
                if late.0 != early.0 {
                    kept.push(Some(*late.1));
                }
            }
        }
    }
    kept.push(points[points.len() - 1]);
    kept
}

/// The runs of points between gaps.
fn runs(points: &[Option<(f64, f64)>]) -> Vec<Vec<(f64, f64)>> {
    points
        .split(Option::is_none)
        .filter(|run| !run.is_empty())
        .map(|run| run.iter().flatten().copied().collect())
        .collect()
}

/// Heights near the wanted ones, at least `gap` apart and between `top` and `bottom` where there is room.
fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut heights = wanted.to_vec();
    let mut floor = top;
    for &index in &order {
        heights[index] = heights[index].max(floor);
        floor = heights[index] + gap;
    }
    let mut ceiling = bottom;
    for &index in order.iter().rev() {
        heights[index] = heights[index].min(ceiling);
        ceiling = heights[index] - gap;
    }
    heights
}

/// A name that leaves room for the curves.
fn shorten(name: &str) -> String {
    const LONGEST: usize = 24;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::assert_well_formed;

    fn series(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.to_owned(), points: points.into_iter().collect() }
    }

    fn panel(title: &str, logarithmic: bool, series: Vec<Series>) -> Panel {
        Panel { title: title.to_owned(), series, logarithmic }
    }

    /// Every coordinate of a finished picture is a number within reason.
    fn assert_drawable(svg: &str) {
        assert_well_formed(svg);
        let body = &svg[svg.find("</style>").expect("a style")..];
        assert!(!body.contains("NaN") && !body.contains("inf"), "{body}");
        for path in body.split(" d=\"").skip(1).map(|rest| &rest[..rest.find('"').expect("an end")]) {
            for value in path.split(['M', 'L', 'h', ' ']).filter(|part| !part.is_empty()) {
                let value: f64 = value.parse().expect("a number");
                assert!((-1.0..=2000.0).contains(&value), "{value} in {path}");
            }
        }
    }

    #[test]
    fn long_series_keep_their_spikes_and_ends() {
        let mut points: Vec<_> = (0..100_000).map(|x| Some((x as f64, 0.0))).collect();
        points[12_345] = Some((12_345.0, 9.0));
        points[67_890] = Some((67_890.0, -9.0));
        let thinned = thin(points.clone());
        assert!(thinned.len() <= MOST_POINTS);
        for kept in [0, 12_345, 67_890, 99_999] {
            assert!(thinned.contains(&points[kept]), "lost {kept}");
        }
        assert!(thinned.iter().flatten().is_sorted_by_key(|point| point.0));
    }

    #[test]
    fn a_long_gap_survives_thinning() {
        let points =
            (0..50_000).map(|x| Some((x as f64, 1.0)).filter(|_| !(20_000..30_000).contains(&x))).collect();
        assert_eq!(runs(&thin(points)).len(), 2);
    }

    #[test]
    fn gaps_break_the_line() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 2.0), (4.0, f64::INFINITY), (5.0, 1.0)];
        let picture = svg(&[panel("loss", false, vec![series("train", points)])], "step");
        assert_drawable(&picture);
        let curve = picture.split("class=\"curve").next().expect("a curve");
        let path = curve.rsplit("d=\"").next().expect("a path");
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (3, 1));
    }

    #[test]
    fn labels_keep_apart() {
        assert_eq!(spread(&[50.0, 51.0, 10.0], 15.0, 0.0, 100.0), [50.0, 65.0, 10.0]);
        assert_eq!(spread(&[99.0, 100.0], 15.0, 0.0, 100.0), [85.0, 100.0]);
        assert_eq!(spread(&[0.0, 0.0], 15.0, 0.0, 100.0), [0.0, 15.0]);
    }

    #[test]
    fn a_name_keeps_its_colour() {
        let point = [(0.0, 1.0)];
        let panels = [
            panel("loss", false, vec![series("train", point), series("valid", point)]),
            panel("speed", false, vec![series("speed", point)]),
            panel("accuracy", false, vec![series("valid", point), series("test", point)]),
        ];
        let shown = ["train", "valid", "test", "speed"].map(|name| colour(name, &names(&panels)));
        assert_eq!(shown, ["c0", "c1", "c2", "c6"]);
        let many: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(colour("8", &many.iter().map(String::as_str).collect::<Vec<_>>()), "c1 dash");
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</text><script>alert(\"&\")</script>\u{0}";
        let picture = svg(&[panel(hostile, false, vec![series(hostile, [(0.0, 1.0)])])], hostile);
        assert_drawable(&picture);
        assert!(!picture.contains("<script>"));
    }

    #[test]
    fn every_kind_of_data_can_be_drawn() {
        let line = |f: fn(f64) -> f64| (0..50).map(move |x| (x as f64, f(x as f64))).collect::<Vec<_>>();
        let cases = [
            vec![],
            vec![(0.0, 0.0)],
            vec![(7.0, 3.5)],
            vec![(f64::NAN, f64::NAN)],
            vec![(f64::INFINITY, 1.0), (1.0, f64::NEG_INFINITY)],
            line(|_| 2.5),
            line(|_| -1e-320),
            line(|x| x * 1e298),
            line(|x| (x - 25.0) * 1e307),
            line(|x| x * 1e-310),
            line(|x| 1e9 + x * 1e-6),
            line(|x| -x),
            line(|x| 10f64.powf(x * 12.0 - 300.0)),
            line(|x| f64::MIN_POSITIVE * x),
        ];
        for points in cases {
            for logarithmic in [false, true] {
                let shown = format!("{points:?}");
                let picture = svg(&[panel("p", logarithmic, vec![series("s", points.clone())])], "x");
                assert!(picture.len() < 60_000, "{shown}");
                assert_drawable(&picture);
            }
        }
        assert_well_formed(&svg(&[], "step"));
    }
}
