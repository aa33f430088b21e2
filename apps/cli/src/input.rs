//! What users type, read: machines, names with options, lists, and numbers.

use std::fmt::Display;
use std::str::FromStr;

use pavior_allocation::{SelectedStrategy, Selection};
use pavior_kernel::BadName;
use pavior_mesh::{Freedom, Grid, Sides};
use pavior_workload::freedom_named;

use crate::failure::Failure;

/// A machine.
pub(crate) fn machine(typed: &str) -> Result<Grid, Failure> {
    name("--machine", typed)
}

/// A name with options, such as a strategy.
pub(crate) fn name<T: FromStr<Err = BadName>>(option: &str, typed: &str) -> Result<T, Failure> {
    typed.parse().map_err(|bad| Failure::option(option, typed, 0, &bad))
}

/// How free a job is to be placed.
pub(crate) fn freedom(typed: &str) -> Result<Freedom, Failure> {
    freedom_named(typed).map_err(|bad| Failure::option("--freedom", typed, 0, &bad))
}

/// A list of names with options, separated by commas; each may stand once.
pub(crate) fn names<T>(option: &str, typed: &str) -> Result<Vec<T>, Failure>
where
    T: FromStr<Err = BadName> + Display,
{
    let mut all: Vec<T> = Vec::new();
    for (at, part) in parts(typed) {
        let value: T = part.parse().map_err(|bad| Failure::option(option, typed, at, &bad))?;
        let canonical = value.to_string();
        if all.iter().any(|other| other.to_string() == canonical) {
            let reason = format!("`{canonical}` stands twice");
            let bad = BadName { reason, span: 0..part.len() };
            return Err(Failure::option(option, typed, at, &bad));
        }
        all.push(value);
    }
    Ok(all)
}

/// A list of strategies that all work on a machine.
pub(crate) fn strategies(typed: &str, grid: &Grid) -> Result<Vec<Selection>, Failure> {
    let all: Vec<Selection> = names("--strategy", typed)?;
    for ((at, part), selection) in parts(typed).zip(&all) {
        if let Err(error) = selection.supports(grid) {
            let bad = BadName { reason: error.to_string(), span: 0..part.len() };
            return Err(Failure::option("--strategy", typed, at, &bad));
        }
    }
    Ok(all)
}

/// A box of a machine with so many axes: sides, joined by x.
pub(crate) fn shape(typed: &str, axes: usize) -> Result<Sides, Failure> {
    let fail = |reason: String, at: usize, length: usize| {
        Err(Failure::option("--shape", typed, at, &BadName { reason, span: 0..length }))
    };
    let mut sides = [1; 3];
    let mut count = 0;
    for part in typed.split('x') {
        let at = part.as_ptr() as usize - typed.as_ptr() as usize;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        let side = part.parse::<u16>().ok().filter(|&side| digits && side > 0);
        let Some(side) = side else {
            return fail(format!("`{part}` is not a side; a side is 1 to 65535"), at, part.len());
        };
        if let Some(own) = sides.get_mut(count) {
            *own = side;
        }
        count += 1;
    }
    if count != axes {
        let reason = format!("{count} sides, but the machine has {axes} axes");
        return fail(reason, 0, typed.len());
    }
    Ok(sides)
}

/// The parts of a list with their places.
pub(crate) fn parts(typed: &str) -> impl Iterator<Item = (usize, &str)> {
    typed.split(',').map(move |part| (part.as_ptr() as usize - typed.as_ptr() as usize, part))
}
