//! Tests that drawings of all kinds are well-formed and contain no NaN, whatever the data is.

mod charts;
mod hostile;
mod states;
mod wellformed;
