//! Options of `pavior kube`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pavior::answers::SearchLimits;

use super::{FormatArgs, budget};

#[derive(Debug, Args)]
pub(crate) struct KubeArgs {
    /// The name of this replica in the Lease [default: host name and process ID]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Serves the web page, `why` and metrics at this address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS,
    )]
    pub(crate) page: Option<String>,
    /// Answers health probes (/healthz and /readyz) at this address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::PROBES,
    )]
    pub(crate) probes: Option<String>,
    /// The machine to show on the page, if the cluster has several
    #[arg(long)]
    pub(crate) machine: Option<String>,
    /// Serves the page for any cluster at this address, without changing the cluster
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS, conflicts_with_all = ["page", "name"]
    )]
    pub(crate) observe: Option<String>,
    /// A file with the Machine object to observe, if the cluster has none
    #[arg(long, requires = "observe")]
    pub(crate) spec: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<KubeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Prints the objects that a cluster needs, for `kubectl apply -f -`
    Manifests {
        /// Omits the policy that adds the gate and the resource to Jobs, for Kubernetes versions
        /// before 1.36
        #[arg(long)]
        no_mutation: bool,
        /// Adds two replicas of the daemon that run this image
        #[arg(long)]
        image: Option<String>,
        /// A resource that nodes already have, such as google.com/tpu: Jobs request it, and the
        /// daemon writes nothing to nodes
        #[arg(long)]
        resource: Option<String>,
        /// Confirms that the API server may refuse all other pods that request this resource
        #[arg(long, requires = "resource")]
        exclusive: bool,
        /// Adds the permissions needed for Jobs in Kueue queues
        #[arg(long)]
        kueue: bool,
    },
    /// Lists all Jobs that have a shape, with their state, box, reason for waiting, and expected
    /// start based on time limits
    Queue {
        #[command(flatten)]
        output: FormatArgs,
    },
    /// Explains why a Job is waiting, and which other Jobs could be moved to help
    Why {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME")]
        job: String,
    },
    /// Plans which Jobs to move to make room for a waiting Job, without moving anything
    Unblock {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME")]
        job: String,
        /// The maximum number of Jobs to move
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(..=16))]
        moves: u8,
    },
    /// Counts how many boxes of a shape fit on the free nodes at the same time
    Slots {
        /// The shape in chips, such as 4x4x2
        shape: String,
        /// The search budget: the maximum number of bit-set words to process
        #[arg(long, default_value_t = SearchLimits::BUDGET, value_parser = budget())]
        budget: u64,
        #[command(flatten)]
        output: FormatArgs,
    },
    /// Lists the pods waiting for placement; with --open, removes their gates so that they can
    /// start anywhere. Delete the policies first
    Uninstall {
        /// Removes the gates
        #[arg(long)]
        open: bool,
    },
}
