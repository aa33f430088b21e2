//! The arguments of `pavior kube`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct KubeArgs {
    /// What this copy is called in the Lease [default: the host's name and the process]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Serves the page, `why` and metrics at an address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS,
    )]
    pub(crate) page: Option<String>,
    /// Answers probes at an address: /healthz and /readyz
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::PROBES,
    )]
    pub(crate) probes: Option<String>,
    /// The machine of the page, where the cluster has several
    #[arg(long)]
    pub(crate) machine: Option<String>,
    /// Changes nothing: shows any cluster as it is, at an address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS, conflicts_with_all = ["page", "name"]
    )]
    pub(crate) observe: Option<String>,
    /// The machine to observe, where the cluster knows none: a file with the object Machine
    #[arg(long, requires = "observe")]
    pub(crate) spec: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<KubeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Prints the objects that a cluster needs, for `kubectl apply -f -`
    Manifests {
        /// Without the policy that adds gate and resource to Jobs: before Kubernetes 1.36
        #[arg(long)]
        no_mutation: bool,
        /// Also two copies of the daemon, from this image of the program
        #[arg(long)]
        image: Option<String>,
        /// A resource that nodes have of themselves, such as google.com/tpu: Jobs ask for it, and
        /// the daemon writes nothing to nodes
        #[arg(long)]
        resource: Option<String>,
        /// Also the rights for Jobs in queues of Kueue
        #[arg(long)]
        kueue: bool,
    },
    /// Lists all Jobs with a shape: state, box, what each waits for, when it starts by the limits
    Queue {
        /// How to print [default: table on a terminal, else json]
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
    /// Says what a Job waits for, and which moves of others would help
    Why {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME")]
        job: String,
    },
    /// Says which Jobs would have to move for a Job that waits. Nothing is moved
    Unblock {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME")]
        job: String,
        /// The most Jobs that move
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(..=16))]
        moves: u8,
    },
    /// How many boxes of a shape fit side by side on the free nodes
    Slots {
        /// The shape in chips, such as 4x4x2
        shape: String,
        /// How far to search, in words of bit sets looked at
        #[arg(
            long,
            default_value_t = pavior::answers::SearchLimits::BUDGET,
            value_parser = clap::value_parser!(u64).range(..=1_000_000_000_000),
        )]
        budget: u64,
        /// How to print [default: table on a terminal, else json]
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
    /// Lists the pods that wait for a place of ours; with --open their gates are removed, so that
    /// they start anywhere. Delete the policies first
    Uninstall {
        /// Removes the gates
        #[arg(long)]
        open: bool,
    },
}
