//! One search with all that it considered, so that it can be drawn as a tree.

use crate::constraints::Request;
use crate::error::ModelError;
use crate::together::Writers;
use crate::writing::Prediction;
use gatto_search::{Beam, Considered, beam_search};

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

impl Writers<'_> {
    /// Searches for the `count` best outputs of a request, as [`Writers::best`] does, and tells what was considered:
    /// at each step what was chosen, and the best `beside` of what was not.
    pub fn searched(
        &self,
        request: Request<'_>,
        count: usize,
        beside: usize,
    ) -> Result<Searched, ModelError> {
        let (sources, wanted) = self.read(&[request])?;
        let whole = Beam { trace: Some(beside), ..self.search.for_outputs(count) };
        let single = Beam { size: 1, n_best: 1, groups: 1, ..whole.clone() };
        let mut found = self.on_batches(sources, Some(&wanted), 1, |model, _| {
            let mut wanted = wanted.clone();
            let found = self.as_wished(model, &[request], &mut wanted, &whole);
            vec![[found, beam_search(model, &wanted, &single)]]
        })?;
        let [found, greedy] = found.pop().unwrap_or_default();
        let prefix = wanted.first().map_or(&[][..], |wanted| &wanted.prefix);
        let (mut best, mut steps) = (Vec::new(), Vec::new());
        for found in found {
            best.extend(found.best.into_iter().map(|ranked| self.ranked(ranked, prefix)));
            steps.extend(found.trace);
        }
        let greedy = greedy.into_iter().flat_map(|found| found.best).next();
        Ok(Searched { best, greedy: greedy.map(|ranked| self.ranked(ranked, prefix)), steps })
    }
}
