//! Files that are damaged in the middle, and such as do not tell their length.

use std::ops::Range;

use symphonia::core::checksum::Crc32;
use symphonia::core::io::Monitor;

use super::super::*;
use super::golden::golden;

const RATE: u32 = 16_000;
/// Samples of a frame of FLAC.
const BLOCK: usize = 256;
const FRAMES: usize = 12;

fn samples() -> Vec<i16> {
    (0..FRAMES * BLOCK).map(|n| ((n * 7919) % 30_011) as i16 - 15_000).collect()
}

fn checksum(bytes: &[u8], width: u32, polynomial: u32) -> u32 {
    let top = 1 << (width - 1);
    let bit = |sum: u32| if sum & top != 0 { sum << 1 ^ polynomial } else { sum << 1 };
    bytes.iter().fold(0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte) << (width - 8), |sum, _| bit(sum)))
        & (top << 1).wrapping_sub(1)
}

/// The description of a stream of FLAC, which may leave out how long it is.
fn stream_info(told: bool) -> Vec<u8> {
    let mut info = [(BLOCK as u16).to_be_bytes(), (BLOCK as u16).to_be_bytes()].concat();
    info.extend([0; 6]);
    let count = if told { (FRAMES * BLOCK) as u64 } else { 0 };
    info.extend((u64::from(RATE) << 44 | 15 << 36 | count).to_be_bytes());
    info.extend([0; 16]);
    info
}

/// Frame number `number`, whose samples are written out.
fn frame(number: usize) -> Vec<u8> {
    // Fixed blocks of a told length, 16,000 samples a second, one channel, 16 bits.
    let mut bytes = vec![0xff, 0xf8, 0x75, 0x08, number as u8];
    bytes.extend((BLOCK as u16 - 1).to_be_bytes());
    bytes.push(checksum(&bytes, 8, 0x07) as u8);
    bytes.push(0b10); // verbatim
    bytes.extend(samples()[number * BLOCK..][..BLOCK].iter().flat_map(|sample| sample.to_be_bytes()));
    bytes.extend((checksum(&bytes, 16, 0x8005) as u16).to_be_bytes());
    bytes
}

fn flac(told: bool, frames: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut bytes = b"fLaC\x80\0\0\x22".to_vec();
    bytes.extend(stream_info(told));
    (0..FRAMES).for_each(|number| bytes.extend(frames(number)));
    bytes
}

/// A page of Ogg with one piece in it.
fn page(number: u32, flags: u8, end: u64, piece: &[u8]) -> Vec<u8> {
    let mut bytes = b"OggS\0".to_vec();
    bytes.push(flags);
    bytes.extend(end.to_le_bytes());
    bytes.extend(7u32.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.push((piece.len() / 255 + 1) as u8);
    bytes.extend(vec![255; piece.len() / 255]);
    bytes.push((piece.len() % 255) as u8);
    bytes.extend(piece);
    let mut sum = Crc32::new(0);
    sum.process_buf_bytes(&bytes);
    bytes[22..26].copy_from_slice(&sum.crc().to_le_bytes());
    bytes
}

/// FLAC in Ogg, a page for each frame.
fn ogg(pages: impl Fn(usize, Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut head = b"\x7fFLAC\x01\0\0\x01fLaC\0\0\0\x22".to_vec();
    head.extend(stream_info(true));
    let mut bytes = page(0, 2, 0, &head);
    bytes.extend(page(1, 0, 0, b"\x84\0\0\x08\0\0\0\0\0\0\0\0"));
    for number in 0..FRAMES {
        let last = if number + 1 == FRAMES { 4 } else { 0 };
        let whole = page(2 + number as u32, last, ((number + 1) * BLOCK) as u64, &frame(number));
        bytes.extend(pages(number, whole));
    }
    bytes
}

/// The same with one byte of its middle changed.
fn scratched(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    bytes
}

fn read(bytes: &[u8], part: Option<Range<usize>>) -> Result<Vec<f32>, SoundError> {
    let seconds = |sample: usize| sample as f64 / f64::from(RATE);
    let part = part.map(|part| (seconds(part.start), seconds(part.end)));
    let wanted = Wanted { rate: None, part };
    decode_bytes(bytes.to_vec(), &wanted, &SoundLimits::default()).map(|sound| sound.samples)
}

fn expected(part: Range<usize>) -> Vec<f32> {
    samples()[part].iter().map(|sample| f32::from(*sample) / 32_768.0).collect()
}

/// The files as they should be, with and without a length, and the same with damage in frame 5.
fn files() -> [(&'static str, Vec<u8>, Vec<u8>); 4] {
    let hurt = |number: usize| if number == 5 { scratched(frame(number)) } else { frame(number) };
    let gone = |number: usize| if number == 5 { Vec::new() } else { frame(number) };
    let hurt_page = |number: usize, page: Vec<u8>| if number == 5 { scratched(page) } else { page };
    [
        ("FLAC", flac(true, frame), flac(true, hurt)),
        ("FLAC without a length", flac(false, frame), flac(false, hurt)),
        ("FLAC without a frame", flac(false, frame), flac(false, gone)),
        ("Ogg", ogg(|_, page| page), ogg(hurt_page)),
    ]
}

#[test]
fn damage_is_noticed_where_it_is() {
    for (name, whole, hurt) in files() {
        assert_eq!(read(&whole, None).unwrap(), expected(0..FRAMES * BLOCK), "{name}");
        let error = read(&hurt, None).unwrap_err().to_string();
        assert!(error.contains("it is damaged from 0.08 to "), "{name}: {error}");
        for part in [4 * BLOCK..6 * BLOCK, 5 * BLOCK + 10..5 * BLOCK + 20, 0..FRAMES * BLOCK] {
            let found = read(&hurt, Some(part.clone()));
            let error = found.unwrap_err().to_string();
            assert!(error.contains("it is damaged from 0.0"), "{name} {part:?}: {error}");
            assert_eq!(read(&whole, Some(part.clone())).unwrap(), expected(part), "{name}");
        }
    }
}

#[test]
fn what_is_whole_in_a_damaged_file_is_read() {
    for (name, _, hurt) in files() {
        for part in
            [0..5 * BLOCK, 3 * BLOCK + 5..4 * BLOCK + 9, 8 * BLOCK + 7..11 * BLOCK, 7 * BLOCK..12 * BLOCK]
        {
            assert_eq!(read(&hurt, Some(part.clone())).unwrap(), expected(part), "{name}");
        }
    }
}

#[test]
fn an_ogg_file_without_its_end_has_its_beginning() {
    let short = ogg(|number, page| if number < 8 { page } else { Vec::new() });
    assert!(read(&short, None).unwrap_err().to_string().contains("cut short"));
    assert_eq!(read(&short, Some(2 * BLOCK..7 * BLOCK)).unwrap(), expected(2 * BLOCK..7 * BLOCK));
    let error = read(&short, Some(6 * BLOCK..9 * BLOCK)).unwrap_err().to_string();
    assert!(error.contains("cut short"), "{error}");
    // Damage in the last page is no end.
    let hurt = ogg(|number, page| if number + 1 == FRAMES { scratched(page) } else { page });
    assert!(read(&hurt, None).is_err());
    assert_eq!(read(&hurt, Some(0..11 * BLOCK)).unwrap(), expected(0..11 * BLOCK));
}

/// Frames of MP3 with a high bit rate, then many with a low one: from the first, the file seems shorter than it is.
#[test]
fn an_mp3_file_without_a_tag_is_read_to_its_end() {
    // MPEG-2 layer III, 16,000 samples a second, one channel; nothing in it, which is silence.
    let frame = |rate_index: u8, length: usize| {
        let mut bytes = vec![0xff, 0xf3, rate_index << 4 | 0x08, 0xc0];
        bytes.resize(length, 0);
        bytes
    };
    let (loud, soft) = (frame(0b1000, 72 * 64_000 / 16_000), frame(0b0001, 72 * 8_000 / 16_000));
    let bytes = [loud.repeat(20), soft.repeat(100)].concat();
    assert_eq!(read(&bytes, None).unwrap().len(), 120 * 576);
    assert_eq!(read(&bytes, Some(100 * 576..120 * 576)).unwrap().len(), 20 * 576);
    let limits = SoundLimits { seconds: 4.0, ..SoundLimits::default() };
    let error = decode_bytes(bytes, &Wanted::default(), &limits).unwrap_err();
    assert!(matches!(error.problem, SoundProblem::TooLong { .. }), "{error}");
    // With a tag it is as long as that says.
    let tagged = golden().files.into_iter().find(|file| file.name == "mp3").unwrap();
    let found = decode_bytes(tagged.bytes(), &Wanted::default(), &SoundLimits::default()).unwrap();
    assert_eq!(found.samples.len(), tagged.decoded.len());
}

#[test]
fn features_of_another_rate_are_not_taken_from_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    super::tone(16_000, 3_500.0, 0.5).write_wav(&folder.path().join("a.wav")).unwrap();
    std::fs::write(folder.path().join("list.tsv"), "a.wav\thello\n").unwrap();
    let cache = std::sync::Arc::new(FrameCache::open(folder.path().join("cache")).unwrap());
    let preparer = std::sync::Arc::new(Preparer::new(Preparation::default(), None).unwrap());
    let frames = |rate: u32, cache: Option<std::sync::Arc<FrameCache>>| {
        let list = SoundList { rate, ..SoundList::new(folder.path(), folder.path().join("list.tsv")) };
        let set: std::sync::Arc<dyn SoundSet> = std::sync::Arc::new(SoundFiles::open(list).unwrap());
        let mut found = ready(set, vec![0], preparer.clone(), cache, None, AheadSettings::default()).unwrap();
        found.next().unwrap().unwrap().frames
    };
    // At 6,000 samples a second the tone is gone.
    let [fine, coarse] = [16_000, 6_000].map(|rate| frames(rate, Some(cache.clone())));
    assert_ne!(fine, coarse);
    assert_eq!((fine, coarse), (frames(16_000, None), frames(6_000, None)));
    assert_eq!(cache.used().made, 2);
}
