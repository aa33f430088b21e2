//! Signals from the service manager, and status reports to it (sd_notify). If there is no service
//! manager, nothing is reported. Errors in reporting are ignored.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pavior::json::log;
use sd_notify::NotifyState;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::calls::now;
use crate::{Config, SlurmError};

/// The time between checks for signals, in milliseconds.
const SIGNAL_CHECK_MS: u64 = 50;

/// Requests received as signals.
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// Installs signal handlers: SIGTERM and SIGINT stop the daemon after its current cycle, and
    /// SIGHUP makes it reload its configuration.
    pub(crate) fn listen() -> Result<Signals, SlurmError> {
        let signals = Signals { stop: Arc::default(), reload: Arc::default() };
        let wanted = [(SIGTERM, &signals.stop), (SIGINT, &signals.stop), (SIGHUP, &signals.reload)];
        for (signal, flag) in wanted {
            signal_hook::flag::register(signal, Arc::clone(flag))
                .map_err(|error| SlurmError::Io { what: "signals".into(), error })?;
        }
        Ok(signals)
    }

    /// Waits for `left` milliseconds or until a signal arrives. Breaks if the daemon should stop;
    /// otherwise returns the new configuration if a reload was requested and succeeded.
    pub(crate) fn wait(
        &self,
        mut left: u64,
        read: impl FnOnce() -> Result<Config, SlurmError>,
    ) -> ControlFlow<(), Option<Config>> {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        while left > 0 && !is_set(&self.stop) && !is_set(&self.reload) {
            let step = left.min(SIGNAL_CHECK_MS);
            std::thread::sleep(Duration::from_millis(step));
            left -= step;
        }
        if is_set(&self.stop) {
            let _ = sd_notify::notify(&[NotifyState::Stopping]);
            log(now(), "info", "ended", json!({}));
            return ControlFlow::Break(());
        }
        if !self.reload.swap(false, Ordering::Relaxed) {
            return ControlFlow::Continue(None);
        }
        if let Ok(now) = NotifyState::monotonic_usec_now() {
            let _ = sd_notify::notify(&[NotifyState::Reloading, now]);
        }
        let config = read();
        Manager::ready();
        if let Err(error) = &config {
            let more = json!({ "error": error.to_string() });
            log(now(), "error", "configuration rejected; keeping the old one", more);
        }
        ControlFlow::Continue(config.ok())
    }
}

/// The service manager and the last status reported to it.
#[derive(Default)]
pub(crate) struct Manager {
    status: String,
}

impl Manager {
    /// Reports that the daemon is ready, at startup and after reloading its configuration.
    pub(crate) fn ready() {
        let _ = sd_notify::notify(&[NotifyState::Ready]);
    }

    /// Reports that the daemon is alive, with a status line for `systemctl status`.
    pub(crate) fn alive(&mut self, status: String) {
        let mut states = vec![NotifyState::Watchdog];
        if status != self.status {
            states.push(NotifyState::Status(&status));
        }
        let _ = sd_notify::notify(&states);
        self.status = status;
    }
}
