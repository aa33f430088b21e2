//! The foundation for deterministic simulation: integer [`Time`], an [`Agenda`] of events with
//! deterministic tie-breaking, and named random number [`Stream`]s.
//!
//! The crate also contains the code shared by all registries (names with [`Options`]), the only
//! code that displays untrusted text, and time series that use bounded memory ([`Stretches`]). The
//! `json` feature adds the only parser for JSON from other programs.
//!
//! Nothing in this crate depends on machines or jobs, and nothing reads a clock.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod agenda;
mod caller_error;
mod checksum;
mod date;
mod foreign;
#[cfg(feature = "json")]
pub mod json;
mod options;
mod registry;
mod shell;
mod stream;
mod stretches;
mod time;

pub use agenda::Agenda;
pub use caller_error::CallerError;
pub use checksum::Checksum;
pub use date::{BadDate, Date};
pub use foreign::{
    LONGEST_MESSAGE, LONGEST_QUOTE, Shown, cell, excerpt, message, shown, shown_bytes,
};
pub use options::{BadName, OptionSpec, Options, Values, bare_name, unknown_name};
pub use registry::{BadEntry, Buildable, Entry, EntryHandle, Family, Registry, Selection};
pub use shell::shell_word;
pub use stream::Stream;
pub use stretches::{Range, Stretch, Stretches};
pub use time::Time;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
