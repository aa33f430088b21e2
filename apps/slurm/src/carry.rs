//! Carries out changes with a single `scontrol` that reads them from its standard input. A change
//! consists of one or two lines and takes 3 to 18 ms. Its values cannot contain line breaks, nor
//! spaces, because quotation marks become part of a value (in Slurm 22.05 to 26.05). Therefore,
//! sentences are passed as arguments to a separate `scontrol`. So are lines that a `scontrol`
//! without readline would split because they are too long.

use pavior::text::shown;

use crate::SlurmError;
use crate::calls::Operator;
use crate::config::NoteField;
use crate::names::hosts;
use crate::plan::change::{Change, Priority, TOP_PRIORITY};

pub(crate) mod lock;

/// The one-word note for a job whose gate is closed.
const CLOSED_NOTE: &str = "pavior:waits";

/// The maximum number of returned objections.
const MAX_OBJECTIONS: usize = 64;

/// The maximum length of an input line of `scontrol`, in bytes, including the line break.
const MAX_LINE: usize = 4095;

impl Change {
    /// Returns the input lines for `scontrol`.
    fn lines(&self, tell: NoteField) -> String {
        match self {
            Change::Open { job, nodes, licences, comment } => {
                let nodes = hosts::compress(nodes);
                let told = tell.field().map(|field| format!(" {field}={}", comment.word()));
                format!(
                    "update JobId={job} ReqNodeList={nodes} Licenses={licences} \
                     Priority={TOP_PRIORITY}{}\n",
                    told.unwrap_or_default()
                )
            }
            Change::Close { job, licences, wait_s, priority } => {
                let start = wait_s.map_or(String::new(), |wait| format!(" StartTime=now+{wait}"));
                // The job no longer owns the box in its previous note.
                let told =
                    tell.field().map_or(String::new(), |field| format!(" {field}={CLOSED_NOTE}"));
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
            Change::Comment { .. } => String::new(),
        }
    }

    /// Returns the arguments for a separate `scontrol`, if the change needs one.
    fn arguments(&self, tell: NoteField) -> Option<Vec<String>> {
        match self {
            Change::Comment { job, comment } => {
                let told = format!("{}={}", tell.field()?, comment.as_str());
                Some(vec!["update".into(), format!("JobId={job}"), told])
            }
            Change::Open { .. } => {
                let line = self.lines(tell);
                let is_long = line.len() > MAX_LINE;
                is_long.then(|| line.split_whitespace().map(Into::into).collect())
            }
            Change::Close { .. } | Change::Strip { .. } | Change::Requeue { .. } => None,
        }
    }
}

/// Carries out changes in order, then writes notes. Returns Slurm's objections, which are normal: a
/// job may have ended or started in the meantime. The next cycle reads the actual state.
pub(crate) fn carry_out(
    operator: &Operator,
    changes: &[Change],
    tell: NoteField,
) -> Result<Vec<String>, SlurmError> {
    let by_line = |change: &&Change| change.arguments(tell).is_none();
    let input: String = changes.iter().filter(by_line).map(|change| change.lines(tell)).collect();
    let mut complaints = Vec::new();
    if !input.is_empty() {
        complaints = operator.change(input)?.stderr;
    }
    for arguments in changes.iter().filter_map(|change| change.arguments(tell)) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let told = operator.try_scontrol(&words)?;
        complaints.extend(told.stderr);
    }
    let complaints = String::from_utf8_lossy(&complaints);
    let lines = complaints.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.take(MAX_OBJECTIONS).map(|line| shown(line).to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{Licences, Note};

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
        assert_eq!(close.lines(NoteField::AdminComment), told);
        assert_eq!(close.lines(NoteField::Nowhere), format!("{line}\nrelease 7_1\n"));
        let (job, licences) = ("7".parse().unwrap(), "pavior:1".parse().unwrap());
        let held = Change::Close { job, licences, wait_s: None, priority: Priority::Held };
        let line = "update JobId=7 ReqNodeList= Licenses=pavior:1 Extra=pavior:waits\n";
        assert_eq!(held.lines(NoteField::Extra), line, "a release would end the hold");
        let nodes = ["a", "b"].map(|name| name.parse().unwrap()).to_vec();
        let (licences, comment) = (Licences::default(), Note::new("c\" Priority=1\n"));
        let open = Change::Open { job: "7".parse().unwrap(), nodes, licences, comment };
        let line = "update JobId=7 ReqNodeList=a,b Licenses= Priority=4294967290";
        assert_eq!(open.lines(NoteField::Extra), format!("{line} Extra=c?_Priority=1?\n"));
        assert_eq!(open.lines(NoteField::Nowhere), format!("{line}\n"));
    }

    /// Checks 150 nodes with long names, whose list fits on a line only if it is compressed.
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
        let line = change.lines(NoteField::AdminComment);
        let begin = "update JobId=7 ReqNodeList=compute-no[000-149] Licenses= Priority=4294967290 ";
        assert!(line.starts_with(begin) && line.len() < MAX_LINE, "{line}");
        assert_eq!(change.arguments(NoteField::AdminComment), None);
        let arguments = opening("a-longer-name-of-nodes", 2).arguments(NoteField::Extra).unwrap();
        assert_eq!(arguments[..2], ["update", "JobId=7"]);
        assert!(arguments[2].starts_with("ReqNodeList=a-longer-name-of-nodes[000,002,004,"));
        assert!(arguments[5].ends_with(",a-longer-name-of-nodes298"), "{arguments:?}");
        assert_eq!(arguments.len(), 6);
    }

    #[test]
    fn sentences_are_arguments() {
        let comment = Note::new("waits for 2x2");
        let told = Change::Comment { job: "7".parse().unwrap(), comment };
        let arguments = told.arguments(NoteField::AdminComment).unwrap();
        assert_eq!(arguments, ["update", "JobId=7", "AdminComment=waits for 2x2"]);
        assert!(
            told.arguments(NoteField::Nowhere).is_none()
                && told.lines(NoteField::Nowhere).is_empty()
        );
    }
}
