//! Defines two strategies outside the library, uses one of them on a machine, and runs the
//! conformance suite to check both strategies' claims.
//!
//! Good Company places a box where it touches the most busy nodes, ignoring the border. Ties go to
//! the first position. Because this strategy places boxes, it implements `BoxRule`. Last Nodes can
//! grant any set of nodes, so it implements `Strategy`.

use std::collections::BTreeSet;

use pavior::strategies::claim::{Claim, Recognition};
use pavior::strategies::contiguous::{self, BoxRule, Scored, View};
use pavior::strategies::{Entry, Registry, Scan, Strategy, StrategyKind, Work, conformance};
use pavior::{Cuboid, JobId, Machine, Occupancy, Placement, Request, Sides, Stream};

#[derive(Clone)]
struct GoodCompany;

impl BoxRule for GoodCompany {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let places = view.placements(shape, Scan::default());
        view.best(places, |view, at| company(view.occupancy(), at))
    }
}

/// Returns the number of busy nodes adjacent to a free box.
fn company(free: &Occupancy, at: &Cuboid) -> i64 {
    let grid = free.grid();
    let around = at.nodes(grid).flat_map(|node| grid.neighbours(node));
    let busy: BTreeSet<_> = around.filter(|&node| !free.is_node_free(node)).collect();
    busy.len() as i64
}

/// Creates the registry entry. `contiguous::entry` already claims that no free box is missed. This
/// function adds the claim that the chosen box has the best score.
fn good_company() -> Entry {
    let entry = contiguous::entry("good-company", GoodCompany);
    let does = entry.does.with_claim(|options| Claim {
        recognition: Recognition::Best {
            score: company,
            over: contiguous::turn_over(options),
            first_of_ties: true,
        },
        ..contiguous::complete(options)
    });
    Entry { title: "Good Company", does, ..entry }
}

/// A strategy that grants the last free nodes in row-major order, each as a one-node box. It keeps
/// no index, so it ignores grants and releases.
#[derive(Clone, Default)]
struct LastNodes {
    work: Work,
}

impl Strategy for LastNodes {
    fn find(&mut self, free: &Occupancy, asked: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes: Vec<_> = free.iter().collect();
        self.work.boxes += nodes.len() as u64;
        let last = nodes.len().checked_sub(asked.nodes as usize)?;
        let node = |&id| Cuboid::node(free.grid().point(id));
        Some(Placement::Parts(nodes[last..].iter().map(node).collect()))
    }

    fn work(&self) -> Work {
        self.work
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

/// Creates the registry entry. `StrategyKind::own` claims that the strategy, which grants sets of
/// nodes, succeeds exactly when enough nodes are free.
fn last_nodes() -> Entry {
    Entry::new("last-nodes", StrategyKind::own(false, |_, _| Ok(Box::new(LastNodes::default()))))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(good_company())?;
    let last_nodes = registry.add(last_nodes())?;
    let unturned = registry.select("good-company:turn=none")?;

    let mut machine = Machine::new("mesh:8x8".parse()?, &unturned)?;
    for (job, base) in [(1, [0, 0]), (2, [0, 2])] {
        let placement = machine.allocate(JobId(job), &Request::shape([3, 2]))?;
        assert_eq!(placement.parts(), [Cuboid::new(base, [3, 2])]);
        println!("{unturned} grants job {job} {placement}");
    }

    // The suite covers every occupancy of small machines, random boxes, and long histories with
    // failures.
    for strategy in [unturned, registry.select("good-company")?, last_nodes.into()] {
        println!("{strategy}: {} answers judged", conformance::suite(&strategy)?);
    }
    // The history test accepts any machine.
    conformance::history(&registry.select("good-company")?, &"torus:5x4x3".parse()?, 1, 500)?;
    Ok(())
}
