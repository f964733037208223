//! Trees as one HTML file that needs nothing else: no network, no other file.
//!
//! Every tree lies in the page as two drawings, with and without what was pruned, and its stories as JSON; the script
//! only shows them.

use serde::Serialize;

use super::Tree;
use super::picture::{DARK_STYLE, For, Picture, STYLE};
use super::words::{decimal, probability};
use crate::label::{isolate, visible};
use crate::offline::Page;

const BODY: &str = include_str!("page/body.html");
const PAGE_STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 1] = [include_str!("page/page.js")];

#[derive(Serialize)]
struct PageData {
    trees: Vec<TreeData>,
}

#[derive(Serialize)]
struct TreeData {
    title: String,
    /// What can be marked: results, and greedy search.
    paths: Vec<PathData>,
    /// Whether greedy search writes the same as the best result.
    same: bool,
    groups: usize,
    nodes: Vec<NodeData>,
}

#[derive(Serialize)]
struct PathData {
    name: String,
    text: String,
    numbers: String,
    greedy: bool,
    nodes: Vec<usize>,
}

#[derive(Serialize)]
struct NodeData {
    parent: Option<usize>,
    children: Vec<usize>,
    step: usize,
    text: String,
    probability: String,
    log: String,
    sum: String,
    score: Option<String>,
    group: usize,
    story: String,
}

/// A page that shows these trees, with a chooser if there are several.
pub fn html(trees: &[Tree]) -> String {
    let style = format!("{STYLE}@media (prefers-color-scheme: dark) {{{DARK_STYLE}}}\n{PAGE_STYLE}");
    let drawings: String = trees.iter().enumerate().map(|(number, tree)| drawings(tree, number)).collect();
    let body = BODY.replacen("{{drawings}}", &drawings, 1);
    let title = match trees {
        [tree] if !tree.title.is_empty() => visible(&tree.title),
        _ => "What the search considered".to_owned(),
    };
    let data = PageData { trees: trees.iter().map(tree_data).collect() };
    Page { title: &title, style: &style, scripts: &SCRIPTS, body: &body, data: &data, plays: false }.html()
}

/// A tree with what was pruned, and without.
fn drawings(tree: &Tree, number: usize) -> String {
    let view = |pruned: bool| {
        let (kind, hidden) =
            (if pruned { "whole" } else { "kept" }, if pruned && number == 0 { "" } else { " hidden" });
        let drawing = Picture::new(tree, pruned).draw(For::Page);
        format!(
            "<div class=\"scroll view\" data-tree=\"{number}\" data-kind=\"{kind}\"{hidden}>\n{drawing}</div>\n"
        )
    };
    view(true) + &view(false)
}

fn tree_data(tree: &Tree) -> TreeData {
    let told = |name: String, output: &super::Output, greedy: bool, nodes: Vec<usize>| PathData {
        name,
        text: isolate(&visible(&output.text)),
        numbers: format!("score {}, log p {}", decimal(output.score), decimal(output.log_probability)),
        greedy,
        nodes,
    };
    let mut paths: Vec<PathData> = tree
        .results
        .iter()
        .enumerate()
        .map(|(rank, output)| told(format!("number {}", rank + 1), output, false, tree.path_of_result(rank)))
        .collect();
    if let Some(output) = tree.greedy.as_ref().filter(|_| tree.greedy_differs()) {
        let nodes = (0..tree.nodes.len()).filter(|&node| tree.nodes[node].greedy).collect();
        paths.push(told("greedy search".to_owned(), output, true, nodes));
    }
    TreeData {
        title: if tree.title.is_empty() { String::new() } else { visible(&tree.title) },
        paths,
        same: tree.summary().same,
        groups: tree.groups,
        nodes: tree.nodes.iter().map(|node| node_data(tree, node)).collect(),
    }
}

fn node_data(tree: &Tree, node: &super::Node) -> NodeData {
    NodeData {
        parent: node.parent,
        children: node.children.clone(),
        step: node.step + 1,
        text: visible(&node.text),
        probability: probability(node.log_probability),
        log: decimal(f64::from(node.log_probability)),
        sum: decimal(node.sum),
        score: node.score.map(decimal),
        group: node.group + 1,
        story: node.story(tree),
    }
}
