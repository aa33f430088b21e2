//! What happens to a cluster with Slices: cubes fail and come again, processes are killed, and
//! users and operators do what they like.

use serde_json::json;

use super::control::{add_cube, name, set_health, set_ready};
use super::storm::{BLOCKS, KEPT, Storm};
use crate::objects::{Known, Slice, Uid};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A cube fails: by its state, its node that is not ready, or its node that is gone.
    Failure,
    /// A cube is degraded.
    Degradation,
    /// A copy of ours is killed.
    Kill,
    /// The API server is away for a while.
    Outage,
    /// A user deletes a Job, and makes it again.
    Job,
    /// A user suspends a Job, and resumes it.
    Suspension,
    /// Somebody deletes a pod.
    Pod,
    /// Somebody deletes a Slice of ours.
    Slice,
    /// Somebody deletes a record.
    Record,
    /// Somebody makes a Slice of cubes that are in none.
    Foreign,
    /// Somebody deletes a Slice of ours, and takes a cube of it as soon as that is in none.
    Theft,
}

/// All of them, those of the issue first.
pub(super) const TROUBLES: [Trouble; 11] = [
    Trouble::Failure,
    Trouble::Degradation,
    Trouble::Kill,
    Trouble::Outage,
    Trouble::Job,
    Trouble::Suspension,
    Trouble::Pod,
    Trouble::Slice,
    Trouble::Record,
    Trouble::Foreign,
    Trouble::Theft,
];

/// A number for each of [`TROUBLES`].
pub(super) type Troubles = [usize; TROUBLES.len()];

/// How a cube is hurt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hurt {
    State,
    NotReady,
    Gone,
}

/// What happens in a later round.
pub(super) enum Later {
    /// A cube is whole again.
    Repair((usize, usize), Hurt),
    Resume(Uid),
    /// A Job that ended long ago is deleted.
    Expire(Uid),
    /// Somebody deletes a Slice of theirs.
    Free(Uid),
    /// Somebody takes a cube, if it is in no Slice, and tries it so often.
    Take(String, usize),
}

impl Storm {
    pub(super) fn trouble(&mut self, trouble: Trouble) {
        let word = match trouble {
            Trouble::Failure => {
                self.hurt(true);
                Some("cubes failed")
            }
            Trouble::Degradation => {
                self.hurt(false);
                Some("cubes degraded")
            }
            Trouble::Kill => {
                self.copies.kill(&mut self.draw);
                Some("kills of ours")
            }
            Trouble::Outage => {
                self.down = 3 + self.draw.below(12);
                Some("kills of the API server")
            }
            Trouble::Job => self.make_again().then_some("Jobs made again"),
            Trouble::Suspension => self.suspend().then_some("Jobs suspended"),
            Trouble::Pod => self.delete_a_pod().then_some("pods deleted"),
            Trouble::Slice => self.delete_a_slice().is_some().then_some("Slices deleted"),
            Trouble::Record => self.delete_a_record().then_some("records deleted"),
            Trouble::Foreign => self.take_any().then_some("Slices of others"),
            Trouble::Theft => self.delete_a_slice().map(|cube| {
                self.at(1, Later::Take(cube, 20));
                "cubes to be stolen"
            }),
        };
        self.count(word.unwrap_or("troubles that found nothing"));
    }

    /// Something happens so many rounds later.
    fn at(&mut self, rounds: usize, later: Later) {
        self.later.entry(self.now + rounds as i64).or_default().push(later);
    }

    pub(super) fn do_later(&mut self, later: Later) {
        match later {
            Later::Repair(cube, hurt) => {
                let (block, number) = cube;
                match hurt {
                    Hurt::State => set_health(&mut self.model, &name(block, number), "HEALTHY"),
                    Hurt::NotReady => set_ready(&mut self.model, &name(block, number), true),
                    Hurt::Gone => add_cube(&mut self.model, block, number),
                }
                self.hurt.remove(&cube);
                self.judge.broken.remove(&name(block, number));
            }
            Later::Resume(job) => self.model.suspend(&job, false),
            Later::Expire(job) => self.expire(job),
            Later::Free(slice) => drop(self.model.dissolve(&slice)),
            Later::Take(cube, tries) => {
                if self.is_in_none(&cube) {
                    self.take(&cube);
                    self.count("cubes stolen");
                } else if tries > 0 {
                    self.at(1, Later::Take(cube, tries - 1));
                }
            }
        }
    }

    /// A Job is deleted, when all of its set have ended.
    fn expire(&mut self, uid: Uid) {
        let jobs = &self.model.world.jobs;
        let set = jobs.get(&uid).and_then(Known::owner);
        if jobs.values().any(|job| set.is_some() && job.owner() == set && !job.is_over()) {
            return self.at(KEPT as usize, Later::Expire(uid));
        }
        self.model.delete_job(&uid);
    }

    /// A cube fails, or is degraded; half of them are in a Slice.
    fn hurt(&mut self, fails: bool) {
        let drawn = self.draw.below(BLOCKS.len());
        let mut cube = (drawn, self.draw.below(BLOCKS[drawn]));
        let slices = self.model.world.slices.iter().flatten();
        let used: Vec<&String> = slices.flat_map(|(_, one)| &one.spec.partition_ids).collect();
        if !used.is_empty() && self.draw.below(2) == 0 {
            let id = used[self.draw.below(used.len())];
            cube = (id[1..2].parse().unwrap(), id[4..].parse().unwrap());
        }
        while !self.hurt.insert(cube) {
            cube = (cube.0, (cube.1 + 1) % BLOCKS[cube.0]);
        }
        let id = name(cube.0, cube.1);
        let hurt = match self.draw.below(4) {
            0 if fails => Hurt::Gone,
            1 if fails => Hurt::NotReady,
            _ => Hurt::State,
        };
        match hurt {
            Hurt::Gone => self.model.delete_node(&id),
            Hurt::NotReady => set_ready(&mut self.model, &id, false),
            Hurt::State => {
                let state = if fails { "UNHEALTHY" } else { "DEGRADED" };
                set_health(&mut self.model, &id, state);
            }
        }
        if fails {
            self.judge.broken.insert(id, self.round);
        }
        let rounds = 5 + self.draw.below(60);
        self.at(rounds, Later::Repair(cube, hurt));
    }

    /// One of the Jobs that have not ended.
    fn any_job(&mut self) -> Option<Uid> {
        self.open.iter().nth(self.draw.below(self.open.len())).cloned()
    }

    fn make_again(&mut self) -> bool {
        let Some(uid) = self.any_job() else { return false };
        let old = self.model.world.jobs[&uid].clone();
        let plain = old.owner().is_none() && old.spec.template.spec.node_selector.is_empty();
        let Some(shape) = old.shape().filter(|shape| plain && *shape != "4x4x6") else {
            return false;
        };
        self.model.delete_job(&uid);
        self.open.remove(&uid);
        let job = self.model.add_job_in(old.namespace(), old.name(), shape, &json!({}));
        self.enter(job, true);
        true
    }

    fn suspend(&mut self) -> bool {
        let Some(uid) = self.any_job() else { return false };
        self.model.suspend(&uid, true);
        let rounds = 5 + self.draw.below(20);
        self.at(rounds, Later::Resume(uid));
        true
    }

    fn delete_a_pod(&mut self) -> bool {
        let open = self.model.pods(|pod| pod.gate().is_none() && !pod.is_going());
        let Some(pod) = open.get(self.draw.below(open.len())) else { return false };
        self.model.delete_pod(pod);
        true
    }

    /// Deletes a Slice of ours; a cube of it.
    fn delete_a_slice(&mut self) -> Option<String> {
        let slices = self.model.world.slices.iter().flatten().map(|(_, one)| one);
        let ours: Vec<&Slice> =
            slices.filter(|one| one.record("m").is_some() && !one.is_going()).collect();
        let slice = ours.get(self.draw.below(ours.len()))?;
        let (uid, cube) = (slice.uid(), slice.spec.partition_ids[0].clone());
        self.model.dissolve(&uid);
        Some(cube)
    }

    fn delete_a_record(&mut self) -> bool {
        let records = &self.model.world.placements;
        let Some(uid) = records.keys().nth(self.draw.below(records.len())).cloned() else {
            return false;
        };
        self.model.delete_record(&uid);
        true
    }

    fn is_in_none(&self, cube: &str) -> bool {
        let mut slices = self.model.world.slices.iter().flatten();
        !slices.any(|(_, slice)| slice.spec.partition_ids.iter().any(|id| id == cube))
    }

    /// Somebody takes any cube that is in no Slice, though a record may have it.
    fn take_any(&mut self) -> bool {
        let cubes = self.model.world.nodes.keys();
        let free: Vec<String> = cubes.filter(|cube| self.is_in_none(cube)).cloned().collect();
        let Some(cube) = free.get(self.draw.below(free.len())) else { return false };
        self.take(cube);
        true
    }

    /// Somebody makes a Slice of a cube, for a while.
    fn take(&mut self, cube: &str) {
        let uid = self.model.uid();
        let slice = json!({
            "metadata": {
                "name": format!("theirs-{uid}"), "uid": uid,
                "creationTimestamp": self.model.time(),
            },
            "spec": { "type": "tpu7x", "topology": "4x4x4", "partitionIds": [cube] },
        });
        self.model.put_slice(serde_json::from_value(slice).unwrap());
        let rounds = 10 + self.draw.below(40);
        self.at(rounds, Later::Free(Uid(uid)));
    }
}
