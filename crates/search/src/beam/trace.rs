//! What was considered at each step, and what became of it: enough to draw the beam as a tree.

/// A token behind a hypothesis, as search saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Considered {
    /// The hypothesis before it, as a place in the list of the step before; none at the first step.
    pub parent: Option<usize>,
    /// The group that considered it; tokens that are given belong to all of them.
    pub group: usize,
    /// The token.
    pub token: u32,
    /// log p of the token.
    pub log_probability: f32,
    /// How undecided the model was behind the hypothesis before it: the entropy of all tokens there, in nats.
    pub entropy: f32,
    /// The normalised score of the hypothesis that it makes; of one that has ended, with its coverage.
    pub score: f64,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// It is part of the given prefix.
    Given,
    /// It went on.
    Kept,
    /// It ended the sequence, which came out at this rank (from 0), or not at all.
    Finished {
        /// The place among the results.
        rank: Option<usize>,
    },
    /// The sequence reached its limit without an end, and came out at this rank as nothing had ended.
    Unfinished {
        /// The place among the results.
        rank: usize,
    },
    /// It was still open when the search ended, and others had won.
    Dropped,
    /// All places were taken by better ones.
    Beaten {
        /// How much log p (less the penalty of its group) was short of the worst that was chosen.
        by: f64,
    },
    /// The token, or the sequence that it completes, is never to be written.
    Forbidden,
    /// It would repeat an n-gram.
    Repeated,
    /// It would end the sequence below the shortest length.
    TooShort,
    /// It would end a sequence that another group has ended.
    Again,
    /// Phrases that must appear had no room left, were missing at the end, or had their places kept for them.
    Phrases,
}

/// The record of one sentence; empty if nobody asked.
#[derive(Default)]
pub(super) struct Recorder {
    /// The most candidates per step beside those that were chosen; none if nobody asked.
    most: Option<usize>,
    steps: Vec<Vec<Considered>>,
    /// What the step in hand has chosen, and what it has not, by worth.
    chosen: Vec<Considered>,
    rejected: Vec<(f64, Considered)>,
}

impl Recorder {
    pub(super) fn new(most: Option<usize>) -> Self {
        Self { most, ..Self::default() }
    }

    /// How many candidates beside the chosen ones are asked for.
    pub(super) fn most(&self) -> Option<usize> {
        self.most
    }

    /// Notes a candidate that was chosen; its place in the step.
    pub(super) fn choose(&mut self, considered: Considered) -> usize {
        self.chosen.push(considered);
        self.chosen.len() - 1
    }

    /// Notes a candidate that was not chosen, by its worth.
    pub(super) fn reject(&mut self, worth: f64, considered: Considered) {
        self.rejected.push((worth, considered));
    }

    /// A step is over: of those that were not chosen the best are kept.
    pub(super) fn end(&mut self) {
        let Some(most) = self.most else { return };
        let mut step = std::mem::take(&mut self.chosen);
        self.rejected.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        step.extend(self.rejected.drain(..).take(most).map(|(_, considered)| considered));
        self.steps.push(step);
    }

    /// Tells what became of the candidate at a place of the step that wrote the `length`-th token.
    pub(super) fn settle(&mut self, length: usize, place: Option<usize>, fate: Fate) {
        let step = length.checked_sub(1).and_then(|step| self.steps.get_mut(step));
        if let Some(considered) = place.zip(step).and_then(|(place, step)| step.get_mut(place))
            && considered.fate != Fate::Given
        {
            considered.fate = fate;
        }
    }

    pub(super) fn finish(self) -> Vec<Vec<Considered>> {
        self.steps
    }
}
