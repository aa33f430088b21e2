//! Strategies held against the oracle.

use pavior_allocation::{Registry, conformance};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::raised::Raised;
use super::strategy::register;
use crate::errors::{failed, machine as read_machine, read, value};
use crate::interrupt::interruptible_own;

/// What a judgement came to.
#[pyclass(frozen, get_all, module = "pavior")]
pub(crate) struct Judgement {
    /// The answers that were judged before the first wrong one.
    answers: u64,
    /// Whether every answer was as claimed.
    passed: bool,
    /// The state drawn, the request, the answer, and what the oracle says; None if all is well.
    counterexample: Option<String>,
}

#[pymethods]
impl Judgement {
    fn __bool__(&self) -> bool {
        self.passed
    }

    fn __repr__(&self) -> String {
        match &self.counterexample {
            None => format!("<Judgement passed, {} answers>", self.answers),
            Some(counterexample) => format!("<Judgement failed>\n{counterexample}"),
        }
    }
}

/// Holds a strategy, a class or a name, against the oracle that tries every base, by what it
/// claims.
///
/// `how` is `every` (every occupancy of a machine of at most 12 nodes), `random` (random boxes) or
/// `history` (random allocations, releases, failures and repairs).
#[pyfunction]
#[pyo3(signature = (strategy, machine = "mesh:3x3", *, how = "every", seed = 1))]
pub(crate) fn judge(
    py: Python<'_>,
    strategy: &Bound<'_, PyAny>,
    machine: &str,
    how: &str,
    seed: u64,
) -> PyResult<Judgement> {
    let grid = read_machine(py, machine)?;
    let (mut registry, raised) = (Registry::new(), Raised::default());
    let selection = match strategy.cast::<PyType>() {
        Ok(class) => register(class, &mut registry, Some(raised.clone()))?,
        Err(_) => read(py, strategy.extract()?)?,
    };
    let judged = match how {
        "every" if grid.nodes() > 12 => {
            return Err(value("every occupancy is tried on machines of at most 12 nodes"));
        }
        "every" => run(py, &raised, move || conformance::every_occupancy(&selection, &grid)),
        "random" => {
            run(py, &raised, move || conformance::random_boxes(&selection, &grid, seed, 20))
        }
        "history" => run(py, &raised, move || conformance::history(&selection, &grid, seed, 2_000)),
        _ => return Err(value(format!("`{how}` is none of every, random, history"))),
    };
    let judged = judged?;
    if let Some(error) = raised.get() {
        return Err(failed(py, error));
    }
    Ok(match judged {
        Ok(answers) => Judgement { answers, passed: true, counterexample: None },
        Err(text) => Judgement { answers: 0, passed: false, counterexample: Some(text) },
    })
}

/// Judges without the interpreter; after a signal the strategy is asked no more.
fn run(
    py: Python<'_>,
    raised: &Raised,
    judge: impl FnOnce() -> Result<u64, String> + Send + 'static,
) -> PyResult<Result<u64, String>> {
    let stop = || raised.keep(PyKeyboardInterrupt::new_err(()));
    interruptible_own(py, stop, || false, judge)
}
