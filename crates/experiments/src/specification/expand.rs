//! From parameters with several values to points.

use pavior_allocation::SelectedStrategy;
use pavior_mesh::Grid;
use pavior_workload::{Selection, ServiceDistribution, Synthetic, TimeUnit};

use super::SpecificationError;
use super::read::{Entry, Node};
use super::values::{Value, values};
use crate::parameters::{self, Applies, Parameter, index};
use crate::point::Point;
use crate::scenario;
use crate::still::Still;

/// More points in one experiment are a mistake.
const MOST_POINTS: usize = 1_000_000;

/// The values of every parameter of a block; none where it is not given.
type Settings = Vec<Option<Vec<Value>>>;

/// The parameter that an entry sets, if it sets one.
pub(super) fn parameter(entry: &Entry<'_>) -> Option<&'static Parameter> {
    parameters::ALL.iter().find(|parameter| parameter.is_called(entry.key))
}

/// The key of a sweep that is no parameter: the most replications of its points.
const CAP: &str = "max-replications";

/// The first entry of a sweep that says how many replications there are at most.
pub(super) fn first_cap<'a>(
    entries: &[Entry<'a>],
) -> Result<Option<Entry<'a>>, SpecificationError> {
    for block in entries.iter().filter(|entry| entry.is("sweep")).flat_map(|e| e.node.list()) {
        if let Some(cap) = block.table()?.into_iter().find(|entry| entry.is(CAP)) {
            return Ok(Some(cap));
        }
    }
    Ok(None)
}

/// All points: of the top level alone, or of each block in turn, without repetition; and how many
/// replications each gets at most, where its block says.
pub(super) fn points(
    top: &[Entry<'_>],
    blocks: &[Node<'_>],
) -> Result<(Vec<Point>, Vec<Option<u64>>), SpecificationError> {
    let nothing = vec![None; parameters::ALL.len()];
    let shared = settings(top, &nothing)?;
    if blocks.is_empty() {
        refuse_what_does_not_apply(top, &shared)?;
        let points = expand(&shared, 0..0)?;
        let caps = vec![None; points.len()];
        return Ok((points, caps));
    }
    let mut all: Vec<Point> = Vec::new();
    let mut caps = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for block in blocks {
        let entries = block.table()?;
        let means_something = |entry: &Entry<'_>| entry.is(CAP) || parameter(entry).is_some();
        if let Some(entry) = entries.iter().find(|entry| !means_something(entry)) {
            let names = parameters::ALL.iter().map(|known| known.name);
            let known: Vec<&str> = names.chain([CAP]).collect();
            return Err(entry.unknown(&known));
        }
        let cap = match entries.iter().find(|entry| entry.is(CAP)) {
            None => None,
            Some(entry) => match entry.node.count()? {
                0 => return entry.node.fail("there must be at least one replication"),
                count => Some(count),
            },
        };
        let own = settings(&entries, &shared)?;
        refuse_what_does_not_apply(&entries, &own)?;
        let more = expand(&own, block.span())?;
        all.extend(more.into_iter().filter(|point| seen.insert(point.key())));
        caps.resize(all.len(), cap);
    }
    Ok((all, caps))
}

/// Values given over values inherited.
fn settings(entries: &[Entry<'_>], inherited: &Settings) -> Result<Settings, SpecificationError> {
    let mut settings = inherited.clone();
    let mut given = vec![false; settings.len()];
    for entry in entries {
        let Some(parameter) = parameter(entry) else { continue };
        let index = index(parameter.name);
        if std::mem::replace(&mut given[index], true) {
            let reason = format!("`{}` is given twice", parameter.name);
            return Err(SpecificationError::new(reason, entry.key_span.clone()));
        }
        settings[index] = Some(values(parameter, entry.node)?);
    }
    Ok(settings)
}

/// A log runs as it is, and drawn jobs have no log.
fn refuse_what_does_not_apply(
    entries: &[Entry<'_>],
    settings: &Settings,
) -> Result<(), SpecificationError> {
    let still = settings[index("request")].is_some();
    let log = settings[index("trace")].is_some() && !still;
    let services = settings[index("service")].iter().flatten();
    let messages = services.into_iter().any(|service| sends(&service.text));
    for entry in entries {
        let Some(parameter) = parameter(entry) else { continue };
        let reach = Reach { still, log, messages };
        if !reach.covers(parameter) {
            let reason = if parameter.applies == Applies::Still {
                format!("`{}` is for still states; give a `request` to ask there", parameter.name)
            } else if still {
                format!(
                    "`{}` is for runs of jobs; a `request` asks in a still state",
                    parameter.name
                )
            } else if parameter.applies == Applies::Messages {
                format!(
                    "`{}` is for jobs that send messages; give `service` messages or iterations",
                    parameter.name
                )
            } else if log {
                format!(
                    "`{}` is for synthetic workloads; a log runs all its jobs as they come",
                    parameter.name
                )
            } else {
                format!("`{}` is for job logs; name one with `trace`", parameter.name)
            };
            return Err(SpecificationError::new(reason, entry.key_span.clone()));
        }
    }
    Ok(())
}

/// What a workload has, which parameters may apply to.
#[derive(Clone, Copy)]
struct Reach {
    still: bool,
    log: bool,
    messages: bool,
}

impl Reach {
    fn covers(self, parameter: &Parameter) -> bool {
        match parameter.applies {
            Applies::Always => true,
            Applies::Runs => !self.still,
            Applies::Synthetic => !self.still && !self.log,
            Applies::Messages => !self.still && !self.log && self.messages,
            Applies::Log => self.log,
            Applies::Still => self.still,
        }
    }
}

/// Whether jobs of a service send messages.
fn sends(service: &str) -> bool {
    let service: Result<Selection<ServiceDistribution>, _> = service.parse();
    service.is_ok_and(|service| service.entry.does.unit == TimeUnit::CYCLE)
}

/// Every combination; the last parameter varies fastest.
fn expand(
    settings: &Settings,
    block: std::ops::Range<usize>,
) -> Result<Vec<Point>, SpecificationError> {
    let still = settings[index("request")].is_some();
    let log = settings[index("trace")].is_some() && !still;
    let mut combinations: Vec<Vec<Option<Value>>> = vec![Vec::new()];
    for (parameter, given) in parameters::ALL.iter().zip(settings) {
        let usual = |text: &&str| Value { text: (*text).to_string(), span: block.clone() };
        let choices: Vec<Option<Value>> = match given {
            Some(values) => values.iter().cloned().map(Some).collect(),
            None if parameter.default.is_empty() => vec![None],
            None => parameter.default.iter().map(usual).map(Some).collect(),
        };
        if combinations.len() * choices.len() > MOST_POINTS {
            let reason = format!("more than {MOST_POINTS} combinations");
            return Err(SpecificationError::new(reason, block));
        }
        // Parameters of messages stand behind the service, which says whether there are any.
        let messages = |so_far: &[Option<Value>]| {
            let service = so_far.get(index("service")).and_then(Option::as_ref);
            service.is_some_and(|service| sends(&service.text))
        };
        combinations = combinations
            .into_iter()
            .flat_map(|so_far| {
                let reach = Reach { still, log, messages: messages(&so_far) };
                let none = [None];
                let choices = if reach.covers(parameter) { &choices[..] } else { &none };
                let longer = choices.iter().map(|choice| {
                    let mut longer = so_far.clone();
                    longer.push(choice.clone());
                    longer
                });
                longer.collect::<Vec<_>>()
            })
            .collect();
    }
    combinations.into_iter().map(|values| checked(&values)).collect()
}

/// The point, if its values go together; a fault is shown at the value that does not fit.
fn checked(values: &[Option<Value>]) -> Result<Point, SpecificationError> {
    let point = Point::new(values.iter().map(|value| Some(value.as_ref()?.text.clone())).collect());
    let at = |name: &str| values[index(name)].as_ref().map_or(0..0, |value| value.span.clone());
    let fail = |name: &str, reason: String| Err(SpecificationError::new(reason, at(name)));
    let grid: Grid = scenario::value(&point, "machine");
    let strategy: pavior_allocation::Selection = scenario::value(&point, "strategy");
    if let Err(error) = strategy.supports(&grid) {
        return fail("strategy", error.to_string());
    }
    if point.get("trace").is_some() {
        return Ok(point);
    }
    if Still::is(&point) {
        return match Still::check(&point) {
            Ok(()) => Ok(point),
            Err((name, reason)) => fail(name, reason),
        };
    }
    let workload: Synthetic = scenario::synthetic(&point);
    if let Err(error) = workload.check(&grid) {
        return fail("sides", error.to_string());
    }
    if let Err((name, reason)) = scenario::check(&point, &workload, grid) {
        return fail(name, reason);
    }
    let (warmup, jobs): (u64, u64) =
        (scenario::value(&point, "warmup"), scenario::value(&point, "jobs"));
    if warmup >= jobs {
        let reason = format!("a warm-up of {warmup} leaves nothing of {jobs} completions");
        return fail("warmup", reason);
    }
    Ok(point)
}
