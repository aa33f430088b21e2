//! Applies each machine's plan after every change.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

use crate::client::{KubeError, log};
use crate::objects::{MachineStatus, ObjectRef, Uid};
use crate::page::Page;
use crate::plan::{Action, Detail, Memory, Plan, Waiting, plan, unassigned};
use crate::read::ClusterWatch;
use crate::world::Index;
use crate::write::{WriteError, Writer};

/// The delay before the next plan if this one depends on the time or a write must be retried.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// The time before an action on an unchanged object is repeated.
const REPEAT_DELAY: Duration = Duration::from_secs(10);
/// The time limit for starting a plan's writes, in case the API server does not respond.
const WRITE_TIME: Duration = Duration::from_secs(10);
const MAX_CONCURRENT_WRITES: usize = 32;
/// The minimum time between two events on the same Job.
const EVENT_INTERVAL: Duration = Duration::from_secs(30);
/// The maximum number of events per reconciliation.
const MAX_EVENTS: usize = 16;

/// State kept between reconciliations. Losing it is harmless.
pub(super) struct Reconciler {
    /// `None` for an observer.
    writer: Option<Writer>,
    memory: HashMap<String, Memory>,
    /// The times of recent actions, by kind and object.
    recent: HashMap<(&'static str, ObjectRef), Instant>,
    /// The time and reason of each Job's latest event.
    events: HashMap<Uid, (Instant, String)>,
    /// Each machine's latest status, as read or written.
    statuses: HashMap<String, MachineStatus>,
    /// The delay before the next plan, even without updates.
    retry: Option<Duration>,
    is_leader: bool,
    /// True while placements cannot be read.
    is_outage: bool,
    pub(super) page: Page,
}

impl Reconciler {
    pub(super) fn new(writer: Option<Writer>, page: Page) -> Reconciler {
        Reconciler {
            writer,
            memory: HashMap::new(),
            recent: HashMap::new(),
            events: HashMap::new(),
            statuses: HashMap::new(),
            retry: None,
            is_leader: false,
            is_outage: false,
            page,
        }
    }

    /// Records whether this replica is active, and logs changes.
    pub(super) fn set_leader(&mut self, is_leader: bool) {
        if is_leader != self.is_leader {
            let replica = if is_leader { "this" } else { "another" };
            log("info", &format!("{replica} replica is active"), json!({}));
        }
        self.is_leader = is_leader;
        self.page.metrics.active.set(is_leader.into());
    }

    /// Returns the maximum time to wait for updates.
    pub(super) fn pause(&self) -> Duration {
        self.retry.unwrap_or(Duration::from_hours(24))
    }

    /// Schedules another plan after a delay, even without updates.
    fn retry_after(&mut self, time: Duration) {
        self.retry = Some(self.retry.map_or(time, |earlier| earlier.min(time)));
    }

    /// Plans for all machines. Only the active replica writes.
    pub(super) async fn reconcile(&mut self, cluster: &ClusterWatch) -> Result<(), KubeError> {
        let began = Instant::now();
        self.memory.retain(|machine, _| cluster.world.machines.contains_key(machine));
        self.statuses.retain(|machine, _| cluster.world.machines.contains_key(machine));
        self.page.health.note_reconciliation(true);
        self.retry = None;
        self.is_outage = cluster.faults().contains_key("placements");
        self.recent.retain(|_, at| at.elapsed() < REPEAT_DELAY);
        let (index, now) = (Index::of(&cluster.world), cluster.now());
        let mut faults = BTreeMap::new();
        let is_only = cluster.world.machines.len() == 1;
        for (name, machine) in &cluster.world.machines {
            let memory = self.memory.entry(name.clone()).or_default();
            let detail = if self.writer.is_some() { Detail::DAEMON } else { Detail::OBSERVER };
            let detail = self.page.raise_detail(name, detail);
            let made = plan(&index, name, memory, now, detail);
            if memory.depends_on_time() {
                self.retry = Some(RETRY_DELAY);
            }
            let reference = ObjectRef::of(machine);
            self.statuses
                .entry(name.clone())
                .or_insert_with(|| machine.status.clone().unwrap_or_default());
            match made {
                Ok(mut made) => {
                    self.page.show(name, &mut made, now)?;
                    if self.is_leader {
                        self.apply(&reference, made, now).await;
                    }
                }
                Err(fault) if is_only && self.writer.is_none() => {
                    return Err(KubeError::Machine(format!("Machine {name}: {fault}")));
                }
                Err(fault) => {
                    if self.page.health.faults().machines.get(name) != Some(&fault) {
                        let more = json!({ "machine": name, "fault": fault });
                        log("warn", "cannot use the Machine", more);
                    }
                    faults.insert(name.clone(), fault.clone());
                    let fault = Some(fault);
                    if self.is_leader {
                        let status = MachineStatus { fault, ..MachineStatus::default() };
                        self.write_status(&reference, status).await;
                    }
                }
            }
        }
        {
            let mut known = self.page.health.faults();
            known.no_machine = !faults.is_empty() && faults.len() == cluster.world.machines.len();
            known.machines = faults;
        }
        if self.is_leader {
            self.publish_events(&unassigned(&index), now).await;
        }
        self.events.retain(|uid, _| cluster.world.jobs.contains_key(uid));
        self.page.metrics.turns.inc();
        self.page.metrics.turn_seconds.set(began.elapsed().as_secs_f64());
        self.page.health.note_reconciliation(false);
        Ok(())
    }

    /// Carries out a plan's actions, and writes the machine's status and events.
    async fn apply(&mut self, machine: &ObjectRef, made: Plan, now: i64) {
        for node in &made.overlaps {
            let more = json!({ "machine": machine.name, "node": node.index() });
            log("error", "a node is in two confirmed placements", more);
            self.page.metrics.overlaps.inc();
        }
        let is_new =
            |action: &Action| !self.recent.contains_key(&(action.word(), action.object().clone()));
        let (actions, repeated): (Vec<Action>, Vec<Action>) =
            made.actions.into_iter().partition(is_new);
        if !repeated.is_empty() {
            // No update may arrive by the time the action can be repeated.
            self.retry_after(REPEAT_DELAY);
        }
        let Some(writer) = &self.writer else { return };
        let began = Instant::now();
        let results: Vec<(Action, Result<(), WriteError>)> = stream::iter(actions)
            .map(|action| async {
                if began.elapsed() >= WRITE_TIME {
                    return (action, Err(WriteError::Unavailable));
                }
                let result = writer.write(&action).await;
                (action, result)
            })
            .buffer_unordered(MAX_CONCURRENT_WRITES)
            .collect()
            .await;
        for (action, result) in results {
            match result {
                Err(WriteError::Unavailable) => {
                    self.retry_after(RETRY_DELAY);
                    continue;
                }
                // A starting API server rejects everything until it has loaded the access rules.
                Err(WriteError::Rejected(_)) if self.is_outage => {
                    self.retry_after(RETRY_DELAY);
                    continue;
                }
                Err(WriteError::Rejected(why)) => {
                    let more = log_fields(&action, json!({ "why": &why }));
                    log("warn", "change rejected", more);
                    self.page.metrics.refused(action.word());
                    self.page.health.faults().note_right(&why);
                    self.retry_after(REPEAT_DELAY);
                    if let Action::Propose { job, .. } = &action {
                        let memory = self.memory.entry(machine.name.clone()).or_default();
                        memory.reject(&job.uid, &why, now);
                        self.retry_after(RETRY_DELAY);
                    }
                }
                Ok(()) => {
                    log("info", action.word(), log_fields(&action, json!({})));
                    self.page.metrics.changed(action.word());
                }
                Err(WriteError::Conflict) => {}
            }
            self.recent.insert((action.word(), action.object().clone()), Instant::now());
        }
        self.write_status(machine, made.status).await;
        if began.elapsed() < WRITE_TIME {
            self.publish_events(&made.waiting, now).await;
        }
    }

    /// Publishes an event for each Job whose reason for waiting has changed.
    async fn publish_events(&mut self, all: &[Waiting], now: i64) {
        let mut written = 0;
        for waiting in all {
            if let Some((at, why)) = self.events.get(&waiting.job.uid) {
                if *why == waiting.why {
                    continue;
                }
                if at.elapsed() < EVENT_INTERVAL {
                    self.retry_after(RETRY_DELAY);
                    continue;
                }
            }
            if written == MAX_EVENTS {
                return self.retry_after(RETRY_DELAY);
            }
            written += 1;
            let Some(writer) = &self.writer else { return };
            match writer.publish_event(waiting, now).await {
                Ok(()) => {
                    let event = (Instant::now(), waiting.why.clone());
                    self.events.insert(waiting.job.uid.clone(), event);
                }
                Err(WriteError::Unavailable) => return self.retry_after(RETRY_DELAY),
                Err(_) => {}
            }
        }
    }

    /// Writes a machine's status if it has changed.
    async fn write_status(&mut self, machine: &ObjectRef, status: MachineStatus) {
        let old = self.statuses.get(&machine.name);
        let Some(writer) = self.writer.as_ref().filter(|_| old != Some(&status)) else { return };
        match writer.status(machine, &status).await {
            Ok(()) => drop(self.statuses.insert(machine.name.clone(), status)),
            Err(WriteError::Unavailable) => self.retry_after(RETRY_DELAY),
            Err(_) => {}
        }
    }
}

fn log_fields(action: &Action, more: Value) -> Value {
    let object = action.object();
    let mut line = json!({ "namespace": object.namespace, "name": object.name });
    if let Action::Propose { placement, .. } = action {
        line["box"] = placement.at.clone().into();
    }
    if let Action::Withdraw { why, .. } | Action::Remove { why, .. } = action {
        line["why"] = why.clone().into();
    }
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    line
}
