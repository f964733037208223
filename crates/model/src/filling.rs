//! What a masked language model puts into the gaps of a text.
//!
//! A gap is written `[MASK]` and stands for one token. In vocabularies whose pieces begin with the space
//! before them, the space before a gap belongs to what fills it.

use crate::config::Task;
use crate::error::ModelError;
use crate::saved::Saved;
use crate::telling::{Answer, Asked};
use gatto_data::tokens::{Kind, MASK, SPECIALS, Tokenizer};

/// What stands in a text for a token to find.
pub const MASK_WORD: &str = "[MASK]";

/// A text with its gaps filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The text, with the most probable token in each gap.
    pub text: String,
    /// For each gap the most probable tokens, the best first, with their probabilities.
    pub gaps: Vec<Vec<(u32, f32)>>,
}

impl Saved {
    /// The tokens of a text, with a mask in each gap.
    pub fn encode_gaps(&self, text: &str) -> Vec<u32> {
        with_masks(&self.tokens.source, &pieces(&self.tokens.source, text)).0
    }

    /// Fills the gaps of each source, in order, and tells the best `most` tokens for each of them. A
    /// special token fills no gap.
    pub fn fill<S: AsRef<str>>(
        &self,
        sources: &[S],
        batch: usize,
        most: usize,
    ) -> Result<Vec<Filled>, ModelError> {
        self.require(Task::MaskedLanguageModel)?;
        let tokenizer = &self.tokens.source;
        let cut: Vec<Vec<&str>> = sources.iter().map(|source| pieces(tokenizer, source.as_ref())).collect();
        let asked: Vec<Asked> = cut.iter().map(|pieces| with_masks(tokenizer, pieces)).collect();
        let answers = self.answers(&asked, batch)?;
        Ok(answers.iter().zip(&cut).map(|(answer, pieces)| filled(tokenizer, answer, pieces, most)).collect())
    }
}

/// The pieces of a text around its gaps.
fn pieces<'a>(tokenizer: &Tokenizer, text: &'a str) -> Vec<&'a str> {
    let joined = matches!(tokenizer.kind(), Kind::Bpe | Kind::Unigram);
    let mut pieces: Vec<&str> = text.split(MASK_WORD).collect();
    let last = pieces.len() - 1; // what is split has at least one piece
    for piece in pieces[..last].iter_mut().filter(|_| joined) {
        *piece = piece.strip_suffix(' ').unwrap_or(piece);
    }
    pieces
}

/// The tokens of the pieces with a mask in each gap, and where the masks are.
fn with_masks(tokenizer: &Tokenizer, pieces: &[&str]) -> Asked {
    let (mut tokens, mut gaps) = (Vec::new(), Vec::new());
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            gaps.push(tokens.len());
            tokens.push(MASK);
        }
        tokens.extend(tokenizer.encode(piece));
    }
    (tokens, gaps)
}

fn filled(tokenizer: &Tokenizer, answer: &Answer, pieces: &[&str], most: usize) -> Filled {
    let gaps: Vec<Vec<(u32, f32)>> = answer.probabilities.iter().map(|found| best(found, most)).collect();
    let mut text = pieces.first().copied().unwrap_or_default().to_owned();
    for (gap, piece) in gaps.iter().zip(pieces.iter().skip(1)) {
        let token = gap.first().map(|&(token, _)| tokenizer.decode(&[token])).unwrap_or_default();
        text += if text.is_empty() { token.trim_start() } else { &token };
        text += piece;
    }
    Filled { text, gaps }
}

/// The most probable tokens, the best first; of equals, the lowest id.
fn best(probabilities: &[f32], most: usize) -> Vec<(u32, f32)> {
    let mut tokens: Vec<(u32, f32)> = (0..).zip(probabilities.iter().copied()).skip(SPECIALS.len()).collect();
    tokens.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    tokens.truncate(most.max(1));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::tokens::Recipe;

    fn tokenizer(kind: Kind) -> Tokenizer {
        let recipe = Recipe { kind, size: 400, min_frequency: 1, ..Recipe::default() };
        let texts = vec!["the cat is on the table".to_owned(); 20];
        Tokenizer::train(&recipe, texts).unwrap()
    }

    /// The text with its gaps filled by `tokens`, and the tokens that were read.
    fn fill(kind: Kind, text: &str, tokens: &[&str]) -> (String, Vec<String>) {
        let tokenizer = tokenizer(kind);
        let pieces = pieces(&tokenizer, text);
        let (read, gaps) = with_masks(&tokenizer, &pieces);
        assert_eq!(gaps.len(), tokens.len());
        assert!(gaps.iter().all(|&gap| read[gap] == MASK));
        let probabilities = tokens.iter().map(|token| {
            let mut found = vec![0.0; tokenizer.size()];
            found[MASK as usize] = 0.9; // never written
            let id = (0..tokenizer.size() as u32).find(|&id| tokenizer.token(id) == *token).unwrap();
            found[id as usize] = 0.1;
            found
        });
        let answer = Answer { probabilities: probabilities.collect(), ..Answer::default() };
        let filled = filled(&tokenizer, &answer, &pieces, 3);
        assert!(filled.gaps.iter().all(|gap| gap.len() == 3));
        (filled.text, read.iter().map(|&id| tokenizer.token(id).to_owned()).collect())
    }

    #[test]
    fn a_gap_is_one_token_of_each_kind() {
        let (text, read) = fill(Kind::Word, "the [MASK] is big", &["cat"]);
        assert_eq!((text.as_str(), read.len()), ("the cat is big", 4));
        let (text, read) = fill(Kind::Bpe, "the [MASK] is", &["▁cat"]);
        assert_eq!(
            (text.as_str(), read),
            ("the cat is", vec!["the".into(), SPECIALS[4].into(), "▁is".into()])
        );
        let (text, read) = fill(Kind::Char, "the c[MASK]t", &["a"]);
        assert_eq!((text.as_str(), read.len()), ("the cat", 7));
        assert_eq!(fill(Kind::Bpe, "[MASK] is on [MASK]", &["▁cat", "▁the"]).0, "cat is on the");
        assert_eq!(fill(Kind::Unigram, "no gap", &[]).0, "no gap");
        assert_eq!(fill(Kind::Word, "", &[]).0, "");
    }
}
