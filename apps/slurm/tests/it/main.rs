//! Tests for the daemon with real Slurm clusters, which `examples/slurm/cluster.sh` sets up. The
//! tests run on each release that `examples/slurm/release.sh` supports.
//!
//! A missing release is only reported, unless PAVIOR_REQUIRE_SLURM is set (as in `.ci/run`), which
//! makes it an error. The long version runs one long storm for each seed
//! (`cargo xtask slurm RELEASE`).

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
