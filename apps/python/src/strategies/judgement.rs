//! Tests strategies against the oracle.

use pavior::Grid;
use pavior::draw::escape;
use pavior::strategies::claim::Claim;
use pavior::strategies::conformance::{self, Flaw};
use pavior::strategies::{Registry, Selection};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::free::Free;
use super::raised::Raised;
use super::strategy;
use crate::arguments::{self, whole};
use crate::errors::{failed, value};
use crate::interrupt::interruptible_own;
use crate::progress::Reporter;
use crate::{excerpt, geometry};

const DEFAULT_MACHINE: &str = "mesh:3x3";
/// The maximum size, in nodes, of a machine on which every occupancy is tried.
const MAX_NODES: u32 = 12;
/// The number of rounds of random boxes.
const ROUNDS: u64 = 20;
/// The number of steps in a random history.
const STEPS: u64 = 2_000;

/// The result of a strategy test; true if every answer was as claimed.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Judgement {
    /// The strategy, the machine and the claim, as text.
    subject: String,
    answers: u64,
    flaw: Option<Flaw>,
}

#[pymethods]
impl Judgement {
    /// The number of correct answers before the first wrong one.
    #[getter]
    fn answers(&self) -> u64 {
        self.answers
    }

    /// True if every answer was as claimed.
    #[getter]
    fn passed(&self) -> bool {
        self.flaw.is_none()
    }

    /// A description of the first wrong answer, or None if every answer was as claimed. It contains
    /// the request, the answer, the error, and a drawing of the state.
    #[getter]
    fn counterexample(&self) -> Option<String> {
        self.flaw.as_ref().map(ToString::to_string)
    }

    /// The arguments of `find` that led to the first wrong answer, if any. To repeat the call, use
    /// `Mine("mesh:3x3", 1).find(*judgement.asked)`.
    #[getter]
    fn asked<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(Flaw::Answer(example)) = &self.flaw else { return Ok(None) };
        let axes = example.free.grid().axes();
        let shape = example.request.shape.map(|sides| geometry::tuple(py, sides, axes));
        let free = Free { nodes: example.free.clone() };
        Ok(Some((free, shape.transpose()?, example.request.nodes).into_pyobject(py)?))
    }

    fn __bool__(&self) -> bool {
        self.passed()
    }

    /// Describes the result, and draws the wrong answer, if any.
    fn _repr_html_(&self) -> String {
        let paragraph = |text: &str| format!("<p>{}</p>", escape(text));
        let summary = paragraph(&self.summary());
        match &self.flaw {
            None => summary,
            Some(Flaw::Answer(example)) => {
                let sentence = paragraph(&pavior::text::cell(&example.sentence()));
                summary + &sentence + &pavior::draw::counterexample(example)
            }
            Some(Flaw::Words(words)) => summary + &paragraph(&pavior::text::cell(words)),
        }
    }

    fn __repr__(&self) -> String {
        let summary = self.summary();
        match &self.flaw {
            None => format!("<Judgement: {summary}>"),
            Some(flaw) => format!("<Judgement: {summary}>\n{flaw}"),
        }
    }
}

impl Judgement {
    fn summary(&self) -> String {
        let Judgement { subject, answers, flaw } = self;
        match flaw {
            None => format!("passed. {subject}; all {answers} answers are correct."),
            Some(Flaw::Answer(_)) => {
                format!("failed. {subject}; {answers} correct answers, then a wrong one.")
            }
            Some(Flaw::Words(_)) => format!("failed. {subject}."),
        }
    }
}

/// Tests a strategy, given as a class or a name, against an oracle that tries every base.
///
/// A strategy can be correct on a mesh but wrong on a torus, so test it on every kind of machine
/// that it supports.
///
/// `how` selects the states to test: `every` occupancy of a machine with at most 12 nodes, reached
/// node by node; `random` boxes; or a `history` of 2,000 random allocations, releases, failures and
/// repairs on a machine of any size. The states depend only on `seed`.
///
/// The test always checks that granted nodes are on the machine and free. A `contiguous` strategy
/// must grant the requested box (in any orientation if `turns` is true); any other strategy may
/// instead grant the requested number of nodes. The test also checks the strategy's claim (`first`,
/// `complete`, `partial` or `count`; see `Strategy`).
///
/// The result is true if all answers are correct. Otherwise, it describes and draws the first wrong
/// answer. Exceptions raised by the strategy are propagated. `progress` is as in `simulate`.
#[pyfunction]
#[pyo3(signature = (strategy, machine = None, *, how = "every", seed = 1, progress = None))]
#[pyo3(text_signature = "(strategy, machine='mesh:3x3', *, how='every', seed=1, progress=None)")]
pub(crate) fn judge(
    py: Python<'_>,
    strategy: &Bound<'_, PyAny>,
    machine: Option<&Bound<'_, PyAny>>,
    how: &str,
    #[pyo3(from_py_with = whole)] seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Judgement> {
    let grid = match machine {
        None => arguments::read(DEFAULT_MACHINE)?,
        Some(machine) => arguments::machine(machine)?,
    };
    let (mut registry, raised) = (Registry::new(), Raised::default());
    let selection = strategy::selection(strategy, &mut registry, Some(raised.clone()))?;
    selection.supports(&grid).map_err(value)?;
    let mut reporter = Reporter::new(progress, "answers", py)?;
    let subject = describe(&selection, &grid.to_string());
    let (planned, test) = test(how, selection, grid, seed)?;
    // Once a signal has been recorded, the test no longer calls the strategy.
    let on_signal = || raised.keep(PyKeyboardInterrupt::new_err(()));
    let on_poll = || reporter.report_if_due(raised.asked(), planned);
    let judged = interruptible_own(py, on_signal, on_poll, || false, test);
    let judged = judged.and_then(|judged| match raised.get() {
        Some(error) => Err(failed(py, error)),
        None => Ok(judged),
    });
    let judgement = judged.map(|judged| {
        let (answers, flaw) = match judged {
            Ok(answers) => (answers, None),
            Err(Flaw::Answer(example)) => (example.answers, Some(Flaw::Answer(example))),
            Err(flaw) => (0, Some(flaw)),
        };
        Judgement { subject, answers, flaw }
    });
    reporter.finish(py, judgement, |judgement| judgement.answers)
}

fn describe(selection: &Selection, machine: &str) -> String {
    let claim = Claim::of(selection).recognition.meaning();
    format!("On {machine}, {} claims {claim}", excerpt::cell(&selection.to_string()))
}

/// A test, which returns the number of correct answers.
type Test = Box<dyn FnOnce() -> Result<u64, Flaw> + Send>;

/// Returns the number of answers that a test checks (0 if unknown), and the test itself.
fn test(how: &str, selection: Selection, grid: Grid, seed: u64) -> PyResult<(u64, Test)> {
    Ok(match how {
        "every" if grid.nodes() > MAX_NODES => {
            return Err(value(format!(
                "how='every' supports at most {MAX_NODES} nodes, but {grid} has {}; use \
                 how='random' or how='history'",
                grid.nodes()
            )));
        }
        "every" => {
            let requests = conformance::requests(&selection, &grid).len() as u64;
            let test = move || conformance::every_occupancy(&selection, &grid);
            (requests << grid.nodes(), Box::new(test))
        }
        "random" => {
            (0, Box::new(move || conformance::random_boxes(&selection, &grid, seed, ROUNDS)))
        }
        "history" => (0, Box::new(move || conformance::history(&selection, &grid, seed, STEPS))),
        _ => {
            let how = pavior::text::shown(how);
            return Err(value(format!("how must be 'every', 'random' or 'history', not '{how}'")));
        }
    })
}
