//! Parses waiting jobs from JSON lines, for the `--queue` option of `pavior forecast`.

use std::collections::HashMap;
use std::path::Path;

use pavior::workload::traces::Tags;
use pavior::workload::{Ask, FreedomRule, Shaper, freedom_named};
use pavior::{Freedom, Grid, Request, Stream};
use serde_json::Value;

use crate::busy::{Busy, JobName};
use crate::failure::Failure;
use crate::json_lines::{LineError, LineObject, for_each_line};
use crate::located::Member;

/// The maximum estimate, in seconds: about three years.
const MAX_ESTIMATE_S: f64 = 1e8;
const KEYS: [&str; 6] = ["job", "shape", "nodes", "freedom", "estimate", "user"];

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

/// Rules for interpreting requests, including those that specify only a number of nodes.
pub(crate) struct Rules {
    pub(crate) grid: Grid,
    pub(crate) shaper: Shaper,
    pub(crate) freedom: Option<FreedomRule>,
    pub(crate) draw: Stream,
}

/// Reads a queue from a file, or from standard input if the path is `-`. A queued job must not
/// already hold nodes.
pub(crate) fn read(path: &Path, busy: &Busy, rules: &mut Rules) -> Result<Vec<Waiting>, Failure> {
    let (mut queue, mut line_numbers) = (Vec::new(), HashMap::new());
    for_each_line(path, |line, number| {
        let object = LineObject::parse(line, "{\"job\",\"shape\"} or {\"job\",\"nodes\"}")?;
        // The order of the lines is the queue order, so `submit` is ignored.
        object.check_keys(&KEYS, &["submit"])?;
        let member = object.require("job")?;
        let job = waiting(&object, member, rules)?;
        let name = JobName(&job.name);
        if busy.job_named(&job.name).is_some() {
            return Err(member.wrong(format!("job {name} already holds nodes")));
        }
        if let Some(first) = line_numbers.insert(job.name.clone(), number) {
            return Err(member.wrong(format!("job {name} is already waiting (line {first})")));
        }
        queue.push(job);
        Ok(())
    })?;
    Ok(queue)
}

/// Parses a waiting job.
fn waiting(object: &LineObject<'_>, job: &Member, rules: &mut Rules) -> Result<Waiting, LineError> {
    let name = object.job_name(job)?;
    let request = ask(object, &rules.grid)?.request(&mut rules.shaper);
    let requirement = format!("must be a number of seconds from 0 to {MAX_ESTIMATE_S:e}");
    let estimate = object.optional("estimate", &requirement, |value| {
        value.as_f64().filter(|seconds| (0.0..=MAX_ESTIMATE_S).contains(seconds))
    })?;
    let user = object.optional("user", "must be a numeric user ID from the log", Value::as_u64)?;
    let freedom = if let Some(member) = object.given("freedom") {
        Some(freedom(object, member)?)
    } else {
        let rule = rules.freedom.as_ref();
        rule.and_then(|rule| rule.of(request.nodes, &Tags::UNKNOWN, &mut rules.draw))
    };
    Ok(Waiting { name, request: request.with_freedom(freedom), estimate, user })
}

/// Parses the shape or the number of nodes.
fn ask(object: &LineObject<'_>, grid: &Grid) -> Result<Ask, LineError> {
    let (shape, nodes) = (object.given("shape"), object.given("nodes"));
    let sides = shape.map(|member| {
        let sides: Result<Vec<u64>, _> = serde_json::from_value(object.value(member));
        sides.map_err(|_| member.wrong("\"shape\" must be a list of positive integers"))
    });
    let count = nodes.map(|member| {
        let count = object.value(member).as_u64();
        count.ok_or_else(|| member.wrong("\"nodes\" must be a positive integer"))
    });
    Ask::read(sides.transpose()?.as_deref(), count.transpose()?, grid).map_err(|fault| {
        let place = shape.or(nodes).map_or(&object.span, |member| &member.place);
        LineError::new(fault.to_string(), place.clone())
    })
}

fn freedom(object: &LineObject<'_>, member: &Member) -> Result<Freedom, LineError> {
    let value = object.value(member);
    let word = value.as_str().ok_or_else(|| "\"freedom\" must be a string".to_string());
    let freedom = word.and_then(|word| freedom_named(word).map_err(|bad| bad.reason));
    freedom.map_err(|reason| member.wrong(reason))
}
