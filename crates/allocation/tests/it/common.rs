//! Machines and strategies for the tests.

use std::sync::atomic::{AtomicUsize, Ordering};

use pavior_allocation::{Machine, Placement, Selection, Strategy};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy};

/// The number of the first job that holds nodes before a test begins.
pub(crate) const BUSY: u64 = 1_000;

pub(crate) fn machine(grid: &str, strategy: &str) -> Machine {
    Machine::new(grid.parse().unwrap(), strategy).unwrap()
}

/// Creates a machine with the given boxes busy, each held by its own job, numbered from [`BUSY`]
/// onward.
pub(crate) fn busy_machine(
    grid: Grid,
    strategy: &str,
    busy: impl IntoIterator<Item = Cuboid>,
) -> Machine {
    let mut machine = Machine::new(grid, strategy).unwrap();
    for (job, held) in (BUSY..).zip(busy) {
        machine.allocate_at(JobId(job), Placement::Whole(held)).unwrap();
    }
    machine
}

/// Returns the nodes that are not free, each as a box.
pub(crate) fn busy_nodes(free: &Occupancy) -> impl Iterator<Item = Cuboid> {
    let grid = *free.grid();
    let busy = (0..grid.nodes()).map(NodeId).filter(|&node| !free.is_node_free(node));
    busy.map(move |node| Cuboid::node(grid.point(node)))
}

/// Creates a strategy that does not belong to a machine.
pub(crate) fn strategy(name: &str, grid: &Grid) -> Box<dyn Strategy> {
    name.parse::<Selection>().unwrap().build(grid).unwrap()
}

/// Processes a list of work items on two threads.
pub(crate) fn in_two_threads<T: Sync>(work: &[T], does: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    does(item);
                }
            });
        }
    });
}
