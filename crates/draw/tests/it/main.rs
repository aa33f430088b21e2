//! Drawings of all kinds, with any data: they are well-formed, and no value in them is NaN.

mod charts;
mod hostile;
mod states;
mod wellformed;
