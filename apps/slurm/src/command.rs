//! Changes, as one `scontrol` that is fed on its standard input: 3 to 18 ms a change.
//!
//! Each is a line or two, and made of values that can hold neither a line break nor another word.
//! Quotation marks on that input would become part of a value, so that nothing with a space can be
//! said there (22.05 to 26.05): sentences go as arguments, by a `scontrol` of their own. So does a
//! change whose line a `scontrol` without readline would cut in two.

use pavior::text::shown;

use crate::ask::Operator;
use crate::config::Tell;
use crate::names::{JobName, Licences, NodeName, Note};
use crate::{SlurmError, hosts};

/// Above what any plugin computes, below Slurm's special values.
pub(crate) const TOP: u32 = 4_294_967_290;

/// What a job is told, in one word, whose gate is closed.
const WAITS: &str = "pavior:waits";

/// The most objections that are passed on.
const MOST: usize = 64;

/// The most bytes of a line on the standard input of `scontrol`, the line's end included.
const LONGEST_LINE: usize = 4095;

/// A change of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Names exactly its nodes and takes the licence away, in one update.
    Open { job: JobName, nodes: Vec<NodeName>, licences: Licences, comment: Note },
    /// Takes the nodes back and sets the licences, the gate's among them, in one update that Slurm
    /// refuses if the job has started.
    Close { job: JobName, licences: Licences, wait_s: Option<u64>, priority: Priority },
    /// Ends a job that started elsewhere than it was told, and queues it again.
    Requeue { job: JobName },
    /// Takes the licence away for good, and from an opened job its nodes, in one update. Then its
    /// priority is the one that is said, or that Slurm gives it.
    Strip { job: JobName, licences: Licences, opened: bool, priority: Option<u64> },
    /// Tells its user something.
    Tell { job: JobName, comment: Note },
}

/// The priority of a job whose gate is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The one that Slurm gives it.
    Slurms,
    /// This one.
    Is(u64),
    /// It is held and stays so: anything else would be a release.
    Held,
}

impl Change {
    /// The lines for `scontrol`.
    fn lines(&self, tell: Tell) -> String {
        match self {
            Change::Open { job, nodes, licences, comment } => {
                let nodes = hosts::compress(nodes);
                let told = tell.field().map(|field| format!(" {field}={}", comment.word()));
                format!(
                    "update JobId={job} ReqNodeList={nodes} Licenses={licences} Priority={TOP}{}\n",
                    told.unwrap_or_default()
                )
            }
            Change::Close { job, licences, wait_s, priority } => {
                let start = wait_s.map_or(String::new(), |wait| format!(" StartTime=now+{wait}"));
                // The box of the opening is its own no more.
                let told = tell.field().map_or(String::new(), |field| format!(" {field}={WAITS}"));
                let update =
                    format!("update JobId={job} ReqNodeList= Licenses={licences}{start}{told}");
                match priority {
                    Priority::Slurms => format!("{update}\nrelease {job}\n"),
                    Priority::Is(priority) => format!("{update} Priority={priority}\n"),
                    Priority::Held => format!("{update}\n"),
                }
            }
            Change::Strip { job, licences, opened, priority } => {
                let nodes = if *opened { " ReqNodeList=" } else { "" };
                let (priority, release) = match priority {
                    Some(priority) if *opened => (format!(" Priority={priority}"), String::new()),
                    None if *opened => (String::new(), format!("release {job}\n")),
                    _ => (String::new(), String::new()),
                };
                format!("update JobId={job}{nodes} Licenses={licences}{priority}\n{release}")
            }
            Change::Requeue { job } => format!("requeue {job}\n"),
            Change::Tell { .. } => String::new(),
        }
    }

    /// The arguments for a `scontrol` of its own.
    fn arguments(&self, tell: Tell) -> Option<Vec<String>> {
        match self {
            Change::Tell { job, comment } => {
                let told = format!("{}={}", tell.field()?, comment.as_str());
                Some(vec!["update".into(), format!("JobId={job}"), told])
            }
            Change::Open { .. } => {
                let line = self.lines(tell);
                let is_long = line.len() > LONGEST_LINE;
                is_long.then(|| line.split_whitespace().map(Into::into).collect())
            }
            Change::Close { .. } | Change::Strip { .. } | Change::Requeue { .. } => None,
        }
    }

    /// A word for logs and metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Change::Open { .. } => "open",
            Change::Close { .. } => "close",
            Change::Strip { .. } => "strip",
            Change::Requeue { .. } => "requeue",
            Change::Tell { .. } => "tell",
        }
    }

    /// The job.
    pub(crate) fn job(&self) -> JobName {
        match *self {
            Change::Open { job, .. }
            | Change::Close { job, .. }
            | Change::Strip { job, .. }
            | Change::Requeue { job }
            | Change::Tell { job, .. } => job,
        }
    }
}

/// Carries changes out, in order, and tells at last; returns what Slurm objected to. Objections are
/// expected (a job ended or started meanwhile): the next cycle reads what is.
pub(crate) fn carry_out(
    operator: &Operator,
    changes: &[Change],
    tell: Tell,
) -> Result<Vec<String>, SlurmError> {
    let by_line = |change: &&Change| change.arguments(tell).is_none();
    let input: String = changes.iter().filter(by_line).map(|change| change.lines(tell)).collect();
    let mut complaints = Vec::new();
    if !input.is_empty() {
        complaints = operator.change(input)?.complaints;
    }
    for arguments in changes.iter().filter_map(|change| change.arguments(tell)) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let told = operator.try_scontrol(&words)?;
        complaints.extend(told.complaints);
    }
    let complaints = String::from_utf8_lossy(&complaints);
    let lines = complaints.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.take(MOST).map(|line| shown(line).to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_single_updates() {
        let close = Change::Close {
            job: "7_1".parse().unwrap(),
            licences: "m:1,pavior:1".parse().unwrap(),
            wait_s: Some(5),
            priority: Priority::Slurms,
        };
        let line = "update JobId=7_1 ReqNodeList= Licenses=m:1,pavior:1 StartTime=now+5";
        let told = format!("{line} AdminComment=pavior:waits\nrelease 7_1\n");
        assert_eq!(close.lines(Tell::AdminComment), told);
        assert_eq!(close.lines(Tell::Nobody), format!("{line}\nrelease 7_1\n"));
        let (job, licences) = ("7".parse().unwrap(), "pavior:1".parse().unwrap());
        let held = Change::Close { job, licences, wait_s: None, priority: Priority::Held };
        let line = "update JobId=7 ReqNodeList= Licenses=pavior:1 Extra=pavior:waits\n";
        assert_eq!(held.lines(Tell::Extra), line, "a release would end the hold");
        let nodes = ["a", "b"].map(|name| name.parse().unwrap()).to_vec();
        let (licences, comment) = (Licences::default(), Note::new("c\" Priority=1\n"));
        let open = Change::Open { job: "7".parse().unwrap(), nodes, licences, comment };
        let line = "update JobId=7 ReqNodeList=a,b Licenses= Priority=4294967290";
        assert_eq!(open.lines(Tell::Extra), format!("{line} Extra=c?_Priority=1?\n"));
        assert_eq!(open.lines(Tell::Nobody), format!("{line}\n"));
    }

    /// 150 nodes with names of 13 letters, whose plain list is longer than a line.
    #[test]
    fn long_lists_of_nodes_are_compressed_or_arguments() {
        let opening = |pattern: &str, apart: usize| {
            let name = |number: usize| format!("{pattern}{:03}", number * apart);
            let names: Vec<String> = (0..150).map(name).collect();
            let nodes = names.iter().map(|name| name.parse().unwrap()).collect();
            let comment = Note::new(&format!("pavior:box=15x10@0,0;ranks={}", names.join(",")));
            Change::Open {
                job: "7".parse().unwrap(),
                nodes,
                licences: Licences::default(),
                comment,
            }
        };
        let change = opening("compute-no", 1);
        let line = change.lines(Tell::AdminComment);
        let begin = "update JobId=7 ReqNodeList=compute-no[000-149] Licenses= Priority=4294967290 ";
        assert!(line.starts_with(begin) && line.len() < LONGEST_LINE, "{line}");
        assert_eq!(change.arguments(Tell::AdminComment), None);
        let arguments = opening("a-longer-name-of-nodes", 2).arguments(Tell::Extra).unwrap();
        assert_eq!(arguments[..2], ["update", "JobId=7"]);
        assert!(arguments[2].starts_with("ReqNodeList=a-longer-name-of-nodes[000,002,004,"));
        assert!(arguments[5].ends_with(",a-longer-name-of-nodes298"), "{arguments:?}");
        assert_eq!(arguments.len(), 6);
    }

    #[test]
    fn sentences_are_arguments() {
        let comment = Note::new("waits for 2x2");
        let told = Change::Tell { job: "7".parse().unwrap(), comment };
        let arguments = told.arguments(Tell::AdminComment).unwrap();
        assert_eq!(arguments, ["update", "JobId=7", "AdminComment=waits for 2x2"]);
        assert!(told.arguments(Tell::Nobody).is_none() && told.lines(Tell::Nobody).is_empty());
    }
}
