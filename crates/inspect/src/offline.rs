//! One HTML file that needs nothing else: no network, no other file.
//!
//! The page may run its script and use its style sheet, named by their hashes, and nothing else: whatever lies in its
//! data is text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::svg::escape;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/base.css");
const SCRIPT: &str = include_str!("page/base.js");
/// For pages from which pictures can be downloaded.
pub(crate) const SAVE_SCRIPT: &str = include_str!("page/save.js");

/// What a page is made of, beside what all pages have.
pub(crate) struct Page<'a, D> {
    /// What the window is called.
    pub(crate) title: &'a str,
    pub(crate) style: &'a str,
    /// In the order in which they need each other.
    pub(crate) scripts: &'a [&'a str],
    /// What stands in the page, as HTML.
    pub(crate) body: &'a str,
    /// What the scripts find as `data`.
    pub(crate) data: &'a D,
    /// Whether it plays sounds that lie in its data.
    pub(crate) plays: bool,
}

impl<D: Serialize> Page<'_, D> {
    /// The whole file.
    pub(crate) fn html(&self) -> String {
        let style = format!("{STYLE}{}", self.style);
        let script = format!("\"use strict\";\n{SCRIPT}{}", self.scripts.concat());
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src blob: data:; {}base-uri 'none'; \
             form-action 'none'",
            hash(&script),
            hash(&style),
            if self.plays { "media-src data:; " } else { "" }
        );
        fill(PAGE, |slot| match slot {
            "policy" => policy.clone(),
            "title" => escape(self.title),
            "style" => style.clone(),
            "script" => script.clone(),
            "body" => self.body.to_owned(),
            _ => json(self.data),
        })
    }
}

/// Replaces each `{{slot}}` of the page once: what is put in is not searched again.
fn fill(page: &str, content: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = page;
    while let Some((before, (slot, after))) =
        rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        filled.push_str(before);
        filled.push_str(&content(slot));
        rest = after;
    }
    filled + rest
}

/// The Base64 form of the SHA-256 hash, as a content security policy names a script.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// JSON that cannot end the script element in which it lies: `<` starts every way out of it. The two line ends of
/// Unicode are escaped for readers that take JSON for JavaScript of old.
fn json(data: &impl Serialize) -> String {
    // Strings and finite numbers always have a JSON form.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_other_programs() {
        // printf abc | openssl dgst -sha256 -binary | base64
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
