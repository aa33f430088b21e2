//! The updates that a replica has read.

use super::model::Model;
use crate::objects::{Job, Node, Placement, Pod, Uid};
use crate::world::World;

/// An object after a change, or `None` if the object was deleted.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "few are made, and each is kept")]
pub(super) enum Change {
    Job(Uid, Option<Job>),
    Pod(Uid, Option<Pod>),
    Node(String, Option<Node>),
    Placement(Uid, Option<Placement>),
}

impl Change {
    fn kind(&self) -> usize {
        match self {
            Change::Job(..) => 0,
            Change::Pod(..) => 1,
            Change::Node(..) => 2,
            Change::Placement(..) => 3,
        }
    }

    pub(super) fn apply(self, world: &mut World) {
        match self {
            Change::Job(uid, Some(job)) => drop(world.jobs.insert(uid, job)),
            Change::Job(uid, None) => drop(world.jobs.remove(&uid)),
            Change::Pod(uid, Some(pod)) => drop(world.pods.insert(uid, pod)),
            Change::Pod(uid, None) => drop(world.pods.remove(&uid)),
            Change::Node(name, Some(node)) => drop(world.nodes.insert(name, node)),
            Change::Node(name, None) => drop(world.nodes.remove(&name)),
            Change::Placement(uid, Some(one)) => drop(world.placements.insert(uid, one)),
            Change::Placement(uid, None) => drop(world.placements.remove(&uid)),
        }
    }
}

pub(super) const KINDS: usize = 4;

/// The world as seen by a replica.
#[derive(Default)]
pub(super) struct View {
    pub(super) world: World,
    /// The number of changes of each kind that have been read.
    read: [usize; KINDS],
}

impl View {
    /// Reads those of the next `most` changes that affect one kind of object.
    pub(super) fn advance(&mut self, model: &Model, kind: usize, most: usize) {
        let to = self.read[kind].saturating_add(most).min(model.changes());
        let (from, end) = (self.read[kind] - model.discarded, to - model.discarded);
        for change in &model.history[from..end] {
            if change.kind() == kind {
                change.clone().apply(&mut self.world);
            }
        }
        self.read[kind] = to;
        self.join(model);
    }

    /// Lists a kind again from scratch, skipping intermediate changes.
    pub(super) fn list(&mut self, model: &Model, kind: usize) {
        let (world, all) = (&mut self.world, &model.world);
        match kind {
            0 => world.jobs.clone_from(&all.jobs),
            1 => world.pods.clone_from(&all.pods),
            2 => world.nodes.clone_from(&all.nodes),
            _ => world.placements.clone_from(&all.placements),
        }
        self.read[kind] = model.changes();
        self.join(model);
    }

    /// Returns the number of the latest change up to which every kind has been read.
    pub(super) fn latest_read(&self) -> usize {
        self.read.iter().copied().min().unwrap_or(0)
    }

    /// Copies the Machines and Kueue objects, which are always up to date.
    fn join(&mut self, model: &Model) {
        self.world.machines = model.world.machines.clone();
        self.world.kueue = model.world.kueue.clone();
        self.world.join_quota();
    }

    pub(super) fn catch_up(&mut self, model: &Model) {
        for kind in 0..KINDS {
            self.advance(model, kind, usize::MAX);
        }
    }
}
