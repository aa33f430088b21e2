//! Options of `pavior allocate`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AllocateArgs {
    /// The machine, such as mesh:16x16 or torus:8x8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// The strategy; see `pavior strategies`
    #[arg(long, short)]
    pub(crate) strategy: String,
    /// The rule that turns a number of nodes into a box
    #[arg(long, default_value = "compact")]
    pub(crate) shape_rule: String,
    /// The seed for random strategies
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}
