//! English to Italian, from a synchronous grammar.
//!
//! A derivation ([`sentence::Sentence`]) is drawn at random ([`sample`]) and then said in both
//! languages at once. Words of the two languages that express the same part of the derivation are
//! aligned. The same English always becomes the same Italian; where English says less than Italian
//! needs, a rule decides:
//!
//! - *you* is one person, *you all* are several; whoever speaks, is spoken to or is *they* counts as
//!   masculine, and so do *it* and *them*;
//! - *ate* and *has eaten* are both passato prossimo, *was eating* and states (*knew*) imperfetto;
//! - a verb whose past looks like its present (*read*, *cut*, *put*) has no simple past here;
//! - a sentence that can be read in two ways, each with an Italian of its own, is not used.
//!
//! | module          | what it knows                                          |
//! |-----------------|--------------------------------------------------------|
//! | `nouns` `verbs` `adjectives` `idioms` | the words, as tables             |
//! | `italian` `conjugation` | Italian word forms                             |
//! | `lexicon`       | the tables with all forms spelled out                  |
//! | `noun_phrase` `verb_group` `clause` `sentence` | what a derivation is, and how it is said |
//! | `readings`      | which sentences can be read in two ways                |
//! | `sample*`       | how likely each derivation is                          |

mod adjectives;
mod clause;
mod conjugation;
mod idioms;
mod italian;
mod lexicon;
mod noun_phrase;
mod nouns;
mod readings;
mod sample;
mod sample_phrase;
mod sample_question;
mod sample_state;
mod sentence;
mod tense;
mod tokens;
mod verb_group;
mod verbs;

#[cfg(test)]
mod tests;

use super::Task;
use super::dice::Dice;
use crate::Example;
use crate::random::ChaCha8Rng;

/// English sentences and their Italian translations, with gold alignments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phrases;

/// Sentences with more English words are not used; hardly one in a thousand has them.
const LONGEST: usize = 24;

impl Task for Phrases {
    fn name(&self) -> &'static str {
        "phrases"
    }

    fn pair(&self, rng: &mut ChaCha8Rng) -> Example {
        let mut dice = Dice(rng);
        loop {
            let sentence = sample::sentence(&mut dice);
            let pair = sentence.realise();
            if pair.english.len() <= LONGEST && !sentence.is_ambiguous(&pair) {
                return pair.example();
            }
        }
    }
}
