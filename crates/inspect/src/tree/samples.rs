//! Trees for the tests.

use gatto_search::{Considered, Fate};

use super::{Greedy, Output, Record, Tree};

const END: u32 = 0;
const WORDS: [&str; 9] = ["⟨/s⟩", "un", "il", "lo", "gatto", "cane", "dorme", "è", "qui"];

/// A word of the samples.
pub(super) fn word(token: u32) -> String {
    WORDS.get(token as usize).map_or_else(|| format!("w{token}"), |&word| word.to_owned())
}

pub(super) fn considered(parent: Option<usize>, token: u32, log_probability: f32, fate: Fate) -> Considered {
    Considered {
        parent,
        group: 0,
        token,
        log_probability,
        entropy: 0.0,
        score: f64::from(log_probability),
        fate,
    }
}

pub(super) fn output(text: &str, log_probability: f64) -> Output {
    Output { text: text.to_owned(), log_probability, score: log_probability / 2.0 }
}

/// A beam of two that finds what greedy search does not: "il gatto" in place of "un gatto".
pub(super) fn record() -> Record {
    let steps = vec![
        vec![
            considered(None, 1, -0.7, Fate::Kept),
            considered(None, 2, -0.8, Fate::Kept),
            considered(None, 3, -3.0, Fate::Beaten { by: 2.2 }),
        ],
        vec![
            considered(Some(1), 4, -0.1, Fate::Kept),
            considered(Some(0), 4, -1.1, Fate::Kept),
            considered(Some(0), 5, -1.3, Fate::Beaten { by: 0.2 }),
            considered(Some(1), END, -2.0, Fate::TooShort),
        ],
        vec![
            considered(Some(0), END, -0.2, Fate::Finished { rank: Some(0) }),
            considered(Some(0), 6, -1.9, Fate::Dropped),
        ],
    ];
    let tokens = vec![(1, -0.7), (4, -1.1), (END, -0.4)];
    Record {
        title: "the cat → il gatto".to_owned(),
        beam: 2,
        steps,
        results: vec![output("il gatto", -1.1)],
        greedy: Some(Greedy { output: output("un gatto", -2.2), tokens }),
    }
}

pub(super) fn small() -> Tree {
    Tree::new(record(), word).unwrap()
}

/// Everything that can become of a candidate.
pub(super) const FATES: [Fate; 12] = [
    Fate::Given,
    Fate::Kept,
    Fate::Finished { rank: Some(0) },
    Fate::Finished { rank: None },
    Fate::Unfinished { rank: 1 },
    Fate::Dropped,
    Fate::Beaten { by: 0.314 },
    Fate::Forbidden,
    Fate::Repeated,
    Fate::TooShort,
    Fate::Again,
    Fate::Phrases,
];

pub(super) fn all_fates() -> Tree {
    let candidate = |(token, &fate): (u32, &Fate)| considered(None, token, -0.5, fate);
    let steps = vec![(0..).zip(&FATES).map(candidate).collect()];
    let results = vec![output("a", -0.5), output("b", -0.5)];
    Tree::new(Record { title: String::new(), beam: 12, steps, results, greedy: None }, word).unwrap()
}

/// A search of so many places and steps that goes here and there, the same every time.
pub(super) fn wide(beam: usize, steps: usize, seed: usize) -> Tree {
    let noise = |step: usize, place: usize| {
        let mixed = (seed * 7919 + step * 131 + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 20) % 1000
    };
    let mut all: Vec<Vec<Considered>> = Vec::new();
    for step in 0..steps {
        let open: Vec<usize> = match all.last() {
            None => Vec::new(),
            Some(before) => (0..before.len()).filter(|&place| before[place].fate == Fate::Kept).collect(),
        };
        let candidate = |place: usize| {
            let last = step + 1 == steps;
            let fate = match place {
                0 if last => Fate::Finished { rank: Some(0) },
                _ if place >= beam => Fate::Beaten { by: place as f64 / 7.0 },
                _ if last => Fate::Dropped,
                3 if step % 4 == 3 => Fate::Finished { rank: None },
                _ => Fate::Kept,
            };
            // Some hypotheses have many continuations, and some none.
            let parent = (!open.is_empty()).then(|| open[noise(step, place) * noise(step, 99) % open.len()]);
            considered(parent, noise(step, place) as u32, -0.01 * place as f32, fate)
        };
        all.push((0..beam + 3).map(candidate).collect());
    }
    let tokens = (0..steps as u32).map(|step| (step % 9, -0.5)).collect();
    let record = Record {
        title: format!("{steps} steps"),
        beam,
        steps: all,
        results: vec![output("what was found", -1.0)],
        greedy: Some(Greedy { output: output("something else", -2.0), tokens }),
    };
    Tree::new(record, word).unwrap()
}

/// Text that breaks what does not escape it, and text that must stay as it is.
pub(super) fn hostile() -> Tree {
    let texts = [
        "</script><img src=x onerror=alert(1)>",
        "<!--{{drawings}}",
        "]]>&amp;\"'",
        "\u{0}\u{1b}[31m\u{202e}",
        "机器翻译",
        "قطة!",
        "",
    ];
    let fate = |token: usize| if token < 5 { Fate::Kept } else { Fate::Beaten { by: f64::INFINITY } };
    let step =
        |parent| (0..texts.len()).map(move |token| considered(parent, token as u32, -1.0, fate(token)));
    let steps = vec![step(None).collect(), step(Some(0)).collect()];
    let results = vec![output(texts[0], f64::NEG_INFINITY)];
    let greedy = Greedy { output: output(texts[3], -1.0), tokens: vec![(1, -1.0), (3, -2.0)] };
    let record = Record { title: texts.concat(), beam: 5, steps, results, greedy: Some(greedy) };
    Tree::new(record, |token| texts[token as usize].to_owned()).unwrap()
}

/// All samples.
pub(super) fn all() -> Vec<Tree> {
    vec![small(), all_fates(), hostile(), wide(1, 5, 1), wide(2, 40, 2), wide(5, 8, 3), wide(10, 40, 4)]
}
