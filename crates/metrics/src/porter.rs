//! Porter's stemmer, which cuts English words down to what their forms share: *relational* → *relat*.
//!
//! M. F. Porter (1980), *An algorithm for suffix stripping*, Program 14(3), with the departures that NLTK
//! makes by default: some irregular forms as a whole, forms of four letters in -ies and -ied, and a few
//! suffixes more. ROUGE is computed with it.
//!
//! A word is consonants C and vowels V in turns, `[C](VC)ᵐ[V]`; m is its *measure*. The letter y is a vowel
//! behind a consonant.

/// The stem of a word in lower case.
pub fn stem(word: &str) -> String {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*stem).to_owned();
    }
    if word.chars().nth(2).is_none() {
        return word.to_owned();
    }
    let word = without_plural(word);
    let word = without_past(&word);
    let word = y_to_i(&word);
    let word = double_suffix(&word);
    let word = replaced(&word, THIRD, |stem| measure(stem) > 0);
    let word = last_suffix(&word);
    let word = without_e(&word);
    without_double_l(word)
}

/// Forms that the rules would get wrong.
const IRREGULAR: &[(&str, &str)] = &[
    ("skies", "sky"),
    ("sky", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Whether each letter is a vowel.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    let mut before = None;
    word.chars().map(move |letter| {
        let vowel = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' => true,
            'y' => before == Some(false),
            _ => false,
        };
        before = Some(vowel);
        vowel
    })
}

/// How often a consonant follows a vowel.
fn measure(word: &str) -> usize {
    vowels(word).zip(vowels(word).skip(1)).filter(|pair| *pair == (true, false)).count()
}

fn has_vowel(word: &str) -> bool {
    vowels(word).any(|vowel| vowel)
}

fn ends_with_consonant(word: &str) -> bool {
    vowels(word).last() == Some(false)
}

/// The letter that stands doubled at the end, if it is a consonant.
fn double_consonant(word: &str) -> Option<char> {
    let mut letters = word.chars().rev();
    let last = letters.next()?;
    (letters.next() == Some(last) && ends_with_consonant(word)).then_some(last)
}

/// Whether a word ends as *hop* does, consonant, vowel, consonant, the last not w, x or y; or is a vowel and
/// a consonant as a whole. Such a word has lost an e, or keeps it.
fn ends_short(word: &str) -> bool {
    let vowels: Vec<bool> = vowels(word).collect();
    match vowels.as_slice() {
        [true, false] => true,
        [.., false, true, false] => !word.ends_with(['w', 'x', 'y']),
        _ => false,
    }
}

/// Replaces the first suffix of the list that the word has, if what is left before it will do.
fn replaced(word: &str, suffixes: &[(&str, &str)], will_do: impl Fn(&str) -> bool) -> String {
    for (suffix, other) in suffixes {
        if let Some(stem) = word.strip_suffix(suffix) {
            return if will_do(stem) { stem.to_owned() + other } else { word.to_owned() };
        }
    }
    word.to_owned()
}

fn has_four_letters(word: &str) -> bool {
    word.chars().count() == 4
}

/// Step 1a: *caresses* → *caress*, *ponies* → *poni*, *ties* → *tie*, *cats* → *cat*.
fn without_plural(word: &str) -> String {
    let ies = if has_four_letters(word) { "ie" } else { "i" };
    replaced(word, &[("sses", "ss"), ("ies", ies), ("ss", "ss"), ("s", "")], |_| true)
}

/// Step 1b: *agreed* → *agree*, *hopping* → *hop*, *filing* → *file*, *tried* → *tri*.
fn without_past(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ied") {
        return stem.to_owned() + if has_four_letters(word) { "ie" } else { "i" };
    }
    if word.ends_with("eed") {
        return replaced(word, &[("eed", "ee")], |stem| measure(stem) > 0);
    }
    match word.strip_suffix("ed").or_else(|| word.strip_suffix("ing")) {
        Some(stem) if has_vowel(stem) => repaired(stem),
        _ => word.to_owned(),
    }
}

/// What -ed or -ing had changed is put back.
fn repaired(stem: &str) -> String {
    let lacks_e = ["at", "bl", "iz"].iter().any(|end| stem.ends_with(end));
    match double_consonant(stem) {
        _ if lacks_e => stem.to_owned() + "e",
        Some('l' | 's' | 'z') => stem.to_owned(),
        Some(doubled) => stem.strip_suffix(doubled).unwrap_or(stem).to_owned(),
        None if measure(stem) == 1 && ends_short(stem) => stem.to_owned() + "e",
        None => stem.to_owned(),
    }
}

/// Step 1c: *happy* → *happi*, but *enjoy* and *by* stay.
fn y_to_i(word: &str) -> String {
    replaced(word, &[("y", "i")], |stem| stem.chars().nth(1).is_some() && ends_with_consonant(stem))
}

/// Step 2, double suffixes to single ones: *relational* → *relate*.
fn double_suffix(word: &str) -> String {
    match word.strip_suffix("alli") {
        // What ends in -al may end in more: *rationalli* → *rational* → *ration*.
        Some(stem) if measure(stem) > 0 => return double_suffix(&(stem.to_owned() + "al")),
        _ => {}
    }
    if word.ends_with("logi") {
        // Here the l counts with the stem.
        return replaced(word, &[("ogi", "og")], |stem| measure(stem) > 0);
    }
    replaced(word, SECOND, |stem| measure(stem) > 0)
}

const SECOND: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

/// Step 3: *triplicate* → *triplic*, *hopeful* → *hope*.
const THIRD: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4, the last suffix of a long word: *adjustment* → *adjust*.
fn last_suffix(word: &str) -> String {
    for suffix in FOURTH {
        if let Some(stem) = word.strip_suffix(suffix) {
            let will_do = measure(stem) > 1 && (*suffix != "ion" || stem.ends_with(['s', 't']));
            return if will_do { stem } else { word }.to_owned();
        }
    }
    word.to_owned()
}

const FOURTH: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
];

/// Step 5a: *probate* → *probat*, but *rate* stays.
fn without_e(word: &str) -> String {
    let will_do = |stem: &str| measure(stem) > 1 || (measure(stem) == 1 && !ends_short(stem));
    replaced(word, &[("e", "")], will_do)
}

/// Step 5b: *controll* → *control*, but *roll* stays.
fn without_double_l(mut word: String) -> String {
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of Porter's paper, each through all steps.
    #[test]
    fn words_of_the_paper() {
        let words = [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("ties", "tie"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("filing", "file"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("vietnamization", "vietnam"),
            ("hopefulness", "hope"),
            ("electricity", "electr"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("rolling", "roll"),
            ("generalizations", "gener"),
        ];
        for (word, expected) in words {
            assert_eq!(stem(word), expected, "of {word}");
        }
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in "\\PC{0,12}|[a-z]{0,9}(ational|ies|ied|eed|ing|alli|logi|ll|y|e)") {
            prop_assert!(stem(&word).chars().count() <= word.chars().count() + 1);
        }
    }
}
