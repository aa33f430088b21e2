//! Free List: keep a list of free submeshes, and place each request in the smallest one that fits.
//!
//! The rule for maintaining the list determines which free submeshes are missed:
//!
//! - `overlapping` (default): the list contains all maximal free submeshes, so nothing is missed.
//!   The request goes to the lower left corner of the smallest one that fits.
//! - `bounded`: a released submesh is joined, in a single pass, with each listed submesh that
//!   shares part of an edge with it. The results are not joined again. This is cheap, but misses
//!   some free submeshes:
//!
//! ```text
//!   3 4     2x2 nodes are released one by one. 1 and 2 join, 1 and 3 join; 4 joins
//!   1 2     with 2 and with 3, but these pairs are not joined into a 2x2
//! ```
//!
//! - `linear`: the list contains all maximal free submeshes in no particular order. The request
//!   goes to the first one that fits, at the corner and in the orientation with the most contact.
//!   Ties go to the earlier orientation, and then to the corners in the order lower left, lower
//!   right, upper left, upper right. This misses nothing, and scores the corners of only one
//!   submesh.
//!
//! Cost with F entries: a search takes O(F) and a grant O(F^2). A release takes O(F^2) with
//! `bounded`; otherwise, it costs as much as [`kymfl`](super::kymfl)'s consensus.
//!
//! Source: Liu, Huang, Lombardi & Bhuyan, "A submesh allocation scheme for mesh-connected
//! multiprocessor systems", ICPP 1995 II; for `linear`, Ababneh, "An efficient free-list submesh
//! allocation scheme for two-dimensional mesh-connected multicomputers", JSS 79(8), 2006. Neither
//! paper was available. According to later papers, the first scheme keeps a list of free submeshes
//! at a cost of O(F^2) and, as the MFA paper says, misses some of them. The second scheme takes the
//! first submesh that fits and, within it, the position with the most busy neighbors.
//!
//! Departures: the order of each list and the rule for joining entries are our own. When every node
//! is free, `bounded` resets its list to the whole machine. Without this reset, a job could wait
//! forever on an empty machine. Only 2D meshes are supported; like KYMFL, this strategy rejects
//! tori.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy};

use crate::claim::{Claim, Question, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::free_list::placing::Placing;
use crate::strategies::shared::free_list::strategy::{
    IteratedConsensus, MaximalFreeList, ReleaseRule,
};
use crate::strategies::shared::free_list::{FreeBoxes, holds, join};
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "fl",
    title: "Free List",
    source: "Liu, Huang, Lombardi & Bhuyan 1995; Ababneh 2006",
    options: &[LIST, TURN_ON],
    variants: &["", "bounded", "linear"],
    does: StrategyKind::contiguous(build)
        .with_supports(|grid, _| FreeBoxes::supports_plane(grid))
        .with_claim(claim),
};

const LIST: OptionSpec = OptionSpec {
    key: "list",
    values: Values::OneOf(&["overlapping", "bounded", "linear"]),
    default: "overlapping",
    meaning: "the free list: all maximal free submeshes, searched for the smallest fit \
              (overlapping) or the first fit (linear), or submeshes merged in a single pass \
              (bounded)",
    bare: true,
};

fn claim(options: &Options) -> Claim {
    Claim {
        recognition: match options.get("list") {
            "bounded" => Recognition::Partial(Question::Boxes),
            _ => Recognition::Complete,
        },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    match options.get("list") {
        "bounded" => MaximalFreeList::boxed(grid, options, Placing::Smallest, OnePass::default()),
        "linear" => MaximalFreeList::boxed(grid, options, Placing::FirstEntry, IteratedConsensus),
        _ => MaximalFreeList::boxed(grid, options, Placing::Smallest, IteratedConsensus),
    }
}

/// The `bounded` update: joins a released submesh with listed ones in a single pass and drops each
/// entry contained in a join.
#[derive(Clone, Default)]
struct OnePass {
    /// Scratch space for the joins that a release creates.
    joined: Vec<Cuboid>,
    /// The number of comparisons between entries.
    upkeep: u64,
}

impl ReleaseRule for OnePass {
    fn give(&mut self, list: &mut FreeBoxes, given: &Cuboid) {
        let grid = *list.grid();
        let is_empty = list.nodes() == grid.nodes();
        let list = list.boxes_mut();
        if is_empty {
            list.clear();
            list.push(Cuboid::whole(&grid));
            return;
        }
        self.joined.clear();
        self.joined.push(*given);
        for entry in list.iter() {
            self.upkeep += 1;
            self.joined.extend((0..2).filter_map(|axis| join(entry, given, axis)));
        }
        for joined in &self.joined {
            let mut entries = list.iter().inspect(|_| self.upkeep += 1);
            if !entries.any(|entry| holds(entry, joined)) {
                self.upkeep += list.len() as u64;
                list.retain(|entry| !holds(joined, entry));
                list.push(*joined);
            }
        }
    }

    fn upkeep(&self) -> u64 {
        self.upkeep
    }

    /// Panics unless the entries cover exactly the free nodes and no entry contains another.
    fn validate(&self, list: &FreeBoxes, free: &Occupancy) {
        let (grid, list) = (free.grid(), list.boxes());
        for (index, entry) in list.iter().enumerate() {
            assert!(free.is_free(entry), "{entry:?} is not free");
            let mut others = list[..index].iter().chain(&list[index + 1..]);
            assert!(
                !others.any(|other| holds(other, entry)),
                "{entry:?} is contained in another entry"
            );
        }
        for node in free.iter() {
            let single = Cuboid::node(grid.point(node));
            assert!(list.iter().any(|entry| holds(entry, &single)), "no entry contains {single:?}");
        }
    }
}
