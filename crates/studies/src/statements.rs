//! The statements of a paper as data: `statements.toml`, read.
//!
//! A statement has rows; a row has a rule, and says which points it compares. Rows nest: what a row
//! says, the rows in it say too, unless they say otherwise, and their points are picked by both.
//! Texts hold the values of loops in braces, `{load}` or `{case.sides}`, with `|upper` for
//! capitals.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::values::{Loop, Picks};

/// `statements.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statements {
    /// Lists that loops name.
    #[serde(default)]
    pub(super) lists: BTreeMap<String, Vec<Value>>,
    /// In their order.
    pub(super) statement: Vec<Claim>,
}

/// A statement of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    /// Such as `T2`; the rows' names begin with it.
    pub(super) id: String,
    /// What the paper says, in a line.
    #[serde(rename = "claim")]
    pub(super) text: String,
    /// Its rows.
    pub(super) row: Vec<Row>,
}

/// A row, or rows that have something in common.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Row {
    /// Made anew for each value of these, the last of which varies fastest.
    #[serde(default)]
    pub(super) r#for: Vec<BTreeMap<String, Loop>>,
    /// The row's name, `T2@{load}`.
    pub(super) id: Option<String>,
    /// How it is judged.
    pub(super) rule: Option<Rule>,
    /// The paper's number, its range, or its claim in words.
    pub(super) paper: Option<Value>,
    /// How far a bound may be exceeded within tolerance, as a share of it.
    pub(super) tolerance: Option<f64>,
    /// Who states it; the paper, if nothing is said.
    pub(super) stated: Option<By>,
    /// What a reader must know.
    pub(super) note: Option<String>,
    /// Added to the note of a row that differs.
    pub(super) differs: Option<String>,
    /// The metric compared.
    pub(super) metric: Option<String>,
    /// What both points have in common.
    #[serde(default)]
    pub(super) at: Picks,
    /// What the first point has besides.
    #[serde(default)]
    pub(super) a: Picks,
    /// What the second point has besides; without it the rule judges the mean at the first.
    #[serde(default)]
    pub(super) b: Picks,
    /// The row is judged once for each of these, and must hold for all; one of them is shown.
    pub(super) among: Option<BTreeMap<String, Loop>>,
    /// Which one is shown.
    pub(super) show: Option<Show>,
    /// Compares how much greater the ratio or difference of `a` and `b` is than it is at `from`.
    pub(super) growth: Option<Growth>,
    /// The place that growth is counted from.
    #[serde(default)]
    pub(super) from: Picks,
    /// For `highest`: of the others, only those are considered for which a metric has a value.
    pub(super) only: Option<Only>,
    /// No chance is in it: no interval, no runs.
    pub(super) counted: Option<bool>,
    /// A function that finds facts.
    pub(super) function: Option<String>,
    /// What the function is given.
    #[serde(default)]
    pub(super) with: BTreeMap<String, Value>,
    /// The facts that are to be found.
    #[serde(default)]
    pub(super) expect: BTreeMap<String, Value>,
    /// The fact that is our number.
    pub(super) shows: Option<String>,
    /// A formula of numbers, instead of points.
    pub(super) value: Option<String>,
    /// A formula of our number over the paper's.
    pub(super) ratio: Option<String>,
    /// Further numbers, for notes.
    #[serde(default)]
    pub(super) beside: BTreeMap<String, Beside>,
    /// The rows in it; a row without is judged.
    #[serde(default, rename = "row")]
    pub(super) inner: Vec<Row>,
}

/// How a row is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    /// A stated value.
    Value,
    /// A stated ratio of `a` over `b`.
    Ratio,
    /// A stated difference of `a` and `b`.
    Difference,
    /// A stated range.
    Between,
    /// A stated upper bound.
    AtMost,
    /// `a` about equal to `b`.
    Close,
    /// `a` below `b`.
    Below,
    /// `a` above `b`.
    Above,
    /// `a` no lower than any other.
    Highest,
    /// Facts that are as expected.
    Counted,
}

/// Who states a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum By {
    /// The paper.
    Paper,
    /// We, who add it.
    Ours,
}

/// Which of several comparisons is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Show {
    /// The first.
    First,
    /// The one with the greatest ratio.
    Greatest,
    /// The one whose ratio is farthest from 1.
    Farthest,
}

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Growth {
    /// The ratio of `a` over `b`.
    Ratio,
    /// The difference of `a` and `b`.
    Difference,
}

/// A condition on points.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Only {
    /// The metric.
    pub(super) metric: String,
    /// The value that its mean has; a text is read as a number.
    pub(super) is: Value,
}

/// The ratio of two points, for a note.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beside {
    /// The metric; that of the row where none is given.
    pub(super) metric: Option<String>,
    /// What both points have in common, instead of the row's own.
    #[serde(default)]
    pub(super) at: Picks,
    /// The first point.
    pub(super) a: Picks,
    /// The second point.
    pub(super) b: Picks,
    /// Digits behind the point.
    pub(super) digits: usize,
}

impl Row {
    /// A row as it stands in another: what it does not say, the other says.
    pub(super) fn inside(&self, outer: &Row) -> Row {
        let mut row = self.clone();
        let or = |own: &mut Option<String>, outer: &Option<String>| {
            if own.is_none() {
                own.clone_from(outer);
            }
        };
        or(&mut row.id, &outer.id);
        or(&mut row.note, &outer.note);
        or(&mut row.differs, &outer.differs);
        or(&mut row.metric, &outer.metric);
        or(&mut row.function, &outer.function);
        or(&mut row.shows, &outer.shows);
        row.rule = row.rule.or(outer.rule);
        row.tolerance = row.tolerance.or(outer.tolerance);
        row.stated = row.stated.or(outer.stated);
        row.paper = row.paper.or_else(|| outer.paper.clone());
        row.show = row.show.or(outer.show);
        row.growth = row.growth.or(outer.growth);
        row.counted = row.counted.or(outer.counted);
        row.among = row.among.or_else(|| outer.among.clone());
        row.only = row.only.or_else(|| outer.only.clone());
        for (own, outer) in [
            (&mut row.at, &outer.at),
            (&mut row.a, &outer.a),
            (&mut row.b, &outer.b),
            (&mut row.from, &outer.from),
            (&mut row.with, &outer.with),
            (&mut row.expect, &outer.expect),
        ] {
            add(own, outer);
        }
        add(&mut row.beside, &outer.beside);
        row
    }
}

fn add<V: Clone>(own: &mut BTreeMap<String, V>, outer: &BTreeMap<String, V>) {
    for (key, value) in outer {
        own.entry(key.clone()).or_insert_with(|| value.clone());
    }
}
