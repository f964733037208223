//! Words and white space as Python sees them, since sacreBLEU's results depend on both.

/// Python's `str.isspace`: Unicode white space, and the four information separators.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// Python's `str.split()`: the words between stretches of white space, none of them empty.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Python's `str.rstrip()`.
pub(super) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Words one space apart.
pub(super) fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in words(text) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_whatever_python_calls_space() {
        let parted = "a\u{1c}b\u{a0}c\u{3000}d\u{200b}e \t\n f\u{85}";
        assert_eq!(words(parted).collect::<Vec<_>>(), ["a", "b", "c", "d\u{200b}e", "f"]);
        assert_eq!(trim_end("a \u{1f}\u{2028}"), "a");
        assert_eq!(joined("  a \u{2003} b "), "a b");
    }
}
