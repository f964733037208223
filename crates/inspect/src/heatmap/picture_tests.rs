//! Heatmaps as SVG.

use super::super::samples::{attention, diagonal, hostile, panel, words};
use super::*;
use crate::raster::parse;
use crate::svg::assert_well_formed;

#[test]
fn a_cell_is_a_colour_a_number_and_a_hint() {
    let values = vec![vec![0.75, 0.25]];
    let panels = vec![panel("attention", Scale::Share, values)];
    let heatmap = Heatmap::new("", words("the cat"), words("gatto"), panels).unwrap();
    let picture = svg(&heatmap);
    assert_well_formed(&picture);
    let cell = "<g class=\"s30\">\n<title>gatto ← the: 0.7500</title>\n\
        <rect x=\"86.5\" y=\"64.5\" width=\"45\" height=\"29\"/>\n\
        <text x=\"109\" y=\"83.32\" class=\"middle\" style=\"font-size:12px\">.75</text>\n</g>\n";
    assert!(picture.contains(cell), "{picture}");
}

#[test]
fn hostile_text_is_text() {
    let picture = svg(&hostile());
    assert_well_formed(&picture);
    parse(&picture).unwrap();
    assert!(!picture.contains("<script") && !picture.contains("<img"));
}

#[test]
fn labels_lean_and_numbers_vanish_as_tokens_become_many() {
    let turned = |count: usize| {
        let picture = svg(&attention(&"straordinario ".repeat(count), &"gatto ".repeat(count)));
        assert_well_formed(&picture);
        let numbers = picture.contains(">.");
        (picture.contains("rotate(-45"), picture.contains("rotate(-90"), numbers)
    };
    assert_eq!(turned(20), (true, false, true));
    assert_eq!(turned(80), (false, true, false));
    assert!(!svg(&attention("the cat", "il gatto")).contains("rotate("));
}

#[test]
fn panels_stand_side_by_side_where_there_is_room() {
    let explained = |count: usize| {
        let names = ["attention", "gradient × input", "erasure"];
        let scales = [Scale::Share, Scale::Signed, Scale::Signed];
        let panels = names.iter().zip(scales).map(|(name, scale)| panel(name, scale, diagonal(count, count)));
        let tokens = words(&"word ".repeat(count));
        Heatmap::new("", tokens.clone(), tokens, panels.collect()).unwrap()
    };
    let (few, many) = (Layout::new(&explained(5)), Layout::new(&explained(60)));
    assert!(few.frames.iter().all(|frame| frame.top == few.frames[0].top));
    assert!(many.frames.iter().all(|frame| frame.left == many.frames[0].left && frame.labelled));
    for frame in few.frames.iter().chain(&many.frames) {
        assert!(frame.left > 0.0 && frame.top > 0.0);
    }
}

#[test]
fn everything_stands_within_the_picture() {
    let long = "Donaudampfschifffahrtsgesellschaft MMMMMMMMMMMMMM 图书馆图书馆图书馆 الخشبية";
    for heatmap in [attention(long, long), attention(&long.repeat(9), long), hostile()] {
        let tree = parse(&svg(&heatmap)).unwrap();
        let (size, drawn) = (tree.size(), tree.root().abs_bounding_box());
        assert!(drawn.left() >= -0.5 && drawn.top() >= -0.5, "{drawn:?}");
        let fits = drawn.right() <= size.width() + 0.5 && drawn.bottom() <= size.height() + 0.5;
        assert!(fits, "{drawn:?} {size:?}");
    }
}
