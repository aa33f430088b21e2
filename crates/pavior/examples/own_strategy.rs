//! A strategy written outside the library: its rule, a machine under it, and its judgement by the
//! conformance suite.
//!
//! Last Fit takes the last free place of a box in scan order.

use pavior::strategies::contiguous::{BoxRule, Scored, View, entry};
use pavior::strategies::{Registry, Scan, Sides, conformance};
use pavior::{Cuboid, JobId, Machine, Request};

#[derive(Clone)]
struct LastFit;

impl BoxRule for LastFit {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        let backwards: Scan = "-x-y-z".parse().expect("a scan order");
        view.first(view.placements(shape, backwards))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(entry("last-fit", LastFit))?;
    let last_fit = registry.select("last-fit:turn=none")?;

    let mut machine = Machine::new("mesh:8x8".parse()?, &last_fit)?;
    let placement = machine.allocate(JobId(1), &Request::shape([3, 2]))?;
    assert_eq!(placement.parts(), [Cuboid::new([5, 6], [3, 2])]);
    println!("{last_fit} grants {:?}", placement.parts());

    // Every occupancy of a small machine, random boxes, and a long life with failures.
    let answers = conformance::every_occupancy(&last_fit, &"torus:3x3".parse()?)?
        + conformance::random_boxes(&last_fit, &"torus:5x4x3".parse()?, 1, 20)?
        + conformance::history(&last_fit, &"mesh:8x8".parse()?, 1, 500)?;
    println!("{answers} answers judged, no claim broken");
    Ok(())
}
