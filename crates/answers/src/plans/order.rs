//! Finds an order in which a plan's moves can be carried out.
//!
//! Each job moves in one step: its new nodes must be free, and its old nodes count as free. If the
//! jobs' final positions are disjoint, a job that has already moved never blocks another, so it
//! suffices to keep moving any job that can move. If no job can move, the remaining jobs block each
//! other in a cycle, and the search looks for a packing without a cycle. If no such packing exists,
//! the search explores the states reachable by single moves, breadth first. In these states, jobs
//! may occupy temporary positions.

use std::collections::VecDeque;
use std::rc::Rc;

use pavior_mesh::{Cuboid, Grid, Occupancy};
use rustc_hash::FxHashSet;

use crate::plans::packing::{Item, Outcome, Room, pack};
use crate::plans::plan::{Budget, Move};

/// Orders the moves so that each job's new boxes are free when the job moves. Returns `None` if
/// some jobs block each other in a cycle.
pub(crate) fn direct(grid: &Grid, from: &[&[Cuboid]], to: &[Vec<Cuboid>]) -> Option<Vec<usize>> {
    let mut waiting: Vec<usize> = (0..to.len()).collect();
    let mut order = Vec::new();
    let meet =
        |a: &[Cuboid], b: &[Cuboid]| a.iter().any(|a| b.iter().any(|b| a.intersects(grid, b)));
    while !waiting.is_empty() {
        let free = |&&job: &&usize| {
            !waiting.iter().any(|&other| other != job && meet(&to[job], from[other]))
        };
        let job = *waiting.iter().find(free)?;
        waiting.retain(|&other| other != job);
        order.push(job);
    }
    Some(order)
}

/// The boxes of each job that moves.
type Places = Vec<Vec<Cuboid>>;

/// A state reached by a sequence of moves: each job's boxes, the index of the previous state, and
/// the job that moved last.
struct Reached {
    places: Rc<Places>,
    before: Option<(usize, usize)>,
}

/// Finds the shortest sequence of moves, one job at a time, that reaches the goal. Jobs may move to
/// temporary positions.
pub(crate) fn indirect(room: &mut Room<'_>, jobs: &[u32], budget: &mut Budget) -> Outcome {
    let start = jobs.iter().map(|&job| room.snapshot.parts(job as usize).to_vec());
    let start: Rc<Places> = Rc::new(start.collect());
    let empty = room.without(jobs);
    let mut seen: FxHashSet<Rc<Places>> = FxHashSet::from_iter([Rc::clone(&start)]);
    let mut reached = vec![Reached { places: start, before: None }];
    let mut waiting: VecDeque<usize> = VecDeque::from([0]);
    while let Some(state) = waiting.pop_front() {
        for index in 0..jobs.len() {
            for parts in moves(room, &empty, jobs, &reached[state].places, index, budget) {
                let mut places = Places::clone(&reached[state].places);
                places[index] = parts;
                budget.spend(places.len() as u64);
                let places = Rc::new(places);
                if !seen.insert(Rc::clone(&places)) {
                    continue;
                }
                let boxes = goal(room, &empty, jobs, &places, budget);
                reached.push(Reached { places, before: Some((state, index)) });
                if let Some(boxes) = boxes {
                    return Outcome::Found(boxes, path(room, jobs, &reached));
                }
                waiting.push_back(reached.len() - 1);
            }
            if budget.left == 0 {
                return Outcome::Unknown;
            }
        }
    }
    Outcome::Nothing
}

/// Returns the positions to which a job can move in one step. Lists the parts of its original
/// position in their original order, so that equal positions compare equal.
fn moves(
    room: &mut Room<'_>,
    empty: &Occupancy,
    jobs: &[u32],
    places: &Places,
    index: usize,
    budget: &mut Budget,
) -> Vec<Vec<Cuboid>> {
    let mut free = empty.clone();
    for (other, parts) in places.iter().enumerate() {
        if other != index {
            take_all(&mut free, parts);
        }
    }
    let mut items = room.parts(jobs[index], &mut 0);
    let start = room.snapshot.parts(jobs[index] as usize);
    let mut found = Vec::new();
    pack(room, &mut free, &mut items, budget, &mut |items: &[Item]| {
        let parts: Vec<Cuboid> = items.iter().filter_map(|item| item.at).collect();
        let is_start = parts.iter().all(|part| start.contains(part));
        found.push(if is_start { start.to_vec() } else { parts });
        false
    });
    found
}

/// Returns the requested boxes if the state leaves them free and all required jobs have moved.
fn goal(
    room: &mut Room<'_>,
    empty: &Occupancy,
    jobs: &[u32],
    places: &Places,
    budget: &mut Budget,
) -> Option<Vec<Cuboid>> {
    let moved = |(index, &job): (usize, &u32)| {
        !room.goal.required.contains(&job) || places[index] != room.snapshot.parts(job as usize)
    };
    if !jobs.iter().enumerate().all(moved) {
        return None;
    }
    let mut free = empty.clone();
    for parts in places {
        take_all(&mut free, parts);
    }
    let mut boxes = None;
    let mut items = room.wanted();
    pack(room, &mut free, &mut items, budget, &mut |items: &[Item]| {
        boxes = Some(items.iter().filter_map(|item| item.at).collect());
        true
    });
    boxes
}

/// Marks the free nodes in the given boxes as taken, skipping failed nodes.
fn take_all(free: &mut Occupancy, parts: &[Cuboid]) {
    let grid = *free.grid();
    for part in parts {
        if free.is_free(part) {
            free.take(part).expect("the boxes of a placement are disjoint");
        } else {
            for node in part.nodes(&grid) {
                free.take_node(node);
            }
        }
    }
}

/// Returns the moves that lead to the last state reached.
fn path(room: &Room<'_>, jobs: &[u32], reached: &[Reached]) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut at = reached.len() - 1;
    while let Some((before, index)) = reached[at].before {
        moves.push(Move {
            job: room.snapshot.jobs[jobs[index] as usize].0,
            from: reached[before].places[index].clone(),
            to: reached[at].places[index].clone(),
        });
        at = before;
    }
    moves.reverse();
    moves
}

#[cfg(test)]
mod tests {
    use pavior_allocation::Placement;
    use pavior_mesh::JobId;

    use super::*;
    use crate::plans::plan::Goal;
    use crate::{Shape, Snapshot};

    #[test]
    fn the_original_position_keeps_the_order_of_its_parts() {
        let all = Occupancy::all_free(Grid::mesh(&[3]).unwrap());
        let parts = [2, 0].map(|first| Cuboid::new([first, 0, 0], [1; 3])).to_vec();
        let jobs = vec![(JobId(0), Placement::Parts(parts.clone()))];
        let mut free = all.clone();
        take_all(&mut free, &parts);
        let snapshot = Snapshot::new(free, all.clone(), jobs);
        let shape = Shape::fixed([1; 3]);
        let goal = Goal { shape, count: 0, required: Vec::new(), available: all.clone() };
        let (mut room, mut budget) = (Room::new(&snapshot, &goal, true), Budget { left: 10_000 });
        let found = moves(&mut room, &all, &[0], &vec![parts.clone()], 0, &mut budget);
        assert!(found.len() == 3 && found.contains(&parts), "{found:?}");
    }
}
