//! A branch-and-bound search for the largest set of disjoint placements.
//!
//! - **Dominance**: if u overlaps both v and every placement that overlaps v, then u can be
//!   dropped, because v can replace u in any set. At the edges of free areas, this rule decides
//!   most cases.
//! - **Components** are searched separately.
//! - **Bound**: at most one placement is chosen from any clique (placements that all overlap each
//!   other). The number of cliques that cover the graph thus bounds the size of the set.
//! - **Branches**: a largest set contains either the placement with the fewest conflicts or a
//!   placement that overlaps it.
//!
//! Invariant: no open placement overlaps a chosen one.

use super::conflicts::Conflicts;
use crate::plans::plan::Budget;

/// A set of placements, with one bit per placement.
type Set = Vec<u64>;

/// The result of a search.
pub(super) struct Chosen {
    /// Placements that do not overlap.
    pub(super) chosen: Vec<usize>,
    /// An upper bound on the number of pairwise disjoint placements.
    pub(super) bound: u32,
}

/// Finds a maximum set of disjoint placements. If the budget runs out, returns a good set and a
/// bound.
pub(super) fn most_disjoint(conflicts: &Conflicts, budget: &mut Budget) -> Chosen {
    let mut open = all(conflicts.count);
    let mut search = Search { conflicts, budget, gave_up: false };
    let mut chosen = search.reduce(&mut open);
    let mut bound = chosen.len() as u32;
    for part in search.components(open) {
        let places: Vec<usize> = ones(&part).collect();
        let among = conflicts.among(&places);
        search.budget.spend((places.len() * places.len() / 8) as u64);
        let (found, most) = component(&among, search.budget);
        bound += most;
        chosen.extend(found.into_iter().map(|at| places[at]));
    }
    Chosen { chosen, bound }
}

/// Finds a maximum disjoint set in one component, in which all placements are open.
fn component(conflicts: &Conflicts, budget: &mut Budget) -> (Vec<usize>, u32) {
    let open = all(conflicts.count);
    let mut search = Search { conflicts, budget, gave_up: false };
    let cover = search.cover(&open);
    let found = search.largest(open, 0);
    let bound = if search.gave_up { cover.max(found.len()) } else { found.len() };
    (found, bound as u32)
}

struct Search<'a> {
    conflicts: &'a Conflicts,
    budget: &'a mut Budget,
    /// True if the budget ran out, so that a larger set may exist.
    gave_up: bool,
}

impl Search<'_> {
    /// Finds the largest disjoint set of open placements if this set has more than `beaten`
    /// members. Otherwise, may return any set.
    fn largest(&mut self, mut open: Set, beaten: usize) -> Vec<usize> {
        let mut chosen = self.reduce(&mut open);
        if is_empty(&open) {
            return chosen;
        }
        let parts = self.components(open);
        let [open] = &parts[..] else {
            chosen.extend(parts.into_iter().flat_map(|part| self.largest(part, 0)));
            return chosen;
        };
        let cover = self.cover(open);
        if chosen.len() + cover <= beaten {
            return chosen;
        }
        let best = self.branch(open.clone(), cover, beaten.saturating_sub(chosen.len()));
        chosen.extend(best);
        chosen
    }

    /// Finds the largest set in a component that no rule can reduce. `cover` bounds the set's size.
    fn branch(&mut self, mut open: Set, cover: usize, beaten: usize) -> Vec<usize> {
        let middle = self.fewest_conflicts(&open);
        let mut best: Vec<usize> = Vec::new();
        let mut options = vec![middle];
        options.extend(ones(&both(&open, self.conflicts.of_place(middle))));
        for place in options {
            if self.budget.left == 0 {
                self.gave_up = true;
                if best.is_empty() {
                    best = self.one_by_one(open);
                }
                return best;
            }
            let mut rest = without(&open, self.conflicts.of_place(place));
            clear(&mut rest, place);
            let mut found = self.largest(rest, best.len().max(beaten).saturating_sub(1));
            found.push(place);
            if found.len() > best.len() {
                best = found;
            }
            if best.len() == cover {
                break;
            }
            clear(&mut open, place);
        }
        best
    }

    /// Drops dominated placements and chooses placements with no remaining conflicts.
    fn reduce(&mut self, open: &mut Set) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut again = true;
        while again && self.budget.left > 0 {
            again = false;
            for place in ones(&open.clone()) {
                if !has(open, place) {
                    continue;
                }
                let around = both(open, self.conflicts.of_place(place));
                let mut alone = true;
                for other in ones(&around) {
                    let row = self.conflicts.of_place(other);
                    let beyond =
                        around.iter().zip(row).enumerate().position(|(at, (near, row))| {
                            let itself = if at == other / 64 { 1 << (other % 64) } else { 0 };
                            near & !row & !itself & open[at] != 0
                        });
                    self.budget.spend(beyond.map_or(row.len(), |at| at + 1) as u64);
                    let dominates = beyond.is_none();
                    if dominates {
                        clear(open, other);
                        again = true;
                    } else {
                        alone = false;
                    }
                }
                if alone {
                    clear(open, place);
                    chosen.push(place);
                }
            }
        }
        chosen
    }

    fn components(&mut self, mut open: Set) -> Vec<Set> {
        let mut parts = Vec::new();
        while let Some(first) = least(&open) {
            let mut part = vec![0; open.len()];
            let mut ahead = vec![first];
            clear(&mut open, first);
            while let Some(place) = ahead.pop() {
                part[place / 64] |= 1 << (place % 64);
                let near = both(&open, self.conflicts.of_place(place));
                self.budget.spend(near.len() as u64);
                for other in ones(&near) {
                    clear(&mut open, other);
                    ahead.push(other);
                }
            }
            parts.push(part);
        }
        parts
    }

    /// Returns the number of cliques in a cover of the open placements. Each clique is grown from
    /// the first remaining placement.
    fn cover(&mut self, open: &[u64]) -> usize {
        let mut left = open.to_vec();
        let mut cliques = 0;
        while let Some(first) = least(&left) {
            cliques += 1;
            clear(&mut left, first);
            let mut common = both(&left, self.conflicts.of_place(first));
            while let Some(next) = least(&common) {
                clear(&mut left, next);
                common = both(&common, self.conflicts.of_place(next));
                self.budget.spend(common.len() as u64);
            }
        }
        cliques
    }

    /// Returns the open placement with the fewest conflicts. Ties go to the first one.
    fn fewest_conflicts(&mut self, open: &[u64]) -> usize {
        let count = |&place: &usize| {
            let near = open.iter().zip(self.conflicts.of_place(place));
            near.map(|(open, row)| (open & row).count_ones()).sum::<u32>()
        };
        self.budget.spend((ones(open).count() * open.len()) as u64);
        ones(open).min_by_key(count).expect("a component has a place")
    }

    /// Repeatedly chooses the placement with the fewest conflicts.
    fn one_by_one(&mut self, mut open: Set) -> Vec<usize> {
        let mut chosen = Vec::new();
        while !is_empty(&open) {
            let place = self.fewest_conflicts(&open);
            open = without(&open, self.conflicts.of_place(place));
            clear(&mut open, place);
            chosen.push(place);
        }
        chosen
    }
}

fn all(count: usize) -> Set {
    let mut set = vec![0; count.div_ceil(64)];
    (0..count).for_each(|place| set[place / 64] |= 1 << (place % 64));
    set
}

/// Returns the members of a set in ascending order.
fn ones(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let left = |word: &u64| Some(word & (word - 1)).filter(|&word| word != 0);
        let words = std::iter::successors(Some(word).filter(|&word| word != 0), left);
        words.map(move |word| at * 64 + word.trailing_zeros() as usize)
    })
}

fn least(set: &[u64]) -> Option<usize> {
    ones(set).next()
}

fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|&word| word == 0)
}

fn has(set: &[u64], place: usize) -> bool {
    set[place / 64] >> (place % 64) & 1 == 1
}

fn clear(set: &mut [u64], place: usize) {
    set[place / 64] &= !(1 << (place % 64));
}

fn both(a: &[u64], b: &[u64]) -> Set {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn without(a: &[u64], b: &[u64]) -> Set {
    a.iter().zip(b).map(|(a, b)| a & !b).collect()
}
