//! All states of small machines, and random states of larger ones.

use pavior_allocation::{Machine, Placement};
use pavior_answers::Snapshot;
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy, Scan, Sides};

use crate::brute::State;

pub(crate) fn snapshot(grid: Grid, jobs: &[Vec<Cuboid>], failed: &[NodeId]) -> Snapshot {
    let mut machine = Machine::new(grid, "ff").unwrap();
    for (job, parts) in jobs.iter().enumerate() {
        let placement = Placement::Parts(parts.clone());
        machine.allocate_at(JobId(job as u64), placement).unwrap();
    }
    for &node in failed {
        machine.fail(node).unwrap();
    }
    Snapshot::of(&machine)
}

/// Creates a row of nodes in which each job holds a run, given by its first node and its length.
pub(crate) fn row(nodes: u16, jobs: &[(u16, u16)], failed: &[NodeId]) -> Snapshot {
    let run = |&(first, length): &_| vec![Cuboid::new([first, 0, 0], [length, 1, 1])];
    let jobs: Vec<_> = jobs.iter().map(run).collect();
    snapshot(Grid::mesh(&[nodes]).unwrap(), &jobs, failed)
}

/// Returns every box on a grid, listing each set of nodes only once.
pub(crate) fn boxes(grid: Grid) -> Vec<Cuboid> {
    let of_code = |code| {
        let sides = grid.point(NodeId(code)).map(|side| side + 1);
        Scan::default().bases(grid, sides).map(move |base| Cuboid::new(base, sides))
    };
    (0..grid.nodes()).flat_map(of_code).collect()
}

/// Calls `look` with every state in which disjoint boxes cover some nodes and some of the remaining
/// nodes have failed.
pub(crate) fn every(grid: Grid, failures: bool, look: &mut dyn FnMut(&State, &Snapshot)) {
    let all = boxes(grid);
    let mut open = Occupancy::all_free(grid);
    walk(&all, 0, &mut open, &mut Vec::new(), &mut Vec::new(), failures, look);
}

fn walk(
    all: &[Cuboid],
    node: u32,
    open: &mut Occupancy,
    held: &mut Vec<Vec<Cuboid>>,
    failed: &mut Vec<NodeId>,
    failures: bool,
    look: &mut dyn FnMut(&State, &Snapshot),
) {
    let grid = *open.grid();
    if node == grid.nodes() {
        let state = State::new(grid, held, failed, true);
        return look(&state, &snapshot(grid, held, failed));
    }
    let id = NodeId(node);
    walk(all, node + 1, open, held, failed, failures, look);
    if !open.is_node_free(id) {
        return;
    }
    if failures && failed.is_empty() {
        open.take_node(id);
        failed.push(id);
        walk(all, node + 1, open, held, failed, failures, look);
        failed.pop();
        open.give(&Cuboid::node(grid.point(id))).unwrap();
    }
    for part in all {
        // `id` is the first node of the box. Boxes with a lower first node have already been tried.
        if part.nodes(&grid).min() == Some(id) && open.take(part).is_ok() {
            held.push(vec![*part]);
            walk(all, node + 1, open, held, failed, failures, look);
            held.pop();
            open.give(part).unwrap();
        }
    }
}

/// A random machine with at most 32 nodes, some jobs (possibly with more than one part), and some
/// failed nodes.
pub(crate) struct Drawn {
    pub(crate) grid: Grid,
    pub(crate) jobs: Vec<Vec<Cuboid>>,
    pub(crate) failed: Vec<NodeId>,
    pub(crate) shape: Sides,
}

pub(crate) fn draw(stream: &mut Stream) -> (Drawn, Snapshot) {
    let mut below = |n: u64| stream.next_u64() % n;
    let axes = 1 + below(3) as usize;
    let grid = loop {
        let most = [32, 8, 4][axes - 1];
        let sides: Vec<u16> = (0..axes).map(|_| 1 + below(most) as u16).collect();
        let wraps: Vec<bool> = (0..axes).map(|_| below(2) == 1).collect();
        let grid = Grid::new(&sides, &wraps).unwrap();
        if (4..=32).contains(&grid.nodes()) {
            break grid;
        }
    };
    let mut free = Occupancy::all_free(grid);
    let (mut jobs, mut failed) = (Vec::new(), Vec::new());
    let all: Vec<Cuboid> =
        boxes(grid).into_iter().filter(|part| part.volume() * 3 <= grid.nodes()).collect();
    for _ in 0..below(14) {
        let mut parts = Vec::new();
        for _ in 0..=below(6).saturating_sub(4) {
            let Some(part) = all.get(below(all.len().max(1) as u64) as usize) else { continue };
            if free.take(part).is_ok() {
                parts.push(*part);
            }
        }
        if !parts.is_empty() {
            jobs.push(parts);
        }
    }
    for _ in 0..below(4).saturating_sub(1) {
        let node = NodeId(below(u64::from(grid.nodes())) as u32);
        if !failed.contains(&node) {
            failed.push(node);
        }
    }
    let shape = loop {
        let sides = grid.point(NodeId(below(u64::from(grid.nodes())) as u32)).map(|side| side + 1);
        if pavior_mesh::volume(sides) * 2 <= u64::from(grid.nodes()) {
            break sides;
        }
    };
    let snapshot = snapshot(grid, &jobs, &failed);
    (Drawn { grid, jobs, failed, shape }, snapshot)
}
