//! Metrics in Prometheus' text format, and the log: JSON lines on standard error.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::SlurmError;
use crate::reason::date;

/// Counters since the start, and what the last cycle saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) cycles: u64,
    pub(crate) failures: u64,
    pub(crate) unreadable_total: u64,
    pub(crate) objections: u64,
    pub(crate) opened_total: u64,
    pub(crate) closed_total: u64,
    pub(crate) requeued_total: u64,
    pub(crate) overlaps_total: u64,
    pub(crate) cycle_seconds: f64,
    /// Whether Slurm answered in the last cycle.
    pub(crate) up: bool,
    /// Records that could not be read in the last cycle that Slurm answered in.
    pub(crate) unreadable: usize,
    pub(crate) waiting: usize,
    pub(crate) opened: usize,
    pub(crate) running: usize,
    pub(crate) free: u32,
    pub(crate) failed: u32,
}

impl Metrics {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let counters = [
            ("cycles", "Cycles carried out.", self.cycles),
            ("failures", "Cycles skipped because Slurm did not answer.", self.failures),
            ("unreadable", "Records that could not be read, each cycle.", self.unreadable_total),
            ("objections", "Changes that Slurm refused.", self.objections),
            ("opened", "Gates opened.", self.opened_total),
            ("closed", "Gates closed.", self.closed_total),
            ("requeued", "Jobs requeued because they started elsewhere.", self.requeued_total),
            ("overlaps", "Nodes seen to be held twice.", self.overlaps_total),
        ];
        for (name, help, value) in counters {
            text += &format!(
                "# HELP pavior_slurm_{name}_total {help}\n\
                 # TYPE pavior_slurm_{name}_total counter\n\
                 pavior_slurm_{name}_total {value}\n"
            );
        }
        let gauges = [
            ("cycle_seconds", "How long the last cycle took.", self.cycle_seconds),
            ("up", "Whether Slurm answered in the last cycle.", f64::from(u8::from(self.up))),
            ("records_unreadable", "Records that cannot be read now.", self.unreadable as f64),
            ("jobs_waiting", "Jobs that could be placed.", self.waiting as f64),
            ("jobs_opened", "Jobs whose gate is open.", self.opened as f64),
            ("jobs_holding", "Jobs that hold nodes.", self.running as f64),
            ("nodes_free", "Nodes that are free.", f64::from(self.free)),
            ("nodes_failed", "Nodes that are not available.", f64::from(self.failed)),
        ];
        for (name, help, value) in gauges {
            text += &format!(
                "# HELP pavior_slurm_{name} {help}\n# TYPE pavior_slurm_{name} gauge\n\
                 pavior_slurm_{name} {value}\n"
            );
        }
        text
    }
}

/// Serves the metrics, whatever is asked for, from a thread of its own.
pub(crate) fn serve(address: &str, metrics: &Arc<Mutex<Metrics>>) -> Result<(), SlurmError> {
    let error = |error| SlurmError::Io { what: format!("metrics = \"{address}\""), error };
    let listener = TcpListener::bind(address).map_err(error)?;
    let metrics = Arc::clone(metrics);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
            let _ = stream.read(&mut [0; 4096]);
            let text = metrics.lock().map(|metrics| metrics.text()).unwrap_or_default();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
        }
    });
    Ok(())
}

/// Writes a line of the log.
pub(crate) fn log(now: u64, level: &str, event: &str, more: Value) {
    let mut line = Map::new();
    line.insert("time".into(), date(now).into());
    line.insert("level".into(), level.into());
    line.insert("event".into(), event.into());
    if let Value::Object(more) = more {
        line.extend(more);
    }
    // A log that cannot be written is no reason to stop placing jobs.
    let _ = writeln!(std::io::stderr().lock(), "{}", Value::Object(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_cannot_be_read_and_an_absent_slurm_are_counted_apart() {
        let metrics =
            Metrics { failures: 3, unreadable_total: 5, unreadable: 2, ..Metrics::default() };
        let text = metrics.text();
        for line in [
            "pavior_slurm_failures_total 3",
            "pavior_slurm_unreadable_total 5",
            "pavior_slurm_records_unreadable 2",
            "pavior_slurm_up 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
