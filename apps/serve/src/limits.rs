//! The limit on open files and the number of connections that it allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of open files reserved for purposes other than connections: the journal, snapshots,
/// files being read, the lock, the database, the listener and the runtime.
const RESERVE: u64 = 64;

/// Raises the limit on open files as far as the system permits, and returns the number of
/// connections, at most `wanted`, that it allows in addition to the service's own files.
pub(crate) fn connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "the open file limit cannot be raised");
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
            "fewer connections are possible: the open file limit is low"
        );
    }
    fit
}

/// Returns the number of connections that a limit on files allows.
fn fitting(files: u64) -> usize {
    // If the limit is very low, half of the files are used for connections.
    let reserve = RESERVE.min(files / 2);
    usize::try_from(files - reserve).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_is_left_for_files() {
        assert_eq!([1, 64, 256, 1024, 4160].map(fitting), [1, 32, 192, 960, 4096]);
    }
}
