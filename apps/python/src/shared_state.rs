//! A machine's state, which only one thread at a time can access.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use pavior::Grid;
use pavior::strategies::Selection;
use pavior::workload::{ShapeRule, Shaper};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::{broken, failed, other};
use crate::jobs::Jobs;

/// The state shared by all handles of a machine.
pub(crate) struct SharedState {
    pub(crate) grid: Grid,
    pub(crate) selection: Selection,
    /// The rule that turns a number of nodes into a box.
    pub(crate) rule: pavior::workload::Selection<ShapeRule>,
    pub(crate) seed: u64,
    inner: Mutex<Inner>,
    /// The thread that has access, or 0.
    user: AtomicUsize,
}

/// The state behind the lock.
pub(crate) struct Inner {
    pub(crate) machine: pavior::Machine,
    pub(crate) jobs: Jobs,
    /// The shaper, which chooses boxes for requests that specify only a number of nodes.
    pub(crate) shaper: Shaper,
}

impl Inner {
    /// Raises an exception if an error has occurred in the strategy.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.machine.error().map_or(Ok(()), |error| Err(failed(py, &error)))
    }
}

/// Exclusive access to the state.
pub(crate) struct StateAccess<'s> {
    inner: MutexGuard<'s, Inner>,
    shared: &'s SharedState,
}

impl Deref for StateAccess<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl DerefMut for StateAccess<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

impl Drop for StateAccess<'_> {
    fn drop(&mut self) {
        self.shared.user.store(0, Ordering::Relaxed);
    }
}

/// Returns a number that is unique to this thread among all live threads: the address of a
/// thread-local variable.
fn this_thread() -> usize {
    thread_local! {
        static OWN: u8 = const { 0 };
    }
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

/// The maximum number of nodes for which a search is faster than releasing the interpreter lock.
const QUICK: u32 = 4096;

impl SharedState {
    pub(crate) fn new(
        machine: pavior::Machine,
        jobs: Jobs,
        rule: pavior::workload::Selection<ShapeRule>,
        seed: u64,
    ) -> SharedState {
        let (grid, selection) = (*machine.grid(), machine.selection().clone());
        let shaper = Shaper::new(&rule, &grid, seed, 0);
        let inner = Mutex::new(Inner { machine, jobs, shaper });
        SharedState { grid, selection, rule, seed, inner, user: AtomicUsize::new(0) }
    }

    /// Returns true if searches are fast enough to keep the interpreter lock.
    pub(crate) fn is_quick(&self) -> bool {
        self.grid.nodes() <= QUICK
    }

    /// Locks the state. While waiting for another thread, releases the interpreter lock, because
    /// that thread may need it.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<StateAccess<'_>> {
        let this_thread = this_thread();
        let inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(_) => self.wait(py, this_thread)?,
        };
        self.user.store(this_thread, Ordering::Relaxed);
        Ok(StateAccess { inner, shared: self })
    }

    #[cold]
    fn wait(&self, py: Python<'_>, this_thread: usize) -> PyResult<MutexGuard<'_, Inner>> {
        if self.user.load(Ordering::Relaxed) == this_thread {
            return Err(broken("a strategy cannot use the machine that calls it"));
        }
        let inner = self.inner.lock_py_attached(py);
        inner.map_err(|_| other("an earlier change failed partway through"))
    }
}
