//! Options of `pavior kube`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pavior::answers::SearchLimits;

use super::{FormatArgs, budget};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct KubeArgs {
    /// The name of this replica in the Lease [default: host name and process ID]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Serves the web page, `why` and metrics at this address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS, group = "served_page"
    )]
    pub(crate) page: Option<String>,
    /// Answers health probes (/healthz and /readyz) at this address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::PROBES,
    )]
    pub(crate) probes: Option<String>,
    /// The machine to show on the page, if the cluster has several
    #[arg(long, requires = "served_page")]
    pub(crate) machine: Option<String>,
    /// Serves the page at this address for any cluster, without changing the cluster
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_kube::ADDRESS, conflicts_with = "name",
        group = "served_page"
    )]
    pub(crate) observe: Option<String>,
    /// A file with the Machine object to observe, if the cluster has none
    #[arg(long, requires = "observe")]
    pub(crate) spec: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<KubeCommand>,
}

/// A Job's namespace and name.
#[derive(Clone, Debug)]
pub(crate) struct JobPath {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Parses a Job's path.
fn job_path(text: &str) -> Result<JobPath, String> {
    let example = || "specify the Job as NAMESPACE/NAME, such as default/train".to_string();
    let (namespace, name) = text.split_once('/').ok_or_else(example)?;
    Ok(JobPath { namespace: namespace.to_string(), name: name.to_string() })
}

#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Prints the objects that a cluster needs, for `kubectl apply -f -`
    Manifests {
        /// Omits the policy that adds the gate and the resource to Jobs; needed for Kubernetes
        /// versions before 1.36
        #[arg(long)]
        no_mutation: bool,
        /// Adds two replicas of the daemon that run this image
        #[arg(long)]
        image: Option<String>,
        /// A resource that nodes already have, such as google.com/tpu; Jobs request it themselves,
        /// and the daemon writes nothing to nodes
        #[arg(long)]
        resource: Option<String>,
        /// Confirms that the API server may refuse all other pods that request this resource
        #[arg(long, requires = "resource")]
        exclusive: bool,
        /// Adds the permissions needed for Jobs in Kueue queues
        #[arg(long)]
        kueue: bool,
    },
    /// Lists all Jobs that have a shape, each with its state, box, reason for waiting, start
    /// expected from the time limits, and probable start
    Queue {
        #[command(flatten)]
        output: FormatArgs,
    },
    /// Explains why a Job is waiting, and which other Jobs (at most two) could be moved to help
    Why {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME", value_parser = job_path)]
        job: JobPath,
    },
    /// Plans which Jobs to move to make room for a waiting Job, but does not move any of them
    Unblock {
        /// The Job, such as default/train
        #[arg(value_name = "NAMESPACE/NAME", value_parser = job_path)]
        job: JobPath,
        /// The maximum number of Jobs to move
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
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
    /// Lists the pods waiting for placement; with --open, removes their gates so that the pods can
    /// start anywhere. Delete the policies first
    Uninstall {
        /// Removes the gates
        #[arg(long)]
        open: bool,
    },
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::args::Cli;

    #[test]
    fn options_without_an_effect_are_rejected() {
        for (words, is_valid) in [
            ("--page --machine a", true),
            ("--observe --machine a --spec a.yaml", true),
            ("--probes --name a", true),
            ("--machine a", false),
            ("--probes --machine a", false),
            ("--page --observe", false),
            ("--name a --observe", false),
            ("--page queue", false),
            ("--observe --spec a.yaml queue", false),
            ("unblock default/train --moves 1", true),
            ("unblock default/train --moves 0", false),
            ("why default/train", true),
            ("why train", false),
        ] {
            let words = ["pavior", "kube"].into_iter().chain(words.split(' '));
            let parsed = Cli::try_parse_from(words.clone());
            assert_eq!(parsed.is_ok(), is_valid, "{:?}", words.collect::<Vec<_>>());
        }
    }
}
