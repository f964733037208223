//! Outputs that begin, say and do not say what was wished; other outputs; and models that write together.

use crate::{best, models, saved, sentences};
use gatto_model::{Constraints, ModelError, Prediction, Request, Saved, Writers};
use gatto_search::{Mean, SearchConfig};

/// Outputs of some sentences, all with the same constraints.
fn written(saved: &Saved, constraints: &Constraints, count: usize) -> Vec<Vec<Prediction>> {
    let sentences: Vec<String> = sentences().into_iter().take(20).collect();
    let request = |source: &String| -> Vec<Prediction> {
        let writers = Writers::alone(saved).expect("a translator");
        writers.best(&[Request::new(source.as_str(), constraints)], count, 8).expect("predictions").remove(0)
    };
    sentences.iter().map(request).collect()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn outputs_are_as_wished() {
    for (name, mut saved) in models() {
        saved.search = SearchConfig { beam: 4, max_length: 12, ..SearchConfig::default() };
        let free = written(&saved, &Constraints::default(), 2);
        let often = free[0][0].text.split(' ').next().expect("a word").to_owned();
        let wished = Constraints {
            prefix: "w7 w8".to_owned(),
            must: strings(&["w9 w10", "w11"]),
            never: vec![often.clone(), "nothing-known".to_owned()],
            ..Constraints::default()
        };
        for best in written(&saved, &wished, 2) {
            assert_eq!(best.len(), 2, "{name}");
            for Prediction { text, hypothesis, given, .. } in best {
                let (text, word) = (format!("{text} "), format!("{often} "));
                assert!(text.starts_with("w7 w8 "), "{name}: {text}");
                assert!(text.contains("w9 w10 ") && text.contains("w11 "), "{name}: {text}");
                assert!(!text.split_inclusive(' ').any(|other| other == word), "{name}: {text}");
                assert_eq!(given, 2);
                let scores = hypothesis.log_probabilities.len();
                assert_eq!(scores, hypothesis.tokens.len() + usize::from(hypothesis.finished), "{name}");
            }
        }
    }
}

#[test]
fn wishes_that_cannot_be_met_are_named_by_their_source() {
    let (_, saved) = models().remove(0);
    let writers = Writers::alone(&saved).expect("a translator");
    let unknown = Constraints { must: strings(&["w1 zebra"]), ..Constraints::default() };
    let requests = [Request::free("w1"), Request::new("w2", &unknown)];
    let error = writers.best(&requests, 1, 8).expect_err("no zebra");
    assert!(matches!(error, ModelError::Constraints { index: 1, .. }));
    assert!(error.to_string().contains("`zebra` is not in the vocabulary"), "{error}");
}

#[test]
fn a_model_agrees_with_itself() {
    let sentences: Vec<String> = sentences().into_iter().take(30).collect();
    let requests: Vec<Request<'_>> =
        sentences.iter().map(|sentence| Request::free(sentence.as_str())).collect();
    for (name, mut saved) in models() {
        saved.search = SearchConfig { beam: 3, max_length: 8, coverage: 0.1, ..SearchConfig::default() };
        let alone = best(&saved, &sentences, 8, 1);
        for mean in [Mean::Probabilities, Mean::LogProbabilities] {
            let both = Writers::together(vec![&saved, &saved], mean).expect("one vocabulary");
            let found = both.best(&requests, 1, 8).expect("predictions");
            let targets: Vec<&str> = found.iter().map(|best| best[0].text.as_str()).collect();
            let scored = both.score(&sentences, &targets, 8).expect("scores");
            for ((alone, found), scored) in alone.iter().zip(&found).zip(&scored) {
                let (alone, found) = (&alone[0], &found[0]);
                assert!((alone.score - found.score).abs() < 1e-3, "{name}: {alone:?} and {found:?}");
                if scored.tokens == found.hypothesis.tokens && found.hypothesis.finished {
                    assert!((scored.score() - found.hypothesis.score()).abs() < 1e-5, "{name}");
                }
            }
        }
    }
}

#[test]
fn what_they_say_is_the_mean_of_their_probabilities() {
    let all: Vec<Saved> = models().into_iter().map(|(_, saved)| saved).collect();
    let [first, second, .., third] = &all[..] else { panic!("three models") };
    let together =
        Writers::together(vec![first, second, third], Mean::Probabilities).expect("one vocabulary");
    let (sources, targets) = (["w1 w2 w3", "w4"], ["w5 w6", "w7 w8 w9"]);
    let found = together.score(&sources, &targets, 8).expect("scores");
    let each = [first, second, third].map(|saved| saved.score(&sources, &targets, 8).expect("scores"));
    for (row, found) in found.iter().enumerate() {
        for (place, &log) in found.log_probabilities.iter().enumerate() {
            let mean =
                each.iter().map(|each| f64::from(each[row].log_probabilities[place]).exp()).sum::<f64>()
                    / 3.0;
            assert!((f64::from(log) - mean.ln()).abs() < 1e-4);
        }
    }
}

#[test]
fn models_with_other_tokens_do_not_write_together() {
    let (_, first) = models().remove(0);
    let mut second = saved(gatto_model::ModelConfig {
        encoder: Some(gatto_model::EncoderConfig::Gru(Default::default())),
        decoder: Some(gatto_model::DecoderConfig::Gru(Default::default())),
        ..gatto_model::ModelConfig::new(gatto_model::Task::Translate)
    });
    assert!(Writers::together(vec![&first, &second], Mean::Probabilities).is_ok());
    let recipe = gatto_data::tokens::Recipe { kind: gatto_data::tokens::Kind::Char, ..Default::default() };
    let texts = ["abc".to_owned()];
    let tokenizer = gatto_data::tokens::Tokenizer::train(&recipe, texts).expect("a vocabulary");
    second.tokens = gatto_data::TokenizerPair::together(tokenizer);
    let error = Writers::together(vec![&first, &second], Mean::Probabilities).err().expect("an error");
    assert!(error.to_string().contains("model 2 of those that write together has other tokens"), "{error}");
}

#[test]
fn other_tokens_lead_to_other_outputs() {
    for (name, mut saved) in models() {
        saved.search = SearchConfig { beam: 2, max_length: 6, ..SearchConfig::default() };
        let writers = Writers::alone(&saved).expect("a translator");
        let begun = Constraints { prefix: "w3 w4".to_owned(), ..Constraints::default() };
        let requests = [Request::free("w1 w2"), Request::new("w5", &begun)];
        let behind = writers.others(&requests, None, 3, 8).expect("others");
        assert_eq!(behind.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        for (others, given) in behind.iter().zip([0, 2]) {
            assert!(others.windows(2).all(|pair| pair[0].probability >= pair[1].probability), "{name}");
            for other in others {
                let place = other.prediction.hypothesis.log_probabilities[given];
                assert!((place.exp() - other.probability).abs() < 1e-6, "{name}");
                assert_eq!(other.prediction.given, given);
            }
        }
        let best = best(&saved, &["w1 w2".to_owned()], 8, 1).remove(0).remove(0);
        let at = writers.others(&requests[..1], Some(2), 4, 8).expect("others").remove(0);
        let beginning = &best.hypothesis.tokens[..2];
        assert!(at.iter().all(|other| other.prediction.hypothesis.tokens.starts_with(beginning)), "{name}");
    }
}
