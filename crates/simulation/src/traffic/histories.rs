//! What jobs saw that were alone on the network, so that the next of the kind need not be simulated.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pavior_kernel::Time;
use pavior_mesh::{Grid, Sides};
use pavior_network::{Footprint, Tally};
use rustc_hash::FxHashMap;

use super::NetworkSetup;

/// How long a job ran, and its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct History {
    pub(super) length: Time,
    pub(super) tally: Tally,
}

/// What the history of a job that is alone depends on, besides the network and what all jobs have
/// in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Course {
    form: Box<[u32]>,
    sides: Sides,
    iterations: u64,
}

impl Course {
    pub(super) fn new(footprint: &Footprint, sides: Sides, iterations: u64) -> Course {
        Course { form: footprint.form().into(), sides, iterations }
    }
}

/// The histories of jobs that were alone on the network: how long each took, and what its messages
/// added up to.
///
/// Clones share what they know, and any runs may share one, whatever their machines, patterns and
/// settings: a history is a function of its key. So results do not depend on what was remembered,
/// only the time that they take does.
#[derive(Clone, Default)]
pub struct Histories(Arc<Mutex<FxHashMap<String, Shelf>>>);

/// Histories on one kind of network.
pub(super) type Shelf = Arc<Mutex<Book>>;

/// Histories by course.
#[derive(Default)]
pub(super) struct Book {
    known: FxHashMap<Course, History>,
    words: usize,
}

impl Histories {
    /// Those of a machine and network.
    pub(super) fn shelf(&self, grid: &Grid, setup: &NetworkSetup) -> Shelf {
        // All that the time of a message depends on; the order of ranks is in the form.
        let NetworkSetup { settings, plan, .. } = setup;
        let kind = format!("{grid} {settings:?} {plan:?}");
        lock(&self.0).entry(kind).or_default().clone()
    }
}

impl Book {
    /// Most words of forms that are kept: 16 MB.
    const MOST_WORDS: usize = 1 << 22;

    pub(super) fn recall(shelf: &Shelf, course: &Course) -> Option<History> {
        lock(shelf).known.get(course).copied()
    }

    pub(super) fn note(shelf: &Shelf, course: Course, history: History) {
        let mut book = lock(shelf);
        // A fixed part for the rest of an entry.
        let words = course.form.len() + 32;
        if book.words + words <= Self::MOST_WORDS {
            book.words += words;
            let before = book.known.insert(course, history);
            debug_assert!(before.is_none_or(|before| before == history), "a function of its key");
        }
    }
}

/// Whoever panicked holding it left whole entries.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
