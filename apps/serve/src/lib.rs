//! `pavior serve`: a live allocation service that loses nothing.
//!
//! ```text
//! HTTP --Command--> writer: decide --Record--> store (durable) --> reply, watchers
//!                             ^ State = fold of the records
//! ```
//!
//! [`core`] decides and folds, without a clock, a file or a socket; [`storage`] keeps records;
//! [`writer`] is the one writer between them; `http` is how callers reach it.

pub mod clock;
pub mod core;
mod diagnose;
mod http;
mod limits;
pub mod lines;
mod plan;
mod secret;
pub mod service;
pub mod storage;
mod sync;
mod waits;
pub mod writer;
