//! Tests of reading files, writing them atomically, and refusing to overwrite inputs.

mod input;
mod output;
mod plan;
