//! The threads that runs share.

use crate::failure::Failure;

/// Runs on a pool of so many threads; one per core where nothing is said.
pub(crate) fn install<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    if threads == Some(0) {
        return Err(Failure::usage("--threads 0: there must be at least one thread"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    Ok(pool
        .map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?
        .install(work))
}
