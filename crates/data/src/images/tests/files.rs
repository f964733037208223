//! Files, and hostile ones.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ::image::codecs::bmp::BmpEncoder;
use ::image::codecs::jpeg::JpegEncoder;
use ::image::codecs::webp::WebPEncoder;
use ::image::{ExtendedColorType, ImageEncoder, RgbaImage};
use flate2::Crc;
use flate2::write::GzEncoder;

use super::super::*;
use super::picture;
use crate::DataError;

fn encoded(image: &Image, format: &str) -> Vec<u8> {
    let (width, height) = (image.width() as u32, image.height() as u32);
    let colours = ExtendedColorType::Rgb8;
    let mut bytes = Vec::new();
    match format {
        "png" => bytes = image.png().unwrap(),
        "jpeg" => JpegEncoder::new_with_quality(&mut bytes, 95)
            .write_image(image.bytes(), width, height, colours)
            .unwrap(),
        "webp" => {
            WebPEncoder::new_lossless(&mut bytes).encode(image.bytes(), width, height, colours).unwrap()
        }
        _ => BmpEncoder::new(&mut bytes).write_image(image.bytes(), width, height, colours).unwrap(),
    }
    bytes
}

fn decoded(bytes: &[u8]) -> Result<Image, ImageError> {
    decode_bytes(bytes, &DecodeLimits::default())
}

#[test]
fn four_formats_are_read() {
    let image = picture(9, 14, 3);
    for format in ["png", "webp", "bmp"] {
        assert_eq!(decoded(&encoded(&image, format)).unwrap(), image, "{format}");
    }
    let smooth = Image::filled(20, 30, &[200, 80, 40]).unwrap();
    let read = decoded(&encoded(&smooth, "jpeg")).unwrap();
    assert_eq!((read.height(), read.width(), read.channels()), (20, 30, 3));
    assert!(read.bytes().iter().zip(smooth.bytes()).all(|(a, b)| a.abs_diff(*b) < 6));
    let grey = picture(5, 4, 1);
    assert_eq!(decoded(&grey.png().unwrap()).unwrap(), grey, "grey stays grey");
}

#[test]
fn what_is_transparent_lies_on_white() {
    let pixels = RgbaImage::from_raw(3, 1, vec![10, 20, 30, 255, 10, 20, 30, 0, 0, 0, 0, 128]).unwrap();
    let mut bytes = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut bytes, ::image::ImageFormat::Png).unwrap();
    let image = decoded(bytes.get_ref()).unwrap();
    assert_eq!(image.bytes(), [10, 20, 30, 255, 255, 255, 127, 127, 127]);
}

#[test]
fn files_cut_short_anywhere_are_errors_or_whole() {
    let image = picture(6, 7, 3);
    for format in ["png", "jpeg", "webp", "bmp"] {
        let bytes = encoded(&image, format);
        let whole = decoded(&bytes).unwrap();
        let mut refused = 0;
        for length in 0..bytes.len() {
            match decoded(&bytes[..length]) {
                // Only what comes after the pixels may be missing.
                Ok(read) => assert!(read == whole && length + 24 >= bytes.len(), "{format} {length}"),
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    assert!(
                        text.contains("broken") || text.contains("is no PNG"),
                        "{format} {length}: {text}"
                    );
                }
            }
        }
        assert!(refused + 24 >= bytes.len(), "{format}");
    }
}

#[test]
fn what_stands_behind_a_jpeg_does_not_matter() {
    let bytes = encoded(&picture(6, 7, 3), "jpeg");
    let whole = decoded(&bytes).unwrap();
    for behind in [&b"notes"[..], &[0xff, 0xda, 1, 2], &[0xff, 0xd9, 0xff, 0xda, 0xff, 0xd9], &bytes] {
        assert_eq!(decoded(&[&bytes[..], behind].concat()).unwrap(), whole);
    }
}

#[test]
fn changed_bytes_never_break_the_program() {
    let image = picture(5, 5, 3);
    for format in ["png", "jpeg", "webp", "bmp"] {
        let bytes = encoded(&image, format);
        for place in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = value;
                let _ = decode_bytes(&changed, &DecodeLimits { bytes: 1 << 20, pixels: 10_000 });
            }
        }
    }
}

/// A PNG whose header tells of other sides than there are.
fn png_of_sides(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = picture(3, 3, 3).png().unwrap();
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut sum = Crc::new();
    sum.update(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
    bytes
}

#[test]
fn bombs_are_refused_by_their_header() {
    let error = decoded(&png_of_sides(60_000, 50_000)).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::TooManyPixels { height: 50_000, width: 60_000, .. }));
    assert!(error.to_string().contains("50000 × 60000 pixels, but no more than 40000000"), "{error}");
    let error = decoded(&png_of_sides(2_000_000, 1)).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::Memory), "{error}");
    // Sides of no area are no image either.
    decoded(&png_of_sides(0, 7)).unwrap_err();

    let mut bmp = encoded(&picture(3, 3, 3), "bmp");
    bmp[18..22].copy_from_slice(&50_000u32.to_le_bytes());
    bmp[22..26].copy_from_slice(&60_000u32.to_le_bytes());
    let error = decoded(&bmp).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::TooManyPixels { .. }), "{error}");

    let mut jpeg = encoded(&picture(3, 3, 3), "jpeg");
    let frame = jpeg.windows(2).position(|mark| mark == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xea, 0x60, 0xea, 0x60]);
    let error = decoded(&jpeg).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::TooManyPixels { .. }), "{error}");

    let small = DecodeLimits { bytes: 20, pixels: 8 };
    let error = decode_bytes(&picture(3, 3, 3).png().unwrap(), &small).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::TooManyBytes { most: 20, .. }));
    let few = DecodeLimits { pixels: 8, ..DecodeLimits::default() };
    let error = decode_bytes(&picture(3, 3, 3).png().unwrap(), &few).unwrap_err();
    assert!(matches!(error.problem, ImageProblem::TooManyPixels { most: 8, .. }));
}

#[test]
fn files_that_are_none_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let limits = DecodeLimits::default();
    let told = |path: &Path| decode_file(path, &limits).unwrap_err().to_string();
    let missing = folder.path().join("none.png");
    assert!(told(&missing).contains("none.png: the image is not there"), "{}", told(&missing));
    assert!(told(folder.path()).contains("is no file"));
    let text = folder.path().join("text.png");
    fs::write(&text, "no image").unwrap();
    assert!(told(&text).contains("is no PNG, JPEG, WebP or BMP"));
    let large = folder.path().join("large.png");
    fs::File::create(&large).unwrap().set_len(limits.bytes + 1).unwrap();
    assert!(told(&large).contains("67108865 bytes"), "{}", told(&large));
}

/// A folder with two images, and a list in it.
fn folder(name: &str, list: &str) -> (tempfile::TempDir, ImageFiles) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    picture(4, 5, 3).write_png(&folder.path().join("a.png")).unwrap();
    fs::write(folder.path().join("sub/b.jpg"), encoded(&picture(6, 7, 3), "jpeg")).unwrap();
    fs::write(folder.path().join("broken.png"), &picture(4, 5, 3).png().unwrap()[..50]).unwrap();
    let list_path = folder.path().join(name);
    fs::write(&list_path, list).unwrap();
    let files = ImageFiles::new(folder.path(), list_path, Texts::Captions);
    (folder, files)
}

#[test]
fn lists_give_images_their_captions() {
    let tsv = "a.png\tone cat\ttwo cats\r\n\nsub/b.jpg\ta dog\n./a.png\tby another name\na.png\tthree cats\n";
    let jsonl = r#"{"image": "a.png", "captions": ["one cat", "two cats"], "id": 7}
{"image": "sub/b.jpg", "caption": "a dog"}
{"image": "./a.png", "captions": "by another name"}
{"image": "a.png", "captions": ["three cats", " "]}"#;
    for (name, list) in [("list.tsv", tsv), ("list.jsonl", jsonl)] {
        let (_held, files) = folder(name, list);
        let set = ImageFolder::open(files).unwrap();
        assert_eq!((set.len(), set.skipped().total()), (2, 0));
        assert_eq!(set.texts(0).unwrap(), ["one cat", "two cats", "by another name", "three cats"]);
        let first = set.get(0).unwrap();
        assert_eq!((first.name.as_str(), &first.image), ("a.png", &picture(4, 5, 3)));
        assert_eq!(first.texts[3], ImageText::new("three cats"));
        assert_eq!(set.get(1).unwrap().image.width(), 7);
        let corpus = texts_of(&set, u64::MAX).unwrap();
        let mut corpus: Box<dyn crate::Corpus> = Box::new(corpus);
        let texts: Vec<String> = std::iter::from_fn(|| corpus.next().unwrap()).map(|e| e.target).collect();
        assert_eq!(texts, ["one cat", "two cats", "by another name", "three cats", "a dog"]);
    }
}

#[test]
fn labels_are_one_for_each_image() {
    let (_held, mut files) = folder("list.jsonl", "{\"image\": \"a.png\", \"label\": \"cat\"}\n");
    files.texts = Texts::Labels;
    let set = ImageFolder::open(files).unwrap();
    assert_eq!(set.texts(0).unwrap(), ["cat"]);
    let mut corpus = texts_of(&set, u64::MAX).unwrap();
    let labels = crate::Labels::learn(crate::Unit::Sequence, &mut corpus).unwrap();
    assert_eq!(labels.len(), 1);

    let (_held, mut files) = folder("list.tsv", "a.png\tcat\na.png\tcat\na.png\tdog\n");
    files.texts = Texts::Labels;
    let error = ImageFolder::open(files.clone()).unwrap_err().to_string();
    assert!(error.contains("list.tsv, line 3: a.png: has two labels, \"cat\" and \"dog\""), "{error}");
    fs::write(&files.list, "a.png\tcat\tdog\n").unwrap();
    let error = ImageFolder::open(files).unwrap_err().to_string();
    assert!(error.contains("line 1: \"cat\\tdog\" is no label"), "{error}");
}

#[test]
fn lines_that_cannot_be_used_are_told_or_counted() {
    for (line, message) in [
        ("gone.png\ttext", "list.tsv, line 2: gone.png: the image is not there"),
        ("../a.png\ttext", "list.tsv, line 2: ../a.png: the name leads out of the folder"),
        ("/etc/passwd\ttext", "leads out of the folder"),
        ("sub/../../x.png\ttext", "leads out of the folder"),
        ("sub\ttext", "line 2: sub: is no file"),
        ("a.png", "list.tsv, line 2: there is no column 1"),
        ("a.png\t ", "line 2: the text of the image is empty"),
        ("\ttext", "the name of the image is empty"),
    ] {
        let (_held, files) = folder("list.tsv", &format!("a.png\tone\n{line}\nsub/b.jpg\ttwo\n"));
        let error = ImageFolder::open(files.clone()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        let set = ImageFolder::open(ImageFiles { skip_bad: true, ..files }).unwrap();
        assert_eq!((set.len(), set.skipped().total(), set.skipped().first().len()), (2, 1, 1), "{line}");
    }
    for (line, message) in [
        ("[]", "is not a JSON object"),
        ("{\"captions\": [\"x\"]}", "has no key \"image\""),
        ("{\"image\": \"a.png\"}", "has no key \"captions\""),
        ("{\"image\": 3, \"captions\": [\"x\"]}", "\"image\" is not a string"),
        ("{\"image\": \"a.png\", \"captions\": [\"x\", 3]}", "\"captions\" is not a string"),
        ("{\"image\": \"a.png\", \"captions\": []}", "the text of the image is empty"),
    ] {
        let (_held, files) = folder("list.jsonl", line);
        let error = ImageFolder::open(files.clone()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        let error = ImageFolder::open(ImageFiles { skip_bad: true, ..files }).unwrap_err().to_string();
        assert!(
            error.contains("there is no usable image; passed over: 1 badly listed; the first: "),
            "{error}"
        );
    }
}

#[test]
fn a_broken_image_is_told_with_the_line_that_names_it() {
    let (_held, files) = folder("list.tsv", "a.png\tone\nbroken.png\ttwo\n");
    let set = ImageFolder::open(files).unwrap();
    let error = set.get(1).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("list.tsv, line 2: ") && text.contains("broken.png: the image is broken"),
        "{text}"
    );
    let mut skipped = Skipped::default();
    skipped.pass(error).unwrap();
    assert_eq!(skipped.count(Reason::Broken), 1);
}

fn idx(sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, sizes.len() as u8];
    file.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    file.extend_from_slice(bytes);
    file
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// Two files with this content.
fn idx_files(images: &[u8], labels: &[u8]) -> (tempfile::TempDir, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["images", "labels"].map(|name| folder.path().join(name));
    fs::write(&paths[0], images).unwrap();
    fs::write(&paths[1], labels).unwrap();
    (folder, paths)
}

fn open(images: &[u8], labels: &[u8]) -> Result<IdxSet, DataError> {
    let (_held, [images, labels]) = idx_files(images, labels);
    IdxSet::open(&images, &labels)
}

#[test]
fn idx_files_are_read_plain_or_gzipped() {
    let pixels: Vec<u8> = (0..3 * 4 * 5).collect();
    let (images, labels) = (idx(&[3, 4, 5], &pixels), idx(&[3], &[7, 0, 9]));
    for (images, labels) in [(images.clone(), labels.clone()), (gzipped(&images), gzipped(&labels))] {
        let set = open(&images, &labels).unwrap();
        assert_eq!((set.len(), set.labels()), (3, &[7, 0, 9][..]));
        let last = set.get(2).unwrap();
        assert_eq!(last.image, Image::new(4, 5, 1, pixels[40..].to_vec()).unwrap());
        assert_eq!((last.texts, set.texts(2).unwrap()), (vec![ImageText::new("9")], vec!["9".to_owned()]));
    }
    let coloured = open(&idx(&[1, 2, 2, 3], &pixels[..12]), &idx(&[1], &[4])).unwrap();
    assert_eq!(coloured.get(0).unwrap().image.channels(), 3);
    assert!(open(&idx(&[0, 28, 28], &[]), &idx(&[0], &[])).unwrap().is_empty());
}

#[test]
fn idx_files_cut_short_anywhere_are_errors() {
    let pixels: Vec<u8> = (0..2 * 3 * 3).collect();
    let (images, labels) = (idx(&[2, 3, 3], &pixels), idx(&[2], &[1, 2]));
    for length in 0..images.len() {
        open(&images[..length], &labels).unwrap_err();
    }
    for length in 0..labels.len() {
        open(&images, &labels[..length]).unwrap_err();
    }
    let packed = gzipped(&images);
    for length in 0..packed.len() {
        open(&packed[..length], &labels).unwrap_err();
    }
    let error = open(&images[..images.len() - 1], &labels).unwrap_err().to_string();
    assert!(error.contains("images: ") && error.contains("ends after 17 of the 18 bytes"), "{error}");
}

#[test]
fn idx_files_that_lie_are_refused() {
    let labels = idx(&[2], &[1, 2]);
    for (images, message) in [
        // Four thousand million images of no bytes take no memory.
        (idx(&[u32::MAX, 28, 28], &[1, 2, 3]), "more than 4294967296"),
        (idx(&[1, 60_000, 60_000], &[1, 2, 3]), "ends after 3 of the 3600000000 bytes"),
        (idx(&[2, 1, 1], &[1, 2, 3]), "goes on after the 2 bytes"),
        (idx(&[2], &[1, 2]), "not those of images"),
        (idx(&[2, 1, 1, 2], &[1, 2, 3, 4]), "not those of images"),
        (idx(&[2, 0, 3], &[]), "make no image"),
        (idx(&[1, 70_000, 1], &vec![0; 70_000]), "make no image"),
        (vec![0, 0, 0x0d, 1, 0, 0, 0, 0], "begins with [00, 00, 0d, 01]"),
        (vec![0x89, b'P', b'N', b'G', 0, 0, 0, 0], "begins with [89, 50, 4e, 47]"),
        (idx(&[3, 1, 1], &[1, 2, 3]), "it has 2 labels, but"),
    ] {
        let error = open(&images, &labels).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let error = open(&idx(&[2, 1, 1], &[1, 2]), &idx(&[2, 1], &[1, 2])).unwrap_err().to_string();
    assert!(error.contains("not one number of labels"), "{error}");
}
