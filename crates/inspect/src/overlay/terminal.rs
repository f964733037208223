//! An overlay as text: the image once per word in half-blocks of two colours, several of them side by side; without
//! colours, a digit for each region.

use gatto_data::images::{Filter, Grid, Image};

use super::light::{self, Shade, glow, part};
use super::maps::Maps;
use super::picture::told;
use super::sheet::short;
use super::{Overlay, Shown, most};
use crate::label::{Align, fit};
use crate::terminal::{Colour, Colours, NARROWEST, indexed, line};

/// The widest and the narrowest tile, and the highest, in columns and lines.
const WIDEST_TILE: usize = 24;
const NARROWEST_TILE: usize = 10;
const HIGHEST_TILE: usize = 20;
/// More rows or columns of digits are put together.
const MOST_DIGITS: usize = 16;
/// Tiles of few digits have at least the columns that their notes need.
const NARROWEST_DIGITS: usize = 18;
const GAP: usize = 2;

/// Draws the image and then each word's focus in at most `width` columns (32 at least), in as many lines of tiles as
/// are needed. Without colours there is no image: a digit from 1 to 9 for each region is its part of the largest weight
/// of the word (or of all words), and a dot stands for nothing.
pub fn terminal(overlay: &Overlay, width: usize, colours: Colours, shown: Shown) -> String {
    let view = overlay.view(shown);
    let pictures = view.words.iter().zip(view.limits(shown.alike)).map(|(focus, limit)| {
        let agreement = overlay.agreement(focus).map(told).unwrap_or_default();
        Picture {
            name: focus.word.clone(),
            beside: focus
                .probability
                .map(|value| format!("{:.2}", value.clamp(0.0, 1.0)))
                .unwrap_or_default(),
            below: format!("most {} {agreement}", short(focus.most())),
            weights: &focus.weights,
            limit,
        }
    });
    let head = [overlay.title.as_str(), &view.name];
    let most = if shown.alike { "the most" } else { "the most of the word" };
    draw(head, &overlay.image, overlay.grid, &pictures.collect::<Vec<_>>(), most, width, colours)
}

/// Draws the maps over all heads; or, if there are none, the heads of the last layer.
pub fn maps_terminal(maps: &Maps, width: usize, colours: Colours) -> String {
    let drawn = if maps.large.is_empty() { maps.heads.last().unwrap_or(&maps.large) } else { &maps.large };
    let pictures = drawn.iter().map(|map| Picture {
        name: map.name.clone(),
        beside: String::new(),
        below: format!("most {}", short(most(&map.weights))),
        weights: &map.weights,
        limit: most(&map.weights),
    });
    let pictures: Vec<Picture> = pictures.collect();
    draw([&maps.title, ""], &maps.image, maps.grid, &pictures, "the most of each map", width, colours)
}

/// What is drawn as one tile.
struct Picture<'a> {
    name: String,
    beside: String,
    below: String,
    weights: &'a [f32],
    limit: f32,
}

/// A tile: lines that all fill the same number of columns.
struct Tile {
    lines: Vec<String>,
}

fn draw(
    head: [&str; 2],
    image: &Image,
    grid: Grid,
    pictures: &[Picture],
    most: &str,
    width: usize,
    colours: Colours,
) -> String {
    let width = width.max(NARROWEST);
    let mut text = String::new();
    for part in head.into_iter().filter(|part| !part.is_empty()) {
        line(&mut text, &fit(part, width, Align::Left));
    }
    let (tiles, wide) = match colours {
        Colours::None => digits(grid, pictures, width),
        _ => blocks(image, grid, pictures, width, colours),
    };
    let across = ((width + GAP) / (wide + GAP)).max(1);
    for tiles in tiles.chunks(across) {
        line(&mut text, "");
        for number in 0..tiles.iter().map(|tile| tile.lines.len()).max().unwrap_or(0) {
            let lines = tiles.iter().map(|tile| tile.lines.get(number).map_or("", String::as_str));
            line(&mut text, &lines.collect::<Vec<_>>().join(&" ".repeat(GAP)));
        }
    }
    line(&mut text, "");
    line(&mut text, &legend(most, width, colours));
    text
}

/// The name of a tile and what stands beside it, in so many columns.
fn headed(picture: &Picture, wide: usize) -> String {
    let beside = picture.beside.len() + usize::from(!picture.beside.is_empty());
    let room = wide.saturating_sub(beside);
    let space = if beside > 0 { " " } else { "" };
    format!("{}{space}{}", fit(&picture.name, room, Align::Left), picture.beside)
}

/// Tiles of half-blocks: the upper half of a character has its own colour, the lower half that of its ground.
fn blocks(
    image: &Image,
    grid: Grid,
    pictures: &[Picture],
    width: usize,
    colours: Colours,
) -> (Vec<Tile>, usize) {
    let proportion = image.height() as f64 / image.width() as f64;
    let wide = ((width + GAP) / 4 - GAP).clamp(NARROWEST_TILE, WIDEST_TILE);
    let most = 2.0 * HIGHEST_TILE as f64;
    let wide = (wide as f64).min(most / proportion).max(NARROWEST_TILE as f64) as usize;
    // An even number: two rows of pixels make a line.
    let high = ((wide as f64 * proportion / 2.0).round() as usize).clamp(1, HIGHEST_TILE) * 2;
    let small = image.coloured().resized(high, wide, Filter::Triangle).unwrap_or_else(|_| image.coloured());
    let (shade, grey) = (Shade::of(image), small.grey());
    let rows = |pixels: &[Colour]| -> Vec<String> {
        pixels.chunks(2 * wide).map(|pair| painted(pair, wide, colours)).collect()
    };
    let own: Vec<Colour> =
        small.bytes().chunks_exact(3).map(|bytes| [bytes[0], bytes[1], bytes[2]]).collect();
    let mut tiles = vec![Tile { lines: [vec![fit("image", wide, Align::Left)], rows(&own)].concat() }];
    // Filled, so that tiles to the right stand where they should.
    tiles[0].lines.push(" ".repeat(wide));
    for picture in pictures {
        let weights = sampled(picture.weights, grid, [high, wide]);
        let lit = |(&grey, weight): (&u8, f32)| {
            let light = shade.light(grey);
            glow(part(weight, picture.limit)).map(|channel| (f64::from(channel) * light).round() as u8)
        };
        let lit: Vec<Colour> = grey.bytes().iter().zip(weights).map(lit).collect();
        let lines = vec![headed(picture, wide)];
        let below = vec![fit(picture.below.trim_end(), wide, Align::Left)];
        tiles.push(Tile { lines: [lines, rows(&lit), below].concat() });
    }
    (tiles, wide)
}

/// Two rows of pixels as one line.
pub(crate) fn painted(pair: &[Colour], wide: usize, colours: Colours) -> String {
    let (upper, lower) = pair.split_at(wide.min(pair.len()));
    let mut text = String::new();
    let mut last = None;
    for (&top, &bottom) in upper.iter().zip(lower) {
        if last != Some((top, bottom)) {
            text += &match colours {
                Colours::True => {
                    let ([r, g, b], [red, green, blue]) = (top, bottom);
                    format!("\x1b[38;2;{r};{g};{b};48;2;{red};{green};{blue}m")
                }
                _ => format!("\x1b[38;5;{};48;5;{}m", indexed(top), indexed(bottom)),
            };
            last = Some((top, bottom));
        }
        text.push('▀');
    }
    text + "\x1b[0m"
}

/// Tiles of digits.
fn digits(grid: Grid, pictures: &[Picture], width: usize) -> (Vec<Tile>, usize) {
    let columns = grid.columns.min(MOST_DIGITS).min(width / 2);
    let rows = grid.rows.min(MOST_DIGITS);
    let wide = (2 * columns - 1).max(NARROWEST_DIGITS);
    let tile = |picture: &Picture| {
        let weights = pooled(picture.weights, grid, [rows, columns]);
        let row = |row: &[f32]| {
            let digits: Vec<String> = row.iter().map(|&weight| digit(part(weight, picture.limit))).collect();
            fit(&digits.join(" "), wide, Align::Left)
        };
        let lines = vec![headed(picture, wide)];
        let below = vec![fit(picture.below.trim_end(), wide, Align::Left)];
        Tile { lines: [lines, weights.chunks(columns).map(row).collect(), below].concat() }
    };
    (pictures.iter().map(tile).collect(), wide)
}

/// A part of the largest weight in ninths.
fn digit(part: f64) -> String {
    match (part * 9.0).round() as u8 {
        0 => "·".to_owned(),
        digit => digit.to_string(),
    }
}

/// The weights of so many rows and columns of pixels: between regions where pixels are more, else the largest.
fn sampled(weights: &[f32], grid: Grid, [high, wide]: [usize; 2]) -> Vec<f32> {
    if high >= grid.rows && wide >= grid.columns {
        return light::spread(weights, grid, [high, wide]);
    }
    pooled(weights, grid, [high, wide])
}

/// The largest weight of the regions that fall into each of so many rows and columns.
fn pooled(weights: &[f32], grid: Grid, [rows, columns]: [usize; 2]) -> Vec<f32> {
    let range = |index: usize, parts: usize, count: usize| {
        let first = index * count / parts;
        first..((index + 1) * count).div_ceil(parts).max(first + 1).min(count)
    };
    let mut pooled = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let lines =
                range(row, rows, grid.rows).map(|line| &weights[line * grid.columns..][..grid.columns]);
            let cells = lines.map(|line| most(&line[range(column, columns, grid.columns)]));
            pooled.push(cells.fold(0.0, f32::max));
        }
    }
    pooled
}

/// What the digits or colours mean.
fn legend(most: &str, width: usize, colours: Colours) -> String {
    if colours == Colours::None {
        return fit(&format!("· nothing, 9 {most}"), width, Align::Left);
    }
    let steps: Vec<Colour> = (0..=8).map(|step| glow(f64::from(step) / 8.0)).collect();
    let bar: String = steps.iter().map(|&colour| painted(&[colour, colour], 1, colours)).collect();
    format!("0 {bar} {}", fit(most, width - 12, Align::Left))
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
