//! Tests of the daemon with a real Slurm cluster of 64 nodes, set up by
//! `examples/slurm/cluster.sh`, on each release that `examples/slurm/release.sh` knows.
//!
//! A missing release is reported; with PAVIOR_REQUIRE_SLURM, as in `.ci/run`, it is an error. The
//! long form has one long storm per seed (`cargo xtask slurm RELEASE`).

mod administrators;
mod attacks;
mod candidates;
mod cluster;
mod gate;
mod laboratory;
mod limits;
mod observe;
mod races;
mod recorded;
mod records;
mod release;
mod service;
mod sites;
mod storm;
mod story;
mod whole;
