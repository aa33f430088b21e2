//! `pavior kube`: allocates boxes of nodes to Jobs on an unmodified Kubernetes cluster.

use std::time::Duration;

use pavior::time::Date;
use pavior_kube::{Cluster, ClusterSlots, Entry, GatedPods, KubeError, Manifests, Mode, Options};
use serde_json::to_value;

use crate::args::{JobPath, KubeArgs, KubeCommand};
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Format, Reply, Table};

/// The maximum number of other Jobs that a plan in `why` may move.
const MAX_MOVED_JOBS: usize = 2;

pub(crate) fn run(args: &KubeArgs) -> Result<(), Failure> {
    let Some(command) = &args.command else {
        let options = Options {
            name: args.name.clone().unwrap_or_else(replica_name),
            mode: match args.observe {
                Some(_) => Mode::Observe { machine: args.spec.clone() },
                None => Mode::Elected,
            },
            page: args.observe.clone().or_else(|| args.page.clone()),
            probes: args.probes.clone(),
            machine: args.machine.clone(),
        };
        return Ok(pavior_kube::run(&options)?);
    };
    match command {
        KubeCommand::Manifests { no_mutation, image, resource, exclusive, kueue } => {
            if let Some(resource) = resource.as_ref().filter(|_| !exclusive) {
                return Err(Failure::usage(pavior_kube::confirmation(resource)?));
            }
            let (image, resource) = (image.clone(), resource.clone());
            let (no_mutation, kueue) = (*no_mutation, *kueue);
            let manifests = Manifests { no_mutation, image, resource, kueue };
            output::plain(&manifests.text()?)
        }
        KubeCommand::Queue { output } => queue(output.format()),
        KubeCommand::Why { job } => why(job, MAX_MOVED_JOBS),
        KubeCommand::Unblock { job, moves } => why(job, usize::from(*moves)),
        KubeCommand::Slots { shape, budget, output } => slots(shape, *budget, output.format()),
        KubeCommand::Uninstall { open } => uninstall(*open),
    }
}

/// Returns a unique replica name. In a pod, the host name is the pod name.
fn replica_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), std::process::id())
}

fn date(seconds: u64) -> String {
    Date(Duration::from_secs(seconds)).to_string()
}

/// Formats a Job's probable start interval, or the reason there is none.
fn probable_start(one: &Entry) -> String {
    let time = |at: Option<u64>| at.map_or_else(|| "after 60 days".to_string(), date);
    match (one.range, one.obstacle) {
        (Some([from, _, to]), _) => format!("{} to {}", time(from), time(to)),
        (None, Some("unavailable")) => "blocked".to_string(),
        (None, Some(_)) => time(None),
        (None, None) => "-".to_string(),
    }
}

/// Prints one line per Job. The last column, the reason for waiting, is truncated to the terminal
/// width.
fn queue(format: Format) -> Result<(), Failure> {
    let all = Cluster::read()?.queue();
    let header = ["job", "shape", "state", "box", "starts", "probably", "waits for"];
    let cells = |one: &Entry| {
        let none = || "-".to_string();
        vec![
            format!("{}/{}", one.namespace, one.name),
            one.shape.clone(),
            one.state.word().to_string(),
            one.at.clone().unwrap_or_else(none),
            one.starts.map_or_else(none, date),
            probable_start(one),
            one.why.clone().or_else(|| one.kueue.clone()).unwrap_or_else(none),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(cells).collect();
    let reply = Reply {
        json: to_value(&all).map_err(std::io::Error::from)?,
        tables: vec![Table::new(&header, header.len()).with_rows(rows.iter().cloned())],
        csv: (&header, rows),
        sentences: Vec::new(),
    };
    reply.print(format, output::width())
}

/// Explains why a Job is waiting. Plans move at most `moved` other Jobs.
fn why(JobPath { namespace, name }: &JobPath, moved: usize) -> Result<(), Failure> {
    let answer = Cluster::read()?.why(namespace, name, moved)?;
    let mut lines = vec![format!("{namespace}/{name} {}", answer.state.word())];
    lines.extend(answer.at.map(|at| format!("box {at}")));
    lines.extend(answer.why.into_iter().chain(answer.kueue));
    let by_limits =
        answer.starts.map(|at| format!("Based on time limits, it should start at {}.", date(at)));
    lines.extend(answer.probably.or(by_limits));
    output::plain(&(lines.join("\n") + "\n"))
}

fn slots(shape: &str, budget: u64, format: Format) -> Result<(), Failure> {
    let ClusterSlots { machines: all, faults } = Cluster::read()?.slots(shape, budget)?;
    for fault in faults {
        input::say_left_out(&format!("{fault}."));
    }
    let header = ["machine", "boxes", "free", "at most"];
    let rows = all.iter().map(|one| {
        let boxes = one.boxes.join(" ");
        vec![one.machine.clone(), boxes, one.free.to_string(), one.bound.to_string()]
    });
    match format {
        Format::Json => output::json(&to_value(&all).map_err(std::io::Error::from)?),
        Format::Csv => output::csv(&header, &rows.collect::<Vec<_>>()),
        Format::Table => {
            for one in &all {
                let at_most = match one.bound {
                    bound if bound == one.free => String::new(),
                    bound => format!(", at most {bound}"),
                };
                output::plain(&format!("{}: {}{at_most}\n", one.machine, one.free))?;
                let boxes: Vec<String> = one.boxes.iter().map(|at| format!("  {at}\n")).collect();
                output::plain(&boxes.concat())?;
            }
            Ok(())
        }
    }
}

/// Uninstalls Pavior from the cluster, and prints the gates removed and the steps that remain.
fn uninstall(open: bool) -> Result<(), Failure> {
    let removal = pavior_kube::uninstall(if open { GatedPods::Open } else { GatedPods::List })?;
    let opened = output::labeled("opened", &removal.opened);
    let left = output::labeled("gated ", &removal.left);
    output::plain(&(opened + &left + &output::labeled("job   ", &removal.jobs)))
}

impl From<KubeError> for Failure {
    /// Converts a Kubernetes error to a failure. An unknown Job, or a shape that does not fit on
    /// any machine, counts as a usage error.
    fn from(error: KubeError) -> Failure {
        match error {
            KubeError::UnknownJob(_)
            | KubeError::Machine { .. }
            | KubeError::NoMachine
            | KubeError::Shape
            | KubeError::Slots(_)
            | KubeError::Name(_)
            | KubeError::File(_) => Failure::usage(error),
            _ => Failure::other(error),
        }
    }
}
