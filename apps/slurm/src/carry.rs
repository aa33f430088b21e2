//! Applies changes through a single `scontrol` process that reads them from standard input. A
//! change consists of one or two lines and takes 3 to 18 ms. Values on these lines cannot contain
//! line breaks or spaces, because Slurm (22.05 to 26.05) treats quotation marks as part of the
//! value. Text with spaces is therefore passed as arguments to a separate `scontrol`. The same
//! applies to lines that are so long that a `scontrol` built without readline would split them.

use pavior::text::shown;

use crate::SlurmError;
use crate::calls::Operator;
use crate::config::NoteField;
use crate::names::{JobName, node_lists};
use crate::plan::change::{Change, Priority, TOP_PRIORITY};

pub(crate) mod lock;

/// The one-word note for a job whose gate is closed.
const CLOSED_NOTE: &str = "pavior:waits";

/// The maximum number of errors to return.
const MAX_OBJECTIONS: usize = 64;

/// The maximum length of a `scontrol` input line, in bytes, including the line break.
const MAX_LINE: usize = 4095;

/// A change, in one of the two forms that `scontrol` accepts.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// Input lines for a `scontrol` process that also handles other changes.
    Lines(String),
    /// Arguments for a separate `scontrol` process.
    Arguments(Vec<String>),
}

impl Change {
    /// Formats the change, writing any note to `field`. Returns `None` for a note-only change if
    /// notes have no field.
    fn request(&self, field: NoteField) -> Option<Request> {
        let note = |text: &str| field.field().map(|name| format!("{name}={text}"));
        Some(match self {
            Change::Open { job, nodes, licenses, comment } => {
                let mut words = vec![
                    "update".to_string(),
                    format!("JobId={job}"),
                    format!("ReqNodeList={}", node_lists::compress(nodes)),
                    format!("Licenses={licenses}"),
                    format!("Priority={TOP_PRIORITY}"),
                ];
                words.extend(note(&comment.word()));
                let line = words.join(" ") + "\n";
                if line.len() > MAX_LINE { Request::Arguments(words) } else { Request::Lines(line) }
            }
            Change::Close { job, licenses, wait_s, priority } => {
                let start = wait_s.map_or(String::new(), |wait| format!(" StartTime=now+{wait}"));
                // The box named in the job's previous note is no longer assigned to the job.
                let note = note(CLOSED_NOTE).map_or(String::new(), |note| format!(" {note}"));
                let update = format!("ReqNodeList= Licenses={licenses}{start}{note}");
                Request::Lines(update_lines(*job, &update, *priority))
            }
            Change::Strip { job, licenses, priority: None } => {
                Request::Lines(format!("update JobId={job} Licenses={licenses}\n"))
            }
            Change::Strip { job, licenses, priority: Some(priority) } => {
                let update = format!("ReqNodeList= Licenses={licenses}");
                Request::Lines(update_lines(*job, &update, *priority))
            }
            Change::Requeue { job } => Request::Lines(format!("requeue {job}\n")),
            Change::Comment { job, comment } => {
                let note = note(comment.as_str())?;
                Request::Arguments(vec!["update".into(), format!("JobId={job}"), note])
            }
        })
    }
}

/// Formats the lines that update a job and set its priority.
fn update_lines(job: JobName, update: &str, priority: Priority) -> String {
    match priority {
        Priority::Computed => format!("update JobId={job} {update}\nrelease {job}\n"),
        Priority::Fixed(priority) => format!("update JobId={job} {update} Priority={priority}\n"),
        Priority::Held => format!("update JobId={job} {update}\n"),
    }
}

/// Applies changes in order and then writes notes. Returns Slurm's error messages. Errors are
/// expected, because jobs may have started or ended in the meantime. The next cycle reads the
/// actual state.
pub(crate) fn apply(
    operator: &Operator,
    changes: &[Change],
    field: NoteField,
) -> Result<Vec<String>, SlurmError> {
    let (mut input, mut calls) = (String::new(), Vec::new());
    for request in changes.iter().filter_map(|change| change.request(field)) {
        match request {
            Request::Lines(lines) => input += &lines,
            Request::Arguments(arguments) => calls.push(arguments),
        }
    }
    let mut stderr = Vec::new();
    if !input.is_empty() {
        stderr = operator.change(input)?.stderr;
    }
    for arguments in calls {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        stderr.extend(operator.try_scontrol(&arguments)?.stderr);
    }
    let stderr = String::from_utf8_lossy(&stderr);
    let lines = stderr.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.take(MAX_OBJECTIONS).map(|line| shown(line).to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{Licenses, Note};

    fn lines(change: &Change, field: NoteField) -> String {
        match change.request(field) {
            Some(Request::Lines(lines)) => lines,
            other => panic!("{other:?}"),
        }
    }

    fn arguments(change: &Change, field: NoteField) -> Vec<String> {
        match change.request(field) {
            Some(Request::Arguments(arguments)) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn changes_are_single_updates() {
        let close = Change::Close {
            job: "7_1".parse().unwrap(),
            licenses: "m:1,pavior:1".parse().unwrap(),
            wait_s: Some(5),
            priority: Priority::Computed,
        };
        let line = "update JobId=7_1 ReqNodeList= Licenses=m:1,pavior:1 StartTime=now+5";
        let with_note = format!("{line} AdminComment=pavior:waits\nrelease 7_1\n");
        assert_eq!(lines(&close, NoteField::AdminComment), with_note);
        assert_eq!(lines(&close, NoteField::Nowhere), format!("{line}\nrelease 7_1\n"));
        let (job, licenses) = ("7".parse().unwrap(), "pavior:1".parse().unwrap());
        let held = Change::Close { job, licenses, wait_s: None, priority: Priority::Held };
        let line = "update JobId=7 ReqNodeList= Licenses=pavior:1 Extra=pavior:waits\n";
        assert_eq!(lines(&held, NoteField::Extra), line, "a release would end the hold");
        let nodes = ["a", "b"].map(|name| name.parse().unwrap()).to_vec();
        let (licenses, comment) = (Licenses::default(), Note::new("c\" Priority=1\n"));
        let open = Change::Open { job: "7".parse().unwrap(), nodes, licenses, comment };
        let line = "update JobId=7 ReqNodeList=a,b Licenses= Priority=4294967290";
        assert_eq!(lines(&open, NoteField::Extra), format!("{line} Extra=c?_Priority=1?\n"));
        assert_eq!(lines(&open, NoteField::Nowhere), format!("{line}\n"));
    }

    #[test]
    fn a_stripped_job_keeps_its_priority_unless_its_gate_was_open() {
        let strip = |priority| {
            let (job, licenses) = ("7".parse().unwrap(), Licenses::default());
            lines(&Change::Strip { job, licenses, priority }, NoteField::AdminComment)
        };
        let update = "update JobId=7 ReqNodeList= Licenses=";
        assert_eq!(strip(None), "update JobId=7 Licenses=\n");
        assert_eq!(strip(Some(Priority::Fixed(5))), format!("{update} Priority=5\n"));
        assert_eq!(strip(Some(Priority::Computed)), format!("{update}\nrelease 7\n"));
    }

    /// Checks that a long node list is compressed and, if still too long for a line, passed as
    /// arguments.
    #[test]
    fn long_node_lists_are_compressed_or_passed_as_arguments() {
        let opening = |pattern: &str, apart: usize| {
            let name = |number: usize| format!("{pattern}{:03}", number * apart);
            let names: Vec<String> = (0..150).map(name).collect();
            let nodes = names.iter().map(|name| name.parse().unwrap()).collect();
            let comment = Note::new(&format!("pavior:box=15x10@0,0;ranks={}", names.join(",")));
            Change::Open {
                job: "7".parse().unwrap(),
                nodes,
                licenses: Licenses::default(),
                comment,
            }
        };
        let change = opening("compute-no", 1);
        let line = lines(&change, NoteField::AdminComment);
        let begin = "update JobId=7 ReqNodeList=compute-no[000-149] Licenses= Priority=4294967290 ";
        assert!(line.starts_with(begin) && line.len() < MAX_LINE, "{line}");
        let arguments = arguments(&opening("a-longer-name-of-nodes", 2), NoteField::Extra);
        assert_eq!(arguments[..2], ["update", "JobId=7"]);
        assert!(arguments[2].starts_with("ReqNodeList=a-longer-name-of-nodes[000,002,004,"));
        assert!(arguments[5].ends_with(",a-longer-name-of-nodes298"), "{arguments:?}");
        assert_eq!(arguments.len(), 6);
    }

    #[test]
    fn sentences_are_passed_as_arguments() {
        let comment = Note::new("waits for 2x2");
        let note = Change::Comment { job: "7".parse().unwrap(), comment };
        let expected = ["update", "JobId=7", "AdminComment=waits for 2x2"];
        assert_eq!(arguments(&note, NoteField::AdminComment), expected);
        assert_eq!(note.request(NoteField::Nowhere), None);
    }
}
