//! Parsing of waiting jobs from JSON lines: the `--queue` option of `pavior forecast`.

use std::collections::HashMap;
use std::path::Path;

use pavior::text::shown;
use pavior::workload::traces::Tags;
use pavior::workload::{Ask, FreedomRule, Shaper, freedom_named};
use pavior::{Freedom, Grid, Request, Stream};
use serde_json::Value;

use crate::busy::{self, Busy, Wrong, at, object, only};
use crate::failure::Failure;
use crate::located::Member;

/// A waiting job.
pub(crate) struct Waiting {
    /// The job's name: an integer or a string.
    pub(crate) name: Value,
    pub(crate) request: Request,
    /// The estimated run time, in seconds.
    pub(crate) estimate: Option<f64>,
    /// The job's user number, as in logs.
    pub(crate) user: Option<u64>,
}

/// The rules for reading requests, including those that specify only a number of nodes.
pub(crate) struct Rules {
    pub(crate) grid: Grid,
    pub(crate) shaper: Shaper,
    pub(crate) freedom: Option<FreedomRule>,
    pub(crate) draw: Stream,
}

/// The maximum estimate, in seconds: about three years.
const MAX_ESTIMATE_S: f64 = 1e8;
const KEYS: [&str; 6] = ["job", "shape", "nodes", "freedom", "estimate", "user"];

/// Reads a queue from a file, or from standard input if the path is `-`. Jobs in the queue must not
/// be among the jobs that hold nodes.
pub(crate) fn read(path: &Path, busy: &Busy, rules: &mut Rules) -> Result<Vec<Waiting>, Failure> {
    let (mut queue, mut known) = (Vec::new(), HashMap::new());
    busy::each_line(path, |line, number| {
        let (job, place) = waiting(line, rules)?;
        let name = || shown(&job.name.to_string()).to_string();
        if busy.job_named(&job.name).is_some() {
            return Err((format!("job {} already holds nodes", name()), place));
        }
        if let Some(first) = known.insert(job.name.clone(), number) {
            return Err((format!("job {} is already waiting (line {first})", name()), place));
        }
        queue.push(job);
        Ok(())
    })?;
    Ok(queue)
}

/// Parses a queue line. Also returns the position of the job's name.
fn waiting(line: &str, rules: &mut Rules) -> Result<(Waiting, std::ops::Range<usize>), Wrong> {
    let (members, whole) = object(line, "{\"job\",\"shape\"} or {\"job\",\"nodes\"}")?;
    only(&members, &KEYS, &["submit"])?;
    let find = |key: &str| members.iter().find(|member| member.key == key);
    let job = find("job").ok_or_else(|| ("missing \"job\"".to_string(), whole.clone()))?;
    let name = at(line, job);
    if !(name.is_string() || name.is_i64() || name.is_u64()) {
        return Err(("\"job\" must be an integer or a string".into(), job.place.clone()));
    }
    let wrong = |member: &Member, what: &str| (what.to_string(), member.place.clone());
    let sides = find("shape").map(|member| {
        let sides: Result<Vec<u64>, _> = serde_json::from_value(at(line, member));
        sides.map_err(|_| wrong(member, "\"shape\" must be a list of integers"))
    });
    let nodes = find("nodes").map(|member| {
        at(line, member).as_u64().ok_or_else(|| wrong(member, "\"nodes\" must be an integer"))
    });
    let ask = Ask::read(sides.transpose()?.as_deref(), nodes.transpose()?, &rules.grid);
    let ask = ask.map_err(|fault| {
        let member = find("shape").or(find("nodes"));
        (fault.to_string(), member.map_or(whole, |member| member.place.clone()))
    })?;
    let estimate = find("estimate").filter(|member| !at(line, member).is_null()).map(|member| {
        let seconds = at(line, member).as_f64().filter(|s| (0.0..=MAX_ESTIMATE_S).contains(s));
        seconds.ok_or_else(|| wrong(member, "\"estimate\" must be a number of seconds up to 1e8"))
    });
    let user = find("user").filter(|member| !at(line, member).is_null()).map(|member| {
        at(line, member)
            .as_u64()
            .ok_or_else(|| wrong(member, "\"user\" must be a user number from the log"))
    });
    let request = ask.request(&mut rules.shaper);
    let freedom = if let Some(member) = find("freedom") {
        Some(freedom(line, member)?)
    } else {
        let rule = rules.freedom.as_ref();
        rule.and_then(|rule| rule.of(request.nodes, &Tags::UNKNOWN, &mut rules.draw))
    };
    let (estimate, user) = (estimate.transpose()?, user.transpose()?);
    let request = request.with_freedom(freedom);
    Ok((Waiting { name, request, estimate, user }, job.place.clone()))
}

fn freedom(line: &str, member: &Member) -> Result<Freedom, Wrong> {
    let value = at(line, member);
    let word = value.as_str().ok_or_else(|| "\"freedom\" must be a string".to_string());
    let named = word.and_then(|word| freedom_named(word).map_err(|bad| bad.reason));
    named.map_err(|reason| (reason, member.place.clone()))
}
