//! Attacks on the service's guarantees; `cargo xtask attack` runs them for longer.

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
mod space;
mod watch_places;
mod watchers;
