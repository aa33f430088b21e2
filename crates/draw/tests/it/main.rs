//! Tests of drawings of all kinds, with any data. The drawings are well-formed, and no value in
//! them is NaN.

mod charts;
mod hostile;
mod states;
mod wellformed;
