//! An in-memory cluster. Changes are numbered, and each replica has read the changes to each kind
//! of object up to some number. A replica's write to an existing placement or Workload fails if the
//! object has changed since then. A patch that opens a pod tests the uid and the gate; deleting a
//! pod requires only its uid.

use std::collections::{BTreeMap, HashMap, HashSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::view::Change;
use crate::objects::{
    BOX, CompactJson, Condition, GATE, GLOBAL_INDEX, Job, Machine, Node, Object, ObjectRef,
    Placement, PlacementSpec, PlacementStatus, Pod, SECONDS, SHAPE, Uid, Workload,
};
use crate::plan::{Absence, Action, CheckUpdate, Plan};
use crate::world::World;

pub(super) struct Model {
    pub(super) world: World,
    version: u64,
    next: u64,
    pub(super) history: Vec<Change>,
    /// The number of discarded changes that precede `history`.
    pub(super) discarded: usize,
    /// The nodes on which each Job's pods ended, by rank.
    pub(super) ended: HashMap<Uid, BTreeMap<usize, String>>,
    /// The delay, in seconds, before each Workload requests its released quota again.
    pub(super) retry_delays_s: HashMap<Uid, i64>,
}

pub(super) fn time(seconds: i64) -> Time {
    Time(Timestamp::from_second(seconds).unwrap())
}

/// Returns a condition that holds.
pub(super) fn condition(kind: &str) -> Condition {
    Condition { kind: kind.into(), status: "True".into(), ..Condition::default() }
}

impl Model {
    /// Creates a cluster whose machine has this grid and nodes named after their coordinates.
    pub(super) fn new(grid: &str, spec: &Value) -> Model {
        let mut spec = spec.clone();
        spec["grid"] = json!(grid);
        spec["nodes"] = json!({ "pattern": "n{x}-{y}" });
        let machine = json!({ "metadata": { "name": "m", "uid": "machine" }, "spec": spec });
        let machine: Machine = serde_json::from_value(machine).unwrap();
        let mut model = Model {
            world: World::default(),
            version: 1,
            next: 1,
            history: Vec::new(),
            discarded: 0,
            ended: HashMap::new(),
            retry_delays_s: HashMap::new(),
        };
        model.world.machines.insert("m".into(), machine);
        let grid: pavior::Grid = grid.parse().unwrap();
        for id in 0..grid.nodes() {
            let [x, y, _] = grid.point(pavior::NodeId(id));
            model.add_node(&format!("n{x}-{y}"));
        }
        model
    }

    pub(super) fn uid(&mut self) -> String {
        self.next += 1;
        format!("u{:06}", self.next)
    }

    /// Returns the creation time of the next object.
    pub(super) fn time(&self) -> Time {
        time(1000 + self.next as i64)
    }

    fn note(&mut self, change: Change) {
        change.clone().apply(&mut self.world);
        self.history.push(change);
    }

    pub(super) fn changes(&self) -> usize {
        self.discarded + self.history.len()
    }

    /// Discards changes that every view has read.
    pub(super) fn discard(&mut self, read: usize) {
        let many = read.saturating_sub(self.discarded);
        self.history.drain(..many);
        self.discarded += many;
    }

    fn stamp(&mut self, metadata: &mut ObjectMeta) {
        self.version += 1;
        metadata.resource_version = Some(self.version.to_string());
    }

    pub(super) fn put_job(&mut self, mut job: Job) {
        self.stamp(&mut job.metadata);
        self.note(Change::Job(job.uid(), Some(job)));
    }

    pub(super) fn put_pod(&mut self, mut pod: Pod) {
        self.stamp(&mut pod.metadata);
        self.note(Change::Pod(pod.uid(), Some(pod)));
    }

    pub(super) fn put_node(&mut self, mut node: Node) {
        self.stamp(&mut node.metadata);
        self.note(Change::Node(node.name().to_string(), Some(node)));
    }

    pub(super) fn add_node(&mut self, name: &str) {
        let uid = self.uid();
        let ready = json!({ "type": "Ready", "status": "True" });
        let node = json!({
            "metadata": { "name": name, "uid": uid },
            "status": { "conditions": [ready], "allocatable": { "pavior.dev/node": "1" } },
        });
        self.put_node(serde_json::from_value(node).unwrap());
    }

    pub(super) fn delete_node(&mut self, name: &str) {
        self.note(Change::Node(name.to_string(), None));
        let on: Vec<Uid> = self.pods(|pod| pod.node() == Some(name));
        for pod in on {
            self.note(Change::Pod(pod, None));
        }
    }

    /// Changes a node, if it exists.
    pub(super) fn change_node(&mut self, name: &str, change: impl FnOnce(&mut Node)) {
        let Some(mut node) = self.world.nodes.get(name).cloned() else { return };
        change(&mut node);
        self.put_node(node);
    }

    pub(super) fn cordon(&mut self, name: &str, cordoned: bool) {
        self.change_node(name, |node| node.spec.unschedulable = cordoned);
    }

    /// Creates a Job with a shape and returns its uid.
    pub(super) fn add_job(&mut self, name: &str, shape: &str, extra: &Value) -> Uid {
        self.add_job_in("default", name, shape, extra)
    }

    /// Creates a Job with a shape and the pods that it needs, and returns its uid.
    pub(super) fn add_waiting_job(&mut self, name: &str, shape: &str) -> Uid {
        let uid = self.add_job(name, shape, &json!({}));
        self.make_pods();
        uid
    }

    /// Creates a Job in a namespace.
    pub(super) fn add_job_in(
        &mut self,
        namespace: &str,
        name: &str,
        shape: &str,
        extra: &Value,
    ) -> Uid {
        let sides = shape.split('x').map(|side| side.parse::<u32>().unwrap_or(0));
        let nodes = sides.product::<u32>();
        let uid = self.uid();
        let created = self.time();
        let job = json!({
            "metadata": {
                "name": name, "namespace": namespace, "uid": uid, "annotations": { SHAPE: shape },
                "creationTimestamp": created,
            },
            "spec": {
                "parallelism": nodes, "completions": nodes, "completionMode": "Indexed",
                "template": { "spec": extra },
            },
        });
        self.put_job(serde_json::from_value(job).unwrap());
        Uid(uid)
    }

    /// Creates a Job with the given number in a set.
    pub(super) fn add_job_of(&mut self, set: &str, number: u32, shape: &str, pods: u32) -> Uid {
        let uid = self.add_job(&format!("{set}-{number}"), shape, &json!({}));
        self.change_job(&uid, |job| {
            (job.spec.completions, job.spec.parallelism) = (Some(pods), Some(pods));
            job.metadata.annotations.get_or_insert_default().insert(BOX.into(), "set".into());
            let labels = job.metadata.labels.get_or_insert_default();
            labels.insert(GLOBAL_INDEX.into(), number.to_string());
            job.metadata.owner_references = Some(vec![OwnerReference {
                controller: Some(true),
                kind: "JobSet".into(),
                uid: set.into(),
                ..OwnerReference::default()
            }]);
        });
        uid
    }

    /// Changes a Job, if it exists.
    pub(super) fn change_job(&mut self, uid: &Uid, change: impl FnOnce(&mut Job)) {
        let Some(mut job) = self.world.jobs.get(uid).cloned() else { return };
        change(&mut job);
        self.put_job(job);
    }

    /// Limits a Job's run time.
    pub(super) fn limit(&mut self, uid: &Uid, seconds: u64) {
        self.change_job(uid, |job| {
            let annotations = job.metadata.annotations.get_or_insert_default();
            annotations.insert(SECONDS.into(), seconds.to_string());
        });
    }

    pub(super) fn suspend(&mut self, uid: &Uid, suspended: bool) {
        self.change_job(uid, |job| job.spec.suspend = Some(suspended));
    }

    /// Resumes a Job as Kueue does, adding the selectors of the assigned flavors.
    pub(super) fn resume(&mut self, uid: &Uid, labels: &BTreeMap<String, String>) {
        self.change_job(uid, |job| {
            job.spec.suspend = Some(false);
            job.spec.template.spec.node_selector.extend(labels.clone());
        });
    }

    pub(super) fn put_workload(&mut self, mut one: Workload) {
        self.stamp(&mut one.metadata);
        self.world.kueue.workloads.insert(one.uid(), one);
    }

    pub(super) fn label(&mut self, nodes: &[&str], name: &str, value: &str) {
        for node in nodes {
            self.change_node(node, |node| {
                node.metadata.labels.get_or_insert_default().insert(name.into(), value.into());
            });
        }
    }

    /// Sets the gates of every pod to our gate and the given one.
    pub(super) fn gate_all(&mut self, gate: &str) {
        for uid in self.pods(|_| true) {
            let mut pod = self.world.pods[&uid].clone();
            let gates = json!([{ "name": GATE }, { "name": gate }]);
            pod.spec.scheduling_gates = serde_json::from_value(gates).unwrap();
            self.put_pod(pod);
        }
    }

    /// Deletes a Job and then its placement and pods, as a background deletion does.
    pub(super) fn delete_job(&mut self, uid: &Uid) {
        self.note(Change::Job(uid.clone(), None));
        let of = |one: &&Placement| one.spec.job_uid == *uid;
        let records: Vec<Uid> =
            self.world.placements.values().filter(of).map(Object::uid).collect();
        for record in records {
            self.note(Change::Placement(record, None));
        }
        for pod in self.pods(|pod| pod.owner().as_ref() == Some(uid)) {
            self.delete_pod(&pod);
        }
    }

    /// Deletes a pod. A running pod takes a while to terminate.
    pub(super) fn delete_pod(&mut self, uid: &Uid) {
        let Some(mut pod) = self.world.pods.get(uid).cloned() else { return };
        if pod.node().is_none() {
            return self.note(Change::Pod(uid.clone(), None));
        }
        pod.metadata.deletion_timestamp = Some(time(1));
        self.put_pod(pod);
    }

    /// Returns the uids of the pods that satisfy a predicate.
    pub(super) fn pods(&self, is: impl Fn(&Pod) -> bool) -> Vec<Uid> {
        let found = self.world.pods.values().filter(|pod| is(pod));
        let mut uids: Vec<Uid> = found.map(Object::uid).collect();
        uids.sort_unstable();
        uids
    }

    /// Creates missing pods with gates, as the Job controller does.
    pub(super) fn make_pods(&mut self) {
        let mut of: HashMap<Uid, Vec<Uid>> = HashMap::new();
        for (uid, pod) in &self.world.pods {
            if let Some(owner) = pod.owner() {
                of.entry(owner).or_default().push(uid.clone());
            }
        }
        let jobs: Vec<Uid> = self.world.jobs.keys().cloned().collect();
        for uid in jobs {
            let (job, of_job) = (&self.world.jobs[&uid], of.remove(&uid).unwrap_or_default());
            if job.is_suspended() || job.is_finished() {
                for pod in of_job {
                    self.delete_pod(&pod);
                }
                continue;
            }
            let here = of_job.iter().map(|pod| &self.world.pods[pod]);
            let here: HashSet<usize> =
                here.filter(|pod| !pod.is_terminating()).filter_map(Pod::rank).collect();
            let done = self.ended.get(&uid);
            let is_done = |rank: &usize| done.is_some_and(|done| done.contains_key(rank));
            let ranks = 0..job.spec.completions.unwrap_or(0) as usize;
            let lacking: Vec<usize> =
                ranks.filter(|rank| !is_done(rank) && !here.contains(rank)).collect();
            if !lacking.is_empty() {
                let job = job.clone();
                for rank in lacking {
                    self.make_pod_in(job.namespace(), &job, rank);
                }
            }
        }
    }

    /// Creates a pod that claims to belong to a Job.
    pub(super) fn add_pod_of(&mut self, job: &Uid, namespace: &str, rank: usize) {
        let job = self.world.jobs[job].clone();
        self.make_pod_in(namespace, &job, rank);
    }

    fn make_pod_in(&mut self, namespace: &str, job: &Job, rank: usize) {
        let uid = self.uid();
        let labels = json!({ "batch.kubernetes.io/job-completion-index": rank.to_string() });
        let pod = json!({
            "metadata": {
                "name": format!("{}-{rank}-{uid}", job.name()), "namespace": namespace, "uid": uid,
                "labels": labels,
            },
            "spec": {
                "schedulingGates": [{ "name": GATE }],
                "nodeSelector": job.spec.template.spec.node_selector,
            },
            "status": { "phase": "Pending" },
        });
        let mut pod: Pod = serde_json::from_value(pod).unwrap();
        pod.metadata.owner_references = Some(vec![OwnerReference {
            controller: Some(true),
            kind: "Job".into(),
            uid: job.uid().0,
            ..OwnerReference::default()
        }]);
        self.put_pod(pod);
    }

    /// Binds open pods to the free nodes that they name, as the scheduler does.
    pub(super) fn bind(&mut self) {
        let living = self.world.pods.values().filter(|pod| pod.is_active());
        let mut taken: HashSet<String> = living.filter_map(Pod::node).map(String::from).collect();
        for uid in self.pods(|pod| pod.spec.scheduling_gates.is_empty() && pod.node().is_none()) {
            let Some(name) = self.world.pods[&uid].target_node() else { continue };
            let ready = self.world.nodes.get(&name).is_some_and(Node::accepts_pods);
            if ready && taken.insert(name.clone()) {
                let mut pod = self.world.pods[&uid].clone();
                pod.spec.node_name = Some(name);
                self.put_pod(pod);
            }
        }
    }

    /// Removes terminating pods.
    pub(super) fn end_terminating(&mut self) {
        for uid in self.pods(Object::is_terminating) {
            self.note(Change::Pod(uid, None));
        }
    }

    /// Marks a running pod as succeeded.
    pub(super) fn succeed(&mut self, uid: &Uid) {
        let pod = self.world.pods[uid].clone();
        let (Some(owner), Some(rank), Some(node)) = (pod.owner(), pod.rank(), pod.node()) else {
            return;
        };
        self.note(Change::Pod(uid.clone(), None));
        let Some(mut job) = self.world.jobs.get(&owner).cloned() else { return };
        let ended = self.ended.entry(owner).or_default();
        ended.insert(rank, node.to_string());
        let done = ended.len() as u32;
        job.status.succeeded = Some(done);
        if Some(done) == job.spec.completions {
            job.status.conditions.push(condition("Complete"));
        }
        self.put_job(job);
    }

    /// Marks a Job's bound pods as succeeded.
    pub(super) fn end(&mut self, job: &Uid) {
        for pod in self.pods(|pod| pod.owner().as_ref() == Some(job) && pod.node().is_some()) {
            self.succeed(&pod);
        }
    }

    /// Creates a proposal, as a replica would if it had read nothing but the Job.
    pub(super) fn propose(&mut self, job: &Uid, nodes: &[&str]) {
        let placement = PlacementSpec {
            machine: "m".into(),
            job_uid: job.clone(),
            nodes: nodes.iter().map(ToString::to_string).collect(),
            ..PlacementSpec::default()
        };
        let job = ObjectRef::of(&self.world.jobs[job]);
        assert!(self.apply(&Action::Propose { job, placement }));
    }

    pub(super) fn apply_all(&mut self, made: &Plan) {
        for action in &made.actions {
            self.apply(action);
        }
    }

    /// Applies an action. Returns false if it is rejected.
    pub(super) fn apply(&mut self, action: &Action) -> bool {
        match action {
            Action::Propose { job, placement } => {
                let known = |one: &Placement| one.name() == job.uid.0;
                // The garbage collector deletes objects that belong to a deleted Job.
                if self.world.placements.values().any(known)
                    || !self.world.jobs.contains_key(&job.uid)
                {
                    return false;
                }
                let mut one = Placement { spec: placement.clone(), ..Placement::default() };
                one.metadata.name = Some(job.uid.0.clone());
                one.metadata.namespace = Some(job.namespace.clone());
                one.metadata.uid = Some(self.uid());
                one.metadata.creation_timestamp = Some(self.time());
                self.put_placement(one);
                true
            }
            Action::Confirm { placement } => {
                let Some(mut one) = self.seen(placement) else { return false };
                one.status = Some(PlacementStatus { confirmed: true });
                self.put_placement(one);
                true
            }
            Action::Withdraw { absent, .. } | Action::Remove { absent, .. }
                if absent.as_ref().is_some_and(|one| self.is_there(one)) =>
            {
                false
            }
            Action::Withdraw { placement, .. } => {
                let Some(one) = self.seen(placement) else { return false };
                self.note(Change::Placement(one.uid(), None));
                true
            }
            Action::Open { pod, patch } => self.open(pod, patch),
            Action::Remove { pod, .. } => {
                let is = self.world.pods.contains_key(&pod.uid);
                self.delete_pod(&pod.uid);
                is
            }
            Action::Offer { .. } => true,
            Action::Check(update) => self.update_check(update),
            Action::Activate { check } => {
                let one = self.world.kueue.checks.get_mut(&check.name).unwrap();
                one.status.conditions.push(condition("Active"));
                true
            }
        }
    }

    /// Writes the state of our check to a Workload.
    fn update_check(&mut self, update: &CheckUpdate) -> bool {
        let exists = |placement: &ObjectRef| self.world.placements.contains_key(&placement.uid);
        let workload = self.world.kueue.workloads.get(&update.workload.uid).cloned();
        let current = workload.filter(|workload| ObjectRef::of(workload) == update.workload);
        let Some(mut workload) = current.filter(|_| update.placement.iter().all(exists)) else {
            return false;
        };
        let check = &mut workload.status.admission_checks[update.index];
        check.state = update.answer.state;
        check.message.clone_from(&update.answer.message);
        let delay_s = update.answer.retry_delay_s;
        self.retry_delays_s.extend(delay_s.map(|delay_s| (workload.uid(), delay_s as i64)));
        self.put_workload(workload);
        true
    }

    fn is_there(&self, absent: &Absence) -> bool {
        match absent {
            Absence::Placements(names) => {
                let mut all = self.world.placements.values();
                all.any(|one| names.iter().any(|seen| seen.name == one.name()))
            }
            Absence::Job(job) => self.world.jobs.contains_key(&job.uid),
        }
    }

    pub(super) fn put_placement(&mut self, mut one: Placement) {
        self.stamp(&mut one.metadata);
        self.note(Change::Placement(one.uid(), Some(one)));
    }

    fn seen(&self, seen: &ObjectRef) -> Option<Placement> {
        let one = self.world.placements.get(&seen.uid)?;
        (ObjectRef::of(one) == *seen).then(|| one.clone())
    }

    /// Applies a patch to a pod, unless one of its tests fails.
    fn open(&mut self, seen: &ObjectRef, patch: &Value) -> bool {
        let Some(mut pod) = self.world.pods.get(&seen.uid).cloned() else { return false };
        for step in patch.as_array().unwrap() {
            let (value, gates) = (&step["value"], &mut pod.spec.scheduling_gates);
            let path = step["path"].as_str().unwrap().split('/').collect::<Vec<_>>();
            let index = |text: &str| text.parse::<usize>().unwrap();
            match (step["op"].as_str().unwrap(), &path[1..]) {
                ("test", ["metadata", "uid"]) if *value == seen.uid.0 => {}
                ("test", ["spec", "schedulingGates", gate, "name"]) => {
                    if gates.get(index(gate)).is_none_or(|gate| *value != gate.name) {
                        return false;
                    }
                }
                ("remove", ["spec", "schedulingGates", gate]) => drop(gates.remove(index(gate))),
                ("add", ["spec", "affinity"]) => pod.spec.affinity = Some(CompactJson::of(value)),
                _ => panic!("unknown step: {step}"),
            }
        }
        self.put_pod(pod);
        true
    }
}
