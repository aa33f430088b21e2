//! Attacks on the promises of the service: short in the checks, longer by `cargo xtask attack`.

mod backup;
mod ends;
mod requests;
mod rows;
