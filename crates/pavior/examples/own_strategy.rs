//! A strategy written outside the library: registered, run on a machine, and judged by the
//! conformance suite against what it claims.
//!
//! Last Fit takes the last free base of the requested box in scan order. It is complete: it refuses
//! only where the box is nowhere free, unturned.

use pavior::strategies::claim::{BoxGroup, Claim, Grants, Recognition};
use pavior::strategies::{
    ANY_GRID, BaseSet, BuildStrategy, Entry, Options, Registry, Scan, Selection, Strategy,
    StrategyKind, Stream, Work, conformance,
};
use pavior::{Cuboid, Grid, JobId, Machine, Occupancy, Placement, Request};

/// The bases of a shape, as words of bits.
#[derive(Clone)]
struct LastFit(BaseSet);

impl Strategy for LastFit {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let shape = request.shape?;
        self.0.compute(free, shape);
        let base = self.0.row_major().last()?;
        Some(Placement::Whole(Cuboid::new(base, shape)))
    }

    fn work(&self) -> Work {
        Work { words: self.0.words_touched(), ..Work::default() }
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

/// What it may grant: the requested box, unturned.
fn family(request: &Request, grid: &Grid, _: &Options) -> Vec<BoxGroup> {
    let fitting = request.shape.filter(|&sides| grid.fits(sides));
    fitting.map(BoxGroup::cuboid).into_iter().collect()
}

fn entry() -> Entry {
    Entry {
        name: "last-fit",
        title: "Last Fit",
        source: "an example",
        options: &[],
        variants: &[""],
        does: StrategyKind {
            contiguous: true,
            turns: false,
            supports: ANY_GRID,
            claim: |_| Claim {
                family,
                scan: Scan::default(),
                grants: Grants::Exact,
                recognition: Recognition::Complete,
            },
            build: BuildStrategy::Function(|grid, _| Box::new(LastFit(BaseSet::new(*grid)))),
        },
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut registry = Registry::new();
    registry.add(entry())?;
    let selection: Selection = registry.select("last-fit")?;

    let mut machine = Machine::new("mesh:8x8".parse()?, &selection)?;
    let placement = machine.allocate(JobId(1), &Request::shape([3, 2]))?;
    assert_eq!(placement.parts(), [Cuboid::new([5, 6], [3, 2])]);
    println!("{selection} grants {:?}", placement.parts());

    // Every occupancy of small machines, random boxes, and long lives with failures.
    let small = ["mesh:3x3", "torus:3x3", "torus:2x2x2"];
    let mut answers = 0;
    for grid in small {
        answers += conformance::every_occupancy(&selection, &grid.parse()?)?;
    }
    for grid in ["mesh:8x8", "torus:5x4x3"] {
        answers += conformance::random_boxes(&selection, &grid.parse()?, 1, 20)?;
        answers += conformance::history(&selection, &grid.parse()?, 1, 500)?;
    }
    println!("{answers} answers judged, no claim broken");
    Ok(())
}
