//! Receives signals from the service manager and reports the daemon's status to it (sd_notify).
//! Reports nothing if there is no service manager, and ignores errors while reporting.

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

/// The time between watchdog messages during a wait, in milliseconds, well below the units'
/// `WatchdogSec`. It is a multiple of `SIGNAL_CHECK_MS`.
const WATCHDOG_MS: u64 = 60_000;

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The daemon should stop.
    Stop,
    /// The daemon should reload its configuration.
    Reload,
    Timeout,
}

/// Requests received as signals.
pub(super) struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// Installs signal handlers: SIGTERM and SIGINT stop the daemon after its current cycle, and
    /// SIGHUP makes it reload its configuration.
    pub(super) fn listen() -> Result<Signals, SlurmError> {
        let signals = Signals { stop: Arc::default(), reload: Arc::default() };
        let handlers =
            [(SIGTERM, &signals.stop), (SIGINT, &signals.stop), (SIGHUP, &signals.reload)];
        for (signal, flag) in handlers {
            signal_hook::flag::register(signal, Arc::clone(flag))
                .map_err(|error| SlurmError::Io { subject: "signals".into(), error })?;
        }
        Ok(signals)
    }

    /// Waits for `time_ms` milliseconds or until a signal arrives.
    pub(super) fn wait(&self, time_ms: u64) -> Event {
        let mut waited = 0;
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        while waited < time_ms && !is_set(&self.stop) && !is_set(&self.reload) {
            let step = (time_ms - waited).min(SIGNAL_CHECK_MS);
            std::thread::sleep(Duration::from_millis(step));
            waited += step;
            if waited.is_multiple_of(WATCHDOG_MS) {
                let _ = sd_notify::notify(&[NotifyState::Watchdog]);
            }
        }
        if is_set(&self.stop) {
            Event::Stop
        } else if self.reload.swap(false, Ordering::Relaxed) {
            Event::Reload
        } else {
            Event::Timeout
        }
    }
}

/// The service manager and the last status reported to it.
#[derive(Default)]
pub(super) struct Manager {
    status: String,
}

impl Manager {
    /// Reports that the daemon is alive, with a status line for `systemctl status`.
    pub(super) fn alive(&mut self, status: String) {
        let mut states = vec![NotifyState::Watchdog];
        if status != self.status {
            states.push(NotifyState::Status(&status));
        }
        let _ = sd_notify::notify(&states);
        self.status = status;
    }
}

/// Reports that the daemon is ready.
pub(super) fn notify_ready() {
    let _ = sd_notify::notify(&[NotifyState::Ready]);
}

/// Reloads the configuration and notifies the service manager. Logs and ignores invalid files.
pub(super) fn reload(read: impl FnOnce() -> Result<Config, SlurmError>) -> Option<Config> {
    if let Ok(time) = NotifyState::monotonic_usec_now() {
        let _ = sd_notify::notify(&[NotifyState::Reloading, time]);
    }
    let config = read();
    notify_ready();
    if let Err(error) = &config {
        let details = json!({ "error": error.to_string() });
        log(now(), "error", "new configuration rejected; keeping the old one", details);
    }
    config.ok()
}

/// Reports and logs that the daemon is stopping.
pub(super) fn notify_stopping() {
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    log(now(), "info", "ended", json!({}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_precedes_reloading() {
        let signals = Signals { stop: Arc::default(), reload: Arc::default() };
        assert_eq!(signals.wait(1), Event::Timeout);
        signals.reload.store(true, Ordering::Relaxed);
        assert_eq!([signals.wait(9_999_999), signals.wait(1)], [Event::Reload, Event::Timeout]);
        signals.reload.store(true, Ordering::Relaxed);
        signals.stop.store(true, Ordering::Relaxed);
        assert_eq!(signals.wait(9_999_999), Event::Stop);
    }
}
