//! What holds for BLEU, chrF and TER whatever the text.

use gatto_metrics::translation::significance::{self, SEED};
use gatto_metrics::translation::{
    Bleu, Chrf, Metric, References, Score, Smoothing, Ter, Tokenizer, TranslationError,
};
use proptest::prelude::*;

/// Anything at all, or words that often meet.
fn any_text() -> impl Strategy<Value = String> {
    let words = "((the|cat|sat|on|a|mat|dog's|3\\.5|well-known|猫|\\.|,) ){0,30}";
    prop_oneof![any::<String>(), words, "[ \\t\\n.,&;0-9'-]{0,12}"]
}

fn any_references() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(any_text(), 1..4)
}

fn any_bleu() -> impl Strategy<Value = Bleu> {
    let smoothing = prop::sample::select(vec![
        Smoothing::Exponential,
        Smoothing::FLOOR,
        Smoothing::ADD_K,
        Smoothing::None,
    ]);
    let tokenizer = prop::sample::select(Tokenizer::ALL.to_vec());
    (tokenizer, any::<bool>(), smoothing, 1..7_usize, any::<bool>()).prop_map(
        |(tokenizer, lowercase, smoothing, max_order, effective_order)| Bleu {
            tokenizer,
            lowercase,
            smoothing,
            max_order,
            effective_order,
        },
    )
}

fn any_chrf() -> impl Strategy<Value = Chrf> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (1..9_usize, 0..4_usize, 0..4_u32, flags).prop_map(|(char_order, word_order, beta, flags)| Chrf {
        char_order,
        word_order,
        beta,
        lowercase: flags.0,
        whitespace: flags.1,
        eps_smoothing: flags.2,
    })
}

fn any_ter() -> impl Strategy<Value = Ter> {
    any::<[bool; 4]>().prop_map(|[normalized, no_punct, asian_support, case_sensitive]| Ter {
        normalized,
        no_punct,
        asian_support,
        case_sensitive,
    })
}

fn score<M: Metric>(metric: &M, hypothesis: &str, references: &[String]) -> f64 {
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    metric.sentence_score(hypothesis, &references).expect("a score").value()
}

fn reversed(references: &[String]) -> Vec<String> {
    references.iter().rev().cloned().collect()
}

/// Nearly 100, or nothing where there is nothing to compare.
fn is_best(score: f64) -> bool {
    (score - 100.0).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bleu_keeps_its_bounds(bleu in any_bleu(), hypothesis in any_text(), references in any_references()) {
        let found = score(&bleu, &hypothesis, &references);
        prop_assert!((0.0..=100.0 + 1e-9).contains(&found), "{found}");
        prop_assert_eq!(found, score(&bleu, &hypothesis, &reversed(&references)));
    }

    #[test]
    fn chrf_keeps_its_bounds(chrf in any_chrf(), hypothesis in any_text(), references in any_references()) {
        let found = score(&chrf, &hypothesis, &references);
        prop_assert!((0.0..=100.0 + 1e-9).contains(&found), "{found}");
        prop_assert_eq!(found, score(&chrf, &hypothesis, &reversed(&references)));
    }

    #[test]
    fn ter_is_at_most_all_words_replaced(ter in any_ter(), hypothesis in any_text(), references in any_references()) {
        let found = score(&ter, &hypothesis, &references);
        prop_assert!(found >= 0.0 && found.is_finite());
        prop_assert_eq!(found, score(&ter, &hypothesis, &reversed(&references)));
        // Words of one are replaced by words of the other, and what is left over is put in or taken out.
        let one = &references[0];
        let words = |text: &str| ter.tokenize(text).split_whitespace().count();
        let (length, wanted) = (words(&hypothesis), words(&ter.tokenize(one)));
        let most = if wanted == 0 { 1.0 } else { length.max(wanted) as f64 / wanted as f64 };
        prop_assert!(score(&ter, &hypothesis, std::slice::from_ref(one)) <= 100.0 * most + 1e-9);
    }

    #[test]
    fn the_same_text_is_the_best(text in any_text(), others in any_references(), lowercase in any::<bool>()) {
        let references: Vec<String> = others.into_iter().chain([text.clone()]).collect();
        for tokenizer in Tokenizer::ALL {
            let bleu = Bleu { tokenizer, lowercase, ..Bleu::for_sentences() };
            let empty = tokenizer.tokenize(&text).is_empty();
            prop_assert!(empty || is_best(score(&bleu, &text, &references)), "{tokenizer}");
        }
        let empty = text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
        for chrf in [Chrf { lowercase, ..Chrf::default() }, Chrf { lowercase, ..Chrf::plus_plus() }] {
            prop_assert!(empty || is_best(score(&chrf, &text, &references)));
        }
        let ter = Ter { case_sensitive: !lowercase, ..Ter::default() };
        prop_assert_eq!(score(&ter, &text, std::slice::from_ref(&text)), 0.0);
    }

    #[test]
    fn a_system_does_not_differ_from_itself(
        lines in prop::collection::vec((any_text(), any_text()), 1..6),
        samples in 1..40_usize,
    ) {
        let (output, wanted): (Vec<String>, Vec<String>) = lines.into_iter().unzip();
        let bleu = Bleu::default();
        let statistics = bleu.statistics(&output, &References::single(&wanted)).unwrap();
        let smallest = 1.0 / (samples as f64 + 1.0);
        let paired = significance::paired_bootstrap(&bleu, &statistics, &statistics, samples, SEED).unwrap();
        prop_assert_eq!(paired.p_value, smallest);
        prop_assert_eq!(paired.baseline, paired.system);
    }

    #[test]
    fn lists_of_different_lengths_are_refused(output in 0..5_usize, wanted in 0..5_usize) {
        prop_assume!(output != wanted);
        let (hypotheses, lines) = (vec!["a"; output], vec!["a"; wanted]);
        let found = Ter::default().statistics(&hypotheses, &References::single(&lines)).unwrap_err();
        prop_assert_eq!(&found, &TranslationError::LineCounts { hypotheses: output, references: wanted });
        let message = found.to_string();
        let named = format!("there are {output} lines of output but {wanted} lines of references");
        prop_assert!(message.starts_with(&named), "{message}");
    }
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let none: [&str; 0] = [];
    let bleu = Bleu::default();
    let empty = bleu.statistics(&none, &References::single(&none)).unwrap();
    assert_eq!(bleu.corpus_score(&empty), Err(TranslationError::NoLines));
    assert_eq!(bleu.sentence_score("a", &[]), Err(TranslationError::NoReference { line: 1 }));

    let one = bleu.statistics(&["a"], &References::single(&["a"])).unwrap();
    let two = bleu.statistics(&["a", "b"], &References::single(&["a", "b"])).unwrap();
    let uneven = significance::paired_bootstrap(&bleu, &one, &two, 10, SEED).unwrap_err();
    assert_eq!(uneven, TranslationError::SystemLines { baseline: 1, system: 2 });
    let foreign = Ter::default().corpus_score(&one).unwrap_err();
    assert_eq!(foreign, TranslationError::StatisticsWidth { found: 10, expected: 2 });
    assert_eq!(significance::confidence(&bleu, &one, 0, SEED), Err(TranslationError::NoSamples));

    let nothing = Chrf { char_order: 0, ..Chrf::default() };
    assert_eq!(nothing.sentence_score("a", &["a"]), Err(TranslationError::NoOrder));
}
