//! Sentences that can be read in two ways.

use super::build::*;
use crate::builtin::Task;
use crate::builtin::dice::Dice;
use crate::builtin::phrases::clause::{Clause, Complement, Verbal};
use crate::builtin::phrases::noun_phrase::Joint;
use crate::builtin::phrases::sentence::Sentence;
use crate::builtin::phrases::tense::Tense::{self, *};
use crate::builtin::phrases::{Phrases, sample};
use crate::random::generator;

fn joined(left: Verbal, joint: Joint, right: Verbal) -> Sentence {
    Sentence::Joined(Box::new(Clause::Verbal(left)), joint, Box::new(Clause::Verbal(right)))
}

fn waits(whom: &'static str) -> Verbal {
    clause("he", "wait for", Future).object(whom)
}

fn comes(who: &'static str, tense: Tense) -> Verbal {
    clause(who, "come", tense).place("from the park")
}

fn is_ambiguous(sentence: &Sentence) -> bool {
    sentence.is_ambiguous(&sentence.realise())
}

#[test]
fn who_is_waited_for_and_who_will_come() {
    let says = |whom| {
        let that = Complement::That(Box::new(Clause::Verbal(waits(whom))));
        clause("anna", "say", Future).what(that)
    };
    for waits in [waits as fn(&'static str) -> Verbal, says] {
        let one = joined(waits("maria and the boy"), Joint::And, comes("the girl", Future));
        let two = joined(waits("maria"), Joint::And, comes("the boy and the girl", Future));
        assert!(is_ambiguous(&one) && is_ambiguous(&two));
        let [one, two] = [one, two].map(|sentence| sentence.realise().example());
        assert_eq!(one.source, two.source);
        assert!(one.target.contains("la ragazza verrà"), "{}", one.target);
        assert!(two.target.contains("la ragazza verranno"), "{}", two.target);
    }
}

#[test]
fn where_something_tells_there_is_one_reading() {
    let plain = joined(waits("maria"), Joint::And, comes("the girl", Future));
    let english_verb = joined(waits("maria and the boy"), Joint::And, comes("the girl", Present));
    let same_italian = joined(waits("maria and the boy"), Joint::And, comes("the girls", Future));
    let other_joint = joined(waits("maria and the boy"), Joint::But, comes("the girl", Future));
    let park = waits("maria and the boy").place("in the park");
    let between = joined(park, Joint::And, comes("the girl", Future));
    let opening = joined(waits("maria"), Joint::And, comes("the boy and the girl", Future).opening("today"));
    let pronoun = joined(waits("maria and the boy"), Joint::And, comes("she", Future));
    for sentence in [plain, english_verb, same_italian, other_joint, between, opening, pronoun] {
        assert!(!is_ambiguous(&sentence), "{}", sentence.realise().example().source);
    }
}

#[test]
fn what_is_ambiguous_is_not_used() {
    let drawn = |seed| sample::sentence(&mut Dice(&mut generator(seed, 0)));
    let seeds: Vec<u64> = (0..500_000).filter(|&seed| is_ambiguous(&drawn(seed))).collect();
    assert!((3..100).contains(&seeds.len()), "{} in 500 000", seeds.len());
    for seed in seeds {
        let pair = Phrases.pair(&mut generator(seed, 0));
        assert_ne!(pair.source, drawn(seed).realise().example().source);
    }
}
