//! A parameter's values: a single value, a list, or a range.

use super::error::{Fault, Place};
use super::read::Node;
use crate::Catalogue;
use crate::parameters::{Parameter, Reading, ValueType};

/// The maximum number of values in a range. A longer range is assumed to be a mistake.
const MOST_STEPS: u64 = 10_000;

#[derive(Clone)]
pub(super) struct Value {
    pub(super) reading: Reading,
    pub(super) place: Place,
}

/// Reads a parameter's values, in the given order, and converts them to canonical form.
pub(super) fn values(
    parameter: &Parameter,
    node: Node<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Value>, Fault> {
    let mut all: Vec<Value> = Vec::new();
    if node.is_table() {
        return range(parameter, node, catalogue);
    }
    for member in node.list() {
        let value = scalar(parameter, member, catalogue)?;
        if all.iter().any(|other| other.reading.text == value.reading.text) {
            return member.fail(format!("`{}` appears twice", value.reading.text));
        }
        all.push(value);
    }
    if all.is_empty() {
        return node.fail(format!("`{}` needs a value, but the list is empty", parameter.name));
    }
    Ok(all)
}

/// Reads one value, in canonical form.
pub(super) fn scalar(
    parameter: &Parameter,
    node: Node<'_>,
    catalogue: &Catalogue,
) -> Result<Value, Fault> {
    let read = |text: &str| parameter.reading(text, catalogue).map_err(|bad| node.bad(text, bad));
    let reading = match (node, parameter.kind) {
        (Node::Value { text, .. }, _) => read(text)?,
        (_, ValueType::Text) => read(node.text()?)?,
        // A choice may also be written as a number, as in `lanes = 2`.
        (_, ValueType::Choice(_)) => match node.count() {
            Ok(number) => read(&number.to_string())?,
            Err(_) => read(node.text()?)?,
        },
        (_, ValueType::Number) => read(&node.number()?.to_string())?,
        (_, ValueType::Count) => read(&node.count()?.to_string())?,
        (_, ValueType::Switch) => read(&node.switch()?.to_string())?,
    };
    Ok(Value { reading, place: node.place() })
}

/// Reads `{ from, to, steps, scale }`, which denotes `steps` values, including both ends.
fn range(
    parameter: &Parameter,
    node: Node<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Value>, Fault> {
    if !matches!(parameter.kind, ValueType::Number | ValueType::Count) {
        return node.fail(format!(
            "`{}` does not accept a range; specify a value or a list",
            parameter.name
        ));
    }
    let (mut from, mut to, mut steps, mut logarithmic) = (None, None, None, false);
    for entry in node.table()? {
        if entry.is("from") {
            from = Some((entry.node, entry.node.number()?));
        } else if entry.is("to") {
            to = Some(entry.node.number()?);
        } else if entry.is("steps") {
            let count = entry.node.count()?;
            if !(2..=MOST_STEPS).contains(&count) {
                return entry.node.fail(format!("a range must have 2 to {MOST_STEPS} steps"));
            }
            steps = Some(count);
        } else if entry.is("scale") {
            logarithmic = match entry.node.text()? {
                "log" => true,
                "linear" => false,
                other => {
                    return entry.node.fail(format!(
                        "expected `linear` or `log`, but found \
                                                         `{other}`"
                    ));
                }
            };
        } else {
            return Err(entry.unknown(&["from", "to", "steps", "scale"]));
        }
    }
    let (Some((start, from)), Some(to), Some(steps)) = (from, to, steps) else {
        return node.fail("expected a range such as { from = 1, to = 4, steps = 7 }");
    };
    if logarithmic && (from <= 0.0 || to <= 0.0) {
        return start.fail("the bounds of a logarithmic range must be positive");
    }
    let mut all: Vec<Value> = Vec::new();
    for step in 0..steps {
        let value = between(from, to, step, steps - 1, logarithmic);
        let value = if parameter.kind == ValueType::Count { value.round() } else { value };
        let reading = parameter
            .reading(&value.to_string(), catalogue)
            .map_err(|bad| Fault::new(bad.reason, node.place()))?;
        // After rounding to whole numbers, adjacent values may be equal, so skip duplicates.
        if all.last().is_none_or(|last| last.reading.text != reading.text) {
            all.push(Value { reading, place: node.place() });
        }
    }
    Ok(all)
}

/// Returns the value at `step` (of `last`), rounded to twelve digits: 1.6, not 1.6000000000000003.
fn between(from: f64, to: f64, step: u64, last: u64, logarithmic: bool) -> f64 {
    let share = step as f64 / last as f64;
    let value = if step == 0 {
        from
    } else if step == last {
        to
    } else if logarithmic {
        libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from)))
    } else {
        from + share * (to - from)
    };
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_even_and_short() {
        let linear: Vec<f64> = (0..=6).map(|step| between(1.0, 4.6, step, 6, false)).collect();
        assert_eq!(linear, [1.0, 1.6, 2.2, 2.8, 3.4, 4.0, 4.6]);
        let log: Vec<f64> = (0..=3).map(|step| between(0.001, 1.0, step, 3, true)).collect();
        assert_eq!(log, [0.001, 0.01, 0.1, 1.0]);
    }
}
