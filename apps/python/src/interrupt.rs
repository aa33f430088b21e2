//! Long work without the interpreter, which Ctrl-C ends within half a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::other;

/// How often it is looked whether a signal came.
const POLL: Duration = Duration::from_millis(50);

/// How long an interrupted piece of work is waited for. One that takes longer, such as reading a
/// long log, ends by itself later: its result is not used.
const GRACE: Duration = Duration::from_millis(300);

/// What a signal raises, if one came.
fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// As [`watched`], for work that calls code of the caller. Its thread stays known to the
/// interpreter, so that a call costs little. A signal raises in the caller's code, too, which may
/// be in a loop without end. So does another thread that makes `is_stopped` true.
pub(crate) fn interruptible_own<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    mut looked: impl FnMut() -> PyResult<()> + Send,
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
    // If this fails, the caller's code ends by itself or not at all.
    let raise = || drop(Python::attach(|py| raise_in(py, thread.load(Ordering::Relaxed))));
    let mut polls_since = 0;
    let looked = || {
        polls_since += u32::from(is_stopped());
        // Most code ends by itself at the next instant of the run.
        if polls_since > 1 {
            raise();
        }
        looked()
    };
    let stop = || {
        stop();
        raise();
    };
    watched(py, stop, looked, work)
}

/// Raises `KeyboardInterrupt` in the Python code that a thread runs.
fn raise_in(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.call_method1("c_ulong", (thread,))?;
    let raised = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    raise.call1((thread, raised)).map(drop)
}

/// Runs something on a thread of its own, without the interpreter, and looks for signals meanwhile.
/// If a signal raises, `stop` is called, which must make the work end, and the exception is raised.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    watched(py, stop, || Ok(()), work)
}

/// As [`interruptible`]; `looked` is called whenever no signal was found, and what it raises ends
/// the work, too.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
    mut looked: impl FnMut() -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, answer) = mpsc::channel();
    let run = move || {
        // Where the receiver is gone, the work was interrupted.
        let _ = done.send(work());
    };
    std::thread::Builder::new()
        .name("pavior".into())
        .spawn(run)
        .map_err(|error| other(py, format!("no thread could be started: {error}")))?;
    py.detach(move || {
        loop {
            match answer.recv_timeout(POLL) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "a run failed: this is an error of pavior; please report it";
                    return Err(Python::attach(|py| other(py, message.into())));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(raised) = Python::attach(signals).and_then(|()| looked()) {
                        stop();
                        // Whether it ended or not: the exception is what the caller gets.
                        let _ = answer.recv_timeout(GRACE);
                        return Err(raised);
                    }
                }
            }
        }
    })
}
