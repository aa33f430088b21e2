//! What a set of nodes cuts off in a connected set of free nodes: `connected`.

use super::connected_region::Region;

/// Floods from several nodes at once that join where they meet, until at most one can go on: what two
/// floods around a set have in common is near to it as a rule. Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Floods {
    /// By number of the region: its flood, or one of the marks below; [`UNREACHED`] between questions.
    marks: Vec<u32>,
    begun: Vec<Flood>,
    /// The nodes reached.
    reached: Vec<u32>,
    looked: u64,
}

/// Not reached.
const UNREACHED: u32 = u32::MAX;
/// Never reached.
const BARRED: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Flood {
    /// One that it has joined; itself if none.
    parent: u32,
    nodes: u32,
    /// Its nodes whose neighbours have not been looked at.
    open: u32,
}

/// What is known when at most one flood can go on.
struct Ends {
    /// The nodes of all floods that have ended, and of the largest.
    nodes: u32,
    largest: u32,
    /// How many floods have ended.
    ended: u32,
    /// Whether one has not.
    open: bool,
}

impl Floods {
    /// How many nodes of the region a set of its nodes cuts off from the largest rest. O(nodes of the
    /// set and of all rests but one, and those near the set).
    pub(super) fn cut_off(&mut self, region: &Region, set: &[u32]) -> u32 {
        self.begin(region);
        for &node in set {
            self.marks[node as usize] = BARRED;
        }
        for &node in set {
            for &beside in region.beside(node) {
                self.start(beside);
            }
        }
        let ends = self.join(region, |_| true);
        self.finish(set);
        let rest = (region.count() - set.len()) as u32;
        let open = if ends.open { rest - ends.nodes } else { 0 };
        rest - ends.largest.max(open)
    }

    /// Whether the nodes of a connected set, which `is_in` knows, stay connected without one of them.
    pub(super) fn stays_connected(
        &mut self,
        region: &Region,
        without: u32,
        is_in: impl Fn(u32) -> bool,
    ) -> bool {
        self.begin(region);
        self.marks[without as usize] = BARRED;
        for &beside in region.beside(without) {
            if is_in(beside) {
                self.start(beside);
            }
        }
        let ends = self.join(region, is_in);
        self.finish(&[without]);
        ends.ended + u32::from(ends.open) <= 1
    }

    fn begin(&mut self, region: &Region) {
        if self.marks.len() < region.count() {
            self.marks.resize(region.count(), UNREACHED);
        }
        self.begun.clear();
        self.reached.clear();
    }

    fn finish(&mut self, barred: &[u32]) {
        self.looked += self.reached.len() as u64;
        for &node in self.reached.iter().chain(barred) {
            self.marks[node as usize] = UNREACHED;
        }
    }

    /// A flood from a node that no flood has reached.
    fn start(&mut self, node: u32) {
        if self.marks[node as usize] == UNREACHED {
            let flood = self.begun.len() as u32;
            self.marks[node as usize] = flood;
            self.begun.push(Flood { parent: flood, nodes: 1, open: 1 });
            self.reached.push(node);
        }
    }

    fn join(&mut self, region: &Region, is_in: impl Fn(u32) -> bool) -> Ends {
        let mut going = self.begun.len();
        let mut ends = Ends { nodes: 0, largest: 0, ended: 0, open: false };
        let mut next = 0;
        while going > 1 {
            let node = self.reached[next];
            next += 1;
            let mut flood = self.root(self.marks[node as usize]);
            for &beside in region.beside(node) {
                match self.marks[beside as usize] {
                    BARRED => {}
                    UNREACHED => {
                        if is_in(beside) {
                            self.marks[beside as usize] = flood;
                            self.reached.push(beside);
                            self.begun[flood as usize].nodes += 1;
                            self.begun[flood as usize].open += 1;
                        }
                    }
                    other => {
                        let other = self.root(other);
                        if other != flood {
                            flood = self.merge(flood, other);
                            going -= 1;
                        }
                    }
                }
            }
            let flood = &mut self.begun[flood as usize];
            flood.open -= 1;
            if flood.open == 0 {
                going -= 1;
                ends.nodes += flood.nodes;
                ends.largest = ends.largest.max(flood.nodes);
                ends.ended += 1;
            }
        }
        ends.open = going == 1;
        ends
    }

    fn merge(&mut self, a: u32, b: u32) -> u32 {
        let joined = self.begun[b as usize];
        self.begun[b as usize].parent = a;
        self.begun[a as usize].nodes += joined.nodes;
        self.begun[a as usize].open += joined.open;
        a
    }

    /// The flood that a flood has joined, the ways there halved.
    fn root(&mut self, mut flood: u32) -> u32 {
        while self.begun[flood as usize].parent != flood {
            let parent = self.begun[flood as usize].parent;
            self.begun[flood as usize].parent = self.begun[parent as usize].parent;
            flood = parent;
        }
        flood
    }

    /// Nodes reached.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
