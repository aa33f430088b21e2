//! Finds the points that a row compares, for each combination of selected values.

use std::collections::BTreeMap;

use pavior::names::unknown_name;
use toml::Value;

use super::PointEvidence;
use super::statements::{Found, Part, Pick, Picks, Row, Take};

/// The point or points to which a value applies: both points, one of them, or the point from which
/// growth is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    At,
    A,
    B,
    From,
}

/// One value for each parameter in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Combination(Vec<(Side, String, String)>);

impl Combination {
    /// Returns the values that apply to the given sides. Later sides override earlier ones.
    pub(super) fn picks(&self, sides: &[Side]) -> BTreeMap<String, String> {
        let of = |side: Side| self.0.iter().filter(move |(own, ..)| *own == side);
        let all = sides.iter().copied().flat_map(of);
        all.map(|(_, parameter, value)| (parameter.clone(), value.clone())).collect()
    }

    pub(super) fn values(&self, side: Side) -> impl Iterator<Item = &str> {
        let own = self.0.iter().filter(move |(own, ..)| *own == side);
        own.map(|(.., value)| value.as_str())
    }

    /// Returns the value of a parameter that appears in a row's name.
    ///
    /// # Errors
    /// Returns an error if the row does not set this parameter.
    pub(super) fn value(&self, name: &str) -> Result<&str, String> {
        let known = |(side, parameter, _): &(Side, String, String)| match side {
            Side::At => Some(parameter.clone()),
            Side::A => Some(format!("a.{parameter}")),
            Side::B => Some(format!("b.{parameter}")),
            Side::From => None,
        };
        let names: Vec<Option<String>> = self.0.iter().map(known).collect();
        if let Some(at) = names.iter().position(|known| known.as_deref() == Some(name)) {
            return Ok(&self.0[at].2);
        }
        let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        let unknown = unknown_name("parameter", name, &names).reason;
        Err(format!("`id`: {unknown} (for a literal word, write {{ word = \"{name}\" }})"))
    }
}

/// Splits a name such as `load`, `a.load` or `b.load` into the side and the parameter.
fn sided(word: &str) -> (Side, &str) {
    match word.split_once('.') {
        Some(("a", name)) => (Side::A, name),
        Some(("b", name)) => (Side::B, name),
        _ => (Side::At, word),
    }
}

/// Returns every combination of a row's values. Parameters not in the row's name vary fastest.
///
/// # Errors
/// Returns an error if a value is invalid or does not occur in the experiment.
pub(super) fn combinations(
    row: &Row,
    evidence: &PointEvidence<'_>,
) -> Result<Vec<Combination>, String> {
    let sides =
        [(Side::At, &row.at), (Side::A, &row.a), (Side::B, &row.b), (Side::From, &row.from)];
    let slots = |(side, picks): (Side, &'_ Picks)| -> Vec<(Side, String, Pick)> {
        picks.iter().map(|(name, pick)| (side, name.clone(), pick.clone())).collect()
    };
    let mut slots: Vec<(Side, String, Pick)> = sides.into_iter().flat_map(slots).collect();
    // Handle fixed values first, because they restrict where the other values are looked up.
    slots.sort_by_key(|(side, name, pick)| {
        let is_named = |part: &Part| {
            matches!(part, Part::Parameter(word) if sided(word) == (*side, name.as_str()))
        };
        let named = row.id.iter().position(is_named);
        (!matches!(pick, Pick::One(_)), named.unwrap_or(usize::MAX))
    });
    let mut all = vec![Combination::default()];
    for (side, name, pick) in slots {
        let mut longer = Vec::new();
        for so_far in all {
            for value in values(side, &name, &pick, &so_far, evidence)? {
                let mut one = so_far.clone();
                one.0.push((side, name.clone(), value));
                longer.push(one);
            }
        }
        all = longer;
    }
    Ok(all)
}

fn values(
    side: Side,
    name: &str,
    pick: &Pick,
    so_far: &Combination,
    evidence: &PointEvidence<'_>,
) -> Result<Vec<String>, String> {
    let found = match pick {
        Pick::One(value) => return Ok(vec![plain(value)]),
        Pick::Each(values) => return Ok(values.iter().map(plain).collect()),
        Pick::Found(found) => found,
    };
    let beside = match side {
        Side::At | Side::A => [Side::At, Side::A].as_slice(),
        Side::B => &[Side::At, Side::B],
        Side::From => &[Side::At, Side::A, Side::From],
    };
    let mut picks = so_far.picks(beside);
    picks.remove(name);
    let known = evidence.values(name, &picks)?;
    let inside = known.into_iter().filter(|(number, _)| found.holds(*number));
    let values: Vec<String> = inside.map(|(_, text)| text).collect();
    let one = match found.take {
        Take::Every => return Ok(values),
        Take::First => values.first(),
        Take::Last => values.last(),
    };
    let missing = || format!("no point in the experiment has that value for `{name}`");
    Ok(vec![one.ok_or_else(missing)?.clone()])
}

impl Found {
    /// Returns true if a value is within the limits. Any limit rejects text (`None`).
    fn holds(&self, value: Option<f64>) -> bool {
        let within = |limit: Option<f64>, fits: fn(f64, f64) -> bool| {
            limit.is_none_or(|limit| value.is_some_and(|value| fits(value, limit)))
        };
        within(self.from, |value, from| value >= from) && within(self.to, |value, to| value <= to)
    }
}

/// Formats a value as it would appear in an experiment file.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
