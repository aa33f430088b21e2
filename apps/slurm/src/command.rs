//! Changes, as one `scontrol` that is fed on its standard input: 3 to 18 ms a change.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{LICENCE, SlurmError};

/// Above what any plugin computes, below Slurm's special values.
const TOP: u32 = 4_294_967_290;

/// A change of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Names exactly its nodes and takes the licence away, in one update.
    Open { job: String, nodes: Vec<String>, licences: String, comment: String },
    /// Takes the nodes back and asks for the licence again, in one update that Slurm refuses if the
    /// job has started. Then its priority is the one that Slurm gives it.
    Close { job: String, licences: String, wait_s: Option<u64>, priority: Option<u64> },
    /// Ends a job that started elsewhere than it was told, and queues it again.
    Requeue { job: String },
    /// Tells its user something.
    Tell { job: String, comment: String },
}

impl Change {
    /// The lines for `scontrol`.
    fn lines(&self) -> String {
        let joined = |others: &str| match others {
            "" => format!("{LICENCE}:1"),
            others => format!("{others},{LICENCE}:1"),
        };
        match self {
            Change::Open { job, nodes, licences, comment } => format!(
                "update JobId={job} ReqNodeList={} Licenses={licences} Priority={TOP} AdminComment=\"{comment}\"\n",
                nodes.join(",")
            ),
            Change::Close { job, licences, wait_s, priority } => {
                let start = wait_s.map_or(String::new(), |wait| format!(" StartTime=now+{wait}"));
                let licences = joined(licences);
                match priority {
                    Some(priority) => format!(
                        "update JobId={job} ReqNodeList= Licenses={licences}{start} Priority={priority}\n"
                    ),
                    None => format!(
                        "update JobId={job} ReqNodeList= Licenses={licences}{start}\nrelease {job}\n"
                    ),
                }
            }
            Change::Requeue { job } => format!("requeue {job}\n"),
            Change::Tell { job, comment } => {
                format!("update JobId={job} AdminComment=\"{comment}\"\n")
            }
        }
    }

    /// A word for logs and metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Change::Open { .. } => "open",
            Change::Close { .. } => "close",
            Change::Requeue { .. } => "requeue",
            Change::Tell { .. } => "tell",
        }
    }

    /// The job.
    pub(crate) fn job(&self) -> &str {
        match self {
            Change::Open { job, .. }
            | Change::Close { job, .. }
            | Change::Requeue { job }
            | Change::Tell { job, .. } => job,
        }
    }
}

/// Carries changes out, in order; returns what Slurm objected to. Objections are expected (a job
/// ended or started meanwhile): the next cycle reads what is.
pub(crate) fn carry_out(changes: &[Change]) -> Result<Vec<String>, SlurmError> {
    let error = |error| SlurmError::Command { command: "scontrol", error };
    let mut child = Command::new("scontrol")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(error)?;
    let text: String = changes.iter().map(Change::lines).collect();
    let mut input = child.stdin.take().ok_or_else(|| SlurmError::Failed {
        command: "scontrol",
        message: "no standard input".into(),
    })?;
    // Read what it says while it is fed: neither pipe may fill up.
    let feeder = std::thread::spawn(move || {
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().map_err(error)?;
    let _ = feeder.join();
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(said.lines().filter(|line| !line.trim().is_empty()).map(str::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_single_updates() {
        let close = Change::Close {
            job: "7_1".into(),
            licences: "m:1".into(),
            wait_s: Some(5),
            priority: None,
        };
        let line =
            "update JobId=7_1 ReqNodeList= Licenses=m:1,pavior:1 StartTime=now+5\nrelease 7_1\n";
        assert_eq!(close.lines(), line);
        let nodes = vec!["a".to_string(), "b".to_string()];
        let comment = "c".to_string();
        let open = Change::Open { job: "7".into(), nodes, licences: String::new(), comment };
        let line =
            "update JobId=7 ReqNodeList=a,b Licenses= Priority=4294967290 AdminComment=\"c\"\n";
        assert_eq!(open.lines(), line);
    }
}
