//! Strategies written in Python.

use pavior::boxes::orientations;
use pavior::names::{CallerError, Options};
use pavior::strategies::claim::{BoxGroup, Claim, Grants, Question, Recognition};
use pavior::strategies::{Entry, Registry, Scan, Selection, Strategy, StrategyKind, Work};
use pavior::{Cuboid, Grid, Occupancy, Placement, Request, Sides, Stream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::free::Free;
use super::lasting::lasting;
use super::raised::Raised;
use crate::arguments::{read, shown};
use crate::arrays::boxes;
use crate::errors::{broken, value};
use crate::geometry::{self, Box as PyBox};

/// The seed passed to every strategy object. The registry creates strategies without a seed,
/// because Rust strategies draw from their run's random number stream, which Python cannot use.
const SEED: u64 = 1;

/// A strategy that is an instance of a Python class.
struct InPython {
    object: Py<PyAny>,
    grid: Grid,
    raised: Raised,
}

impl InPython {
    fn call_find(
        &self,
        py: Python<'_>,
        free: &Occupancy,
        request: &Request,
    ) -> PyResult<Option<Placement>> {
        let axes = self.grid.axes();
        let shape = request.shape.map(|sides| geometry::tuple(py, sides, axes)).transpose()?;
        let view = Free { nodes: free.clone() };
        let answer = self.object.bind(py).call_method1("find", (view, shape, request.nodes))?;
        let wrong = || {
            let words = "`find` must return None, a Box or a sequence of Boxes";
            broken(format!("{words}, not {}", shown(&answer)))
        };
        placement(&answer, &self.grid, wrong)
    }

    /// Calls `granted` or `released`, unless an exception is already stored.
    fn notify(&self, method: &str, placement: &Placement) {
        if self.raised.get().is_some() {
            return;
        }
        Python::attach(|py| {
            let notified = boxes(py, &self.grid, placement.parts())
                .and_then(|parts| self.object.bind(py).call_method1(method, (parts,)));
            if let Err(error) = notified {
                self.raised.keep(error);
            }
        });
    }
}

impl Strategy for InPython {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        if self.raised.get().is_some() {
            return None;
        }
        self.raised.count();
        let answer = Python::attach(|py| self.call_find(py, free, request));
        answer.unwrap_or_else(|error| {
            self.raised.keep(error);
            None
        })
    }

    fn granted(&mut self, placement: &Placement) {
        self.notify("granted", placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.notify("released", placement);
    }

    fn work(&self) -> Work {
        Work::default()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        let object = Python::attach(|py| {
            let copied = py
                .import("copy")
                .and_then(|copy| copy.call_method1("deepcopy", (self.object.bind(py),)));
            let copied = copied.map(Bound::unbind);
            copied.unwrap_or_else(|error| {
                self.raised.keep(error);
                self.object.clone_ref(py)
            })
        });
        Box::new(InPython { object, grid: self.grid, raised: self.raised.clone() })
    }

    fn error(&self) -> Option<CallerError> {
        self.raised.get().cloned()
    }
}

/// Reads an answer, which is None, a box or several boxes. `wrong` is the error for anything else.
pub(crate) fn placement(
    answer: &Bound<'_, PyAny>,
    grid: &Grid,
    wrong: impl Fn() -> PyErr,
) -> PyResult<Option<Placement>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(one) = answer.cast::<PyBox>() {
        return Ok(Some(Placement::Whole(one.get().on(grid)?)));
    }
    let parts = answer.try_iter().map_err(|_| wrong())?;
    let part = |part: PyResult<Bound<'_, PyAny>>| {
        part?.cast::<PyBox>().map_err(|_| wrong())?.get().on(grid)
    };
    Ok(Some(parts.map(part).collect::<PyResult<Vec<Cuboid>>>()?.into()))
}

/// Selects a strategy by name or by Python class.
pub(crate) fn selection(
    given: &Bound<'_, PyAny>,
    registry: &mut Registry,
    raised: Option<Raised>,
) -> PyResult<Selection> {
    if let Ok(name) = given.cast::<PyString>() {
        return read(name.to_str()?);
    }
    register(class_of(given)?, registry, raised)
}

/// Returns an argument that is a subclass of `Strategy`. Raises `TypeError` for anything else.
pub(crate) fn class_of<'a, 'py>(given: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyType>> {
    let strategy = given.py().import("pavior._strategy")?.getattr("Strategy")?;
    match given.cast::<PyType>() {
        Ok(class) if class.is_subclass(&strategy)? => Ok(class),
        _ => Err(PyTypeError::new_err(format!(
            "a strategy must be a name such as 'tff', or a subclass of Strategy, not {}",
            shown(given)
        ))),
    }
}

/// Adds a class to a registry and selects it. Exceptions raised by the class's methods are stored
/// in `raised`. If `raised` is not given, each strategy object stores its own exceptions.
pub(crate) fn register(
    class: &Bound<'_, PyType>,
    registry: &mut Registry,
    raised: Option<Raised>,
) -> PyResult<Selection> {
    let name: String = class.getattr("name")?.extract()?;
    let contiguous: bool = class.getattr("contiguous")?.extract()?;
    let turns: bool = class.getattr("turns")?.extract()?;
    let claim = checked_claim(class, &name, contiguous, turns)?;
    let owned = class.clone().unbind();
    let build = move |grid: &Grid, _: &Options| -> Result<Box<dyn Strategy>, CallerError> {
        let made =
            Python::attach(|py| owned.bind(py).call1((grid.to_string(), SEED)).map(Bound::unbind));
        let object = made.map_err(CallerError::new)?;
        let raised = raised.clone().unwrap_or_default();
        Ok(Box::new(InPython { object, grid: *grid, raised }))
    };
    let kind = StrategyKind::own(contiguous, build).with_turns(turns).with_claim(claim);
    let entry = Entry { source: "written in Python", ..Entry::new(lasting(&name), kind) };
    registry.add(entry).map_err(value)?;
    registry.select(&name).map_err(value)
}

/// Returns a class's claim, if the claim is valid for the class.
fn checked_claim(
    class: &Bound<'_, PyType>,
    name: &str,
    contiguous: bool,
    turns: bool,
) -> PyResult<fn(&Options) -> Claim> {
    let claim: String = class.getattr("claim")?.extract()?;
    let name = pavior::text::shown(name);
    if contiguous && claim == "count" {
        return Err(value(format!("{name}: the claim `count` requires `contiguous = False`")));
    }
    claim_of(&claim, turns).ok_or_else(|| {
        let claim = pavior::text::shown(&claim);
        value(format!(
            "{name}: `{claim}` is not a valid claim; choose first, complete, partial or count"
        ))
    })
}

/// Returns a claim in the form that the oracle tests.
fn claim_of(word: &str, turns: bool) -> Option<fn(&Options) -> Claim> {
    fn claim(turns: bool, recognition: Recognition) -> Claim {
        let family = if turns { all_orientations } else { requested_orientation };
        Claim { family, scan: Scan::default(), grants: Grants::Exact, recognition }
    }
    Some(match (word, turns) {
        ("first", false) => |_| claim(false, Recognition::First),
        ("first", true) => |_| claim(true, Recognition::First),
        ("complete", false) => |_| claim(false, Recognition::Complete),
        ("complete", true) => |_| claim(true, Recognition::Complete),
        ("partial", false) => |_| claim(false, Recognition::Partial(Question::Boxes)),
        ("partial", true) => |_| claim(true, Recognition::Partial(Question::Boxes)),
        ("count", _) => {
            |_| Claim { family: |_, _, _| Vec::new(), ..claim(false, Recognition::Count) }
        }
        _ => return None,
    })
}

fn requested_orientation(request: &Request, grid: &Grid, _: &Options) -> Vec<BoxGroup> {
    request.shape.filter(|&shape| grid.fits(shape)).map(BoxGroup::cuboid).into_iter().collect()
}

fn all_orientations(request: &Request, grid: &Grid, _: &Options) -> Vec<BoxGroup> {
    let fits = |sides: &Sides| grid.fits(*sides);
    let all = request.shape.into_iter().flat_map(orientations);
    all.filter(fits).map(BoxGroup::cuboid).collect()
}
