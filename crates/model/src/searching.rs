//! One search with all that it considered, so that it can be drawn as a tree.

use crate::error::ModelError;
use crate::model::Model;
use crate::saved::Saved;
use crate::stepping::Stepping;
use crate::writing::Prediction;
use gatto_data::Padded;
use gatto_nn::Noise;
use gatto_search::{Beam, Considered, Found, Ranked, SearchConfig, Wanted, beam_search};

/// What a search considered, and what it found.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// The best outputs, best first; at least one.
    pub best: Vec<Prediction>,
    /// What the same search writes if it follows a single hypothesis: greedy search.
    pub greedy: Option<Prediction>,
    /// What was considered at each step, the chosen ones first.
    pub steps: Vec<Vec<Considered>>,
}

impl Saved {
    /// Searches for the `count` best outputs of a source, as [`Saved::predict_best`] does, and tells what was
    /// considered: at each step what was chosen, and the best `beside` of what was not.
    pub fn searched(&self, source: &str, count: usize, beside: usize) -> Result<Searched, ModelError> {
        let greedy = SearchConfig { beam: 1, groups: 1, ..self.search.clone() };
        let found = self.on_batches(&[source], 1, |model, batch| {
            let lengths = self.most_written(&batch.source);
            let beam = Beam {
                n_best: count.clamp(1, self.search.beam.max(1)),
                trace: Some(beside),
                ..self.search.settings()
            };
            let found = searched(model, &batch.source, &self.search, &beam, &lengths);
            let greedy = searched(model, &batch.source, &greedy, &greedy.settings(), &lengths);
            found.into_iter().zip(greedy).collect()
        })?;
        let (found, greedy): (Vec<Found>, Vec<Found>) = found.into_iter().unzip();
        let prediction = |Ranked { written, score }: Ranked| Prediction {
            text: self.tokens.target.decode(&written.hypothesis.tokens),
            hypothesis: written.hypothesis,
            score,
        };
        let (best, steps): (Vec<_>, Vec<_>) =
            found.into_iter().map(|found| (found.best, found.trace)).unzip();
        Ok(Searched {
            best: best.into_iter().flatten().map(prediction).collect(),
            greedy: greedy.into_iter().flat_map(|found| found.best).map(prediction).next(),
            steps: steps.into_iter().flatten().collect(),
        })
    }
}

/// Reads a batch of sources and searches for targets of at most `lengths` tokens.
fn searched(
    model: &Model,
    source: &Padded,
    search: &SearchConfig,
    beam: &Beam,
    lengths: &[usize],
) -> Vec<Found> {
    let memory = model.encode(source, &mut Noise::none());
    let stepping = Stepping::new(model, memory, source.rows);
    let stepping = if search.coverage > 0.0 { stepping.looking() } else { stepping };
    let wanted = |&max_length: &usize| Wanted {
        max_length,
        min_length: search.min_length.min(max_length.saturating_sub(1)),
        ..Wanted::default()
    };
    let wanted: Vec<Wanted> = lengths.iter().map(wanted).collect();
    beam_search(&stepping, &wanted, beam)
}
