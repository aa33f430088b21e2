//! A flood fill that starts at several nodes simultaneously. It counts the nodes that a set cuts
//! off from the largest remaining part of its component.
//!
//! ```text
//!   . . o . .      the set o leaves two parts of two nodes each. A flood begins at each
//!                  neighbor of the set. Floods that meet become one.
//! ```
//!
//! The floods stop when at most one of them can still grow. That flood's final size is the number
//! of nodes that the other floods do not reach. Most floods meet near the set, so they stop early.
//! Union-find joins floods that meet.
//!
//! Invariant: `marks` is [`UNREACHED`] everywhere between queries.
//!
//! Cost: O(nodes in or near the set, plus nodes in all remaining parts but one).

use super::component::ComponentGraph;

/// State of the flood fills in a query, including scratch buffers.
#[derive(Clone, Default)]
pub(super) struct FloodFill {
    /// The flood that each node belongs to, or one of the marks below.
    marks: Vec<u32>,
    /// The floods started so far.
    floods: Vec<Flood>,
    /// The nodes reached so far.
    reached: Vec<u32>,
    looked: u64,
}

/// The mark of a node that no flood has reached.
const UNREACHED: u32 = u32::MAX;
/// The mark of a node that no flood may enter.
const BARRED: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Flood {
    /// The flood that this one was merged into, or this one.
    parent: u32,
    nodes: u32,
    /// The number of nodes whose neighbors have not been visited yet, or 0 if the flood has ended.
    open: u32,
}

struct Progress {
    /// The total number of nodes in all floods that have ended.
    ended_nodes: u32,
    /// The size of the largest flood that has ended.
    largest: u32,
    /// The number of floods that have ended.
    ended: u32,
    /// The number of floods that can still grow.
    growing: u32,
    /// The position in `reached` of the first node whose neighbors have not been visited.
    next: usize,
}

impl Progress {
    /// Returns the number of nodes that the last growing flood will reach, or 0 if no flood can
    /// grow. All floods together reach `rest` nodes.
    fn final_nodes(&self, rest: u32) -> u32 {
        if self.growing == 0 { 0 } else { rest - self.ended_nodes }
    }
}

impl FloodFill {
    /// Returns the number of nodes that a set cuts off from the largest part that remains.
    pub(super) fn cut_off(&mut self, component: &ComponentGraph, set: &[u32]) -> u32 {
        let progress = self.flood_around_set(component, set);
        self.finish(set);
        let rest = (component.count() - set.len()) as u32;
        rest - progress.largest.max(progress.final_nodes(rest))
    }

    /// Floods from a set's neighbors until at most one flood can grow.
    fn flood_around_set(&mut self, component: &ComponentGraph, set: &[u32]) -> Progress {
        self.begin(component);
        for &node in set {
            self.marks[node as usize] = BARRED;
        }
        for &node in set {
            for &beside in component.beside(node) {
                self.start(beside);
            }
        }
        let mut progress = self.progress_at_start();
        self.grow_all(component, &mut progress, |_| true);
        progress
    }

    /// Finds the nodes of a connected region that would be separated from the region's main part if
    /// `node` were taken. `is_in` selects the nodes in the region.
    ///
    /// The main part is the one whose flood ends last or, if the other parts contain more than
    /// `most` nodes, the largest one. Each node in the result is adjacent to `node` or to an
    /// earlier node in the result.
    pub(super) fn behind(
        &mut self,
        component: &ComponentGraph,
        node: u32,
        most: usize,
        is_in: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut progress = self.flood_around_node(component, node, &is_in);
        if progress.ended_nodes as usize > most {
            self.outgrow(component, &mut progress, is_in);
        }
        let floods = 0..self.floods.len() as u32;
        let roots = floods.filter(|&flood| self.floods[flood as usize].parent == flood);
        let size = |flood: &u32| {
            let Flood { open, nodes, .. } = self.floods[*flood as usize];
            (open > 0, nodes)
        };
        let kept = roots.max_by_key(size);
        let mut nodes = Vec::new();
        if progress.ended + progress.growing > 1 {
            for index in 0..self.reached.len() {
                let reached = self.reached[index];
                if Some(self.root(self.marks[reached as usize])) != kept {
                    nodes.push(reached);
                }
            }
        }
        self.finish(&[node]);
        nodes
    }

    /// Floods from a node's neighbors, through nodes for which `is_in` is true, until at most one
    /// flood can grow.
    fn flood_around_node(
        &mut self,
        component: &ComponentGraph,
        node: u32,
        is_in: impl Fn(u32) -> bool,
    ) -> Progress {
        self.begin(component);
        self.marks[node as usize] = BARRED;
        for &beside in component.beside(node) {
            if is_in(beside) {
                self.start(beside);
            }
        }
        let mut progress = self.progress_at_start();
        self.grow_all(component, &mut progress, is_in);
        progress
    }

    /// Clears the floods of the previous query.
    fn begin(&mut self, component: &ComponentGraph) {
        if self.marks.len() < component.count() {
            self.marks.resize(component.count(), UNREACHED);
        }
        self.floods.clear();
        self.reached.clear();
    }

    /// Clears the marks set by this query.
    fn finish(&mut self, barred: &[u32]) {
        self.looked += self.reached.len() as u64;
        for &node in self.reached.iter().chain(barred) {
            self.marks[node as usize] = UNREACHED;
        }
    }

    /// Starts a flood at a node, unless a flood has already reached it.
    fn start(&mut self, node: u32) {
        if self.marks[node as usize] == UNREACHED {
            let flood = self.floods.len() as u32;
            self.marks[node as usize] = flood;
            self.floods.push(Flood { parent: flood, nodes: 1, open: 1 });
            self.reached.push(node);
        }
    }

    /// Returns the state before any flood has grown.
    fn progress_at_start(&self) -> Progress {
        Progress {
            ended_nodes: 0,
            largest: 0,
            ended: 0,
            growing: self.floods.len() as u32,
            next: 0,
        }
    }

    /// Grows the floods until at most one of them can still grow.
    fn grow_all(
        &mut self,
        component: &ComponentGraph,
        progress: &mut Progress,
        is_in: impl Fn(u32) -> bool,
    ) {
        while progress.growing > 1 {
            self.grow(component, progress, &is_in);
        }
    }

    /// Grows the last flood until it is the largest or has ended.
    fn outgrow(
        &mut self,
        component: &ComponentGraph,
        progress: &mut Progress,
        is_in: impl Fn(u32) -> bool,
    ) {
        while progress.growing > 0 {
            let flood = self.root(self.marks[self.reached[progress.next] as usize]);
            if self.floods[flood as usize].nodes > progress.largest {
                return;
            }
            self.grow(component, progress, &is_in);
        }
    }

    /// Visits the neighbors of a flood's next node, so that the flood grows or meets other floods.
    fn grow(
        &mut self,
        component: &ComponentGraph,
        progress: &mut Progress,
        is_in: impl Fn(u32) -> bool,
    ) {
        let node = self.reached[progress.next];
        progress.next += 1;
        let mut flood = self.root(self.marks[node as usize]);
        for &beside in component.beside(node) {
            match self.marks[beside as usize] {
                BARRED => {}
                UNREACHED => {
                    if is_in(beside) {
                        self.marks[beside as usize] = flood;
                        self.reached.push(beside);
                        self.floods[flood as usize].nodes += 1;
                        self.floods[flood as usize].open += 1;
                    }
                }
                other => {
                    let other = self.root(other);
                    if other != flood {
                        flood = self.merge(flood, other);
                        progress.growing -= 1;
                    }
                }
            }
        }
        let flood = &mut self.floods[flood as usize];
        flood.open -= 1;
        if flood.open == 0 {
            progress.growing -= 1;
            progress.ended_nodes += flood.nodes;
            progress.largest = progress.largest.max(flood.nodes);
            progress.ended += 1;
        }
    }

    /// Joins the second flood to the first.
    fn merge(&mut self, a: u32, b: u32) -> u32 {
        let joined = self.floods[b as usize];
        self.floods[b as usize].parent = a;
        self.floods[a as usize].nodes += joined.nodes;
        self.floods[a as usize].open += joined.open;
        a
    }

    /// Returns the root of a merged flood, shortening the path to it for later calls.
    fn root(&mut self, mut flood: u32) -> u32 {
        while self.floods[flood as usize].parent != flood {
            let parent = self.floods[flood as usize].parent;
            self.floods[flood as usize].parent = self.floods[parent as usize].parent;
            flood = parent;
        }
        flood
    }

    /// Returns the total number of nodes reached in all queries.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
