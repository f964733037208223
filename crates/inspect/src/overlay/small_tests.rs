//! Maps as SVG and PNG.

use super::super::samples::{GRID, image, maps, round};
use super::*;
use crate::raster::parse;
use crate::svg::assert_well_formed;

#[test]
fn rollout_comes_first_and_then_every_head() {
    let picture = maps_svg(&maps(3, 4));
    assert_well_formed(&picture);
    assert_eq!(picture.matches("href=\"#shade\"").count(), 13);
    for text in [">attention rollout<", ">layer 3<", ">head 4<", "<title>layer 2, head 3: most 0."] {
        assert!(picture.contains(text), "{text}");
    }
    assert!(!picture.contains(">layer 4<") && !picture.contains(">head 5<"));
    assert!(maps_png(&maps(3, 4), 1.0).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn many_heads_stay_within_the_picture() {
    for (layers, heads) in [(0, 0), (1, 1), (12, 12), (4, 16), (2, 64)] {
        let maps = maps(layers, heads);
        let picture = maps_svg(&maps);
        let tree = parse(&picture).unwrap();
        let (size, drawn) = (tree.size(), tree.root().abs_bounding_box());
        let fits = drawn.right() <= size.width() + 0.5 && drawn.bottom() <= size.height() + 0.5;
        assert!(fits && drawn.left() >= -0.5, "{layers} {heads}: {drawn:?} {size:?}");
        assert!(picture.len() < 1_500_000, "{layers} {heads}: {} bytes", picture.len());
    }
}

#[test]
fn heads_without_rollout_are_drawn_too() {
    let head = || round(GRID, [1.0, 2.0], 1.0);
    let maps = Maps::new("", image(16, 32), GRID, Vec::new(), vec![vec![head(), head()]]).unwrap();
    assert_well_formed(&maps_svg(&maps));
}
