//! When nodes fail and come back: drawn from means, or read from a list.

use std::collections::BTreeSet;
use std::io::BufRead;

use pavior_kernel::{Agenda, Stream, Time};
use pavior_mesh::{Grid, NodeId};
use serde::Deserialize;
use thiserror::Error;

use crate::TimeUnit;
use crate::traces::{LineError, Lines, ReadError};

/// A node fails or is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeEvent {
    /// When.
    pub at: Time,
    /// Which node.
    pub node: NodeId,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a node. At one instant repairs come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is whole again.
    Repair,
    /// It fails.
    Fail,
}

/// Why failures cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the mean time to {what} is a number of units from 1e-3 to 1e12, not {value}")]
pub struct BadMean {
    what: &'static str,
    value: String,
}

/// Failures and repairs of the nodes of a machine, in the order of time, without end.
///
/// Every healthy node fails after an exponential time with one mean, and is repaired after an
/// exponential time with another, whatever the other nodes do. The events are drawn when they are
/// asked for: failures of all N nodes together are a Poisson process of rate N/MTTF from which those
/// that meet a failed node are left out, which is the same because exponential times have no memory.
/// Costs O(N / healthy) draws and O(log F) steps an event, and memory for the F nodes that have
/// failed; nothing is done per node.
///
/// Draws from the streams "failures" and "repairs".
///
/// ```
/// use pavior_mesh::Grid;
/// use pavior_workload::{Change, Failures, TimeUnit};
/// let machine = Grid::torus(&[8, 8, 8])?;
/// let mut events = Failures::new(&machine, 1000.0, 10.0, TimeUnit::TIME_UNIT, 1, 0)?;
/// assert_eq!(events.next().unwrap().change, Change::Fail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Failures {
    nodes: u64,
    unit: TimeUnit,
    /// The mean time between failures, were all nodes healthy, and the mean time to repair; units.
    between: f64,
    repair: f64,
    fail_draws: Stream,
    repair_draws: Stream,
    failed: BTreeSet<NodeId>,
    pending: Agenda<NodeId>,
    /// The next failure that was drawn, in units and not yet judged.
    next: f64,
}

impl Failures {
    /// The events of a replication; `mttf` and `mttr` are the mean times to failure and to repair of
    /// a node, in units.
    ///
    /// # Errors
    /// If a mean is out of range.
    pub fn new(
        grid: &Grid,
        mttf: f64,
        mttr: f64,
        unit: TimeUnit,
        seed: u64,
        replication: u64,
    ) -> Result<Failures, BadMean> {
        for (what, mean) in [("failure", mttf), ("repair", mttr)] {
            // The range keeps times well inside 64 bits of ticks.
            if !(1e-3..=1e12).contains(&mean) {
                return Err(BadMean { what, value: mean.to_string() });
            }
        }
        let nodes = u64::from(grid.nodes());
        let between = mttf / nodes as f64;
        let mut fail_draws = Stream::new(seed, replication, "failures");
        let next = fail_draws.exponential(between);
        Ok(Failures {
            nodes,
            unit,
            between,
            repair: mttr,
            fail_draws,
            repair_draws: Stream::new(seed, replication, "repairs"),
            failed: BTreeSet::new(),
            pending: Agenda::new(),
            next,
        })
    }
}

impl Iterator for Failures {
    type Item = NodeEvent;

    fn next(&mut self) -> Option<NodeEvent> {
        loop {
            let at = self.unit.time(self.next);
            if self.pending.next_time().is_some_and(|repair| repair <= at) {
                let (at, node) = self.pending.pop()?;
                self.failed.remove(&node);
                return Some(NodeEvent { at, node, change: Change::Repair });
            }
            let node = NodeId(self.fail_draws.below(self.nodes) as u32);
            let at_units = self.next;
            self.next += self.fail_draws.exponential(self.between);
            if self.failed.insert(node) {
                // A repair takes at least a tick, so that no node comes back before it fails.
                let back = self.unit.time(at_units + self.repair_draws.exponential(self.repair));
                self.pending.schedule(back.max(at.saturating_add(Time(1))), 0, node);
                return Some(NodeEvent { at, node, change: Change::Fail });
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    op: Op,
    node: Vec<u16>,
    at: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Fail,
    Repair,
}

/// Reads a list of events, a JSON object a line as the live allocator has them, with the time in
/// units: `{"op":"fail","node":[1,1,0],"at":3600}`. Blank lines do not matter. The events are
/// returned in the order of time; at one instant repairs first, otherwise as in the list.
///
/// # Errors
/// If the reader fails, or a line is no such object or names a node outside the machine.
pub fn read_failures(
    reader: impl BufRead,
    grid: &Grid,
    unit: TimeUnit,
) -> Result<Vec<NodeEvent>, ReadError> {
    let mut lines = Lines::new(reader);
    let mut events = Vec::new();
    while lines.advance()? {
        let text = lines.line();
        if text.trim_ascii().is_empty() {
            continue;
        }
        let fault = |from: usize, reason: String| {
            LineError::new(lines.number, text, from.min(text.len())..text.len(), reason)
        };
        let line: Line = serde_json::from_slice(text).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(text, _)| text);
            fault(error.column().saturating_sub(1), reason.to_string())
        })?;
        if !(0.0..=1e12).contains(&line.at) {
            return Err(fault(0, format!("`at` is a time from 0 to 1e12, not {}", line.at)).into());
        }
        let mut point = [0; 3];
        if line.node.len() != grid.axes() {
            let reason = format!("a node of {grid} has {} coordinates", grid.axes());
            return Err(fault(0, reason).into());
        }
        point[..line.node.len()].copy_from_slice(&line.node);
        if !grid.contains(point) {
            return Err(fault(0, format!("node {:?} lies outside {grid}", line.node)).into());
        }
        let change = match line.op {
            Op::Fail => Change::Fail,
            Op::Repair => Change::Repair,
        };
        events.push(NodeEvent { at: unit.time(line.at), node: grid.id(point), change });
    }
    events.sort_by_key(|event| (event.at, event.change));
    Ok(events)
}
