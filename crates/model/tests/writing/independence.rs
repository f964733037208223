//! What a sentence becomes depends on nothing but the sentence: not on how many are computed together, on
//! which stand beside it, or on the number of threads. Not nearly: every bit. And what search says of its
//! output is what scoring that output says.

use crate::{SENTENCES, best, models, prepared_models, sentences};
use gatto_model::{Drawing, Prediction, Request, Saved, Task, Writers};
use gatto_search::{Sampling, SearchConfig};

pub(crate) fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

#[test]
fn neither_company_nor_threads_change_a_bit() {
    company_changes_nothing(models(), SENTENCES);
}

#[test]
fn nor_do_they_where_weights_are_ready() {
    company_changes_nothing(prepared_models(), SENTENCES / 5);
}

fn company_changes_nothing(models: Vec<(String, Saved)>, count: usize) {
    let sentences: Vec<String> = sentences().into_iter().take(count).collect();
    for (name, mut saved) in models {
        for beam in [1, 5] {
            saved.search = SearchConfig { beam, max_length: 8, ..SearchConfig::default() };
            let (model, tokens, plan) = (saved.model.clone(), saved.tokens.clone(), saved.plan.clone());
            let written =
                move |threads: usize, batch: usize, sentences: Vec<String>| -> Vec<Vec<Prediction>> {
                    let (model, tokens, plan) = (model.clone(), tokens.clone(), plan.clone());
                    with_threads(threads, move || {
                        let search = SearchConfig { beam, max_length: 8, ..SearchConfig::default() };
                        let saved = Saved {
                            task: Task::Translate,
                            plan,
                            model,
                            tokens,
                            labels: None,
                            search,
                            statistics: None,
                            shortlist: None,
                        };
                        best(&saved, &sentences, batch, beam)
                    })
                };
            let alone = written(1, 1, sentences.clone());
            assert!(alone.iter().all(|best| !best.is_empty()));
            for (threads, batch) in [(2, 1), (1, 7), (2, 7), (1, 64), (2, 64), (3, 64)] {
                let found = written(threads, batch, sentences.clone());
                let other = (0..count).find(|&row| found[row] != alone[row]);
                let shown = other.map(|row| (&found[row], &alone[row]));
                assert!(other.is_none(), "{name}, beam {beam}, {threads} threads, batch {batch}: {shown:?}");
            }
            // The other way round, each has other neighbours.
            let mut turned = written(2, 64, sentences.iter().rev().cloned().collect());
            turned.reverse();
            assert_eq!(turned, alone, "{name}, beam {beam}");
        }
    }
}

#[test]
fn what_search_reports_is_what_scoring_gives() {
    let sentences: Vec<String> = sentences().into_iter().take(100).collect();
    for (name, mut saved) in models().into_iter().chain(prepared_models()) {
        saved.search = SearchConfig { beam: 5, max_length: 8, ..SearchConfig::default() };
        let found = best(&saved, &sentences, 16, 5);
        let mut checked = 0;
        for (source, best) in sentences.iter().zip(&found) {
            assert!(best.windows(2).all(|pair| pair[0].score >= pair[1].score), "{name}: sorted");
            for Prediction { text, hypothesis, .. } in best {
                if saved.tokens.target.encode(text) != hypothesis.tokens {
                    continue; // a word that is not in the vocabulary has no text
                }
                let scored = saved.score(&[source], &[text], 1).expect("scores").remove(0);
                assert!(
                    scored.log_probabilities.starts_with(&hypothesis.log_probabilities),
                    "{name}: {source}"
                );
                checked += 1;
            }
        }
        assert!(checked > 100, "{name}: {checked} sequences were scored");
    }
}

#[test]
fn a_sample_depends_on_its_line_alone() {
    let sentences: Vec<String> = sentences().into_iter().take(100).collect();
    let requests: Vec<Request<'_>> =
        sentences.iter().map(|sentence| Request::free(sentence.as_str())).collect();
    for (name, mut saved) in models() {
        saved.search = SearchConfig { max_length: 8, ..SearchConfig::default() };
        let writers = Writers::alone(&saved).expect("a translator");
        let drawn = |range: std::ops::Range<usize>, seed, count, batch| {
            let drawing = Drawing { sampling: Sampling::default(), seed };
            writers
                .drawn(&requests[range.clone()], range.start as u64, &drawing, count, batch)
                .expect("samples")
        };
        let all = drawn(0..100, 3, 2, 1);
        assert_eq!(drawn(0..100, 3, 2, 64), all, "{name}");
        assert_eq!([drawn(0..37, 3, 2, 7), drawn(37..100, 3, 2, 7)].concat(), all, "{name}");
        let first =
            |all: &[Vec<Prediction>], n: usize| all.iter().map(|each| each[n].clone()).collect::<Vec<_>>();
        assert_eq!(first(&drawn(0..100, 4, 1, 9), 0), first(&all, 1), "{name}: the next seed");
        let differ = all.iter().filter(|each| each[0].text != each[1].text).count();
        assert!(differ > 50, "{name}: {differ}");
        for (sentence, each) in sentences.iter().zip(&all).take(10) {
            let scored = saved.score(&[sentence], &[&each[0].text], 1).expect("scores").remove(0);
            if scored.tokens == each[0].hypothesis.tokens {
                assert!(
                    scored.log_probabilities.starts_with(&each[0].hypothesis.log_probabilities),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn weights_that_are_ready_say_nearly_the_same() {
    let sentences: Vec<String> = sentences().into_iter().take(100).collect();
    let targets: Vec<String> = sentences.iter().rev().cloned().collect();
    let score = |saved: &Saved| saved.score(&sentences, &targets, 16).expect("scores");
    let plain: Vec<_> = models().iter().map(|(_, saved)| score(saved)).collect();
    for ((name, saved), plain) in prepared_models().iter().zip(plain.iter().chain(&plain)) {
        if name.contains("hard") && name.ends_with("Int8") {
            continue; // one position more or less probable by a hair may be another position altogether
        }
        let allowed = if name.ends_with("Int8") { 0.1 } else { 1e-4 };
        for (found, plain) in score(saved).iter().zip(plain) {
            for (found, plain) in found.log_probabilities.iter().zip(&plain.log_probabilities) {
                assert!((found - plain).abs() < allowed, "{name}: {found} and not {plain}");
            }
        }
    }
}
