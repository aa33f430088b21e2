//! Expands parameters with several values into points.

use std::collections::HashSet;

use pavior_workload::TimeUnit;

use super::error::{Fault, Place};
use super::left_out::{LeftOut, Skipping};
use super::read::{Entry, Node};
use super::values::{Value, values};
use crate::keys::Keys;
use crate::parameters::{self, Applies, Parameter};
use crate::point::Point;
use crate::settings::RunSettings;
use crate::{Catalogue, Given};

/// The maximum number of points. A larger number is assumed to be a mistake.
const MOST_POINTS: usize = 1_000_000;

/// The values of each parameter in a block, or `None` if the parameter is not specified.
#[derive(Clone)]
struct BlockValues(Vec<Option<Vec<Value>>>);

impl BlockValues {
    fn of(&self, parameter: &Parameter) -> Option<&[Value]> {
        self.0.get(parameter.index())?.as_deref()
    }
}

/// Returns the parameter that an entry sets.
pub(super) fn parameter(entry: &Entry<'_>) -> Option<&'static Parameter> {
    parameters::ALL.iter().find(|parameter| parameter.is_called(entry.key))
}

/// The only sweep key that is not a parameter. It limits the replications of each point.
const CAP: &str = "max-replications";

/// Returns the first entry in a sweep that limits the number of replications.
pub(super) fn first_cap<'a>(entries: &[Entry<'a>]) -> Result<Option<Entry<'a>>, Fault> {
    for block in entries.iter().filter(|entry| entry.is("sweep")).flat_map(|e| e.node.list()) {
        if let Some(cap) = block.table()?.into_iter().find(|entry| entry.is(CAP)) {
            return Ok(Some(cap));
        }
    }
    Ok(None)
}

/// Returns all points without duplicates, each with its block's maximum number of replications. The
/// points come from the top level or, if there are blocks, from each block in turn. `skipping`
/// records combinations that do not apply.
pub(super) fn points(
    top: &[Entry<'_>],
    blocks: &[Node<'_>],
    skipping: &mut Skipping,
    catalogue: &Catalogue,
) -> Result<(Vec<Point>, Vec<Option<u64>>), Fault> {
    let keys = skipping.keys;
    let nothing = BlockValues(vec![None; parameters::ALL.len()]);
    let shared = settings(top, &nothing, catalogue)?;
    if blocks.is_empty() {
        refuse_what_does_not_apply(top, &shared, keys)?;
        let points = expand(&shared, &Place::Nowhere, false, skipping, catalogue)?;
        let caps = vec![None; points.len()];
        return Ok((points, caps));
    }
    let mut all: Vec<Point> = Vec::new();
    let mut caps = Vec::new();
    let mut seen = HashSet::new();
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
                0 => return entry.node.fail("at least one replication is required"),
                count => Some(count),
            },
        };
        let own = settings(&entries, &shared, catalogue)?;
        refuse_what_does_not_apply(&entries, &own, keys)?;
        let more = expand(&own, &block.place(), blocks.len() > 1, skipping, catalogue)?;
        all.extend(more.into_iter().filter(|point| seen.insert(point.clone())));
        if all.len() > MOST_POINTS {
            return block.fail(format!("an experiment can have at most {MOST_POINTS} points"));
        }
        caps.resize(all.len(), cap);
    }
    Ok((all, caps))
}

/// Returns the values set by the entries. Parameters without an entry inherit their values.
fn settings(
    entries: &[Entry<'_>],
    inherited: &BlockValues,
    catalogue: &Catalogue,
) -> Result<BlockValues, Fault> {
    let BlockValues(mut settings) = inherited.clone();
    let mut given = vec![false; settings.len()];
    for entry in entries {
        let Some(parameter) = parameter(entry) else { continue };
        let index = parameter.index();
        if std::mem::replace(&mut given[index], true) {
            let reason = format!("`{}` is given twice", parameter.name);
            return Err(Fault::new(reason, entry.key_place.clone()));
        }
        settings[index] = Some(values(parameter, entry.node, catalogue)?);
    }
    Ok(BlockValues(settings))
}

/// Rejects parameters that do not apply, for example those of synthetic jobs if there is a log.
fn refuse_what_does_not_apply(
    entries: &[Entry<'_>],
    settings: &BlockValues,
    keys: Keys,
) -> Result<(), Fault> {
    let mut reach = Reach::new(settings);
    reach.messages = if reach.log {
        settings.of(&parameters::COMMUNICATION).is_some()
    } else {
        settings.of(&parameters::SERVICE).is_some_and(|services| services.iter().any(sends))
    };
    for entry in entries {
        let Some(parameter) = parameter(entry).filter(|parameter| !reach.covers(parameter)) else {
            continue;
        };
        let [name, request, service, trace, first, scale, share] = [
            parameter.name,
            "request",
            "service",
            "trace",
            "first",
            "arrival-scale",
            "communication",
        ]
        .map(|name| keys.spell(name));
        let reason = if parameter.applies == Applies::Snapshot {
            format!("{name} applies only to snapshots; add {request} to take one")
        } else if reach.snapshot {
            format!("{name} applies only to job simulations, but {request} takes a snapshot")
        } else if reach.log
            && matches!(parameter.applies, Applies::Messages | Applies::Communication)
        {
            format!("{name} applies only to jobs that send messages; for logged jobs, add {share}")
        } else if reach.log {
            format!(
                "{name} applies only to synthetic workloads; for a log, use {first} to limit the \
                 number of job lines, or {scale} to change the load"
            )
        } else if parameter.applies == Applies::Messages {
            format!(
                "{name} applies only to jobs that send messages; choose {service} messages or \
                 iterations"
            )
        } else {
            format!("{name} applies only to job logs; specify one with {trace}")
        };
        return Err(Fault::new(reason, entry.key_place.clone()));
    }
    Ok(())
}

/// The features of a workload that determine which parameters apply.
#[derive(Clone, Copy)]
struct Reach {
    snapshot: bool,
    log: bool,
    messages: bool,
}

impl Reach {
    /// Returns a block's features. `messages` is set to false because it is not known yet.
    fn new(settings: &BlockValues) -> Reach {
        let snapshot = settings.of(&parameters::REQUEST).is_some();
        Reach {
            snapshot,
            log: settings.of(&parameters::TRACE).is_some() && !snapshot,
            messages: false,
        }
    }

    fn covers(self, parameter: &Parameter) -> bool {
        match parameter.applies {
            Applies::Always => true,
            Applies::Runs => !self.snapshot,
            Applies::Synthetic => !self.snapshot && !self.log,
            Applies::Messages => !self.snapshot && self.messages,
            Applies::Communication => self.log && self.messages,
            Applies::Log => self.log,
            Applies::Snapshot => self.snapshot,
        }
    }
}

/// Returns true if jobs with this service send messages.
fn sends(service: &Value) -> bool {
    let mut given = Given::default();
    service.reading.put(&mut given);
    given.service.is_some_and(|service| service.entry.does.unit == TimeUnit::CYCLE)
}

/// Returns every combination that applies. The last parameter varies fastest. `others` is true if
/// other blocks also have combinations.
fn expand(
    settings: &BlockValues,
    block: &Place,
    others: bool,
    skipping: &mut Skipping,
    catalogue: &Catalogue,
) -> Result<Vec<Point>, Fault> {
    let usual = |parameter: &Parameter, text: &str| {
        let reading = parameter.reading(text, catalogue);
        let reading = reading.map_err(|bad| Fault::new(bad.reason, block.clone()))?;
        Ok(Value { reading, place: block.clone() })
    };
    let choices = parameters::ALL.iter().zip(&settings.0).map(|(parameter, given)| match given {
        Some(values) => Ok(values.clone()),
        None => parameter.default.iter().map(|text| usual(parameter, text)).collect(),
    });
    let choices: Vec<Vec<Value>> = choices.collect::<Result<_, Fault>>()?;
    let reach = Reach::new(settings);
    // Count the points first, so that an excessive number is rejected before any is created.
    let mut count = 0;
    combine(&choices, reach, &mut Vec::new(), &mut |_| {
        count += 1;
        if count <= MOST_POINTS {
            return Ok(());
        }
        let reason = format!("at most {MOST_POINTS} combinations are allowed");
        Err(Fault::new(reason, block.clone()))
    })?;
    let mut points = Vec::with_capacity(count);
    combine(&choices, reach, &mut Vec::new(), &mut |values| {
        match checked(values, skipping.keys, catalogue) {
            Ok(point) => points.push(point),
            Err(unsupported) => skipping.note(*unsupported, others || count > 1)?,
        }
        Ok(())
    })?;
    Ok(points)
}

/// A callback that receives each combination.
type Show<'s, 'v> = dyn FnMut(&[Option<&'v Value>]) -> Result<(), Fault> + 's;

/// Calls `show` for every combination that begins with the given values.
fn combine<'v>(
    choices: &'v [Vec<Value>],
    reach: Reach,
    so_far: &mut Vec<Option<&'v Value>>,
    show: &mut Show<'_, 'v>,
) -> Result<(), Fault> {
    let Some(parameter) = parameters::ALL.get(so_far.len()) else { return show(so_far) };
    let values = &choices[so_far.len()];
    if values.is_empty() || !reach.covers(parameter) {
        so_far.push(None);
        combine(choices, reach, so_far, show)?;
        so_far.pop();
        return Ok(());
    }
    for value in values {
        // Service and communication precede all parameters that depend on messages.
        let messages = reach.messages
            || parameter.name == parameters::SERVICE.name && sends(value)
            || parameter.name == parameters::COMMUNICATION.name;
        so_far.push(Some(value));
        combine(choices, Reach { messages, ..reach }, so_far, show)?;
        so_far.pop();
    }
    Ok(())
}

/// Returns a point if its values are compatible. Otherwise, returns the value that does not apply
/// and its position.
fn checked(
    values: &[Option<&Value>],
    keys: Keys,
    catalogue: &Catalogue,
) -> Result<Point, Box<(LeftOut, Place)>> {
    let mut given = Given::default();
    values.iter().flatten().for_each(|value| value.reading.put(&mut given));
    let settings = RunSettings::new(&given, keys, catalogue).map_err(|(parameter, reason)| {
        let at_fault = parameters::ALL.iter().position(|known| known.name == parameter);
        let value = at_fault.and_then(|index| values[index]);
        let place = value.map_or(Place::Nowhere, |value| value.place.clone());
        let value = value.map_or(String::new(), |value| value.reading.text.to_string());
        let machine = given.machine.map_or(String::new(), |machine| machine.to_string());
        Box::new((LeftOut { parameter, value, machine, reason }, place))
    })?;
    let text = |value: Option<&Value>| value.map(|value| value.reading.text.clone());
    Ok(Point::new(values.iter().copied().map(text).collect(), settings))
}
