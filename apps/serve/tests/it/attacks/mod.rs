//! Attacks on the promises of the service: short in the checks, longer by `cargo xtask attack`.

mod backup;
mod clocks;
mod ends;
mod keys;
mod outcomes;
mod pages;
mod quotas;
mod requests;
mod restores;
mod rows;
mod watchers;
