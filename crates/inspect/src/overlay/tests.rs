//! The checks of [`Overlay::new`] and [`Maps::new`], and how a focus agrees with boxes.

use super::samples::{GRID, boxed, image, round};
use super::*;
use proptest::prelude::*;

fn refused(words: Vec<Focus>, grid: Grid) -> OverlayError {
    Overlay::of_words("", image(8, 8), grid, words).unwrap_err()
}

#[test]
fn what_does_not_fit_the_grid_is_refused() {
    assert_eq!(refused(Vec::new(), GRID), OverlayError::Empty("words"));
    let error = refused(vec![Focus::new("cat", vec![0.5; 15])], GRID);
    assert_eq!(error.to_string(), "`cat` has 15 weights for 16 regions");
    let none = Overlay::new("", image(8, 8), GRID, Vec::new()).unwrap_err();
    assert_eq!(none, OverlayError::Empty("views"));
    let other = View { name: "erasure".to_owned(), words: vec![Focus::new("dog", vec![0.0; 16])] };
    let first = View { name: "attention".to_owned(), words: vec![Focus::new("cat", vec![0.0; 16])] };
    let error = Overlay::new("", image(8, 8), GRID, vec![first, other]).unwrap_err();
    assert_eq!(error, OverlayError::Words { view: "erasure".to_owned() });
}

#[test]
fn what_is_no_weight_is_refused() {
    for value in [f32::NAN, f32::INFINITY, -0.1] {
        let mut weights = vec![0.0; 16];
        weights[7] = value;
        let error = refused(vec![Focus::new("cat", weights)], GRID);
        assert!(matches!(error, OverlayError::Weight { region: 7, .. }), "{error}");
    }
    for value in [f32::NAN, 1.5, -0.5] {
        let error = refused(vec![Focus::new("cat", vec![0.0; 16]).with_probability(value)], GRID);
        assert!(matches!(error, OverlayError::Probability { .. }), "{error}");
    }
    let boxes = vec![PixelBox::new(0.0, f32::NAN, 1.0, 1.0)];
    let error = refused(vec![Focus::new("cat", vec![0.0; 16]).with_boxes(boxes)], GRID);
    assert_eq!(error, OverlayError::Side { what: "cat".to_owned() });
}

#[test]
fn absurd_sizes_are_refused() {
    let word = || Focus::new("cat", vec![0.0; 16]);
    for (grid, what) in [
        (Grid { rows: 0, columns: 4 }, OverlayError::Empty("rows of regions")),
        (Grid { rows: 4, columns: 0 }, OverlayError::Empty("columns of regions")),
    ] {
        assert_eq!(refused(vec![word()], grid), what);
    }
    let huge = Grid { rows: usize::MAX, columns: usize::MAX };
    assert!(matches!(refused(vec![word()], huge), OverlayError::TooLarge { what: "rows of regions", .. }));
    let many = refused(vec![word(); MOST_WORDS + 1], GRID);
    assert_eq!(many.to_string(), "an overlay of 257 words; at most 256 can be drawn");
    let fine = Grid { rows: 128, columns: 128 };
    let many = refused(vec![Focus::new("cat", vec![0.0; fine.len()]); 65], fine);
    assert!(matches!(many, OverlayError::TooLarge { what: "weights", .. }), "{many}");
    let boxes = vec![PixelBox::new(0.0, 0.0, 1.0, 1.0); MOST_BOXES + 1];
    assert!(matches!(
        refused(vec![word().with_boxes(boxes)], GRID),
        OverlayError::TooLarge { what: "boxes", .. }
    ));
}

#[test]
fn maps_are_checked_too() {
    let maps = |large, heads| Maps::new("", image(8, 8), GRID, large, heads);
    assert_eq!(maps(Vec::new(), Vec::new()).unwrap_err(), OverlayError::Empty("maps"));
    assert_eq!(maps(Vec::new(), vec![Vec::new()]).unwrap_err(), OverlayError::Empty("heads"));
    let head = || round(GRID, [1.0, 1.0], 1.0);
    let error = maps(Vec::new(), vec![vec![head(), head()], vec![head()]]).unwrap_err();
    assert_eq!(error.to_string(), "layer 2 has 1 heads, and the first layer has 2");
    let error = maps(vec![Map::new("rollout", vec![1.0])], Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "`rollout` has 1 weights for 16 regions");
    let found = maps(Vec::new(), vec![vec![head(), head()], vec![head(), head()]]).unwrap();
    assert_eq!(found.heads()[1][0].name, "layer 2, head 1");
}

#[test]
fn a_focus_is_inside_or_beside_its_box() {
    let overlay = boxed();
    let [right, wrong] = [0, 1].map(|word| overlay.agreement(&overlay.views()[0].words[word]).unwrap());
    assert!(right.hit && right.inside > 0.8, "{right:?}");
    assert!(!wrong.hit && wrong.inside < 0.05, "{wrong:?}");
    assert_eq!(overlay.agreement(&Focus::new("a", vec![1.0; 16])), None, "without a box");
    let boxes = overlay.views()[0].words[0].boxes.clone();
    let even = overlay.agreement(&Focus::new("a", vec![f32::MAX; 16]).with_boxes(boxes.clone())).unwrap();
    assert_eq!(even.inside, 0.25);
    assert_eq!(
        overlay.agreement(&Focus::new("a", vec![0.0; 16]).with_boxes(boxes)),
        None,
        "looked at nothing"
    );
}

#[test]
fn colours_end_at_the_word_or_at_all_words() {
    let words = vec![Focus::new("a", vec![0.1; 16]), Focus::new("b", vec![0.4; 16])];
    let view = View { name: String::new(), words };
    assert_eq!(view.limits(false), [0.1, 0.4]);
    assert_eq!(view.limits(true), [0.4, 0.4]);
    let peaked = Focus::new("a", [&[0.0; 5][..], &[0.5, 0.5], &[0.0; 9]].concat());
    assert_eq!((peaked.most(), peaked.peak()), (0.5, Some(5)));
    assert_eq!(Focus::new("a", vec![0.0; 16]).peak(), None);
}

proptest! {
    #[test]
    fn whatever_passes_can_be_drawn(
        rows in 1usize..9, columns in 1usize..9, height in 1usize..70, width in 1usize..70,
        words in prop::collection::vec(".{0,12}", 1..5), scale in prop::sample::select(vec![0.0f32, 1e-38, 1.0, 1e38]),
        sides in prop::array::uniform4(-1e9f32..1e9), columns_of_terminal in 0usize..120,
    ) {
        let grid = Grid { rows, columns };
        let focus = |word: &String| {
            let weights = (0..grid.len()).map(|region| region as f32 / grid.len() as f32 * scale).collect();
            Focus::new(word.clone(), weights).with_boxes(vec![PixelBox::new(sides[0], sides[1], sides[2], sides[3])])
        };
        let overlay = Overlay::of_words(words.concat(), image(height, width), grid, words.iter().map(focus).collect()).unwrap();
        for alike in [false, true] {
            let shown = Shown { view: 7, alike };
            crate::svg::assert_well_formed(&svg(&overlay, shown));
            terminal(&overlay, columns_of_terminal, Colours::True, shown);
            terminal(&overlay, columns_of_terminal, Colours::None, shown);
        }
    }
}
