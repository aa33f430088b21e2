//! The papers and studies from outside.

mod exact;
mod forecasts;
mod papers;
mod yardstick;
