//! A beam search as a tree: which hypotheses were followed, what they scored, and what was let go of at which step and
//! why.
//!
//! A [`Tree`] is made of plain data, what [`gatto_search::beam_search`] records of one sentence. It is drawn
//! - in the terminal ([`terminal`]), a line for each candidate,
//! - as a picture ([`svg`], [`png`]) that grows to the right, a column for each step,
//! - as a page that works offline ([`html`]): point at a candidate for its whole story, hide what was pruned.
//!
//! ```
//! use gatto_inspect::tree::{Output, Record, Tree, svg};
//! use gatto_search::{Considered, Fate};
//!
//! let considered = |token, log_probability, fate| Considered {
//!     parent: None, group: 0, token, log_probability, entropy: 0.4, score: f64::from(log_probability), fate,
//! };
//! let steps = vec![vec![
//!     considered(0, -0.1, Fate::Finished { rank: Some(0) }),
//!     considered(1, -2.4, Fate::Beaten { by: 2.3 }),
//! ]];
//! let results = vec![Output { text: String::new(), log_probability: -0.1, score: -0.1 }];
//! let record = Record { title: "a sentence".to_owned(), beam: 1, steps, results, greedy: None };
//! let tree = Tree::new(record, |token| ["⟨/s⟩", "gatto"][token as usize].to_owned())?;
//! assert!(svg(&tree).starts_with("<svg"));
//! # Ok::<(), gatto_inspect::tree::TreeError>(())
//! ```
//!
//! In every drawing the path of the best result is a straight line; what branches off stands beside it. What greedy
//! search would have written is there too, to its end, even where the beam did not follow.

mod html;
mod layout;
mod picture;
mod terminal;
mod words;

pub use html::html;
pub use picture::{png, svg};
pub use terminal::terminal;

use gatto_search::{Considered, Fate};

/// More steps than this are refused: nobody could follow them.
pub const MOST_STEPS: usize = 1024;
/// More candidates than this are refused: every picture holds a few hundred bytes for each.
pub const MOST_NODES: usize = 1 << 14;

/// Why something is not a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// Nothing was considered.
    #[error("a tree of no step: search has written nothing, or was not asked to record anything")]
    Empty,
    /// More of something than can be drawn.
    #[error(
        "a tree of {found} {what}; at most {most} can be drawn: follow fewer hypotheses, or split the sentence"
    )]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A candidate stands behind one that is not there.
    #[error("candidate {place} of step {step} stands behind one that is not there")]
    Parent {
        /// The step, from 1.
        step: usize,
        /// Its place in the step, from 1.
        place: usize,
    },
}

/// What is known of one search.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What was searched for; it may be empty.
    pub title: String,
    /// How many hypotheses were followed at once.
    pub beam: usize,
    /// What was considered at each step.
    pub steps: Vec<Vec<Considered>>,
    /// What came out, best first.
    pub results: Vec<Output>,
    /// What greedy search writes instead, if that is known.
    pub greedy: Option<Greedy>,
}

/// A sentence that a search wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its text.
    pub text: String,
    /// log p of all its tokens.
    pub log_probability: f64,
    /// What it is ranked by.
    pub score: f64,
}

/// What greedy search writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Greedy {
    /// The sentence.
    pub output: Output,
    /// Its tokens, with its end if it has one, and log p of each.
    pub tokens: Vec<(u32, f32)>,
}

/// A search that can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    title: String,
    beam: usize,
    /// How many steps there are, those that greedy search makes by itself among them.
    steps: usize,
    /// How many groups share the beam.
    groups: usize,
    nodes: Vec<Node>,
    /// The nodes of the first step, in the order in which they are drawn.
    first: Vec<usize>,
    results: Vec<Output>,
    greedy: Option<Output>,
}

/// A token behind a hypothesis.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    /// The step that wrote it, from 0.
    step: usize,
    parent: Option<usize>,
    /// In the order in which they are drawn: what belongs to the best result first.
    children: Vec<usize>,
    token: u32,
    text: String,
    log_probability: f32,
    /// log p of the hypothesis that ends here.
    sum: f64,
    /// What that hypothesis would be ranked by, where search has said so.
    score: Option<f64>,
    group: usize,
    became: Became,
    /// The best of the results that go through it, from 0.
    rank: Option<usize>,
    /// Whether greedy search goes through it.
    greedy: bool,
}

/// What became of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Became {
    /// What search says.
    Fate(Fate),
    /// It was kept, and nothing behind it.
    Overtaken,
    /// The beam did not follow it; greedy search does.
    GreedyOnly,
}

/// How a node is drawn: the first of these that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// On the path of the best result.
    Best,
    /// On the path of greedy search.
    Greedy,
    /// On the path of another result.
    Result,
    /// Not chosen.
    Pruned,
    /// Followed for a while.
    Kept,
}

impl Node {
    /// Whether it was considered and not chosen.
    fn is_pruned(&self) -> bool {
        use Fate::{Again, Beaten, Forbidden, Phrases, Repeated, TooShort};
        matches!(self.became, Became::Fate(Beaten { .. } | Forbidden | Repeated | TooShort | Again | Phrases))
    }

    /// The rank of the result that ends here.
    fn ends_as(&self) -> Option<usize> {
        match self.became {
            Became::Fate(Fate::Finished { rank: Some(rank) } | Fate::Unfinished { rank }) => Some(rank),
            _ => None,
        }
    }

    fn look(&self) -> Look {
        match self.rank {
            Some(0) => Look::Best,
            _ if self.greedy => Look::Greedy,
            Some(_) => Look::Result,
            None if self.is_pruned() => Look::Pruned,
            None => Look::Kept,
        }
    }
}

impl Tree {
    /// Puts a record in order; `text` gives a token for the eye.
    pub fn new(record: Record, text: impl Fn(u32) -> String) -> Result<Self, TreeError> {
        let Record { title, beam, steps, results, greedy } = record;
        let longest = steps.len().max(greedy.as_ref().map_or(0, |greedy| greedy.tokens.len()));
        let candidates = steps.iter().map(Vec::len).sum();
        check_count("steps", longest, MOST_STEPS)?;
        check_count("candidates", candidates, MOST_NODES)?;
        let groups = steps.iter().flatten().map(|considered| considered.group + 1).max().unwrap_or(1);
        let mut tree = Self {
            title,
            beam,
            steps: longest,
            groups,
            nodes: Vec::with_capacity(candidates),
            first: Vec::new(),
            results,
            greedy: None,
        };
        let mut before = 0..0;
        for (step, considered) in steps.iter().enumerate() {
            let start = tree.nodes.len();
            for (place, considered) in considered.iter().enumerate() {
                let parent = considered.parent.map(|parent| before.start + parent);
                if (step == 0) != parent.is_none() || parent.is_some_and(|parent| parent >= before.end) {
                    return Err(TreeError::Parent { step: step + 1, place: place + 1 });
                }
                tree.grow(step, parent, considered, text(considered.token));
            }
            before = start..tree.nodes.len();
        }
        tree.mark_results();
        tree.mark_overtaken();
        if let Some(greedy) = greedy {
            tree.follow(&greedy.tokens, greedy.output.score, text);
            tree.greedy = Some(greedy.output);
        }
        tree.sort();
        Ok(tree)
    }

    fn grow(&mut self, step: usize, parent: Option<usize>, considered: &Considered, text: String) {
        let &Considered { token, log_probability, score, group, fate, .. } = considered;
        self.push(Node {
            step,
            parent,
            children: Vec::new(),
            token,
            text,
            log_probability,
            sum: self.sum(parent) + f64::from(log_probability),
            score: Some(score),
            group,
            became: Became::Fate(fate),
            rank: None,
            greedy: false,
        });
    }

    fn push(&mut self, node: Node) -> usize {
        let number = self.nodes.len();
        match node.parent {
            Some(parent) => self.nodes[parent].children.push(number),
            None => self.first.push(number),
        }
        self.nodes.push(node);
        number
    }

    fn sum(&self, node: Option<usize>) -> f64 {
        node.map_or(0.0, |node| self.nodes[node].sum)
    }

    /// What stands behind a node, or at the beginning.
    fn behind(&self, node: Option<usize>) -> &[usize] {
        node.map_or(&self.first, |node| &self.nodes[node].children)
    }

    /// The nodes from the first token to this one.
    fn path(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(Some(node), |&node| self.nodes[node].parent).collect();
        path.reverse();
        path
    }

    /// The nodes of the result of this rank.
    fn path_of_result(&self, rank: usize) -> Vec<usize> {
        let last = self.nodes.iter().position(|node| node.ends_as() == Some(rank));
        last.map(|last| self.path(last)).unwrap_or_default()
    }

    fn mark_results(&mut self) {
        for node in 0..self.nodes.len() {
            let Some(rank) = self.nodes[node].ends_as() else { continue };
            for node in self.path(node) {
                let best = &mut self.nodes[node].rank;
                *best = Some(best.map_or(rank, |best| best.min(rank)));
            }
        }
    }

    fn mark_overtaken(&mut self) {
        for number in 0..self.nodes.len() {
            let node = &self.nodes[number];
            let followed = node.children.iter().any(|&child| !self.nodes[child].is_pruned());
            if node.became == Became::Fate(Fate::Kept) && !followed {
                self.nodes[number].became = Became::Overtaken;
            }
        }
    }

    /// Marks where greedy search goes, and adds what the beam did not follow.
    fn follow(&mut self, tokens: &[(u32, f32)], score: f64, text: impl Fn(u32) -> String) {
        let mut at = None;
        for (step, &(token, log_probability)) in tokens.iter().enumerate() {
            let same = |&&child: &&usize| self.nodes[child].token == token;
            let known =
                self.behind(at).iter().filter(same).min_by_key(|&&child| self.nodes[child].is_pruned());
            let next = known.copied().unwrap_or_else(|| {
                self.push(Node {
                    step,
                    parent: at,
                    children: Vec::new(),
                    token,
                    text: text(token),
                    log_probability,
                    sum: self.sum(at) + f64::from(log_probability),
                    score: (step + 1 == tokens.len()).then_some(score),
                    group: 0,
                    became: Became::GreedyOnly,
                    rank: None,
                    greedy: true,
                })
            });
            self.nodes[next].greedy = true;
            at = Some(next);
        }
    }

    /// Puts what belongs to the best result first, then greedy search, then what was kept.
    fn sort(&mut self) {
        let key = |&child: &usize| {
            let node = &self.nodes[child];
            (node.rank != Some(0), !node.greedy, node.rank.unwrap_or(usize::MAX), node.is_pruned(), child)
        };
        let mut first = self.first.clone();
        first.sort_by_key(key);
        let sorted = |node: &Node| {
            let mut children = node.children.clone();
            children.sort_by_key(key);
            children
        };
        let all: Vec<Vec<usize>> = self.nodes.iter().map(sorted).collect();
        self.first = first;
        for (node, children) in self.nodes.iter_mut().zip(all) {
            node.children = children;
        }
    }

    /// Whether greedy search ends anywhere but at the best result.
    fn greedy_differs(&self) -> bool {
        self.nodes.iter().any(|node| node.look() == Look::Greedy)
    }
}

fn check_count(what: &'static str, found: usize, most: usize) -> Result<(), TreeError> {
    match found {
        0 => Err(TreeError::Empty),
        _ if found > most => Err(TreeError::TooLarge { what, found, most }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
