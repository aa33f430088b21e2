//! Flood fill from several nodes at once: how many nodes of a component does a set cut off from the
//! largest rest?
//!
//! ```text
//!   . . o . .      the set o parts the row into two rests of two nodes. A flood begins at each
//!                  neighbour of the set. Floods that meet become one.
//! ```
//!
//! The floods stop when at most one of them can grow. The size of that one is what the others
//! leave. Most rests meet near the set, so that the floods stop soon. Floods that meet are joined
//! by union and find.
//!
//! Invariant: `marks` is [`UNREACHED`] everywhere between questions.
//!
//! Cost: O(nodes of the set, of all rests but one, and of those near the set).

use super::component::ComponentGraph;

/// The floods of a question, with their scratch memory.
#[derive(Clone, Default)]
pub(super) struct FloodFill {
    /// By node: its flood, or one of the marks below.
    marks: Vec<u32>,
    /// The floods begun.
    floods: Vec<Flood>,
    /// The nodes reached.
    reached: Vec<u32>,
    looked: u64,
}

/// The mark of a node that no flood has reached.
const UNREACHED: u32 = u32::MAX;
/// The mark of a node that no flood may reach.
const BARRED: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Flood {
    /// The flood that it was joined to; itself if to none.
    parent: u32,
    nodes: u32,
    /// Nodes whose neighbours have not been looked at. A flood without any has ended.
    open: u32,
}

/// How far the floods have come.
struct Progress {
    /// The nodes of all floods that have ended.
    ended_nodes: u32,
    /// The nodes of the largest of these.
    largest: u32,
    /// How many floods have ended.
    ended: u32,
    /// How many floods can grow.
    growing: u32,
    /// Where in `reached` the first node stands whose neighbours have not been looked at.
    next: usize,
}

impl Progress {
    /// The nodes that the last growing flood will reach; 0 without one. All floods together reach
    /// `rest` nodes.
    fn final_nodes(&self, rest: u32) -> u32 {
        if self.growing == 0 { 0 } else { rest - self.ended_nodes }
    }
}

impl FloodFill {
    /// How many nodes of the component a set cuts off from the largest rest.
    pub(super) fn cut_off(&mut self, component: &ComponentGraph, set: &[u32]) -> u32 {
        let progress = self.flood_around_set(component, set);
        self.finish(set);
        let rest = (component.count() - set.len()) as u32;
        rest - progress.largest.max(progress.final_nodes(rest))
    }

    /// Floods from the neighbours of a set, until at most one can grow.
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

    /// The nodes of a connected rest that lose their way to its main part when `node` is taken.
    /// `is_in` says which nodes belong to the rest.
    ///
    /// The main part is the one whose flood ends last. If the others have more than `most` nodes,
    /// it is the largest one instead. Each node of the answer is beside `node`, or beside a node
    /// that comes before it.
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

    /// Floods from the neighbours of a node, through nodes of `is_in`, until at most one can grow.
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

    /// Forgets the floods of the last question.
    fn begin(&mut self, component: &ComponentGraph) {
        if self.marks.len() < component.count() {
            self.marks.resize(component.count(), UNREACHED);
        }
        self.floods.clear();
        self.reached.clear();
    }

    /// Clears the marks of this question.
    fn finish(&mut self, barred: &[u32]) {
        self.looked += self.reached.len() as u64;
        for &node in self.reached.iter().chain(barred) {
            self.marks[node as usize] = UNREACHED;
        }
    }

    /// Begins a flood at a node, unless one has reached it.
    fn start(&mut self, node: u32) {
        if self.marks[node as usize] == UNREACHED {
            let flood = self.floods.len() as u32;
            self.marks[node as usize] = flood;
            self.floods.push(Flood { parent: flood, nodes: 1, open: 1 });
            self.reached.push(node);
        }
    }

    /// The state before any flood has grown.
    fn progress_at_start(&self) -> Progress {
        Progress {
            ended_nodes: 0,
            largest: 0,
            ended: 0,
            growing: self.floods.len() as u32,
            next: 0,
        }
    }

    /// Lets the floods grow until at most one still can.
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

    /// Lets the last flood grow until it is the largest, or has ended.
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

    /// Looks at the neighbours of the next node reached: its flood grows there, or meets another.
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

    /// The flood that stands for all those joined to it. Halves the way there for the next time.
    fn root(&mut self, mut flood: u32) -> u32 {
        while self.floods[flood as usize].parent != flood {
            let parent = self.floods[flood as usize].parent;
            self.floods[flood as usize].parent = self.floods[parent as usize].parent;
            flood = parent;
        }
        flood
    }

    /// The nodes reached in all questions.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
