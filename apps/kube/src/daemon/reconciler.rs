//! Plans for each machine after every change, and applies the plans.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream;
use pavior::text::shown;
use serde_json::{Value, json};

use crate::error::KubeError;
use crate::health::Health;
use crate::log::log;
use crate::metrics::Metrics;
use crate::objects::{Machine, MachineStatus, Object as _, ObjectRef, Uid};
use crate::page::Page;
use crate::plan::{Action, Detail, Memory, Plan, Waiting, plan, unassigned};
use crate::read::ClusterWatch;
use crate::world::Index;
use crate::write::{WriteError, Writer};

/// The maximum delay before the next plan if nothing changes.
const IDLE_PAUSE: Duration = Duration::from_hours(24);
/// The delay before the next plan if a write must be retried or the plan depends on the time.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// The time before an action on an unchanged object is repeated.
const REPEAT_DELAY: Duration = Duration::from_secs(10);
/// The time within which a plan's writes must start, in case the API server does not respond.
const WRITE_TIME: Duration = Duration::from_secs(10);
const MAX_CONCURRENT_WRITES: usize = 32;
/// The minimum time between two events on the same Job.
const EVENT_INTERVAL: Duration = Duration::from_secs(30);
/// The maximum number of events in a reconciliation.
const MAX_EVENTS: usize = 16;

/// State that is kept between reconciliations. Losing this state is harmless.
pub(super) struct Reconciler {
    /// The writer, or `None` for an observer.
    writer: Option<Writer>,
    memory: HashMap<String, Memory>,
    /// The times of recent actions, by kind of action and object.
    recent: HashMap<(&'static str, ObjectRef), Instant>,
    /// The time and reason of the latest event for each Job.
    events: HashMap<Uid, (Instant, String)>,
    /// Each machine's latest status, whether read or written.
    statuses: HashMap<String, MachineStatus>,
    /// The maximum delay before the next plan.
    pause: Duration,
    is_leader: bool,
    /// True while placements cannot be read.
    is_outage: bool,
    health: Arc<Health>,
    metrics: Metrics,
    page: Option<Page>,
}

impl Reconciler {
    pub(super) fn new(
        writer: Option<Writer>,
        health: Arc<Health>,
        metrics: Metrics,
        page: Option<Page>,
    ) -> Reconciler {
        Reconciler {
            writer,
            memory: HashMap::new(),
            recent: HashMap::new(),
            events: HashMap::new(),
            statuses: HashMap::new(),
            pause: IDLE_PAUSE,
            is_leader: false,
            is_outage: false,
            health,
            metrics,
            page,
        }
    }

    /// Records whether this replica is active, and logs each change.
    pub(super) fn set_leader(&mut self, is_leader: bool) {
        if is_leader != self.is_leader {
            let event =
                if is_leader { "this replica is active" } else { "another replica is active" };
            log("info", event, json!({}));
        }
        self.is_leader = is_leader;
        self.metrics.active.set(is_leader.into());
    }

    /// Records which kinds of objects cannot be read, with the reasons.
    pub(super) fn note_unreadable(&mut self, kinds: &BTreeMap<String, String>) {
        self.is_outage = kinds.contains_key("placements");
        self.metrics.unreadable_kinds.set(kinds.len() as i64);
        self.health.faults().kinds.clone_from(kinds);
    }

    /// Returns the maximum time to wait for updates.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Schedules another plan after a delay, even if no updates arrive.
    fn retry_after(&mut self, delay: Duration) {
        self.pause = self.pause.min(delay);
    }

    /// Waits until the page needs a new plan for its forecast.
    pub(super) async fn next_forecast(&mut self) {
        match &mut self.page {
            Some(page) => page.next_forecast().await,
            None => std::future::pending().await,
        }
    }

    /// Plans for all machines. Only the active replica writes.
    pub(super) async fn reconcile(&mut self, cluster: &ClusterWatch) -> Result<(), KubeError> {
        let began = Instant::now();
        let (world, now) = (&cluster.world, cluster.now());
        self.health.begin();
        self.pause = IDLE_PAUSE;
        self.memory.retain(|machine, _| world.machines.contains_key(machine));
        self.statuses.retain(|machine, _| world.machines.contains_key(machine));
        self.recent.retain(|_, at| at.elapsed() < REPEAT_DELAY);
        let index = Index::of(world);
        let mut faults = BTreeMap::new();
        for machine in world.machines.values() {
            if let Err(fault) = self.reconcile_machine(&index, machine, now).await? {
                faults.insert(machine.name().to_string(), fault);
            }
        }
        self.set_machine_faults(faults, world.machines.len());
        if self.is_leader {
            self.publish_events(&unassigned(&index), now).await;
        }
        self.events.retain(|uid, _| world.jobs.contains_key(uid));
        self.metrics.reconciliations.inc();
        self.metrics.duration_seconds.set(began.elapsed().as_secs_f64());
        self.health.end();
        Ok(())
    }

    /// Plans for a machine, shows the machine, and applies the plan. The inner error is a fault in
    /// the Machine. An observer of a single Machine returns that fault as the outer error.
    async fn reconcile_machine(
        &mut self,
        index: &Index<'_>,
        machine: &Machine,
        now: i64,
    ) -> Result<Result<(), String>, KubeError> {
        let name = machine.name();
        let detail = self.detail(name);
        let memory = self.memory.entry(name.to_string()).or_default();
        let plan = plan(index, name, memory, now, detail);
        let status = || machine.status.clone().unwrap_or_default();
        self.statuses.entry(name.to_string()).or_insert_with(status);
        let reference = ObjectRef::of(machine);
        match plan {
            Ok(mut plan) => {
                if plan.depends_on_time {
                    self.retry_after(RETRY_DELAY);
                }
                self.show(name, &mut plan, now)?;
                if self.is_leader {
                    self.apply(&reference, plan, now).await;
                }
                Ok(Ok(()))
            }
            Err(why) if self.writer.is_none() && index.world.machines.len() == 1 => {
                Err(KubeError::Machine { name: shown(name).to_string(), why })
            }
            Err(why) => {
                if self.is_leader {
                    let fault = Some(why.clone());
                    let status = MachineStatus { fault, ..MachineStatus::default() };
                    self.write_status(&reference, status).await;
                }
                Ok(Err(why))
            }
        }
    }

    /// Returns the level of detail for a machine's plan.
    fn detail(&mut self, machine: &str) -> Detail {
        let detail = if self.writer.is_some() { Detail::DAEMON } else { Detail::OBSERVER };
        let Some(page) = &mut self.page else { return detail };
        page.select_first(machine);
        let picture = page.shows(machine);
        Detail { picture, forecast: picture && page.is_forecast_due(), ..detail }
    }

    /// Shows a machine in the metrics and on the page.
    fn show(&mut self, machine: &str, plan: &mut Plan, now: i64) -> Result<(), KubeError> {
        self.metrics.set_status(machine, &plan.status);
        let Some(page) = self.page.as_mut().filter(|page| page.shows(machine)) else {
            return Ok(());
        };
        self.metrics.set_slots(&plan.status);
        page.publish(plan, now)
    }

    /// Records faults in Machines, and logs the new ones.
    fn set_machine_faults(&self, faults: BTreeMap<String, String>, machines: usize) {
        let mut known = self.health.faults();
        for (name, fault) in &faults {
            if known.machines.get(name) != Some(fault) {
                let more = json!({ "machine": name, "fault": fault });
                log("warn", "cannot use the Machine", more);
            }
        }
        known.no_machine = !faults.is_empty() && faults.len() == machines;
        known.machines = faults;
    }

    /// Carries out a plan's actions, then writes the machine's status and publishes events.
    async fn apply(&mut self, machine: &ObjectRef, plan: Plan, now: i64) {
        for node in &plan.overlaps {
            let more = json!({ "machine": machine.name, "node": node.index() });
            log("error", "a node is in two confirmed placements", more);
            self.metrics.overlaps.inc();
        }
        let began = Instant::now();
        let (actions, repeated): (Vec<Action>, Vec<Action>) =
            plan.actions.into_iter().partition(|action| !self.recent.contains_key(&key(action)));
        if !repeated.is_empty() {
            // The retry must not depend on an update, because none may arrive.
            self.retry_after(REPEAT_DELAY);
        }
        for (action, result) in self.write(actions, began).await {
            self.settle(machine, &action, result, now);
        }
        self.write_status(machine, plan.status).await;
        if began.elapsed() < WRITE_TIME {
            self.publish_events(&plan.waiting, now).await;
        }
    }

    /// Writes actions concurrently. An action that cannot start in time is not written.
    async fn write(
        &self,
        actions: Vec<Action>,
        began: Instant,
    ) -> Vec<(Action, Result<(), WriteError>)> {
        let Some(writer) = &self.writer else { return Vec::new() };
        stream::iter(actions)
            .map(|action| async {
                if began.elapsed() >= WRITE_TIME {
                    return (action, Err(WriteError::Unavailable));
                }
                let result = writer.write(&action).await;
                (action, result)
            })
            .buffer_unordered(MAX_CONCURRENT_WRITES)
            .collect()
            .await
    }

    /// Records the result of an action on a machine.
    fn settle(
        &mut self,
        machine: &ObjectRef,
        action: &Action,
        result: Result<(), WriteError>,
        now: i64,
    ) {
        match result {
            // A starting API server rejects all requests until it has loaded the access rules.
            Err(WriteError::Rejected(_)) if self.is_outage => {
                return self.retry_after(RETRY_DELAY);
            }
            Err(WriteError::Unavailable) => return self.retry_after(RETRY_DELAY),
            Err(WriteError::Rejected(why)) => {
                log("warn", "change rejected", log_fields(action, json!({ "why": &why })));
                self.metrics.count_rejection(action.kind());
                self.health.faults().note_rejection(&why);
                self.retry_after(REPEAT_DELAY);
                if let Action::Propose { job, .. } = action {
                    let memory = self.memory.entry(machine.name.clone()).or_default();
                    memory.reject(&job.uid, &why, now);
                    self.retry_after(RETRY_DELAY);
                }
            }
            Err(WriteError::Conflict) => {}
            Ok(()) => {
                log("info", action.kind(), log_fields(action, json!({})));
                self.metrics.count_change(action.kind());
            }
        }
        self.recent.insert(key(action), Instant::now());
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
        match writer.write_status(machine, &status).await {
            Ok(()) => drop(self.statuses.insert(machine.name.clone(), status)),
            Err(WriteError::Unavailable) => self.retry_after(RETRY_DELAY),
            Err(_) => {}
        }
    }
}

/// Returns the key under which an action is stored among the recent ones.
fn key(action: &Action) -> (&'static str, ObjectRef) {
    (action.kind(), action.object().clone())
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
