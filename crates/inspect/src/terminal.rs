//! What every drawing in a terminal needs: its colours, and lines that end where their text ends.

/// Red, green and blue.
pub(crate) type Colour = [u8; 3];

/// Which colours the terminal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// None: shades and numbers. For files, pipes and `NO_COLOR`.
    None,
    /// A palette of 256.
    Indexed,
    /// Red, green and blue, eight bits each.
    True,
}

/// Narrower terminals are written to as if they were this wide.
pub(crate) const NARROWEST: usize = 32;

/// Adds a line, without the spaces at its end.
pub(crate) fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

/// The nearest colour of the palette of 256: one of its cube of 6 × 6 × 6, or of its 24 greys.
pub(crate) fn indexed(colour: Colour) -> u8 {
    let distance = |other: Colour| -> i32 {
        colour.iter().zip(other).map(|(a, b)| (i32::from(*a) - i32::from(b)).pow(2)).sum()
    };
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let cube = (16..=231).map(|index: u8| {
        let place = index - 16;
        (index, [place / 36, place / 6 % 6, place % 6].map(|level| LEVELS[usize::from(level)]))
    });
    let greys = (232..=255).map(|index: u8| (index, [8 + 10 * (index - 232); 3]));
    cube.chain(greys).min_by_key(|(_, known)| distance(*known)).map_or(0, |(index, _)| index)
}
