//! The page's log, which is read from bytes in memory.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use pavior::Grid;
use pavior::experiments::{
    InputError, InputFiles, ListRequest, LogRequest, NoFiles, read_log_from,
};
use pavior::files::Limits;
use pavior::workload::inspect::LogSummary;
use pavior::workload::traces::{ReadOptions, Trace};
use pavior::workload::{FailureEvent, ReservedNodes};
use serde_json::{Value, json};

use crate::fault::Fault;

/// The log that the user dropped on the page. Without one, settings that use a log are rejected.
#[derive(Default)]
pub(crate) struct Log {
    name: String,
    bytes: Arc<[u8]>,
}

impl Log {
    /// Replaces the log, and returns its summary and a machine that is large enough to replay it.
    /// If the new log is malformed, keeps the old one.
    pub(crate) fn read(&mut self, name: String, bytes: &[u8]) -> Result<Value, Fault> {
        let log = Log { name, bytes: bytes.into() };
        let trace = log.trace(&ReadOptions::default()).map_err(Fault::of)?;
        *self = log;
        let summary = LogSummary::of(&trace, None);
        let largest = trace.records.iter().map(|record| u64::from(record.nodes)).max();
        let size = summary.machine_size.max(largest).unwrap_or(1);
        Ok(json!({ "summary": summary, "machine": machine(size) }))
    }

    fn trace(&self, options: &ReadOptions) -> Result<Trace, InputError> {
        let reader = Box::new(Cursor::new(self.bytes.clone()));
        Ok(read_log_from(Path::new(&self.name), reader, options, Limits::LINES)?)
    }
}

impl InputFiles for Log {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        if request.path != self.name {
            return NoFiles.log(request);
        }
        Ok(Arc::new(self.trace(&request.options)?))
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        NoFiles.failures(request)
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        NoFiles.reservations(request)
    }
}

/// Returns a nearly cubic torus with at least `nodes` nodes. Logs do not specify a topology.
fn machine(nodes: u64) -> String {
    let nodes = nodes.clamp(1, 1 << 24);
    let side = (1..=256_u64).find(|side| side.pow(3) >= nodes).unwrap_or(256);
    let high = nodes.div_ceil(side * side).max(1);
    let grid = Grid::torus(&[side as u16, side as u16, high as u16]);
    grid.map_or_else(|_| "torus:8x8x8".to_string(), |grid| grid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_machine_is_large_enough_for_the_largest_job() {
        let log = "; MaxProcs: 8\n1 0 -1 10 27 -1 -1 27 10 -1 1 1 1 -1 1 -1 -1 -1\n";
        let read = Log::default().read("a.swf".to_string(), log.as_bytes()).unwrap();
        assert_eq!(read["machine"], "torus:3x3x3");
    }
}
