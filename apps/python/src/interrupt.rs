//! Runs long work without the interpreter lock, so that Ctrl-C stops it within half a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::other;

/// The interval between checks for signals.
const POLL: Duration = Duration::from_millis(50);

/// The time to wait for interrupted work to stop. Work that takes longer to stop, such as reading a
/// long log, ends later on its own, and its result is discarded.
const GRACE: Duration = Duration::from_millis(300);

/// Works like [`watched`], but for work that calls the caller's code. The worker thread stays
/// registered with the interpreter, which makes calls cheap. Because the caller's code may loop
/// forever, an exception is also raised in that code after a signal or once another thread makes
/// `is_stopped` true.
pub(crate) fn interruptible_own<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    mut on_poll: impl FnMut() -> PyResult<()> + Send,
    is_stopped: impl Fn() -> bool + Send + Sync,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let thread = Arc::new(AtomicU64::new(0));
    let own = thread.clone();
    let work = move || {
        Python::attach(|py| {
            let ident = py.import("threading").and_then(|it| it.call_method0("get_ident"));
            let ident = ident.and_then(|ident| ident.extract()).unwrap_or(0);
            own.store(ident, Ordering::Relaxed);
            py.detach(work)
        })
    };
    // Ignore errors: if this fails, there is no other way to stop the caller's code.
    let raise = || drop(Python::attach(|py| raise_in(py, thread.load(Ordering::Relaxed))));
    let mut polls_since = 0;
    let on_poll = || {
        polls_since += u32::from(is_stopped());
        // Most code stops on its own at the run's next event, so wait for another poll.
        if polls_since > 1 {
            raise();
        }
        on_poll()
    };
    let stop = || {
        stop();
        raise();
    };
    watched(py, stop, on_poll, work)
}

/// Raises `KeyboardInterrupt` in the Python code that a thread is running.
fn raise_in(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.call_method1("c_ulong", (thread,))?;
    let raised = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    raise.call1((thread, raised)).map(drop)
}

/// Runs a function on another thread, without the interpreter lock, while checking for signals. If
/// a signal raises an exception, calls `stop`, which must end the work, and then raises that
/// exception.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    watched(py, stop, || Ok(()), work)
}

/// Works like [`interruptible`], but also calls `on_poll` after each check that finds no signal. An
/// exception from `on_poll` also ends the work.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    mut on_poll: impl FnMut() -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, answer) = mpsc::channel();
    let run = move || {
        // If the receiver is gone, the work was interrupted.
        let _ = done.send(work());
    };
    std::thread::Builder::new()
        .name("pavior".into())
        .spawn(run)
        .map_err(|error| other(format!("cannot start a thread: {error}")))?;
    py.detach(move || {
        loop {
            match answer.recv_timeout(POLL) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "a run failed because of a bug in pavior; please report it";
                    return Err(other(message));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let poll = |py: Python<'_>| py.check_signals().and_then(|()| on_poll());
                    if let Err(raised) = Python::attach(poll) {
                        stop();
                        // Return the exception even if the work has not ended in time.
                        let _ = answer.recv_timeout(GRACE);
                        return Err(raised);
                    }
                }
            }
        }
    })
}
