//! The settings of what fails, what stands by, and what is watched.

use pavior_kernel::Time;
use pavior_mesh::{Cubes, Grid, Request};
use pavior_simulation::{Restart, Spares};
use pavior_workload::{ComponentKind, FailureClasses, Failures, SWITCHES, TimeUnit};

use super::Fault;
use crate::Given;
use crate::boxes::Slice;
use crate::inputs::ListRequest;
use crate::keys::Keys;

/// What fails, and what comes of it.
#[derive(Clone, Debug)]
pub struct FailureSettings {
    /// Where failures come from.
    pub source: FailureSource,
    /// Where interrupted jobs begin again.
    pub restart: Restart,
    /// What stands by.
    pub spares: Spares,
}

/// Where failures come from.
#[derive(Clone, Debug)]
pub enum FailureSource {
    /// They are drawn.
    Drawn(FailureClasses),
    /// They are listed in a file.
    Listed(ListRequest),
}

impl FailureSettings {
    pub(super) fn new(
        given: &Given,
        machine: Grid,
        unit: TimeUnit,
        keys: Keys,
    ) -> Result<Option<FailureSettings>, Fault> {
        let Some(source) = FailureSource::new(given, machine, unit, keys)? else {
            return without_failures(given, keys).map(|()| None);
        };
        let restart = match given.checkpoint.map(|units| unit.time(units)) {
            None => Restart::Scratch,
            Some(Time::ZERO) => {
                return Err(("checkpoint", "this is less than a tick of time".into()));
            }
            Some(interval) => Restart::Checkpoint(interval),
        };
        let spares = Spares {
            cubes: given.spares.unwrap_or_default(),
            switches: given.spare_switches.unwrap_or_default(),
        };
        if let FailureSource::Drawn(classes) = &source {
            check_switches(classes, spares.switches)?;
            let events = Failures::new(&machine, classes, unit, 1, 0);
            events.map_err(|error| ("fail-classes", error.to_string()))?;
        }
        match cubes(&machine) {
            None if spares.cubes > 0 => Err(("spares", not_of_cubes(&machine))),
            Some(cubes) if spares.cubes >= cubes => {
                let reason = format!("{} of {cubes} cubes leave none in use", spares.cubes);
                Err(("spares", reason))
            }
            _ => Ok(Some(FailureSettings { source, restart, spares })),
        }
    }
}

impl FailureSource {
    /// The one source that was given.
    fn new(
        given: &Given,
        machine: Grid,
        unit: TimeUnit,
        keys: Keys,
    ) -> Result<Option<FailureSource>, Fault> {
        let lacks = |name: &'static str, other: &str| {
            Err((name, format!("{} needs {}", keys.spell(name), keys.spell(other))))
        };
        let one_or_other = |name: &'static str, others: &str| {
            let reason =
                format!("{} cannot be used with {others}: one or the other", keys.spell(name));
            Err((name, reason))
        };
        let nodes = match (given.mttf, given.mttr) {
            (Some(mttf), Some(mttr)) => Some(FailureClasses::nodes(mttf, mttr)),
            (Some(_), None) => return lacks("mttf", "mttr"),
            (None, Some(_)) => return lacks("mttr", "mttf"),
            (None, None) => None,
        };
        let spell = |name| keys.spell(name);
        let (name, source) = match (nodes, &given.fail_classes, &given.failures) {
            (None, None, None) => return Ok(None),
            (Some(_), _, Some(_)) => {
                let means = format!("{} and {}", spell("mttf"), spell("mttr"));
                return one_or_other("failures", &means);
            }
            (Some(_), Some(_), None) => return one_or_other("fail-classes", &spell("mttf")),
            (None, Some(_), Some(_)) => return one_or_other("fail-classes", &spell("failures")),
            (Some(nodes), None, None) => ("mttf", FailureSource::Drawn(nodes)),
            (None, Some(all), None) => ("fail-classes", FailureSource::Drawn(all.clone())),
            (None, None, Some(path)) => {
                let request = ListRequest::new("failures", path, machine, unit);
                ("failures", FailureSource::Listed(request))
            }
        };
        if given.pattern.is_some() {
            let reason = "failures of nodes and messages of jobs do not go together";
            return Err((name, reason.into()));
        }
        Ok(Some(source))
    }
}

/// Refuses what is said of failures where nothing fails.
fn without_failures(given: &Given, keys: Keys) -> Result<(), Fault> {
    let said = [
        ("checkpoint", given.checkpoint.is_some()),
        ("spares", given.spares.is_some()),
        ("spare-switches", given.spare_switches.is_some()),
        ("max-interruptions", given.max_interruptions.is_some()),
    ];
    let Some((name, _)) = said.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let [mttf, classes, list] = ["mttf", "fail-classes", "failures"].map(|name| keys.spell(name));
    let name_here = keys.spell(name);
    Err((name, format!("{name_here} is for failures; give {mttf}, {classes} or {list}")))
}

/// Whether switches fail where others stand by, and some are in use.
fn check_switches(classes: &FailureClasses, spare: u32) -> Result<(), Fault> {
    let fail = classes.iter().any(|class| class.kind == ComponentKind::Switch);
    if !fail && spare > 0 {
        return Err(("spare-switches", "no switch fails, so that none has to stand by".into()));
    }
    if spare >= SWITCHES {
        let reason = format!("{spare} of {SWITCHES} switches leave none in use");
        return Err(("spare-switches", reason));
    }
    Ok(())
}

/// The request that is watched.
pub(super) fn slice(given: &Given, machine: Grid) -> Result<Option<Request>, Fault> {
    let reason = match (given.slice, cubes(&machine)) {
        (None, _) => return Ok(None),
        (Some(Slice::Cubes(_)), None) => {
            format!("{}: give the sides of a box", not_of_cubes(&machine))
        }
        (Some(Slice::Cubes(count)), Some(cubes)) if count > cubes => {
            format!("{machine} has {cubes} cubes, not {count}")
        }
        (Some(Slice::Sides(sides)), _)
            if !pavior_mesh::orientations(sides).any(|turned| machine.fits(turned)) =>
        {
            format!("no turn of it fits {machine}")
        }
        (Some(slice), _) => return Ok(Some(slice.request())),
    };
    Err(("slice", reason))
}

/// The number of cubes that the machine is made of, if it is.
fn cubes(machine: &Grid) -> Option<u32> {
    Cubes::of(machine).map(|cubes| cubes.grid().nodes())
}

fn not_of_cubes(machine: &Grid) -> String {
    format!("{machine} is not made of cubes of 4x4x4 nodes")
}
