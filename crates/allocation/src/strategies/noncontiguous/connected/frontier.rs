//! The free neighbours of a set that grows, and the nearest of them: `connected`.

use pavior_mesh::Coordinates;

use super::hop_sums::Spread;

/// The neighbours are divided anew after so many nodes, about.
const STEPS: u64 = 32;
/// So few neighbours are not divided.
const FEW: usize = 128;

/// Free neighbours of a set, in two lists: the sum of hops from a node to those of the set becomes
/// no less while the set grows, so that nodes that were farther than some bound need not be looked
/// at before the nearest one is.
#[derive(Clone, Default)]
pub(super) struct Fringe {
    near: Vec<(u32, Coordinates)>,
    /// Those with a sum of hops above `bound`; none if there is no bound.
    far: Vec<(u32, Coordinates)>,
    bound: Option<u64>,
    looked: u64,
}

impl Fringe {
    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.bound = None;
    }

    /// Lists a node of the set or beside it.
    pub(super) fn add(&mut self, spread: &Spread, node: u32, point: Coordinates) {
        let is_far = self.bound.is_some_and(|bound| spread.of(point) > bound);
        let list = if is_far { &mut self.far } else { &mut self.near };
        list.push((node, point));
    }

    /// Takes out the node with the least sum of hops to those of the set, of equals the one with
    /// the least rank. Drops nodes that are no longer to be listed. O(1) a node that is looked at.
    pub(super) fn take_nearest<R: Ord>(
        &mut self,
        spread: &Spread,
        is_listed: impl Fn(u32) -> bool,
        rank: impl Fn(u32) -> R,
    ) -> Option<u32> {
        if self.bound.is_none() && self.near.len() > FEW {
            self.divide(spread, &is_listed);
        }
        loop {
            let nearest = nearest_in(&mut self.near, spread, &is_listed, &rank);
            self.looked += self.near.len() as u64;
            let is_near = |hops| self.bound.is_none_or(|bound| hops <= bound);
            match nearest {
                Some((hops, at)) if is_near(hops) => return Some(self.near.swap_remove(at).0),
                None if self.far.is_empty() => return None,
                _ => self.divide(spread, &is_listed),
            }
        }
    }

    /// Divides the nodes anew: far are those that will not be the nearest before the set has grown
    /// by some nodes that are as far from the nearest one as those of the set.
    fn divide(&mut self, spread: &Spread, is_listed: impl Fn(u32) -> bool) {
        self.near.append(&mut self.far);
        self.near.retain(|&(node, _)| is_listed(node));
        self.looked += self.near.len() as u64;
        let least = self.near.iter().map(|&(_, point)| spread.of(point)).min().unwrap_or(0);
        let bound = least + STEPS * (least / spread.nodes().max(1) + 1);
        self.far.extend(self.near.extract_if(.., |&mut (_, point)| spread.of(point) > bound));
        self.bound = Some(bound);
    }

    /// The nodes listed.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> {
        self.near.iter().chain(&self.far).map(|&(node, _)| node)
    }

    /// Nodes that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}

/// The least sum of hops to the nodes of a set, and where in a list the node is that has it; of
/// equals the one with the least rank. Drops nodes that are no longer to be listed.
#[inline]
pub(super) fn nearest_in<R: Ord>(
    list: &mut Vec<(u32, Coordinates)>,
    spread: &Spread,
    is_listed: impl Fn(u32) -> bool,
    rank: impl Fn(u32) -> R,
) -> Option<(u64, usize)> {
    let (mut least, mut at, mut index) = (u64::MAX, 0, 0);
    while let Some(&(node, point)) = list.get(index) {
        if !is_listed(node) {
            list.swap_remove(index);
            continue;
        }
        let hops = spread.of(point);
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

    /// Grows a set over a quarter busy nodes; every tenth of the neighbours is no longer to be
    /// listed.
    #[test]
    fn the_nearest_of_the_near_ones_is_the_nearest_of_all() {
        let mut dice = Stream::new(11, 0, "fringe");
        for name in ["mesh:14x13x12", "torus:12x12x12"] {
            let grid: Grid = name.parse().unwrap();
            let nodes = grid.nodes() as usize;
            let (mut fringe, mut spread) = (Fringe::default(), Spread::new(grid));
            let mut is_met: Vec<bool> = (0..nodes).map(|_| dice.below(4) == 0).collect();
            let (mut is_listed, mut sums) = (vec![false; nodes], vec![0; nodes]);
            let (mut next, mut taken, mut most) = (vec![NodeId((nodes / 2) as u32)], 0, 0);
            is_met[nodes / 2] = false;
            fringe.clear();
            loop {
                for node in next.drain(..) {
                    if !std::mem::replace(&mut is_met[node.index()], true) {
                        fringe.add(&spread, node.0, grid.point(node));
                        is_listed[node.index()] = taken == 0 || dice.below(10) > 0;
                    }
                }
                let listed = (0..nodes).filter(|&node| is_listed[node]);
                most = most.max(listed.clone().count());
                let nearest = listed.min_by_key(|&node| sums[node]).map(|node| node as u32);
                let found =
                    fringe.take_nearest(&spread, |node| is_listed[node as usize], |node| node);
                assert_eq!(found, nearest, "{name}");
                let Some(node) = found.map(NodeId) else { break };
                is_listed[node.index()] = false;
                taken += 1;
                spread.add(grid.point(node));
                for (other, sum) in (0..).zip(&mut sums) {
                    *sum += grid.distance(grid.point(node), grid.point(NodeId(other)));
                }
                next.extend(grid.neighbours(node));
            }
            assert!(taken > 1_000 && most > FEW, "{name}: {taken} nodes, {most} neighbours");
        }
    }
}
