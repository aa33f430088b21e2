//! Code of the caller's own, asked by the engine.

mod free;
mod job;
pub(crate) mod judgement;
mod scheduler;
mod strategy;
mod turn;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pavior_experiments::{Catalogue, Specification};
use pavior_kernel::CallerError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::value;
use scheduler::{Kind, Unit};

pub(crate) use free::Free;
pub(crate) use job::Job;
pub(crate) use strategy::register;
pub(crate) use turn::{Desk, Queue, QueueIterator, Running};

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
        let module = own.py().import("pavior._scheduler")?;
        let is = |class: &str| -> PyResult<bool> {
            let class = module.getattr(class)?;
            Ok(own.cast::<PyType>().is_ok_and(|own| own.is_subclass(&class).unwrap_or(false)))
        };
        let name: String = module.call_method1("name_of", (own,))?.extract()?;
        let kind = match own.cast::<PyType>() {
            Ok(class) if is("Strategy")? => {
                self.strategies = true;
                register(class, &mut self.catalogue.strategies, None)?;
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
        scheduler::register(own, kind, &name, &mut self.catalogue.schedulers, &self.unit)?;
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

/// A name for a registry, whose names live as long as the program: the same one is kept once.
fn lasting(name: &str) -> &'static str {
    static KNOWN: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(name) = known.get(name) {
        return name;
    }
    let name: &'static str = name.to_string().leak();
    known.insert(name);
    name
}

/// The first exception that code of the caller raised. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<OnceLock<CallerError>>);

impl Raised {
    /// Keeps an exception; a later one is a consequence of it.
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.get_or_init(|| CallerError::new(error));
    }

    /// What is kept; the caller's code is then asked no more.
    pub(crate) fn get(&self) -> Option<&CallerError> {
        self.0.get()
    }
}
