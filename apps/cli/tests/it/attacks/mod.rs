//! Attacks on the command line: names that a terminal obeys, counts that fill memory, kills.

mod counts;
mod kills;
mod memory;
mod names;
