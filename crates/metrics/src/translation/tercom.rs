//! How TER prepares a line: the normaliser of the program Tercom, as sacreBLEU has it.

use super::Ter;
use super::text::{joined, trim_end};
use super::tokenize::{is_western_punctuation, pad_each, replace, separate_stops, unescape};
use std::borrow::Cow;

/// The words of a line, prepared as the settings say.
pub(super) fn prepare(ter: &Ter, line: &str) -> String {
    let mut text = Cow::Borrowed(trim_end(line));
    if !ter.case_sensitive {
        text = text.to_lowercase().into();
    }
    if ter.normalized {
        text = normalize(text).into();
        if ter.asian_support {
            text = pad_each(&text, is_asian).into();
        }
    }
    if ter.no_punct {
        let is_mark = |c| {
            matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
                || ter.asian_support && is_asian_punctuation(c)
        };
        text = text.replace(is_mark, "").into();
    }
    joined(&text)
}

/// Lines joined, escapes turned back, punctuation and the possessive 's apart.
fn normalize(text: Cow<'_, str>) -> String {
    let joined = replace(replace(text, "\n-", ""), "\n", " ");
    let apart = pad_each(&format!(" {} ", unescape(joined)), is_western_punctuation);
    separate_stops(replace(apart.into(), "'s ", " 's ").into_owned())
}

/// Characters that stand alone: Chinese ones and what goes with them. Stretches of kana stay whole;
/// sacreBLEU parts them only from the very start of a line, where after normalising there is always
/// a space.
fn is_asian(character: char) -> bool {
    matches!(character,
        '\u{2e80}'..='\u{2eff}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}')
        || is_asian_punctuation(character)
}

fn is_asian_punctuation(character: char) -> bool {
    matches!(character,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
        | '\u{ff61}'..='\u{ff65}' | '\u{30fb}'
        | '．' | '，' | '？' | '：' | '；' | '！' | '\u{ff02}' | '（' | '）')
}
