use super::*;

fn resolve(text: &str) -> Result<DataSource, String> {
    let config: DataConfig = toml::from_str(text).map_err(|error| error.to_string())?;
    config.resolve(Path::new("/base")).map_err(|error| error.to_string())
}

#[test]
fn every_kind_of_files_resolves_against_the_base() {
    let source = resolve(
        "train = { source = \"a\", target = \"/b\" }\nvalid = { tsv = \"c\" }\n\
         test = { jsonl = \"d\", keys = [\"q\", \"a\"] }\nskip_bad = true",
    );
    assert_eq!(
        source.unwrap(),
        DataSource::Files {
            train: Files::Parallel { source: "/base/a".into(), target: "/b".into() },
            valid: Some(Files::Tsv { path: "/base/c".into(), columns: [0, 1] }),
            test: Some(Files::Jsonl { path: "/base/d".into(), keys: ["q".into(), "a".into()] }),
            skip_bad: true,
        }
    );
    assert!(matches!(
        resolve("train = { text = \"a\" }").unwrap(),
        DataSource::Files { train: Files::Single { path }, .. } if path == Path::new("/base/a")
    ));
    assert_eq!(
        resolve("builtin = \"copy\"\nmin_length = 2\nexamples = 9").unwrap(),
        DataSource::Builtin {
            task: Builtin::named("copy", LengthRange { min: 2, max: 12 }).unwrap(),
            examples: Some(9)
        }
    );
}

#[test]
fn combinations_that_make_no_sense_name_the_remedy() {
    for (text, remedy) in [
        ("", "`data.train`: is missing; write `train ="),
        ("train = {}", "`data.train`: write exactly one of"),
        ("train = { source = \"a\" }", "add `target"),
        ("train = { target = \"a\" }", "add `source"),
        ("train = { tsv = \"a\", jsonl = \"b\" }", "exactly one of"),
        ("train = { source = \"a\", target = \"b\", text = \"c\" }", "exactly one of"),
        ("train = { text = \"a\", columns = [0, 1] }", "`columns` goes with `tsv`"),
        ("train = { tsv = \"a\", keys = [\"a\", \"b\"] }", "`keys` goes with `jsonl`"),
        ("train = { text = \"a\" }\nvalid = {}", "`data.valid`"),
        ("train = { text = \"a\" }\nexamples = 3", "`data.examples`: belongs to a built-in"),
        ("train = { text = \"a\" }\nbuiltin = \"copy\"", "exclude each other"),
        ("builtin = \"copy\"\nmin_length = 3\nmax_length = 2", "must be 1 ≤ min ≤ max"),
        ("train = { sauce = \"a\" }", "unknown field `sauce`"),
        ("train = { tsv = \"a\", columns = [0] }", "columns = [0]"),
        // Images.
        ("train = { images = \"a\" }", "`data.train`: `images` without a list; add `tsv = "),
        ("train = { images = \"a\", tsv = \"b\", jsonl = \"c\" }", "`data.train`: write exactly one of"),
        ("train = { images = \"a\", text = \"b\" }", "`images` with `tsv` or `jsonl`, or `idx`"),
        ("train = { images = \"a\", idx = [\"b\", \"c\"] }", "exactly one of"),
        ("train = { idx = [\"a\", \"b\"], tsv = \"c\" }", "exactly one of"),
        ("train = { idx = [\"a\"] }", "idx = [\"a\"]"),
        // Sounds.
        ("train = { sounds = \"a\" }", "`data.train`: `sounds` without a list; add `tsv = "),
        ("train = { sounds = \"a\", tsv = \"b\", jsonl = \"c\" }", "one of `tsv` and `jsonl` only"),
        ("train = { sounds = \"a\", tsv = \"b\", images = \"c\" }", "remove the others"),
        ("train = { sounds = \"a\", tsv = \"b\", columns = [0, 1] }", "`columns` goes with `tsv` only"),
        ("train = { sounds = \"a\", tsv = \"b\" }\njoin = { least = 4, most = 3 }", "`data.join.least`"),
        ("train = { sounds = \"a\", tsv = \"b\" }\njoin = { mist = 3 }", "unknown field `mist`"),
        ("train = { tsv = \"b\" }\njoin = {}", "`data.join`: belongs to recordings"),
        ("train = { tsv = \"b\" }\ncache = \"c\"", "`data.cache`: belongs to recordings"),
        ("builtin = \"melodies\"\njoin = {}", "`data.join`: belongs to recordings in files"),
        ("builtin = \"melodies\"\ncaptions = 3", "belongs to `builtin = \"shapes\"`"),
        (
            "train = { images = \"a\", tsv = \"b\", columns = [0, 1] }",
            "`columns` goes with `tsv` only; remove",
        ),
        (
            "train = { images = \"a\", jsonl = \"b\", keys = [\"c\", \"d\"] }",
            "`keys` goes with `jsonl` only; remove",
        ),
        (
            "train = { images = \"a\", tsv = \"b\" }\nvalid = { images = \"a\" }",
            "`data.valid`: `images` without",
        ),
        (
            "train = { text = \"a\" }\nasked = \"count\"",
            "`data.asked`: belongs to `builtin = \"shapes\"`; remove",
        ),
        (
            "train = { images = \"a\", tsv = \"b\" }\ncaptions = 3",
            "`data.captions`: belongs to `builtin = \"shapes\"`",
        ),
        ("builtin = \"copy\"\nasked = \"count\"", "`data.asked`: belongs to `builtin = \"shapes\"`"),
        ("builtin = \"copy\"\ncaptions = 2", "`data.captions`: belongs to `builtin = \"shapes\"`"),
        (
            "builtin = \"shapes\"\nmin_length = 2",
            "`data.min_length`: belongs to copy, reverse and sort; remove",
        ),
        (
            "builtin = \"shapes\"\nmax_length = 2",
            "`data.max_length`: belongs to copy, reverse and sort; remove",
        ),
        (
            "builtin = \"shapes\"\nasked = \"smallest\"",
            "unknown variant `smallest`, expected one of `largest`",
        ),
        ("builtin = \"shapes\"\ntrain = { idx = [\"a\", \"b\"] }", "exclude each other; remove one"),
        ("builtin = \"shape\"", "`data.builtin`"),
    ] {
        let message = resolve(text).unwrap_err();
        assert!(message.contains(remedy), "{text}: {message}");
    }
}

#[test]
fn images_resolve_against_the_base_and_open_as_what_they_are() {
    let source = resolve(
        "train = { images = \"photos\", tsv = \"list.tsv\" }\nvalid = { images = \"/p\", jsonl = \"v\" }\n\
         test = { idx = [\"i\", \"l\"] }",
    );
    let source = source.unwrap();
    assert!(source.has_images());
    let images =
        |folder: &str, list: &str, format| Files::Images { folder: folder.into(), list: list.into(), format };
    let DataSource::Files { train, valid, test, skip_bad: false } = source else { panic!("files") };
    assert_eq!(train, images("/base/photos", "/base/list.tsv", ListFormat::Tsv));
    assert_eq!(valid, Some(images("/p", "/base/v", ListFormat::Jsonl)));
    let idx = Files::Idx { images: "/base/i".into(), labels: "/base/l".into() };
    assert_eq!(test.as_ref(), Some(&idx));
    let error = |found: Result<(), DataError>| found.unwrap_err().to_string();
    assert!(error(train.open(false).map(drop)).contains("are images, and texts are wanted"));
    let captions = error(idx.open_images(Texts::Captions, false).map(drop));
    assert!(
        captions.contains("has labels, and captions are wanted; write `task = \"classify\"`"),
        "{captions}"
    );
    let text = Files::Single { path: "a".into() };
    assert!(error(text.open_images(Texts::Labels, false).map(drop)).contains("write { images = "));

    assert_eq!(
        resolve("builtin = \"shapes\"\nasked = \"largest-colour\"\nexamples = 7").unwrap(),
        DataSource::Shapes { asked: Some(AskedKind::LargestColour), captions: CAPTIONS, examples: Some(7) }
    );
    let shapes = resolve("builtin = \"shapes\"\ncaptions = 2").unwrap();
    assert_eq!(shapes, DataSource::Shapes { asked: None, captions: 2, examples: None });
    assert!(shapes.has_images() && !resolve("builtin = \"copy\"").unwrap().has_images());
    assert!(!resolve("train = { text = \"a\" }").unwrap().has_images());
}
