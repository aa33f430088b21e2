//! Nodes and switches that are unavailable because components are down.
//!
//! A node is missing while it or its cube is down. A cube is whole if neither the cube nor any of
//! its nodes is down. On a machine with C cubes and S spares, C - S whole cubes are in use, if that
//! many are available. All other whole cubes are spares, whose nodes are out of use.
//!
//! When a cube in use breaks, the lowest-numbered spare replaces it, and the rest of the broken
//! cube goes out of use as its jobs end. If there is no spare, the broken cube stays in use. When a
//! cube becomes whole again, it goes into use if fewer than C - S whole cubes are in use;
//! otherwise, it becomes a spare. Initially, the highest-numbered cubes are spares.
//!
//! The switches work unless the number of failed switches exceeds the number of spare ones. A spare
//! takes over immediately, but jobs that use the failed switch are still interrupted.

use std::collections::{BTreeMap, BTreeSet};

use pavior_mesh::{Cubes, Grid, NodeId};
use pavior_workload::{Change, Component, SWITCHES};

use super::{BadFailing, Spares};

/// An effect of an event on a node or on the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The node is missing, and the job on it is interrupted.
    Lost(NodeId),
    /// The node goes out of use once its job has ended.
    Withdrawn(NodeId),
    /// The node is available again.
    Back(NodeId),
    /// The switches no longer connect cubes, and jobs that need them are interrupted.
    SwitchesLost,
    /// The switches connect cubes again.
    SwitchesBack,
}

/// The components that are down, and the cubes that are out of use.
pub(crate) struct Outages {
    grid: Grid,
    cubes: Option<Cubes>,
    spares: Spares,
    failed: BTreeSet<Component>,
    /// For each cube that is not whole, the number of its components that are down.
    broken: BTreeMap<NodeId, u32>,
    /// The cubes that are out of use.
    withdrawn: BTreeSet<NodeId>,
    switches_failed: u32,
}

impl Outages {
    /// Creates the initial state: a healthy machine whose spares are out of use.
    pub(crate) fn new(grid: Grid, spares: Spares) -> Result<Outages, BadFailing> {
        let cubes = Cubes::of(&grid);
        let count = cubes.map_or(0, |cubes| cubes.grid().nodes());
        if spares.cubes > 0 && spares.cubes >= count {
            return Err(BadFailing::Spares { cubes: count, spares: spares.cubes });
        }
        Ok(Outages {
            grid,
            cubes,
            spares,
            failed: BTreeSet::new(),
            broken: BTreeMap::new(),
            withdrawn: (count - spares.cubes..count).map(NodeId).collect(),
            switches_failed: 0,
        })
    }

    /// Returns the nodes that are out of use before anything fails.
    pub(crate) fn spare_nodes(&self) -> Vec<NodeId> {
        self.withdrawn.iter().flat_map(|&cube| self.nodes(Component::Cube(cube))).collect()
    }

    /// Applies a failure or a repair. Failing a component that is already down has no effect, and
    /// neither does repairing a healthy one.
    pub(crate) fn apply(
        &mut self,
        component: Component,
        change: Change,
    ) -> Result<Vec<Effect>, BadFailing> {
        let (kind, number) = component.parts();
        if kind.count(&self.grid).is_none_or(|count| number >= count) {
            return Err(BadFailing::Unknown(component));
        }
        let changed = match change {
            Change::Fail => self.failed.insert(component),
            Change::Repair => self.failed.remove(&component),
        };
        if !changed {
            return Ok(Vec::new());
        }
        if let Component::Switch(_) = component {
            return Ok(self.switch(change));
        }
        let mut effects: Vec<Effect> = Vec::new();
        let cube = self.cube_of(component);
        for node in self.nodes(component) {
            // The node may still be missing because another component is down.
            let other = match component {
                Component::Node(_) => {
                    cube.is_some_and(|cube| self.has_failed(Component::Cube(cube)))
                }
                _ => self.has_failed(Component::Node(node)),
            };
            match change {
                Change::Fail if !other => effects.push(Effect::Lost(node)),
                Change::Repair if !other && !self.is_withdrawn(cube) => {
                    effects.push(Effect::Back(node));
                }
                _ => {}
            }
        }
        if let Some(cube) = cube {
            self.count(cube, change, &mut effects);
        }
        Ok(effects)
    }

    fn has_failed(&self, component: Component) -> bool {
        self.failed.contains(&component)
    }

    fn is_withdrawn(&self, cube: Option<NodeId>) -> bool {
        cube.is_some_and(|cube| self.withdrawn.contains(&cube))
    }

    /// Returns the given cube, or the cube that contains the given node.
    fn cube_of(&self, component: Component) -> Option<NodeId> {
        match component {
            Component::Node(node) => self.cubes.map(|cubes| cubes.holding(node)),
            Component::Cube(cube) => Some(cube),
            Component::Switch(_) => None,
        }
    }

    fn nodes(&self, component: Component) -> Vec<NodeId> {
        match (component, self.cubes) {
            (Component::Node(node), _) => vec![node],
            (Component::Cube(cube), Some(cubes)) => cubes.nodes(cube).nodes(&self.grid).collect(),
            _ => Vec::new(),
        }
    }

    /// Records a failure or repair in a cube. Takes cubes out of use or puts them back into use as
    /// needed.
    fn count(&mut self, cube: NodeId, change: Change, effects: &mut Vec<Effect>) {
        let failures = self.broken.entry(cube).or_default();
        match change {
            Change::Fail => *failures += 1,
            Change::Repair => *failures -= 1,
        }
        let failures = *failures;
        if failures == 0 {
            self.broken.remove(&cube);
        }
        if self.spares.cubes == 0 {
            return;
        }
        let withdrawn = self.is_withdrawn(Some(cube));
        match change {
            // Before this failure, the cube was whole and in use.
            Change::Fail if failures == 1 && !withdrawn => {
                let spare = self.withdrawn.iter().find(|spare| !self.broken.contains_key(spare));
                if let Some(&spare) = spare {
                    self.use_again(spare, effects);
                    self.withdraw(cube, effects);
                }
            }
            Change::Repair if failures == 0 && withdrawn && self.missing() > 0 => {
                self.use_again(cube, effects);
            }
            Change::Repair if failures == 0 && !withdrawn && self.missing() < 0 => {
                self.withdraw(cube, effects);
            }
            _ => {}
        }
    }

    /// Returns the number of whole cubes that should be in use but are not.
    fn missing(&self) -> i64 {
        let count = self.cubes.map_or(0, |cubes| cubes.grid().nodes());
        let broken_in_use =
            self.broken.keys().filter(|&&cube| !self.is_withdrawn(Some(cube))).count() as i64;
        let whole_in_use = i64::from(count) - self.withdrawn.len() as i64 - broken_in_use;
        i64::from(count - self.spares.cubes) - whole_in_use
    }

    fn use_again(&mut self, cube: NodeId, effects: &mut Vec<Effect>) {
        self.withdrawn.remove(&cube);
        self.effects_on(cube, Effect::Back, effects);
    }

    fn withdraw(&mut self, cube: NodeId, effects: &mut Vec<Effect>) {
        self.withdrawn.insert(cube);
        self.effects_on(cube, Effect::Withdrawn, effects);
    }

    /// Adds an effect for each healthy node in a cube.
    fn effects_on(&self, cube: NodeId, effect: fn(NodeId) -> Effect, effects: &mut Vec<Effect>) {
        if self.has_failed(Component::Cube(cube)) {
            return;
        }
        let healthy = self
            .nodes(Component::Cube(cube))
            .into_iter()
            .filter(|&node| !self.has_failed(Component::Node(node)));
        effects.extend(healthy.map(effect));
    }

    fn switch(&mut self, change: Change) -> Vec<Effect> {
        let standing_by = self.spares.switches.min(SWITCHES);
        let worked = self.switches_failed <= standing_by;
        match change {
            Change::Fail => self.switches_failed += 1,
            Change::Repair => self.switches_failed -= 1,
        }
        let work = self.switches_failed <= standing_by;
        match change {
            Change::Fail if worked && work => vec![Effect::SwitchesLost, Effect::SwitchesBack],
            Change::Fail if worked => vec![Effect::SwitchesLost],
            Change::Repair if work && !worked => vec![Effect::SwitchesBack],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outages(machine: &str, cubes: u32, switches: u32) -> Outages {
        Outages::new(machine.parse().unwrap(), Spares { cubes, switches }).unwrap()
    }

    /// Applies random events and compares the outages with an independently tracked state.
    #[test]
    fn nodes_are_missing_if_and_only_if_something_has_failed_or_is_a_spare() {
        for spares in [0, 1, 3, 7] {
            let mut outages = outages("torus:8x8x8", spares, 0);
            let mut usable = [true; 512];
            outages.spare_nodes().iter().for_each(|node| usable[node.index()] = false);
            let mut draw = pavior_kernel::Stream::new(1, u64::from(spares), "test");
            for _ in 0..2000 {
                let component = match draw.below(2) {
                    0 => Component::Node(NodeId(draw.below(512) as u32)),
                    _ => Component::Cube(NodeId(draw.below(8) as u32)),
                };
                let change = if draw.below(5) < 2 { Change::Fail } else { Change::Repair };
                for effect in outages.apply(component, change).unwrap() {
                    match effect {
                        Effect::Lost(node) | Effect::Withdrawn(node) => {
                            usable[node.index()] = false;
                        }
                        Effect::Back(node) => usable[node.index()] = true,
                        other => panic!("{other:?}"),
                    }
                }
                let cubes = outages.cubes.unwrap();
                for node in (0..512).map(NodeId) {
                    let cube = cubes.holding(node);
                    let failed = outages.has_failed(Component::Node(node))
                        || outages.has_failed(Component::Cube(cube));
                    let expected = !failed && !outages.withdrawn.contains(&cube);
                    assert_eq!(usable[node.index()], expected);
                }
                let whole = 8 - outages.broken.len() as u32;
                let in_use = |&cube: &NodeId| !outages.withdrawn.contains(&cube);
                let all = (0..8).map(NodeId).filter(in_use);
                let used = all.filter(|cube| !outages.broken.contains_key(cube)).count() as u32;
                assert_eq!(used, whole.min(8 - spares), "whole cubes in use");
            }
        }
    }

    #[test]
    fn a_spare_takes_the_place_of_a_broken_cube_and_the_repaired_one_is_the_spare() {
        let mut outages = outages("torus:8x8x8", 2, 0);
        assert_eq!(outages.withdrawn, BTreeSet::from([NodeId(6), NodeId(7)]));
        let chip = Component::Node(NodeId(0));
        let effects = outages.apply(chip, Change::Fail).unwrap();
        assert_eq!(effects[0], Effect::Lost(NodeId(0)));
        assert_eq!(effects[1..65].iter().filter(|one| matches!(one, Effect::Back(_))).count(), 64);
        // These are the other 63 chips in the cube.
        assert_eq!(effects[65..].len(), 63);
        assert_eq!(outages.withdrawn, BTreeSet::from([NodeId(0), NodeId(7)]));
        assert_eq!(outages.apply(chip, Change::Fail).unwrap(), []);
        assert_eq!(outages.apply(chip, Change::Repair).unwrap(), []);
        assert_eq!(outages.withdrawn, BTreeSet::from([NodeId(0), NodeId(7)]));
    }

    #[test]
    fn switches_that_stand_by_take_over_at_once() {
        let mut outages = outages("torus:8x8x8", 0, 1);
        let mut apply = |switch, change| outages.apply(Component::Switch(switch), change).unwrap();
        assert_eq!(apply(3, Change::Fail), [Effect::SwitchesLost, Effect::SwitchesBack]);
        assert_eq!(apply(4, Change::Fail), [Effect::SwitchesLost]);
        assert_eq!(apply(5, Change::Fail), []);
        assert_eq!(apply(3, Change::Repair), []);
        assert_eq!(apply(5, Change::Repair), [Effect::SwitchesBack]);
        assert_eq!(apply(4, Change::Repair), []);
        assert_eq!(
            outages.apply(Component::Switch(48), Change::Fail),
            Err(BadFailing::Unknown(Component::Switch(48)))
        );
    }

    #[test]
    fn what_a_machine_does_not_have_is_refused() {
        let grid: Grid = "mesh:8x8".parse().unwrap();
        assert!(Outages::new(grid, Spares { cubes: 1, switches: 0 }).is_err());
        let mut flat = outages("mesh:8x8", 0, 0);
        assert!(flat.apply(Component::Cube(NodeId(0)), Change::Fail).is_err());
        assert!(flat.apply(Component::Node(NodeId(64)), Change::Fail).is_err());
        assert_eq!(
            flat.apply(Component::Node(NodeId(63)), Change::Fail).unwrap(),
            [Effect::Lost(NodeId(63))]
        );
        let pod: Grid = "torus:8x8x8".parse().unwrap();
        assert!(Outages::new(pod, Spares { cubes: 8, switches: 0 }).is_err());
    }
}
