//! The daemon against a real Slurm of 64 nodes, set up by `examples/slurm/cluster.sh`.
//!
//! Where Slurm is not installed the runner of the checks is told so; with PAVIOR_REQUIRE_SLURM, as
//! in `.ci/run`, that is an error. With PAVIOR_SLURM_KILLS the daemon is killed so many times
//! (`cargo xtask slurm` sets it).

mod attacks;
mod cluster;
mod gate;
mod races;
mod records;
mod story;
