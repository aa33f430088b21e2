//! The program: reads by watches, plans when something has changed, and writes what is planned.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream;
use kube::Client;
use pavior::json::log as write_log;
use pavior::time::Date;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::carry::{Carrier, Unchanged};
use crate::objects::{MachineStatus, Uid};
use crate::page::Page;
use crate::plan::{Act, Depth, Memory, Plan, Seen, Waiting, plan, strays};
use crate::watch::Watched;
use crate::world::Index;
use crate::{KubeError, lease, observe};

/// How the program runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether it acts although another copy does: the records keep both right.
    pub always: bool,
    /// What this copy is called in the Lease.
    pub name: String,
    /// Where the page is served, if it is.
    pub page: Option<String>,
    /// Where probes are answered, if they are.
    pub probes: Option<String>,
    /// The machine of the page, where the cluster has several.
    pub machine: Option<String>,
    /// Changes nothing.
    pub observe: bool,
    /// The machine that is observed, where the cluster knows none: a file with the object.
    pub spec: Option<PathBuf>,
}

/// How often patience is looked at while pods are refused.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a change that was made, or refused, is not made again while its object is the same.
const AGAIN: Duration = Duration::from_secs(10);
/// Changes under way at once.
const AT_ONCE: usize = 32;
/// Between two events on the same Job.
const TELL_EVERY: Duration = Duration::from_secs(30);
/// The most events in one round.
const TOLD_AT_ONCE: usize = 16;

/// Places Jobs until the process is told to end (SIGTERM or SIGINT).
///
/// # Errors
/// If the API server cannot be reached by what the surroundings say.
pub fn run(options: &Options) -> Result<(), KubeError> {
    crate::runtime()?.block_on(async {
        let client = crate::client().await?;
        let told = |kind| signal(kind).map_err(|error| KubeError::Unreachable(error.to_string()));
        let (mut term, mut int) = (told(SignalKind::terminate())?, told(SignalKind::interrupt())?);
        let page = Page::new(options.page.clone(), options.machine.clone());
        if let Some(address) = &options.probes {
            page.health.serve(address)?;
        }
        let work = async {
            if !options.observe {
                log("info", "started", json!({ "name": options.name }));
                return act(client, page, options).await;
            }
            log("info", "observing", json!({}));
            let machine = options.spec.as_deref().map(observe::machine).transpose()?;
            observe::observe(client, page, machine).await
        };
        tokio::select! {
            result = work => result,
            _ = term.recv() => Ok(()),
            _ = int.recv() => Ok(()),
        }?;
        log("info", "ended", json!({}));
        Ok(())
    })
}

async fn act(client: Client, page: Page, options: &Options) -> Result<(), KubeError> {
    let (mut watched, mut news) = Watched::begin(&client, page.is_there());
    let mut leads = lease::take_part(client.clone(), options.name.clone());
    let mut round = Round::new(client, page);
    let none = || KubeError::Unreachable("no watch is left".to_string());
    loop {
        tokio::select! {
            one = news.recv() => watched.apply(one.ok_or_else(none)?),
            changed = leads.changed(), if !options.always => changed.map_err(|_| none())?,
            () = tokio::time::sleep(round.pause()) => {}
            () = round.page.foreseen() => {}
        }
        let whole = watched.gather(&mut news).await;
        let acts = options.always || *leads.borrow_and_update();
        round.leads(acts);
        if whole {
            watched.world.join_quota();
            round.turn(&watched).await?;
        }
    }
}

/// What is kept between rounds. All of it can be lost.
struct Round {
    carrier: Carrier,
    memory: HashMap<String, Memory>,
    /// What was done of late, by kind of change and object.
    done: HashMap<(&'static str, Seen), Instant>,
    told: HashMap<Uid, (Instant, String)>,
    statuses: HashMap<String, MachineStatus>,
    /// Whether something is to be looked at again without news.
    waits: Option<Duration>,
    leads: bool,
    page: Page,
}

impl Round {
    fn new(client: Client, page: Page) -> Round {
        Round {
            carrier: Carrier::new(client),
            memory: HashMap::new(),
            done: HashMap::new(),
            told: HashMap::new(),
            statuses: HashMap::new(),
            waits: None,
            leads: false,
            page,
        }
    }

    /// Whether this copy acts now: that it is another's turn is said once.
    fn leads(&mut self, leads: bool) {
        if leads != self.leads {
            log("info", if leads { "acts" } else { "another acts" }, json!({}));
        }
        self.leads = leads;
        self.page.metrics.active.set(leads.into());
    }

    /// How long to wait for news.
    fn pause(&self) -> Duration {
        self.waits.unwrap_or(Duration::from_hours(24))
    }

    /// Looks at the cluster. Another copy's turn is only shown.
    async fn turn(&mut self, watched: &Watched) -> Result<(), KubeError> {
        let began = Instant::now();
        self.memory.retain(|machine, _| watched.world.machines.contains_key(machine));
        self.statuses.retain(|machine, _| watched.world.machines.contains_key(machine));
        self.page.health.looks(true);
        self.waits = None;
        self.done.retain(|_, at| at.elapsed() < AGAIN);
        let (index, now) = (Index::of(&watched.world), watched.now());
        for (name, machine) in &watched.world.machines {
            let memory = self.memory.entry(name.clone()).or_default();
            let depth = self.page.depth(name, Depth::ACT);
            let made = plan(&index, name, memory, now, depth);
            if memory.is_patient() {
                self.waits = Some(PATIENCE);
            }
            let seen = Seen::of(machine);
            self.statuses.entry(name.clone()).or_insert_with(|| machine.status.clone());
            match made {
                Ok(mut made) => {
                    self.page.show(name, &mut made, now)?;
                    if self.leads {
                        self.carry_out(&seen, made, now).await;
                    }
                }
                Err(fault) if self.leads => {
                    let fault = Some(fault);
                    self.show(&seen, MachineStatus { fault, ..MachineStatus::default() }).await;
                }
                Err(_) => {}
            }
        }
        if self.leads {
            self.tell(&strays(&index), now).await;
        }
        self.told.retain(|uid, _| watched.world.jobs.contains_key(uid));
        self.page.metrics.turns.inc();
        self.page.metrics.turn_seconds.set(began.elapsed().as_secs_f64());
        self.page.health.looks(false);
        Ok(())
    }

    /// Makes the changes of a plan, and tells what it says.
    async fn carry_out(&mut self, machine: &Seen, made: Plan, now: i64) {
        for node in &made.overlaps {
            let more = json!({ "machine": machine.name, "node": node.index() });
            log("error", "two confirmed placements have a node", more);
            self.page.metrics.overlaps.inc();
        }
        let new = |act: &Act| !self.done.contains_key(&(act.word(), act.object().clone()));
        let (acts, again): (Vec<Act>, Vec<Act>) = made.acts.into_iter().partition(new);
        if !again.is_empty() {
            // No news need come when its time is over.
            self.waits.get_or_insert(AGAIN);
        }
        let carrier = &self.carrier;
        let results: Vec<(Act, Result<(), Unchanged>)> = stream::iter(acts)
            .map(|act| async {
                let result = carrier.carry(&act).await;
                (act, result)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for (act, result) in results {
            match result {
                Err(Unchanged::Busy) => {
                    self.waits = Some(PATIENCE);
                    continue;
                }
                Err(Unchanged::Refused(why)) => {
                    let more = told(&act, json!({ "why": why }));
                    log("warn", "refused", more);
                    self.page.metrics.refused(act.word());
                    self.waits = Some(AGAIN);
                }
                Ok(()) => {
                    log("info", act.word(), told(&act, json!({})));
                    self.page.metrics.changed(act.word());
                }
                Err(Unchanged::Changed) => {}
            }
            self.done.insert((act.word(), act.object().clone()), Instant::now());
        }
        self.show(machine, made.status).await;
        self.tell(&made.waiting, now).await;
    }

    /// Says what Jobs wait for, if that is new.
    async fn tell(&mut self, all: &[Waiting], now: i64) {
        let at = Date(Duration::from_secs(now.max(0) as u64)).to_string();
        let mut told = 0;
        for waiting in all {
            if let Some((at, why)) = self.told.get(&waiting.job.uid) {
                if *why == waiting.why {
                    continue;
                }
                if at.elapsed() < TELL_EVERY {
                    self.waits = Some(PATIENCE);
                    continue;
                }
            }
            if told == TOLD_AT_ONCE {
                self.waits = Some(PATIENCE);
                return;
            }
            told += 1;
            if self.carrier.tell(waiting, &at).await.is_ok() {
                let said = (Instant::now(), waiting.why.clone());
                self.told.insert(waiting.job.uid.clone(), said);
            }
        }
    }

    /// Shows what a machine is like, if that is new.
    async fn show(&mut self, machine: &Seen, status: MachineStatus) {
        let old = self.statuses.get(&machine.name);
        if old != Some(&status) && self.carrier.status(machine, &status).await.is_ok() {
            if let Some(fault) = &status.fault {
                let more = json!({ "machine": machine.name, "fault": fault });
                log("warn", "the machine is not used", more);
            }
            self.statuses.insert(machine.name.clone(), status);
        }
    }
}

/// What is written in the log of a change.
fn told(act: &Act, more: Value) -> Value {
    let seen = act.object();
    let mut line = json!({ "namespace": seen.namespace, "name": seen.name });
    if let Act::Propose { placement, .. } = act {
        line["box"] = placement.at.clone().into();
    }
    if let Act::Withdraw { why, .. } | Act::Remove { why, .. } = act {
        line["why"] = why.clone().into();
    }
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    line
}

fn log(level: &str, event: &str, more: Value) {
    write_log(crate::now().max(0) as u64, level, event, more);
}
