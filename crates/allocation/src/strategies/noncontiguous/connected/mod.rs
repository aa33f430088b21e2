//! Connected: any connected set of free nodes, the most compact that is found, cutting off as
//! little of the rest as it can.
//!
//! ```text
//!   5 of these 14:    . . . # #      o o . # #      o o o # #
//!                     . . # # #      o o # # #      o o # # #
//!                     # . . # #      # o . # #      # . . # #
//!                     # . . . .      # . . . .      # . . . .
//!                                    cuts one off   cuts nothing off
//! ```
//!
//! Misses nothing: it grants n nodes if and only if n free nodes are connected by the machine's own
//! links, around rings too, in one to three dimensions. The rule:
//!
//! 1. Boxes of exactly n nodes: the box asked for, if it has n, then the boxes of n nodes, compact
//!    ones first, at the first bases in row-major order, up to 32 a shape. One that cuts nothing
//!    off is taken at once if it is the one asked for or has no side longer than twice another;
//!    others are candidates.
//! 2. Sets grown in the connected sets of at least n free nodes, the smallest first, up to 4 of
//!    them: from the node with fewest free neighbours and from the outermost nodes towards the
//!    corners of the machine, always by the free neighbour with most granted neighbours, of those
//!    the one with the least sum of hops to the nodes granted; and once more with these two the
//!    other way round.
//! 3. If every candidate cuts something off, sets grown with all that they would cut off, in each
//!    connected set of at least n free nodes, the smallest first, until one cuts nothing off: from
//!    the same nodes, always by the free neighbour with the least sum of hops to the nodes granted,
//!    and with it what it parts from the largest rest. A neighbour with which these are too many is
//!    passed over; where there is no other, the one that parts the fewest is taken, and of these as
//!    many as are missing.
//! 4. If these cut something off, too, and the connected set has up to 128 nodes, all its connected
//!    sets of n nodes, by branch and bound: the first met of those that cut the fewest off, if they
//!    cut fewer. After 2^14 steps, for all these sets together, the best met so far counts.
//!
//! The candidate that cuts the fewest free nodes off from the largest rest of their connected set
//! is granted; of those the one with the least sum of hops between its nodes; a box before another
//! set; then the first in row-major order.
//!
//! So nothing is cut off that another set would not cut off, where no connected set has more than
//! 128 nodes and the steps suffice. Measured against all connected sets on machines of 12 nodes and
//! in random states of machines of 30 (17,512 answers, the test `connected`): in none another set
//! would have cut less off; the sums of hops are 0.2 % above the least that cuts no more off.
//!
//! Cost: a refusal O(N/64) where the state is known, else that and O(r log r) for r runs of free
//! nodes. A grant O(N/64 log(side)) a shape; O(C) once for each connected set of C nodes that is
//! looked at; a candidate what floods from its free neighbours reach until all but one have met or
//! ended: the nodes near to it and the rests that it cuts off, at most O(C); O(n (s + f)) a grown
//! set, for the sides s of the box about it (of rings, the whole sides) and its f free neighbours.
//! The number of grown sets is bounded to 2^22 by n times the sides of the machine, at least one. A
//! set is grown on only as long as it can be better than the best that cuts nothing off; of many
//! free neighbours only the near ones are looked at, while the far ones cannot be the next. A set
//! grown with what it would cut off takes as much, and a flood for each of its neighbours; a step
//! of step 4 O(128). A box that holds one that is free nowhere is refused in O(1) a box refused.
//! Kept are the sets of the last state, and the boxes that are free nowhere in it.
//!
//! Source: the project's own, made of three ideas. Growth by the neighbour with most granted
//! neighbours: Shdefat, Bani-Mohammad & Ababneh 2023 ([`nas`](super::nas)), which is bounded to
//! plane meshes by its L-shapes. The sum of hops between all pairs as the measure of compactness:
//! Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips, "Communication-aware processor
//! allocation for supercomputers", Algorithmica 50(2), 2008. That both sides can stay connected:
//! Győri 1976 and Lovász 1977, by whose theorem a 2-connected graph can be divided into two
//! connected parts of any sizes; where corridors and corners hang on by one node, something may
//! have to be cut off.

mod branch_and_bound;
mod closed_growth;
mod compact_growth;
mod component;
mod cut_off;
mod frontier;
mod hop_bound;
mod hop_sums;
mod search;

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request};

use crate::claim::{Claim, Recognition, by_count};
use crate::kind::{Entry, StrategyKind};
use crate::{Placement, Strategy, Work, oracle};

pub(crate) use search::ConnectedSearch;

pub(crate) static ENTRY: Entry = Entry {
    name: "connected",
    title: "Connected Sets",
    source: "this project; growth of NAS, distances of Bender et al. 2008",
    options: &[],
    variants: &[""],
    does: StrategyKind::noncontiguous(build).with_turns(true).with_claim(claim),
};

fn claim(options: &Options) -> Claim {
    Claim {
        recognition: Recognition::Own {
            feasible: |scene| oracle::largest_connected(scene.free) >= scene.request.nodes,
            allowed: |scene, placement| oracle::is_connected(scene.free.grid(), placement.parts()),
        },
        ..by_count(options)
    }
}

fn build(grid: &Grid, _: &Options) -> Box<dyn Strategy> {
    Box::new(Connected { search: ConnectedSearch::new(*grid) })
}

#[derive(Clone)]
struct Connected {
    search: ConnectedSearch,
}

impl Strategy for Connected {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        self.search.find(free, request.nodes, request.shape)
    }

    fn reset(&mut self, _free: &Occupancy) -> bool {
        true
    }

    fn work(&self) -> Work {
        self.search.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
