//! Thousands of requests, and all that can happen to a cluster with Slices, at once.
//!
//! While the API server is away nothing is written, and afterwards every watch begins anew with a
//! list. A round is a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::json;

use super::super::copies::Copies;
use super::super::model::Model;
use super::super::races::Draw;
use super::control::{Control, cubes};
use super::judge::Judge;
use super::trouble::{Later, TROUBLES, Troubles};
use crate::objects::{FAILED, Known as _, OF_SLICE, Phase, Placement, Slice, Uid};
use crate::plan::Act;

/// The cubes of each block.
pub(super) const BLOCKS: [usize; 4] = [36; 4];
/// The Slices of a Job that may fail in a row.
const ATTEMPTS: u32 = 3;
/// Rounds that a Job is kept after its end, as its `ttlSecondsAfterFinished` says. Each plan and
/// each look of the model goes over all Jobs: if all were kept, the storm took more than 37 s, not
/// 6.4 s.
pub(super) const KEPT: i64 = 20;
/// Requests that wait before no more come: with all at once it took more than 27 s.
const WAITING: usize = 40;
/// Rounds after the last request within which everything ends.
const PATIENCE: i64 = 2000;

/// A fault that is planted, so that the judge is seen to find it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plant {
    /// A copy forgets the cubes of a Slice, and makes Slices without reading once more.
    Forgets,
    /// No copy proposes anything for one of the requests.
    Loses,
}

/// How much of everything there is.
#[derive(Clone, Copy)]
struct Size {
    requests: usize,
    /// How often each trouble comes, as in [`TROUBLES`].
    troubles: Troubles,
}

/// The numbers of a whole storm.
const WHOLE: Size =
    Size { requests: 2000, troubles: [300, 150, 50, 10, 60, 60, 60, 40, 40, 40, 40] };

/// A small one.
const SMALL: Size = Size { requests: 60, troubles: [10, 5, 3, 1, 2, 2, 2, 2, 2, 2, 2] };

/// What somebody asks for.
#[derive(Clone, Copy)]
struct Request {
    made: i64,
    ended: Option<i64>,
    /// Whether there can be a Slice for it.
    sound: bool,
    /// Whether it was told that there never is one.
    told: bool,
}

/// A cluster in a storm.
pub(super) struct Storm {
    pub(super) model: Model,
    control: Control,
    pub(super) judge: Judge,
    pub(super) draw: Draw,
    pub(super) copies: Copies,
    size: Size,
    plant: Option<Plant>,
    pub(super) now: i64,
    /// Rounds in which the API server was there, and for how many more it is away.
    pub(super) round: usize,
    pub(super) down: usize,
    requests: BTreeMap<Uid, Request>,
    /// The requests that have not ended.
    pub(super) open: BTreeSet<Uid>,
    /// Requests made, those that were made again not counted.
    arrived: usize,
    /// How often each trouble was due so far.
    done: Troubles,
    /// What happens in which round.
    pub(super) later: BTreeMap<i64, Vec<Later>>,
    pub(super) hurt: BTreeSet<(usize, usize)>,
    /// For how many more rounds each Job works.
    work: BTreeMap<Uid, usize>,
    pub(super) counts: BTreeMap<&'static str, usize>,
}

impl Storm {
    fn new(seed: u64, size: Size, plant: Option<Plant>) -> Storm {
        let spec = json!({ "spares": 2, "attempts": ATTEMPTS, "patienceSeconds": 34 });
        let mut draw = Draw(seed);
        for _ in 0..8 {
            draw.below(2);
        }
        Storm {
            model: cubes(&BLOCKS, &spec),
            control: Control { failing: 6, stuck: 2, slow: 5, ..Control::default() },
            judge: Judge::default(),
            draw,
            copies: Copies::three(),
            size,
            plant,
            now: 100_000,
            round: 0,
            down: 0,
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            arrived: 0,
            done: [0; TROUBLES.len()],
            later: BTreeMap::new(),
            hurt: BTreeSet::new(),
            work: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Everything, until every request has ended and nothing is left.
    fn run(&mut self) {
        let mut last = self.now;
        while self.arrived < self.size.requests || !self.open.is_empty() || !self.later.is_empty() {
            self.round();
            if self.arrived < self.size.requests {
                last = self.now;
            }
            if self.now > last + PATIENCE || !self.judge.faults.is_empty() {
                break;
            }
        }
        if self.judge.faults.is_empty() {
            for uid in std::mem::take(&mut self.open) {
                let fault = self.why_open(&uid);
                self.judge.says(fault);
            }
        }
        if self.judge.faults.is_empty() {
            (0..100).for_each(|_| self.round());
            self.judge.nothing_is_left(&self.model);
        }
    }

    /// What is known of a request that has not ended.
    fn why_open(&self, uid: &Uid) -> String {
        let (request, job) = (&self.requests[uid], self.model.world.jobs.get(uid));
        let mut why = format!("{uid:?} of {} has not ended at {}: ", request.made, self.now);
        let note = job.and_then(|job| job.annotation(FAILED));
        let shape = job.and_then(|job| job.shape());
        let _ = write!(why, "{shape:?}, failed {note:?}; ");
        let of = |one: &&Placement| one.spec.jobs().contains(uid);
        for record in self.model.world.placements.values().filter(of) {
            let confirmed = record.status.confirmed;
            let _ = write!(why, "{:?} of {:?}, {confirmed}; ", record.uid(), record.spec.nodes);
        }
        for pod in self.model.world.pods.values().filter(|pod| pod.owner().as_ref() == Some(uid)) {
            let (gated, on) = (pod.gate().is_some(), pod.node());
            let selected = pod.spec.node_selector.get(OF_SLICE);
            let _ = write!(why, "{gated} {on:?} {selected:?} {}; ", pod.is_going());
        }
        why
    }

    fn round(&mut self) {
        self.now += 1;
        if self.down > 0 {
            self.down -= 1;
            if self.down == 0 {
                self.copies.lose_watches(&mut self.draw);
            }
        } else {
            self.round += 1;
            self.control.step(&mut self.model, &mut self.draw);
            self.happen();
            self.model.make_pods();
            self.model.bind();
            self.judge.pods(&self.model);
            self.go_on();
            if self.draw.below(3) == 0 {
                self.model.end_going();
            }
            self.close();
        }
        self.act();
        self.model.forget(self.copies.read());
    }

    /// Requests come, and troubles, and what is due.
    fn happen(&mut self) {
        while let Some(due) = self.later.first_entry().filter(|one| *one.key() <= self.now) {
            for later in due.remove() {
                self.do_later(later);
            }
        }
        let placed = self.model.world.placements.len();
        if self.open.len() < WAITING + placed {
            for _ in 0..self.draw.below(5) {
                if self.arrived < self.size.requests {
                    self.arrived += 1;
                    self.ask();
                }
            }
        }
        for (at, &trouble) in TROUBLES.iter().enumerate() {
            while self.done[at] < self.size.troubles[at] * self.arrived / self.size.requests {
                self.done[at] += 1;
                self.trouble(trouble);
            }
        }
    }

    /// Somebody asks for a Slice, or for a set's.
    fn ask(&mut self) {
        const SHAPES: [&str; 20] = [
            "4x4x4", "4x4x4", "4x4x4", "4x4x4", "4x4x4", "4x4x8", "8x4x4", "4x4x8", "4x4x8",
            "4x4x12", "4x8x8", "8x4x8", "4x8x8", "4x8x8", "8x8x8", "8x8x8", "8x8x8", "8x8x16",
            "12x4x4", "4x4x8",
        ];
        let name = format!("r{}", self.arrived);
        let kind = self.draw.below(100);
        if kind < 3 {
            let (set, first) = (format!("s{}", self.arrived), 1 + self.draw.below(3) as u32);
            for (number, pods) in [(1, 4 - first), (0, first)] {
                let job = self.model.add_job_of(&set, number, "4x8x8", pods);
                self.enter(job, true);
            }
            return;
        }
        let (shape, extra) = match kind {
            3 => ("4x4x6", json!({})),
            4 => ("4x4x4", json!({ "nodeSelector": { OF_SLICE: "theirs" } })),
            5 => ("12x12x12", json!({})),
            6 => ("8x16x16", json!({})),
            _ => (SHAPES[self.draw.below(SHAPES.len())], json!({})),
        };
        let namespace = ["default", "a", "b"][self.draw.below(3)];
        let job = self.model.add_job_in(namespace, &name, shape, &extra);
        self.enter(job, !matches!(kind, 3 | 4));
    }

    /// A request is to be brought to its end.
    pub(super) fn enter(&mut self, job: Uid, sound: bool) {
        let request = Request { made: self.now, ended: None, sound, told: false };
        self.requests.insert(job.clone(), request);
        self.open.insert(job);
    }

    /// Jobs whose pods all run work, and end.
    fn go_on(&mut self) {
        let mut running: BTreeMap<Uid, Vec<Uid>> = BTreeMap::new();
        for (uid, pod) in &self.model.world.pods {
            let node = pod.node().and_then(|name| self.model.world.nodes.get(name));
            let selected = pod.spec.node_selector.get(OF_SLICE).map(String::as_str);
            let is_in =
                node.is_some_and(|node| node.is_ready() && node.label(OF_SLICE) == selected);
            if let Some(owner) = pod.owner().filter(|_| is_in && !pod.is_going()) {
                running.entry(owner).or_default().push(uid.clone());
            }
        }
        for (job, pods) in running {
            let left = self.model.world.jobs.get(&job).map(|job| job.left() as usize);
            if left != Some(pods.len()) {
                continue;
            }
            let work = self.work.entry(job).or_insert_with(|| 2 + self.draw.below(12));
            if *work > 0 {
                *work -= 1;
                continue;
            }
            for pod in pods {
                if self.draw.below(4) > 0 {
                    self.model.succeed(&pod);
                }
            }
        }
    }

    /// What becomes of requests: they end, or their users look after them.
    fn close(&mut self) {
        for uid in self.open.clone() {
            let Request { sound, told, .. } = self.requests[&uid];
            let Some(job) = self.model.world.jobs.get(&uid) else {
                self.judge.says(format!("{uid:?} is gone"));
                continue;
            };
            let row = job.annotation(FAILED).and_then(|text| text.split(' ').next());
            let row: u32 = row.and_then(|row| row.parse().ok()).unwrap_or(0);
            let ends = if sound { job.is_over() } else { told };
            if ends {
                self.open.remove(&uid);
                self.count(if sound { "complete" } else { "refused" });
                self.requests.get_mut(&uid).unwrap().ended = Some(self.now);
                self.later.entry(self.now + KEPT).or_default().push(Later::Expire(uid));
            } else if row >= ATTEMPTS && self.draw.below(10) == 0 {
                self.count("tried again by users");
                self.model.forgive(&uid);
            }
        }
    }

    /// Copies see what they see, decide, and write.
    fn act(&mut self) {
        if self.down == 0 {
            self.copies.look(&self.model, &mut self.draw);
        }
        if self.plant == Some(Plant::Forgets) {
            self.forget_a_slice();
        }
        for job in self.copies.think(self.now, &mut self.draw) {
            if let Some(request) = self.requests.get_mut(&job) {
                request.told = true;
            }
        }
        for (at, act) in self.copies.write(&mut self.draw) {
            self.carry(at, &act);
        }
    }

    /// The first copy knows nothing of a Slice any more, nor of its record.
    fn forget_a_slice(&mut self) {
        let world = &mut self.copies.all[0].view.world;
        let Some(slices) = &mut world.slices else { return };
        let Some(uid) = slices.keys().nth(self.draw.below(slices.len())).cloned() else { return };
        if let Some((.., record)) = slices.remove(&uid).as_ref().and_then(|one| one.record("m")) {
            world.placements.remove(&record);
        }
    }

    fn carry(&mut self, at: usize, act: &Act) {
        if self.down > 0 {
            return self.count("not answered");
        }
        let lost = self.plant == Some(Plant::Loses);
        let harm = self.harm(act);
        let written = match act {
            Act::Propose { job, .. } if lost && job.name == "r20" => false,
            Act::Form { record, slice } if at == 0 && self.plant == Some(Plant::Forgets) => {
                self.model.form(record, slice)
            }
            act => self.model.carry(act),
        };
        self.count(if written { act.word() } else { "changed meanwhile" });
        if let Some(harm) = harm.filter(|_| written) {
            self.judge.says(harm);
        }
        match act {
            Act::Form { record, slice } if written => {
                self.judge.formed(&self.model, record, slice, self.round);
            }
            Act::Confirm { .. } if written => self.judge.cubes(&self.model),
            _ => {}
        }
    }

    /// What is wrong with a change that a copy makes because it has not read all yet: it ends a Job
    /// whose Slice is usable.
    fn harm(&self, act: &Act) -> Option<String> {
        let world = &self.model.world;
        let usable = |name: &str| {
            let mut slices = world.slices.iter().flatten();
            slices.any(|(_, one)| one.name() == name && one.phase() == Phase::Usable)
        };
        match act {
            Act::Withdraw { placement, why, .. } if why.starts_with("cube") => {
                let name = Slice::name_for(world.placements.get(&placement.uid)?);
                usable(&name).then(|| format!("the usable {name} is given up: {why}"))
            }
            Act::Remove { pod, .. } => {
                let pod = world.pods.get(&pod.uid)?;
                let (owner, selected) = (pod.owner()?, pod.spec.node_selector.get(OF_SLICE)?);
                let mut records = world.placements.values();
                let record = records.find(|one| one.spec.jobs().contains(&owner))?;
                let well = Slice::name_for(record) == *selected && usable(selected);
                well.then(|| format!("a pod of the usable {selected} is deleted"))
            }
            _ => None,
        }
    }

    /// The most rounds that a request took.
    fn longest(&self) -> i64 {
        let took = self.requests.values().filter_map(|one| Some(one.ended? - one.made));
        took.max().unwrap_or(0)
    }
}

#[test]
fn no_request_is_lost_in_a_storm_and_no_cube_is_in_two_slices() {
    for seed in 1..=pavior_trials::size(1, 5) as u64 {
        let mut storm = Storm::new(seed, WHOLE, None);
        storm.run();
        let (rounds, longest) = (storm.now - 100_000, storm.longest());
        println!(
            "seed {seed}: {rounds} rounds, the longest {longest}; {} plans, {:?}",
            storm.copies.plans, storm.counts
        );
        println!("  states: {:?}", storm.control.counts);
        assert!(storm.judge.faults.is_empty(), "seed {seed}: {:#?}", storm.judge.faults);
        for state in [
            "ACTIVATING",
            "ACTIVE",
            "ACTIVE_DEGRADED",
            "FAILED",
            "SliceCreationFailed",
            "DEACTIVATING",
            "INCOMPLETE",
        ] {
            assert!(storm.control.counts.contains_key(state), "seed {seed}: no {state}");
        }
        assert_eq!(storm.control.counts.get("cubes in use"), None, "seed {seed}");
    }
}

/// The faults that the judge finds in a small storm.
fn found(seed: u64, plant: Option<Plant>) -> Vec<String> {
    let mut storm = Storm::new(seed, SMALL, plant);
    storm.run();
    storm.judge.faults
}

#[test]
fn the_judge_finds_a_planner_that_forgets_the_cubes_of_a_slice() {
    for seed in 1..=5 {
        let faults = found(seed, Some(Plant::Forgets));
        assert!(!faults.is_empty(), "seed {seed}");
        let twice = |fault: &String| fault.contains("confirmed for") || fault.contains("Slices");
        assert!(faults.iter().any(twice), "seed {seed}: {faults:?}");
        assert_eq!(found(seed, None), Vec::<String>::new(), "seed {seed}: without it");
    }
}

#[test]
fn the_judge_finds_a_request_that_is_lost() {
    let faults = found(1, Some(Plant::Loses));
    assert!(faults.len() == 1 && faults[0].contains("has not ended"), "{faults:?}");
}

#[test]
fn a_storm_is_the_same_twice() {
    let counts = [1, 1].map(|seed| {
        let mut storm = Storm::new(seed, SMALL, None);
        storm.run();
        (storm.now, storm.counts, storm.control.counts)
    });
    assert_eq!(counts[0], counts[1]);
}
