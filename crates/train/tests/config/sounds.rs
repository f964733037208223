//! Models of sounds, and the sounds that they read.

use super::{PAIR, and, check, parse, with};

/// The smallest configuration of transcripts.
const TRANSCRIBE: &str = "task = \"transcribe\"\n[data]\nbuiltin = \"melodies\"\n[encoder.listener]\nwidth = 8\n[decoder.lstm]\nwidth = 8\n";

#[test]
fn models_of_sounds_are_accepted() {
    let files = |line: &str| with(TRANSCRIBE, "builtin = \"melodies\"", line);
    for text in [
        TRANSCRIBE.to_owned(),
        and(TRANSCRIBE, "[attention]\nquery = \"previous\""),
        and(
            TRANSCRIBE,
            "[sound]\nrate = 8000\ndeltas = 2\nnormalisation = \"corpus\"\n[sound.features]\nbands = 20",
        ),
        and(TRANSCRIBE, "[sound.augmentation]\nspeed = 10\nnoise = 0.5\ntime_masks = 2"),
        and(TRANSCRIBE, "[train]\nbatch_frames = 5000\nmax_seconds = 3.5"),
        files("builtin = \"melodies\"\nmin_length = 2\nmax_length = 20\ncache = \"kept\""),
        files("train = { sounds = \"a\", tsv = \"b\" }"),
        files(
            "train = { sounds = \"a\", jsonl = \"b\" }\nvalid = { sounds = \"a\", tsv = \"c\" }\ncache = \"d\"",
        ),
        files("train = { sounds = \"a\", tsv = \"b\" }\njoin = { least = 2, most = 3 }"),
    ] {
        if let Err(error) = parse(&text, &[]) {
            panic!("{error}\n{text}");
        }
    }
}

#[test]
fn sounds_are_for_listeners_and_others_are_not() {
    let files = |line: &str| with(TRANSCRIBE, "builtin = \"melodies\"", line);
    check(vec![
        (
            files("builtin = \"copy\""),
            "3:1",
            "`data.builtin` has no sounds, and the encoder reads sounds; write `builtin = \"melodies\"`",
        ),
        (files("train = { tsv = \"a\" }"), "3:1", "`data.train` has no sounds"),
        (files("builtin = \"shapes\""), "3:1", "`data.builtin` has no sounds"),
        (
            with(PAIR, "\"copy\"", "\"melodies\""),
            "3:1",
            "`data.builtin` has sounds, and the encoder reads none",
        ),
        (and(PAIR, "[train]\nbatch_frames = 9"), "9:1", "`train.batch_frames` is for sounds"),
        (and(PAIR, "[train]\nmax_seconds = 9"), "9:1", "`train.max_seconds` is for sounds"),
        (and(TRANSCRIBE, "[train]\nbatch_tokens = 4096"), "9:1", "write `batch_frames = 20000`"),
        (and(TRANSCRIBE, "[train]\nbatch_frames = 0"), "9:1", "`train.batch_frames` is 0"),
        (and(TRANSCRIBE, "[train]\nmax_seconds = 7200"), "9:1", "write a number of seconds from 0.1 to 600"),
        (files("builtin = \"melodies\"\nmax_length = 1000"), "4:1", "must be 1 ≤ min ≤ max ≤ 100"),
        (and(TRANSCRIBE, "[sound]\nrate = 11025"), "9:1", "in whole thousands"),
    ]);
}

#[test]
fn keys_of_sound_are_checked_where_they_stand() {
    check(vec![
        (and(TRANSCRIBE, "[sound]\nrate = 10"), "9:1", "`sound.rate` is from 1000"),
        (and(TRANSCRIBE, "[sound]\ndeltas = 3"), "9:1", "`sound.deltas` is 0, 1 or 2"),
        (and(TRANSCRIBE, "[sound.features]\nwindow = 0.0"), "9:1", "`sound.features.window` is too short"),
        (and(TRANSCRIBE, "[sound.features]\nbands = 900"), "9:1", "`sound.features.bands` leaves band 1"),
        (and(TRANSCRIBE, "[sound.features]\nhighest = 9000.0"), "9:1", "at most 8000 Hz"),
        (
            and(TRANSCRIBE, "[sound.augmentation]\nspeed = 80"),
            "9:1",
            "`sound.augmentation.speed` is from 0 to 50",
        ),
        (and(TRANSCRIBE, "[sound]\nwindow = 25"), "9:1", "unknown field `window`"),
        (and(TRANSCRIBE, "[sound]\nnormalisation = \"all\""), "9:17", "unknown variant `all`"),
    ]);
}
