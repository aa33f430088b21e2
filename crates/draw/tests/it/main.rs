//! Drawings of everything, whatever the data: well-formed, and without values that are no numbers.

mod charts;
mod hostile;
mod states;
mod wellformed;
