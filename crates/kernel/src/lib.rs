//! What a deterministic simulation stands on: integer [`Time`], an [`Agenda`] of events whose ties
//! are broken by rule and not by chance, and named random [`Stream`]s.
//!
//! Nothing here knows about machines or jobs, and nothing here reads a clock.

mod agenda;
mod stream;
mod time;

pub use agenda::Agenda;
pub use stream::Stream;
pub use time::Time;
