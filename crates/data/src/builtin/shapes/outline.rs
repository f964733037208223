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
    let (cos, sin) = TURNS[usize::from(turn.unsigned_abs()).min(TURNS.len() - 1)];
    let sin = if turn < 0 { -sin } else { sin };
    // The point is turned back, instead of the shape.
    let (x, y) = (cos * x + sin * y, cos * y - sin * x);
    let from = |x: f32, y: f32| (x * x + y * y).sqrt();
    match shape {
        Shape::Circle => from(x, y) - CIRCLE,
        Shape::Ring => (from(x, y) - RING.0).max(RING.1 - from(x, y)),
        Shape::Moon => (from(x, y) - MOON.0).max(MOON.2 - from(x - MOON.1, y)),
        Shape::Square => polygon(&SQUARE, x, y),
        Shape::Triangle => polygon(&TRIANGLE, x, y),
        Shape::Diamond => polygon(&DIAMOND, x, y),
        Shape::Cross => polygon(&CROSS, x, y),
        Shape::Star => polygon(&STAR, x, y),
    }
}

/// Distance to the nearest edge, negative if a ray from the point crosses the edges an odd number of times.
fn polygon(corners: &[[f32; 2]], x: f32, y: f32) -> f32 {
    let mut nearest = f32::INFINITY;
    let mut inside = false;
    let mut before = corners[corners.len() - 1];
    for &corner in corners {
        let (edge_x, edge_y) = (before[0] - corner[0], before[1] - corner[1]);
        let (to_x, to_y) = (x - corner[0], y - corner[1]);
        let along = (to_x * edge_x + to_y * edge_y) / (edge_x * edge_x + edge_y * edge_y);
        let along = along.clamp(0.0, 1.0);
        let (off_x, off_y) = (to_x - along * edge_x, to_y - along * edge_y);
        nearest = nearest.min(off_x * off_x + off_y * off_y);
        if (corner[1] > y) != (before[1] > y) && to_x < edge_x * to_y / edge_y {
            inside = !inside;
        }
        before = corner;
    }
    let distance = nearest.sqrt();
    if inside { -distance } else { distance }
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
    fn distances_are_true_near_the_edge() {
        assert!((distance(Shape::Square, 0, 0.9, 0.0) - 0.04).abs() < 1e-6);
        assert!((distance(Shape::Circle, 3, 0.0, 0.5) + CIRCLE - 0.5).abs() < 1e-6);
        assert!((distance(Shape::Ring, 0, 0.0, 0.0) - 0.56).abs() < 1e-6);
        // Turned clockwise, the upper corner of a triangle goes to the right.
        assert!(distance(Shape::Triangle, 4, 0.35, -1.0) < 0.0);
        assert!(distance(Shape::Triangle, -4, 0.35, -1.0) > 0.0);
    }
}
