//! Tests of papers and studies through the public interface.

mod exact;
mod forecasts;
mod papers;
mod yardstick;
