//! The settings for failures, spares, and the measured slice.

use pavior_kernel::Time;
use pavior_mesh::{Cubes, Grid, Request};
use pavior_simulation::{Restart, Spares};
use pavior_workload::{ComponentKind, FailureClasses, Failures, SWITCHES, TimeUnit};

use super::Fault;
use crate::Given;
use crate::boxes::Slice;
use crate::inputs::ListRequest;
use crate::keys::Keys;

/// Failures and their consequences.
#[derive(Clone, Debug)]
pub struct FailureSettings {
    /// The source of failures.
    pub source: FailureSource,
    /// The point at which an interrupted job resumes.
    pub restart: Restart,
    /// The spare cubes and switches.
    pub spares: Spares,
}

/// The source of failures.
#[derive(Clone, Debug)]
pub enum FailureSource {
    /// Random failures.
    Drawn(FailureClasses),
    /// Failures listed in a file.
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
                return Err(("checkpoint", "the interval must be at least one tick".into()));
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
                let reason = format!(
                    "{} spare cubes are too many for a machine with {cubes} cubes",
                    spares.cubes
                );
                Err(("spares", reason))
            }
            _ => Ok(Some(FailureSettings { source, restart, spares })),
        }
    }
}

impl FailureSource {
    /// Returns the source of failures, if any. At most one source may be specified.
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
            let reason = format!("{} cannot be combined with {others}", keys.spell(name));
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
            let reason = "node failures and messages cannot be combined";
            return Err((name, reason.into()));
        }
        Ok(Some(source))
    }
}

/// Rejects settings that make sense only with failures.
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
    Err((name, format!("{name_here} requires failures; specify {mttf}, {classes} or {list}")))
}

/// Rejects spare switches if no switch can fail, or if every switch would be a spare.
fn check_switches(classes: &FailureClasses, spare: u32) -> Result<(), Fault> {
    let fail = classes.iter().any(|class| class.kind == ComponentKind::Switch);
    if !fail && spare > 0 {
        return Err((
            "spare-switches",
            "spare switches are not needed, because no switch can fail".into(),
        ));
    }
    if spare >= SWITCHES {
        let reason =
            format!("{spare} spare switches are too many for a machine with {SWITCHES} switches");
        return Err(("spare-switches", reason));
    }
    Ok(())
}

/// Returns the request whose availability is measured, if any.
pub(super) fn slice(given: &Given, machine: Grid) -> Result<Option<Request>, Fault> {
    let reason = match (given.slice, cubes(&machine)) {
        (None, _) => return Ok(None),
        (Some(Slice::Cubes(_)), None) => {
            format!("{}; specify the sides of a box instead", not_of_cubes(&machine))
        }
        (Some(Slice::Cubes(count)), Some(cubes)) if count > cubes => {
            format!("{machine} has {cubes} cubes, not {count}")
        }
        (Some(Slice::Sides(sides)), _)
            if !pavior_mesh::orientations(sides).any(|turned| machine.fits(turned)) =>
        {
            format!("it does not fit {machine} in any orientation")
        }
        (Some(slice), _) => return Ok(Some(slice.request())),
    };
    Err(("slice", reason))
}

/// Returns the number of cubes in the machine, or `None` if it is not made of cubes.
fn cubes(machine: &Grid) -> Option<u32> {
    Cubes::of(machine).map(|cubes| cubes.grid().nodes())
}

fn not_of_cubes(machine: &Grid) -> String {
    format!("{machine} is not made of 4x4x4-node cubes")
}
