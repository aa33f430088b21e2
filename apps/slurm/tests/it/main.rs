//! Tests for the daemon with real Slurm clusters, which `examples/slurm/cluster.sh` sets up. The
//! tests run on each release that `examples/slurm/release.sh` supports.
//!
//! A missing release is only reported, but is an error if PAVIOR_REQUIRE_SLURM is set (as in
//! `.ci/run`). The long version (`cargo xtask slurm RELEASE`) runs one long storm for each seed.

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
