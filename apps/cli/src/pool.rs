//! The thread pool shared by all runs.

use crate::failure::Failure;

/// The maximum number of threads per core.
const MAX_THREADS_PER_CORE: usize = 8;

/// Runs a function in a thread pool of the given size. The default is one thread per core.
pub(crate) fn install<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    // For 0, rayon uses `RAYON_NUM_THREADS` or else one thread per core.
    let threads = threads.map_or(Ok(0), |threads| count(Some(threads)))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool
        .map_err(|error| Failure::Other(format!("cannot start threads: {error}")))?
        .install(work))
}

/// Returns the number of threads to start. The default is one thread per core.
pub(crate) fn count(threads: Option<usize>) -> Result<usize, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match threads {
        Some(0) => Err(Failure::usage("--threads 0: must be at least 1")),
        // Results do not depend on the number of threads, and many threads per core do not help.
        Some(threads) => Ok(threads.min(MAX_THREADS_PER_CORE * cores)),
        None => Ok(cores),
    }
}
