//! Records of `squeue`, which nobody can forge.
//!
//! Slurm prints a comment as it is, line breaks included, so that a comment can look like further
//! records. Hence a mark stands before every record, between its fields, and behind it. It is drawn
//! anew for each reading, from the system's randomness. `squeue` is told it in a variable of its
//! environment, which no other user can read, unlike the arguments of a process. No text of a
//! user's can hold the mark, so no text of a user's can begin or end a field.

use crate::demands::DemandFields;
use crate::ledger::{Phase, SlurmJob};
use crate::names::{JobName, NodeName, is_several, number};
use crate::{SlurmError, hosts};

/// The fields, as `squeue` calls them: identifier, state, reason, priority, number of nodes, nodes,
/// nodes asked for, start, time limit, time of submission, licences, partition, QOS, account, user,
/// reservation, features, GRES of a node, memory of a node, processors of a node, processors,
/// layout of processors, temporary disk, nodes not wanted, end, comment.
const FIELDS: [char; 26] = [
    'i', 't', 'r', 'Q', 'D', 'N', 'n', 'S', 'l', 'V', 'W', 'P', 'q', 'a', 'U', 'v', 'f', 'b', 'm',
    'c', 'C', 'z', 'd', 'x', 'e', 'k',
];

/// A time limit is shorter than this, in seconds: more than Slurm can say.
const LONGEST: u64 = 1 << 40;

/// What no text of a user's can hold.
pub(crate) struct Mark(String);

impl Mark {
    /// A new one.
    pub(crate) fn new() -> Result<Mark, SlurmError> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| SlurmError::Io {
            what: "the system's randomness".into(),
            error: std::io::Error::other(error),
        })?;
        Ok(Mark(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Mark {
        Mark(text.into())
    }

    /// The format that `squeue` is told.
    pub(crate) fn format(&self) -> String {
        let fields = FIELDS.iter().map(|field| format!("%{field}{}", self.0));
        fields.fold(self.0.clone(), |format, field| format + &field)
    }
}

/// A record, or a part of one, that is not read as a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Whose it is, if that can be read.
    pub(crate) job: Option<JobName>,
    /// What is wrong with it. Never text from the record.
    pub(crate) fault: &'static str,
    /// The nodes that it holds or is to have, as far as they can be read.
    pub(crate) nodes: Vec<NodeName>,
}

impl Unreadable {
    /// Whether it may hold nodes that are not known.
    pub(crate) fn may_hold_nodes(&self) -> bool {
        self.fault != CONTROL_CHARACTERS
    }
}

/// What a comment is accused of.
pub(crate) const CONTROL_CHARACTERS: &str = "its comment has control characters";

/// Reads the records that `squeue` printed with a mark.
///
/// # Errors
/// If it ends in the middle of a record.
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
        return Err(SlurmError::Unreadable { command: "squeue", fault: "it ends too early" });
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

/// A job of its fields, or what is wrong with them.
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
        _ => return Err("its state cannot be read"),
    };
    let name = name.parse().map_err(|_| {
        let several = "it is a part of a heterogeneous job, or several tasks";
        if is_several(name) { several } else { "its identifier cannot be read" }
    })?;
    let comment = if comment == "(null)" { "" } else { comment };
    let nodes = number(nodes).ok_or("its number of nodes cannot be read")?;
    let excluded = list(excluded).ok_or("the nodes that it excludes cannot be read")?;
    let demands =
        DemandFields { features, gres, memory, least_cpus, cpus, nodes, layout, disk, excluded };
    Ok(SlurmJob {
        name,
        submitted: time(submitted)?.ok_or("its time of submission cannot be read")?,
        phase,
        reason: reason.to_string(),
        priority: number::<u32>(priority).ok_or("its priority cannot be read")?.into(),
        nodes,
        held: list(held).ok_or("its nodes cannot be read")?,
        named: list(named).ok_or("the nodes that it asks for cannot be read")?,
        licences: licences.parse().map_err(|_| "its licences cannot be read")?,
        start: time(start)?,
        // Nobody knows when a suspended job goes on.
        limit: if state == "S" { None } else { time_limit(limit)? },
        end: if state == "S" { None } else { time(end)? },
        partition: partition.to_string(),
        qos: word_or_none(qos),
        account: word_or_none(account),
        user: number(user).ok_or("its user cannot be read")?,
        reservation: word_or_none(reservation),
        demands: demands.read(),
        bad_comment: comment.contains(char::is_control),
        comment: comment.to_string(),
    })
}

/// A name that only operators give; empty for none.
fn word_or_none(text: &str) -> String {
    if matches!(text, "(null)" | "N/A") { String::new() } else { text.to_string() }
}

fn list(text: &str) -> Option<Vec<NodeName>> {
    match text {
        "(null)" | "None assigned" => Some(Vec::new()),
        text => hosts::expand(text),
    }
}

/// Whether text is one of Slurm's words, such as N/A or UNLIMITED.
fn is_word(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || b"/_".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}

/// Seconds since 1970, of which Slurm has 32 bits; `None` for a word, such as N/A.
fn time(text: &str) -> Result<Option<u64>, &'static str> {
    match number::<u32>(text) {
        Some(seconds) => Ok(Some(seconds.into())),
        None if is_word(text) => Ok(None),
        None => Err("a time of its cannot be read"),
    }
}

/// Seconds of `days-hours:minutes:seconds`, its shorter forms included; `None` for a word.
pub(crate) fn time_limit(text: &str) -> Result<Option<u64>, &'static str> {
    if is_word(text) {
        return Ok(None);
    }
    seconds(text)
        .filter(|seconds| *seconds < LONGEST)
        .map(Some)
        .ok_or("its time limit cannot be read")
}

fn seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (number::<u32>(days)?, rest),
        None => (0, text),
    };
    let parts = rest.split(':').map(number::<u32>).collect::<Option<Vec<u32>>>()?;
    let parts: Vec<u64> = parts.into_iter().map(u64::from).collect();
    let of_a_day = match (parts[..].len(), text.contains('-')) {
        (1, false) => parts[0] * 60,
        (1, true) => parts[0] * 3600,
        (2, true) => parts[0] * 3600 + parts[1] * 60,
        (2, false) => parts[0] * 60 + parts[1],
        (3, _) => parts[0] * 3600 + parts[1] * 60 + parts[2],
        _ => return None,
    };
    Some(u64::from(days) * 86_400 + of_a_day)
}

#[cfg(test)]
mod attacks;
#[cfg(test)]
pub(crate) mod tests;
