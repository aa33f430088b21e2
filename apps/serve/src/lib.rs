//! `pavior serve`: a live allocation service that never loses an acknowledged change.
//!
//! ```text
//! HTTP --Command--> writer: decide --Record--> store (durable) --> reply, watchers
//!                             ^ State = fold of the records
//! ```
//! [`core`] decides commands and folds the resulting records into a state; it uses no clock, files
//! or sockets. [`lines`] exposes it as JSON lines. The `http` feature adds the service: [`storage`]
//! stores records, [`writer`] runs the only thread that makes decisions, and `http` answers
//! callers. The `postgres` feature adds a store that several servers can share.
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
