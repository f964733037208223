//! A small writer of SVG: elements that always balance, text that is always escaped.

use std::fmt::Write;

/// The attributes of an element, in order: name and unescaped value.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// An SVG document under construction. Elements left open are closed by [`Document::finish`].
pub(crate) struct Document {
    text: String,
    open: Vec<&'static str>,
}

impl Document {
    /// Starts a picture of `width` × `height` pixels that scales with its frame. `title` is what a screen
    /// reader says, `style` a style sheet.
    pub(crate) fn new(width: f64, height: f64, title: &str, style: &str) -> Self {
        let mut document = Self::start(width, height, &[("role", "img")]);
        document.leaf("title", &[], title);
        document.leaf("style", &[], style);
        document
    }

    /// Starts a picture that is part of a page, which has the style sheet; a reader can go about in it.
    pub(crate) fn within(width: f64, height: f64, label: &str) -> Self {
        Self::start(width, height, &[("role", "group"), ("aria-label", label)])
    }

    fn start(width: f64, height: f64, attributes: Attributes) -> Self {
        let mut document = Self { text: String::new(), open: Vec::new() };
        let (width, height) = (number(width), number(height));
        let view = format!("0 0 {width} {height}");
        let known = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &view),
        ];
        document.open("svg", &[&known[..], attributes].concat());
        document
    }

    /// Opens an element; what follows is inside it until [`Document::close`].
    pub(crate) fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.tag(name, attributes, ">\n");
        self.open.push(name);
    }

    /// Closes the element opened last.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            self.end(name);
        }
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, name: &str, attributes: Attributes) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element whose content is text.
    pub(crate) fn leaf(&mut self, name: &str, attributes: Attributes, content: &str) {
        self.tag(name, attributes, ">");
        self.text.push_str(&escape(content));
        self.end(name);
    }

    /// A line of text at a point.
    pub(crate) fn label(&mut self, x: f64, y: f64, class: &str, content: &str) {
        self.leaf("text", &[("x", &number(x)), ("y", &number(y)), ("class", class)], content);
    }

    /// A straight line between two points.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.empty("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("class", class)]);
    }

    /// Closes what is open and gives the finished picture.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }

    fn tag(&mut self, name: &str, attributes: Attributes, end: &str) {
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(self.text, " {key}=\"{}\"", escape(value));
        }
        self.text.push_str(end);
    }

    fn end(&mut self, name: &str) {
        let _ = writeln!(self.text, "</{name}>");
    }
}

/// Text as it may stand in an element or an attribute. Characters that XML forbids altogether (most control
/// characters) become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A coordinate: a hundredth of a pixel is finer than anyone sees.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The width of a line of text in a proportional font, guessed: there is no font to measure here.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    // Latin letters are about 0.57 em wide; those from U+1100 on are mostly full-width.
    text.chars().map(|character| if character < '\u{1100}' { 0.57 } else { 1.0 }).sum::<f64>() * size
}

/// What the tests of every picture check: tags balance, and no stray `<`, `>`, `&` or quote.
#[cfg(test)]
pub(crate) fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert_escaped(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag has an end");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "a tag within a tag: {tag}");
        assert!(tag.matches('"').count().is_multiple_of(2), "an attribute without end: {tag}");
        assert_escaped(tag);
        let name = tag.trim_end_matches('/').split_whitespace().next().expect("a tag has a name");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
        assert!(!open.is_empty() || rest.trim().is_empty(), "content after the root: {rest}");
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[cfg(test)]
fn assert_escaped(text: &str) {
    assert!(!text.contains('>'), "stray > in {text}");
    assert!(!text.chars().any(|c| c < ' ' && !"\t\r\n".contains(c)), "control character in {text:?}");
    for (at, _) in text.match_indices('&') {
        let entity = ["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|known| text[at..].starts_with(known));
        assert!(entity, "stray & in {text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut document = Document::new(10.0, 20.5, "a<b>&\"c\"", "");
        document.open("g", &[("class", "\"><script>")]);
        document.label(1.0, -0.001, "x", "\u{0}</text>\u{1b}");
        let svg = document.finish();
        assert_well_formed(&svg);
        assert!(svg.contains("<title>a&lt;b&gt;&amp;&quot;c&quot;</title>"));
        assert!(svg.contains("<g class=\"&quot;&gt;&lt;script&gt;\">"));
        assert!(svg.contains("<text x=\"1\" y=\"0\" class=\"x\">\u{fffd}&lt;/text&gt;\u{fffd}</text>"));
        assert!(svg.contains("viewBox=\"0 0 10 20.5\""));
        assert!(svg.ends_with("</g>\n</svg>\n"));
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, -0.0, 1.0, 100.0, 0.125, -3.456, 1e3].map(number);
        assert_eq!(shown, ["0", "0", "1", "100", "0.12", "-3.46", "1000"]);
    }

    #[test]
    #[should_panic(expected = "closed out of order")]
    fn the_check_sees_crossed_tags() {
        assert_well_formed("<svg><g></svg></g>");
    }

    #[test]
    #[should_panic(expected = "stray &")]
    fn the_check_sees_a_bare_ampersand() {
        assert_well_formed("<svg>a & b</svg>");
    }
}
