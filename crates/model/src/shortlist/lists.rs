//! The lists of the sentences that are computed together.
//!
//! The scores of all tokens that are on any list are one product, of columns that are gathered once for the batch. Each
//! row then has the scores of its own sentence's list, and −∞ for all else: what a sentence becomes does not depend on
//! its company.

use crate::model::Model;
use crate::output::Columns;

/// The tokens that may be written in each sentence of a batch.
pub(crate) struct Lists {
    /// All that are on a list, by number.
    union: Vec<u32>,
    /// Of each sentence: where its tokens stand in the union, in order.
    places: Vec<Vec<usize>>,
    vocabulary: usize,
}

/// Lists, and the columns of the output layer that belong to them.
pub(crate) struct Listed {
    lists: Lists,
    columns: Option<Columns>,
}

impl Lists {
    /// From the tokens of each list, by number.
    pub(crate) fn new(lists: Vec<Vec<u32>>, vocabulary: usize) -> Self {
        let union = super::sorted(lists.concat());
        let places = |list: Vec<u32>| {
            // Both are sorted, and the one is a part of the other.
            let mut rest = (0..).zip(&union);
            list.iter().filter_map(|token| Some(rest.find(|(_, other)| *other == token)?.0)).collect()
        };
        Self { places: lists.into_iter().map(places).collect(), union, vocabulary }
    }

    /// Leaves in `to` the scores [N, V] of rows, of which the i-th belongs to sentence `sentences[i]`, from `of`: the score of a
    /// token by its row, its number and its place in the union.
    fn spread(&self, sentences: &[usize], to: &mut Vec<f32>, of: impl Fn(usize, usize, usize) -> f32) {
        to.clear();
        to.resize(sentences.len() * self.vocabulary, f32::NEG_INFINITY);
        let rows = to.chunks_exact_mut(self.vocabulary.max(1)).zip(sentences);
        for (row, (to, &sentence)) in rows.enumerate() {
            for &place in &self.places[sentence] {
                let token = self.union[place] as usize;
                to[token] = of(row, token, place);
            }
        }
    }
}

impl Listed {
    /// The lists of sentences that a model is to write.
    pub(crate) fn new(lists: Lists, model: &Model) -> Self {
        // Where most columns are on a list, gathering them gains nothing.
        let few = lists.union.len() <= lists.vocabulary / 2;
        let columns = if few { model.columns(&lists.union) } else { None };
        Self { lists, columns }
    }

    /// What scores the tokens of all lists alone, where that gains something.
    pub(crate) fn columns(&self) -> Option<&Columns> {
        self.columns.as_ref()
    }

    /// Leaves in `to` the scores [N, V] of rows, of which the i-th belongs to sentence `sentences[i]`, by `scores` of
    /// [`Listed::columns`], or of all tokens where these are not there.
    pub(crate) fn spread(&self, scores: &[f32], sentences: &[usize], to: &mut Vec<f32>) {
        let (union, vocabulary) = (self.lists.union.len(), self.lists.vocabulary);
        match &self.columns {
            Some(_) => self.lists.spread(sentences, to, |row, _, place| scores[row * union + place]),
            None => self.lists.spread(sentences, to, |row, token, _| scores[row * vocabulary + token]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_scores_of_its_own_list() {
        let lists = Lists::new(vec![vec![0, 2, 5], vec![2, 3], vec![]], 7);
        assert_eq!(lists.union, [0, 2, 3, 5]);
        assert_eq!(lists.places, [vec![0, 1, 3], vec![1, 2], vec![]]);
        let none = f32::NEG_INFINITY;
        let mut scores = vec![7.0; 3]; // what a step before has left
        lists.spread(&[1, 0, 1, 2], &mut scores, |row, token, place| (row * 100 + token * 10 + place) as f32);
        assert_eq!(scores[..7], [none, none, 21.0, 32.0, none, none, none]);
        assert_eq!(scores[7..14], [100.0, none, 121.0, none, none, 153.0, none]);
        assert_eq!(scores[14..21], [none, none, 221.0, 232.0, none, none, none]);
        assert_eq!(scores[21..], [none; 7]);
    }
}
