//! A text with markup: tags, comments, scripts and references to characters that are not known stay as they are, byte
//! for byte; what stands between them is translated. References are read as the characters that they stand for, and what
//! would be markup in a translation is written as references again.

use super::sentences::{Composition, Piece, sentences, split};

/// Elements whose content is no prose.
const KEPT: [&str; 5] = ["script", "style", "code", "pre", "textarea"];

/// The longest reference to a character that is looked for.
const LONGEST_REFERENCE: usize = 12;

/// References by name, the usual ones.
const NAMED: [(&str, char); 44] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("euro", '€'),
    ("pound", '£'),
    ("hellip", '…'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("agrave", 'à'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("atilde", 'ã'),
    ("auml", 'ä'),
    ("aring", 'å'),
    ("aelig", 'æ'),
    ("ccedil", 'ç'),
    ("egrave", 'è'),
    ("eacute", 'é'),
    ("ecirc", 'ê'),
    ("euml", 'ë'),
    ("igrave", 'ì'),
    ("iacute", 'í'),
    ("icirc", 'î'),
    ("ntilde", 'ñ'),
    ("ograve", 'ò'),
    ("oacute", 'ó'),
    ("ocirc", 'ô'),
    ("ouml", 'ö'),
    ("ugrave", 'ù'),
    ("uacute", 'ú'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
];

/// The pieces of a text with markup.
pub(super) fn composition(text: &str) -> Composition<'_> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let markup = markup(rest);
        if markup > 0 {
            pieces.push(Piece::Kept(&rest[..markup]));
            rest = &rest[markup..];
            continue;
        }
        let length = prose(rest);
        for sentence in sentences(&rest[..length]) {
            split(sentence, &mut pieces, decoded);
        }
        rest = &rest[length..];
    }
    Composition::new(pieces, encoded)
}

/// How many bytes of markup a text begins with.
fn markup(text: &str) -> usize {
    let bytes = text.as_bytes();
    let until = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    match bytes {
        [b'<', b'!', b'-', b'-', ..] => until("-->"),
        [b'<', b'!' | b'?', ..] => until(">"),
        [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic() => element(text),
        [b'&', ..] => reference(text).filter(|(_, known)| known.is_none()).map_or(0, |(length, _)| length),
        _ => 0,
    }
}

/// How many bytes a tag has, with the content of an element that is kept.
fn element(text: &str) -> usize {
    let tag = tag(text);
    let name: String = text[1..tag].chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    if !KEPT.contains(&name.as_str()) || text[..tag].ends_with("/>") {
        return tag;
    }
    let end = format!("</{name}");
    let behind = &text[tag..];
    let closing = behind
        .match_indices("</")
        .map(|(at, _)| at)
        .find(|&at| behind.get(at..at + end.len()).is_some_and(|found| found.eq_ignore_ascii_case(&end)));
    closing.map_or(text.len(), |at| tag + at + self::tag(&behind[at..]))
}

/// How many bytes a tag has; a `>` between quotes does not end it.
fn tag(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// How many bytes there are before the next markup; one character at least.
fn prose(text: &str) -> usize {
    let mut places = text.char_indices().skip(1).filter(|(_, c)| matches!(c, '<' | '&'));
    places.find(|&(at, _)| markup(&text[at..]) > 0).map_or(text.len(), |(at, _)| at)
}

/// A reference that a text begins with: its bytes, and its character if it is known.
fn reference(text: &str) -> Option<(usize, Option<char>)> {
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';')?;
    let name = &inner[..end];
    let known = match name.strip_prefix('#') {
        Some(number) => {
            let digits = number.strip_prefix(['x', 'X']);
            let code =
                digits.map_or_else(|| number.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok());
            // Control characters and what is no character stay as they are.
            code.and_then(char::from_u32).filter(|c| !c.is_control())
        }
        None => NAMED.iter().find(|(known, _)| *known == name).map(|&(_, c)| c),
    };
    let is_name = name.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_name && name.len() > usize::from(name.starts_with('#'))).then_some((end + 2, known))
}

/// A text with its references as characters.
fn decoded(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, character) = match reference(rest) {
            Some((length, Some(character))) => (length, character),
            _ => (1, '&'),
        };
        found.push(character);
        rest = &rest[length..];
    }
    found + rest
}

/// A text that is no markup, whatever it says.
fn encoded(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => found.push_str("&amp;"),
            '<' => found.push_str("&lt;"),
            '>' => found.push_str("&gt;"),
            '\u{a0}' => found.push_str("&nbsp;"),
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        composition(text).sentences().collect()
    }

    fn shouted(text: &str) -> String {
        let found = composition(text);
        let loud: Vec<String> = found.sentences().map(|sentence| sentence.to_uppercase()).collect();
        found.with(loud.iter().map(String::as_str))
    }

    #[test]
    fn markup_stays_and_prose_is_translated() {
        assert_eq!(shouted("<p class='a>b'>the <b>cat</b></p>"), "<p class='a>b'>THE <b>CAT</b></p>");
        assert_eq!(shouted("one<br/>two<!-- three > -->four"), "ONE<br/>TWO<!-- three > -->FOUR");
        assert_eq!(shouted("<!doctype html><h1>a</h1>"), "<!doctype html><h1>A</h1>");
        assert_eq!(shouted("<script>let a = '<b>b</b>';</SCRIPT>c"), "<script>let a = '<b>b</b>';</SCRIPT>C");
        assert_eq!(shouted("<style>p { }</style ><pre>x</pre>y"), "<style>p { }</style ><pre>x</pre>Y");
        assert_eq!(read("<a href=\"x\">one. Two.</a>"), ["one.", "Two."]);
    }

    #[test]
    fn references_are_characters_to_the_model_and_references_again() {
        assert_eq!(read("fish &amp; chips &#233; &#xE9; &eacute;"), ["fish & chips é é é"]);
        assert_eq!(shouted("fish &amp; chips &lt;b&gt;"), "FISH &amp; CHIPS &lt;B&gt;");
        assert_eq!(shouted("a&nbsp;b"), "A&nbsp;B");
        assert_eq!(shouted("x &unheardof; y &#0; z"), "X &unheardof; Y &#0; Z");
        assert_eq!(shouted("a & b &; c &# d"), "A &amp; B &amp;; C &amp;# D");
    }

    #[test]
    fn odd_markup_does_no_harm() {
        for text in
            ["<", "a < b", "<b", "<b title=\"", "</", "<!--", "<script>", "&", "&#x110000;", "<é>", "&&&&;"]
        {
            let found = composition(text);
            let same: Vec<String> = found.sentences().collect();
            let again = found.with(same.iter().map(String::as_str));
            assert_eq!(decoded(&again), decoded(text), "{text}");
        }
        assert_eq!(shouted("1 < 2"), "1 &lt; 2");
    }

    #[test]
    fn a_translation_brings_no_markup() {
        let found = composition("<p>a</p>");
        assert_eq!(
            found.with(["<script>alert(1)</script>"].into_iter()),
            "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"
        );
    }
}
