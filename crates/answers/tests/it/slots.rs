//! Compares slot counts with an exhaustive search.

use pavior_answers::{SearchLimits, Shape, Slots, Snapshot, next_slot, slots};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy};
use pavior_trials::size;

use crate::{brute, states};

/// Returns the maximum number of disjoint boxes. At each node from `node` onward, tries leaving the
/// node unused and tries every box that begins there.
fn most_boxes(places: &[Cuboid], node: u32, free: &mut Occupancy) -> u32 {
    let grid = *free.grid();
    let room = |free: &Occupancy| places.first().map_or(0, |place| free.count() / place.volume());
    if node == grid.nodes() || room(free) == 0 {
        return 0;
    }
    let mut best = 0;
    for place in places {
        if place.nodes(&grid).min() == Some(NodeId(node)) && free.take(place).is_ok() {
            best = best.max(1 + most_boxes(places, node + 1, free));
            free.give(place).unwrap();
        }
    }
    let was_free = free.take_node(NodeId(node));
    if room(free) > best {
        best = best.max(most_boxes(places, node + 1, free));
    }
    if was_free {
        free.give(&Cuboid::node(grid.point(NodeId(node)))).unwrap();
    }
    best
}

fn places(grid: Grid, shape: Shape) -> Vec<Cuboid> {
    brute::places(&grid, shape.sides, shape.turn).into_iter().map(|(place, _)| place).collect()
}

/// Checks that the boxes are disjoint, free, and correctly shaped, and that the bound is valid.
fn sound(found: &Slots, free: &Occupancy, all: &[Cuboid]) {
    assert!(found.boxes.iter().all(|place| all.contains(place)), "{found:?}");
    let mut left = free.clone();
    left.take_all(&found.boxes).expect("disjoint and free");
    assert!(found.boxes.len() as u32 <= found.bound, "{found:?}");
}

fn judge(snapshot: &Snapshot, shape: Shape) -> u32 {
    let free = snapshot.free();
    let all = places(*snapshot.grid(), shape);
    let most = most_boxes(&all, 0, &mut free.clone());
    let found = slots(free, &[shape], SearchLimits::BUDGET);
    sound(&found, free, &all);
    let context = format!("{} {shape:?} {free:?}", snapshot.grid());
    assert_eq!((found.boxes.len() as u32, found.bound), (most, most), "{context}");
    // An answer is valid with any budget.
    for budget in [0, 1, 10, 40, 100, 300, 1_000] {
        let hasty = slots(free, &[shape], budget);
        sound(&hasty, free, &all);
        assert!(hasty.bound >= most, "{context}, budget {budget}: {hasty:?}");
    }
    most
}

#[test]
fn every_state_of_small_machines() {
    for name in ["mesh:4x3", "torus:4x3", "mesh:2x2x2", "grid:5wx2", "torus:3x3"] {
        let grid: Grid = name.parse().unwrap();
        for state in (0..1u32 << grid.nodes()).step_by(size(3, 1, 1)) {
            let busy = (0..grid.nodes()).filter(|node| state >> node & 1 == 1).map(NodeId);
            let snapshot = states::snapshot(grid, &[], &busy.collect::<Vec<_>>());
            for sides in [[2, 1, 1], [2, 2, 1], [3, 1, 1], [1, 2, 1]] {
                let shape =
                    if sides[0] < sides[1] { Shape::fixed(sides) } else { Shape::new(sides) };
                judge(&snapshot, shape);
            }
        }
    }
}

#[test]
fn random_states() {
    let mut counts = [0; 8];
    for seed in 0..1_500 {
        let mut stream = Stream::new(seed, 0, "slots");
        let (drawn, snapshot) = states::draw(&mut stream);
        let turn = stream.next_u64() % 2 == 0;
        let most = judge(&snapshot, Shape { sides: drawn.shape, turn });
        counts[most.min(7) as usize] += 1;
    }
    // The states are nontrivial: zero, one, and multiple slots are all common.
    assert!(counts[..4].iter().all(|&count| count > 50), "{counts:?}");
}

/// The next slot must match that of a replay in which jobs end one at a time.
#[test]
fn the_next_slot_is_that_of_a_replay() {
    let (mut later, mut never) = (0, 0);
    for seed in 0..size(150, 600, 600) {
        let mut stream = Stream::new(seed, 0, "next slot");
        let (drawn, snapshot) = states::draw(&mut stream);
        let shapes = [Shape::new(drawn.shape)];
        // Some jobs never end, and some end at the same time.
        let ends: Vec<Option<u64>> = drawn
            .jobs
            .iter()
            .map(|_| Some(1 + stream.next_u64() % 5).filter(|&end| end < 5))
            .collect();
        let end = |job: JobId| ends[job.0 as usize].map(Time);
        let all = places(drawn.grid, shapes[0]);
        let most = |at: u64| {
            let left: Vec<Vec<Cuboid>> = drawn
                .jobs
                .iter()
                .zip(&ends)
                .filter(|(_, end)| end.is_none_or(|end| end > at))
                .map(|(parts, _)| parts.clone())
                .collect();
            let then = states::snapshot(drawn.grid, &left, &drawn.failed);
            most_boxes(&all, 0, &mut then.free().clone())
        };
        let now = slots(snapshot.free(), &shapes, SearchLimits::BUDGET);
        let next = next_slot(&snapshot, &shapes, &now, end, SearchLimits::BUDGET);
        let first = (1..5).find(|&at| most(at) > most(0));
        assert_eq!(next.as_ref().map(|next| next.at), first.map(Time), "seed {seed}");
        match next {
            Some(next) => {
                later += 1;
                assert!(next.proven && next.slots.boxes.len() as u32 == most(next.at.0));
            }
            None => never += 1,
        }
    }
    assert!(later.min(never) > size(15, 100, 100), "{later} {never}");
}

#[test]
fn an_empty_machine_is_packed_by_alignment() {
    for (name, sides, most) in [
        ("torus:16x16x16", [4, 4, 4], 64),
        ("mesh:16x16x16", [4, 4, 4], 64),
        // A staggered arrangement fits five boxes, whereas two rows of two fit only four.
        ("torus:10x10", [4, 4, 1], 5),
        ("mesh:64x64", [1, 1, 1], 4_096),
        ("torus:64x64x64", [8, 8, 8], 512),
        ("torus:16x16x16", [16, 16, 16], 1),
        ("torus:8x8", [9, 1, 1], 0),
    ] {
        let free = Occupancy::all_free(name.parse().unwrap());
        let found = slots(&free, &[Shape::new(sides)], SearchLimits::BUDGET);
        assert_eq!((found.boxes.len(), found.bound), (most, most as u32), "{name}");
        assert!(found.proven());
    }
}
