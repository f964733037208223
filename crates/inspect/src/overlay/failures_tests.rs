//! Pages of failures.

use gatto_data::images::Image;

use super::super::Focus;
use super::super::html::tests::data;
use super::super::samples::{GRID, HOSTILE, caption, hostile, image, round};
use super::*;

fn failure(text: &str, score: f32) -> Failure {
    Failure {
        overlay: caption(text, image(32, 32)),
        wrong: vec![1],
        references: vec!["a dog".to_owned()],
        reasons: vec!["there is no cat".to_owned()],
        kinds: vec!["wrong thing".to_owned()],
        score,
        figures: vec![("pointing".to_owned(), 0.25)],
    }
}

#[test]
fn the_worst_come_first() {
    let page =
        failures_page("t", &[failure("a cat", 0.5), failure("a cow", -1.0), failure("a rat", 0.1)]).unwrap();
    let data = data(&page);
    let second = |card: &serde_json::Value| card["words"][1]["word"].as_str().unwrap().to_owned();
    let words: Vec<String> = data["cards"].as_array().unwrap().iter().map(second).collect();
    assert_eq!(words, ["cow", "rat", "cat"]);
    let card = &data["cards"][0];
    assert_eq!(card["wrong"], serde_json::json!([1]));
    assert_eq!(card["figures"], serde_json::json!([["pointing", 0.25]]));
    assert_eq!((&card["score"], &data["left_out"]), (&(-1.0).into(), &0.into()));
    assert!(page.contains("<title>t</title>"));
}

#[test]
fn what_is_no_failure_is_refused() {
    let mut one = failure("a cat", 0.0);
    one.wrong = vec![2];
    let message = failures_page("", &[one]).unwrap_err().to_string();
    assert_eq!(message, "word 2 is said to be wrong, and there are 2, counted from 0");
    for value in [f32::NAN, f32::INFINITY] {
        assert!(matches!(failures_page("", &[failure("a b", value)]), Err(OverlayError::Figure { .. })));
        let mut one = failure("a cat", 0.0);
        one.figures[0].1 = value;
        assert!(matches!(failures_page("", &[one]), Err(OverlayError::Figure { .. })));
    }
    assert!(failures_page("", &[]).unwrap().contains("What the model got wrong"));
}

#[test]
fn hostile_text_stays_inside_its_element() {
    let lines: Vec<String> = HOSTILE.map(str::to_owned).to_vec();
    let hostile = Failure {
        overlay: hostile(),
        wrong: vec![0],
        references: lines.clone(),
        reasons: lines.clone(),
        kinds: lines,
        score: f32::MIN,
        figures: vec![(HOSTILE[0].to_owned(), f32::MAX)],
    };
    let page = failures_page(HOSTILE[0], &[hostile]).unwrap();
    let quiet = failures_page("t", &[failure("a cat", 0.0)]).unwrap();
    for way_out in ["</script", "<!--", "<img", "<script"] {
        assert_eq!(page.matches(way_out).count(), quiet.matches(way_out).count(), "{way_out}");
    }
    assert!(!page.contains('\u{2028}') && !page.contains("style=\""));
}

#[test]
fn a_full_page_is_not_too_large() {
    // Noise, which no format makes smaller.
    let noise = |index: usize| ((index as u32).wrapping_mul(0x9e37_79b9) >> 21) as u8;
    let image = Image::new(400, 400, 3, (0..400 * 400 * 3).map(noise).collect()).unwrap();
    let grid = gatto_data::images::Grid { rows: 14, columns: 14 };
    let words: Vec<Focus> =
        (0..60).map(|word| Focus::new("word", round(grid, [word as f32 / 5.0, 5.0], 3.0))).collect();
    let overlay = Overlay::of_words("noise.png", image, grid, words).unwrap();
    let failures: Vec<Failure> = (0..MOST_FAILURES + 20)
        .map(|score| Failure { overlay: overlay.clone(), ..failure("a cat", score as f32) })
        .collect();
    let page = failures_page("many", &failures).unwrap();
    assert!(page.len() < 20_000_000, "{} bytes", page.len());
    let data = data(&page);
    let cards = data["cards"].as_array().unwrap().len();
    assert_eq!(data["left_out"], failures.len() - cards);
    assert!(cards >= 80, "{cards}");
    assert_eq!(GRID.len(), 16);
}
