//! An exact test of whether boxes and moved jobs fit together.
//!
//! Backtracking places the requested boxes and the parts of the moved jobs on the nodes that are
//! free once these jobs are removed. Each step picks the item with the fewest possible positions
//! and tries each position in turn. Interchangeable boxes (requested boxes, or parts of the same
//! job with equal sides) are placed in ascending order.

use pavior_mesh::{BaseSet, Cuboid, Grid, NodeId, Occupancy, Sides, ascending};

use crate::plans::plan::{Budget, Goal, Move};
use crate::{Shape, Snapshot};

/// The fixed cost of a position search, in addition to the words that it reads, and of a packing.
const CALL: u64 = 32;

/// The outcome for a set of jobs.
pub(crate) enum Outcome {
    /// The requested boxes, and the moves in execution order.
    Found(Vec<Cuboid>, Vec<Move>),
    /// No packing exists.
    Nothing,
    /// The budget ran out.
    Unknown,
}

/// Data shared by all packings in a search, plus scratch buffers.
pub(crate) struct Room<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) goal: &'a Goal,
    pub(crate) turn: bool,
    bases: BaseSet,
}

impl<'a> Room<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, goal: &'a Goal, turn: bool) -> Room<'a> {
        Room { snapshot, goal, turn, bases: BaseSet::new(snapshot.grid) }
    }

    /// Returns the usable nodes that would be free if these jobs were removed.
    pub(crate) fn without(&self, jobs: &[u32]) -> Occupancy {
        let mut free = self.snapshot.without(jobs.iter().map(|&job| job as usize));
        free.keep(&self.goal.available).expect("a plan uses only nodes that it found free");
        free
    }

    /// Returns the requested boxes, which are not placed yet.
    pub(crate) fn wanted(&self) -> Vec<Item> {
        let item = Item { shape: self.goal.shape, alike: 0, at: None };
        vec![item; self.goal.count]
    }

    /// Returns a job's parts. Increments `alike` for each group of equal parts.
    pub(crate) fn parts(&self, job: u32, alike: &mut u32) -> Vec<Item> {
        let mut known: Vec<(Sides, u32, Sides)> = Vec::new();
        let parts = self.snapshot.parts(job as usize).iter();
        let items = parts.map(|part| {
            let key = if self.turn { ascending(part.sides) } else { part.sides };
            let found = known.iter().find(|(sides, ..)| *sides == key).copied();
            let (_, alike, sides) = found.unwrap_or_else(|| {
                *alike += 1;
                known.push((key, *alike, part.sides));
                (key, *alike, part.sides)
            });
            Item { shape: Shape { sides, turn: self.turn }, alike, at: None }
        });
        items.collect()
    }

    /// Returns up to `most` distinct free positions of a shape that come after `after`.
    fn places(
        &mut self,
        free: &Occupancy,
        shape: Shape,
        after: Option<Key>,
        most: usize,
        budget: &mut Budget,
    ) -> Vec<Cuboid> {
        let (mut found, before) = (Vec::new(), self.bases.words_touched());
        let grid = *free.grid();
        for (turn, sides) in shape.orientations(&grid).enumerate() {
            let none = after.is_some_and(|(last, _)| turn < last) || found.len() >= most;
            if !none && self.bases.compute(free, sides) {
                let later = |base: &_| after.is_none_or(|after| (turn, grid.id(*base)) > after);
                let bases = self.bases.row_major().filter(later);
                found.extend(bases.map(|base| Cuboid::new(base, sides)).take(most - found.len()));
            }
        }
        budget.spend(CALL + self.bases.words_touched() - before + found.len() as u64);
        found
    }
}

/// A box to place: a requested box, or a part of a job that moves.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) shape: Shape,
    /// The group of interchangeable items to which the box belongs, or 0 for the requested boxes.
    pub(crate) alike: u32,
    /// The chosen position, or `None` if the box is not placed yet.
    pub(crate) at: Option<Cuboid>,
}

/// A sort key for the positions of a shape: the index of the orientation, then the base.
type Key = (usize, NodeId);

/// Places all items and passes every complete packing to `done`, which returns true to accept it.
/// Returns true if a packing was accepted.
pub(crate) fn pack(
    room: &mut Room<'_>,
    free: &mut Occupancy,
    items: &mut [Item],
    budget: &mut Budget,
    done: &mut dyn FnMut(&[Item]) -> bool,
) -> bool {
    let Some((index, places)) = tightest(room, free, items, budget) else {
        // The caller compares each item with all others.
        budget.spend(CALL + (items.len() * items.len()) as u64);
        return done(items);
    };
    for place in places {
        if budget.left == 0 {
            return false;
        }
        free.take(&place).expect("a plan uses only nodes that it found free");
        items[index].at = Some(place);
        if pack(room, free, items, budget, done) {
            return true;
        }
        items[index].at = None;
        free.give(&place).expect("a plan uses only nodes that it found free");
    }
    false
}

/// Returns the unplaced item with the fewest possible positions, along with those positions.
/// Returns `None` if all items are placed.
fn tightest(
    room: &mut Room<'_>,
    free: &Occupancy,
    items: &[Item],
    budget: &mut Budget,
) -> Option<(usize, Vec<Cuboid>)> {
    let open = || items.iter().enumerate().filter(|(_, item)| item.at.is_none());
    let (first, _) = open().next()?;
    let volume: u64 = open().map(|(_, item)| pavior_mesh::volume(item.shape.sides)).sum();
    if volume > u64::from(free.count()) {
        return Some((first, Vec::new()));
    }
    let mut best: Option<(usize, Vec<Cuboid>)> = None;
    let mut seen: Vec<u32> = Vec::new();
    for (index, item) in open() {
        if seen.contains(&item.alike) {
            continue;
        }
        seen.push(item.alike);
        let most = best.as_ref().map_or(usize::MAX, |(_, places)| places.len());
        let places = room.places(free, item.shape, last(free.grid(), items, item), most, budget);
        let none = places.is_empty();
        if places.len() < most {
            best = Some((index, places));
        }
        if none {
            break;
        }
    }
    best
}

/// Returns the greatest key among the placed items that are interchangeable with `item`.
fn last(grid: &Grid, items: &[Item], item: &Item) -> Option<Key> {
    let alike = items.iter().filter(|other| other.alike == item.alike);
    let key = |at: Cuboid| {
        let turn = item.shape.orientations(grid).position(|sides| sides == at.sides);
        (turn.expect("it was placed in one of its orientations"), grid.id(at.base))
    };
    alike.filter_map(|other| other.at).map(key).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_limits_the_number_of_packings() {
        let grid = Grid::mesh(&[64, 64]).unwrap();
        let mut free = Occupancy::all_free(grid);
        let snapshot = Snapshot::new(free.clone(), free.clone(), Vec::new());
        let shape = Shape::fixed([1; 3]);
        let goal = Goal { shape, count: 2, required: Vec::new(), available: free.clone() };
        let (mut room, mut budget) = (Room::new(&snapshot, &goal, false), Budget { left: 100_000 });
        let (mut items, mut packings) = (room.wanted(), 0);
        pack(&mut room, &mut free, &mut items, &mut budget, &mut |_| {
            packings += 1;
            false
        });
        assert!(packings > 100 && packings <= 100_000 / CALL, "{packings}");
        assert_eq!(budget.left, 0);
    }
}
