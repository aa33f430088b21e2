//! Unforgeable records from `squeue`. Slurm prints comments unchanged, including line breaks, so a
//! comment can look like additional records. Therefore, a mark begins and ends every record and
//! separates its fields. Each call uses a new random mark. `squeue` gets it in an environment
//! variable because, unlike arguments, other users cannot read it. No user can guess the mark, so
//! user text cannot begin or end a field.

use crate::SlurmError;
use crate::ledger::demands::DemandFields;
use crate::ledger::jobs::{Phase, SlurmJob};
use crate::ledger::times::{is_word, time_limit, timestamp};
use crate::names::{JobName, NodeName, hosts, is_several, number};

/// The `squeue` letters of the fields: identifier, state, reason, priority, number of nodes, nodes,
/// requested nodes, start; time limit, submission time, licenses, partition, QOS, account, user,
/// reservation; features, GRES per node, memory per node, processors per node, processors,
/// processor layout, temporary disk; excluded nodes, end, comment.
const FIELDS: [char; 26] = [
    'i', 't', 'r', 'Q', 'D', 'N', 'n', 'S', 'l', 'V', 'W', 'P', 'q', 'a', 'U', 'v', 'f', 'b', 'm',
    'c', 'C', 'z', 'd', 'x', 'e', 'k',
];

/// A random mark that user text cannot contain.
pub(crate) struct Mark(String);

impl Mark {
    /// Creates a mark with randomness from the operating system.
    pub(crate) fn new() -> Result<Mark, SlurmError> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| SlurmError::Io {
            what: "cannot generate random numbers".into(),
            error: std::io::Error::other(error),
        })?;
        Ok(Mark(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Mark {
        Mark(text.into())
    }

    /// Returns the format for `squeue`.
    pub(crate) fn format(&self) -> String {
        let fields = FIELDS.iter().map(|field| format!("%{field}{}", self.0));
        fields.fold(self.0.clone(), |format, field| format + &field)
    }
}

/// A record that could not be parsed, entirely or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The job, if known.
    pub(crate) job: Option<JobName>,
    /// The fault, which never contains text from the record.
    pub(crate) fault: &'static str,
    /// The nodes that the job holds or requests by name, as far as they could be parsed.
    pub(crate) nodes: Vec<NodeName>,
}

impl Unreadable {
    /// Returns true if the job may hold unknown nodes.
    pub(crate) fn may_hold_nodes(&self) -> bool {
        self.fault != CONTROL_CHARACTERS
    }
}

/// The fault of a comment with control characters.
pub(crate) const CONTROL_CHARACTERS: &str = "its comment contains control characters";

/// Parses records that `squeue` printed with a mark. Returns jobs and malformed records.
///
/// # Errors
/// Returns an error if the output ends in the middle of a record.
pub(crate) fn read(
    text: &str,
    mark: &Mark,
) -> Result<(Vec<SlurmJob>, Vec<Unreadable>), SlurmError> {
    let (mut jobs, mut unreadable) = (Vec::new(), Vec::new());
    let mut stranger = |between: &str, expected: &str| {
        if between != expected {
            let fault = "text between the records";
            unreadable.push(Unreadable { job: None, fault, nodes: Vec::new() });
        }
    };
    let mut parts = text.split(mark.0.as_str());
    stranger(parts.next().unwrap_or(""), "");
    let parts: Vec<&str> = parts.collect();
    let (records, rest) = parts.as_chunks::<27>();
    if !rest.is_empty() || text.chars().next_back().is_some_and(|last| last != '\n') {
        return Err(SlurmError::Unreadable { command: "squeue", fault: "it is truncated" });
    }
    for [.., behind] in records {
        stranger(behind, "\n");
    }
    for [fields @ .., _] in records {
        match job(fields) {
            Ok(job) => {
                if job.bad_comment {
                    let (job, fault) = (Some(job.name), CONTROL_CHARACTERS);
                    unreadable.push(Unreadable { job, fault, nodes: Vec::new() });
                }
                jobs.push(job);
            }
            Err(fault) => unreadable.push(Unreadable {
                job: fields[0].parse().ok(),
                fault,
                nodes: [fields[5], fields[6]]
                    .iter()
                    .filter_map(|text| list(text))
                    .flatten()
                    .collect(),
            }),
        }
    }
    Ok((jobs, unreadable))
}

/// Parses a job from its fields.
fn job(fields: &[&str; 26]) -> Result<SlurmJob, &'static str> {
    let [
        name,
        state,
        reason,
        priority,
        nodes,
        held,
        named,
        start,
        limit,
        submitted,
        licences,
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
        let several = "it is part of a heterogeneous job, or several tasks";
        if is_several(name) { several } else { "its identifier cannot be parsed" }
    })?;
    let comment = if comment == "(null)" { "" } else { comment };
    let nodes = number(nodes).ok_or("its number of nodes cannot be parsed")?;
    let excluded = list(excluded).ok_or("its excluded nodes cannot be parsed")?;
    let demands =
        DemandFields { features, gres, memory, least_cpus, cpus, nodes, layout, disk, excluded };
    Ok(SlurmJob {
        name,
        submitted: timestamp(submitted)?.ok_or("its submission time cannot be parsed")?,
        phase,
        reason: reason.to_string(),
        priority: number::<u32>(priority).ok_or("its priority cannot be parsed")?.into(),
        nodes,
        held: list(held).ok_or("its nodes cannot be parsed")?,
        named: list(named).ok_or("its requested nodes cannot be parsed")?,
        licences: licences.parse().map_err(|_| "its licenses cannot be parsed")?,
        start: timestamp(start)?,
        // A suspended job may resume at any time.
        limit: if state == "S" { None } else { time_limit(limit)? },
        end: if state == "S" { None } else { timestamp(end)? },
        partition: partition.to_string(),
        qos: word_or_none(qos),
        account: word_or_none(account),
        user: number(user).ok_or("its user cannot be parsed")?,
        reservation: word_or_none(reservation),
        demands: demands.read(),
        bad_comment: comment.contains(char::is_control),
        comment: comment.to_string(),
    })
}

/// Parses a name chosen by operators, which is empty if it is not set.
fn word_or_none(text: &str) -> String {
    if matches!(text, "(null)" | "N/A") { String::new() } else { text.to_string() }
}

fn list(text: &str) -> Option<Vec<NodeName>> {
    match text {
        "(null)" | "None assigned" => Some(Vec::new()),
        text => hosts::expand(text),
    }
}

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod tests;
