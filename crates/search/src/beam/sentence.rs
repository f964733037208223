//! One sentence while it is searched for.

use super::candidate::Candidate;
use super::expansion::Expansion;
use super::normalise::coverage;
use super::phrases::{Phrases, Progress};
use super::rules::{Barred, Rules};
use super::trace::{Considered, Fate, Recorder};
use super::{Beam, Found, Ranked, Rows, Stepped, Stop, Wanted};
use crate::choices::entropy;
use crate::{Continuation, Hypothesis};
use std::rc::Rc;

/// A token and the one before it: hypotheses share their beginnings.
struct Node {
    parent: Option<usize>,
    token: u32,
    log_probability: f32,
}

/// A hypothesis that may go on.
#[derive(Clone)]
pub(super) struct Open {
    /// Its last token; none before the first.
    node: Option<usize>,
    /// How many tokens it has.
    length: usize,
    /// Its row of the model's state.
    pub(super) row: usize,
    /// log p of all its tokens.
    pub(super) sum: f64,
    /// How far it is with the phrases, and the tokens that they still need.
    pub(super) progress: Progress,
    pub(super) needed: usize,
    /// Σ_t a_ti of each source position, where the coverage counts.
    covered: Rc<[f32]>,
    /// Its place in the last step of the trace.
    traced: Option<usize>,
    /// How undecided the model is about what follows, where there is a trace.
    entropy: f32,
}

/// A hypothesis that may be among those that are given back.
struct Outcome {
    node: Option<usize>,
    length: usize,
    score: f64,
    traced: Option<usize>,
}

/// What has been found for a sentence so far.
pub(super) struct Sentence<'a> {
    wanted: &'a Wanted,
    beam: &'a Beam,
    rules: Rules<'a>,
    phrases: Phrases,
    /// The tokens that are left for the end when all phrases have appeared; none if there is no room for them.
    reserve: Option<usize>,
    nodes: Vec<Node>,
    /// The open hypotheses of each group.
    groups: Vec<Vec<Open>>,
    /// Hypotheses that nothing may follow, not even the end.
    stuck: Vec<Open>,
    /// The best of those that have ended, best first.
    best: Vec<Outcome>,
    /// How many have ended.
    finished: usize,
    /// How many tokens the open hypotheses have.
    length: usize,
    recorder: Recorder,
    room: Room,
}

/// Lists that every step fills anew, in the memory that they had.
#[derive(Default)]
struct Room {
    parents: Vec<Open>,
    barred: Vec<Barred>,
    chosen: Vec<Candidate>,
    /// The tokens that the groups so far have chosen.
    taken: Vec<u32>,
    /// What they have ended.
    ended: Vec<Vec<u32>>,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(
        wanted: &'a Wanted,
        beam: &'a Beam,
        end: u32,
        forbidden: &'a [u32],
        row: usize,
    ) -> Self {
        let phrases = Phrases::new(&wanted.phrases);
        let progress = phrases.start();
        let given = wanted.prefix.iter().fold(progress.clone(), |all, &token| phrases.behind(&all, token));
        let spare = wanted.max_length.checked_sub(phrases.needed(&given));
        let needed = phrases.needed(&progress);
        let covered = Rc::from([]);
        let open = Open {
            node: None,
            length: 0,
            row,
            sum: 0.0,
            progress,
            needed,
            covered,
            traced: None,
            entropy: 0.0,
        };
        Self {
            wanted,
            beam,
            rules: Rules::new(wanted, beam, end, forbidden),
            phrases,
            reserve: spare.map(|spare| spare.min(1)),
            nodes: Vec::new(),
            groups: vec![vec![open]; beam.groups.clamp(1, beam.size.max(1))],
            stuck: Vec::new(),
            best: Vec::new(),
            finished: 0,
            length: 0,
            recorder: Recorder::new(beam.trace),
            room: Room::default(),
        }
    }

    /// Whether there is nothing more to find.
    pub(super) fn is_over(&self) -> bool {
        if self.length < self.wanted.prefix.len() {
            return false;
        }
        self.length == self.longest() || self.groups.iter().all(Vec::is_empty) || self.may_stop()
    }

    fn may_stop(&self) -> bool {
        match self.beam.stop {
            Stop::Never => false,
            Stop::First => self.finished >= self.beam.size.max(1),
            Stop::Exact => {
                let full = self.best.len() == self.most_outcomes();
                let Some(worst) = self.best.last().filter(|_| full) else { return false };
                let (shortest, longest) = (self.length + 1, self.longest());
                let bound = |open: &Open| self.beam.normalisation.bound(open.sum, shortest, longest);
                self.groups.iter().flatten().all(|open| bound(open) <= worst.score)
            }
        }
    }

    /// The most tokens that a hypothesis may have.
    fn longest(&self) -> usize {
        self.wanted.prefix.len().saturating_add(self.wanted.max_length)
    }

    fn most_outcomes(&self) -> usize {
        self.beam.n_best.clamp(1, self.beam.size.max(1))
    }

    /// Asks for the rows of the next step. Behind the prefix alone all groups share one.
    pub(super) fn take_rows(&mut self, rows: &mut Rows, first: u32) {
        let shared = self.length <= self.wanted.prefix.len();
        let mut common = None;
        for open in self.groups.iter_mut().flatten() {
            let token = open.node.map_or(first, |node| self.nodes[node].token);
            let parent = open.row;
            let new = || rows.push(parent, token);
            open.row = if shared { *common.get_or_insert_with(new) } else { rows.push(parent, token) };
        }
    }

    /// Writes one more token behind the open hypotheses.
    pub(super) fn advance(&mut self, stepped: &Stepped<'_>) {
        if let Some(attention) = &stepped.attention {
            for open in self.groups.iter_mut().flatten() {
                let looked = attention.get(open.row).map_or(&[][..], Vec::as_slice);
                open.covered = added(&open.covered, looked);
            }
        }
        if self.recorder.most().is_some() {
            for open in self.groups.iter_mut().flatten() {
                open.entropy = entropy(stepped.logits.row(open.row));
            }
        }
        match self.wanted.prefix.get(self.length) {
            Some(&token) => self.give(token, stepped),
            None => self.choose(stepped),
        }
        self.recorder.end();
        self.length += 1;
    }

    /// All groups take a token of the prefix.
    fn give(&mut self, token: u32, stepped: &Stepped<'_>) {
        let Some(open) = self.groups.first().and_then(|group| group.first()).cloned() else { return };
        let candidate = stepped.source(0, &open).with(token, 0.0);
        let behind = self.behind(&open, 0, &candidate, Fate::Given);
        self.groups.fill(vec![behind]);
    }

    /// Every group chooses among all tokens.
    fn choose(&mut self, stepped: &Stepped<'_>) {
        let mut room = std::mem::take(&mut self.room);
        room.taken.clear();
        room.ended.clear();
        for group in 0..self.groups.len() {
            std::mem::swap(&mut self.groups[group], &mut room.parents);
            room.barred.clear();
            room.barred.extend(room.parents.iter().map(|open| self.barred(open, &room.ended)));
            let Room { parents, barred, chosen: memory, taken, ended } = &mut room;
            let expansion = Expansion {
                parents,
                barred,
                stepped,
                rules: &self.rules,
                phrases: &self.phrases,
                left: self.left(),
                taken,
                diversity: self.beam.diversity.max(0.0),
            };
            let chosen = expansion.choose(self.places(group), std::mem::take(memory));
            let rejected =
                self.recorder.most().map_or_else(Vec::new, |most| expansion.rejected(&chosen, most));
            for (candidate, fate) in rejected {
                let considered = self.considered(&parents[candidate.parent], group, &candidate, fate);
                self.recorder.reject(candidate.worth, considered);
            }
            for candidate in &chosen {
                self.keep(&parents[candidate.parent], group, candidate);
            }
            taken.extend(chosen.iter().map(|candidate| candidate.token));
            if group + 1 < self.groups.len() {
                let ends = chosen.iter().filter(|candidate| candidate.token == self.rules.end);
                ended.extend(ends.map(|candidate| self.path(parents[candidate.parent].node).0));
            }
            match chosen.is_empty() {
                true => self.stuck.append(parents),
                false => parents.clear(),
            }
            *memory = chosen;
        }
        self.room = room;
    }

    /// How many hypotheses a group follows.
    fn places(&self, group: usize) -> usize {
        let (size, groups) = (self.beam.size.max(1), self.groups.len());
        size / groups + usize::from(group < size % groups)
    }

    /// The most tokens that phrases may need behind the next one.
    fn left(&self) -> Option<usize> {
        self.reserve.map(|reserve| (self.longest() - self.length - 1).saturating_sub(reserve))
    }

    fn barred(&self, open: &Open, ended: &[Vec<u32>]) -> Barred {
        let mut barred = match self.rules.need_history() {
            true => self.rules.barred(&self.path(open.node).0),
            false => Barred::default(),
        };
        barred.end = if self.length < self.wanted.prefix.len().saturating_add(self.wanted.min_length) {
            Some(Fate::TooShort)
        } else if open.needed > 0 {
            Some(Fate::Phrases)
        } else {
            let again = !ended.is_empty() && ended.contains(&self.path(open.node).0);
            again.then_some(Fate::Again)
        };
        barred
    }

    /// Takes a candidate in: as an open hypothesis, or as an outcome if it has ended.
    fn keep(&mut self, parent: &Open, group: usize, candidate: &Candidate) {
        if candidate.token != self.rules.end {
            let open = self.behind(parent, group, candidate, Fate::Kept);
            self.groups[group].push(open);
            return;
        }
        let open = self.behind(parent, group, candidate, Fate::Finished { rank: None });
        self.finished += 1;
        let outcome = self.outcome(&open);
        self.rank(outcome);
    }

    /// The hypothesis of a candidate.
    fn behind(&mut self, parent: &Open, group: usize, candidate: &Candidate, fate: Fate) -> Open {
        let &Candidate { token, log_probability, sum, .. } = candidate;
        let traced = self.recorder.most().map(|_| {
            let considered = self.considered(parent, group, candidate, fate);
            self.recorder.choose(considered)
        });
        self.nodes.push(Node { parent: parent.node, token, log_probability });
        let progress = self.phrases.behind(&parent.progress, token);
        Open {
            node: Some(self.nodes.len() - 1),
            length: parent.length + 1,
            row: parent.row,
            sum,
            needed: self.phrases.needed(&progress),
            progress,
            covered: parent.covered.clone(),
            traced,
            entropy: 0.0,
        }
    }

    fn considered(&self, parent: &Open, group: usize, candidate: &Candidate, fate: Fate) -> Considered {
        let &Candidate { token, log_probability, sum, .. } = candidate;
        let covered = if token == self.rules.end { &parent.covered[..] } else { &[] };
        let score = self.score(sum, parent.length + 1, covered);
        let entropy = parent.entropy;
        Considered { parent: parent.traced, group, token, log_probability, entropy, score, fate }
    }

    fn outcome(&self, open: &Open) -> Outcome {
        let score = self.score(open.sum, open.length, &open.covered);
        Outcome { node: open.node, length: open.length, score, traced: open.traced }
    }

    /// What sequences are ranked by.
    fn score(&self, sum: f64, length: usize, covered: &[f32]) -> f64 {
        sum / self.beam.normalisation.divisor(length) + coverage(self.beam.coverage, covered)
    }

    /// Puts an outcome in its place, behind those that are as good; none twice, and no more than are wanted.
    fn rank(&mut self, outcome: Outcome) {
        // What has ended is never alike, and no two of a group are.
        if self.groups.len() > 1 && self.best.iter().any(|other| self.alike(other, &outcome)) {
            return;
        }
        let place = self.best.partition_point(|other| other.score >= outcome.score);
        self.best.insert(place, outcome);
        self.best.truncate(self.most_outcomes());
    }

    fn alike(&self, left: &Outcome, right: &Outcome) -> bool {
        left.length == right.length && self.path(left.node).0 == self.path(right.node).0
    }

    /// The tokens up to a node, and log p of each.
    fn path(&self, mut node: Option<usize>) -> (Vec<u32>, Vec<f32>) {
        let mut path = (Vec::new(), Vec::new());
        while let Some(Node { parent, token, log_probability }) = node.map(|node| &self.nodes[node]) {
            path.0.push(*token);
            path.1.push(*log_probability);
            node = *parent;
        }
        path.0.reverse();
        path.1.reverse();
        path
    }

    /// What was found, when all is over.
    pub(super) fn found(mut self) -> Found {
        let finished = !self.best.is_empty();
        let mut open: Vec<Open> = self.groups.iter_mut().flat_map(std::mem::take).collect();
        open.append(&mut self.stuck);
        for open in &open {
            self.recorder.settle(open.length, open.traced, Fate::Dropped);
            if !finished {
                let outcome = self.outcome(open);
                self.rank(outcome);
            }
        }
        for (rank, outcome) in self.best.iter().enumerate() {
            let fate = if finished { Fate::Finished { rank: Some(rank) } } else { Fate::Unfinished { rank } };
            self.recorder.settle(outcome.length, outcome.traced, fate);
        }
        let best = self.best.iter().map(|outcome| self.ranked(outcome, finished)).collect();
        Found { best, trace: self.recorder.finish() }
    }

    fn ranked(&self, outcome: &Outcome, finished: bool) -> Ranked {
        let (mut tokens, mut prompt) = self.path(outcome.node);
        let given = self.wanted.prefix.len();
        let log_probabilities = prompt.split_off(given);
        tokens.drain(..given);
        if finished {
            tokens.pop();
        }
        let hypothesis = Hypothesis { tokens, log_probabilities, finished };
        Ranked { written: Continuation { prompt, hypothesis }, score: outcome.score }
    }
}

/// The sums of two lists; an empty one is all zeros.
fn added(covered: &[f32], weights: &[f32]) -> Rc<[f32]> {
    let before = covered.iter().copied().chain(std::iter::repeat(0.0));
    weights.iter().zip(before).map(|(weight, before)| before + weight).collect()
}
