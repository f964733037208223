//! Writes trees of every kind into a directory, to look at and for the browser test:
//!
//! ```text
//! cargo run --release -p gatto-inspect --example tree_gallery -- DIRECTORY
//! ```

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use gatto_inspect::heatmap::Colours;
use gatto_inspect::tree::{Greedy, Output, Record, Tree, TreeError, html, png, svg, terminal};
use gatto_search::{Beam, Logits, Normalisation, Ranked, Step, Wanted, beam_search};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let gallery = gallery()?;
    for (name, tree) in &gallery {
        let file = |ending: &str| directory.join(format!("{name}.{ending}"));
        fs::write(file("html"), html(std::slice::from_ref(tree)))?;
        fs::write(file("svg"), svg(tree))?;
        fs::write(file("png"), png(tree, 1.5)?)?;
        fs::write(file("txt"), terminal(tree, 100, Colours::None))?;
        fs::write(file("ansi"), terminal(tree, 100, Colours::True))?;
    }
    let all: Vec<Tree> = gallery.into_iter().map(|(_, tree)| tree).collect();
    fs::write(directory.join("trees.html"), html(&all))?;
    Ok(())
}

const ITALIAN: &str =
    "⟨/s⟩ il la un gatto cane donna dorme mangia è sul nel tavolo giardino grande piccolo e ma";

fn gallery() -> Result<Vec<(&'static str, Tree)>, TreeError> {
    let beam =
        |size: usize| Beam { size, normalisation: Normalisation::Wu(0.6), trace: Some(3), ..Beam::default() };
    let wanted = |min_length, max_length| Wanted { min_length, max_length, ..Wanted::default() };
    let several = Beam { n_best: 3, no_repeat_ngram: 2, ..beam(4) };
    let groups = Beam { groups: 2, diversity: 1.0, ..beam(4) };
    let phrases =
        Wanted { phrases: vec![vec![4, 9].into()], never: vec![vec![7]], prefix: vec![1], ..wanted(3, 8) };
    let hostile = "⟨/s⟩ </script><img/src=x/onerror=window.harmed=1> <!--{{drawings}} ]]>&amp;\"'` \u{1b}[31m\u{202e}abc \
                   __proto__ 👩\u{200d}👩\u{200d}👧 antidisestablishmentarianism";
    Ok(vec![
        ("tree_two", drawn("A beam of two", ITALIAN, 7, &wanted(4, 12), &beam(2))?),
        ("tree_five", drawn("A beam of five", ITALIAN, 1, &wanted(4, 12), &beam(5))?),
        (
            "tree_several",
            drawn("Three results, and no pair of words twice", ITALIAN, 3, &wanted(5, 12), &several)?,
        ),
        ("tree_groups", drawn("Two groups", ITALIAN, 2, &wanted(3, 7), &groups)?),
        ("tree_phrases", drawn("A phrase that must appear", ITALIAN, 4, &phrases, &beam(4))?),
        ("tree_long", drawn("Forty steps with a beam of ten", ITALIAN, 14, &wanted(34, 44), &beam(10))?),
        ("tree_greedy", drawn("Greedy search alone", ITALIAN, 7, &wanted(4, 8), &beam(1))?),
        (
            "tree_right_to_left",
            drawn(
                "القطة على الطاولة! → החתול על השולחן!",
                "⟨/s⟩ القطة الصغيرة تنام على الطاولة (الخشبية) اليوم! החתול",
                5,
                &wanted(4, 6),
                &beam(3),
            )?,
        ),
        (
            "tree_chinese",
            drawn("图书馆", "⟨/s⟩ 彼ら は 図書館 で 機械 翻訳 を 学ぶ 。", 5, &wanted(5, 8), &beam(3))?,
        ),
        ("tree_hostile", drawn("<script>window.harmed=1</script>", hostile, 2, &wanted(3, 5), &beam(4))?),
    ])
}

/// What a search over made-up probabilities considers.
fn drawn(title: &str, words: &str, seed: u32, wanted: &Wanted, beam: &Beam) -> Result<Tree, TreeError> {
    let words: Vec<&str> = words.split(' ').collect();
    let model = Dreamt { vocabulary: words.len(), seed };
    let wanted = std::slice::from_ref(wanted);
    let searched = beam_search(&model, wanted, beam).remove(0);
    let greedy = Beam { size: 1, groups: 1, n_best: 1, trace: None, ..beam.clone() };
    let greedy = beam_search(&model, wanted, &greedy).remove(0).best.remove(0);
    let tokens = |ranked: &Ranked| -> Vec<u32> {
        let written = &ranked.written.hypothesis;
        let all = wanted[0].prefix.iter().chain(&written.tokens).copied();
        all.chain(written.finished.then_some(0)).collect()
    };
    let output = |ranked: &Ranked| Output {
        text: tokens(ranked)
            .iter()
            .filter(|&&token| token > 0)
            .map(|&token| words[token as usize])
            .collect::<Vec<_>>()
            .join(" "),
        log_probability: log_probabilities(ranked).iter().copied().map(f64::from).sum(),
        score: ranked.score,
    };
    let followed = tokens(&greedy).into_iter().zip(log_probabilities(&greedy)).collect();
    let record = Record {
        title: title.to_owned(),
        beam: beam.size,
        results: searched.best.iter().map(output).collect(),
        greedy: Some(Greedy { output: output(&greedy), tokens: followed }),
        steps: searched.trace,
    };
    Tree::new(record, |token| words[token as usize].to_owned())
}

fn log_probabilities(ranked: &Ranked) -> Vec<f32> {
    [ranked.written.prompt.as_slice(), &ranked.written.hypothesis.log_probabilities].concat()
}

/// A model that has learnt nothing, but has its opinions: each row's state is a number made of what it has read.
struct Dreamt {
    vocabulary: usize,
    seed: u32,
}

impl Step for Dreamt {
    type State = Vec<u32>;

    fn start(&self) -> (Vec<u32>, u32) {
        (vec![self.seed], u32::MAX)
    }

    fn step(&self, tokens: &[u32], state: Vec<u32>) -> (Logits, Vec<u32>) {
        let state: Vec<u32> =
            state.iter().zip(tokens).map(|(&before, &token)| mixed(before ^ token)).collect();
        let score = |row: u32, token: usize| {
            let noise = mixed(row ^ (token as u32 + 1).wrapping_mul(0x9e37_79b9)) as f32 / u32::MAX as f32;
            7.0 * noise.powi(3)
        };
        let scores = state.iter().flat_map(|&row| (0..self.vocabulary).map(move |token| score(row, token)));
        (Logits::new(scores.collect(), self.vocabulary), state)
    }

    fn select(&self, state: Vec<u32>, rows: &[usize]) -> Vec<u32> {
        rows.iter().map(|&row| state[row]).collect()
    }

    fn end(&self) -> u32 {
        0
    }

    fn forbidden(&self) -> &[u32] {
        &[]
    }
}

fn mixed(number: u32) -> u32 {
    let number = (number ^ (number >> 16)).wrapping_mul(0x85eb_ca6b);
    let number = (number ^ (number >> 13)).wrapping_mul(0xc2b2_ae35);
    number ^ (number >> 16)
}
