//! A service's data: its store, and the state recovered from the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{ServiceError, ServiceOptions, io_error};
use crate::clock::ServiceClock;
use crate::core::{Event, MachineSpec, ServiceLimits, ServiceRecord, ServiceState};
use crate::storage::disk::DiskFolder;
use crate::storage::journal::JournalStore;
use crate::storage::layout::Layout;
#[cfg(feature = "postgres")]
use crate::storage::postgres::{ClaimTimeouts, PostgresStore, password};
use crate::storage::{RecordStore, StoreError};
use crate::writer::{RecoveryError, Unavailable, recover};

/// Timeouts for takeovers: a standby takes over after 3 s without a heartbeat. The leader stops
/// sending heartbeats if a decision takes longer than a minute.
#[cfg(feature = "postgres")]
const CLAIM_TIMEOUTS: ClaimTimeouts =
    ClaimTimeouts { silence: Duration::from_secs(3), hang: Duration::from_mins(1) };

/// An open store and its state.
pub(super) struct Data {
    pub(super) state: ServiceState,
    pub(super) store: Box<dyn RecordStore>,
    /// The reason why this server is not the leader; `None` if it is the leader.
    pub(super) unavailable: Option<Unavailable>,
}

impl Data {
    /// Opens the store and recovers the state from its records.
    pub(super) fn open(
        options: &ServiceOptions,
        limits: &ServiceLimits,
    ) -> Result<Data, ServiceError> {
        let (mut store, mut unavailable) = open_store(options)?;
        let history = store.history();
        loop {
            let state = recover(&*history, u64::MAX, limits, options.seed)?;
            if unavailable.is_none() || !state.machines().is_empty() {
                return Ok(Data { state, store, unavailable });
            }
            // The leader has stopped or has not recorded its machines yet.
            std::thread::sleep(Duration::from_millis(100));
            if store.retry().is_ok() {
                unavailable = None;
            }
        }
    }

    /// Updates the machines' strategies, schedulers and shape rules, and records any changes.
    pub(super) fn configure(mut self, options: &ServiceOptions) -> Result<Data, ServiceError> {
        let known = self.state.machines();
        let wanted = wanted_machines(options, &known)?;
        if wanted == known {
            return Ok(self);
        }
        let has_waiting = |spec: &&MachineSpec| {
            spec.scheduler.is_none()
                && self.state.waiting.values().any(|request| request.machine == spec.name)
        };
        if let Some(MachineSpec { name, .. }) = wanted.iter().find(has_waiting) {
            let text = format!("requests are waiting for machine {name}; specify its --scheduler");
            return Err(ServiceError::Usage(text));
        }
        // An invalid change must fail before it is recorded.
        self.state.configure(&wanted).map_err(RecoveryError::State)?;
        let event = Event::Configured { machines: wanted };
        let wall_ms = ServiceClock::new().now_ms();
        // Do not trust the wall clock, which may be wrong.
        let at_ms = match self.state.seq() {
            0 => wall_ms,
            _ => options.tuning.clock.now(wall_ms, self.state.now_ms()),
        };
        let record = ServiceRecord { seq: self.state.seq() + 1, at_ms, event, kept: None };
        self.store.append(std::slice::from_ref(&record))?;
        self.state.apply(&record).map_err(StoreError::Fold)?;
        Ok(self)
    }
}

/// Returns the machines to serve, given the options and the machines in the stored data.
fn wanted_machines(
    options: &ServiceOptions,
    known: &[MachineSpec],
) -> Result<Vec<MachineSpec>, ServiceError> {
    let mut wanted = options.machines.clone();
    if wanted.is_empty() {
        wanted = known.to_vec();
        for spec in &mut wanted {
            spec.strategy = options.strategy.clone().unwrap_or(spec.strategy.clone());
            spec.scheduler = options.scheduler.clone().or(spec.scheduler.take());
            spec.shape_rule = options.shape_rule.clone().unwrap_or(spec.shape_rule.clone());
        }
    }
    if wanted.is_empty() {
        wanted.extend(options.default_machine.clone());
    }
    if wanted.is_empty() {
        let text = "no machines are configured; specify at least one with --machine".to_string();
        return Err(ServiceError::Usage(text));
    }
    let missing = known.iter().find(|spec| !wanted.iter().any(|other| other.name == spec.name));
    if let Some(missing) = missing {
        let text = format!(
            "machine {} ({}) is in the stored data but was not specified with --machine",
            missing.name, missing.machine
        );
        return Err(ServiceError::Usage(text));
    }
    Ok(wanted)
}

/// Returns the database URL in `--store`, or `None` for the embedded store.
fn database_url(options: &ServiceOptions) -> Result<Option<&str>, ServiceError> {
    match options.store.as_deref() {
        None | Some("embedded") => Ok(None),
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Ok(Some(url))
        }
        // The value may be a mistyped URL that contains a password, so show only its beginning.
        Some(other) => {
            let start: String = other.chars().take_while(char::is_ascii_alphanumeric).collect();
            let form = "it must be `embedded` or postgres://USER@HOST/DATABASE";
            Err(ServiceError::Usage(format!("--store {start}...: {form}")))
        }
    }
}

/// A store, and the reason why this server is not the leader (`None` if it is).
type OpenStore = (Box<dyn RecordStore>, Option<Unavailable>);

fn open_store(options: &ServiceOptions) -> Result<OpenStore, ServiceError> {
    let url = database_url(options)?;
    let failed = |error| io_error(&format!("--data {}", options.data.display()), error);
    let layout = Layout::new(&options.data).map_err(failed)?;
    let folder = layout.open().map_err(failed)?;
    if let Some(url) = url {
        return open_database(url, options.store_password.as_deref(), folder);
    }
    let (store, opened) = JournalStore::open(Arc::new(folder))?;
    if let Some(kept) = opened.kept {
        let bytes = opened.cut;
        tracing::warn!(
            bytes,
            kept,
            "moved an unacknowledged write from the journal to a separate file"
        );
    }
    layout.note().map_err(failed)?;
    Ok((Box::new(store), None))
}

/// Opens a PostgreSQL store, which several servers may share.
#[cfg(feature = "postgres")]
fn open_database(
    url: &str,
    password: Option<&Path>,
    folder: DiskFolder,
) -> Result<OpenStore, ServiceError> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let holder = format!("process {} on {}", std::process::id(), host.trim());
    let mut store = PostgresStore::open(connection(url, password)?, &holder, CLAIM_TIMEOUTS)?;
    store.keep_locked(folder);
    let standby = || Unavailable::Standby("another server is the leader".to_string());
    let unavailable = (!store.leads()).then(standby);
    Ok((Box::new(store), unavailable))
}

#[cfg(not(feature = "postgres"))]
fn open_database(_: &str, _: Option<&Path>, _: DiskFolder) -> Result<OpenStore, ServiceError> {
    let text = "--store: this program was built without PostgreSQL support; rebuild it with the \
                `postgres` feature";
    Err(ServiceError::Usage(text.to_string()))
}

/// Parses a database URL and sets the password. Errors do not contain the URL, because it may
/// include a password.
#[cfg(feature = "postgres")]
fn connection(url: &str, file: Option<&Path>) -> Result<postgres::Config, ServiceError> {
    let invalid = |_| {
        let form = "postgres://USER@HOST:PORT/DATABASE";
        ServiceError::Usage(format!("--store: invalid URL; it must be {form}"))
    };
    let mut config: postgres::Config = url.parse().map_err(invalid)?;
    if config.get_password().is_some() {
        tracing::warn!(
            "other users of this machine can see the password in --store; use \
             --store-password-file, PGPASSWORD or PGPASSFILE"
        );
    }
    password::set_password(&mut config, file, |name| std::env::var(name).ok())
        .map_err(|error| ServiceError::Usage(format!("--store password: {error}")))?;
    Ok(config)
}
