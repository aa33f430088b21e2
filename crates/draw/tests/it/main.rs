//! Tests that every kind of drawing is well-formed and free of NaN, whatever the data.

mod charts;
mod hostile;
mod states;
mod wellformed;
