//! Heatmaps as one HTML file that needs nothing else: no network, no other file.
//!
//! The numbers of every view (whole words, without the end token) are made here and lie in the page as JSON; its
//! script only shows them.

use super::colour::{self, Ground};
use super::heads::Choice;
use super::page::PageData;
use super::{Heatmap, Scale};
use crate::label::visible;
use crate::offline::{Page, SAVE_SCRIPT};

const BODY: &str = include_str!("page/body.html");
const STYLE: &str = include_str!("page/page.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    SAVE_SCRIPT,
    include_str!("page/numbers.js"),
    include_str!("page/picture.js"),
    include_str!("page/heads.js"),
    include_str!("page/tip.js"),
    include_str!("page/page.js"),
];

/// What a page shows first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Start {
    /// Which heatmap of a sentence, from 0.
    pub chart: usize,
    /// Which of its heads.
    pub choice: Choice,
    /// All heads at once, in place of one.
    pub all: bool,
    /// Whole words, where they are in pieces.
    pub merged: bool,
    /// Without the end token.
    pub endless: bool,
}

/// A page that shows these heatmaps, with a chooser if there are several.
pub fn html(heatmaps: &[Heatmap]) -> String {
    let sentences: Vec<&[Heatmap]> = heatmaps.iter().map(std::slice::from_ref).collect();
    page(&sentences, Start::default())
}

/// A page that shows several heatmaps of each sentence, such as its attentions: which of them, and which of their
/// heads, is chosen there.
pub fn html_of_charts(sentences: &[Vec<Heatmap>], start: Start) -> String {
    page(&sentences.iter().map(Vec::as_slice).collect::<Vec<_>>(), start)
}

fn page(sentences: &[&[Heatmap]], start: Start) -> String {
    let light = colour::style(&[Scale::Share, Scale::Signed], Ground::Light);
    let dark = colour::style(&[Scale::Share, Scale::Signed], Ground::Dark);
    let style = format!("{STYLE}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n");
    let title = match sentences {
        [[heatmap, ..]] if !heatmap.title.is_empty() => visible(&heatmap.title),
        _ => "Where the model looks".to_owned(),
    };
    let data = PageData::new(sentences, start, light);
    Page { title: &title, style: &style, scripts: &SCRIPTS, body: BODY, data: &data, plays: false }.html()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::samples::{attention, diagonal, heads, hostile, panel};
    use super::super::{Head, Token};
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
        let views = data["heatmaps"][0]["charts"][0]["views"].as_array().unwrap();
        let sizes: Vec<(bool, bool, usize)> = views
            .iter()
            .map(|view| {
                let sources = view["source"].as_array().unwrap().len();
                (view["merged"].as_bool().unwrap(), view["endless"].as_bool().unwrap(), sources)
            })
            .collect();
        assert_eq!(sizes, [(false, false, 3), (false, true, 2), (true, false, 2), (true, true, 1)]);
        assert_eq!(views[3]["panels"][0]["values"][0][0], 1.0);
        assert_eq!(data["heatmaps"][1]["charts"][0]["views"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_page_of_heads_holds_what_can_be_chosen() {
        let (cross, own) = (heads(2, 3), heads(1, 1));
        let choice = Choice { layer: Some(2), head: Head::Max };
        let page =
            html_of_charts(&[vec![cross.clone(), own]], Start { choice, all: true, ..Start::default() });
        let data = data(&page);
        let start = serde_json::json!({
            "chart": 0, "layer": 2, "head": "max", "all": true, "merged": false, "endless": false
        });
        assert_eq!(data["start"], start);
        let charts = data["heatmaps"][0]["charts"].as_array().unwrap();
        assert_eq!(charts[0]["grid"], serde_json::json!({ "layers": [1, 2], "heads": 3 }));
        let panels = charts[0]["views"][0]["panels"].as_array().unwrap();
        let names: Vec<String> =
            panels.iter().map(|panel| format!("{} {}", panel["layer"], panel["head"])).collect();
        let layers = [1, 2].map(|layer| ["mean", "max"].map(|head| format!("{layer} \"{head}\"")));
        assert_eq!(names[5..8], ["2 \"3\"", "null \"mean\"", "null \"max\""]);
        assert_eq!(names[8..], layers.concat());
        for panel in panels {
            let head = match panel["head"].as_str().unwrap() {
                "mean" => Head::Mean,
                "max" => Head::Max,
                number => Head::Number(number.parse().unwrap()),
            };
            let layer = panel["layer"].as_u64().map(|layer| layer as usize);
            let expected = cross.pick(Choice { layer, head }).unwrap().panels[0].values[1][2];
            let found = panel["values"][1][2].as_f64().unwrap();
            assert!((found - f64::from(expected)).abs() < 1e-4, "{panel}");
        }
        assert_eq!(charts[1]["views"][0]["panels"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn hostile_text_stays_inside_its_element() {
        let page = html(&[hostile()]);
        let quiet = html(&[attention("a", "b")]);
        for way_out in ["</script", "<!--", "<img", "<script"] {
            assert_eq!(page.matches(way_out).count(), quiet.matches(way_out).count(), "{way_out}");
        }
        assert!(!page.contains('\u{2028}'));
        let texts = &data(&page)["heatmaps"][0]["charts"][0]["views"][0]["source"];
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
}
