//! Attacks on the command line: names with control sequences, counts that fill memory, kills.

mod counts;
mod kills;
mod memory;
mod names;
