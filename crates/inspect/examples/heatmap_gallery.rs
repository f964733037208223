//! Writes heatmaps of every kind into a directory, to look at and for the browser test:
//!
//! ```text
//! cargo run --release -p gatto-inspect --example heatmap_gallery -- DIRECTORY
//! ```

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use gatto_inspect::heatmap::{
    Axes, Choice, Colours, Head, Heatmap, HeatmapError, Panel, Scale, Start, Token, html, html_of_charts,
    png, svg, terminal,
};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let gallery = gallery()?;
    for (name, heatmap) in &gallery {
        write(&directory, name, heatmap)?;
    }
    for Page { name, charts, start } in of_heads()? {
        write(&directory, name, &charts[0])?;
        fs::write(directory.join(format!("{name}.html")), html_of_charts(&[charts], start))?;
    }
    let all: Vec<Heatmap> = gallery.into_iter().map(|(_, heatmap)| heatmap).collect();
    fs::write(directory.join("all.html"), html(&all))?;
    Ok(())
}

fn write(directory: &Path, name: &str, heatmap: &Heatmap) -> Result<(), Box<dyn Error>> {
    let file = |ending: &str| directory.join(format!("{name}.{ending}"));
    fs::write(file("html"), html(std::slice::from_ref(heatmap)))?;
    fs::write(file("svg"), svg(heatmap))?;
    fs::write(file("png"), png(heatmap, 1.5)?)?;
    fs::write(file("txt"), terminal(heatmap, 100, Colours::None))?;
    fs::write(file("ansi"), terminal(heatmap, 100, Colours::True))?;
    Ok(())
}

/// The attentions of a Transformer, and what their page shows first.
struct Page {
    name: &'static str,
    charts: Vec<Heatmap>,
    start: Start,
}

fn of_heads() -> Result<Vec<Page>, HeatmapError> {
    let subwords = subwords()?;
    let (source, target) = (subwords.source().to_vec(), subwords.target().to_vec());
    let mut read = vec![Token::end("<s>")];
    read.extend_from_slice(&target[..target.len() - 1]);
    let small = heads("Three attentions", 2, 4, [source, target, read])?;
    let long = eighty()?;
    let axes = [&long.source()[..30], &long.target()[..28], &long.target()[..28]].map(<[Token]>::to_vec);
    let choice = Choice { layer: Some(5), head: Head::Number(2) };
    let many = heads("Six layers of eight heads", 6, 8, axes)?;
    Ok(vec![
        Page { name: "heads", charts: small, start: Start::default() },
        Page {
            name: "many_heads",
            charts: many,
            start: Start { chart: 1, choice, all: true, ..Start::default() },
        },
    ])
}

/// Cross-attention, and both kinds of self-attention.
fn heads(
    title: &str,
    layers: usize,
    heads: usize,
    [source, target, read]: [Vec<Token>; 3],
) -> Result<Vec<Heatmap>, HeatmapError> {
    let of = |columns: usize, rows: usize, future: bool| -> Vec<Vec<Vec<Vec<f32>>>> {
        let matrix = |seed: usize| shifted(columns, rows, seed, future);
        let layer = |layer: usize| (0..heads).map(|head| matrix(layer * heads + head)).collect();
        (0..layers).map(layer).collect()
    };
    let (sources, targets) = (source.len(), target.len());
    let probabilities: Vec<f32> = (0..targets).map(|row| 1.0 - 0.3 * noise(row)).collect();
    let cross = of(sources, targets, true);
    let cross = Heatmap::of_heads(title, "cross-attention", source.clone(), target.clone(), cross)?;
    let encoder = of(sources, sources, true);
    let encoder = Heatmap::of_heads(title, "encoder self-attention", source.clone(), source, encoder)?;
    let decoder = of(read.len(), targets, false);
    let decoder = Heatmap::of_heads(title, "decoder self-attention", read, target, decoder)?;
    Ok(vec![
        cross.with_probabilities(probabilities.clone())?,
        encoder.with_axes(Axes { columns: "source", rows: "source" }),
        decoder.with_probabilities(probabilities)?.with_axes(Axes { columns: "read", rows: "written" }),
    ])
}

/// A diagonal that is moved and blurred, another for each head; without a future, nothing above it.
fn shifted(columns: usize, rows: usize, seed: usize, future: bool) -> Vec<Vec<f32>> {
    let shift = 4.0 * noise(seed) - 2.0;
    let width = 0.4 + 3.0 * noise(seed + 50).powi(3);
    let row = |row: usize| {
        let middle = row as f32 * columns as f32 / rows as f32 + shift;
        let weight = |column: usize| match future || column <= row {
            true => (-((column as f32 - middle) / width).powi(2)).exp() + 0.02 * noise(seed + row * column),
            false => 0.0,
        };
        let weights: Vec<f32> = (0..columns).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum.max(f32::MIN_POSITIVE)).collect()
    };
    (0..rows).map(row).collect()
}

fn gallery() -> Result<Vec<(&'static str, Heatmap)>, HeatmapError> {
    Ok(vec![
        ("five", five()?),
        ("eighty", eighty()?),
        ("subwords", subwords()?),
        ("right_to_left", right_to_left()?),
        (
            "chinese",
            attention(
                "他们在图书馆学习 → 図書館で",
                "他们 在 图书馆 学习 机器 翻译 。",
                "彼ら は 図書館 で 機械 翻訳 を 学ぶ 。",
            )?,
        ),
        ("explained", explained()?),
        ("explained_long", explained_long()?),
        ("hostile", hostile()?),
    ])
}

/// Each word as a token.
fn words(text: &str) -> Vec<Token> {
    text.split_whitespace().enumerate().map(|(index, word)| Token::piece(word, index)).collect()
}

/// Numbers from 0 to 1 without rhyme or reason, the same in every run.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u32).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    (mixed.wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 24) as f32
}

/// A soft diagonal with noise: rows sum to one, as those of attention do.
fn diagonal(sources: usize, targets: usize) -> Vec<Vec<f32>> {
    let row = |row: usize| {
        let middle = (row as f32 + 0.5) * sources as f32 / targets as f32 - 0.5 + 2.0 * noise(row) - 1.0;
        let weight = |column: usize| {
            (-(column as f32 - middle).powi(2)).exp() + 0.04 * noise(row * sources + column).powi(4)
        };
        let weights: Vec<f32> = (0..sources).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    (0..targets).map(row).collect()
}

/// Effects for and against, strongest near the diagonal.
fn effects(sources: usize, targets: usize, strength: f32) -> Vec<Vec<f32>> {
    let mut values = diagonal(sources, targets);
    for (index, value) in values.iter_mut().flatten().enumerate() {
        *value = strength * (*value - 0.3 * noise(index + 7));
    }
    values
}

fn panel(name: &str, scale: Scale, values: Vec<Vec<f32>>) -> Panel {
    Panel { name: name.to_owned(), scale, values }
}

fn attention(title: &str, source: &str, target: &str) -> Result<Heatmap, HeatmapError> {
    let (source, target) = (words(source), words(target));
    let values = diagonal(source.len(), target.len());
    Heatmap::new(title, source, target, vec![panel("attention", Scale::Share, values)])
}

fn five() -> Result<Heatmap, HeatmapError> {
    let values = vec![
        vec![0.9, 0.05, 0.05, 0.0, 0.0],
        vec![0.05, 0.85, 0.05, 0.05, 0.0],
        vec![0.0, 0.1, 0.8, 0.05, 0.05],
        vec![0.0, 0.0, 0.1, 0.7, 0.2],
        vec![0.0, 0.02, 0.03, 0.1, 0.85],
    ];
    let panels = vec![panel("attention", Scale::Share, values)];
    Heatmap::new("the cat is here now", words("the cat is here now"), words("il gatto è qui ora"), panels)?
        .with_probabilities(vec![0.98, 0.95, 0.91, 0.4, 0.77])
}

fn eighty() -> Result<Heatmap, HeatmapError> {
    let source = "it was the best of times it was the worst of times it was the age of wisdom it was the age of \
        foolishness it was the epoch of belief it was the epoch of incredulity it was the season of Light it was the \
        season of Darkness it was the spring of hope it was the winter of despair we had everything before us we had \
        nothing before us we were all going direct to Heaven we were all";
    let target = "era il migliore dei tempi era il peggiore dei tempi era il secolo della saggezza era il secolo \
        della stoltezza era l' epoca della fede era l' epoca dell' incredulità era la stagione della Luce era la \
        stagione delle Tenebre era la primavera della speranza era l' inverno della disperazione avevamo tutto \
        davanti a noi non avevamo nulla davanti a noi eravamo tutti diretti al Cielo eravamo tutti diretti in senso \
        contrario insomma tutto il resto era già stato detto";
    attention("Eighty tokens on each side", source, target)
}

fn subwords() -> Result<Heatmap, HeatmapError> {
    let pieces = |texts: &[(&str, usize)]| -> Vec<Token> {
        texts.iter().map(|(text, word)| Token::piece(*text, *word)).chain([Token::end("</s>")]).collect()
    };
    let source =
        pieces(&[("the", 0), ("▁un", 1), ("believ", 1), ("able", 1), ("▁cat", 2), ("▁sleep", 3), ("s", 3)]);
    let target = pieces(&[("il", 0), ("▁gatto", 1), ("▁in", 2), ("cred", 2), ("ibile", 2), ("▁dorme", 3)]);
    let values = diagonal(source.len(), target.len());
    let probabilities = (0..target.len()).map(|row| 1.0 - 0.3 * noise(row)).collect();
    Heatmap::new(
        "Subwords and the end token",
        source,
        target,
        vec![panel("attention", Scale::Share, values)],
    )?
    .with_probabilities(probabilities)
}

fn right_to_left() -> Result<Heatmap, HeatmapError> {
    attention(
        "القطة على الطاولة! → החתול על השולחן!",
        "القطة الصغيرة تنام على الطاولة (الخشبية) اليوم!",
        "החתול הקטן ישן על שולחן העץ היום!",
    )
}

fn explained() -> Result<Heatmap, HeatmapError> {
    let (source, target) = (words("The cat is on the table ."), words("Il gatto è sul tavolo ."));
    let (sources, targets) = (source.len(), target.len());
    let panels = vec![
        panel("attention", Scale::Share, diagonal(sources, targets)),
        panel("gradient × input", Scale::Signed, effects(sources, targets, 0.004)),
        panel("erasure", Scale::Signed, effects(sources, targets, 3.0)),
    ];
    Heatmap::new("The cat is on the table. → Il gatto è sul tavolo.", source, target, panels)
}

fn explained_long() -> Result<Heatmap, HeatmapError> {
    let long = eighty()?;
    let (source, target) = (long.source()[..40].to_vec(), long.target()[..36].to_vec());
    let panels = vec![
        panel("attention", Scale::Share, diagonal(40, 36)),
        panel("gradient × input", Scale::Signed, effects(40, 36, 0.6)),
        panel("erasure", Scale::Signed, effects(40, 36, 12.0)),
    ];
    Heatmap::new("Three explanations of a long sentence", source, target, panels)
}

fn hostile() -> Result<Heatmap, HeatmapError> {
    let texts = [
        "</script><img src=x onerror=window.harmed=1>",
        "<!--<script>",
        "]]>&amp;\"'`${1}",
        "\u{1b}[31m\u{202e}abc",
        "a\u{2028}b",
        "  ",
        "__proto__",
        "👩\u{200d}👩\u{200d}👧",
    ];
    let tokens: Vec<Token> =
        texts.iter().enumerate().map(|(index, text)| Token::piece(*text, index)).collect();
    let values = diagonal(texts.len(), texts.len());
    let name = "<b onmouseover=window.harmed=1>attention</b>";
    Heatmap::new(
        "<script>window.harmed=1</script>",
        tokens.clone(),
        tokens,
        vec![panel(name, Scale::Share, values)],
    )
}
