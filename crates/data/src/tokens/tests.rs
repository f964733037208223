//! What every kind of tokenizer has to keep, and files that none may trip over.

use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::DataError;

const KINDS: [Kind; 5] = [Kind::Word, Kind::Char, Kind::Byte, Kind::Bpe, Kind::Unigram];

/// A few hundred sentences, always the same.
pub(crate) fn sentences() -> Vec<String> {
    let subjects = ["The cat", "il gatto", "L'amico", "A dog 🐕", "Der Hund", "猫"];
    let verbs = ["is on", "è sul", "sieht", "don't like", "walks  past", "mangia"];
    let objects = ["the table.", "tavolo!", "den Tisch 42", "un'altra cosa, sì", "⟨s⟩ marks"];
    let mut all = Vec::new();
    for subject in subjects {
        for verb in verbs {
            all.extend(objects.iter().map(|object| format!("{subject} {verb} {object}")));
        }
    }
    all
}

fn recipe(kind: Kind, size: usize) -> Recipe {
    Recipe { kind, size, ..Recipe::default() }
}

/// One tokenizer of each kind, learnt once.
fn tokenizers() -> &'static Vec<Tokenizer> {
    static ALL: OnceLock<Vec<Tokenizer>> = OnceLock::new();
    ALL.get_or_init(|| {
        KINDS.map(|kind| Tokenizer::train(&recipe(kind, 400), sentences()).unwrap()).into_iter().collect()
    })
}

fn exact() -> impl Iterator<Item = &'static Tokenizer> {
    tokenizers().iter().filter(|tokenizer| tokenizer.kind() != Kind::Word)
}

/// Any text, with much of what tokenizers stumble over.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<String>(),
        2 => "[a-zà-ü ]{0,12}",
        1 => prop::sample::select(SPECIALS.to_vec()).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["  ", "\n\n", "\r", "\t", "👩‍👩‍👧", "<0x41>", "'s", "ẞİΣ", "\0", "\u{feff}", "Ġ", "▁"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

#[test]
fn sizes_and_specials_are_as_promised() {
    for tokenizer in tokenizers() {
        let most = if tokenizer.kind() == Kind::Byte { 261 } else { 400 };
        assert!((6..=most).contains(&tokenizer.size()), "{tokenizer:?}");
        for (id, special) in (0..).zip(SPECIALS) {
            assert_eq!(tokenizer.token(id), special);
        }
        assert_eq!(tokenizer.decode(&[PAD, START, END, UNKNOWN, SEPARATOR, u32::MAX]), "");
        assert_eq!(tokenizer.token(u32::MAX), SPECIALS[3]);
        assert_eq!(tokenizer.encode(""), Vec::<u32>::new());
    }
    // The few dozen words of the text are pieces.
    for tokenizer in exact().filter(|tokenizer| matches!(tokenizer.kind(), Kind::Bpe | Kind::Unigram)) {
        assert!(tokenizer.size() > 285, "{tokenizer:?}");
        assert!(tokenizer.encode("The cat is on the table.").len() < 9, "{tokenizer:?}");
    }
}

#[test]
fn words_come_back_as_running_text() {
    let words = &tokenizers()[0];
    assert_eq!(
        words.decode(&words.encode("L'amico mangia un'altra cosa, sì.")),
        "L'amico mangia un'altra cosa, sì."
    );
    assert_eq!(words.encode("zebra"), [UNKNOWN]);
    assert_eq!(words.token(words.encode("gatto")[0]), "gatto");
    // The most frequent stay; among equals, the first of the alphabet.
    let few = Tokenizer::train(&recipe(Kind::Word, 7), ["b a c b".to_owned()]).unwrap();
    assert_eq!(few.encode("a b c"), [6, 5, UNKNOWN]);
    let frequent = Recipe { min_frequency: 2, ..recipe(Kind::Word, 100) };
    assert_eq!(Tokenizer::train(&frequent, ["b a c b".to_owned()]).unwrap().size(), 6);
}

#[test]
fn pieces_are_readable() {
    let bytes = &tokenizers()[2];
    assert_eq!(
        bytes.encode("a è").into_iter().map(|id| bytes.token(id)).collect::<Vec<_>>(),
        ["a", "▁", "<0xC3>", "<0xA8>"]
    );
    let bpe = &tokenizers()[3];
    let shown: Vec<_> = bpe.encode("The cat").into_iter().map(|id| bpe.token(id)).collect();
    assert_eq!(shown.concat(), "The▁cat");
}

#[test]
fn lower_case_is_what_comes_back() {
    for kind in KINDS {
        let recipe = Recipe { lowercase: true, ..recipe(kind, 400) };
        let tokenizer = Tokenizer::train(&recipe, sentences()).unwrap();
        assert_eq!(tokenizer.decode(&tokenizer.encode("THE CAT è SUL TABLE")), "the cat è sul table");
        // Lower-casing İ makes three bytes of two: spans stay those of the text as given.
        let text = "İ CAT";
        for (_, span) in tokenizer.encode_with_spans(text) {
            assert!(text.get(span.clone()).is_some(), "{kind} {span:?}");
        }
        let (_, last) = tokenizer.encode_with_spans(text).pop().unwrap();
        assert!(text[last].ends_with('T'));
    }
}

#[test]
fn spans_point_at_words() {
    let text = "il  gatto è";
    let spans: Vec<_> =
        tokenizers()[0].encode_with_spans(text).into_iter().map(|(_, span)| &text[span]).collect();
    assert_eq!(spans, ["il", "gatto", "è"]);
    let spans: Vec<_> = tokenizers()[2].encode_with_spans("aè").into_iter().map(|(_, span)| span).collect();
    assert_eq!(spans, [0..1, 1..3, 1..3]);
}

#[test]
fn words_begin_where_they_are_told_to() {
    let shown = |tokenizer: &Tokenizer, text: &str| {
        let (ids, starts) = tokenizer.encode_words(text);
        starts.iter().map(|start| tokenizer.token(ids[*start]).to_owned()).collect::<Vec<_>>()
    };
    let [words, _, bytes, ..] = tokenizers().as_slice() else { panic!("five kinds") };
    assert_eq!(shown(words, " L'amico  never\tmangia."), ["L'", SPECIALS[UNKNOWN as usize], "mangia"]);
    assert_eq!(shown(bytes, "ab \u{a0} cd"), ["a", "c"]);
    for tokenizer in tokenizers() {
        assert_eq!(tokenizer.encode_words(" \n "), (Vec::new(), Vec::new()), "{tokenizer:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn words_by_themselves_make_the_text_with_single_spaces(text in text()) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let joined = words.join(" ");
        for tokenizer in tokenizers() {
            let (ids, starts) = tokenizer.encode_words(&text);
            let spans = tokenizer.encode_with_spans(&joined);
            prop_assert_eq!(&ids, &spans.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            prop_assert_eq!(starts.len(), words.len());
            prop_assert!(starts.is_sorted_by(|left, right| left < right));
            let mut at = 0;
            for (start, word) in starts.iter().zip(&words) {
                let first = at..at + word.chars().next().unwrap().len_utf8();
                let (_, span) = &spans[*start];
                prop_assert!(span.start <= first.start && first.end <= span.end, "{tokenizer:?} {word:?}");
                let before = start.checked_sub(1).map_or(0, |before| spans[before].1.end);
                prop_assert!(before <= first.start, "an earlier token is a part of {word:?}, {tokenizer:?}");
                at += word.len() + 1;
            }
        }
    }

    #[test]
    fn any_text_comes_back_exactly(text in text()) {
        for tokenizer in exact() {
            prop_assert_eq!(&tokenizer.decode(&tokenizer.encode(&text)), &text, "{:?}", tokenizer);
        }
    }

    #[test]
    fn text_never_becomes_a_special_token(text in text()) {
        for tokenizer in tokenizers() {
            for id in tokenizer.encode(&text) {
                let unknown_word = id == UNKNOWN && tokenizer.kind() == Kind::Word;
                prop_assert!((id as usize) < tokenizer.size());
                prop_assert!(id > SEPARATOR || unknown_word, "{:?} gave {id}", tokenizer);
            }
        }
    }

    #[test]
    fn spans_cover_the_text_in_order(text in text()) {
        for tokenizer in tokenizers() {
            let spans = tokenizer.encode_with_spans(&text);
            let ids: Vec<u32> = spans.iter().map(|(id, _)| *id).collect();
            prop_assert_eq!(ids, tokenizer.encode(&text));
            let mut end = 0;
            for (_, span) in spans {
                prop_assert!(text.get(span.clone()).is_some_and(|piece| !piece.is_empty()));
                prop_assert!(span.start <= end || text[end..span.start].trim().is_empty());
                end = span.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }

    #[test]
    fn any_ids_can_be_decoded(ids in prop::collection::vec(prop_oneof![0u32..500, any::<u32>()], 0..40)) {
        for tokenizer in tokenizers() {
            tokenizer.decode(&ids);
            ids.iter().for_each(|id| assert!(!tokenizer.token(*id).is_empty()));
        }
    }

    /// Other programs that read the file cut text in the same way.
    #[test]
    fn hugging_face_agrees(text in "([a-zA-Zà-ü0-9Ⅷ½'’_ \t\n⟨⟩/.,!?猫犬🐕İ]|⟨s⟩|⟨unk⟩|  ){0,30}", lowercase: bool) {
        static LOWER: OnceLock<Vec<Tokenizer>> = OnceLock::new();
        let lower = LOWER.get_or_init(|| {
            KINDS.map(|kind| Tokenizer::train(&Recipe { lowercase: true, ..recipe(kind, 400) }, sentences()).unwrap()).into()
        });
        for tokenizer in if lowercase { lower } else { tokenizers() } {
            let json = tokenizer.to_json().unwrap();
            let mut other = tokenizers::Tokenizer::from_bytes(json.as_bytes()).unwrap();
            other.set_encode_special_tokens(true);
            let ids = other.encode(text.as_str(), false).unwrap().get_ids().to_vec();
            prop_assert_eq!(&ids, &tokenizer.encode(&text), "{:?}", tokenizer);
            if tokenizer.kind() != Kind::Word {
                prop_assert_eq!(other.decode(&ids, true).unwrap(), tokenizer.decode(&ids));
            }
        }
    }
}

/// Writes the files of all kinds into a folder; see `learning_is_the_same_in_another_process`.
fn save_all(folder: &std::path::Path) {
    for kind in KINDS {
        let tokenizer = Tokenizer::train(&recipe(kind, 400), sentences()).unwrap();
        tokenizer.save(&folder.join(kind.to_string())).unwrap();
    }
}

#[test]
fn learning_is_the_same_in_another_process() {
    if let Some(folder) = std::env::var_os("GATTO_TEST_CHILD") {
        return save_all(folder.as_ref());
    }
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    save_all(here.path());
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tokens::tests::learning_is_the_same_in_another_process"])
        .env("GATTO_TEST_CHILD", there.path())
        .output()
        .unwrap();
    assert!(child.status.success());
    for kind in KINDS {
        let [first, second] =
            [&here, &there].map(|folder| std::fs::read(folder.path().join(kind.to_string())).unwrap());
        assert!(first == second, "{kind} differs");
        let again = Tokenizer::train(&recipe(kind, 400), sentences()).unwrap().to_json().unwrap();
        assert!(first == again.into_bytes(), "{kind} differs within a process");
    }
}

#[test]
fn a_saved_tokenizer_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        for lowercase in [false, true] {
            let path = folder.path().join("tokenizer.json");
            let tokenizer =
                Tokenizer::train(&Recipe { lowercase, ..recipe(kind, 400) }, sentences()).unwrap();
            tokenizer.save(&path).unwrap();
            let loaded = Tokenizer::load(&path).unwrap();
            assert_eq!(
                (loaded.kind(), loaded.lowercase(), loaded.size()),
                (kind, lowercase, tokenizer.size())
            );
            assert_eq!(loaded.vocabulary, tokenizer.vocabulary);
            assert_eq!(loaded.to_json().unwrap(), tokenizer.to_json().unwrap());
            for text in sentences() {
                assert_eq!(loaded.encode(&text), tokenizer.encode(&text));
            }
        }
    }
}

#[test]
fn little_text_is_enough_and_none_is_an_error() {
    for kind in KINDS {
        for text in ["a", " ", "ab ab", "⟨s⟩", "\u{0}", "aaaaaaaa"] {
            let tokenizer = Tokenizer::train(&recipe(kind, 300), [text.to_owned()]);
            if kind == Kind::Word && text == " " {
                assert!(matches!(tokenizer, Err(DataError::NoText)));
                continue;
            }
            let tokenizer = tokenizer.unwrap();
            assert_eq!(
                tokenizer.decode(&tokenizer.encode(text)).contains(text),
                kind != Kind::Word || text != "⟨s⟩"
            );
        }
        let none = Tokenizer::train(&recipe(kind, 300), ["".to_owned()]);
        assert_eq!(matches!(none, Err(DataError::NoText)), kind != Kind::Byte);
    }
    let rare = Recipe { min_frequency: 9, ..recipe(Kind::Word, 300) };
    let error = Tokenizer::train(&rare, ["a".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no word occurs 9 times; lower `min_frequency`"), "{error}");
    // A word longer than any that is learnt from.
    let long = Tokenizer::train(&recipe(Kind::Unigram, 300), ["x".repeat(1 << 20)]);
    assert!(matches!(long, Err(DataError::NoText)));
}

#[test]
fn a_very_long_word_is_encoded() {
    for tokenizer in exact() {
        for letter in ["a", " ", "🐕", "="] {
            let text = letter.repeat(200_000);
            assert_eq!(tokenizer.decode(&tokenizer.encode(&text)), text);
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = tokenizers()[0].save("missing/tokenizer.json".as_ref()).unwrap_err();
    assert!(error.to_string().starts_with("missing/tokenizer.json: cannot be written"), "{error}");
    assert!(matches!(error, DataError::Write(_)));
}

/// Loads a file of this content and returns the message of its refusal.
fn refusal(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    std::fs::write(&path, content).unwrap();
    let error = Tokenizer::load(&path).unwrap_err();
    assert!(matches!(error, DataError::Tokenizer { .. }), "{error}");
    error.to_string()
}

#[test]
fn files_that_are_no_tokenizer_are_refused() {
    for content in ["", "{", "[]", "null", "{}", "\u{0}", "{\"version\": \"1.0\"}"] {
        assert!(refusal(content.as_bytes()).contains("tokenizer.json: is not a tokenizer that Gatto wrote"));
    }
    refusal(&b"[".repeat(100_000));
    refusal(b"\xff\xfe{}");
    assert!(matches!(Tokenizer::load("missing".as_ref()), Err(DataError::Read { .. })));
    assert!(matches!(Tokenizer::load("/".as_ref()), Err(DataError::Folder { .. })));
    // 300 MiB that take no disk.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    std::fs::File::create(&path).unwrap().set_len(300 << 20).unwrap();
    assert!(Tokenizer::load(&path).unwrap_err().to_string().contains("larger than 256 MiB"));
}

#[test]
fn every_part_of_a_file_is_checked() {
    type Change = fn(&mut Value);
    let changes: [(Kind, &str, Change, &str); 22] = [
        (Kind::Bpe, "version", |file| file["version"] = json!("2.0"), "\"version\""),
        (Kind::Bpe, "padding", |file| file["padding"] = json!({}), "\"padding\""),
        (Kind::Bpe, "specials", |file| file["added_tokens"] = json!([]), "\"added_tokens\""),
        (Kind::Bpe, "normalizer", |file| file["normalizer"] = json!({"type": "NFC"}), "\"normalizer\""),
        (
            Kind::Word,
            "cut",
            |file| file["pre_tokenizer"] = json!({"type": "Whitespace"}),
            "\"pre_tokenizer\"",
        ),
        (Kind::Byte, "decoder", |file| file["decoder"] = Value::Null, "\"decoder\""),
        (Kind::Bpe, "unknown key", |file| file["more"] = json!(1), "unknown field `more`"),
        (Kind::Bpe, "dropout", |file| file["model"]["dropout"] = json!(0.5), "options"),
        (Kind::Bpe, "model", |file| file["model"]["type"] = json!("WordPiece"), "WordPiece"),
        (Kind::Bpe, "negative", |file| file["model"]["vocab"]["a"] = json!(-1), "invalid value"),
        (Kind::Bpe, "large", |file| file["model"]["vocab"]["a"] = json!(1u64 << 40), "invalid value"),
        (Kind::Bpe, "hole", |file| file["model"]["vocab"]["a"] = json!(100_000), "is next"),
        (Kind::Char, "twice", |file| file["model"]["vocab"]["T"] = json!(7), "is next"),
        (
            Kind::Char,
            "long",
            |file| file["model"]["vocab"]["TT"] = json!(file["model"]["vocab"].as_object().unwrap().len()),
            "not one character",
        ),
        (Kind::Char, "merges", |file| file["model"]["merges"] = json!([["a", "b"]]), "has merges"),
        (
            Kind::Bpe,
            "no such merge",
            |file| file["model"]["merges"][0] = json!(["quite a long", "piece"]),
            "does not agree",
        ),
        (
            Kind::Bpe,
            "merge of specials",
            |file| file["model"]["merges"] = json!([["⟨s⟩", "⟨s⟩"]]),
            "does not agree",
        ),
        (Kind::Bpe, "no merges", |file| file["model"]["merges"] = json!([]), "does not agree"),
        (Kind::Word, "unknown", |file| file["model"]["unk_token"] = json!("the"), "unknown token"),
        (Kind::Unigram, "no pieces", |file| file["model"]["vocab"] = json!([]), "special token ⟨pad⟩"),
        (
            Kind::Unigram,
            "no bytes",
            |file| file["model"]["vocab"].as_array_mut().unwrap().truncate(9),
            "is missing",
        ),
        (Kind::Unigram, "unknown id", |file| file["model"]["unk_id"] = json!(1_000_000), "options"),
    ];
    for (kind, what, change, problem) in changes {
        let tokenizer = tokenizers().iter().find(|tokenizer| tokenizer.kind() == kind).unwrap();
        let mut file: Value = serde_json::from_str(&tokenizer.to_json().unwrap()).unwrap();
        change(&mut file);
        let message = refusal(file.to_string().as_bytes());
        assert!(message.contains(problem), "{kind} {what}: {message}");
    }
}

#[test]
fn pieces_that_are_empty_or_not_bytes_are_refused() {
    let unigram = tokenizers().last().unwrap();
    for (piece, problem) in
        [("", "empty or stands twice"), ("a", "empty or stands twice"), ("猫", "byte alphabet")]
    {
        let mut file: Value = serde_json::from_str(&unigram.to_json().unwrap()).unwrap();
        file["model"]["vocab"].as_array_mut().unwrap().push(json!([piece, -1.0]));
        let message = refusal(file.to_string().as_bytes());
        assert!(message.contains(problem), "{piece}: {message}");
    }
}

#[test]
fn special_tokens_have_to_have_their_ids() {
    for tokenizer in tokenizers() {
        let message = refusal(tokenizer.to_json().unwrap().replace("⟨sep⟩", "⟨SEP⟩").as_bytes());
        assert!(message.contains("token 4 is not the special token ⟨sep⟩"), "{message}");
    }
}

#[test]
fn a_broken_byte_does_not_shift_the_words_behind_it() {
    let recipe = Recipe { kind: Kind::Byte, ..Recipe::default() };
    let tokenizer = Tokenizer::train(&recipe, ["a".to_owned()]).unwrap();
    let mut ids = tokenizer.encode("è bb c");
    assert_eq!(tokenizer.words_of(&ids), [0, 0, 1, 1, 1, 2, 2].map(Some));
    ids.remove(1); // half a letter is a mark of its own, three bytes long in the text
    assert_eq!(tokenizer.decode(&ids), "\u{fffd} bb c");
    assert_eq!(tokenizer.words_of(&ids), [0, 1, 1, 1, 2, 2].map(Some));
}
