//! The settings for a snapshot.

use pavior_allocation::explain::State;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, Sides, volume};

use super::Fault;
use crate::Given;

/// The side lengths of random boxes. The list is used cyclically, in this order.
const DRAWN: [Sides; 4] = [[4, 3, 1], [2, 2, 1], [2, 2, 1], [3, 1, 1]];
/// The maximum number of attempts to place a box before the machine is considered too full.
const MOST_DRAWS: u32 = 10_000;

/// A single request, and the state of the machine that receives it.
#[derive(Clone, Debug)]
pub struct SnapshotSettings {
    /// The sides of the requested box.
    pub request: Sides,
    /// The busy boxes.
    pub busy: BusyBoxes,
}

/// The busy boxes in a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum BusyBoxes {
    /// Boxes given by the user.
    Given(Vec<Cuboid>),
    /// A number of random boxes, drawn separately for each replication.
    Drawn(u64),
}

impl SnapshotSettings {
    pub(super) fn new(
        given: &Given,
        request: Sides,
        machine: Grid,
        seed: u64,
    ) -> Result<SnapshotSettings, Fault> {
        let (busy, name) = match (&given.busy, given.submeshes) {
            (Some(_), Some(_)) => {
                let reason = "`busy` and `submeshes` cannot be combined".to_string();
                return Err(("submeshes", reason));
            }
            (None, Some(count)) => (BusyBoxes::Drawn(count), "submeshes"),
            (busy, None) => {
                let boxes = busy.clone().unwrap_or_default();
                (BusyBoxes::Given(boxes), "busy")
            }
        };
        if !machine.fits(request) {
            return Err(("request", format!("it does not fit {machine}")));
        }
        busy.state(machine, seed, 0).map_err(|reason| (name, reason))?;
        Ok(SnapshotSettings { request, busy })
    }
}

impl BusyBoxes {
    /// Returns a replication's machine state, which is the same for every strategy.
    ///
    /// # Errors
    /// Returns an error if there is not enough room for random boxes, or if given boxes overlap or
    /// extend beyond the machine.
    pub fn state(&self, grid: Grid, seed: u64, replication: u64) -> Result<State, String> {
        let mut state = State::new(grid);
        match self {
            BusyBoxes::Given(boxes) => {
                for (job, held) in (0..).zip(boxes) {
                    let clash = |error| format!("box {}: {error}", job + 1);
                    state.hold(JobId(job), &[*held]).map_err(clash)?;
                }
            }
            BusyBoxes::Drawn(count) => {
                let mut stream = Stream::new(seed, replication, "state");
                for (job, sides) in (0..*count).zip(DRAWN.iter().cycle()) {
                    draw(&mut state, JobId(job), *sides, &mut stream)?;
                }
            }
        }
        Ok(state)
    }

    /// Returns the number of nodes in each box.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        match self {
            BusyBoxes::Given(boxes) => boxes.iter().map(|held| volume(held.sides)).collect(),
            BusyBoxes::Drawn(count) => {
                let drawn = DRAWN.iter().cycle().zip(0..*count);
                drawn.map(|(sides, _)| volume(*sides)).collect()
            }
        }
    }
}

/// Places a box at a random free position. Returns an error if every attempt fails.
fn draw(state: &mut State, job: JobId, sides: Sides, stream: &mut Stream) -> Result<(), String> {
    let grid = *state.grid();
    if grid.fits(sides) {
        for _ in 0..MOST_DRAWS {
            let base: [u16; 3] = std::array::from_fn(|axis| {
                stream.between(0, u64::from(grid.side(axis) - sides[axis])) as u16
            });
            if state.hold(job, &[Cuboid::new(base, sides)]).is_ok() {
                return Ok(());
            }
        }
    }
    Err(format!("cannot find room for that many boxes on {grid}"))
}
