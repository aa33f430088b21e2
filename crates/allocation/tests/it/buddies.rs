//! Step-by-step tests of MBS against the published procedure. The procedure splits, moves and
//! merges blocks in lists of free blocks, whereas MBS derives the blocks from the occupancy.

use std::collections::BTreeMap;

use pavior_allocation::conformance;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Request};

use crate::common::machine;

/// A block, together with the index of the block that it was split from.
struct Block {
    cuboid: Cuboid,
    parent: Option<usize>,
}

/// The procedure in the 1997 paper, for any W x D x H.
struct Lists {
    long: Vec<usize>,
    blocks: Vec<Block>,
    /// The free blocks at each level.
    free: Vec<Vec<usize>>,
}

impl Lists {
    fn new(grid: &Grid) -> Lists {
        let mut long: Vec<usize> = (0..3).filter(|&axis| grid.side(axis) > 1).collect();
        if long.is_empty() {
            long.push(0);
        }
        let mut lists = Lists { long, blocks: Vec::new(), free: Vec::new() };
        while lists.radix().pow(lists.free.len() as u32) <= grid.nodes() {
            lists.free.push(Vec::new());
        }
        lists.partition(Cuboid::whole(grid));
        lists
    }

    fn radix(&self) -> u32 {
        1 << self.long.len()
    }

    fn partition(&mut self, cuboid: Cuboid) {
        let least = self.long.iter().map(|&axis| cuboid.sides[axis]).min().unwrap();
        let level = least.ilog2() as usize;
        let mut corner = cuboid;
        let mut slabs = Vec::new();
        for &axis in &self.long {
            let mut slab = corner;
            slab.base[axis] += 1 << level;
            slab.sides[axis] -= 1 << level;
            corner.sides[axis] = 1 << level;
            slabs.push(slab);
        }
        self.blocks.push(Block { cuboid: corner, parent: None });
        self.push(self.blocks.len() - 1, level);
        for slab in slabs {
            if slab.sides.iter().all(|&side| side > 0) {
                self.partition(slab);
            }
        }
    }

    fn push(&mut self, block: usize, level: usize) {
        self.free[level].push(block);
        let blocks = &self.blocks;
        self.free[level].sort_by_key(|&block| {
            let [x, y, z] = blocks[block].cuboid.base;
            [z, y, x]
        });
    }

    fn allocate(&mut self, nodes: u32) -> Vec<usize> {
        let mut need: Vec<u32> = Vec::new();
        let mut rest = nodes;
        for _ in 0..self.free.len() {
            need.push(rest % self.radix());
            rest /= self.radix();
        }
        let mut taken = Vec::new();
        for level in (0..need.len()).rev() {
            while need[level] > 0 {
                let Some(from) = (level..need.len()).find(|&j| !self.free[j].is_empty()) else {
                    need[level] -= 1;
                    need[level - 1] += self.radix();
                    continue;
                };
                let mut block = self.free[from].remove(0);
                for lower in (level..from).rev() {
                    let children = self.split(block, lower);
                    for &child in &children[1..] {
                        self.push(child, lower);
                    }
                    block = children[0];
                }
                need[level] -= 1;
                taken.push(block);
            }
        }
        taken
    }

    fn split(&mut self, block: usize, level: usize) -> Vec<usize> {
        let cuboid = self.blocks[block].cuboid;
        let mut children = Vec::new();
        for code in 0..self.radix() {
            let mut child = cuboid;
            for (bit, &axis) in self.long.iter().enumerate() {
                child.sides[axis] = 1 << level;
                child.base[axis] += (code >> bit & 1) as u16 * (1 << level);
            }
            self.blocks.push(Block { cuboid: child, parent: Some(block) });
            children.push(self.blocks.len() - 1);
        }
        children
    }

    fn release(&mut self, taken: Vec<usize>) {
        for mut block in taken {
            let mut level = self.blocks[block].cuboid.sides[self.long[0]].ilog2() as usize;
            self.push(block, level);
            while let Some(parent) = self.blocks[block].parent {
                let siblings = |&b: &usize| self.blocks[b].parent == Some(parent);
                if self.free[level].iter().copied().filter(siblings).count() < self.radix() as usize
                {
                    break;
                }
                let blocks = &self.blocks;
                self.free[level].retain(|&b| blocks[b].parent != Some(parent));
                (block, level) = (parent, level + 1);
                self.push(block, level);
            }
        }
    }
}

#[test]
fn two_hundred_steps_go_as_the_published_procedure_goes() {
    for name in ["mesh:2x9", "mesh:13x7", "mesh:5x4x6", "mesh:16x16", "torus:8x8x8", "mesh:21"] {
        let grid: Grid = name.parse().unwrap();
        let mut machine = machine(name, "mbs");
        let mut lists = Lists::new(&grid);
        let mut held: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut dice = Stream::new(4, 0, name);
        for step in 0..200 {
            if dice.below(5) < 3 || held.is_empty() {
                let nodes = dice.between(1, 1 + u64::from(grid.nodes()) / 3) as u32;
                let enough = nodes <= machine.free().count();
                let answer = machine.allocate(JobId(step), &Request::nodes(nodes));
                assert_eq!(answer.is_ok(), enough, "{name}, step {step}");
                if let Ok(placement) = answer {
                    let taken = lists.allocate(nodes);
                    let expected: Vec<Cuboid> =
                        taken.iter().map(|&block| lists.blocks[block].cuboid).collect();
                    assert_eq!(placement.parts(), expected, "{name}, step {step}");
                    held.insert(step, taken);
                }
            } else {
                let index = dice.below(held.len() as u64) as usize;
                let job = *held.keys().nth(index).unwrap();
                lists.release(held.remove(&job).unwrap());
                machine.release(JobId(job)).unwrap();
            }
            machine.validate();
        }
    }
}

#[test]
fn boxes_that_are_no_blocks_come_and_go_on_odd_machines() {
    for name in ["mesh:2x9", "mesh:13x7", "mesh:5x4x6", "torus:7x6", "mesh:1x1x9", "mesh:1"] {
        let grid: Grid = name.parse().unwrap();
        for strategy in ["mbs", "granular-mbs"] {
            conformance::history(&strategy.parse().unwrap(), &grid, 11, 200).unwrap();
        }
    }
}

#[test]
fn a_power_of_the_radix_is_one_block_on_an_empty_machine() {
    let cases =
        [("mesh:8x8", 16, [4, 4, 1]), ("mesh:8x8x8", 64, [4, 4, 4]), ("mesh:16", 8, [8, 1, 1])];
    for (name, nodes, sides) in cases {
        let mut machine = machine(name, "mbs");
        let placement = machine.allocate(JobId(1), &Request::nodes(nodes)).unwrap();
        assert_eq!(placement.parts(), [Cuboid::new([0; 3], sides)]);
    }
}
