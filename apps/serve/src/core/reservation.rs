//! Advance reservations of nodes.

use pavior::scheduling::AdvanceReservation;
use pavior::{Cuboid, Grid};
use serde::{Deserialize, Serialize};

use super::Lease;
use super::lease::{Box3, cuboids};
use super::served_machine::micros;

/// Nodes kept free of jobs during a time interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The reservation's number. A reservation and a lease never have the same number.
    pub id: u64,
    /// The machine's name.
    pub machine: String,
    /// The boxes, each as three base coordinates and three sides.
    pub parts: Vec<Box3>,
    /// The start of the reservation, in milliseconds since 1970.
    pub from_ms: u64,
    /// The end of the reservation, after which jobs may run on the nodes again.
    pub to_ms: u64,
    /// The reservation's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Reservation {
    /// Returns the boxes.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        cuboids(&self.parts)
    }

    /// Returns the numbers of the given leases that hold any of the reserved nodes and are expected
    /// to run past the reservation's start. A lease that is still held runs past any earlier time,
    /// even if its estimate has passed.
    pub(crate) fn conflicting_leases<'a>(
        &self,
        grid: &Grid,
        now_ms: u64,
        leases: impl Iterator<Item = &'a Lease>,
    ) -> Vec<u64> {
        let parts = self.cuboids();
        let overlaps = |held: &Cuboid| parts.iter().any(|part| held.intersects(grid, part));
        let late = leases.filter(|lease| {
            lease.machine == self.machine
                && (self.from_ms <= now_ms || lease.expected_end_ms() > self.from_ms)
        });
        late.filter(|lease| lease.cuboids().iter().any(overlaps)).map(|lease| lease.id).collect()
    }

    /// Returns the entry for the scheduler's calendar.
    ///
    /// # Errors
    /// Returns an error if the interval or node set is empty, or if a box is not on the machine.
    pub(crate) fn calendar_entry(&self, grid: &Grid) -> Result<AdvanceReservation, String> {
        let time = (micros(self.from_ms), micros(self.to_ms));
        let made = AdvanceReservation::new(self.id, grid, self.cuboids(), time);
        made.map_err(|error| error.to_string())
    }
}
