//! The strategies and schedulers that a caller adds to the built-in ones.

use pavior_experiments::{Catalogue, Specification};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::value;
use crate::schedulers::{Kind, Unit, register as register_scheduler};
use crate::strategies::register as register_strategy;

/// The built-in entries, and the strategies and schedulers of the caller.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) catalogue: Catalogue,
    strategies: bool,
    schedulers: bool,
    unit: Unit,
}

impl Own {
    /// Adds a class or a function; returns the name under which it stands.
    pub(crate) fn add(&mut self, own: &Bound<'_, PyAny>) -> PyResult<String> {
        let (package, module) = (own.py().import("pavior")?, own.py().import("pavior._scheduler")?);
        let is = |class: &str| -> PyResult<bool> {
            let class = package.getattr(class)?;
            Ok(own.cast::<PyType>().is_ok_and(|own| own.is_subclass(&class).unwrap_or(false)))
        };
        let name: String = module.call_method1("name_of", (own,))?.extract()?;
        let kind = match own.cast::<PyType>() {
            Ok(class) if is("Strategy")? => {
                self.strategies = true;
                register_strategy(class, &mut self.catalogue.strategies, None)?;
                return Ok(name);
            }
            _ if is("Priority")? => Kind::Priority,
            _ if is("Scheduler")? => Kind::Scheduler,
            Err(_) if own.is_callable() => Kind::Function,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "{} is no Strategy, no Scheduler and no function of a job",
                    own.repr()?
                )));
            }
        };
        self.schedulers = true;
        register_scheduler(own, kind, &name, &mut self.catalogue.schedulers, &self.unit)?;
        Ok(name)
    }

    /// Whether anything was added.
    pub(crate) fn is_used(&self) -> bool {
        self.strategies || self.schedulers
    }

    /// Tells the schedulers what times are in, now that the experiment has been read.
    pub(crate) fn settle(&self, experiment: &Specification) -> PyResult<()> {
        let Some(first) = experiment.points.first() else { return Ok(()) };
        if self.schedulers && experiment.points.iter().any(|point| point.unit() != first.unit()) {
            let message = "schedulers in Python tell times in one unit: make an experiment of each";
            return Err(value(message));
        }
        self.unit.get_or_init(|| first.unit());
        Ok(())
    }
}
