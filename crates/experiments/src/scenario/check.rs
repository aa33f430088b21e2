//! Whether the values of a point go together.

use pavior_allocation::SelectedStrategy;
use pavior_kernel::Time;
use pavior_mesh::Grid;

use super::jobs::synthetic;
use super::network;
use crate::keys::Keys;
use crate::still::Still;
use crate::{Catalogue, Point};

/// A parameter at fault, and why.
type Fault = (&'static str, String);

/// Whether the values of a point go together; if not, the parameter at fault, and why. Files are not
/// looked into.
pub(crate) fn check(point: &Point, keys: Keys, catalogue: &Catalogue) -> Result<(), Fault> {
    let grid: Grid = point.value("machine");
    point.strategy(catalogue).supports(&grid).map_err(|error| ("strategy", error.to_string()))?;
    if point.is_still() {
        return Still::check(point, catalogue);
    }
    if point.get("communication").is_some() {
        network::check(point, keys, catalogue)?;
    }
    if point.get("trace").is_none() {
        let workload = synthetic(point);
        workload.check(&grid).map_err(|error| ("sides", error.to_string()))?;
        network::check(point, keys, catalogue)?;
        let (warmup, jobs): (u64, u64) = (point.value("warmup"), point.value("jobs"));
        if warmup >= jobs {
            let reason = format!("a warm-up of {warmup} leaves nothing of {jobs} completions");
            return Err(("warmup", reason));
        }
    }
    failures(point, keys)
}

/// Whether failures are drawn or listed, and go with the workload.
fn failures(point: &Point, keys: Keys) -> Result<(), Fault> {
    let is_given = |name: &str| point.get(name).is_some();
    let [mttf, mttr, list, checkpoint] =
        ["mttf", "mttr", "failures", "checkpoint"].map(|name| keys.spell(name));
    for (name, other) in [("mttf", "mttr"), ("mttr", "mttf")] {
        if is_given(name) && !is_given(other) {
            return Err((name, format!("{} needs {}", keys.spell(name), keys.spell(other))));
        }
    }
    if is_given("failures") && is_given("mttf") {
        let reason = format!("{list} cannot be used with {mttf} and {mttr}: one or the other");
        return Err(("failures", reason));
    }
    let cause = ["mttf", "failures"].into_iter().find(|name| is_given(name));
    if let Some(name) = cause.filter(|_| is_given("pattern")) {
        return Err((name, "failures of nodes and messages of jobs do not go together".into()));
    }
    let Some(interval) = point.optional::<f64>("checkpoint") else { return Ok(()) };
    if cause.is_none() {
        let reason = format!("{checkpoint} is for failures; give {mttf} or {list}");
        return Err(("checkpoint", reason));
    }
    if point.unit().time(interval) == Time::ZERO {
        return Err(("checkpoint", "this is less than a tick of time".into()));
    }
    Ok(())
}
