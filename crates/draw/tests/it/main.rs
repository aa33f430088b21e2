//! Tests that drawings of all kinds are well-formed and contain no NaN, for any data.

mod charts;
mod hostile;
mod states;
mod wellformed;
