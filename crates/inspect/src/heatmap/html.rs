//! Heatmaps as one HTML file that needs nothing else: no network, no other file.
//!
//! The numbers of every view (whole words, without the end token) are made here and lie in the page as JSON; its
//! script only shows them. The page may run that script and use its style sheet, named by their hashes, and nothing
//! else: whatever a token contains is text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::colour::{self, Ground, STEPS};
use super::label::visible;
use super::numbers::Numbers;
use super::{Heatmap, Panel, Scale, Token};
use crate::svg::escape;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 3] =
    [include_str!("page/numbers.js"), include_str!("page/picture.js"), include_str!("page/page.js")];

#[derive(Serialize)]
struct PageData {
    steps: i32,
    /// The colours of a downloaded picture.
    style: String,
    heatmaps: Vec<HeatmapData>,
}

#[derive(Serialize)]
struct HeatmapData {
    title: String,
    views: Vec<ViewData>,
}

#[derive(Serialize)]
struct ViewData {
    merged: bool,
    endless: bool,
    source: Vec<String>,
    target: Vec<String>,
    probabilities: Option<Vec<f64>>,
    panels: Vec<PanelData>,
}

#[derive(Serialize)]
struct PanelData {
    name: String,
    scale: &'static str,
    limit: f32,
    unit: i32,
    decimals: usize,
    caption: String,
    ticks: Vec<String>,
    values: Vec<Vec<f64>>,
}

/// A page that shows these heatmaps, with a chooser if there are several.
pub fn html(heatmaps: &[Heatmap]) -> String {
    let light = colour::style(&[Scale::Share, Scale::Signed], Ground::Light);
    let dark = colour::style(&[Scale::Share, Scale::Signed], Ground::Dark);
    let style = format!("{STYLE}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n");
    let script = format!(
        "\"use strict\";\nconst data = JSON.parse(document.getElementById(\"data\").textContent);\n{}",
        SCRIPTS.concat()
    );
    let data = PageData { steps: STEPS, style: light, heatmaps: heatmaps.iter().map(heatmap_data).collect() };
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src blob: data:; base-uri 'none'; \
         form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let title = match heatmaps {
        [heatmap] if !heatmap.title.is_empty() => visible(&heatmap.title),
        _ => "Where the model looks".to_owned(),
    };
    fill(PAGE, |slot| match slot {
        "policy" => policy.clone(),
        "title" => escape(&title),
        "style" => style.clone(),
        "script" => script.clone(),
        _ => json(&data),
    })
}

/// Replaces each `{{slot}}` of the page once: what is put in is not searched again.
fn fill(page: &str, content: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = page;
    while let Some((before, (slot, after))) =
        rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        filled.push_str(before);
        filled.push_str(&content(slot));
        rest = after;
    }
    filled + rest
}

/// The Base64 form of the SHA-256 hash, as a content security policy names a script.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// JSON that cannot end the script element in which it lies: `<` starts every way out of it. The two line ends of
/// Unicode are escaped for readers that take JSON for JavaScript of old.
fn json(data: &PageData) -> String {
    // Strings and finite numbers always have a JSON form.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn heatmap_data(heatmap: &Heatmap) -> HeatmapData {
    let mut views = vec![view_data(heatmap, false, false)];
    if heatmap.has_end() {
        views.push(view_data(&heatmap.without_end(), false, true));
    }
    if heatmap.has_pieces() {
        let merged = heatmap.merge_words();
        views.push(view_data(&merged, true, false));
        if merged.has_end() {
            views.push(view_data(&merged.without_end(), true, true));
        }
    }
    let title = if heatmap.title.is_empty() { String::new() } else { visible(&heatmap.title) };
    HeatmapData { title, views }
}

fn view_data(heatmap: &Heatmap, merged: bool, endless: bool) -> ViewData {
    let texts = |tokens: &[Token]| tokens.iter().map(|token| visible(&token.text)).collect();
    ViewData {
        merged,
        endless,
        source: texts(&heatmap.source),
        target: texts(&heatmap.target),
        probabilities: heatmap.probabilities.as_ref().map(|all| all.iter().map(|&p| rounded(p, 4)).collect()),
        panels: heatmap.panels.iter().map(panel_data).collect(),
    }
}

fn panel_data(panel: &Panel) -> PanelData {
    let numbers = Numbers::of(panel);
    // One more than are ever shown, so that rounding twice seldom differs from rounding once.
    let decimals = 5 - f64::from(numbers.limit).log10().floor() as i32;
    let row = |row: &Vec<f32>| row.iter().map(|&value| rounded(value, decimals)).collect();
    PanelData {
        name: visible(&panel.name),
        scale: if panel.scale == Scale::Share { "share" } else { "signed" },
        limit: numbers.limit,
        unit: numbers.unit.unwrap_or(0),
        decimals: numbers.decimals,
        caption: numbers.caption(),
        ticks: numbers.ticks().into_iter().map(|(_, text)| text).collect(),
        values: panel.values.iter().map(row).collect(),
    }
}

/// A value without the digits that nobody reads, but that would make most of the page.
fn rounded(value: f32, decimals: i32) -> f64 {
    let text = format!("{:.*}", decimals.clamp(0, 60) as usize, value);
    text.parse().unwrap_or(f64::from(value))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::samples::{attention, diagonal, hostile, panel};
    use super::*;

    /// The data that a browser would read from the page.
    fn data(page: &str) -> Value {
        let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn a_page_holds_every_view() {
        let pieces = || vec![Token::piece("un", 0), Token::piece("able", 0), Token::end("</s>")];
        let panels = vec![panel("attention", Scale::Share, diagonal(3, 3))];
        let heatmap = Heatmap::new("t", pieces(), pieces(), panels).unwrap();
        let data = data(&html(&[heatmap, attention("a b", "c d")]));
        let views = data["heatmaps"][0]["views"].as_array().unwrap();
        let sizes: Vec<(bool, bool, usize)> = views
            .iter()
            .map(|view| {
                let sources = view["source"].as_array().unwrap().len();
                (view["merged"].as_bool().unwrap(), view["endless"].as_bool().unwrap(), sources)
            })
            .collect();
        assert_eq!(sizes, [(false, false, 3), (false, true, 2), (true, false, 2), (true, true, 1)]);
        assert_eq!(views[3]["panels"][0]["values"][0][0], 1.0);
        assert_eq!(data["heatmaps"][1]["views"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn hostile_text_stays_inside_its_element() {
        let page = html(&[hostile()]);
        let quiet = html(&[attention("a", "b")]);
        for way_out in ["</script", "<!--", "<img", "<script"] {
            assert_eq!(page.matches(way_out).count(), quiet.matches(way_out).count(), "{way_out}");
        }
        assert!(!page.contains('\u{2028}'));
        let texts = &data(&page)["heatmaps"][0]["views"][0]["source"];
        assert_eq!(texts[0], "</script><img src=x onerror=alert(1)>");
    }

    #[test]
    fn nothing_is_fetched_and_nothing_else_runs() {
        let page = html(&[attention("a", "b")]);
        assert!(page.contains("default-src 'none'; script-src 'sha256-"));
        let addresses = page.matches("http").count();
        let known = page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
        assert_eq!(addresses, known, "no address but the name of SVG");
        assert!(!page.contains("{{") && !page.contains("unsafe-inline"));
        assert_eq!(page, html(&[attention("a", "b")]));
    }

    #[test]
    fn the_hash_is_that_of_other_programs() {
        // printf abc | openssl dgst -sha256 -binary | base64
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn values_are_short_but_not_lost() {
        assert_eq!([0.123_456_7, 1.0, 0.0].map(|value| rounded(value, 5)), [0.12346, 1.0, 0.0]);
        assert_eq!(rounded(1.234_567e-20, 25), 1.23457e-20);
        assert_eq!(rounded(f32::MAX, -34), f64::from(f32::MAX));
    }
}
