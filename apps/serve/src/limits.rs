//! The open file limit, and the number of connections that it allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of file descriptors reserved for everything but connections: the journal, snapshots,
/// files being read, the lock, the database, the listener and the runtime.
const RESERVE: u64 = 64;

/// Raises the limit on open files as far as the system permits. Returns the number of connections
/// that the new limit allows, up to `wanted`.
pub(crate) fn connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "cannot raise the open-file limit");
            limit.current
        }
    };
    // `None` means no limit.
    let Some(files) = current else { return wanted };
    let fit = fitting(files).min(wanted);
    if fit < wanted {
        tracing::warn!(
            connections = fit,
            wanted,
            open_files = files,
            "the open-file limit allows too few connections; raise the hard limit"
        );
    }
    fit
}

/// Returns the number of connections that an open file limit allows.
fn fitting(files: u64) -> usize {
    // If the limit is very low, connections may use half of the descriptors.
    let reserve = RESERVE.min(files / 2);
    usize::try_from(files - reserve).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_open_files_are_reserved() {
        assert_eq!([1, 64, 256, 1024, 4160].map(fitting), [1, 32, 192, 960, 4096]);
    }
}
