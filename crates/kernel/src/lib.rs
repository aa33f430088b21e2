//! What a deterministic simulation stands on: integer [`Time`], an [`Agenda`] of events whose ties
//! are broken by rule and not by chance, and named random [`Stream`]s.
//!
//! It also holds what all registries share, names with [`Options`], and the one way to show
//! foreign text, and values over time in bounded memory ([`Stretches`]). With the feature `json` it
//! has the one reader of JSON that others write.
//!
//! Nothing here knows about machines or jobs, and nothing here reads a clock.

mod agenda;
mod caller_error;
mod checksum;
mod date;
mod foreign;
#[cfg(feature = "json")]
pub mod json;
mod options;
mod registry;
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
pub use stream::Stream;
pub use stretches::{Range, Stretch, Stretches};
pub use time::Time;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
