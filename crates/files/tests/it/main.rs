//! Tests of rejected inputs, preserved files, and files left behind.

mod input;
mod output;
mod plan;
