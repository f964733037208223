//! Reference values of librosa and libsndfile.

use serde::Deserialize;

use super::super::*;

#[derive(Deserialize)]
pub(super) struct Golden {
    clips: std::collections::HashMap<String, Vec<i16>>,
    features: Vec<Case>,
    deltas: Deltas,
    normal: Vec<f32>,
    pub(super) files: Vec<Encoded>,
}

#[derive(Deserialize)]
struct Case {
    clip: String,
    rate: u32,
    window: f64,
    hop: f64,
    transform: usize,
    bands: usize,
    lowest: f64,
    highest: f64,
    scale: MelScale,
    even: bool,
    floor: f64,
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Deltas {
    first: Vec<f32>,
    second: Vec<f32>,
}

#[derive(Deserialize)]
pub(super) struct Encoded {
    pub(super) name: String,
    pub(super) rate: u32,
    pub(super) channels: usize,
    bytes: String,
    pub(super) decoded: Vec<f32>,
}

impl Encoded {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let digits = self.bytes.as_bytes().chunks_exact(2);
        digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    }
}

pub(super) fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../../tests/golden/sound.json")).unwrap()
}

impl Golden {
    fn frames(&self, case: &Case) -> Frames {
        let milliseconds = |samples: f64| samples * 1000.0 / f64::from(case.rate);
        let settings = LogMel {
            window: milliseconds(case.window),
            hop: milliseconds(case.hop),
            bands: case.bands,
            transform: Some(case.transform),
            lowest: case.lowest,
            highest: Some(case.highest),
            scale: case.scale,
            even: case.even,
            floor: case.floor,
        };
        let samples: Vec<f32> =
            self.clips[&case.clip].iter().map(|value| f32::from(*value) / 32768.0).collect();
        MelExtractor::new(&settings, case.rate).unwrap().frames(&samples)
    }
}

/// The largest difference.
fn apart(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn features_are_those_of_librosa() {
    let golden = golden();
    assert!(golden.features.len() >= 5);
    for case in &golden.features {
        let frames = golden.frames(case);
        assert_eq!(frames.bands, case.bands);
        let apart = apart(&frames.values, &case.values);
        // Their last digit is the seventh, of values up to 23.
        assert!(apart < 1e-5, "{}, {} bands: {apart}", case.clip, case.bands);
    }
    let deepest = golden.features[0].values.iter().copied().fold(0.0, f32::min);
    assert!((f64::from(deepest) - 1e-10f64.ln()).abs() < 1e-4, "the floor is reached: {deepest}");
}

#[test]
fn a_window_finds_its_transform() {
    let settings = LogMel { transform: Some(512), ..LogMel::default() };
    let (found, told) = <(MelExtractor, MelExtractor)>::from(
        [LogMel::default(), settings].map(|settings| MelExtractor::new(&settings, 16_000).unwrap()),
    );
    let samples = super::rustle(4_000, 1);
    assert_eq!(found.frames(&samples), told.frames(&samples));
    assert_eq!((found.rate(), found.bands(), found.hop()), (16_000, 80, 0.01));
}

#[test]
fn deltas_and_normalisation_are_those_of_librosa_and_numpy() {
    let golden = golden();
    let frames = golden.frames(&golden.features[0]);
    let with = frames.with_deltas(2);
    assert_eq!((with.bands, with.len()), (240, frames.len()));
    let part = |number: usize| -> Vec<f32> {
        (0..with.len()).flat_map(|frame| with.frame(frame)[number * 80..][..80].to_vec()).collect()
    };
    assert_eq!(part(0), frames.values);
    assert!(apart(&part(1), &golden.deltas.first) < 1e-5);
    assert!(apart(&part(2), &golden.deltas.second) < 1e-5);
    assert_eq!(frames.with_deltas(1).values.len(), 2 * frames.values.len());
    let mut normal = frames.clone();
    Statistics::of(&frames).apply(&mut normal);
    assert!(apart(&normal.values, &golden.normal) < 1e-4);
}

#[test]
fn encoded_files_are_read_as_libsndfile_reads_them() {
    for file in golden().files {
        let sound = decode_bytes(file.bytes(), &Wanted::default(), &SoundLimits::default()).unwrap();
        assert_eq!(sound.rate, file.rate, "{}", file.name);
        assert_eq!(sound.samples.len(), file.decoded.len(), "{}", file.name);
        let theirs: Vec<f32> = file.decoded.iter().map(|value| value / 32768.0).collect();
        let apart = apart(&sound.samples, &theirs);
        // Of lossy formats, decoders may differ in the last bits; the file has one digit behind the point.
        let most = if matches!(&*file.name, "mp3" | "ogg") { 2e-4 } else { 2e-6 };
        assert!(apart < most, "{}: {apart}", file.name);
    }
}
