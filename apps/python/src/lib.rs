//! The native part of the Python package `pavior`.
//!
//! This crate converts arguments to Rust types, errors to exceptions, and results to Python objects
//! and Arrow tables. All other work is done by the other crates in the workspace.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
// PyO3 passes arguments as owned values, even to functions that only read them.
#![allow(clippy::needless_pass_by_value)]

mod arguments;
mod arrays;
mod definition;
mod directory;
mod episode;
mod errors;
mod excerpt;
mod experiment;
mod explain;
mod extensions;
mod forecast;
mod geometry;
mod interrupt;
mod jobs;
mod journal;
mod machine;
mod outcome;
mod progress;
mod records;
mod results;
mod run_request;
mod schedulers;
mod series;
mod shared_state;
mod simulate;
mod slots;
mod span;
mod strategies;
mod table;
mod trace;

use pyo3::prelude::*;

/// The classes and functions that the Python files of the package import.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::directory::Directory;
    #[pymodule_export]
    use crate::episode::{Episode, Episodes};
    #[pymodule_export]
    use crate::experiment::{Cancel, Specification};
    #[pymodule_export]
    use crate::explain::Explanation;
    #[pymodule_export]
    use crate::forecast::{Forecasts, forecast};
    #[pymodule_export]
    use crate::geometry::Box;
    #[pymodule_export]
    use crate::journal::Journal;
    #[pymodule_export]
    use crate::machine::{Allocation, Machine};
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::progress::Progress;
    #[pymodule_export]
    use crate::results::Results;
    #[pymodule_export]
    use crate::schedulers::{Job, MachineView, Queue, QueueIterator, Running};
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::slots::Slots;
    #[pymodule_export]
    use crate::span::Span;
    #[pymodule_export]
    use crate::strategies::Free;
    #[pymodule_export]
    use crate::strategies::judgement::{Judgement, judge};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::Trace;

    use pavior::Freedom;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    use crate::arrays::reasons;

    /// Adds the constants that `pavior/_types.py` repeats; `test_machine.py` compares the values.
    #[pymodule_init]
    fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("FREEDOMS", PyTuple::new(py, Freedom::ALL.map(Freedom::word))?)?;
        module.add("REASONS", PyTuple::new(py, reasons())?)
    }
}
