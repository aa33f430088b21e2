//! `pavior serve`: a live allocation service that never loses acknowledged changes.
//!
//! ```text
//! HTTP --Command--> writer: decide --Record--> store (durable) --> reply, watchers
//!                             ^ State = fold of the records
//! ```
//! [`core`] makes decisions and folds records, without a clock, files or sockets. [`lines`] exposes
//! it as JSON lines. The feature `http` adds the service: [`storage`] stores records, [`writer`] is
//! the only thread that makes decisions, and `http` answers callers. The feature `postgres` adds a
//! shared store.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[cfg(feature = "http")]
pub mod clock;
pub mod core;
#[cfg(feature = "http")]
mod diagnose;
#[cfg(feature = "http")]
mod forecasts;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod limits;
pub mod lines;
mod plan;
#[cfg(feature = "http")]
mod secret;
#[cfg(feature = "http")]
pub mod service;
#[cfg(feature = "http")]
pub mod storage;
#[cfg(feature = "http")]
mod waits;
#[cfg(feature = "http")]
pub mod writer;
