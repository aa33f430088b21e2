//! The statements of a paper as data: `statements.toml`, read.
//!
//! A statement has rows. A row has a rule, and the values of parameters that pick its points. Where
//! a parameter has several values and its name stands in the row's `id`, each value makes a row of
//! its own. Where it does not stand there, the one row must hold for all of them. A word of the
//! `id` that is no parameter of the row says so (`{ word = "fast" }`), so that a misspelt parameter
//! is found.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Spanned, Table, Value};

use super::worked::Worked;

/// `statements.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statements {
    /// Words for values, in the names of rows and in what they say.
    #[serde(default)]
    pub(super) names: BTreeMap<String, String>,
    /// In their order.
    pub(super) statement: Vec<PaperStatement>,
}

/// A statement of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperStatement {
    /// Such as `T2`; the rows' names begin with it.
    pub(super) id: String,
    /// What the paper says, in a line.
    #[serde(rename = "claim")]
    pub(super) text: String,
    /// What its rows have in common.
    #[serde(default)]
    common: Table,
    #[serde(default)]
    row: Vec<Spanned<Table>>,
    /// Its worked examples.
    #[serde(default)]
    pub(super) worked: Vec<Spanned<Worked>>,
}

/// A row, or several that differ in values of parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Row {
    /// The parts of its name behind the statement's.
    #[serde(default)]
    pub(super) id: Vec<Part>,
    /// How it is judged.
    pub(super) rule: Rule,
    /// What the paper states. An order that says nothing is told by the values of `a` and `b`.
    pub(super) paper: Option<Stated>,
    /// How far a bound may be exceeded within tolerance, as a share of it.
    pub(super) tolerance: Option<f64>,
    /// Whether we add it, and the paper does not state it.
    #[serde(default)]
    pub(super) ours: bool,
    /// What a reader must know.
    #[serde(default)]
    pub(super) note: String,
    /// The metric that is compared.
    pub(super) metric: Option<String>,
    /// What both points have in common.
    #[serde(default)]
    pub(super) at: Picks,
    /// What the first point has besides.
    #[serde(default)]
    pub(super) a: Picks,
    /// What the second point has besides. Without it the rule judges the mean at the first.
    #[serde(default)]
    pub(super) b: Picks,
    /// Compares how much greater the ratio or difference of `a` and `b` is than it is at `from`.
    pub(super) growth: Option<Growth>,
    /// The place that growth is counted from, where it differs from `at`.
    #[serde(default)]
    pub(super) from: Picks,
    /// Two formulas of the values in `at` that are compared, instead of points.
    pub(super) formulas: Option<[String; 2]>,
}

/// A part of a row's name.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Part {
    /// The value of a parameter that the row picks: `load`, `a.load` or `b.load`.
    Parameter(String),
    /// A word.
    Word(Word),
}

/// A word that stands for itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Word {
    pub(super) word: String,
}

/// The values of parameters that pick points.
pub(super) type Picks = BTreeMap<String, Pick>;

/// The values of one parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Pick {
    /// Those that the points of the experiment have: numbers ascending, words as they come.
    Found(Found),
    /// These.
    Each(Vec<Value>),
    /// This one.
    One(Value),
}

/// Which of the values that the points have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    pub(super) take: Take,
    /// No less than this.
    pub(super) from: Option<f64>,
    /// No more than this.
    pub(super) to: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Take {
    Every,
    First,
    Last,
}

/// What a paper states in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Stated {
    Number(f64),
    Range([f64; 2]),
    Words(String),
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
    /// A stated lower bound.
    AtLeast,
    /// `a` about equal to `b`.
    Close,
    /// `a` below `b`.
    Below,
    /// `a` above `b`.
    Above,
    /// `a` no lower than any `b` that has a value.
    Highest,
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

/// What is wrong with a row, and where the row stands.
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
    /// Its rows, each with where it stands, and with what all have in common and it does not say
    /// itself. Rows of papers are of [`Row`]; the yardstick has its own.
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
