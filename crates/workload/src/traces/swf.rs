//! The Standard Workload Format, version 2.2: one job per line, as 18 numbers.
//!
//! Pavior uses the fields below. Each must be a number, except that any other text in the wait
//! field means unknown. All other fields may contain any text, and columns after the 18th are
//! ignored. In every field, -1 means unknown.
//!
//! ```text
//!   1 number   2 submit   3 wait       4 run time   5 processors allocated   8 requested
//!   9 time requested      11 status    12 user      13 group                 14 application
//!   15 queue   16 partition            17 preceding job                      18 think time
//! ```
//!
//! The size is field 5 if that is positive, or else field 8 if that is positive. An option can
//! select a different column, whose cells have the form `[text:]NODES[xPROCESSORS]`, as in `2x4` or
//! `frontier:excl:2500x112`. The size is then NODES. A line with status 2, 3 or 4 describes a piece
//! of a job. The piece is skipped if the log also has a line for the whole job, with the same
//! number and status 0 or 1. Lines without a size, or with a negative submit or run time, are
//! skipped. A positive field 9 is the estimate. Lines that start with `;`, `#`, `%` or `//` are
//! comments, even in the middle of a log. If field 17 is not negative, the job depends on the job
//! with that number. It is submitted after the think time in field 18 (negative means unknown).
//!
//! Source: Chapin, Cirne, Feitelson, Jones, Leutenegger, Schwiegelshohn, Smith & Talby (1999).
//! Deviation: decimals are accepted in every field, because field 6 has them in real logs. Times
//! have microsecond precision. Cost: one pass over the bytes.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use pavior_kernel::Time;

use super::error::quoted;
use super::record::{Collector, Draft, LONGEST};
use super::text::{Lines, columns, comment, number};
use super::{Event, Header, LineError, Predecessor, ReadError, ReadOptions, Record, Tags, Trace};
use crate::TimeUnit;

const FIELDS: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "processors allocated",
    "average CPU time",
    "memory used",
    "processors requested",
    "time requested",
    "memory requested",
    "status",
    "user",
    "group",
    "application",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if a line has fewer than 18 columns or text in a numeric
/// column (unless lenient), or if there are no job lines.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::traces::{ReadOptions, swf};
/// let log = "; MaxProcs: 128\n1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
/// let trace = swf::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!(trace.header.machine_size(), Some(128));
/// assert_eq!((trace.records[0].nodes, trace.records[0].tags.user), (4, 7));
/// # Ok::<(), pavior::workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    read_into(Collector::new(options), reader)
}

pub(super) fn read_into(mut jobs: Collector<'_>, reader: impl BufRead) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(reader);
    while jobs.wants_more(0) && lines.advance()? {
        let line = lines.line();
        if let Some(comment) = comment(line) {
            let taken = jobs.header.take(comment);
            taken.map_err(|reason| LineError::new(lines.number, line, 0..line.len(), reason))?;
            continue;
        }
        match job(line, lines.number, jobs.options.nodes_from) {
            Ok(draft) => jobs.offer(&draft),
            Err(fault) => jobs.malformed(lines.number, || fault)?,
        }
    }
    jobs.finish(lines.number)
}

/// The fields that may contain any text: the wait, which is unknown if it is not a number, and
/// three fields that Pavior does not use (CPU time, memory used and memory requested).
const FREE: [usize; 4] = [2, 5, 6, 9];

fn job(line: &[u8], line_number: u64, nodes_from: Option<u32>) -> Result<Draft, LineError> {
    let mut places = [const { 0..0 }; FIELDS.len()];
    let found = columns(line, &mut places);
    let fail = |field: usize, reason: String| {
        LineError::new(line_number, line, places[field].clone(), reason)
    };
    let mut values = [0.0; FIELDS.len()];
    for (field, value) in values.iter_mut().enumerate().take(found) {
        let token = &line[places[field].clone()];
        if FREE.contains(&field) {
            *value = number(token).unwrap_or(-1.0);
            continue;
        }
        *value = number(token).ok_or_else(|| {
            let form = "; spaces separate columns, and comments begin with ; or #";
            let form = if field == 0 { form } else { "" };
            fail(field, format!("{} is not a number in {}{form}", quoted(token), name(field)))
        })?;
    }
    if found < FIELDS.len() {
        let end: Range<usize> = line.len()..line.len();
        let reason = format!("expected {} columns in a job line, but found {found}", FIELDS.len());
        return Err(LineError::new(line_number, line, end, reason));
    }
    for field in [1, 3] {
        if values[field] > LONGEST {
            return Err(fail(field, format!("{} is above {LONGEST:e} s", name(field))));
        }
    }
    let size = if values[4] > 0.0 { 4 } else { 7 };
    if nodes_from.is_none() && values[size].fract() != 0.0 {
        return Err(fail(size, format!("{} is not a whole number", name(size))));
    }
    let nodes = nodes_from.map(|column| nodes_in(line, line_number, column)).transpose()?;
    Ok(Draft {
        number: values[0],
        line: line_number,
        submit: values[1],
        run: values[3],
        estimate: values[8].min(LONGEST),
        nodes: nodes.unwrap_or(values[size]),
        in_processors: nodes.is_none(),
        state: -1,
        shape: None,
        freedom: None,
        tags: Tags {
            status: values[10] as i64,
            user: values[11] as i64,
            group: values[12] as i64,
            application: values[13] as i64,
            queue: values[14] as i64,
            partition: values[15] as i64,
        },
        wait: values[2].min(LONGEST),
        after: predecessor(values[16], values[17]).into_iter().collect(),
        hosts: None,
    })
}

fn predecessor(number: f64, think: f64) -> Option<Predecessor> {
    let think = (think >= 0.0).then(|| TimeUnit::SECOND.time(think.min(LONGEST)));
    (number >= 0.0).then_some(Predecessor { number: number as u64, think, event: Event::End })
}

/// Returns the node count in a column, given the column's number starting from 1.
fn nodes_in(line: &[u8], line_number: u64, column: u32) -> Result<f64, LineError> {
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let Some(token) = tokens.nth(column.saturating_sub(1) as usize) else {
        let reason = format!("no such column: {column}");
        return Err(LineError::new(line_number, line, line.len()..line.len(), reason));
    };
    let last = token.rsplit(|&byte| byte == b':').next().unwrap_or_default();
    let mut factors = last.splitn(2, |&byte| byte == b'x');
    let nodes = factors.next().and_then(number).filter(|nodes| nodes.fract() == 0.0);
    let processors = factors.next().map(|rest| number(rest).filter(|&count| count > 0.0));
    if let (Some(nodes), None | Some(Some(_))) = (nodes, processors) {
        return Ok(nodes);
    }
    let start = token.as_ptr() as usize - line.as_ptr() as usize;
    let reason = format!(
        "{} is not a valid number of nodes; use 4 or 2x4 (nodes x CPUs), optionally preceded by \
         text and a colon",
        quoted(token)
    );
    Err(LineError::new(line_number, line, start..start + token.len(), reason))
}

fn name(field: usize) -> String {
    format!("field {} ({})", field + 1, FIELDS[field])
}

/// Writes a log, with a header and then one line per job. Fields that Pavior does not use are -1.
/// If a job waits for several predecessors to end, only the last predecessor is written.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(mut to: impl Write, header: &Header, records: &[Record]) -> io::Result<()> {
    write_header(&mut to, header)?;
    for record in records {
        let run = super::seconds(record.run);
        let wait = record.wait.map_or("-1".to_string(), super::seconds);
        write_line(&mut to, record, &wait, &run, &record.nodes.to_string())?;
    }
    Ok(())
}

/// A job and its outcome in a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheduled {
    /// The job, with its actual run time.
    pub record: Record,
    /// The wait and the number of allocated nodes, or `None` if the job never started.
    pub held: Option<(Time, u32)>,
}

/// Writes a schedule in the same format as [`write()`], with the wait in field 3 and the number of
/// allocated nodes in field 5. If a job never started, these fields and the run time are -1.
///
/// # Errors
/// Returns an error if writing fails.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
/// use pavior::workload::traces::{Header, ReadOptions, swf};
/// use pavior::Time;
/// let log = "7 0 -1 60 4 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
/// let trace = swf::read(log.as_bytes(), &ReadOptions::default())?;
/// let record = trace.records[0].clone();
/// let outcome = swf::Scheduled { record, held: Some((Time(5_000_000), 6)) };
/// let mut text = Vec::new();
/// swf::write_schedule(&mut text, &Header::default(), &[outcome])?;
/// assert_eq!(text, b"7 0 5 60 6 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_schedule(
    mut to: impl Write,
    header: &Header,
    outcomes: &[Scheduled],
) -> io::Result<()> {
    write_header(&mut to, header)?;
    for Scheduled { record, held } in outcomes {
        let unknown = || "-1".to_string();
        let [wait, run] = [held.map(|(wait, _)| wait), held.map(|_| record.run)]
            .map(|time| time.map_or_else(unknown, super::seconds));
        let granted = held.map_or_else(unknown, |(_, nodes)| nodes.to_string());
        write_line(&mut to, record, &wait, &run, &granted)?;
    }
    Ok(())
}

fn write_header(to: &mut impl Write, header: &Header) -> io::Result<()> {
    header.entries().try_for_each(|(key, value)| writeln!(to, "; {key}: {value}"))
}

fn write_line(
    to: &mut impl Write,
    record: &Record,
    wait: &str,
    run: &str,
    granted: &str,
) -> io::Result<()> {
    let Record { number, nodes, tags, .. } = record;
    let dependency = record.dependency.as_deref();
    let submit = match dependency {
        Some(dependency) if !dependency.has_submit => "-1".to_string(),
        _ => super::seconds(record.submit),
    };
    let mut after = dependency.into_iter().flat_map(|dependency| dependency.after.iter().rev());
    let (preceding, think) = match after.find(|job| job.event == Event::End) {
        Some(job) => (job.number.to_string(), job.think.map(super::seconds)),
        None => ("-1".to_string(), None),
    };
    let think = think.as_deref().unwrap_or("-1");
    let estimate = record.estimate.map_or("-1".to_string(), super::seconds);
    let Tags { status, user, group, application, queue, partition } = tags;
    writeln!(
        to,
        "{number} {submit} {wait} {run} {granted} -1 -1 {nodes} {estimate} -1 {status} {user} \
         {group} {application} {queue} {partition} {preceding} {think}"
    )
}
