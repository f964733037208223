//! What a word is: the unit of word vocabularies, alignments and pictures.
//!
//! Words are separated by white space. A word that ends in an apostrophe between letters stands
//! alone (*l'amico* → `l'` `amico`), and so does every punctuation mark. [`join`] puts words back
//! together; text with single spaces and ordinary punctuation comes back as it was.

/// Byte ranges of the words of `text`, in order.
pub fn spans(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut spans = Vec::new();
    let mut start = None; // of the word under way
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        if letter.is_alphanumeric() || letter == '_' {
            start.get_or_insert(at);
            continue;
        }
        let elides = matches!(letter, '\'' | '’')
            && start.is_some()
            && letters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        match (elides, start.take()) {
            (true, Some(first)) => spans.push(first..end),
            (_, first) => {
                spans.extend(first.map(|first| first..at));
                if !letter.is_whitespace() {
                    spans.push(at..end);
                }
            }
        }
    }
    spans.extend(start.map(|first| first..text.len()));
    spans
}

/// For each of some byte ranges of `text`, in order, the number of the word that it is a part of. A
/// range without any part of a word belongs to the next word, or to the last if there is none.
pub fn holding(text: &str, ranges: impl IntoIterator<Item = std::ops::Range<usize>>) -> Vec<Option<usize>> {
    let words = spans(text);
    let last = words.len().checked_sub(1);
    let word = |range: std::ops::Range<usize>| match words.iter().position(|word| word.end > range.start) {
        Some(word) => Some(word),
        None => last,
    };
    ranges.into_iter().map(word).collect()
}

/// The words of `text`, in order.
pub fn split(text: &str) -> Vec<&str> {
    spans(text).into_iter().map(|span| &text[span]).collect()
}

/// Words as running text: no space after an elided word or an opening bracket, none before a mark
/// that closes.
pub fn join<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let mut text = String::new();
    for word in words {
        let word = word.as_ref();
        let closes =
            matches!(word, "." | "," | ";" | ":" | "!" | "?" | ")" | "]" | "}" | "»" | "”" | "…" | "%");
        let opened = text.is_empty()
            || text.ends_with(['(', '[', '{', '«', '“', '¿', '¡'])
            || (text.ends_with(['\'', '’']) && text.chars().rev().nth(1).is_some_and(char::is_alphanumeric));
        if !closes && !opened {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_part_of_a_text_knows_its_word() {
        let text = " l'amico, no ";
        //          0123456789
        let ranges = [0..1, 1..2, 2..3, 3..5, 3..8, 8..9, 9..10, 9..12, 12..13];
        let expected = [0, 0, 0, 1, 1, 2, 3, 3, 3].map(Some);
        assert_eq!(super::holding(text, ranges), expected);
        assert_eq!(super::holding("  ", [0..1, 1..2]), [None, None]);
    }

    use super::*;

    #[test]
    fn elided_words_and_marks_stand_alone() {
        assert_eq!(split("l'amico non c'è, vero?"), ["l'", "amico", "non", "c'", "è", ",", "vero", "?"]);
        assert_eq!(split("  don't  "), ["don'", "t"]);
        assert_eq!(split(""), Vec::<&str>::new());
        assert_eq!(split("'quoted' x"), ["'", "quoted", "'", "x"]);
    }

    #[test]
    fn joining_restores_ordinary_text() {
        for text in ["l'amico non c'è, vero?", "un'altra (piccola) cosa: sì!", "the cat is on the table", ""]
        {
            assert_eq!(join(split(text)), text);
        }
    }
}
