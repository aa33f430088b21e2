//! The papers and studies from outside.

mod forecasts;
mod papers;
