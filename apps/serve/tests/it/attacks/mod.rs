//! Attacks on the promises of the service, short in the checks and longer with `cargo xtask
//! attack`.

mod backup;
mod clocks;
mod connections;
mod crowd;
mod ends;
mod keys;
mod outcomes;
mod pages;
mod quotas;
mod rates;
mod requests;
mod restores;
mod rows;
mod watch_places;
mod watchers;
