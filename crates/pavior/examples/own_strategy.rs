//! A strategy written outside the library: its rule, what it claims, its judgement by the
//! conformance suite, and a machine under it.
//!
//! Good Company puts a box where it touches most busy nodes. The border does not count, and of
//! equal places the first is taken.

use std::collections::BTreeSet;

use pavior::strategies::claim::{Claim, Recognition};
use pavior::strategies::contiguous::{self, BoxRule, Scored, View};
use pavior::strategies::{Entry, Registry, Scan, Sides, conformance};
use pavior::{Cuboid, JobId, Machine, Occupancy, Request};

#[derive(Clone)]
struct GoodCompany;

impl BoxRule for GoodCompany {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let places = view.placements(shape, Scan::default());
        view.best(places, |view, at| company(view.occupancy(), at))
    }
}

/// How many busy nodes a link joins to a free box.
fn company(free: &Occupancy, at: &Cuboid) -> i64 {
    let grid = free.grid();
    let around = at.nodes(grid).flat_map(|node| grid.neighbours(node));
    let busy: BTreeSet<_> = around.filter(|&node| !free.is_node_free(node)).collect();
    busy.len() as i64
}

/// `entry` claims that no free box is missed. This claims the best score, too.
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(good_company())?;
    let unturned = registry.select("good-company:turn=none")?;

    let mut machine = Machine::new("mesh:8x8".parse()?, &unturned)?;
    for (job, base) in [(1, [0, 0]), (2, [0, 2])] {
        let placement = machine.allocate(JobId(job), &Request::shape([3, 2]))?;
        assert_eq!(placement.parts(), [Cuboid::new(base, [3, 2])]);
        println!("{unturned} grants job {job} {:?}", placement.parts());
    }

    // The suite: every occupancy of small machines, random boxes, long lives with failures.
    for strategy in [unturned, registry.select("good-company")?] {
        println!("{strategy}: {} answers judged", conformance::suite(&strategy)?);
    }
    // A machine of one's own.
    conformance::history(&registry.select("good-company")?, &"torus:5x4x3".parse()?, 1, 500)?;
    Ok(())
}
