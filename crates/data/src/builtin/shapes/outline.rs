//! The outlines of shapes, as the distance of a point from them.
//!
//! Everything here is addition, multiplication, division and square roots, which give the same bits on every
//! machine; sines and cosines, which do not, stand as numbers.

use super::things::Shape;

/// Cosine and sine of 0°, 5°, 10°, 15° and 20°.
const TURNS: [(f32, f32); 5] = [
    (1.0, 0.0),
    (0.996_194_7, 0.087_155_74),
    (0.984_807_7, 0.173_648_18),
    (0.965_925_8, 0.258_819_04),
    (0.939_692_6, 0.342_020_14),
];

/// The most steps of 5° that an object is turned to either side.
pub(super) const MOST_TURNS: i8 = 4;

/// No outline reaches further from the centre than this, in radii.
pub(super) const REACH: f32 = 1.22;

const CIRCLE: f32 = 0.97;
const RING: (f32, f32) = (1.0, 0.56);
/// The radius of the moon, and the centre (to its right) and radius of what is cut out of it.
const MOON: (f32, f32, f32) = (1.05, 0.52, 0.86);
const SQUARE: [[f32; 2]; 4] = [[-0.86, -0.86], [0.86, -0.86], [0.86, 0.86], [-0.86, 0.86]];
const TRIANGLE: [[f32; 2]; 3] = [[0.0, -1.15], [0.995_929_2, 0.575], [-0.995_929_2, 0.575]];
const DIAMOND: [[f32; 2]; 4] = [[0.0, -1.2], [0.72, 0.0], [0.0, 1.2], [-0.72, 0.0]];
const CROSS: [[f32; 2]; 12] = [
    [-0.33, -1.05],
    [0.33, -1.05],
    [0.33, -0.33],
    [1.05, -0.33],
    [1.05, 0.33],
    [0.33, 0.33],
    [0.33, 1.05],
    [-0.33, 1.05],
    [-0.33, 0.33],
    [-1.05, 0.33],
    [-1.05, -0.33],
    [-0.33, -0.33],
];
/// Points at 1.2, the corners between them at 0.53.
const STAR: [[f32; 2]; 10] = [
    [0.0, -1.2],
    [0.311_526_2, -0.428_779_1],
    [1.141_267_8, -0.370_820_4],
    [0.504_060_2, 0.163_779],
    [0.705_342_3, 0.970_820_4],
    [0.0, 0.53],
    [-0.705_342_3, 0.970_820_4],
    [-0.504_060_2, 0.163_779],
    [-1.141_267_8, -0.370_820_4],
    [-0.311_526_2, -0.428_779_1],
];

/// How far a point lies outside of a shape of radius 1 around the origin that is turned by `turn` steps of 5°,
/// clockwise as one sees it; negative inside. y points down.
pub(super) fn distance(shape: Shape, turn: i8, x: f32, y: f32) -> f32 {
    let (x, y) = turned_back(turn, x, y);
    match outline(shape) {
        Outline::Corners(corners) if is_within(corners, x, y) => -distance_to_edges(corners, x, y),
        Outline::Corners(corners) => distance_to_edges(corners, x, y),
        Outline::Arcs(distance) => distance(x, y),
    }
}

/// Whether a point lies inside: where [`distance`] is negative, which is sooner told of points outside.
pub(super) fn contains(shape: Shape, turn: i8, x: f32, y: f32) -> bool {
    if x.abs() > REACH || y.abs() > REACH {
        return false;
    }
    let (x, y) = turned_back(turn, x, y);
    match outline(shape) {
        // A point on an edge may count as within.
        Outline::Corners(corners) => is_within(corners, x, y) && distance_to_edges(corners, x, y) > 0.0,
        Outline::Arcs(distance) => distance(x, y) < 0.0,
    }
}

/// The outline of a shape that is not turned: corners, or what is told by a formula.
enum Outline {
    Corners(&'static [[f32; 2]]),
    Arcs(fn(f32, f32) -> f32),
}

fn outline(shape: Shape) -> Outline {
    match shape {
        Shape::Circle => Outline::Arcs(|x, y| length(x, y) - CIRCLE),
        Shape::Ring => Outline::Arcs(|x, y| (length(x, y) - RING.0).max(RING.1 - length(x, y))),
        Shape::Moon => Outline::Arcs(|x, y| (length(x, y) - MOON.0).max(MOON.2 - length(x - MOON.1, y))),
        Shape::Square => Outline::Corners(&SQUARE),
        Shape::Triangle => Outline::Corners(&TRIANGLE),
        Shape::Diamond => Outline::Corners(&DIAMOND),
        Shape::Cross => Outline::Corners(&CROSS),
        Shape::Star => Outline::Corners(&STAR),
    }
}

fn length(x: f32, y: f32) -> f32 {
    (x * x + y * y).sqrt()
}

/// Where a point lies for a shape that is turned: the point is turned back, instead of the shape.
fn turned_back(turn: i8, x: f32, y: f32) -> (f32, f32) {
    let (cos, sin) = TURNS[usize::from(turn.unsigned_abs()).min(TURNS.len() - 1)];
    let sin = if turn < 0 { -sin } else { sin };
    (cos * x + sin * y, cos * y - sin * x)
}

/// Whether a ray from the point crosses the edges an odd number of times.
fn is_within(corners: &[[f32; 2]], x: f32, y: f32) -> bool {
    let crosses = |[corner, before]: [[f32; 2]; 2]| {
        let (edge_x, edge_y) = (before[0] - corner[0], before[1] - corner[1]);
        (corner[1] > y) != (before[1] > y) && x - corner[0] < edge_x * (y - corner[1]) / edge_y
    };
    edges(corners).filter(|edge| crosses(*edge)).count() % 2 == 1
}

fn distance_to_edges(corners: &[[f32; 2]], x: f32, y: f32) -> f32 {
    let mut nearest = f32::INFINITY;
    for [corner, before] in edges(corners) {
        let (edge_x, edge_y) = (before[0] - corner[0], before[1] - corner[1]);
        let (to_x, to_y) = (x - corner[0], y - corner[1]);
        let along = (to_x * edge_x + to_y * edge_y) / (edge_x * edge_x + edge_y * edge_y);
        let along = along.clamp(0.0, 1.0);
        let (off_x, off_y) = (to_x - along * edge_x, to_y - along * edge_y);
        nearest = nearest.min(off_x * off_x + off_y * off_y);
    }
    nearest.sqrt()
}

/// Every corner and the one before it.
fn edges(corners: &[[f32; 2]]) -> impl Iterator<Item = [[f32; 2]; 2]> + '_ {
    let mut before = corners[corners.len() - 1];
    corners.iter().map(move |corner| [*corner, std::mem::replace(&mut before, *corner)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_inside(shape: Shape, turn: i8) -> f32 {
        let steps = 400;
        let at = |n: usize| (n as f32 + 0.5) / steps as f32 * 2.0 * REACH - REACH;
        let inside = (0..steps)
            .flat_map(|i| (0..steps).map(move |j| (at(i), at(j))))
            .filter(|(x, y)| distance(shape, turn, *x, *y) < 0.0)
            .count();
        inside as f32 * (2.0 * REACH / steps as f32).powi(2)
    }

    #[test]
    fn areas_are_those_of_the_figures_however_they_are_turned() {
        let pi = std::f32::consts::PI;
        for (shape, area) in [
            (Shape::Circle, pi * CIRCLE * CIRCLE),
            (Shape::Ring, pi * (1.0 - 0.56 * 0.56)),
            (Shape::Square, 1.72 * 1.72),
            (Shape::Triangle, 3.0 * 3.0f32.sqrt() / 4.0 * 1.15 * 1.15),
            (Shape::Diamond, 2.0 * 1.2 * 0.72),
            (Shape::Cross, 4.0 * 0.66 * 0.72 + 0.66 * 0.66),
            // Ten triangles between a point, a corner and the centre.
            (Shape::Star, 5.0 * 1.2 * 0.53 * (36.0f32.to_radians()).sin()),
        ] {
            for turn in [-4, -1, 0, 3] {
                let found = share_inside(shape, turn);
                assert!((found / area - 1.0).abs() < 0.01, "{shape:?} {turn}: {found}, not {area}");
            }
        }
    }

    #[test]
    fn a_large_object_is_larger_than_any_small_one() {
        use super::super::things::Size;
        let areas = Shape::ALL.iter().map(|shape| share_inside(*shape, 0));
        let (least, most) = areas.fold((f32::MAX, 0.0f32), |(l, m), area| (l.min(area), m.max(area)));
        let squared = |radius: u16| f32::from(radius).powi(2);
        let (small, large) = (Size::Small.radii().1, Size::Large.radii().0);
        assert!(least * squared(large) > 1.4 * most * squared(small), "{least} {most}");
    }

    #[test]
    fn nothing_reaches_further_than_told() {
        for &shape in Shape::ALL {
            for step in 0..720 {
                let angle = (step as f32 / 2.0).to_radians();
                let (x, y) = (angle.sin() * REACH * 1.001, angle.cos() * REACH * 1.001);
                assert!(distance(shape, 2, x, y) > 0.0, "{shape:?}");
            }
        }
    }

    #[test]
    fn what_a_shape_contains_is_where_the_distance_is_negative() {
        assert!(!contains(Shape::Cross, 0, -1.05, 0.1), "a point on an edge");
        assert!(!contains(Shape::Square, 0, 0.0, -0.86), "a point on an edge");
        let steps = 150;
        let at = |n: usize| (n as f32 + 0.37) / steps as f32 * 3.0 - 1.5; // beyond the reach of all
        for &shape in Shape::ALL {
            for (turn, row, column) in (0..5).flat_map(|turn| {
                (0..steps).flat_map(move |row| (0..steps).map(move |column| (turn - 2, row, column)))
            }) {
                let (x, y) = (at(column), at(row));
                let negative = distance(shape, turn, x, y) < 0.0;
                assert_eq!(contains(shape, turn, x, y), negative, "{shape:?} {turn}: {x} {y}");
            }
        }
    }

    #[test]
    fn distances_are_true_near_the_edge() {
        assert!((distance(Shape::Square, 0, 0.9, 0.0) - 0.04).abs() < 1e-6);
        assert!((distance(Shape::Circle, 3, 0.0, 0.5) + CIRCLE - 0.5).abs() < 1e-6);
        assert!((distance(Shape::Ring, 0, 0.0, 0.0) - 0.56).abs() < 1e-6);
        // Turned clockwise, the upper corner of a triangle goes to the right.
        assert!(distance(Shape::Triangle, 4, 0.35, -1.0) < 0.0);
        assert!(distance(Shape::Triangle, -4, 0.35, -1.0) > 0.0);
    }
}
