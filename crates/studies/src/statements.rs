//! A paper's statements as data, read from `statements.toml`.
//!
//! Each statement has rows. Each row has a rule, and parameter values that select its points. If a
//! parameter has several values and its name is part of the row's `id`, each value gets its own
//! row. Otherwise, a single row must hold for all the values. A word in the `id` that is not a
//! parameter must be marked (`{ word = "fast" }`), so that misspelled parameters are detected.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Spanned, Table, Value};

use super::worked::Worked;

/// The contents of `statements.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statements {
    /// Display names that replace values in row names and claims.
    #[serde(default)]
    pub(super) names: BTreeMap<String, String>,
    pub(super) statement: Vec<PaperStatement>,
}

/// A statement from the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperStatement {
    /// The id, such as `T2`, which is the prefix of every row's name.
    pub(super) id: String,
    /// The paper's claim, in one line.
    #[serde(rename = "claim")]
    pub(super) text: String,
    /// Keys shared by all rows.
    #[serde(default)]
    common: Table,
    #[serde(default)]
    row: Vec<Spanned<Table>>,
    #[serde(default)]
    pub(super) worked: Vec<Spanned<Worked>>,
}

/// One or more rows that differ only in their parameter values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Row {
    /// The parts of the name that follow the statement's id.
    #[serde(default)]
    pub(super) id: Vec<Part>,
    /// The rule that judges the row.
    pub(super) rule: Rule,
    /// The paper's claim. If an order has no claim, one is generated from the values in `a` and
    /// `b`.
    pub(super) paper: Option<Stated>,
    /// The tolerance for a bound, as a fraction of the bound.
    pub(super) tolerance: Option<f64>,
    /// True if we added the row, false if it is from the paper.
    #[serde(default)]
    pub(super) ours: bool,
    /// A remark for the reader.
    #[serde(default)]
    pub(super) note: String,
    /// The metric to compare.
    pub(super) metric: Option<String>,
    /// Parameter values that both points share.
    #[serde(default)]
    pub(super) at: Picks,
    /// Additional parameter values for the first point.
    #[serde(default)]
    pub(super) a: Picks,
    /// Additional parameter values for the second point. If there are none, the rule judges the
    /// mean at the first point.
    #[serde(default)]
    pub(super) b: Picks,
    /// The quantity whose growth relative to the point `from` is judged: the ratio of `a` to `b`,
    /// or their difference.
    pub(super) growth: Option<Growth>,
    /// Additional parameter values for the point from which growth is measured.
    #[serde(default)]
    pub(super) from: Picks,
    /// Two formulas to compare instead of points, evaluated with the values in `at`.
    pub(super) formulas: Option<[String; 2]>,
}

/// A part of a row's name.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Part {
    /// The value of one of the row's parameters: `load`, `a.load` or `b.load`.
    Parameter(String),
    /// A literal word.
    Word(Word),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Word {
    pub(super) word: String,
}

/// Parameter values that select points.
pub(super) type Picks = BTreeMap<String, Pick>;

/// The values of one parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Pick {
    /// All values that occur in the points: numbers in ascending order, words in point order.
    Found(Found),
    /// Each of these values.
    Each(Vec<Value>),
    /// This single value.
    One(Value),
}

/// A selection of the values that occur in the points.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    pub(super) take: Take,
    /// The minimum value to select.
    pub(super) from: Option<f64>,
    /// The maximum value to select.
    pub(super) to: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Take {
    Every,
    First,
    Last,
}

/// A paper's claim, as given in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Stated {
    Number(f64),
    Range([f64; 2]),
    Words(String),
}

/// The rules that judge rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    /// The value is as claimed.
    Value,
    /// The ratio of `a` to `b` matches the claim.
    Ratio,
    /// The difference between `a` and `b` matches the claim.
    Difference,
    /// The value is within the claimed range.
    Between,
    /// The value is at most the claimed bound.
    AtMost,
    /// The value is at least the claimed bound.
    AtLeast,
    /// The values of `a` and `b` are about equal.
    Close,
    /// The value of `a` is below that of `b`.
    Below,
    /// The value of `a` is above that of `b`.
    Above,
    /// The value of `a` is at least as high as the value of each `b`. Missing values are ignored.
    Highest,
}

/// The quantity that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Growth {
    /// The ratio of `a` to `b`.
    Ratio,
    /// The difference between `a` and `b`.
    Difference,
}

/// An error in a row, with the row's position.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(span: Range<usize>, reason: String) -> Fault {
        Fault { span, reason }
    }
}

impl PaperStatement {
    /// Returns the rows with their positions, adding the keys in `common` to any row that lacks
    /// them. Rows in papers have type [`Row`]; rows in the yardstick have a different type.
    pub(super) fn rows<R: DeserializeOwned>(&self) -> Result<Vec<(Range<usize>, R)>, Fault> {
        let row = |own: &Spanned<Table>| {
            let mut whole = self.common.clone();
            for (key, value) in own.get_ref() {
                match (whole.get_mut(key), value) {
                    (Some(Value::Table(common)), Value::Table(own)) => common.extend(own.clone()),
                    _ => drop(whole.insert(key.clone(), value.clone())),
                }
            }
            let wrong = |error: toml::de::Error| error.message().replace('\n', ", ");
            let row = whole.try_into().map_err(|error| Fault::new(own.span(), wrong(error)))?;
            Ok((own.span(), row))
        };
        self.row.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_more_than_what_all_have_in_common() {
        let text = "[[statement]]\nid = 'T1'\nclaim = ''\n\
            common = { rule = 'close', metric = 'waiting', at = { load = 1, flits = 8 } }\n\
            row = [{ rule = 'below', at = { load = [2, 3] } }, { rules = 'below' }]";
        let claim = |text: &str| toml::from_str::<Statements>(text).unwrap().statement.remove(0);
        let fault = claim(text).rows::<Row>().unwrap_err();
        assert!(fault.reason.contains("unknown field `rules`"), "{}", fault.reason);
        assert_eq!(&text[fault.span], "{ rules = 'below' }");
        let (good, _) = text.split_once(", { rules").unwrap();
        let [(_, row)] = &claim(&format!("{good}]")).rows::<Row>().unwrap()[..] else { panic!() };
        assert_eq!((row.rule, row.metric.as_deref()), (Rule::Below, Some("waiting")));
        assert!(matches!(&row.at["load"], Pick::Each(loads) if loads.len() == 2));
        assert!(matches!(&row.at["flits"], Pick::One(Value::Integer(8))));
    }
}
