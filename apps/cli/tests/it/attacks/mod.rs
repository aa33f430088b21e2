//! Attacks on the command line: names with control sequences, numbers that exhaust memory, kills.

mod counts;
mod kills;
mod memory;
mod names;
