//! A live machine.

mod allocation;
mod request;
mod state;

use std::sync::Arc;

use pavior::answers::{SearchLimits, Shape, Snapshot};
use pavior::strategies::{Registry, Selection};
use pavior::{AllocateError, BuildError, JobId, Placement, Refusal};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyTuple, PyType};

use crate::arguments::{self, read, shown, whole};
use crate::arrays::{array, boxes, free_nodes, word};
use crate::errors::{bad_name, failed, other, refused, value};
use crate::explain::{self, Explanation};
use crate::jobs::{JobName, Jobs};
use crate::shared_state::{Inner, SharedState};
use crate::slots::{self, Slots};
use crate::{geometry, strategies};
use allocation::{new_name, release};
use request::NodeRequest;

pub(crate) use allocation::Allocation;

/// A machine and the strategy that allocates its nodes.
///
/// `machine` is a name, such as `torus:8x8x8`, or the sides of a mesh, such as `(16, 16)`.
/// `strategy` is a name with options, such as `tff:scan=yx`, or a class. `shape_rule` turns a
/// number of nodes into a box. `seed` is for strategies and rules that make random choices.
///
/// Raises `BadName` for an unknown name, and `PaviorError` if the strategy does not work on the
/// machine. Several threads can share a machine, which handles one call at a time.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Machine {
    shared: Arc<SharedState>,
}

impl Machine {
    pub(crate) fn of(shared: SharedState) -> Machine {
        Machine { shared: Arc::new(shared) }
    }

    /// Grants a request, or returns the reason for refusing it. If the strategy's Python code
    /// fails, nothing is granted.
    fn grant(
        &self,
        py: Python<'_>,
        asked: &NodeRequest,
        job: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Result<Allocation, Refusal>> {
        let mut inner = self.shared.lock(py)?;
        let name = new_name(&mut inner, job)?;
        let Inner { machine, jobs, shaper } = &mut *inner;
        let (number, request) = (jobs.number_for(&name), asked.request(shaper));
        let granted = if self.shared.is_quick() {
            machine.allocate(number, &request).cloned()
        } else {
            py.detach(|| machine.allocate(number, &request).cloned())
        };
        let placement = match granted {
            Ok(placement) => placement,
            Err(AllocateError::Refused(refusal)) => return Ok(Err(refusal)),
            Err(AllocateError::Failed(error)) => return Err(failed(py, &error)),
            Err(error @ AllocateError::RepeatedJob(_)) => return Err(other(error.to_string())),
        };
        self.keep(py, &mut inner, name, number, placement).map(Ok)
    }

    /// Records a job's nodes. If the strategy's notification method fails, releases them again.
    fn keep(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        name: JobName,
        number: JobId,
        placement: Placement,
    ) -> PyResult<Allocation> {
        if let Some(error) = inner.machine.error() {
            let _ = inner.machine.release(number);
            return Err(failed(py, &error));
        }
        inner.jobs.add(&name, number);
        let serial = inner.jobs.serial(&name);
        Ok(Allocation { shared: self.shared.clone(), name, placement, serial })
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (machine, strategy = None, *, shape_rule = "compact", seed = 1))]
    #[pyo3(text_signature = "(machine, strategy='tff', *, shape_rule='compact', seed=1)")]
    fn new(
        py: Python<'_>,
        machine: &Bound<'_, PyAny>,
        strategy: Option<&Bound<'_, PyAny>>,
        shape_rule: &str,
        #[pyo3(from_py_with = whole)] seed: u64,
    ) -> PyResult<Machine> {
        let grid = arguments::machine(machine)?;
        let selection = match strategy {
            None => read("tff")?,
            Some(given) => strategies::selection(given, &mut Registry::new(), None)?,
        };
        let name = selection.to_string();
        let built = pavior::Machine::with_seed(grid, &selection, seed);
        let built = built.map_err(|error| match error {
            BuildError::Failed(error) => failed(py, &error),
            error => bad_name(&name, error.to_string(), 0..name.len()),
        })?;
        let rule = read(shape_rule)?;
        Ok(Machine::of(SharedState::new(built, Jobs::default(), rule, seed)))
    }

    /// Grants nodes to a job. If the request is refused, raises `Refused` with the reason.
    ///
    /// `shape` is one to three sides, such as `(4, 4, 2)` or `"4x4x2"`. An int is a number of
    /// nodes, like `nodes`, for which the shape rule chooses a box. `job` is an int or a str, and
    /// defaults to the next number. `freedom` is the freedom in placing the job: `box`, `turned`,
    /// `any-box`, `connected` or `any`.
    #[pyo3(signature = (shape = None, *, nodes = None, job = None, freedom = None))]
    fn allocate(
        &self,
        py: Python<'_>,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
        job: Option<&Bound<'_, PyAny>>,
        freedom: Option<&str>,
    ) -> PyResult<Allocation> {
        let asked = NodeRequest::of(&self.shared.grid, shape, nodes, freedom)?;
        self.grant(py, &asked, job)?.map_err(refused)
    }

    /// Works like `allocate`, but returns the reason for a refusal instead of raising `Refused`.
    #[pyo3(signature = (shape = None, *, nodes = None, job = None, freedom = None))]
    fn try_allocate(
        &self,
        py: Python<'_>,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
        job: Option<&Bound<'_, PyAny>>,
        freedom: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let asked = NodeRequest::of(&self.shared.grid, shape, nodes, freedom)?;
        match self.grant(py, &asked, job)? {
            Ok(allocation) => Ok(Py::new(py, allocation)?.into_any()),
            Err(refusal) => Ok(word(py, refusal)),
        }
    }

    /// Grants the given box or boxes to a job, bypassing the strategy. Raises `ValueError` if any
    /// of the boxes is not free.
    #[pyo3(signature = (boxes, *, job = None))]
    fn allocate_at(
        &self,
        py: Python<'_>,
        boxes: &Bound<'_, PyAny>,
        job: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Allocation> {
        let grid = self.shared.grid;
        let wrong = || {
            let given = shown(boxes);
            PyTypeError::new_err(format!("allocate_at requires one or more Boxes, not {given}"))
        };
        let placement = strategies::placement(boxes, &grid, wrong)?.ok_or_else(wrong)?;
        let mut inner = self.shared.lock(py)?;
        let name = new_name(&mut inner, job)?;
        let number = inner.jobs.number_for(&name);
        let placement = inner.machine.allocate_at(number, placement).cloned().map_err(value)?;
        self.keep(py, &mut inner, name, number, placement)
    }

    /// Releases a job's nodes. Raises `KeyError` if the job does not hold them.
    fn release(&self, py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<()> {
        match what.cast::<Allocation>() {
            Ok(allocation) if Arc::ptr_eq(&allocation.get().shared, &self.shared) => {
                allocation.get().release(py)
            }
            Ok(_) => Err(value("the allocation belongs to another machine")),
            Err(_) => {
                let name = JobName::of(what)?;
                release(py, &mut *self.shared.lock(py)?, &name)
            }
        }
    }

    /// Returns the boxes that a request would get now, or the reason why the request would be
    /// refused. The machine does not change.
    #[pyo3(signature = (shape = None, *, nodes = None, freedom = None))]
    fn probe(
        &self,
        py: Python<'_>,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
        freedom: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let asked = NodeRequest::of(&self.shared.grid, shape, nodes, freedom)?;
        let mut inner = self.shared.lock(py)?;
        let request = asked.request(&mut inner.shaper);
        let answer = inner.machine.probe(&request);
        inner.check(py)?;
        Ok(match answer {
            Ok(placement) => boxes(py, &self.shared.grid, placement.parts())?.into_any().unbind(),
            Err(refusal) => word(py, refusal),
        })
    }

    /// Compares where several strategies would place a request, and finds the jobs that block it.
    #[pyo3(signature = (shape = None, strategies = None, *, nodes = None, freedom = None))]
    #[pyo3(text_signature = "($self, shape=None, strategies=(), *, nodes=None, freedom=None)")]
    fn explain(
        &self,
        py: Python<'_>,
        shape: Option<&Bound<'_, PyAny>>,
        strategies: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
        freedom: Option<&str>,
    ) -> PyResult<Explanation> {
        let asked = NodeRequest::of(&self.shared.grid, shape, nodes, freedom)?;
        let mut selections: Vec<Selection> = Vec::new();
        match strategies.map(|given| (given, given.extract::<String>())) {
            None => {}
            Some((_, Ok(name))) => selections.push(read(&name)?),
            Some((several, Err(_))) => {
                for name in several.try_iter()? {
                    selections.push(read(&name?.extract::<String>()?)?);
                }
            }
        }
        if selections.is_empty() {
            selections.push(self.shared.selection.clone());
        }
        let mut inner = self.shared.lock(py)?;
        let request = asked.request(&mut inner.shaper);
        explain::explain(py, &self.shared, &inner, &selections, &request)
    }

    /// Counts how many boxes of a shape, in any orientation, fit at the same time after at most
    /// `moves` jobs have moved. No strategy is called, and the machine does not change. `budget` is
    /// the maximum number of bit-set words to examine.
    #[pyo3(signature = (shape, *, moves = 0, budget = SearchLimits::BUDGET))]
    #[pyo3(text_signature = "($self, shape, *, moves=0, budget=120000000)")]
    fn slots(
        &self,
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        moves: usize,
        budget: u64,
    ) -> PyResult<Slots> {
        let (sides, count) = geometry::numbers(shape, "a shape", 1)?;
        if count != self.shared.grid.axes() {
            let axes = self.shared.grid.axes();
            return Err(value(format!(
                "expected {axes} sides, one for each axis of the machine, but found {count}"
            )));
        }
        let (snapshot, jobs) = {
            let inner = self.shared.lock(py)?;
            (Snapshot::of(&inner.machine), inner.jobs.clone())
        };
        let limits = SearchLimits { budget, ..SearchLimits::jobs(moves) };
        Ok(py.detach(|| slots::count(&snapshot, &jobs, Shape::new(sides), &limits)))
    }

    /// Marks a node as failed. Returns the job that holds the node, if any. That job keeps the
    /// node.
    fn fail(&self, py: Python<'_>, node: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let node = geometry::node(&self.shared.grid, node)?;
        let mut inner = self.shared.lock(py)?;
        let holder = inner.machine.fail(node).map_err(value)?;
        inner.check(py)?;
        holder.map(|job| inner.jobs.name(job).to_object(py)).transpose()
    }

    /// Marks a node as healthy again.
    fn repair(&self, py: Python<'_>, node: &Bound<'_, PyAny>) -> PyResult<()> {
        let node = geometry::node(&self.shared.grid, node)?;
        let mut inner = self.shared.lock(py)?;
        inner.machine.repair(node).map_err(value)?;
        inner.check(py)
    }

    /// Returns an independent copy for trying out changes.
    fn fork(&self, py: Python<'_>) -> PyResult<Machine> {
        let inner = self.shared.lock(py)?;
        inner.check(py)?;
        let SharedState { rule, seed, .. } = &*self.shared;
        let (machine, jobs) = (inner.machine.clone(), inner.jobs.clone());
        Ok(Machine::of(SharedState::new(machine, jobs, rule.clone(), *seed)))
    }

    /// The number of free, healthy nodes.
    #[getter]
    fn free(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.shared.lock(py)?.machine.free().count())
    }

    /// The number of nodes held by jobs.
    #[getter]
    fn busy(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.shared.lock(py)?.machine.busy_nodes())
    }

    /// The number of failed nodes that no job holds.
    #[getter]
    fn failed(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.shared.lock(py)?.machine.failed_nodes())
    }

    /// The sides of the machine.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        geometry::tuple(py, self.shared.grid.sides(), self.shared.grid.axes())
    }

    /// The name of the machine, such as `torus:8x8x8`.
    #[getter]
    fn name(&self) -> String {
        self.shared.grid.to_string()
    }

    /// The strategy, with its options.
    #[getter]
    fn strategy(&self) -> String {
        self.shared.selection.to_string()
    }

    /// The rule, with its options, that turns a number of nodes into a box.
    #[getter]
    fn shape_rule(&self) -> String {
        self.shared.rule.to_string()
    }

    /// The sides of the largest free box, or zeros if no node is free.
    #[getter]
    fn largest_free<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let free = self.shared.lock(py)?.machine.free().clone();
        let largest = py.detach(|| free.largest_free());
        let sides = largest.map_or([0; 3], |cuboid| cuboid.sides);
        geometry::tuple(py, sides, self.shared.grid.axes())
    }

    /// A number that increases with every change.
    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.shared.lock(py)?.machine.state())
    }

    /// Returns a new array `[z, y, x]`, or `out`, that is True at free nodes. Requires numpy.
    #[pyo3(signature = (out = None))]
    fn occupancy<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = free_nodes(py, self.shared.lock(py)?.machine.free())?;
        let Some(out) = out else { return Ok(array) };
        py.import("numpy")?.call_method1("copyto", (&out, array))?;
        Ok(out)
    }

    /// Returns an array `[z, y, x]` that contains, for each node, the index in `jobs` of the job
    /// that holds it. A free node is -1, and a failed node that no job holds is -2. Requires numpy.
    fn holders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let grid = self.shared.grid;
        let inner = self.shared.lock(py)?;
        let mut holders = vec![-2_i64; grid.nodes() as usize];
        inner.machine.free().iter().for_each(|node| holders[node.index()] = -1);
        for (index, (_, placement)) in inner.machine.grants().into_iter().enumerate() {
            for node in placement.parts().iter().flat_map(|part| part.nodes(&grid)) {
                holders[node.index()] = index as i64;
            }
        }
        drop(inner);
        let bytes: Vec<u8> = holders.iter().flat_map(|holder| holder.to_le_bytes()).collect();
        array(py, &grid, &bytes, "<i8")
    }

    /// A snapshot of the jobs that hold nodes, in the order in which the nodes were granted.
    #[getter]
    fn jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let inner = self.shared.lock(py)?;
        let jobs = PyDict::new(py);
        for (number, placement) in inner.machine.grants() {
            let (shared, placement) = (self.shared.clone(), placement.clone());
            let name = inner.jobs.name(number);
            let (key, serial) = (name.to_object(py)?, inner.jobs.serial(&name));
            jobs.set_item(key, Py::new(py, Allocation { shared, name, placement, serial })?)?;
        }
        Ok(PyMappingProxy::new(py, jobs.as_mapping()))
    }

    /// Returns the state as JSON, for `from_json`. Raises `TypeError` if the strategy is a Python
    /// class.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.shared.lock(py)?;
        state::to_json(&self.shared, &inner)
    }

    /// Creates a machine from the result of `to_json`. A randomized strategy restarts its random
    /// number stream.
    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Machine> {
        state::from_json(text).map(Machine::of)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let text = slf.get().to_json(slf.py())?;
        Ok((slf.get_type().getattr("from_json")?, (text,)))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.shared.lock(py)?;
        Ok(explain::picture(&inner))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.shared.lock(py)?;
        let SharedState { grid, selection, .. } = &*self.shared;
        let (free, busy) = (inner.machine.free().count(), inner.machine.busy_nodes());
        let failed = inner.machine.failed_nodes();
        Ok(format!("<Machine {grid} {selection}: {free} free, {busy} busy, {failed} failed>"))
    }
}
