//! Outputs that are chosen from a few tokens: those of their own sentence, whatever stands beside it.

use crate::independence::with_threads;
use crate::{best, models, prepared_models, sentences};
use gatto_data::lexicon::Learner;
use gatto_data::tokens::END;
use gatto_model::{Constraints, Drawing, Prediction, Request, Saved, Shortlist, Writers};
use gatto_search::{Mean, Sampling, SearchConfig};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A list of two words for each word, chosen by `turn`, and three for all.
fn shortlist(saved: &Saved, turn: u32) -> Shortlist {
    let (first, size) = (saved.tokens.source.encode("w0")[0], saved.tokens.source.size() as u32);
    let word = |number: u32| first + number % (size - first);
    let mut learner = Learner::new(size as usize, size as usize);
    for number in 0..size - first {
        learner.feed(&[word(number)], &[word(number * 7 + turn)]);
        learner.feed(&[word(number)], &[word(number * 11 + 3 * turn)]);
    }
    Shortlist::new(&learner.finish(2, || ()), 2, 3, &saved.tokens)
}

/// A list of all tokens, for whatever source.
fn everything(saved: &Saved) -> Shortlist {
    let size = saved.tokens.target.size();
    let mut learner = Learner::new(size, size);
    learner.feed(&[END], &(0..size as u32).collect::<Vec<_>>());
    Shortlist::new(&learner.finish(1, || ()), 1, size, &saved.tokens)
}

fn with(saved: &Saved, shortlist: Shortlist) -> Saved {
    Saved { shortlist: Some(Arc::new(shortlist)), ..saved.masked(&[]).expect("the same") }
}

/// Whether all tokens of an output are on the list of its source.
fn is_listed(saved: &Saved, source: &str, prediction: &Prediction) -> bool {
    let shortlist = saved.shortlist.as_ref().expect("a shortlist");
    let list = shortlist.tokens_for(&saved.tokens.source.encode(source), []);
    prediction.hypothesis.tokens.iter().all(|token| list.binary_search(token).is_ok())
}

#[test]
fn a_sentence_has_its_own_list_whatever_its_company() {
    for (name, plain) in models().into_iter().chain(prepared_models()) {
        let sentences: Vec<String> = sentences().into_iter().take(200).collect();
        let mut saved = with(&plain, shortlist(&plain, 5));
        for beam in [1, 5] {
            saved.search = SearchConfig { beam, max_length: 8, ..SearchConfig::default() };
            let written = |threads, batch: usize, saved: &Saved| {
                let saved = saved.masked(&[]).expect("the same");
                let sentences = sentences.clone();
                with_threads(threads, move || best(&saved, &sentences, batch, beam))
            };
            // Alone, the columns of the list are gathered; of many sentences, most of the vocabulary is on some list.
            let alone = written(1, 1, &saved);
            for (source, best) in sentences.iter().zip(&alone) {
                assert!(
                    !best.is_empty() && best.iter().all(|found| is_listed(&saved, source, found)),
                    "{name}: {source}"
                );
                assert!(best.iter().all(|found| found.hypothesis.score().is_finite()), "{name}: {source}");
            }
            for (threads, batch) in [(1, 2), (2, 7), (2, 64)] {
                assert_eq!(written(threads, batch, &saved), alone, "{name}, beam {beam}, batch {batch}");
            }
            let free = Saved { shortlist: None, ..saved.masked(&[]).expect("the same") };
            assert_ne!(written(2, 64, &free), alone, "{name}: a list changes something");
        }
    }
}

#[test]
fn a_list_of_all_tokens_changes_nothing() {
    let sentences: Vec<String> = sentences().into_iter().take(60).collect();
    for (name, mut plain) in models().into_iter().chain(prepared_models()) {
        for beam in [1, 4] {
            plain.search = SearchConfig { beam, max_length: 8, coverage: 0.1, ..SearchConfig::default() };
            let listed = with(&plain, everything(&plain));
            assert_eq!(best(&listed, &sentences, 16, beam), best(&plain, &sentences, 16, beam), "{name}");
        }
    }
}

#[test]
fn what_is_wished_is_on_the_list() {
    let sentences: Vec<String> = sentences().into_iter().take(20).collect();
    let wished = Constraints {
        prefix: "w7 w8".to_owned(),
        must: vec!["w9 w10".to_owned()],
        never: vec!["w11".to_owned()],
        ..Constraints::default()
    };
    for (name, plain) in models().into_iter().chain(prepared_models()) {
        let mut saved = with(&plain, shortlist(&plain, 5));
        saved.search = SearchConfig { beam: 4, max_length: 12, ..SearchConfig::default() };
        let requests: Vec<Request<'_>> =
            sentences.iter().map(|source| Request::new(source.as_str(), &wished)).collect();
        let writers = Writers::alone(&saved).expect("a translator");
        let mut not_listed = 0;
        for (source, best) in sentences.iter().zip(writers.best(&requests, 1, 8).expect("predictions")) {
            let Prediction { text, hypothesis, .. } = &best[0];
            assert!(text.starts_with("w7 w8") && format!("{text} ").contains("w9 w10 "), "{name}: {text}");
            assert!(hypothesis.score().is_finite(), "{name}: {hypothesis:?}");
            not_listed += usize::from(!is_listed(&saved, source, &best[0]));
        }
        assert!(not_listed > 10, "{name}: the words were not on the lists anyway");
    }
}

#[test]
fn given_targets_are_scored_over_the_whole_vocabulary() {
    let sources: Vec<String> = sentences().into_iter().take(40).collect();
    let targets: Vec<String> = sources.iter().rev().cloned().collect();
    for (name, plain) in models().into_iter().chain(prepared_models()) {
        let listed = with(&plain, shortlist(&plain, 5));
        let scored = listed.score(&sources, &targets, 8).expect("scores");
        assert_eq!(scored, plain.score(&sources, &targets, 8).expect("scores"), "{name}");
        assert!(scored.iter().all(|found| found.score().is_finite()), "{name}");
        let pairs: Vec<_> = sources
            .iter()
            .zip(&targets)
            .map(|(source, target)| (plain.tokens.source.encode(source), plain.tokens.target.encode(target)))
            .collect();
        let traced = |saved: &Saved| saved.trace(&pairs, 8).expect("traces");
        assert_eq!(format!("{:?}", traced(&listed)), format!("{:?}", traced(&plain)), "{name}");
    }
}

#[test]
fn every_search_keeps_to_the_list() {
    let sentences: Vec<String> = sentences().into_iter().take(30).collect();
    let requests: Vec<Request<'_>> = sentences.iter().map(|source| Request::free(source.as_str())).collect();
    for (name, plain) in prepared_models() {
        let mut saved = with(&plain, shortlist(&plain, 5));
        saved.search = SearchConfig { beam: 3, max_length: 8, ..SearchConfig::default() };
        let writers = Writers::alone(&saved).expect("a translator");
        let drawing = Drawing { sampling: Sampling { temperature: 9.0, ..Sampling::default() }, seed: 3 };
        let drawn = writers.drawn(&requests, 0, &drawing, 3, 8).expect("samples");
        assert_eq!(writers.drawn(&requests, 0, &drawing, 3, 1).expect("samples"), drawn, "{name}");
        let others = writers.others(&requests, Some(1), 4, 8).expect("others");
        let others =
            others.into_iter().map(|others| others.into_iter().map(|other| other.prediction).collect());
        for found in [drawn, others.collect::<Vec<Vec<Prediction>>>()] {
            for (source, found) in sentences.iter().zip(found) {
                assert!(found.iter().all(|found| is_listed(&saved, source, found)), "{name}: {source}");
            }
        }
        let searched = writers.searched(requests[5], 1, 50).expect("a search");
        let list = saved
            .shortlist
            .as_ref()
            .expect("a list")
            .tokens_for(&saved.tokens.source.encode(&sentences[5]), []);
        let considered: BTreeSet<u32> =
            searched.steps.iter().flatten().map(|considered| considered.token).collect();
        assert!(considered.iter().all(|token| list.contains(token)), "{name}: {considered:?} and {list:?}");
    }
}

#[test]
fn models_that_write_together_have_a_list_each() {
    let sentences: Vec<String> = sentences().into_iter().take(60).collect();
    let requests: Vec<Request<'_>> = sentences.iter().map(|source| Request::free(source.as_str())).collect();
    let (_, plain) = prepared_models().remove(0);
    let lists = [5, 17].map(|turn| with(&plain, shortlist(&plain, turn)));
    let words = |saved: &Saved, source: &str| {
        let shortlist = saved.shortlist.as_ref().expect("a list");
        shortlist.tokens_for(&saved.tokens.source.encode(source), []).into_iter().collect::<BTreeSet<u32>>()
    };
    // Drawn and not searched for: the best are those that both like.
    let drawing = Drawing { sampling: Sampling::default(), seed: 3 };
    for mean in [Mean::Probabilities, Mean::LogProbabilities] {
        let search = SearchConfig { max_length: 8, ..SearchConfig::default() };
        let writers =
            Writers::together(lists.iter().collect(), mean).expect("one vocabulary").searching(search);
        let mut beyond_one = 0;
        for (source, best) in
            sentences.iter().zip(writers.drawn(&requests, 0, &drawing, 3, 16).expect("samples"))
        {
            let [first, second] = lists.each_ref().map(|saved| words(saved, source));
            let allowed: BTreeSet<u32> = match mean {
                Mean::Probabilities => &first | &second,
                Mean::LogProbabilities => &first & &second,
            };
            let tokens = || best.iter().flat_map(|found| &found.hypothesis.tokens);
            assert!(tokens().all(|token| allowed.contains(token)), "{source}");
            beyond_one += tokens().filter(|token| !first.contains(token)).count();
        }
        assert_eq!(beyond_one > 0, mean == Mean::Probabilities);
    }
}
