//! Whether the values of a point go together.

use pavior_allocation::SelectedStrategy;
use pavior_kernel::Time;
use pavior_mesh::{Cubes, Grid};
use pavior_scheduling::weighs_messages;
use pavior_workload::{ComponentKind, Condition, Failures, FreedomRule, JobRule, SWITCHES};

use super::jobs::{failure_classes, spares, synthetic};
use super::network;
use crate::boxes::Slice;
use crate::keys::Keys;
use crate::still::Still;
use crate::{Catalogue, Point};

/// A parameter at fault, and why.
type Fault = (&'static str, String);

/// Whether the values of a point go together; if not, the parameter at fault, and why. Files are
/// not looked into.
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
        if point.get("pattern").is_some() && weighs_messages(&point.scheduler(catalogue)) {
            let reason = "it weighs the communication of jobs of logs; what messages of drawn jobs take \
                          is not foretold";
            return Err(("scheduler", reason.into()));
        }
        columns(point, keys)?;
        let (warmup, jobs): (u64, u64) = (point.value("warmup"), point.value("jobs"));
        if warmup >= jobs {
            let reason = format!("a warm-up of {warmup} leaves nothing of {jobs} completions");
            return Err(("warmup", reason));
        }
    }
    migration(point, keys)?;
    failures(point, keys)?;
    pod(point, &grid)
}

/// Whether nothing is said of drawn jobs by the columns of a log, which they do not have.
fn columns(point: &Point, keys: Keys) -> Result<(), Fault> {
    let freedom = point.optional::<FreedomRule>("freedom");
    let movable = point.optional::<JobRule>("movable");
    let fault = |name: &'static str, condition: &Condition| {
        let trace = keys.spell("trace");
        Err((name, format!("{condition} is for job logs; name one with {trace}")))
    };
    if let Some(condition) = freedom.as_ref().and_then(FreedomRule::needs_log) {
        return fault("freedom", condition);
    }
    movable.as_ref().and_then(JobRule::needs_log).map_or(Ok(()), |one| fault("movable", one))
}

/// Whether running jobs can move.
fn migration(point: &Point, keys: Keys) -> Result<(), Fault> {
    let [name, movable] = ["migration", "movable"].map(|name| keys.spell(name));
    if point.get("migration").is_none() {
        let reason = format!("{movable} is for running jobs that move; give {name}");
        return point.get("movable").map_or(Ok(()), |_| Err(("movable", reason)));
    }
    let other = |what: &str| {
        Err(("migration", format!("running jobs that move and {what} do not go together")))
    };
    if point.get("pattern").is_some() {
        return other("messages of jobs");
    }
    if ["mttf", "fail-classes", "failures"].iter().any(|name| point.get(name).is_some()) {
        return other("failures of nodes");
    }
    Ok(())
}

/// Whether failures are drawn or listed, and go with the workload.
fn failures(point: &Point, keys: Keys) -> Result<(), Fault> {
    let is_given = |name: &str| point.get(name).is_some();
    let [mttf, mttr, classes, list] =
        ["mttf", "mttr", "fail-classes", "failures"].map(|name| keys.spell(name));
    for (name, other) in [("mttf", "mttr"), ("mttr", "mttf")] {
        if is_given(name) && !is_given(other) {
            return Err((name, format!("{} needs {}", keys.spell(name), keys.spell(other))));
        }
    }
    if is_given("failures") && is_given("mttf") {
        let reason = format!("{list} cannot be used with {mttf} and {mttr}: one or the other");
        return Err(("failures", reason));
    }
    if is_given("fail-classes")
        && let Some(other) = ["mttf", "failures"].into_iter().find(|name| is_given(name))
    {
        let reason =
            format!("{classes} cannot be used with {}: one or the other", keys.spell(other));
        return Err(("fail-classes", reason));
    }
    let cause = ["mttf", "fail-classes", "failures"].into_iter().find(|name| is_given(name));
    if let Some(name) = cause.filter(|_| is_given("pattern")) {
        return Err((name, "failures of nodes and messages of jobs do not go together".into()));
    }
    let needs = ["checkpoint", "spares", "spare-switches", "max-interruptions"];
    let needs = needs.into_iter().find(|name| is_given(name));
    if let (Some(name), None) = (needs, cause) {
        let reason =
            format!("{} is for failures; give {mttf}, {classes} or {list}", keys.spell(name));
        return Err((name, reason));
    }
    let Some(interval) = point.optional::<f64>("checkpoint") else { return Ok(()) };
    if point.unit().time(interval) == Time::ZERO {
        return Err(("checkpoint", "this is less than a tick of time".into()));
    }
    Ok(())
}

/// Whether the machine has the cubes that fail, stand by or make a slice.
fn pod(point: &Point, machine: &Grid) -> Result<(), Fault> {
    if let Some(classes) = failure_classes(point) {
        let fail = classes.iter().any(|class| class.kind == ComponentKind::Switch);
        let spare = spares(point).switches;
        if !fail && spare > 0 {
            return Err(("spare-switches", "no switch fails, so that none has to stand by".into()));
        }
        if spare >= SWITCHES {
            return Err((
                "spare-switches",
                format!("{spare} of {SWITCHES} switches leave none in use"),
            ));
        }
        let events = Failures::new(machine, &classes, point.unit(), 1, 0);
        events.map_err(|error| ("fail-classes", error.to_string()))?;
    }
    let cubes = Cubes::of(machine).map(|cubes| cubes.grid().nodes());
    let without = format!("{machine} is not made of cubes of 4x4x4 nodes");
    let spares = spares(point).cubes;
    match cubes {
        None if spares > 0 => return Err(("spares", without)),
        Some(cubes) if spares >= cubes => {
            return Err(("spares", format!("{spares} of {cubes} cubes leave none in use")));
        }
        _ => {}
    }
    match (point.optional("slice"), cubes) {
        (Some(Slice::Cubes(_)), None) => {
            Err(("slice", format!("{without}: give the sides of a box")))
        }
        (Some(Slice::Cubes(count)), Some(cubes)) if count > cubes => {
            Err(("slice", format!("{machine} has {cubes} cubes, not {count}")))
        }
        (Some(Slice::Sides(sides)), _)
            if !pavior_mesh::orientations(sides).any(|turned| machine.fits(turned)) =>
        {
            Err(("slice", format!("no turn of it fits {machine}")))
        }
        _ => Ok(()),
    }
}
