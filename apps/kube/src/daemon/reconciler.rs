//! Plans for each machine after every change, and applies the plans.

use std::collections::{BTreeMap, HashMap};
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream;
use kube::Resource as _;
use pavior::text::shown;
use serde_json::{Value, json};

use super::event_publisher::EventPublisher;
use super::status_writer::StatusWriter;
use super::write_reporter::WriteReporter;
use super::{IDLE_PAUSE, REPEAT_DELAY, RETRY_DELAY};
use crate::error::KubeError;
use crate::health::Health;
use crate::log::log;
use crate::metrics::Metrics;
use crate::objects::{CheckState, Machine, MachineStatus, Object as _, ObjectRef, Placement};
use crate::page::Page;
use crate::plan::{Action, Detail, Memory, Plan, Waiting, plan, unassigned};
use crate::read::ClusterWatch;
use crate::world::{Index, World};
use crate::write::{WriteError, Writer};

/// The time limit for starting a machine's writes, in case the API server does not respond.
const WRITE_TIME: Duration = Duration::from_secs(10);
const MAX_CONCURRENT_WRITES: usize = 32;

/// The properties that identify a repeated action.
#[derive(PartialEq, Eq, Hash)]
struct ActionKey {
    kind: Discriminant<Action>,
    object: ObjectRef,
    /// The state of a check and the placement on which it depends. If that placement has just been
    /// deleted, the answer to the check changes even though the Workload does not.
    check: Option<(CheckState, Option<ObjectRef>)>,
}

impl ActionKey {
    fn of(action: &Action) -> ActionKey {
        let check = match action {
            Action::Check(update) => Some((update.answer.state, update.placement.clone())),
            _ => None,
        };
        ActionKey { kind: discriminant(action), object: action.object().clone(), check }
    }
}

/// State that is kept between reconciliations. Losing this state is harmless.
pub(super) struct Reconciler {
    /// The writer, or `None` for an observer.
    writer: Option<Writer>,
    memory: HashMap<String, Memory>,
    /// The times of recent actions.
    recent: HashMap<ActionKey, Instant>,
    events: EventPublisher,
    statuses: StatusWriter,
    /// The maximum delay before the next plan.
    pause: Duration,
    is_leader: bool,
    reporter: WriteReporter,
    pub(super) page: Option<Page>,
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
            events: EventPublisher::default(),
            statuses: StatusWriter::default(),
            pause: IDLE_PAUSE,
            is_leader: false,
            reporter: WriteReporter { health, metrics, is_outage: false },
            page,
        }
    }

    /// Records whether this replica is active, and logs each change.
    pub(super) fn set_leader(&mut self, is_leader: bool) {
        if is_leader != self.is_leader {
            let event = if is_leader {
                "this replica is active"
            } else {
                "this replica is no longer active"
            };
            log("info", event, json!({}));
        }
        self.is_leader = is_leader;
        self.reporter.metrics.active.set(is_leader.into());
    }

    /// Records which kinds of objects cannot be read, and why.
    pub(super) fn note_unreadable(&mut self, kinds: &BTreeMap<String, String>) {
        self.reporter.is_outage = kinds.contains_key(&*Placement::plural(&()));
        self.reporter.metrics.unreadable_kinds.set(kinds.len() as i64);
        self.reporter.health.faults().kinds.clone_from(kinds);
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
        self.reporter.health.begin();
        self.pause = IDLE_PAUSE;
        self.forget(world);
        let index = Index::of(world);
        let mut faults = BTreeMap::new();
        for machine in world.machines.values() {
            self.reporter.health.begin();
            if let Some(fault) = self.reconcile_machine(&index, machine, now).await? {
                faults.insert(machine.name().to_string(), fault);
            }
        }
        self.set_machine_faults(faults, world.machines.len());
        self.reporter.health.begin();
        if self.is_leader {
            self.publish_events(&unassigned(&index), now, Instant::now() + WRITE_TIME).await;
        }
        self.reporter.metrics.reconciliations.inc();
        self.reporter.metrics.duration_seconds.set(began.elapsed().as_secs_f64());
        self.reporter.health.end();
        Ok(())
    }

    /// Forgets objects that no longer exist and actions that are no longer recent.
    fn forget(&mut self, world: &World) {
        let is_deleted = |name: &String| !world.machines.contains_key(name);
        for name in self.memory.keys().filter(|name| is_deleted(name)) {
            self.hide(name);
        }
        self.memory.retain(|name, _| !is_deleted(name));
        self.events.retain(world);
        self.statuses.retain(world);
        self.recent.retain(|_, at| at.elapsed() < REPEAT_DELAY);
    }

    /// Plans for a machine, shows the machine, and applies the plan. Returns the fault in the
    /// Machine, if any. For an observer of a single Machine, this fault is an error.
    async fn reconcile_machine(
        &mut self,
        index: &Index<'_>,
        machine: &Machine,
        now: i64,
    ) -> Result<Option<String>, KubeError> {
        let name = machine.name();
        let detail = self.detail(name);
        let memory = self.memory.entry(name.to_string()).or_default();
        match plan(index, name, memory, now, detail) {
            Ok(mut plan) => {
                if plan.depends_on_time {
                    self.retry_after(RETRY_DELAY);
                }
                self.show(name, &mut plan, now)?;
                if self.is_leader {
                    self.apply(machine, plan, now).await;
                }
                Ok(None)
            }
            Err(why) if self.writer.is_none() && index.world.machines.len() == 1 => {
                Err(KubeError::Machine { name: shown(name).to_string(), why })
            }
            Err(why) => {
                self.hide(name);
                if self.is_leader {
                    let fault = Some(why.clone());
                    let status = MachineStatus { fault, ..MachineStatus::default() };
                    self.write_status(machine, status).await;
                }
                Ok(Some(why))
            }
        }
    }

    /// Returns the level of detail for a machine's plan.
    fn detail(&self, machine: &str) -> Detail {
        let detail = if self.writer.is_some() { Detail::DAEMON } else { Detail::OBSERVER };
        let Some(page) = &self.page else { return detail };
        let picture = page.accepts(machine);
        Detail { picture, forecast: picture && page.is_forecast_due(), ..detail }
    }

    /// Shows a machine in the metrics and on the page.
    fn show(&mut self, machine: &str, plan: &mut Plan, now: i64) -> Result<(), KubeError> {
        self.reporter.metrics.set_status(machine, &plan.status);
        let Some(page) = self.page.as_mut().filter(|page| page.accepts(machine)) else {
            return Ok(());
        };
        self.reporter.metrics.set_slots(&plan.status);
        page.publish(machine, plan, now)
    }

    /// Removes a faulty or deleted machine from the metrics.
    fn hide(&self, machine: &str) {
        self.reporter.metrics.remove_status(machine);
        if self.page.as_ref().is_some_and(|page| page.accepts(machine)) {
            self.reporter.metrics.set_slots(&MachineStatus::default());
        }
    }

    /// Records faults in Machines, and logs the new ones.
    fn set_machine_faults(&self, faults: BTreeMap<String, String>, machines: usize) {
        let mut known = self.reporter.health.faults();
        for (name, fault) in &faults {
            if known.machines.get(name) != Some(fault) {
                let more = json!({ "machine": name, "fault": fault });
                log("warn", "cannot use the Machine", more);
            }
        }
        known.all_machines_faulty = !faults.is_empty() && faults.len() == machines;
        known.machines = faults;
    }

    /// Applies a plan's actions, then writes the machine's status and publishes events.
    async fn apply(&mut self, machine: &Machine, plan: Plan, now: i64) {
        for node in &plan.overlaps {
            let more = json!({ "machine": machine.name(), "node": node.index() });
            log("error", "a node is in two confirmed placements", more);
            self.reporter.metrics.overlaps.inc();
        }
        let deadline = Instant::now() + WRITE_TIME;
        let actions = self.skip_recent(plan.actions);
        for (action, result) in self.write(actions, deadline).await {
            self.settle(machine.name(), &action, result, now);
        }
        self.write_status(machine, plan.status).await;
        self.publish_events(&plan.waiting, now, deadline).await;
    }

    /// Skips recent actions, and schedules a plan for the time when they may be repeated, in case
    /// no update triggers a plan by then.
    pub(super) fn skip_recent(&mut self, mut actions: Vec<Action>) -> Vec<Action> {
        let mut delay = IDLE_PAUSE;
        actions.retain(|action| match self.recent.get(&ActionKey::of(action)) {
            None => true,
            Some(at) => {
                delay = delay.min(REPEAT_DELAY.saturating_sub(at.elapsed()));
                false
            }
        });
        self.retry_after(delay);
        actions
    }

    /// Writes actions concurrently. Actions that cannot start before the deadline are skipped.
    async fn write(
        &self,
        actions: Vec<Action>,
        deadline: Instant,
    ) -> Vec<(Action, Result<(), WriteError>)> {
        let Some(writer) = &self.writer else { return Vec::new() };
        stream::iter(actions)
            .map(|action| async {
                if Instant::now() >= deadline {
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
    pub(super) fn settle(
        &mut self,
        machine: &str,
        action: &Action,
        result: Result<(), WriteError>,
        now: i64,
    ) {
        let kind = action.kind();
        match result.map_err(|error| self.reporter.report(kind, log_fields(action), error)) {
            Err(WriteError::Unavailable) => return self.retry_after(RETRY_DELAY),
            Err(WriteError::Rejected(why)) => {
                let mut delay = REPEAT_DELAY;
                if let Action::Propose { job, .. } = action {
                    let memory = self.memory.entry(machine.to_string()).or_default();
                    memory.reject(&job.uid, &why, now);
                    // Plan again soon, because other Jobs may now get this Job's nodes.
                    delay = RETRY_DELAY;
                }
                self.retry_after(delay);
            }
            Err(WriteError::Conflict) => {}
            Ok(()) => {
                log("info", kind, log_fields(action));
                self.reporter.metrics.count_change(kind);
            }
        }
        self.recent.insert(ActionKey::of(action), Instant::now());
    }

    async fn publish_events(&mut self, waiting: &[Waiting], now: i64, deadline: Instant) {
        let Some(writer) = &self.writer else { return };
        let delay = self.events.publish(writer, &self.reporter, waiting, now, deadline).await;
        self.retry_after(delay);
    }

    async fn write_status(&mut self, machine: &Machine, status: MachineStatus) {
        let Some(writer) = &self.writer else { return };
        let delay = self.statuses.write(writer, &self.reporter, machine, status).await;
        self.retry_after(delay);
    }
}

fn log_fields(action: &Action) -> Value {
    let object = action.object();
    let mut line = json!({ "namespace": object.namespace, "name": object.name });
    if let Action::Propose { placement, .. } = action {
        line["box"] = placement.at.clone().into();
    }
    if let Action::Withdraw { why, .. } | Action::Remove { why, .. } = action {
        line["why"] = why.clone().into();
    }
    line
}
