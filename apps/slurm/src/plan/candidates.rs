//! A job's candidates, which are the nodes that satisfy its demands and are not blocked by a
//! reservation. They form a pool, and the scheduler places the job only within that pool. Jobs with
//! the same demands share a pool. Building a pool takes O(N (r + log x)) time for N nodes, r
//! reservations and x excluded nodes. In the worst case, every job has different demands.

use std::collections::{HashMap, HashSet};

use pavior::{NodeId, Occupancy, Pool};
use pavior_cluster::Planner;

use crate::ledger::demands::Demands;
use crate::ledger::reservations::Reservation;
use crate::ledger::{Condition, SlurmJob};
use crate::names::NodeName;
use crate::plan::world::World;

/// The properties that determine a job's candidates. Jobs with equal keys share a pool.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    demands: &'a Demands,
    /// The rules that reservations impose, or `None` if reservations are ignored.
    rules: Option<ReservationRules<'a>>,
}

/// The effect of reservations on a job.
#[derive(PartialEq, Eq, Hash)]
struct ReservationRules<'a> {
    /// The reservation that the job uses, or an empty string.
    reservation: &'a str,
    /// True for each reservation that overlaps the job in time.
    overlapping: Vec<bool>,
}

/// The candidates for each job in a cycle.
pub(crate) struct Candidates<'a> {
    world: World<'a>,
    /// The reservations, each with the machine's nodes that it covers.
    reserved: Vec<(&'a Reservation, HashSet<NodeId>)>,
    pools: HashMap<Key<'a>, Option<Pool>>,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(world: World<'a>) -> Candidates<'a> {
        let World { config, ledger, .. } = world;
        let id = |name: &NodeName| config.nodes.get(name).copied();
        let reserved = ledger.reservations.iter().map(|reservation| {
            (reservation, reservation.nodes.iter().filter_map(id).collect::<HashSet<_>>())
        });
        Candidates { world, reserved: reserved.collect(), pools: HashMap::new() }
    }

    /// Returns the pool of a job's candidates, or `None` if every node is a candidate.
    ///
    /// # Errors
    /// Returns an error if the job's demands cannot be parsed or its reservation is unknown. The
    /// message contains no text from the job.
    pub(crate) fn pool_of(
        &mut self,
        job: &'a SlurmJob,
        planner: &mut Planner,
    ) -> Result<Option<Pool>, &'static str> {
        let demands = job.demands.as_ref().map_err(|fault| *fault)?;
        let reservation = match job.reservation.as_str() {
            "" => "",
            requested => self.reservation(requested).ok_or("its reservation does not exist")?,
        };
        let end = job.limit.map(|limit| self.world.now.saturating_add(limit));
        let reserved = self.reserved.iter();
        let overlapping = reserved.map(|(other, _)| other.overlaps(self.world.now, end)).collect();
        let rules = ReservationRules { reservation, overlapping };
        Ok(self.pool(Key { demands, rules: Some(rules) }, planner))
    }

    /// Returns the first of the requested reservations to start, preferably one that has not ended.
    fn reservation(&self, requested: &str) -> Option<&'a str> {
        let reservations = self.world.ledger.reservations.iter();
        let known = reservations.filter(|other| requested.split(',').any(|one| one == other.name));
        let first = known.min_by_key(|other| (other.end <= self.world.now, other.start));
        first.map(|reservation| reservation.name.as_str())
    }

    /// Returns the pool of all nodes that satisfy a job's demands, including reserved nodes.
    pub(crate) fn pool_ignoring_reservations(
        &mut self,
        job: &'a SlurmJob,
        planner: &mut Planner,
    ) -> Option<Pool> {
        let demands = job.demands.as_ref().ok()?;
        self.pool(Key { demands, rules: None }, planner)
    }

    fn pool(&mut self, key: Key<'a>, planner: &mut Planner) -> Option<Pool> {
        if let Some(pool) = self.pools.get(&key) {
            return *pool;
        }
        let pool = planner.pool(self.nodes(&key));
        self.pools.insert(key, pool);
        pool
    }

    fn nodes(&self, key: &Key<'_>) -> Occupancy {
        let mut nodes = Occupancy::all_busy(self.world.config.grid);
        for node in &self.world.ledger.nodes {
            let Some(&id) = self.world.config.nodes.get(&node.name) else { continue };
            if self.is_unreserved(id, node.condition, key)
                && key.demands.satisfied_by(&node.name, &node.offer)
            {
                let single = pavior::Cuboid::node(self.world.config.grid.point(id));
                nodes.give(&single).expect("Slurm lists each node once");
            }
        }
        nodes
    }

    /// Returns true if no reservation prevents the job from using a node.
    fn is_unreserved(&self, node: NodeId, condition: Condition, key: &Key<'_>) -> bool {
        let Some(ReservationRules { reservation, overlapping }) = &key.rules else { return true };
        let (mut is_inside, mut must_stay_inside) = (false, false);
        for ((other, nodes), is_overlapping) in self.reserved.iter().zip(overlapping) {
            let is_reserved = nodes.contains(&node);
            if other.name == *reservation {
                (is_inside, must_stay_inside) = (is_reserved, !other.allows_other_nodes);
            } else if is_reserved && *is_overlapping {
                return false;
            }
        }
        // Outside its own reservation, a job cannot use nodes that Slurm reports as reserved. This
        // check does not rely on the list of reservations, which may be malformed.
        is_inside || (!must_stay_inside && condition != Condition::Reserved)
    }
}
