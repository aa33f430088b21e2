//! The logs and lists of failures for simulations, which are files or logs in memory.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pavior::experiments::{Folder, InputError, InputFiles, ListRequest, LogRequest};
use pavior::files::Limits;
use pavior::workload::traces::{Filter, ReadOptions, Trace};
use pavior::workload::{FailureEvent, ReservedNodes};

/// A folder of files and in-memory logs with their own names.
pub(crate) struct Inputs {
    folder: Folder,
    memory: HashMap<String, Arc<Trace>>,
}

impl Inputs {
    pub(crate) fn new(folder: &Path) -> Inputs {
        Inputs { folder: Folder::new(folder, Limits::LINES), memory: HashMap::new() }
    }

    /// Adds a log under the name that experiments use for it.
    pub(crate) fn add(&mut self, name: &str, trace: Arc<Trace>) {
        self.memory.insert(name.to_string(), trace);
    }
}

impl InputFiles for Inputs {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        let Some(trace) = self.memory.get(&request.path) else { return self.folder.log(request) };
        let ReadOptions { first, filter, processors_per_node, nodes_from, .. } = &request.options;
        let is_divided = processors_per_node.is_some() || nodes_from.is_some();
        if first.is_none() && !is_divided && *filter == Filter::default() {
            return Ok(trace.clone());
        }
        Err("first, filter, status and similar options are only for log files; select rows of the \
             table instead"
            .into())
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        self.folder.failures(request)
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        self.folder.reservations(request)
    }
}
