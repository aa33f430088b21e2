//! The machine that is kept from turn to turn, with the records on it that sleep.
//!
//! What is awake is taken off when the next turn begins, and the news of that turn are taken in. A
//! floor that has missed a turn is made anew.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{Debug, Formatter, Result as Written};
use std::mem::take;

use pavior_allocation::Machine as Engine;
use pavior_mesh::{JobId, NodeId, Occupancy, Pool};
use pavior_scheduling::Dispatcher;

use super::demands::{Demands, Kept};
use super::{Plot, RESOURCE};
use crate::objects::{Node, Uid};
use crate::rest::Rest;
use crate::world::Index;

/// The most pools, and demands, that are kept.
const MOST: usize = 64;

/// A machine, and what is known of its nodes.
pub(super) struct Floor {
    turn: u64,
    pub(super) dispatcher: Dispatcher,
    /// Whether no turn before was taken in.
    pub(super) anew: bool,
    /// The records that sleep, each with its number, and the other way round.
    asleep: HashMap<Uid, JobId>,
    numbers: HashMap<JobId, Uid>,
    /// Those that held all their nodes in the latest turn, and all that held nodes then.
    awake: HashMap<Uid, JobId>,
    left: Vec<JobId>,
    /// Nodes that may be failed or not.
    pub(super) doubtful: BTreeSet<NodeId>,
    /// Nodes without our resource.
    pub(super) lacking: BTreeSet<NodeId>,
    pub(super) pools: Vec<Occupancy>,
    pub(super) known: HashMap<Vec<u32>, (Pool, usize)>,
    /// The nodes that pods with given demands may not have.
    barred: Vec<(Vec<Kept>, Vec<u32>)>,
}

impl Debug for Floor {
    fn fmt(&self, to: &mut Formatter<'_>) -> Written {
        to.debug_struct("Floor").field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl Floor {
    /// The one that was kept, if it has missed nothing.
    ///
    /// # Errors
    /// If the machine or its scheduler cannot be made.
    pub(super) fn of(
        plot: &Plot<'_>,
        index: &Index<'_>,
        kept: Option<Floor>,
    ) -> Result<Floor, String> {
        let scheduler = || plot.site.scheduler.build(()).map_err(|error| error.to_string());
        if let (Some(rest), Some(mut floor)) = (index.rest, kept)
            && !rest.turn.anew
            && floor.turn + 1 == rest.turn.number
        {
            floor.dispatcher.set_scheduler(scheduler()?);
            floor.follow(plot, rest);
            return Ok(floor);
        }
        let engine = Engine::with_seed(plot.site.grid, &plot.site.strategy, 1);
        let engine = engine.map_err(|error| error.to_string())?;
        let nodes = plot.places.nodes(plot.nodes).into_iter().enumerate();
        let lacking = nodes.filter(|(_, node)| node.is_some_and(|node| !node.offers(RESOURCE)));
        Ok(Floor {
            turn: 0,
            dispatcher: Dispatcher::new(engine, scheduler()?),
            anew: true,
            asleep: HashMap::new(),
            numbers: HashMap::new(),
            awake: HashMap::new(),
            left: Vec::new(),
            doubtful: BTreeSet::new(),
            lacking: lacking.map(|(at, _)| NodeId(at as u32)).collect(),
            pools: Vec::new(),
            known: HashMap::new(),
            barred: Vec::new(),
        })
    }

    /// Takes in a turn. Costs what it brought, and what was awake.
    fn follow(&mut self, plot: &Plot<'_>, rest: &Rest) {
        self.anew = false;
        let mut stay = HashSet::new();
        for uid in &rest.turn.slept {
            if let Some(id) = self.awake.remove(uid) {
                self.note_asleep(uid, id);
                stay.insert(id);
            }
        }
        self.awake.clear();
        while self.dispatcher.withdraw(0).is_some() {}
        for id in take(&mut self.left) {
            if !stay.contains(&id) {
                self.end(plot, id);
            }
        }
        for uid in &rest.turn.woken {
            if let Some(id) = self.asleep.remove(uid) {
                self.numbers.remove(&id);
                self.end(plot, id);
            }
        }
        for name in &rest.turn.nodes {
            if let Some(&at) = plot.places.ids.get(name) {
                self.doubtful.insert(at);
                plot.node(at).into_iter().for_each(|node| self.see(at, node));
            }
        }
    }

    /// A holder, by its number, has no node any more.
    fn end(&mut self, plot: &Plot<'_>, id: JobId) {
        let Some((_, placement)) = self.dispatcher.end(id) else { return };
        let nodes = placement.parts().iter().flat_map(|part| part.nodes(&plot.site.grid));
        self.doubtful.extend(nodes);
    }

    /// A node takes pods otherwise than before.
    fn see(&mut self, at: NodeId, node: &Node) {
        if node.offers(RESOURCE) {
            self.lacking.remove(&at);
        } else {
            self.lacking.insert(at);
        }
        for (demands, barred) in &mut self.barred {
            let allowed = demands.iter().all(|one| one.demands().allow(node));
            match (barred.binary_search(&at.0), allowed) {
                (Ok(place), true) => drop(barred.remove(place)),
                (Err(place), false) => barred.insert(place, at.0),
                _ => {}
            }
        }
    }

    /// The nodes that pods with these demands may not have, in order.
    pub(super) fn barred(&mut self, plot: &Plot<'_>, demands: &[Demands<'_>]) -> &Vec<u32> {
        let same = |(known, _): &(Vec<Kept>, _)| {
            known.len() == demands.len()
                && known.iter().zip(demands).all(|(one, own)| one.demands().are(own))
        };
        let at = self.barred.iter().position(same).unwrap_or_else(|| {
            let bars = |node: &Node| !demands.iter().all(|one| one.allow(node));
            let nodes = plot.places.nodes(plot.nodes).into_iter().enumerate();
            let barred = nodes.filter(|(_, node)| node.is_some_and(bars));
            let barred = barred.map(|(at, _)| at as u32).collect();
            self.barred.push((demands.iter().map(Demands::kept).collect(), barred));
            self.barred.len() - 1
        });
        &self.barred[at].1
    }

    /// Notes the number of a record that sleeps.
    pub(super) fn note_asleep(&mut self, record: &Uid, id: JobId) {
        self.asleep.insert(record.clone(), id);
        self.numbers.insert(id, record.clone());
    }

    /// Notes the number of a record that has all its nodes.
    pub(super) fn note_awake(&mut self, record: &Uid, id: JobId) {
        self.awake.insert(record.clone(), id);
    }

    /// Whether a record that is awake has all its nodes.
    pub(super) fn has_awake(&self, record: &Uid) -> bool {
        self.awake.contains_key(record)
    }

    /// The record that sleeps with a number.
    pub(super) fn asleep(&self, id: JobId) -> Option<&Uid> {
        self.numbers.get(&id)
    }

    /// The numbers of those that sleep, in no order.
    pub(super) fn all_asleep(&self) -> impl Iterator<Item = JobId> {
        self.numbers.keys().copied()
    }

    /// Notes who is taken off when the next turn begins.
    pub(super) fn leave(&mut self, awake: impl Iterator<Item = JobId>) {
        self.left.extend(awake);
    }

    /// The floor for the next turn; none if its answers may depend on what was there before, or if
    /// it has more pools than are kept.
    pub(super) fn kept(mut self, rest: &Rest) -> Option<Floor> {
        self.turn = rest.turn.number;
        if self.barred.len() > MOST {
            self.barred.clear();
        }
        let small = self.pools.len() <= MOST;
        (small && self.dispatcher.machine().is_determined()).then_some(self)
    }
}
