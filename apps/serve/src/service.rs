//! Opens, starts and stops the whole service.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pavior::Grid;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

pub use crate::http::{Access, Address, BadToken, HttpBounds, ListenError, Tls, written};

use crate::clock::ServiceClock;
use crate::core::{Event, MachineSpec, ServiceLimits, ServiceRecord, ServiceState};
use crate::forecasts::foresee;
use crate::http::{App, Listener, router, sample};
use crate::limits;
use crate::secret;
use crate::storage::disk::DiskFolder;
use crate::storage::journal::JournalStore;
use crate::storage::layout::Layout;
use crate::storage::{RecordStore, StoreError};
#[cfg(feature = "postgres")]
use crate::storage::{
    claim::Patience,
    password,
    postgres::{PostgresStore, address},
};
use crate::writer::{self, RecoveryError, Tuning, Unavailable, recover};

/// A standby takes over after 3 s without a heartbeat. The leader sends none while a decision takes
/// longer than a minute.
#[cfg(feature = "postgres")]
const PATIENCE: Patience =
    Patience { silence: Duration::from_secs(3), hang: Duration::from_mins(1) };
/// The time for the writer to finish when the service stops. It can be killed at any time, because
/// only recorded changes are acknowledged.
const FINISH: Duration = Duration::from_millis(300);

/// The options of a service.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// The machines; if empty, the machines in the stored data.
    pub machines: Vec<MachineSpec>,
    /// A strategy for the machines in the stored data, if no machines are given.
    pub strategy: Option<String>,
    /// A scheduler for the machines in the stored data, if no machines are given.
    pub scheduler: Option<String>,
    /// The data folder.
    pub data: PathBuf,
    /// The store: `embedded`, or the address of a PostgreSQL database; embedded if omitted.
    pub store: Option<String>,
    /// The file with the database password.
    pub store_password: Option<PathBuf>,
    /// The address to listen on; `unix:DATA/pavior.sock` if omitted.
    pub listen: Option<String>,
    /// The token file.
    pub token_file: Option<PathBuf>,
    /// The TLS certificate files.
    pub tls: Option<Tls>,
    /// The maximum number of nodes per tenant.
    pub quota: Option<u64>,
    /// Limits on callers.
    pub bounds: HttpBounds,
    /// The sizes of the writer's queues and the amount of history retained.
    pub tuning: Tuning,
    /// The seed for strategies that use random numbers.
    pub seed: u64,
}

/// Errors that prevent a service from starting, or end it.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// An option is invalid.
    #[error("{0}")]
    Usage(String),
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The state cannot be recovered from the stored records.
    #[error(transparent)]
    Start(#[from] RecoveryError),
    /// A system call failed.
    #[error("{what}: {error}")]
    Io {
        /// The step that failed.
        what: String,
        /// The cause.
        error: io::Error,
    },
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> ServiceError {
        ServiceError::Start(error.into())
    }
}

impl ServiceError {
    /// Returns true if the user must change the options.
    pub fn is_usage(&self) -> bool {
        match self {
            ServiceError::Usage(_) => true,
            ServiceError::Listen(error) => !matches!(error, ListenError::Bind { .. }),
            ServiceError::Start(error) => matches!(error, RecoveryError::State(_)),
            ServiceError::Io { .. } => false,
        }
    }
}

/// Serves until stopped by SIGTERM or SIGINT. The first line printed to `output` is the address.
///
/// # Errors
/// Returns an error if the service cannot start.
pub fn run(options: &ServiceOptions, output: &mut dyn Write) -> Result<(), ServiceError> {
    run_under(ServiceClock::new(), options, output)
}

/// Like [`run`], but with a given clock, of which the caller may keep a clone and set it forward to
/// replay a log.
///
/// # Errors
/// Returns an error if the service cannot start.
pub fn run_under(
    clock: ServiceClock,
    options: &ServiceOptions,
    output: &mut dyn Write,
) -> Result<(), ServiceError> {
    log();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| io_error("the runtime", error))?;
    let served = runtime.block_on(serve(clock, options, output));
    // Unfinished explanations and decisions can be abandoned, because no one has seen their
    // results.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

async fn serve(
    clock: ServiceClock,
    options: &ServiceOptions,
    output: &mut dyn Write,
) -> Result<(), ServiceError> {
    let access = access(options)?;
    let limits = ServiceLimits {
        quota: options.quota,
        quotas: access.quotas().clone(),
        ..ServiceLimits::default()
    };
    let (own, own_limits) = (options.clone(), limits.clone());
    let opened = tokio::task::spawn_blocking(move || open(&own, &own_limits)).await;
    let store_failed = |error| io_error("the store", io::Error::other(error));
    let (mut state, (mut store, unavailable)) = opened.map_err(store_failed)??;
    let address = match &options.listen {
        Some(text) => Address::read(text)?,
        None => Address::Unix(options.data.join("pavior.sock")),
    };
    let listener = Listener::bind(&address, options.tls.as_ref(), access.asks()).await?;
    // Records are written only after everything that can fail, because a failed startup must not
    // change the data.
    if unavailable.is_none() {
        let own = options.clone();
        let configured = tokio::task::spawn_blocking(move || {
            configure(&own, &mut state, &mut *store).map(|()| (state, store))
        });
        (state, store) = configured.await.map_err(store_failed)??;
    }
    let machines = state.machines();
    let grids: Vec<Grid> = (0..machines.len()).map(|index| *state.grid(index)).collect();
    let tuning = options.tuning.clone();
    let (writer, thread) =
        writer::start(clock, state, store, limits, options.seed, tuning, unavailable);
    let (stop, stopping) = watch::channel(false);
    let machines = machines.into_iter().zip(grids).collect();
    let connections = limits::connections(options.bounds.connections);
    let bounds = HttpBounds { connections, ..options.bounds.clone() };
    let app = App::new(writer.clone(), access, bounds, machines, stopping, options.seed);
    let app = Arc::new(app);
    // From the first line of output on, a stop signal must not count as a failure.
    let caught = |kind| signal(kind).map_err(|error| io_error("signals", error));
    let mut terminate = caught(SignalKind::terminate())?;
    let mut interrupt = caught(SignalKind::interrupt())?;
    let told = writeln!(output, "{listener}").and_then(|()| output.flush());
    told.map_err(|error| io_error("standard output", error))?;
    tracing::info!(address = %listener, seq = writer.seq(), "serving");
    tokio::spawn(sample(app.clone()));
    tokio::spawn(foresee(app.clone()));
    let serving = tokio::spawn(listener.serve(app.clone(), router(app)));
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    // The listener and the watchers stop first. The writer still answers waiting commands.
    let _ = stop.send(true);
    let _ = serving.await;
    // A store must not close its connections on a runtime thread.
    let ended = tokio::task::spawn_blocking(move || {
        writer.stop();
        drop(thread.join());
    });
    if tokio::time::timeout(FINISH, ended).await.is_err() {
        tracing::warn!("stopped during a decision, which was not carried out");
    }
    Ok(())
}

/// A store, and the reason if this server is not the leader.
type Opened = (Box<dyn RecordStore>, Option<Unavailable>);

fn store(options: &ServiceOptions) -> Result<Opened, ServiceError> {
    let broken = |error| io_error(&format!("--data {}", options.data.display()), error);
    let layout = Layout::new(&options.data).map_err(broken)?;
    let folder = layout.open().map_err(broken)?;
    match options.store.as_deref() {
        None | Some("embedded") => {
            let (store, opened) = JournalStore::open(Arc::new(folder))?;
            if let Some(kept) = opened.kept {
                let bytes = opened.cut;
                tracing::warn!(
                    bytes,
                    kept,
                    "cut off the end of the journal, which was never acknowledged"
                );
            }
            layout.note().map_err(broken)?;
            Ok((Box::new(store), None))
        }
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            database(url, options.store_password.as_deref(), folder)
        }
        // The value may be a mistyped address with a password, so only its beginning is shown.
        Some(other) => {
            let shown: String = other.chars().take_while(char::is_ascii_alphanumeric).collect();
            let form = "it must be `embedded` or postgres://USER@HOST/DATABASE";
            Err(ServiceError::Usage(format!("--store {shown}...: {form}")))
        }
    }
}

/// Opens a PostgreSQL store, which several servers may share.
#[cfg(feature = "postgres")]
fn database(
    url: &str,
    password: Option<&Path>,
    folder: DiskFolder,
) -> Result<Opened, ServiceError> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let holder = format!("process {} on {}", std::process::id(), host.trim());
    let mut store = PostgresStore::open(connection(url, password)?, &holder, PATIENCE)?;
    store.keep(folder);
    let standby = || Unavailable::Standby("another server".to_string());
    let unavailable = (!store.leads()).then(standby);
    Ok((Box::new(store), unavailable))
}

#[cfg(not(feature = "postgres"))]
fn database(_: &str, _: Option<&Path>, _: DiskFolder) -> Result<Opened, ServiceError> {
    let text = "--store: this program was built without PostgreSQL; build it with the feature \
                `postgres`";
    Err(ServiceError::Usage(text.to_string()))
}

/// Parses a database address and sets the password.
#[cfg(feature = "postgres")]
fn connection(url: &str, file: Option<&Path>) -> Result<postgres::Config, ServiceError> {
    let mut config = address(url)?;
    if config.get_password().is_some() {
        tracing::warn!(
            "other users of this machine can see the password in --store: use \
             --store-password-file, PGPASSWORD or PGPASSFILE"
        );
    }
    password::set_password(&mut config, file, |name| std::env::var(name).ok())
        .map_err(|error| ServiceError::Usage(format!("--store password: {error}")))?;
    Ok(config)
}

/// Recovers the state from the records.
fn open(
    options: &ServiceOptions,
    limits: &ServiceLimits,
) -> Result<(ServiceState, Opened), ServiceError> {
    let (mut store, mut unavailable) = store(options)?;
    let history = store.history();
    loop {
        let state = recover(&*history, u64::MAX, limits, options.seed)?;
        if unavailable.is_none() || !state.machines().is_empty() {
            return Ok((state, (store, unavailable)));
        }
        // The leader has not recorded its machines yet, or has stopped.
        std::thread::sleep(Duration::from_millis(100));
        if store.retry().is_ok() {
            unavailable = None;
        }
    }
}

/// Updates the strategies and schedulers of the machines; changes are recorded.
fn configure(
    options: &ServiceOptions,
    state: &mut ServiceState,
    store: &mut dyn RecordStore,
) -> Result<(), ServiceError> {
    let known = state.machines();
    let mut wanted = options.machines.clone();
    if wanted.is_empty() {
        wanted.clone_from(&known);
        for spec in &mut wanted {
            spec.strategy = options.strategy.clone().unwrap_or(spec.strategy.clone());
            spec.scheduler = options.scheduler.clone().or(spec.scheduler.take());
        }
    }
    if wanted.is_empty() {
        let text = "there is no machine: give at least one with --machine".to_string();
        return Err(ServiceError::Usage(text));
    }
    let missing = known.iter().find(|spec| !wanted.iter().any(|other| other.name == spec.name));
    if let Some(missing) = missing {
        let text = format!(
            "machine {} ({}) is in the data, but not among the given machines",
            missing.name, missing.machine
        );
        return Err(ServiceError::Usage(text));
    }
    if wanted == known {
        return Ok(());
    }
    // An impossible change must fail before it is recorded.
    state.configure(&wanted).map_err(RecoveryError::State)?;
    let event = Event::Configured { machines: wanted };
    let wall_ms = ServiceClock::new().now_ms();
    // A doubted clock is not used here either.
    let at_ms = match state.seq() {
        0 => wall_ms,
        _ => options.tuning.clock.now(wall_ms, state.now_ms()),
    };
    let record = ServiceRecord { seq: state.seq() + 1, at_ms, event, kept: None };
    store.append(std::slice::from_ref(&record))?;
    state.apply(&record).map_err(StoreError::Fold)?;
    Ok(())
}

fn access(options: &ServiceOptions) -> Result<Access, ServiceError> {
    let certificates = options.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
    let uid = rustix::process::geteuid().as_raw();
    let Some(file) = &options.token_file else {
        return Access::read("", uid, certificates)
            .map_err(|error| ServiceError::Usage(error.to_string()));
    };
    let bad =
        |reason: String| ServiceError::Usage(format!("--token-file {}: {reason}", file.display()));
    let bytes = secret::read(file).map_err(|error| bad(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| bad("it is not text".to_string()))?;
    let access = Access::read(&text, uid, certificates).map_err(|error| bad(error.to_string()))?;
    if !access.asks() {
        return Err(bad("it contains no token".to_string()));
    }
    Ok(access)
}

fn io_error(what: &str, error: io::Error) -> ServiceError {
    ServiceError::Io { what: what.to_string(), error }
}

/// Sets up logging to standard error; `PAVIOR_LOG=debug` shows every request.
fn log() {
    let level = match std::env::var("PAVIOR_LOG").as_deref() {
        Ok("debug") => tracing::Level::DEBUG,
        Ok("warn") => tracing::Level::WARN,
        Ok("error") => tracing::Level::ERROR,
        _ => tracing::Level::INFO,
    };
    // Another part of the program may already have set up logging.
    let _ = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).try_init();
}
