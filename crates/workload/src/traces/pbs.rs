//! Accounting logs from Torque, PBS Pro and OpenPBS: one record per line.
//!
//! ```text
//!   03/18/2017 00:01:15;E;71.bw;user=ann queue=normal ctime=1489668573 start=1489799118
//!   exec_host=26742/0-31+26743/0-31 Resource_List.walltime=04:00:00 end=1489813275 Exit_status=0
//! ```
//!
//! (This is a single line, wrapped here.) A record consists of a date, a type, an id, and key-value
//! pairs. Values that contain spaces are quoted. Records of type `E` (job ended) and `R` (job
//! rerun) describe jobs. Other types, and records for whole arrays (`71[].bw`), are skipped. If an
//! id occurs more than once, the latest record is used, and the others count as requeued.
//!
//! The submit time is `ctime` or else `qtime`. The run time is `end` minus `start` or, failing
//! that, `resources_used.walltime`. The estimate is `Resource_List.walltime`. The size is the
//! number of distinct hosts in `exec_host` or `exec_vnode`, or else `Resource_List.nodect`, or else
//! the number requested by `Resource_List.nodes` or `Resource_List.select`. Hosts are separated by
//! `+`, and each host's processors follow a slash: `h/0-31`, `h/3+h/2`, `h/0*32`. The status is 1
//! if `Exit_status` is 0, and 0 otherwise. User, group, queue and account names become numbers.
//!
//! The size of a request is the sum of its chunk counts. A chunk without a count, such as a node
//! name, counts as one:
//!
//! ```text
//!   request   chunk[+chunk...][#word]                    2:ncpus=8:mpiprocs=8+1:ncpus=4
//!   chunk     count[:property...] | word[:property...]   4:ppn=8   n1:ppn=4   ncpus=4
//! ```
//!
//! Source: the Torque 6 and PBS Professional 2022 administrator's guides, "Accounting". A line may
//! be up to 1 MiB long, because it names every processor. Cost: one pass, keeping an entry per job
//! in memory.

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::error::quoted;
use super::latest::Latest;
use super::record::{Collector, Draft, LONGEST, wait};
use super::text::{Lines, number};
use super::{Field, LineError, Names, ReadError, ReadOptions, Tags, Trace};

/// Returns true if a line is an accounting record.
pub(super) fn is_record(line: &[u8]) -> bool {
    record(line).is_some()
}

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if a line is not a record or a job is invalid (unless
/// lenient), or if there are no jobs.
///
/// ```
/// use pavior_workload::traces::{ReadOptions, pbs};
/// let log = "03/18/2017 00:01:15;E;71.bw;user=ann queue=q ctime=100 start=160 end=220 \
///            exec_host=a/0-31+b/0-31 Exit_status=0\n";
/// let trace = pbs::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((trace.records[0].number, trace.records[0].nodes), (71, 2));
/// # Ok::<(), pavior_workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(reader).with_long_lines();
    let mut jobs = Collector::new(options);
    let (mut log, mut names) = (Latest::new(), Names::default());
    while jobs.wants_more(log.len()) && lines.advance()? {
        let line = lines.line();
        if line.trim_ascii().is_empty() {
            continue;
        }
        match job(line, lines.number, &mut names, options.hosts) {
            Ok(None) => {}
            Ok(Some((id, draft))) => log.push(id, draft),
            Err(fault) => jobs.malformed(lines.number, || fault)?,
        }
    }
    jobs.set_names(names)?;
    log.offer(&mut jobs, None);
    jobs.finish(lines.number)
}

/// A record's type, its id, and the offset of its key-value pairs.
type Parts<'l> = (&'l [u8], &'l [u8], usize);

/// Splits a record: `MM/DD/YYYY HH:MM:SS;TYPE;ID;pairs`.
fn record(line: &[u8]) -> Option<Parts<'_>> {
    const DATE: &[u8] = b"00/00/0000 00:00:00";
    let (date, rest) = line.split_at_checked(DATE.len())?;
    let is_date = date.iter().zip(DATE).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    let mut parts = rest.strip_prefix(b";")?.splitn(3, |&byte| byte == b';');
    let (kind, id) = (parts.next()?, parts.next()?);
    let pairs = parts.next().unwrap_or_default();
    let is_kind = (1..=2).contains(&kind.len()) && kind.iter().all(u8::is_ascii_alphabetic);
    (is_date && is_kind).then_some((kind, id, line.len() - pairs.len()))
}

/// A size key for jobs without hosts, the parser for its values, and a description of valid values.
type SizeKey = (&'static str, fn(&[u8]) -> Option<f64>, &'static str);

const SIZES: [SizeKey; 3] = [
    ("Resource_List.nodect", whole, "valid number of nodes"),
    ("Resource_List.nodes", chunks, "valid request; use one such as 4:ppn=8 or n1:ppn=4+n2:ppn=4"),
    ("Resource_List.select", chunks, "valid request; use one such as 2:ncpus=8+1:ncpus=4"),
];

/// Reads the job in a record. Returns `None` if the record is not a job.
fn job(
    line: &[u8],
    line_number: u64,
    names: &mut Names,
    reads_hosts: bool,
) -> Result<Option<(Vec<u8>, Draft)>, LineError> {
    let fault = |at: Range<usize>, reason: String| LineError::new(line_number, line, at, reason);
    let Some((kind, id, start)) = record(line) else {
        let reason = "expected an accounting record such as 03/18/2017 00:01:15;E;71.host;user=...";
        return Err(fault(0..1, reason.into()));
    };
    let is_array = id.windows(2).any(|pair| pair == b"[]");
    if is_array || !(kind == b"E" || kind == b"R") {
        return Ok(None);
    }
    let digits = id.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(job_number) = number(&id[..digits]) else {
        return Err(fault(0..line.len().min(1), format!("{} is not a valid job id", quoted(id))));
    };
    let pairs = pairs(line, start);
    let place = |key: &str| pairs.get(key.as_bytes()).cloned();
    let read = |key: &str, grammar: fn(&[u8]) -> Option<f64>, wanted: &str| {
        let Some(at) = place(key) else { return Ok(None) };
        let value = grammar(&line[at.clone()]).map(Some);
        value.ok_or_else(|| fault(at.clone(), format!("{} is not a {wanted}", quoted(&line[at]))))
    };
    let instant = |key: &str| read(key, seconds, "valid time in seconds since 1970");
    let span = |key: &str| read(key, span, "valid duration; use 04:00:00 or a number of seconds");
    let submit = instant("ctime")?.or(instant("qtime")?).unwrap_or(-1.0);
    let start = instant("start")?;
    let between = start.zip(instant("end")?).map(|(start, end)| end - start);
    let run = between.or(span("resources_used.walltime")?).unwrap_or(-1.0);
    let list = place("exec_host").or(place("exec_vnode"));
    let hosts = list.map_or_else(Vec::new, |at| hosts(&line[at]));
    let mut nodes = hosts.len() as f64;
    for (key, grammar, wanted) in SIZES {
        nodes = if nodes > 0.0 { nodes } else { read(key, grammar, wanted)?.unwrap_or(0.0) };
    }
    let status = place("Exit_status").map(|at| i64::from(&line[at] == b"0"));
    let mut class = |field, keys: [&str; 2]| {
        let found = keys.into_iter().find_map(place).map(|at| &line[at]);
        found.filter(|name| !name.is_empty()).map_or(-1, |name| names.number(field, name))
    };
    let draft = Draft {
        number: job_number,
        line: line_number,
        submit,
        run,
        estimate: span("Resource_List.walltime")?.unwrap_or(-1.0),
        nodes,
        in_processors: false,
        state: -1,
        shape: None,
        freedom: None,
        tags: Tags {
            status: status.unwrap_or(-1),
            user: class(Field::User, ["user", "euser"]),
            group: class(Field::Group, ["account", "group"]),
            application: -1,
            queue: class(Field::Queue, ["queue", "queue"]),
            partition: class(Field::Partition, ["server", "server"]),
        },
        wait: wait(submit, start),
        after: Vec::new(),
        hosts: reads_hosts.then(|| String::from_utf8_lossy(&hosts.join(&b',')).into()),
    };
    Ok(Some((id.to_vec(), draft)))
}

/// Returns the position of each key's value. If a key is repeated, its first value is used.
fn pairs(line: &[u8], start: usize) -> HashMap<&[u8], Range<usize>> {
    let (mut pairs, mut at) = (HashMap::new(), start);
    while at < line.len() {
        let (mut end, mut is_quoted) = (at, false);
        while end < line.len() && (is_quoted || line[end] != b' ') {
            is_quoted ^= line[end] == b'"';
            end += 1;
        }
        if let Some(equals) = line[at..end].iter().position(|&byte| byte == b'=') {
            let mut value = at + equals + 1..end;
            if value.len() >= 2 && line[value.start] == b'"' && line[end - 1] == b'"' {
                value = value.start + 1..end - 1;
            }
            pairs.entry(&line[at..at + equals]).or_insert(value);
        }
        at = end + 1;
    }
    pairs
}

/// Returns the distinct hosts in a list, in order.
fn hosts(list: &[u8]) -> Vec<&[u8]> {
    let names = list.split(|&byte| byte == b'+').map(|one| {
        let one = one.strip_prefix(b"(").unwrap_or(one);
        one.split(|byte| b"/:)".contains(byte)).next().unwrap_or_default()
    });
    let mut known = FxHashSet::default();
    names.filter(|&name| !name.is_empty() && known.insert(name)).collect()
}

/// Returns the number of nodes requested, which is the sum of the chunk counts.
fn chunks(text: &[u8]) -> Option<f64> {
    let text = text.split(|&byte| byte == b'#').next()?;
    let count = |chunk: &[u8]| {
        let head = chunk.split(|&byte| byte == b':').next()?;
        let is_count = head.first()?.is_ascii_digit() && !head.iter().any(u8::is_ascii_alphabetic);
        if is_count { whole(head) } else { Some(1.0) }
    };
    text.split(|&byte| byte == b'+').map(count).sum()
}

/// Parses a non-negative integer.
fn whole(text: &[u8]) -> Option<f64> {
    number(text).filter(|value| value.fract() == 0.0 && *value >= 0.0)
}

/// Parses a point in time, in seconds.
fn seconds(text: &[u8]) -> Option<f64> {
    number(text).filter(|&value| value <= LONGEST)
}

/// Parses a duration: a number of seconds, or two to four numbers separated by colons.
fn span(text: &[u8]) -> Option<f64> {
    const UNITS: [f64; 4] = [1.0, 60.0, 3600.0, 86_400.0];
    let parts: Vec<&[u8]> = text.rsplitn(5, |&byte| byte == b':').collect();
    if parts.len() > UNITS.len() {
        return None;
    }
    let values = parts.into_iter().zip(UNITS).map(|(part, unit)| Some(number(part)? * unit));
    let sum: f64 = values.sum::<Option<f64>>()?;
    Some(sum.min(LONGEST)).filter(|&sum| sum >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_counted_once() {
        for (list, count) in [
            ("26742/0-31+26743/0-31", 2),
            ("h/3+h/2+h/1+g/0", 2),
            ("h/0*32", 1),
            ("(h:ncpus=4)+(g:ncpus=4)", 2),
            ("h", 1),
            ("+", 0),
            ("", 0),
        ] {
            assert_eq!(hosts(list.as_bytes()).len(), count, "{list}");
        }
    }

    #[test]
    fn spans_and_quoted_values_are_read() {
        let spans = ["90", "1:30", "01:00:00", "2:00:00:00", "1:2:3:4:5", "", "a", "-1"];
        let found = spans.map(|text| span(text.as_bytes()));
        let none = None;
        assert_eq!(
            found,
            [Some(90.0), Some(90.0), Some(3600.0), Some(172_800.0), none, none, none, none]
        );
        let line = b"a=1 jobname=\"my job\" b= c a=2";
        let pairs = pairs(line, 0);
        let value = |key: &[u8]| std::str::from_utf8(&line[pairs[key].clone()]).unwrap();
        assert_eq!((value(b"a"), value(b"jobname"), value(b"b")), ("1", "my job", ""));
        assert_eq!(pairs.len(), 3);
    }
}
