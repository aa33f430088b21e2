//! A value that threads change one at a time, and wait for.
//!
//! The limiter of rates and the writer's queue are written over [`Monitor`]. The service uses the
//! one over the standard library; their tests use the same code over shuttle, which tries
//! the interleavings of threads.

use std::time::Duration;

/// A value under a lock, with a condition to wait for.
pub(crate) trait Monitor<T> {
    /// A value.
    fn new(value: T) -> Self;

    /// Looks at the value, or changes it; one thread at a time.
    fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R;

    /// Waits until the value is ready, or some time has passed; a change is seen once its thread
    /// calls [`Monitor::wake`].
    fn wait(&self, patience: Duration, ready: impl Fn(&T) -> bool);

    /// Wakes a thread that waits.
    fn wake(&self);
}

macro_rules! monitor {
    ($name:ident, $($sync:ident)::+, $visibility:vis) => {
        /// A monitor over the locks of one library.
        $visibility struct $name<T> {
            value: $($sync)::+::Mutex<T>,
            changed: $($sync)::+::Condvar,
        }

        impl<T> Monitor<T> for $name<T> {
            fn new(value: T) -> Self {
                let value = $($sync)::+::Mutex::new(value);
                $name { value, changed: $($sync)::+::Condvar::new() }
            }

            fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
                // A thread that panics under the lock leaves a value that is whole: changes are
                // single steps.
                let mut value = self.value.lock().unwrap_or_else(|held| held.into_inner());
                change(&mut value)
            }

            fn wait(&self, patience: Duration, ready: impl Fn(&T) -> bool) {
                let value = self.value.lock().unwrap_or_else(|held| held.into_inner());
                if !ready(&value) {
                    // Woken for nothing is as good as woken: the caller looks again.
                    drop(self.changed.wait_timeout(value, patience));
                }
            }

            fn wake(&self) {
                self.changed.notify_one();
            }
        }
    };
}

monitor!(ThreadMonitor, std::sync, pub(crate));

#[cfg(test)]
monitor!(TriedMonitor, shuttle::sync, pub(crate));

/// Tries interleavings of a model's threads: in order up to a number, and then by chance.
/// `PAVIOR_INTERLEAVINGS` says how many by chance.
#[cfg(test)]
pub(crate) fn explore(model: impl Fn() + Send + Sync + Clone + 'static) {
    let told = std::env::var("PAVIOR_INTERLEAVINGS").ok();
    let random = told.and_then(|text| text.parse().ok()).unwrap_or(2000);
    shuttle::check_dfs(model.clone(), Some(2000));
    shuttle::check_random(model.clone(), random);
    shuttle::check_pct(model, random, 3);
}
