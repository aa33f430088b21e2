//! Buddies: blocks that split into equal children and merge only with their own siblings.
//!
//! The machine is divided into roots. A block at level l >= 1 has R children at level l - 1.
//!
//! ```text
//!   level 1, free      level 1, one node taken: three free blocks of level 0
//!     f f                f f
//!     f f                f #
//! ```
//!
//! Invariant: the *free* blocks are the maximal ones. All nodes in such a block are free, but not
//! all nodes in its parent are. Free blocks depend only on the occupancy: a box that is not a block
//! (a failed node or a reservation) splits blocks as far as necessary, and its release merges them
//! again.
//!
//! Cost: O(affected blocks) to remove a box or put it back; O(L) to find a block, for L levels.

mod levels;

use std::sync::{Arc, OnceLock};

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Sides, volume};

use crate::strategies::shared::bit_set::ones;
use crate::strategies::shared::buddies::levels::BuddyLevels;
use crate::strategies::shared::free_set::{FreeOrder, FreeSet};
use crate::{Placement, Work};

/// A block that has no parent.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// The root's lowest corner.
    pub(crate) base: Coordinates,
    /// The sides of the root's blocks, by level, ending with the root itself. A block has R times
    /// as many nodes as a block one level below. Each side of the larger block is as long as the
    /// smaller block's side or twice as long.
    pub(crate) sides_by_level: Arc<[Sides]>,
}

/// A machine's roots. They never change.
#[derive(Debug)]
struct Roots {
    list: Vec<Root>,
    /// For each node, the index of the root that contains it. Empty if there is only one root.
    of: Vec<u32>,
    /// The levels, created when all free blocks are first computed from the free nodes.
    levels: OnceLock<Option<BuddyLevels>>,
}

/// A machine's free blocks.
#[derive(Clone, Debug)]
pub(crate) struct Buddies {
    grid: Grid,
    radix: u32,
    roots: Arc<Roots>,
    /// The bases of the free blocks at each level.
    free: Vec<FreeSet>,
    /// Scratch space for the progress of a search at each level.
    walks: Vec<Walk>,
    /// Scratch space for the number of blocks still to be found at each level.
    needs: Vec<u32>,
    work: Work,
}

#[derive(Clone, Copy)]
struct Block {
    root: u32,
    level: usize,
    base: Coordinates,
}

/// The progress of a search at one level. The search takes that level's free blocks in order, and
/// then the remaining children of a block that it has split.
#[derive(Clone, Copy, Debug)]
struct Walk {
    taken: u32,
    last: Option<u32>,
    parent: NodeId,
    child: u32,
}

impl Buddies {
    /// Creates buddies with all nodes free. The roots in `list` must partition the grid. `radix` is
    /// R, and `order` is the order in which free blocks at a level are taken.
    pub(crate) fn new(grid: Grid, radix: u32, list: Vec<Root>, order: FreeOrder) -> Buddies {
        let levels =
            list.iter().map(|root| root.sides_by_level.len()).max().expect("a grid has nodes");
        let mut free = vec![FreeSet::new(grid.nodes(), order); levels];
        let mut of = Vec::new();
        if list.len() > 1 {
            of = vec![0; grid.nodes() as usize];
        }
        for (index, root) in (0u32..).zip(&list) {
            let level = root.sides_by_level.len() - 1;
            free[level].insert(grid.id(root.base).0);
            if !of.is_empty() {
                for node in Cuboid::new(root.base, root.sides_by_level[level]).nodes(&grid) {
                    of[node.index()] = index;
                }
            }
        }
        let idle = Walk { taken: 0, last: None, parent: NodeId(0), child: radix };
        let roots = Arc::new(Roots { list, of, levels: OnceLock::new() });
        let (walks, needs) = (vec![idle; levels], Vec::new());
        Buddies { grid, radix, roots, free, walks, needs, work: Work::default() }
    }

    /// Finds blocks that contain `nodes` nodes in total, largest first. In base R, each digit of
    /// `nodes` is the number of blocks needed at that level. Each block is the first free one at
    /// its level. If there is none, the first of the smallest larger blocks is split: its first
    /// child is taken, and its other children are used next. If there is no larger block either, R
    /// blocks from the next level down are used instead.
    ///
    /// Always succeeds if that many nodes are free, which the caller must ensure.
    pub(crate) fn find(&mut self, nodes: u32) -> Vec<Cuboid> {
        for walk in &mut self.walks {
            *walk = Walk { taken: 0, last: None, parent: NodeId(0), child: self.radix };
        }
        self.needs.clear();
        let mut rest = nodes;
        while rest > 0 {
            self.needs.push(rest % self.radix);
            rest /= self.radix;
        }
        let mut parts = Vec::new();
        for level in (0..self.needs.len()).rev() {
            while self.needs[level] > 0 {
                if let Some(base) = self.pick(level) {
                    self.needs[level] -= 1;
                    parts.push(self.cuboid(self.block(base, level)));
                } else {
                    // Never reached at level 0: blocks there are single nodes, and enough are free.
                    self.needs[level - 1] += self.radix * self.needs[level];
                    self.needs[level] = 0;
                }
            }
        }
        parts
    }

    /// Returns the base of the first free block at `level` or, failing that, at a higher level.
    pub(crate) fn first_from(&mut self, level: usize) -> Option<Coordinates> {
        let mut levels = self.free.iter().skip(level).inspect(|_| self.work.boxes += 1);
        let base = levels.find_map(|blocks| blocks.after(None))?;
        Some(self.grid.point(NodeId(base)))
    }

    /// Returns the next block at a level, split off a larger one if necessary.
    fn pick(&mut self, level: usize) -> Option<NodeId> {
        let from = (level..self.walks.len()).find(|&larger| self.has(larger));
        self.work.boxes += from.map_or(1, |from| from - level + 1) as u64;
        let from = from?;
        let base = self.take(from);
        // The first child has its parent's base. The other children can be taken later.
        for walk in &mut self.walks[level..from] {
            (walk.parent, walk.child) = (base, 1);
        }
        Some(base)
    }

    fn has(&self, level: usize) -> bool {
        let walk = &self.walks[level];
        walk.taken < self.free[level].len() || walk.child < self.radix
    }

    fn take(&mut self, level: usize) -> NodeId {
        let walk = self.walks[level];
        if walk.taken < self.free[level].len() {
            let base = self.free[level].after(walk.last).expect("not all are taken");
            self.work.words += self.free[level].words(walk.last, base);
            let walk = &mut self.walks[level];
            (walk.taken, walk.last) = (walk.taken + 1, Some(base));
            return NodeId(base);
        }
        self.walks[level].child += 1;
        let child = self.child(self.block(walk.parent, level + 1), walk.child);
        self.grid.id(child.base)
    }

    /// Returns the work done so far: levels visited by searches, words in the levels' bit sets, and
    /// blocks visited by grants and releases.
    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Removes a placement's nodes, all of which must be free, from the free blocks.
    pub(crate) fn take_out(&mut self, placement: &Placement) {
        for part in placement.parts() {
            for piece in part.unwrapped(&self.grid) {
                self.each_root(&piece, |buddies, root| buddies.carve(root, &piece));
            }
        }
    }

    /// Adds a placement's nodes, none of which may be free, back to the free blocks.
    pub(crate) fn put_back(&mut self, placement: &Placement) {
        for part in placement.parts() {
            for piece in part.unwrapped(&self.grid) {
                self.each_root(&piece, |buddies, root| {
                    buddies.merge(root, &piece);
                });
            }
        }
    }

    /// Replaces the set of free nodes. Does nothing and returns false if blocks at the same level
    /// differ in shape or if blocks are taken by release time.
    pub(crate) fn reset(&mut self, free: &Occupancy) -> bool {
        let Buddies { grid, roots, free: sets, work, .. } = self;
        let levels = roots.levels.get_or_init(|| BuddyLevels::new(grid, &roots.list));
        let Some(levels) = levels.as_ref().filter(|_| sets.iter().all(FreeSet::is_sorted)) else {
            return false;
        };
        levels.of(free, |level, bases| {
            work.words += bases.len() as u64;
            sets[level].assign(bases);
        });
        true
    }

    /// Calls `change` for every root that overlaps a box. The box must not wrap.
    fn each_root(&mut self, piece: &Cuboid, mut change: impl FnMut(&mut Self, Block)) {
        let [x0, y0, z0] = piece.base;
        let [x1, y1, z1] = end(piece);
        for z in z0..z1 as u16 {
            for y in y0..y1 as u16 {
                let mut x = u32::from(x0);
                while x < x1 {
                    let root = self.root(self.grid.id([x as u16, y, z]));
                    let cuboid = self.cuboid(root);
                    // A root may appear in several rows; process it only in the first one.
                    if y == y0.max(cuboid.base[1]) && z == z0.max(cuboid.base[2]) {
                        change(self, root);
                    }
                    x = end(&cuboid)[0];
                }
            }
        }
    }

    /// Removes a box from a block that it overlaps.
    fn carve(&mut self, block: Block, piece: &Cuboid) {
        self.work.upkeep += 1;
        let was_free = self.free[block.level].remove(self.grid.id(block.base).0);
        if was_free && inside(&self.cuboid(block), piece) {
            return;
        }
        assert!(block.level > 0, "{piece:?} contains a node that is not free");
        if was_free {
            for index in 0..self.radix {
                let child = self.child(block, index);
                self.free[child.level].insert(self.grid.id(child.base).0);
            }
        }
        for index in ones(self.touched(block, piece)) {
            self.carve(self.child(block, index), piece);
        }
    }

    /// Puts a box back into a block that it overlaps. Returns true if the whole block becomes free.
    fn merge(&mut self, block: Block, piece: &Cuboid) -> bool {
        self.work.upkeep += 1;
        let base = self.grid.id(block.base).0;
        if inside(&self.cuboid(block), piece) {
            assert!(self.free[block.level].insert(base), "{piece:?} contains a node that is free");
            return true;
        }
        let touched = self.touched(block, piece);
        let mut whole = true;
        for index in ones(touched) {
            whole &= self.merge(self.child(block, index), piece);
        }
        let is_free = |index: u32| {
            let child = self.child(block, index);
            self.free[child.level].contains(self.grid.id(child.base).0)
        };
        whole = whole && (0..self.radix).all(is_free);
        if whole {
            for index in 0..self.radix {
                let child = self.child(block, index);
                self.free[child.level].remove(self.grid.id(child.base).0);
            }
            self.free[block.level].insert(base);
        }
        whole
    }

    /// Returns a mask of a block's children that overlap a box. The box must overlap the block.
    fn touched(&self, block: Block, piece: &Cuboid) -> u64 {
        let own = self.sides(block.root, block.level);
        let childs = self.sides(block.root, block.level - 1);
        let piece_end = end(piece);
        let (mut touched, mut bits) = (1, 1);
        for axis in (0..3).filter(|&axis| own[axis] != childs[axis]) {
            let middle = u32::from(block.base[axis]) + u32::from(childs[axis]);
            let low = if u32::from(piece.base[axis]) < middle { touched } else { 0 };
            let high = if piece_end[axis] > middle { touched << bits } else { 0 };
            (touched, bits) = (low | high, 2 * bits);
        }
        touched
    }

    /// Returns the root that contains a node.
    fn root(&self, node: NodeId) -> Block {
        let root = self.roots.of.get(node.index()).copied().unwrap_or(0);
        let Root { base, sides_by_level } = &self.roots.list[root as usize];
        Block { root, level: sides_by_level.len() - 1, base: *base }
    }

    /// Returns the block at a given base and level.
    fn block(&self, base: NodeId, level: usize) -> Block {
        Block { root: self.root(base).root, level, base: self.grid.point(base) }
    }

    fn cuboid(&self, block: Block) -> Cuboid {
        Cuboid::new(block.base, self.sides(block.root, block.level))
    }

    fn sides(&self, root: u32, level: usize) -> Sides {
        self.roots.list[root as usize].sides_by_level[level]
    }

    /// Returns a child of a block. Child indices have one bit per halved axis, in row-major order.
    fn child(&self, block: Block, index: u32) -> Block {
        let level = block.level - 1;
        let (own, childs) = (self.sides(block.root, block.level), self.sides(block.root, level));
        let (mut base, mut bits) = (block.base, index as u16);
        for axis in (0..3).filter(|&axis| own[axis] != childs[axis]) {
            base[axis] += (bits & 1) * childs[axis];
            bits >>= 1;
        }
        Block { level, base, ..block }
    }

    /// Compares the free blocks with the actual state. Panics if they differ.
    pub(crate) fn validate(&self, free: &Occupancy) {
        let mut nodes = 0;
        for root in &self.roots.list {
            nodes += self.validate_block(self.root(self.grid.id(root.base)), free);
        }
        assert_eq!(nodes, u64::from(free.count()), "wrong number of nodes in free blocks");
        let listed: u32 = self.free.iter().map(FreeSet::len).sum();
        assert_eq!(listed, self.count_free(), "a listed base does not belong to a free block");
    }

    /// Validates a block recursively, and returns the number of its free nodes.
    fn validate_block(&self, block: Block, free: &Occupancy) -> u64 {
        let cuboid = self.cuboid(block);
        let listed = self.free[block.level].contains(self.grid.id(block.base).0);
        assert_eq!(
            listed,
            free.is_free(&cuboid),
            "{cuboid:?} is free but not listed, or vice versa"
        );
        if listed {
            return volume(cuboid.sides);
        }
        match block.level {
            0 => 0,
            _ => (0..self.radix).map(|i| self.validate_block(self.child(block, i), free)).sum(),
        }
    }

    /// Counts the free blocks, from the roots down.
    fn count_free(&self) -> u32 {
        let mut stack: Vec<Block> =
            self.roots.list.iter().map(|root| self.root(self.grid.id(root.base))).collect();
        let mut count = 0;
        while let Some(block) = stack.pop() {
            if self.free[block.level].contains(self.grid.id(block.base).0) {
                count += 1;
            } else if block.level > 0 {
                stack.extend((0..self.radix).map(|index| self.child(block, index)));
            }
        }
        count
    }
}

/// Returns the coordinates just past the end of a box. The box must not wrap.
fn end(cuboid: &Cuboid) -> [u32; 3] {
    std::array::from_fn(|axis| u32::from(cuboid.base[axis]) + u32::from(cuboid.sides[axis]))
}

/// Returns true if one box is inside another. Neither box may wrap.
fn inside(inner: &Cuboid, outer: &Cuboid) -> bool {
    let (inner_end, outer_end) = (end(inner), end(outer));
    (0..3).all(|i| outer.base[i] <= inner.base[i] && inner_end[i] <= outer_end[i])
}
