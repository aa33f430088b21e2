//! Attacks on a running service, each of which breaks a promise if it succeeds.

mod connections;
mod crowd;
mod rates;
mod watchers;
