//! General categories of Unicode, from the tables of regular expressions.

use regex_syntax::hir::{Class, HirKind};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Those that metrics ask for.
pub(crate) struct Categories {
    pub(crate) punctuation: Category,
    pub(crate) symbol: Category,
    pub(crate) number: Category,
}

pub(crate) static CATEGORIES: LazyLock<Categories> = LazyLock::new(|| Categories {
    punctuation: Category::new(r"\p{P}"),
    symbol: Category::new(r"\p{S}"),
    number: Category::new(r"\p{N}"),
});

/// A set of characters: a table for ASCII, ranges in order for the rest.
pub(crate) struct Category {
    ascii: [bool; 128],
    ranges: Vec<(char, char)>,
}

impl Category {
    /// The characters of a class of regular expressions; none if it is not a class.
    fn new(class: &str) -> Self {
        let mut ranges = Vec::new();
        if let Ok(parsed) = regex_syntax::parse(class)
            && let HirKind::Class(Class::Unicode(class)) = parsed.kind()
        {
            ranges.extend(class.iter().map(|range| (range.start(), range.end())));
        }
        let mut category = Self { ascii: [false; 128], ranges };
        category.ascii = std::array::from_fn(|code| category.finds(code as u8 as char));
        category
    }

    pub(crate) fn has(&self, character: char) -> bool {
        match self.ascii.get(character as usize) {
            Some(has) => *has,
            None => self.finds(character),
        }
    }

    fn finds(&self, character: char) -> bool {
        let beside = |&(start, end): &(char, char)| match (start > character, end < character) {
            (true, _) => Ordering::Greater,
            (_, true) => Ordering::Less,
            _ => Ordering::Equal,
        };
        self.ranges.binary_search_by(beside).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_told_from_symbols_and_letters() {
        let Category { ranges, .. } = &CATEGORIES.punctuation;
        let is_punctuation = |character| CATEGORIES.punctuation.has(character);
        assert!("!\"#%&'()*,-./:;?@[\\]_{}«—…。、؟।".chars().all(is_punctuation));
        assert!(!"$+<=>^`|~€°😀aé字ा\u{301} 0½".chars().any(is_punctuation));
        // As many as Unicode 17 has, or more.
        let count = ranges.iter().map(|(start, end)| *end as u32 - *start as u32 + 1).sum::<u32>();
        assert!(count >= 855, "{count}");
    }
}
