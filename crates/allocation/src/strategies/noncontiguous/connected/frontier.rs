//! The free neighbors of a growing set, and the choice of the nearest one.
//!
//! The nearest node is the one with the smallest sum of hops to the nodes in the set. A bound on
//! that sum divides the neighbors into near and far ones. Sums never decrease as the set grows, so
//! a far node stays beyond the bound and need not be visited while any near node is within the
//! bound.
//!
//! Invariant: every far node's sum of hops exceeds `bound`.
//!
//! Cost: O(1) per visited node. After about 32 removals, the neighbors are divided again.

use pavior_mesh::Coordinates;

use super::hop_sums::HopSums;

/// The approximate number of removals after which the neighbors are divided again.
const STEPS: u64 = 32;
/// The maximum number of neighbors that are left undivided.
const FEW: usize = 128;

/// A set's free neighbors.
#[derive(Clone, Default)]
pub(super) struct Frontier {
    near: Vec<(u32, Coordinates)>,
    far: Vec<(u32, Coordinates)>,
    /// The bound between near and far neighbors, or `None` if the neighbors are not divided.
    bound: Option<u64>,
    looked: u64,
}

impl Frontier {
    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.bound = None;
    }

    /// Adds the first node, or a node that is adjacent to the set.
    pub(super) fn add(&mut self, hop_sums: &HopSums, node: u32, point: Coordinates) {
        let is_far = self.bound.is_some_and(|bound| hop_sums.of(point) > bound);
        let list = if is_far { &mut self.far } else { &mut self.near };
        list.push((node, point));
    }

    /// Removes and returns the nearest node. Ties go to the lowest rank. Drops any node for which
    /// `is_listed` now returns false.
    pub(super) fn take_nearest<R: Ord>(
        &mut self,
        hop_sums: &HopSums,
        is_listed: impl Fn(u32) -> bool,
        rank: impl Fn(u32) -> R,
    ) -> Option<u32> {
        if self.bound.is_none() && self.near.len() > FEW {
            self.divide(hop_sums, &is_listed);
        }
        loop {
            let nearest = nearest_in(&mut self.near, hop_sums, &is_listed, &rank);
            self.looked += self.near.len() as u64;
            let is_near = |hops| self.bound.is_none_or(|bound| hops <= bound);
            match nearest {
                Some((hops, at)) if is_near(hops) => return Some(self.near.swap_remove(at).0),
                None if self.far.is_empty() => return None,
                _ => self.divide(hop_sums, &is_listed),
            }
        }
    }

    /// Divides the nodes again.
    ///
    /// Each node taken increases every sum by about the mean distance. The bound exceeds the
    /// smallest sum by enough for the near nodes to last for about `STEPS` removals.
    fn divide(&mut self, hop_sums: &HopSums, is_listed: impl Fn(u32) -> bool) {
        self.near.append(&mut self.far);
        self.near.retain(|&(node, _)| is_listed(node));
        self.looked += self.near.len() as u64;
        let least = self.near.iter().map(|&(_, point)| hop_sums.of(point)).min().unwrap_or(0);
        let bound = least + STEPS * (least / hop_sums.nodes().max(1) + 1);
        self.far.extend(self.near.extract_if(.., |&mut (_, point)| hop_sums.of(point) > bound));
        self.bound = Some(bound);
    }

    /// Returns the listed nodes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> {
        self.near.iter().chain(&self.far).map(|&(node, _)| node)
    }

    /// Returns the number of nodes visited.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}

/// Returns the smallest sum of hops in a list, and the index of the corresponding node. Ties go to
/// the lowest rank. Drops nodes for which `is_listed` is false.
#[inline]
pub(super) fn nearest_in<R: Ord>(
    list: &mut Vec<(u32, Coordinates)>,
    hop_sums: &HopSums,
    is_listed: impl Fn(u32) -> bool,
    rank: impl Fn(u32) -> R,
) -> Option<(u64, usize)> {
    let (mut least, mut at, mut index) = (u64::MAX, 0, 0);
    while let Some(&(node, point)) = list.get(index) {
        if !is_listed(node) {
            list.swap_remove(index);
            continue;
        }
        let hops = hop_sums.of(point);
        if hops < least || hops == least && rank(node) < rank(list[at].0) {
            (least, at) = (hops, index);
        }
        index += 1;
    }
    (!list.is_empty()).then_some((least, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;
    use pavior_mesh::{Grid, NodeId};

    /// Grows a set on a machine with a quarter of its nodes busy and every tenth neighbor unlisted.
    /// The nearest node must be among those classified as near.
    #[test]
    fn the_nearest_of_the_near_ones_is_the_nearest_of_all() {
        let mut dice = Stream::new(11, 0, "frontier");
        for name in ["mesh:14x13x12", "torus:12x12x12"] {
            let grid: Grid = name.parse().unwrap();
            let nodes = grid.nodes() as usize;
            let (mut frontier, mut hop_sums) = (Frontier::default(), HopSums::new(grid));
            let mut is_met: Vec<bool> = (0..nodes).map(|_| dice.below(4) == 0).collect();
            let (mut is_listed, mut sums) = (vec![false; nodes], vec![0; nodes]);
            let (mut next, mut taken, mut most) = (vec![NodeId((nodes / 2) as u32)], 0, 0);
            is_met[nodes / 2] = false;
            frontier.clear();
            loop {
                for node in next.drain(..) {
                    if !std::mem::replace(&mut is_met[node.index()], true) {
                        frontier.add(&hop_sums, node.0, grid.point(node));
                        is_listed[node.index()] = taken == 0 || dice.below(10) > 0;
                    }
                }
                let listed = (0..nodes).filter(|&node| is_listed[node]);
                most = most.max(listed.clone().count());
                let nearest = listed.min_by_key(|&node| sums[node]).map(|node| node as u32);
                let found =
                    frontier.take_nearest(&hop_sums, |node| is_listed[node as usize], |node| node);
                assert_eq!(found, nearest, "{name}");
                let Some(node) = found.map(NodeId) else { break };
                is_listed[node.index()] = false;
                taken += 1;
                hop_sums.add(grid.point(node));
                for (other, sum) in (0..).zip(&mut sums) {
                    *sum += grid.distance(grid.point(node), grid.point(NodeId(other)));
                }
                next.extend(grid.neighbours(node));
            }
            assert!(taken > 1_000 && most > FEW, "{name}: {taken} nodes, {most} neighbours");
        }
    }
}
