//! Which characters are punctuation.

use regex_syntax::hir::{Class, ClassUnicodeRange, HirKind};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Whether a character is of one of the Unicode categories P: Pc, Pd, Ps, Pe, Pi, Pf and Po. Signs such as `+`
/// and `€` are not: they are symbols.
pub(crate) fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation() && !"$+<=>^`|~".contains(character);
    }
    let place = |range: &ClassUnicodeRange| match character {
        _ if range.start() > character => Ordering::Greater,
        _ if range.end() < character => Ordering::Less,
        _ => Ordering::Equal,
    };
    RANGES.binary_search_by(place).is_ok()
}

/// All punctuation, in order, from the tables of regular expressions.
static RANGES: LazyLock<Vec<ClassUnicodeRange>> = LazyLock::new(|| {
    let parsed = regex_syntax::parse(r"\p{P}");
    match parsed.as_ref().map(|parsed| parsed.kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => class.ranges().to_vec(),
        _ => Vec::new(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_told_from_symbols_and_letters() {
        assert!("!\"#%&'()*,-./:;?@[\\]_{}«—…。、؟।".chars().all(is_punctuation));
        assert!(!"$+<=>^`|~€°😀aé字ा\u{301} 0½".chars().any(is_punctuation));
        // As many as Unicode 17 has, or more.
        let count = RANGES.iter().map(|range| range.end() as u32 - range.start() as u32 + 1).sum::<u32>();
        assert!(count >= 855, "{count}");
    }
}
