//! The limit of open files, and how many connections fit below it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are not connections: the journal, snapshots, what is read back, the lock, the
/// database, the listener and the runtime's own.
const RESERVE: u64 = 64;

/// Raises the limit of open files as far as the system lets this process; how many connections fit
/// below it beside the files of the service, `wanted` at most.
pub(crate) fn connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be raised");
            limit.current
        }
    };
    // No limit at all is `None`.
    let Some(files) = current else { return wanted };
    let fit = fitting(files).min(wanted);
    if fit < wanted {
        tracing::warn!(
            connections = fit,
            wanted,
            open_files = files,
            "fewer connections: the limit of open files is low"
        );
    }
    fit
}

/// Connections below a number of files.
fn fitting(files: u64) -> usize {
    // With very few files, half are connections.
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
