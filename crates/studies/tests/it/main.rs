//! The papers and studies from outside.

mod papers;
