//! The placements of the jobs in a log, derived from the names of their nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId};
use pavior_simulation::Place;
use pavior_workload::hosts::{Hosts, expand};
use pavior_workload::traces::{Record, Trace};

use crate::InputError;

/// The maximum number of nodes, summed over all jobs in a log.
const MOST_NODES: usize = 100_000_000;

/// The placements of all jobs, in order of submission.
pub(super) struct Places {
    pub(super) of_jobs: Arc<[Place]>,
    pub(super) counts: PlacedCounts,
}

/// Counts of the jobs that can and cannot run as placed in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacedCounts {
    /// The number of jobs that run as placed in the log.
    pub placed: u64,
    /// The number of jobs without node names or without a start time.
    pub unknown: u64,
    /// The number of jobs on nodes that the machine does not have.
    pub elsewhere: u64,
    /// The number of jobs that start on a node that another running job is using.
    pub overlapping: u64,
    /// The number of remaining jobs that start on a router that a running job is using through
    /// other nodes.
    pub sharing: u64,
}

/// A job's start, end and node numbers, with the node numbers in ascending order.
struct Stay {
    start: Time,
    end: Time,
    hosts: Vec<u32>,
}

impl Places {
    pub(super) fn new(trace: &Trace, hosts: &Hosts, grid: Grid) -> Result<Places, InputError> {
        let mut counts = PlacedCounts::default();
        let (mut of_jobs, mut stays, mut nodes) = (Vec::new(), Vec::new(), 0);
        for record in &trace.records {
            let Some((start, names)) = known(trace, record) else {
                counts.unknown += 1;
                of_jobs.push(None);
                continue;
            };
            let found: Option<Vec<(u32, NodeId)>> =
                names.iter().map(|name| hosts.find(name)).collect();
            let Some(mut found) = found else {
                counts.elsewhere += 1;
                of_jobs.push(None);
                continue;
            };
            found.sort_unstable();
            found.dedup();
            nodes += found.len();
            if nodes > MOST_NODES {
                return Err(format!("the jobs in the log use more than {MOST_NODES} nodes").into());
            }
            counts.placed += 1;
            of_jobs.push(Some((start, placement(&grid, &found))));
            let end = start.saturating_add(record.run);
            let hosts = found.into_iter().map(|(host, _)| host).collect();
            stays.push(Stay { start, end, hosts });
        }
        if counts.placed == 0 {
            return Err(format!(
                "no job can be placed where the log placed it (jobs without nodes or a start time: \
                 {}; jobs on nodes not in the machine: {}); node names are read from NodeList \
                 (sacct), nodes (sacct --json), exec_host (PBS) and Pods (Kubernetes)",
                counts.unknown, counts.elsewhere
            )
            .into());
        }
        count_shared(&mut counts, stays, hosts.count(), &grid);
        Ok(Places { of_jobs: of_jobs.into(), counts })
    }
}

/// Returns a job's start and node names, if the log contains both.
fn known(trace: &Trace, record: &Record) -> Option<(Time, Vec<String>)> {
    let names = expand(trace.hosts(record)?).filter(|names| !names.is_empty())?;
    Some((record.submit.saturating_add(record.wait?), names))
}

/// Returns the given nodes as maximal rows along x. The nodes must be in ascending order.
fn placement(grid: &Grid, found: &[(u32, NodeId)]) -> Placement {
    let mut runs: Vec<(NodeId, u16)> = Vec::new();
    for &(_, node) in found {
        match runs.last_mut() {
            // The node is already in the row: two nodes in the log may share a router.
            Some((first, length)) if first.0 + u32::from(*length) == node.0 + 1 => {}
            Some((first, length))
                if first.0 + u32::from(*length) == node.0 && grid.point(node)[0] > 0 =>
            {
                *length += 1;
            }
            _ => runs.push((node, 1)),
        }
    }
    let part = |(first, length): (NodeId, u16)| {
        let base: Coordinates = grid.point(first);
        Cuboid::new(base, [length, 1, 1])
    };
    runs.into_iter().map(part).collect::<Vec<_>>().into()
}

/// Counts the jobs that start on nodes or routers that other jobs are using. If a job ends when
/// another starts, the end comes first.
fn count_shared(counts: &mut PlacedCounts, mut stays: Vec<Stay>, hosts: usize, grid: &Grid) {
    let each = hosts / grid.nodes() as usize;
    let mut on_host = vec![0_u32; hosts];
    let mut on_router = vec![0_u32; grid.nodes() as usize];
    stays.sort_by_key(|stay| stay.start);
    let mut ends: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    for (index, stay) in stays.iter().enumerate() {
        while let Some(&Reverse((end, other))) = ends.peek()
            && end <= stay.start
        {
            ends.pop();
            for &host in &stays[other].hosts {
                on_host[host as usize] -= 1;
                on_router[host as usize / each] -= 1;
            }
        }
        let is_taken = |host: &u32| on_host[*host as usize] > 0;
        let is_shared = |host: &u32| on_router[*host as usize / each] > 0;
        if stay.hosts.iter().any(is_taken) {
            counts.overlapping += 1;
        } else if stay.hosts.iter().any(is_shared) {
            counts.sharing += 1;
        }
        for &host in &stay.hosts {
            on_host[host as usize] += 1;
            on_router[host as usize / each] += 1;
        }
        ends.push(Reverse((stay.end, index)));
    }
}
