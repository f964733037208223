//! What holds of every drawing of a spectrogram.

use super::*;
use crate::svg::assert_well_formed;
use resvg::tiny_skia::Pixmap;

/// Twelve frames of three bands, of which the highest is loud in the first half; two states for each token.
fn sample(title: &str, names: &[&str]) -> Spectrogram {
    let values = (0..12).flat_map(|frame| [-20.0, -9.0, if frame < 6 { 0.0 } else { -30.0 }]);
    let frames = Frames { values: values.collect(), bands: 3, hop: 0.1 };
    let timeline = frames.timeline().joined(3);
    let token = |(number, name): (usize, &&str)| {
        let mut weights = vec![0.1; 4];
        weights[number % 4] = 0.7;
        Heard { probability: Some(0.9), known: Some((0.3, 0.6)), ..Heard::new(*name, weights) }
    };
    let tokens = names.iter().enumerate().map(token).collect();
    Spectrogram::new(title, frames, (50.0, 3_950.0), timeline, tokens).unwrap()
}

#[test]
fn a_picture_has_all_tokens_and_is_well_formed() {
    let hostile = ["c4", "<script>\"&", "\u{202e}\u{0}", "", "ein sehr langes Wort, das nirgends Platz hat"];
    let picture = sample("a <b> & \"c\"\u{1b}", &hostile);
    let svg = svg(&picture);
    assert_well_formed(&svg);
    assert!(svg.contains(">c4</text>") && svg.contains("data:image/png;base64,"));
    assert!(svg.contains("4 kHz") && svg.contains("50 Hz") && svg.contains("when it sounds"));
    assert_eq!(svg.matches("class=\"known\"").count(), hostile.len());
    assert!(png(&picture, 1.0).unwrap().starts_with(b"\x89PNG"));
    assert!(png(&picture, f32::NAN).is_err() && png(&picture, 1e9).is_err());
}

/// The loud half of the highest band is light, the silent one dark; a row is darkest where the most weight is.
#[test]
fn pixels_are_where_the_sound_and_the_weights_are() {
    let picture = sample("", &["one", "two"]);
    let drawn = Pixmap::decode_png(&png(&picture, 1.0).unwrap()).unwrap();
    let light = |x: f64, y: f64| {
        let pixel = drawn.pixel(x as u32, y as u32).unwrap();
        u32::from(pixel.red()) + u32::from(pixel.green()) + u32::from(pixel.blue())
    };
    // 1.2 seconds are 420 pixels, behind the labels; the spectrogram stands at the top.
    let (left, top) = (f64::from(drawn.width()) - 420.0 - 44.0 - 18.0, 18.0);
    assert!(light(left + 100.0, top + 10.0) > 500, "loud and high");
    assert!(light(left + 350.0, top + 10.0) < 200, "silent and high");
    let row = |number: f64| top + 150.0 + 26.0 + number * 18.0 + 5.0;
    assert!(light(left + 15.0, row(0.0)) < 300 && light(left + 250.0, row(0.0)) > 400);
    assert!(light(left + 120.0, row(1.0)) < 300 && light(left + 15.0, row(1.0)) > 400);
}

#[test]
fn a_terminal_shows_the_same_with_and_without_colours() {
    let picture = sample("clip", &["one", "two"]);
    let plain = terminal(&picture, 60, Colours::None);
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!((lines[0], lines.len()), ("clip", 1 + 10 + 1 + 2));
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{plain}");
    // Loud in the first half, at the top; the darkest place of each token is its own.
    assert!(lines[1].contains("████") && lines[1].chars().count() < 40, "{plain}");
    let place = |line: &str| line.chars().position(|sign| sign == '█').unwrap();
    assert!(place(lines[12]) < place(lines[13]) && lines[13].ends_with("0.90"), "{plain}");
    for colours in [Colours::Indexed, Colours::True] {
        let coloured = terminal(&picture, 60, colours);
        assert_eq!(coloured.lines().count(), lines.len());
        assert!(coloured.contains("\x1b[") && coloured.contains("one"));
    }
    assert!(terminal(&picture, 0, Colours::None).lines().all(|line| line.chars().count() <= 32));
}

#[test]
fn a_page_holds_all_and_may_play() {
    let picture = sample("a </script> clip", &["<one>", "two"]).with_sound(b"RIFF".to_vec());
    let page = html(&[&picture, &sample("other", &["x"])]);
    assert!(page.contains("media-src data:; ") && page.contains("data:audio/wav;base64,UklGRg=="));
    assert!(!page.contains("</script> clip") && page.contains("\\u003cone>"));
    assert!(page.contains("\"heard\":[0.1"), "the first state is centred on a tenth of a second");
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let frames = Frames { values: vec![0.0; 12], bands: 3, hop: 0.1 };
    let line = frames.timeline();
    let made = |frames: &Frames, line: Timeline, tokens: Vec<Heard>| {
        Spectrogram::new("", frames.clone(), (0.0, 1.0), line, tokens).map(drop)
    };
    let token = |count: usize, value: f32| Heard::new("a", vec![value; count]);
    assert_eq!(made(&frames, line, vec![token(4, 0.1)]), Ok(()));
    let silent = Frames { values: Vec::new(), ..frames.clone() };
    assert_eq!(made(&silent, line, vec![token(4, 0.1)]), Err(SpectrogramError::Empty("a frame")));
    assert_eq!(made(&frames, line, Vec::new()), Err(SpectrogramError::Empty("a token")));
    assert!(matches!(made(&frames, line, vec![token(3, 0.1)]), Err(SpectrogramError::Weights { .. })));
    for bad in [f32::NAN, f32::INFINITY, -0.1] {
        assert!(matches!(made(&frames, line, vec![token(4, bad)]), Err(SpectrogramError::Value { .. })));
    }
    let noise = Frames { values: vec![f32::NAN; 12], ..frames.clone() };
    assert!(matches!(made(&noise, line, vec![token(4, 0.1)]), Err(SpectrogramError::Value { .. })));
    let many = vec![token(4, 0.1); MOST_TOKENS + 1];
    assert!(matches!(made(&frames, line, many), Err(SpectrogramError::TooLarge { what: "tokens", .. })));
    let stopped = Timeline { step: 0.0, ..line };
    assert!(made(&frames, stopped, vec![token(4, 0.1)]).is_err());
    // Nothing but zeros can be drawn.
    let still = Spectrogram::new("", frames, (0.0, 1.0), line, vec![token(4, 0.0)]).unwrap();
    assert_well_formed(&svg(&still));
    assert!(terminal(&still, 40, Colours::None).contains('a'));
}
