//! Where every node of a tree stands: a column for each step, rows from the top.
//!
//! The first child of a node stands in its row, so that the path of the best result is a straight line; the others hang
//! below: first where greedy search goes, then short branches before long ones, so that what was pruned stays near. A
//! branch is moved up as far as those above it leave room in all of its columns. Branches of later steps are placed before
//! those of earlier ones, so that no line crosses another.

use super::Tree;

/// The rows of nodes.
pub(super) struct Layout {
    /// Of each node its row; none if it is hidden.
    pub(super) rows: Vec<Option<usize>>,
    /// How many rows there are.
    pub(super) height: usize,
}

impl Layout {
    /// Places all nodes, or those alone that were not pruned.
    pub(super) fn new(tree: &Tree, pruned: bool) -> Self {
        let mut placing = Placing {
            tree,
            pruned,
            rows: vec![None; tree.nodes.len()],
            free: vec![0; tree.steps],
            last: vec![0; tree.nodes.len()],
        };
        placing.measure();
        if let Some((&best, branches)) = tree.first.split_first() {
            placing.place(best);
            placing.place_all(branches.to_vec());
        }
        Self { height: placing.free.into_iter().max().unwrap_or(0), rows: placing.rows }
    }

    /// The children of a node, or those of the beginning, that are shown.
    pub(super) fn shown<'a>(
        &'a self,
        tree: &'a Tree,
        node: Option<usize>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        tree.behind(node).iter().filter_map(|&child| Some((child, self.rows[child]?)))
    }
}

struct Placing<'a> {
    tree: &'a Tree,
    pruned: bool,
    rows: Vec<Option<usize>>,
    /// The first row of each step that nothing stands in.
    free: Vec<usize>,
    /// The last step of what stands behind each node.
    last: Vec<usize>,
}

impl Placing<'_> {
    /// Places a node, its first children in the same row, and then what branches off, last steps first.
    fn place(&mut self, node: usize) {
        if !self.shows(node) {
            return;
        }
        let line: Vec<usize> = std::iter::successors(Some(node), |&node| self.visible(node).next()).collect();
        let first = self.tree.nodes[node].step;
        let columns = first..first + line.len();
        let row = self.free[columns.clone()].iter().copied().max().unwrap_or(0);
        self.free[columns].fill(row + 1);
        for &node in &line {
            self.rows[node] = Some(row);
        }
        for &node in line.iter().rev() {
            self.place_all(self.visible(node).skip(1).collect());
        }
    }

    fn place_all(&mut self, mut branches: Vec<usize>) {
        branches.sort_by_key(|&branch| (!self.tree.nodes[branch].greedy, self.last[branch]));
        branches.into_iter().for_each(|branch| self.place(branch));
    }

    /// Finds the last step behind each node. What stands behind a node comes after it in the list.
    fn measure(&mut self) {
        for node in (0..self.last.len()).rev().filter(|&node| self.shows(node)).collect::<Vec<_>>() {
            let found = &self.tree.nodes[node];
            self.last[node] = self.last[node].max(found.step);
            if let Some(parent) = found.parent {
                self.last[parent] = self.last[parent].max(self.last[node]);
            }
        }
    }

    fn visible(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.nodes[node].children.iter().copied().filter(|&child| self.shows(child))
    }

    fn shows(&self, node: usize) -> bool {
        let node = &self.tree.nodes[node];
        self.pruned || node.greedy || !node.is_pruned()
    }
}
