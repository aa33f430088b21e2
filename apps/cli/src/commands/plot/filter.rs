//! Parses and applies the `--filter` option, which selects the points to draw.

use pavior::BadName;
use pavior::experiments::parameters::{self, Parameter};
use pavior::experiments::{Catalogue, Table};
use pavior::names::unknown_name;

use crate::failure::Failure;
use crate::input;

/// Parameters with their accepted values.
pub(super) type Conditions = Vec<(&'static Parameter, Vec<String>)>;

/// Parses a filter such as `sides=uniform,strategy=ff,tff`. A value without a parameter name
/// belongs to the preceding parameter, even if it contains `=`, as in `ff:turn=all` or
/// `user=7,queue=3`. If a parameter appears twice, all values given for it are accepted.
pub(super) fn read(typed: &str, table: &Table) -> Result<Conditions, Failure> {
    let is_name = |key: &str| parameters::ALL.iter().any(|parameter| parameter.is_called(key));
    let names = |part: &str| part.split_once('=').is_some_and(|(key, _)| is_name(key));
    let parts = input::parts(typed).filter(|(at, part)| *at == 0 || names(part));
    let mut starts: Vec<usize> = parts.map(|(at, _)| at).collect();
    starts.push(typed.len() + 1);
    let mut all = Conditions::new();
    for pair in starts.windows(2) {
        let (parameter, values) = condition(&typed[pair[0]..pair[1] - 1], table)
            .map_err(|bad| Failure::option("--filter", typed, pair[0], &bad))?;
        match all.iter_mut().find(|(other, _)| other.name == parameter.name) {
            Some((_, known)) => known.extend(values),
            None => all.push((parameter, values)),
        }
    }
    Ok(all)
}

/// Finds a parameter by name. The table must have a column for it.
pub(super) fn find_parameter(name: &str, table: &Table) -> Result<&'static Parameter, BadName> {
    let Some(parameter) = parameters::ALL.iter().find(|parameter| parameter.is_called(name)) else {
        let known: Vec<&str> = parameters::ALL.iter().map(|parameter| parameter.name).collect();
        return Err(unknown_name("parameter", name, &known));
    };
    let column = parameter.column();
    if !table.columns.contains(&column) {
        let reason = format!("the results have no column `{column}`");
        return Err(BadName { reason, span: 0..name.len() });
    }
    Ok(parameter)
}

fn condition(text: &str, table: &Table) -> Result<(&'static Parameter, Vec<String>), BadName> {
    let Some((key, values)) = text.split_once('=') else {
        let reason = format!("`{text}` is not a valid condition; use one such as sides=uniform");
        return Err(BadName { reason, span: 0..text.len() });
    };
    let parameter = find_parameter(key, table)?;
    let column = parameter.column();
    let mut known: Vec<&str> =
        table.rows.iter().filter_map(|row| table.value(row, &column)).collect();
    known.sort_unstable();
    known.dedup();
    // Some values, such as the boxes of a snapshot or the filter of a log, contain commas.
    if known.contains(&values) {
        return Ok((parameter, vec![values.to_string()]));
    }
    let within = |(at, part): (usize, &str)| {
        value(parameter, part, &known).map_err(|bad| {
            // A later part such as `laod=0.5` is a condition with an unknown name. Options of a
            // strategy, as in `tff:turn=all`, are not.
            let name = part.split_once('=').filter(|(name, _)| at > 0 && !name.contains(':'));
            let bad = name.and_then(|(name, _)| find_parameter(name, table).err()).unwrap_or(bad);
            let at = key.len() + 1 + at;
            BadName { span: bad.span.start + at..bad.span.end + at, ..bad }
        })
    };
    Ok((parameter, input::parts(values).map(within).collect::<Result<_, _>>()?))
}

/// Returns a value as the table writes it. A value already in the table's form is kept, even if
/// Pavior would write it differently.
fn value(parameter: &Parameter, typed: &str, known: &[&str]) -> Result<String, BadName> {
    let canonical = parameter.canonical(typed, &Catalogue::default());
    let forms = [Some(typed), canonical.as_deref().ok()];
    match forms.into_iter().flatten().find(|form| known.contains(form)) {
        Some(form) => Ok(form.to_string()),
        None => Err(unknown_name(parameter.name, typed, known)),
    }
}

/// Keeps only points that meet all conditions.
pub(super) fn keep(table: &mut Table, conditions: &Conditions) {
    let meets = |values: &[String], (parameter, wanted): &(&Parameter, Vec<String>)| {
        let column = parameter.column();
        let at = table.columns.iter().position(|name| *name == column);
        at.is_some_and(|at| wanted.contains(&values[at]))
    };
    table.rows.retain(|row| conditions.iter().all(|one| meets(&row.values, one)));
}

/// Describes the conditions, each preceded by a comma.
pub(super) fn describe(conditions: &Conditions) -> String {
    let word = |(parameter, values): &(&Parameter, Vec<String>)| {
        let name = parameter.name.replace('-', " ");
        format!(", {name} {}", values.join(" or "))
    };
    conditions.iter().map(word).collect()
}
