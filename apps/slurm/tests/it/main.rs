//! The daemon against a real Slurm of 64 nodes, set up by `examples/slurm/cluster.sh`.
//!
//! Skipped, loudly, unless PAVIOR_REQUIRE_SLURM is set, as `cargo xtask slurm` does. With
//! PAVIOR_SLURM_KILLS the daemon is killed so many times (`cargo xtask slurm` sets it).

mod cluster;
mod records;
mod story;
