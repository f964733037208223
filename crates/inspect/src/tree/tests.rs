//! What holds for trees, however they are drawn.

use std::collections::BTreeSet;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::layout::Layout;
use super::samples::{FATES, all, all_fates, considered, hostile, output, record, small, wide, word};
use super::words::{decimal, probability};
use super::*;
use crate::raster::parse;
use crate::svg::assert_well_formed;
use crate::terminal::Colours;

fn texts(tree: &Tree, look: Look) -> Vec<&str> {
    let nodes = tree.nodes.iter().filter(|node| node.look() == look);
    nodes.map(|node| node.text.as_str()).collect()
}

#[test]
fn paths_are_marked_and_greedy_search_is_followed_to_its_end() {
    let tree = small();
    assert_eq!(texts(&tree, Look::Best), ["il", "gatto", "⟨/s⟩"]);
    assert_eq!(texts(&tree, Look::Greedy), ["un", "gatto", "⟨/s⟩"]);
    assert_eq!(texts(&tree, Look::Pruned), ["lo", "cane", "⟨/s⟩"]);
    let last = tree.nodes.last().unwrap();
    assert_eq!((last.became, last.step), (Became::GreedyOnly, 2));
    assert!((last.sum + 2.2).abs() < 1e-6, "{}", last.sum);
    // What the beam kept, but nothing behind it.
    let overtaken = tree.nodes.iter().find(|node| node.became == Became::Overtaken).unwrap();
    assert_eq!((overtaken.text.as_str(), overtaken.greedy), ("gatto", true));
    assert!(tree.greedy_differs());
    let same = Record {
        greedy: Some(Greedy {
            output: output("il gatto", -1.1),
            tokens: vec![(2, -0.8), (4, -0.1), (0, -0.2)],
        }),
        ..record()
    };
    let same = Tree::new(same, word).unwrap();
    assert!(!same.greedy_differs() && same.summary().same && same.summary().greedy.is_none());
}

#[test]
fn what_is_no_tree_is_refused() {
    let with = |steps| Tree::new(Record { steps, greedy: None, ..record() }, word);
    assert_eq!(with(vec![]), Err(TreeError::Empty));
    assert_eq!(with(vec![vec![]]), Err(TreeError::Empty));
    let kept = |parent| considered(parent, 1, -1.0, Fate::Kept);
    let orphan = with(vec![vec![kept(None)], vec![kept(Some(0)), kept(Some(1))]]);
    assert_eq!(orphan, Err(TreeError::Parent { step: 2, place: 2 }));
    assert_eq!(with(vec![vec![kept(Some(0))]]), Err(TreeError::Parent { step: 1, place: 1 }));
    assert_eq!(with(vec![vec![kept(None)], vec![kept(None)]]), Err(TreeError::Parent { step: 2, place: 1 }));
    let long = with(vec![vec![kept(None)]; MOST_STEPS + 1]).unwrap_err();
    assert!(long.to_string().contains("1025 steps; at most 1024"), "{long}");
    assert!(matches!(with(vec![vec![kept(None); MOST_NODES + 1]]), Err(TreeError::TooLarge { .. })));
}

#[test]
fn every_fate_has_words() {
    let tree = all_fates();
    let stories: BTreeSet<String> = tree.nodes.iter().map(|node| node.story(&tree)).collect();
    // What was kept without anything behind it was overtaken.
    assert_eq!(stories.len(), FATES.len());
    assert!(stories.iter().all(|story| story.starts_with(['I', 'T']) && story.ends_with('.')), "{stories:?}");
    let short: Vec<String> = tree.nodes.iter().map(Node::short).collect();
    let expected = [
        "given",
        "overtaken",
        "ended, number 1",
        "ended, outscored",
        "cut off, number 2",
        "left open",
        "beaten by 0.31",
        "forbidden",
        "would repeat",
        "too short",
        "ended before",
        "phrases first",
    ];
    assert_eq!(short, expected);
    let pruned = tree.nodes.iter().filter(|node| node.is_pruned()).count();
    assert_eq!(pruned, 6, "from the beaten one on");
    assert_eq!(small().nodes[1].short(), "", "what goes on needs no words");
    assert_eq!([-1.234, -0.001, 0.0, f64::NEG_INFINITY].map(decimal), ["−1.23", "0.00", "0.00", "−∞"]);
    assert_eq!([0.0, -0.7, -9.0].map(probability), ["1.00", "0.50", "<0.01"]);
}

#[test]
fn nodes_have_places_of_their_own_and_lines_do_not_cross() {
    let trees = (1..6).flat_map(|beam| (1..20).map(move |seed| wide(beam * 2, 3 + 2 * seed, seed)));
    for tree in all().into_iter().chain(trees) {
        for pruned in [true, false] {
            let layout = Layout::new(&tree, pruned);
            let places: Vec<(usize, usize)> = tree
                .nodes
                .iter()
                .zip(&layout.rows)
                .filter_map(|(node, row)| Some((node.step, (*row)?)))
                .collect();
            assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "{}", tree.title);
            for (node, row) in tree.nodes.iter().zip(&layout.rows) {
                assert!(node.rank != Some(0) || *row == Some(0), "the best result is a straight line");
                assert_eq!(row.is_none(), !pruned && node.is_pruned() && !node.greedy);
            }
            // The lines behind the nodes of a step reach from a node's row to that of its last child.
            let mut reaches: Vec<(usize, usize, usize)> = Vec::new();
            for (number, row) in layout.rows.iter().enumerate() {
                let last = layout.shown(&tree, Some(number)).map(|(_, row)| row).max();
                reaches.extend(row.zip(last).map(|(row, last)| (tree.nodes[number].step, row, last)));
            }
            reaches.sort_unstable();
            let crossed = |pair: &[(usize, usize, usize)]| pair[0].0 == pair[1].0 && pair[0].2 >= pair[1].1;
            assert!(!reaches.windows(2).any(crossed), "{}", tree.title);
        }
    }
}

#[test]
fn pictures_are_well_formed_and_bounded() {
    for tree in all() {
        let picture = svg(&tree);
        assert_well_formed(&picture);
        parse(&picture).unwrap();
        let most = 20_000 + tree.nodes.len() * (1_500 + 60 * tree.steps);
        assert!(picture.len() < most, "{}: {} bytes", tree.title, picture.len());
        assert_eq!(picture.matches("class=\"node ").count(), tree.nodes.len());
        assert!(png(&tree, 0.5).unwrap().starts_with(b"\x89PNG"), "{}", tree.title);
    }
    assert!(png(&wide(12, 60, 5), 3.0).unwrap().starts_with(b"\x89PNG"), "drawn smaller");
    for (tree, scale) in [(small(), f32::NAN), (small(), 0.0), (wide(60, 120, 6), 2.0)] {
        assert!(matches!(png(&tree, scale), Err(crate::raster::PngError::Size { .. })), "{scale}");
    }
}

#[test]
fn a_picture_shows_tokens_numbers_and_reasons() {
    let picture = svg(&small());
    for text in [
        "the cat → il gatto",
        "beam of 2: il gatto (score −0.55, log p −1.10)",
        "greedy search: un gatto (score −1.10, log p −2.20)",
        "step 3",
        "p 0.45 · −0.80",
        "beaten by 0.20",
        "too short",
        "left open",
        "greedy alone",
    ] {
        assert!(picture.contains(&format!(">{text}<")), "{text} in {picture}");
    }
    let hint = "<title>un cane\nlog p of the token −1.30, of all −2.00, score −1.30\nIt was pruned: its log p was 0.20 \
                short of the last candidate that got a place.</title>";
    assert!(picture.contains(hint), "{picture}");
    let hostile = svg(&hostile());
    assert!(hostile.contains(">机器翻译<") && hostile.contains(">\u{2068}قطة!\u{2069}<"), "{hostile}");
    assert!(hostile.contains("&lt;/script&gt;") && hostile.contains(">∅<"));
}

/// The data that a browser would read from the page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_holds_stories_and_two_views_of_each_tree() {
    let page = html(&[small(), all_fates()]);
    assert_eq!(page.matches("data-kind=\"whole\"").count(), 2);
    assert_eq!(page.matches("data-kind=\"kept\"").count(), 2);
    assert_eq!(page.matches("data-kind=\"whole\">").count(), 1, "one is seen first");
    let data = data(&page);
    let tree = &data["trees"][0];
    assert_eq!(tree["title"], "the cat → il gatto");
    let names: Vec<&str> =
        tree["paths"].as_array().unwrap().iter().map(|path| path["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["number 1", "greedy search"]);
    assert_eq!(tree["paths"][0]["nodes"], serde_json::json!([1, 3, 7]));
    let cane = &tree["nodes"][5];
    assert_eq!(
        (cane["text"].as_str(), cane["sum"].as_str(), cane["parent"].as_u64()),
        (Some("cane"), Some("−2.00"), Some(0))
    );
    assert_eq!(data["trees"][1]["paths"].as_array().unwrap().len(), 2);
}

#[test]
fn a_page_runs_nothing_but_its_script() {
    let (page, quiet) = (html(&[hostile()]), html(&[small()]));
    for way_out in ["</script", "<!--", "<img", "<script"] {
        assert_eq!(page.matches(way_out).count(), quiet.matches(way_out).count(), "{way_out}");
    }
    assert!(page.contains("&lt;!--{{drawings}}"), "what is put in is not searched again");
    for page in [&page, &quiet] {
        assert!(page.contains("default-src 'none'; script-src 'sha256-"));
        // A style of its own would be refused by the page's policy.
        assert!(!page.contains(" style=\"") && page.matches("<style").count() == 1);
        let known = page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
        assert_eq!(page.matches("http").count(), known, "no address but the name of SVG");
    }
    assert_eq!(data(&page)["trees"][0]["nodes"][0]["text"], "</script><img src=x onerror=alert(1)>");
}

#[test]
fn a_terminal_shows_the_best_path_as_a_straight_line() {
    let expected = "\
the cat → il gatto
beam of 2: il gatto (score −0.55, log p −1.10)
greedy search: un gatto (score −1.10, log p −2.20)

step                p    log p
     ● start
  1  ┠─◆ un      0.50    −0.70  greedy
  2  ┃ ├─× cane  0.27    −2.00  beaten by 0.20
  2  ┃ ◆ gatto   0.33    −1.80  overtaken; greedy
  3  ┃ ◆ ⟨/s⟩    0.67    −2.20  greedy alone
  1  ┠─× lo      0.05    −3.00  beaten by 2.20
  1  ● il        0.45    −0.80
  2  ┠─× ⟨/s⟩    0.14    −2.80  too short
  2  ● gatto     0.90    −0.90
  3  ┠─○ dorme   0.15    −2.80  left open
  3  ● ⟨/s⟩      0.82    −1.10  ended, number 1

● best ◆ greedy ○ kept × pruned
";
    assert_eq!(terminal(&small(), 80, Colours::None), expected);
}

/// Without what sets colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn a_terminal_is_never_too_narrow() {
    for tree in all() {
        for width in [0, 32, 40, 57, 80, 100, 200] {
            let drawing = terminal(&tree, width, Colours::None);
            for line in drawing.lines() {
                assert!(line.width() <= width.max(32), "{width}: {line:?}");
            }
            assert!(!drawing.contains('\u{1b}'));
            let candidates = drawing.lines().filter(|line| line.trim_start().starts_with(char::is_numeric));
            assert!(candidates.count() >= tree.nodes.len(), "{drawing}");
            for colours in [Colours::Indexed, Colours::True] {
                let coloured = terminal(&tree, width, colours);
                let trimmed: Vec<String> =
                    plain(&coloured).lines().map(|line| line.trim_end().to_owned()).collect();
                assert_eq!(trimmed, drawing.lines().collect::<Vec<_>>(), "colours change no letter");
            }
        }
    }
}
