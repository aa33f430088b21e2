//! The daemon against a real Slurm of 64 nodes, set up by `examples/slurm/cluster.sh`.
//!
//! Skipped, loudly, where Slurm is not installed; with PAVIOR_REQUIRE_SLURM, as in `.ci/run`, that
//! is an error. With PAVIOR_SLURM_KILLS the daemon is killed so many times (`cargo xtask slurm`
//! sets it).

mod cluster;
mod races;
mod records;
mod story;
