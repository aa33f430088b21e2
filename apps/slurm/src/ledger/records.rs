//! Unforgeable records from `squeue`. Slurm prints comments unchanged, including line breaks, so a
//! comment can look like additional records. To prevent forgery, a mark begins and ends every
//! record and separates its fields. Each call uses a new random mark. The mark is passed to
//! `squeue` in an environment variable, because other users can read a process's arguments but not
//! its environment. No user can guess the mark, so text written by users cannot begin or end a
//! field.

use crate::ledger::demands::DemandFields;
use crate::ledger::times::{is_word, time_limit, timestamp};
use crate::ledger::{ControlCharacters, Phase, SlurmJob};
use crate::names::{JobName, NodeName, is_compound_identifier, node_lists, number};
use crate::{CallFault, SlurmError};

/// The `squeue` letters of the fields: identifier, state, reason, priority, number of nodes, nodes,
/// requested nodes, start; time limit, submission time, licenses, partition, QOS, account, user,
/// reservation; features, GRES per node, memory per node, processors per node, processors,
/// processor layout, temporary disk; excluded nodes, end, comment.
const FIELDS: [char; FIELD_COUNT] = [
    'i', 't', 'r', 'Q', 'D', 'N', 'n', 'S', 'l', 'V', 'W', 'P', 'q', 'a', 'U', 'v', 'f', 'b', 'm',
    'c', 'C', 'z', 'd', 'x', 'e', 'k',
];

const FIELD_COUNT: usize = 26;
/// The positions of fields that are used even if the record is malformed.
const IDENTIFIER: usize = 0;
const HELD: usize = 5;
const REQUESTED: usize = 6;

/// The fault reported for a comment that contains control characters.
pub(crate) const CONTROL_CHARACTERS: &str = "its comment contains control characters";

/// A random mark that text from users cannot contain.
pub(crate) struct Mark(String);

impl Mark {
    /// Creates a mark using randomness from the operating system.
    pub(crate) fn new() -> Result<Mark, SlurmError> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| SlurmError::Io {
            subject: "random numbers".into(),
            error: std::io::Error::other(error),
        })?;
        Ok(Mark(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Mark {
        Mark(text.into())
    }

    /// Returns the `squeue` format that prints the mark around each field.
    pub(crate) fn format(&self) -> String {
        let fields = FIELDS.iter().map(|field| format!("%{field}{}", self.0));
        fields.fold(self.0.clone(), |format, field| format + &field)
    }
}

/// A record that could not be fully parsed. If the fault is a comment with control characters, the
/// job is also in the list of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The job, if known.
    pub(crate) job: Option<JobName>,
    /// The fault. It never contains text from the record.
    pub(crate) fault: &'static str,
    /// The nodes that the job holds or requests by name, if they can be parsed.
    pub(crate) nodes: Vec<NodeName>,
    /// True if the job may hold nodes that the record does not reveal.
    pub(crate) may_hold_nodes: bool,
}

impl Unreadable {
    /// Creates a record that reveals neither a job nor nodes.
    pub(crate) fn new(fault: &'static str) -> Unreadable {
        Unreadable { job: None, fault, nodes: Vec::new(), may_hold_nodes: true }
    }
}

/// Parses records that `squeue` printed with a mark. Returns the jobs and the malformed records.
///
/// # Errors
/// Returns an error if the output ends in the middle of a record.
pub(crate) fn read(
    text: &str,
    mark: &Mark,
) -> Result<(Vec<SlurmJob>, Vec<Unreadable>), SlurmError> {
    let (mut jobs, mut unreadable) = (Vec::new(), Vec::new());
    let mut check_gap = |between: &str, expected: &str| {
        if between != expected {
            unreadable.push(Unreadable::new("unexpected text between records"));
        }
    };
    let mut parts = text.split(mark.0.as_str());
    check_gap(parts.next().unwrap_or(""), "");
    let parts: Vec<&str> = parts.collect();
    let (records, rest) = parts.as_chunks::<{ FIELD_COUNT + 1 }>();
    if !rest.is_empty() || text.chars().next_back().is_some_and(|last| last != '\n') {
        let fault = CallFault::Malformed("it is truncated");
        return Err(SlurmError::Call { command: "squeue", fault });
    }
    for [.., behind] in records {
        check_gap(behind, "\n");
    }
    for [fields @ .., _] in records {
        match job(fields) {
            Ok(job) => {
                if job.comment.is_err() {
                    unreadable.push(Unreadable {
                        job: Some(job.name),
                        may_hold_nodes: false,
                        ..Unreadable::new(CONTROL_CHARACTERS)
                    });
                }
                jobs.push(job);
            }
            Err(fault) => unreadable.push(Unreadable {
                job: fields[IDENTIFIER].parse().ok(),
                nodes: [fields[HELD], fields[REQUESTED]]
                    .iter()
                    .filter_map(|text| node_list(text))
                    .flatten()
                    .collect(),
                ..Unreadable::new(fault)
            }),
        }
    }
    Ok((jobs, unreadable))
}

/// Parses a job from its fields.
fn job(fields: &[&str; FIELD_COUNT]) -> Result<SlurmJob, &'static str> {
    let [
        name,
        state,
        reason,
        priority,
        nodes,
        held,
        requested,
        start,
        limit,
        submitted,
        licenses,
        partition,
        qos,
        account,
        user,
        reservation,
        features,
        gres,
        memory,
        least_cpus,
        cpus,
        layout,
        disk,
        excluded,
        end,
        comment,
    ] = *fields;
    let phase = match state {
        "PD" => Phase::Pending,
        "CG" => Phase::Completing,
        _ if is_word(state) => Phase::Running,
        _ => return Err("its state cannot be parsed"),
    };
    let name = name.parse().map_err(|_| {
        let several = "it is part of a heterogeneous job or represents several array tasks";
        if is_compound_identifier(name) { several } else { "its job ID cannot be parsed" }
    })?;
    let nodes = number(nodes).ok_or("its node count cannot be parsed")?;
    let excluded = node_list(excluded).ok_or("its list of excluded nodes cannot be parsed")?;
    let demands =
        DemandFields { features, gres, memory, least_cpus, cpus, nodes, layout, disk, excluded };
    Ok(SlurmJob {
        name,
        submitted: timestamp(submitted)?.ok_or("its submission time cannot be parsed")?,
        phase,
        reason: reason.to_string(),
        priority: number::<u32>(priority).ok_or("its priority cannot be parsed")?.into(),
        nodes,
        held_nodes: node_list(held).ok_or("its node list cannot be parsed")?,
        requested_nodes: node_list(requested).ok_or("its requested nodes cannot be parsed")?,
        licenses: licenses.parse().map_err(|_| "its licenses cannot be parsed")?,
        start: timestamp(start)?,
        // A suspended job may resume at any time.
        limit: if state == "S" { None } else { time_limit(limit)? },
        end: if state == "S" { None } else { timestamp(end)? },
        partition: partition.to_string(),
        qos: optional_name(qos),
        account: optional_name(account),
        user: number(user).ok_or("its user ID cannot be parsed")?,
        reservation: optional_name(reservation),
        demands: demands.parse(),
        comment: parse_comment(comment),
    })
}

fn parse_comment(text: &str) -> Result<String, ControlCharacters> {
    match text {
        "(null)" => Ok(String::new()),
        text if text.contains(char::is_control) => Err(ControlCharacters),
        text => Ok(text.to_string()),
    }
}

/// Parses a name chosen by an operator. Returns an empty string if no name is set.
fn optional_name(text: &str) -> String {
    if matches!(text, "(null)" | "N/A") { String::new() } else { text.to_string() }
}

fn node_list(text: &str) -> Option<Vec<NodeName>> {
    match text {
        "(null)" | "None assigned" => Some(Vec::new()),
        text => node_lists::expand(text),
    }
}

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod tests;
