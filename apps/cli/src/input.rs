//! Parses user input: machines, names with options, lists, and numbers.

use std::str::FromStr;

use pavior::experiments::LeftOut;
use pavior::strategies::Selection;
use pavior::workload::{Ask, AskFault, ShapeRule, Shaper, freedom_named};
use pavior::{BadName, Coordinates, Freedom, Grid, Request};

use crate::args::AskArgs;
use crate::failure::Failure;

pub(crate) fn machine(typed: &str) -> Result<Grid, Failure> {
    name("--machine", typed)
}

/// Returns the node with these coordinates, one per axis of the machine.
pub(crate) fn node(coordinates: &[u64], grid: &Grid) -> Option<Coordinates> {
    per_axis(coordinates, grid, 0).filter(|node| grid.contains(*node))
}

/// Converts one number per axis of the machine to an array. Missing axes get the value `other`.
pub(crate) fn per_axis(numbers: &[u64], grid: &Grid, other: u16) -> Option<[u16; 3]> {
    if numbers.len() != grid.axes() {
        return None;
    }
    let mut values = [other; 3];
    for (value, &number) in values.iter_mut().zip(numbers) {
        *value = u16::try_from(number).ok()?;
    }
    Some(values)
}

/// Parses a name with options, such as a strategy's.
pub(crate) fn name<T: FromStr<Err = BadName>>(option: &str, typed: &str) -> Result<T, Failure> {
    typed.parse().map_err(|bad| Failure::option(option, typed, 0, &bad))
}

pub(crate) fn freedom(typed: &str) -> Result<Freedom, Failure> {
    freedom_named(typed).map_err(|bad| Failure::option("--freedom", typed, 0, &bad))
}

/// Strategies to compare.
pub(crate) struct Strategies {
    pub(crate) chosen: Vec<Selection>,
    /// The skipped strategies, or `None` if an unsupported strategy is an error.
    pub(crate) skipped: Option<Vec<LeftOut>>,
}

/// Parses a list of distinct strategies. A strategy that does not work on the machine is an error,
/// unless `skips` is true.
pub(crate) fn strategies(typed: &str, grid: &Grid, skips: bool) -> Result<Strategies, Failure> {
    let wrong = |at: usize, part: &str, reason: String| {
        let bad = BadName { reason, span: 0..part.len() };
        Failure::option("--strategy", typed, at, &bad)
    };
    let mut all: Vec<Selection> = Vec::new();
    for (at, part) in parts(typed) {
        let selection: Selection =
            part.parse().map_err(|bad| Failure::option("--strategy", typed, at, &bad))?;
        let canonical = selection.to_string();
        if all.iter().any(|other| other.to_string() == canonical) {
            return Err(wrong(at, part, format!("`{canonical}` appears twice")));
        }
        all.push(selection);
    }
    let several = all.len() > 1;
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    for ((at, part), selection) in parts(typed).zip(all) {
        match selection.supports(grid) {
            Ok(()) => chosen.push(selection),
            Err(error) if skips => left_out.push(LeftOut {
                parameter: "strategy",
                value: selection.to_string(),
                machine: grid.to_string(),
                reason: error.to_string(),
            }),
            Err(error) => {
                let hint = if several { "; use --skip-unsupported to skip it" } else { "" };
                return Err(wrong(at, part, format!("{error}{hint}")));
            }
        }
    }
    let words: Vec<String> = left_out.iter().map(LeftOut::words).collect();
    if chosen.is_empty() {
        let reason = format!("nothing is left to compare: {}", words.join("; "));
        return Err(wrong(0, typed, reason));
    }
    if !left_out.is_empty() {
        say_left_out(&format!("Left out: {}.", words.join("; ")));
    }
    Ok(Strategies { chosen, skipped: skips.then_some(left_out) })
}

pub(crate) fn say_left_out(sentence: &str) {
    eprintln!("note: {}", pavior::text::cell(sentence));
}

/// Parses a request and its freedom.
pub(crate) fn request(
    args: &AskArgs,
    freedom_word: Option<&str>,
    grid: &Grid,
) -> Result<Request, Failure> {
    let rule: pavior::workload::Selection<ShapeRule> = name("--shape-rule", &args.shape_rule)?;
    let typed = args.shape.as_deref().unwrap_or_default();
    let ask = Ask::typed(args.shape.as_deref(), args.nodes, grid).map_err(|fault| {
        let span = match &fault {
            AskFault::Nothing => return Failure::usage("pass --shape or --nodes"),
            AskFault::Side { span, .. } => span.clone(),
            _ => 0..typed.len(),
        };
        Failure::option("--shape", typed, 0, &BadName { reason: fault.to_string(), span })
    })?;
    let request = ask.request(&mut Shaper::new(&rule, grid, args.seed, 0));
    Ok(request.with_freedom(freedom_word.map(freedom).transpose()?))
}

/// Splits a comma-separated list, and returns each item with its position.
pub(crate) fn parts(typed: &str) -> impl Iterator<Item = (usize, &str)> {
    typed.split(',').scan(0, |next, part| {
        let at = *next;
        *next += part.len() + 1;
        Some((at, part))
    })
}
