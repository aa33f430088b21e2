//! Histories of jobs that were alone on the network, cached so that later jobs of the same kind
//! need not be simulated.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pavior_kernel::Time;
use pavior_mesh::{Grid, Sides};
use pavior_network::MessageTotals;
use rustc_hash::FxHashMap;

use super::NetworkSetup;

/// The duration of a job, and the totals for its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct History {
    pub(super) length: Time,
    pub(super) totals: MessageTotals,
}

/// Everything that determines the history of a lone job, except for the network and the settings
/// that all jobs share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HistoryKey {
    relative_layout: Box<[u32]>,
    sides: Sides,
    iterations: u64,
}

impl HistoryKey {
    pub(super) fn new(
        relative_layout: impl Into<Box<[u32]>>,
        sides: Sides,
        iterations: u64,
    ) -> HistoryKey {
        HistoryKey { relative_layout: relative_layout.into(), sides, iterations }
    }
}

/// A cache of durations and message totals for jobs alone on the network.
///
/// Clones share their contents. A history depends only on its key, so any runs can share a cache,
/// even if their machines, patterns and settings differ. Sharing affects only how long it takes to
/// compute results, not the results themselves.
#[derive(Clone, Default)]
pub struct Histories(Arc<Mutex<FxHashMap<String, SharedCache>>>);

/// Histories for one network and one traffic plan.
pub(super) type SharedCache = Arc<Mutex<HistoryCache>>;

/// Histories by key.
#[derive(Default)]
pub(super) struct HistoryCache {
    known: FxHashMap<HistoryKey, History>,
    words: usize,
}

impl Histories {
    /// Returns the histories for a machine and its network.
    pub(super) fn cache(&self, grid: &Grid, setup: &NetworkSetup) -> SharedCache {
        // Together with `HistoryKey`, this key contains everything that affects message times. The
        // relative layout includes the rank order.
        let NetworkSetup { settings, plan, .. } = setup;
        let kind = format!("{grid} {settings:?} {plan:?}");
        lock(&self.0).entry(kind).or_default().clone()
    }
}

impl HistoryCache {
    /// The maximum total number of words in the cached relative layouts (16 MB).
    const MOST_WORDS: usize = 1 << 22;

    pub(super) fn recall(cache: &SharedCache, key: &HistoryKey) -> Option<History> {
        lock(cache).known.get(key).copied()
    }

    pub(super) fn note(cache: &SharedCache, key: HistoryKey, history: History) {
        let mut kept = lock(cache);
        // The constant is an estimate of the size of the rest of the entry.
        let words = key.relative_layout.len() + 32;
        if kept.words + words <= Self::MOST_WORDS {
            kept.words += words;
            let before = kept.known.insert(key, history);
            debug_assert!(
                before.is_none_or(|before| before == history),
                "the key determines the history"
            );
        }
    }
}

/// Locks a mutex and ignores poisoning, because entries stay complete even if a thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
