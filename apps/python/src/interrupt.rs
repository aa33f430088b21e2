//! Long work without the interpreter, which Ctrl-C ends within half a second.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::other;

/// How often it is looked whether a signal came.
const POLL: Duration = Duration::from_millis(50);

/// How long an interrupted piece of work is waited for. One that takes longer, such as reading a long
/// log, ends by itself later: its result is not used.
const GRACE: Duration = Duration::from_millis(300);

/// What a signal raises, if one came.
fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Runs something on a thread of its own, without the interpreter, and looks for signals meanwhile. If
/// a signal raises, `stop` is called, which must make the work end, and the exception is raised.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    stop: impl FnOnce() + Send,
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
                    if let Err(raised) = Python::attach(signals) {
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
