//! Adds user-defined strategies and schedulers to the built-in ones.

use pavior::experiments::{Catalogue, Specification};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::arguments::shown;
use crate::errors::value;
use crate::schedulers::{Kind, Unit, register as register_scheduler};
use crate::strategies::{class_of, register as register_strategy};

/// The language of a run's strategy and scheduler. If it is Python, a call may never return.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Native,
    Python,
}

/// The built-in and user-defined strategies and schedulers.
#[derive(Default)]
pub(crate) struct Extensions {
    pub(crate) catalogue: Catalogue,
    has_strategies: bool,
    has_schedulers: bool,
    unit: Unit,
}

impl Extensions {
    /// Adds a class or a function, and returns its name in the registry.
    pub(crate) fn add(&mut self, own: &Bound<'_, PyAny>) -> PyResult<String> {
        if is_class(own, "Strategy")? {
            return self.add_strategy(own);
        }
        let expected = "each of `classes` must be a subclass of Strategy, Scheduler or Priority";
        self.add_scheduler_or(own, expected)
    }

    /// Adds a strategy and returns its name in the registry.
    pub(crate) fn add_strategy(&mut self, own: &Bound<'_, PyAny>) -> PyResult<String> {
        let class = class_of(own)?;
        let selection = register_strategy(class, &mut self.catalogue.strategies, None)?;
        self.has_strategies = true;
        Ok(selection.to_string())
    }

    /// Adds a scheduler and returns its name in the registry.
    pub(crate) fn add_scheduler(&mut self, own: &Bound<'_, PyAny>) -> PyResult<String> {
        let expected =
            "a scheduler must be a name such as 'easy', a subclass of Scheduler or Priority";
        self.add_scheduler_or(own, expected)
    }

    /// Adds a scheduler. For any other object, returns an error that begins with `expected`.
    fn add_scheduler_or(&mut self, own: &Bound<'_, PyAny>, expected: &str) -> PyResult<String> {
        let kind = if is_class(own, "Priority")? {
            Kind::Priority
        } else if is_class(own, "Scheduler")? {
            Kind::Scheduler
        } else if own.is_callable() && own.cast::<PyType>().is_err() {
            Kind::Function
        } else {
            return Err(PyTypeError::new_err(format!(
                "{expected}, or a function that takes a job, not {}",
                shown(own)
            )));
        };
        let name = name_of(own)?;
        register_scheduler(own, kind, &name, &mut self.catalogue.schedulers, &self.unit)?;
        self.has_schedulers = true;
        Ok(name)
    }

    /// Returns `Python` if anything was added.
    pub(crate) fn code(&self) -> Code {
        if self.has_strategies || self.has_schedulers { Code::Python } else { Code::Native }
    }

    /// Sets the schedulers' time unit, which is known once the experiment has been read.
    pub(crate) fn settle(&self, experiment: &Specification) -> PyResult<()> {
        let Some(first) = experiment.points.first() else { return Ok(()) };
        let is_mixed = experiment.points.iter().any(|point| point.unit() != first.unit());
        if self.has_schedulers && is_mixed {
            let message = "a scheduler written in Python supports only one time unit; create a \
                separate experiment for each unit";
            return Err(value(message));
        }
        self.unit.get_or_init(|| first.unit());
        Ok(())
    }
}

/// Returns true if an object is a subclass of the package's class with the given name.
fn is_class(own: &Bound<'_, PyAny>, class: &str) -> PyResult<bool> {
    let class = own.py().import("pavior")?.getattr(class)?;
    own.cast::<PyType>().map_or(Ok(false), |own| own.is_subclass(&class))
}

fn name_of(own: &Bound<'_, PyAny>) -> PyResult<String> {
    own.py().import("pavior._scheduler")?.call_method1("name_of", (own,))?.extract()
}
