//! Opens, starts and stops the whole service.

mod data;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

pub use crate::http::{Access, Address, BadToken, HttpBounds, ListenError, Tls, format_reply};

use self::data::Data;
use crate::clock::ServiceClock;
use crate::core::{MachineSpec, ServiceLimits};
use crate::forecasts::update_forecasts;
use crate::http::{App, Listener, router, sample};
use crate::limits;
use crate::secret;
use crate::storage::StoreError;
use crate::writer::{self, RecoveryError, Tuning, WriterParts};

/// The time limit for the writer to finish when the service stops. Killing the writer is always
/// safe, because only durable changes are acknowledged.
const FINISH_TIMEOUT: Duration = Duration::from_millis(300);

/// Options for a service.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// The machines to serve; if empty, those in the stored data.
    pub machines: Vec<MachineSpec>,
    /// The machine to serve if no machines are given or stored.
    pub default_machine: Option<MachineSpec>,
    /// The strategy for the stored machines, used if `machines` is empty.
    pub strategy: Option<String>,
    /// The scheduler for the stored machines, used if `machines` is empty.
    pub scheduler: Option<String>,
    /// The shape rule for the stored machines, used if `machines` is empty.
    pub shape_rule: Option<String>,
    /// The data directory.
    pub data: PathBuf,
    /// The store: `embedded`, or the URL of a PostgreSQL database. Defaults to `embedded`.
    pub store: Option<String>,
    /// The file that contains the database password.
    pub store_password: Option<PathBuf>,
    /// The address to listen on. Defaults to `unix:DATA/pavior.sock`.
    pub listen: Option<String>,
    /// The token file.
    pub token_file: Option<PathBuf>,
    /// The TLS certificate files.
    pub tls: Option<Tls>,
    /// The maximum number of nodes per tenant.
    pub quota: Option<u64>,
    /// Limits on callers.
    pub bounds: HttpBounds,
    /// The writer's queue sizes, and the amount of history to retain.
    pub tuning: Tuning,
    /// The seed for strategies that use random numbers.
    pub seed: u64,
}

/// An error that stops a service or prevents it from starting.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// An option is invalid.
    #[error("{0}")]
    Usage(String),
    /// The service cannot listen on the address.
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
    /// Returns true if the user must fix the options.
    pub fn is_usage(&self) -> bool {
        match self {
            ServiceError::Usage(_) => true,
            ServiceError::Listen(error) => !matches!(error, ListenError::Bind { .. }),
            ServiceError::Start(error) => matches!(error, RecoveryError::State(_)),
            ServiceError::Io { .. } => false,
        }
    }
}

/// Serves until SIGTERM or SIGINT arrives. The first line written to `output` is the address.
///
/// # Errors
/// Returns an error if the service cannot start.
pub fn run(options: &ServiceOptions, output: &mut dyn Write) -> Result<(), ServiceError> {
    run_with_clock(ServiceClock::new(), options, output)
}

/// Serves like [`run`], but uses the given clock. To replay a log, the caller can keep a clone of
/// the clock and advance it.
///
/// # Errors
/// Returns an error if the service cannot start.
pub fn run_with_clock(
    clock: ServiceClock,
    options: &ServiceOptions,
    output: &mut dyn Write,
) -> Result<(), ServiceError> {
    log();
    let access = access(options)?;
    // Looking up a host name blocks, so the address is parsed before the runtime starts.
    let address = match &options.listen {
        Some(text) => Address::read(text)?,
        None => Address::Unix(options.data.join("pavior.sock")),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| io_error("the runtime", error))?;
    let served = runtime.block_on(async {
        Service::start(clock, options, access, &address).await?.serve(output).await
    });
    // Explanations and decisions that are still running can be abandoned, because no one has seen
    // their results.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

/// A service that has recovered its state and is bound to its address.
struct Service {
    app: Arc<App>,
    listener: Listener,
    writer_thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Service {
    async fn start(
        clock: ServiceClock,
        options: &ServiceOptions,
        access: Access,
        address: &Address,
    ) -> Result<Service, ServiceError> {
        let limits = ServiceLimits {
            quota: options.quota,
            quotas: access.quotas().clone(),
            ..ServiceLimits::default()
        };
        let (copy, copied_limits) = (options.clone(), limits.clone());
        let mut data = blocking(move || Data::open(&copy, &copied_limits)).await?;
        let listener =
            Listener::bind(address, options.tls.as_ref(), access.requires_authentication()).await?;
        // Record nothing until every step that can fail has succeeded, because a failed startup
        // must not change the data.
        if data.unavailable.is_none() {
            let copy = options.clone();
            data = blocking(move || data.configure(&copy)).await?;
        }
        let Data { state, store, unavailable } = data;
        let (machines, seed) = (state.machines(), options.seed);
        let grids: Vec<_> = (0..machines.len()).map(|index| *state.grid(index)).collect();
        let machines = machines.into_iter().zip(grids).collect();
        let tuning = options.tuning.clone();
        let parts = WriterParts { clock, state, store, limits, seed, tuning, unavailable };
        let (writer, writer_thread) =
            writer::start(parts).map_err(|error| io_error("the writer", error))?;
        let (stop, stopping) = watch::channel(false);
        let connections = limits::connections(options.bounds.connections);
        let bounds = HttpBounds { connections, ..options.bounds.clone() };
        let app = App::new(writer, access, bounds, machines, stopping, seed);
        Ok(Service { app: Arc::new(app), listener, writer_thread, stop })
    }

    /// Prints the address, then serves until a signal arrives.
    async fn serve(self, output: &mut dyn Write) -> Result<(), ServiceError> {
        let Service { app, listener, writer_thread, stop } = self;
        // Once the first line is printed, a signal must stop the service cleanly.
        let mut terminate = handler(SignalKind::terminate())?;
        let mut interrupt = handler(SignalKind::interrupt())?;
        let printed = writeln!(output, "{listener}").and_then(|()| output.flush());
        printed.map_err(|error| io_error("standard output", error))?;
        tracing::info!(address = %listener, seq = app.writer.seq(), "serving");
        tokio::spawn(sample(app.clone()));
        tokio::spawn(update_forecasts(app.clone()));
        let writer = app.writer.clone();
        let serving = tokio::spawn(listener.serve(app.clone(), router(app)));
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        // Stop the listener and the watchers first. The writer still answers queued commands.
        let _ = stop.send(true);
        let _ = serving.await;
        // A store must not close its connections on a runtime thread.
        let stopped = tokio::task::spawn_blocking(move || {
            writer.stop();
            drop(writer_thread.join());
        });
        if tokio::time::timeout(FINISH_TIMEOUT, stopped).await.is_err() {
            tracing::warn!("stopped while making a decision; the decision was not carried out");
        }
        Ok(())
    }
}

/// Runs blocking work on a thread outside the async runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ServiceError> + Send + 'static,
) -> Result<T, ServiceError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| io_error("the store", io::Error::other(error)))?
}

fn handler(kind: SignalKind) -> Result<Signal, ServiceError> {
    signal(kind).map_err(|error| io_error("signals", error))
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
    let text = secret::read_text(file).map_err(|error| bad(error.to_string()))?;
    let access = Access::read(&text, uid, certificates).map_err(|error| bad(error.to_string()))?;
    if !access.requires_authentication() {
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
