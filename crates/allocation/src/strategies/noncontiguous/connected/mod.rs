//! Connected: grant a connected set of free nodes. Among the sets found, pick the one that cuts off
//! the fewest free nodes from the rest; ties go to the most compact set.
//!
//! ```text
//!   5 of these 14:    . . . # #      o o . # #      o o o # #
//!                     . . # # #      o o # # #      o o # # #
//!                     # . . # #      # o . # #      # . . # #
//!                     # . . . .      # . . . .      # . . . .
//!                                    cuts one off   cuts nothing off
//! ```
//!
//! The strategy grants n nodes if and only if n free nodes are connected by the machine's links,
//! including those around rings, in one to three dimensions. A *component* is a maximal connected
//! set of free nodes. The rule has four steps:
//!
//! 1. Boxes of exactly n nodes: the requested box if it has n nodes, and then the others, most
//!    compact first. Each is tried at its first 32 bases in row-major order. A box that cuts off
//!    nothing is granted immediately if it is the requested box or if no side is more than twice as
//!    long as another. Every other box becomes a candidate.
//! 2. Sets grown in the smallest components (at most 4) with at least n nodes. Growth starts at the
//!    node with the fewest free neighbors and at the outermost nodes toward the machine's corners.
//!    Each step adds the free neighbor with the most neighbors in the set; ties go to the smallest
//!    sum of hops to the set. From each start, a second set is grown by adding the neighbor with
//!    the smallest sum of hops instead; ties go to the one with the most neighbors in the set.
//! 3. If every candidate cuts off nodes: sets grown together with all nodes that they would cut
//!    off, component by component, until a set cuts off nothing. Growth starts at the same nodes.
//!    Each step takes the free neighbor with the smallest sum of hops to the set, together with the
//!    nodes that this neighbor cuts off from the largest remaining part. A neighbor is deferred if
//!    it cuts off more nodes than are missing. If no other neighbor remains, the deferred neighbor
//!    that cuts off the fewest nodes is taken, together with as many of those nodes as are missing.
//! 4. If these sets also cut off nodes, and the component has at most 128 nodes: all of its
//!    connected sets of n nodes, by branch and bound. Among the sets that cut off the fewest nodes,
//!    the first one is a candidate. If the search exceeds 2^14 steps over all components, the best
//!    set found so far is the candidate.
//!
//! The candidate that cuts off the fewest free nodes from the largest remaining part of its
//! component is granted. Ties go to the smallest sum of hops between the candidate's nodes, then to
//! boxes rather than other sets, and then to the first set in row-major order.
//!
//! If no component has more than 128 nodes and the steps suffice, no set cuts off fewer nodes than
//! the granted one. The `connected` test compares the result with all connected sets, on 12-node
//! machines and in random states of 30-node machines (17,512 answers). No other set would have cut
//! off fewer nodes, and the sums of hops were 0.2% above the minimum among the sets that cut off
//! equally few nodes.
//!
//! Cost of a refusal: O(N/64), plus O(r log r) for r free runs unless the state is known.
//!
//! Cost of a grant:
//!
//! - a shape: O(N/64 log(side)), or O(refused boxes) if it contains a box refused earlier;
//! - a component of C nodes: O(C), once per query if used;
//! - a candidate: floods from its free neighbors until all but one have met or ended, at most O(C);
//! - a grown set: O(n (s + f)) for bounding-box sides totaling s (rings count in full) and f free
//!   neighbors; step 3 adds one flood per neighbor;
//! - branch and bound: O(128) per step.
//!
//! The product of the number of grown sets, n, and the sum of the machine's sides is limited to
//! 2^22, but at least one set is always grown. Growth of a set ends early once it cannot beat the
//! best candidate that cuts off nothing.
//!
//! Source: this project, based on three ideas. The first is to grow a set by adding the neighbor
//! with the most granted neighbors: Shdefat, Bani-Mohammad & Ababneh 2023 ([`nas`](super::nas),
//! whose L-shapes restrict it to 2D meshes). The second is to measure compactness by the sum of
//! hops between all pairs: Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips,
//! "Communication-aware processor allocation for supercomputers", Algorithmica 50(2), 2008. The
//! third is that the set and the rest can both stay connected: Győri 1976 and Lovász 1977 show that
//! a 2-connected graph can be divided into two connected parts of any sizes. If a corridor or
//! corner is connected through a single node, some nodes may have to be cut off.

mod branch_and_bound;
mod closed_region;
mod compact_region;
mod component;
mod flood_fill;
mod frontier;
mod hop_sums;
mod search;

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request};

use crate::claim::{Claim, Recognition, by_count};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work, oracle};

pub(crate) use search::ConnectedSearch;

pub(crate) static ENTRY: Entry = Entry {
    name: "connected",
    title: "Connected Sets",
    source: "this project; growth from NAS, distances from Bender et al. 2008",
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

fn build(grid: &Grid, _: &Options) -> BoxedStrategy {
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

    fn work(&self) -> Work {
        self.search.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl MachineStrategy for Connected {
    fn reset(&mut self, _free: &Occupancy) -> bool {
        true
    }
}
