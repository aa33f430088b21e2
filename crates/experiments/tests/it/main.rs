//! Experiments from outside: files, sweeps, results.

mod specification;
mod sweep;
