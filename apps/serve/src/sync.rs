//! A value that threads change one at a time, and wait for.
//!
//! Its locks are those of the standard library. Unit tests have shuttle's in their place, which
//! tries the interleavings of threads: what uses them runs in [`explore`] or [`alone`].

use std::sync::PoisonError;
#[cfg(not(test))]
use std::sync::{Condvar, Mutex};
use std::time::Duration;

#[cfg(test)]
use shuttle::sync::{Condvar, Mutex};

/// A value under a lock, with a condition to wait for.
pub(crate) struct Monitor<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Monitor<T> {
    /// A value.
    pub(crate) fn new(value: T) -> Monitor<T> {
        Monitor { value: Mutex::new(value), changed: Condvar::new() }
    }

    /// Looks at the value, or changes it; one thread at a time.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        // A thread that panics under the lock leaves a value that is whole: changes are single
        // steps.
        change(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the value is ready, or some time has passed; a change is seen once its thread
    /// calls [`Monitor::wake`].
    pub(crate) fn wait(&self, patience: Duration, ready: impl Fn(&T) -> bool) {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        if !ready(&value) {
            // Woken for nothing is as good as woken: the caller looks again.
            drop(self.changed.wait_timeout(value, patience));
        }
    }

    /// Wakes a thread that waits.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }
}

/// Tries interleavings of a model's threads: in order up to a number, and then by chance.
#[cfg(test)]
pub(crate) fn explore(model: impl Fn() + Send + Sync + Clone + 'static) {
    let random = pavior_trials::size(500, 2000, 1_000_000);
    shuttle::check_dfs(model.clone(), Some(random.min(2000)));
    shuttle::check_random(model.clone(), random);
    shuttle::check_pct(model, random, 3);
}

/// Runs a test of one thread.
#[cfg(test)]
pub(crate) fn alone(test: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::new();
    config.max_steps = shuttle::MaxSteps::None;
    shuttle::Runner::new(shuttle::scheduler::RandomScheduler::new(1), config).run(test);
}
