//! Overlays as pages.

use serde_json::Value;

use super::super::samples::{GRID, HOSTILE, boxed, caption, hostile, image, maps, round};
use super::*;

/// The data that a browser would read from the page.
pub(in crate::overlay) fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_holds_images_words_and_weights() {
    let (words, heads) = (boxed(), maps(2, 3));
    let data = data(&html(&[Seen { overlay: Some(&words), maps: Some(&heads) }, (&words).into()]));
    assert_eq!(
        data["pictures"].as_array().unwrap().len(),
        1,
        "both are of the same image, and so is the next"
    );
    assert_eq!(data["items"].as_array().unwrap().len(), 2);
    let caption = &data["items"][0]["caption"];
    assert_eq!(caption["grid"], serde_json::json!({ "rows": 4, "columns": 4 }));
    let word = &caption["views"][0]["words"][0];
    assert_eq!((&word["word"], &word["hit"]), (&"square".into(), &true.into()));
    assert_eq!(word["boxes"], serde_json::json!([[0.5, 0.0, 1.0, 0.5]]));
    let weights: Vec<f64> =
        word["weights"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
    for (found, expected) in weights.iter().zip(&words.views()[0].words[0].weights) {
        assert!((found - f64::from(*expected)).abs() < 1e-4);
    }
    let maps = &data["items"][0]["maps"];
    assert_eq!(
        (maps["heads"].as_array().unwrap().len(), &maps["heads"][1][2]["name"]),
        (2, &"layer 2, head 3".into())
    );
    assert!(data["items"][1]["maps"].is_null());
}

#[test]
fn several_views_lie_in_one_page() {
    let words = |wide: f32| vec![Focus::new("cat", round(GRID, [1.0, 1.0], wide))];
    let views = [("attention", 1.0), ("erasure", 0.5)]
        .map(|(name, wide)| View { name: name.to_owned(), words: words(wide) });
    let overlay = Overlay::new("t", image(16, 16), GRID, views.to_vec()).unwrap();
    let data = data(&html(&[(&overlay).into()]));
    let views = data["items"][0]["caption"]["views"].as_array().unwrap();
    assert_eq!(
        views.iter().map(|view| view["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["attention", "erasure"]
    );
}

#[test]
fn hostile_text_stays_inside_its_element() {
    let page = html(&[(&hostile()).into()]);
    let quiet = html(&[(&caption("a b", image(9, 31))).into()]);
    for way_out in ["</script", "<!--", "<img", "<script"] {
        assert_eq!(page.matches(way_out).count(), quiet.matches(way_out).count(), "{way_out}");
    }
    assert!(!page.contains('\u{2028}'));
    assert_eq!(data(&page)["items"][0]["caption"]["views"][0]["words"][0]["word"], HOSTILE[0]);
}

#[test]
fn nothing_is_fetched_and_nothing_else_runs() {
    let overlay = caption("a b", image(16, 16));
    let page = html(&[(&overlay).into()]);
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    let known = page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
    assert_eq!(page.matches("http").count(), known, "no address but the name of SVG");
    assert!(!page.contains("{{") && !page.contains("unsafe-inline") && !page.contains("style=\""));
    assert_eq!(page, html(&[(&overlay).into()]));
}

#[test]
fn large_images_are_made_smaller() {
    let page = html(&[(&caption("a", image(1024, 2048))).into()]);
    let data = data(&page);
    let address = data["pictures"][0]["address"].as_str().unwrap().to_owned();
    let png = {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.decode(address.split_once(',').unwrap().1).unwrap()
    };
    let drawn = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!((drawn.width(), drawn.height()), (512, 256));
    assert!(html(&[]).contains("<h1"));
}

#[test]
fn weights_keep_the_digits_that_are_seen() {
    assert_eq!(shortened(&[0.123_456, 0.000_012, 0.0], 4), [0.1235, 0.0, 0.0]);
    assert_eq!(shortened(&[1.234_567e-20, 0.0], 4), [1.235e-20, 0.0]);
    assert_eq!(shortened(&[f32::MAX], 4), [f64::from(f32::MAX)]);
    assert_eq!(shortened(&[0.0, 0.0], 4), [0.0, 0.0]);
}
