//! Compares a paper's statements with our results, and returns a verdict for each row.

use std::collections::BTreeMap;
use std::ops::Range;

use pavior::BadName;
use pavior::experiments::Formula;

use super::evidence::{Observed, Pair};
use super::points::{Combination, Side, combinations};
use super::statement::Claim;
use super::statements::{Fault, Growth, Part, Row, Rule, Stated, Statements, Word};
use super::{Estimate, PointEvidence, Statement};

/// Judges every row. In a quick run, skips rows that compare measured times.
///
/// # Errors
/// Returns an error with the row's position if a row refers to something that does not exist.
pub(super) fn judge(
    statements: &Statements,
    evidence: &PointEvidence<'_>,
    quick: bool,
) -> Result<Vec<Statement>, Fault> {
    let judge = Judge { evidence, names: &statements.names };
    let mut all = Vec::new();
    for claim in &statements.statement {
        let wrong = |span: Range<usize>| {
            move |reason: String| Fault::new(span, format!("statement {}: {reason}", claim.id))
        };
        for (span, row) in claim.rows::<Row>()? {
            let metric = row.metric.as_ref().map(|name| evidence.metric(name)).transpose();
            if !(quick && metric.is_ok_and(|metric| metric.is_some_and(Observed::is_measured))) {
                judge.add_verdicts(&claim.id, &row, &mut all).map_err(wrong(span))?;
            }
        }
        for worked in &claim.worked {
            let judged = worked.get_ref().judge(&claim.id, evidence);
            all.extend(judged.map_err(wrong(worked.span()))?);
        }
    }
    Ok(all)
}

struct Judge<'e, 's> {
    evidence: &'e PointEvidence<'s>,
    names: &'e BTreeMap<String, String>,
}

impl Judge<'_, '_> {
    /// Judges a row and adds the results to `all`, merging combinations that have the same name.
    fn add_verdicts(&self, claim: &str, row: &Row, all: &mut Vec<Statement>) -> Result<(), String> {
        let mut named: Vec<(String, Vec<Combination>)> = Vec::new();
        for combination in combinations(row, self.evidence)? {
            let word = |part: &Part| match part {
                Part::Word(Word { word }) => Ok(word.clone()),
                Part::Parameter(name) => Ok(self.named(combination.value(name)?).to_string()),
            };
            let words: Vec<String> = row.id.iter().map(word).collect::<Result<_, String>>()?;
            let id = match &words[..] {
                [] => claim.to_string(),
                words => format!("{claim}@{}", words.join("-")),
            };
            match named.last_mut().filter(|(last, _)| *last == id) {
                Some((_, same)) => same.push(combination),
                None => named.push((id, vec![combination])),
            }
        }
        for (id, members) in named {
            let judged = self
                .worst_verdict(row, &members)
                .map_err(|reason| format!("row {id}: {reason}"))?;
            let judged = Statement { id, stated: !row.ours, ..judged };
            all.push(judged.note(row.note.as_str()));
        }
        Ok(())
    }

    /// Returns the display name for a value, or the value itself if it has no display name.
    fn named<'n>(&'n self, value: &'n str) -> &'n str {
        self.names.get(value).map_or(value, String::as_str)
    }

    /// Judges all combinations that share a name. Returns the statement chosen by `shown`, but with
    /// the worst verdict among the combinations.
    fn worst_verdict(&self, row: &Row, members: &[Combination]) -> Result<Statement, String> {
        let judged =
            members.iter().map(|one| self.verdict(row, one)).collect::<Result<Vec<_>, _>>();
        let mut judged = judged?;
        if row.rule == Rule::Highest && judged.iter().any(|one| one.ours.is_some()) {
            judged.retain(|one| one.ours.is_some());
        }
        let worst = judged.iter().map(|one| one.verdict).max();
        let mut shown = shown(row.rule, judged).ok_or("the row selects no points")?;
        shown.verdict = worst.unwrap_or(shown.verdict);
        Ok(shown)
    }

    /// Judges one combination.
    fn verdict(&self, row: &Row, one: &Combination) -> Result<Statement, String> {
        if let Some(formulas) = &row.formulas {
            return self.formulas(row, formulas, one);
        }
        let metric = self.evidence.metric(row.metric.as_ref().ok_or("`metric` is missing")?)?;
        if row.rule == Rule::Highest {
            let [a, b] = self.pair(row, one, &[Side::At])?;
            let [a, b] = [a, b].map(|point| Some(self.evidence.mean(metric, point)?.value));
            let difference = a.zip(b).map(|(a, b)| a - b);
            let holds = difference.is_some_and(|difference| difference >= 0.0);
            return Ok(Statement::counted("", self.order(row, one), difference, holds));
        }
        let mut judged = self.claim(row, one)?.judge("", self.measured(row, metric, one)?);
        if matches!(row.rule, Rule::Below | Rule::Above) && row.growth.is_none() {
            let ratio = self.evidence.ratio(metric, self.pair(row, one, &[Side::At])?);
            judged.ratio = ratio.map(|ratio| ratio.value);
        }
        Ok(judged)
    }

    fn claim(&self, row: &Row, one: &Combination) -> Result<Claim, String> {
        Ok(match (row.rule, &row.paper) {
            (Rule::Value | Rule::Difference, Some(Stated::Number(paper))) => Claim::Value(*paper),
            (Rule::Ratio, Some(Stated::Number(paper))) => Claim::Ratio(*paper),
            (Rule::AtMost, Some(Stated::Number(bound))) => Claim::AtMost(*bound, row.tolerance),
            (Rule::AtLeast, Some(Stated::Number(bound))) => Claim::AtLeast(*bound, row.tolerance),
            (Rule::Between, Some(Stated::Range([low, high]))) => Claim::Between(*low, *high),
            (Rule::Close, _) => Claim::Close(self.order(row, one)),
            (Rule::Below, _) => Claim::Below(self.order(row, one)),
            (Rule::Above, _) => Claim::Above(self.order(row, one)),
            (Rule::Between, _) => return Err("`paper` must be a range, [low, high]".to_string()),
            _ => return Err("`paper` must be a number".to_string()),
        })
    }

    /// Returns the text of an ordering claim, which is generated from the row's values if the row
    /// has none.
    fn order(&self, row: &Row, one: &Combination) -> String {
        if let Some(Stated::Words(words)) = &row.paper {
            return words.clone();
        }
        let side = |side| one.values(side).map(|value| self.named(value)).collect::<Vec<_>>();
        let order = match row.rule {
            Rule::Close => "about equal to",
            Rule::Below => "below",
            Rule::Highest => "no lower than",
            _ => "above",
        };
        format!("{} {order} {}", side(Side::A).join(" "), side(Side::B).join(" "))
    }

    fn measured(
        &self,
        row: &Row,
        metric: Observed,
        one: &Combination,
    ) -> Result<Option<Estimate>, String> {
        let evidence = self.evidence;
        let pair = self.pair(row, one, &[Side::At])?;
        if let Some(growth) = row.growth {
            let of: fn(f64, f64) -> f64 = match growth {
                Growth::Ratio => |x, y| x / y,
                Growth::Difference => |x, y| x - y,
            };
            let low = self.pair(row, one, &[Side::At, Side::From])?;
            return Ok(evidence.growth(metric, of, pair, low));
        }
        Ok(match row.rule {
            _ if row.b.is_empty() => evidence.mean(metric, pair[0]),
            Rule::Below | Rule::Above | Rule::Difference => evidence.difference(metric, pair),
            _ => evidence.ratio(metric, pair),
        })
    }

    /// Returns a combination's two points, which are the same if the row specifies only one.
    fn pair(&self, row: &Row, one: &Combination, common: &[Side]) -> Result<Pair, String> {
        let point = |side| self.evidence.point(&one.picks(&[common, &[side]].concat()));
        let a = point(Side::A)?;
        Ok([a, if row.b.is_empty() { a } else { point(Side::B)? }])
    }

    fn formulas(
        &self,
        row: &Row,
        formulas: &[String; 2],
        one: &Combination,
    ) -> Result<Statement, String> {
        let value = |formula: &String, sides: &[Side]| -> Result<f64, String> {
            let picks = one.picks(sides);
            let formula: Formula = formula.parse().map_err(|bad: BadName| bad.reason)?;
            let found = formula.value(&|name| picks.get(name)?.parse().ok());
            found.map_err(|name| format!("`at.{name}` must be a number"))
        };
        let [a, b] = formulas;
        let both = |sides: &[Side]| Ok::<_, String>((value(a, sides)?, value(b, sides)?));
        let (x, y) = both(&[Side::At])?;
        let (low_x, low_y) = both(&[Side::At, Side::From])?;
        let (ours, ratio) = match row.growth {
            None => (x - y, Some(x / y)),
            Some(Growth::Difference) => ((x - y) - (low_x - low_y), None),
            Some(Growth::Ratio) => (x / y - low_x / low_y, None),
        };
        let holds = match row.rule {
            Rule::Below => ours < 0.0,
            Rule::Above => ours > 0.0,
            _ => return Err("the `rule` for formulas must be `below` or `above`".to_string()),
        };
        Ok(Statement { ratio, ..Statement::counted("", self.order(row, one), Some(ours), holds) })
    }
}

/// Returns the statement to show. For an order, this is the one with the strongest evidence against
/// the order; for closeness, the one whose values are farthest apart; for any other rule, the first
/// one. In a tie, the last statement wins.
fn shown(rule: Rule, judged: Vec<Statement>) -> Option<Statement> {
    let key = |one: &Statement| match rule {
        // A statement without a ratio ranks below one whose ratio is exactly 1.
        Rule::Close => one.ratio.map_or(-1.0, |ratio| (ratio - 1.0).abs()),
        Rule::Above => one.ratio.map_or(f64::INFINITY, |ratio| -ratio),
        Rule::Highest => one.ours.map_or(f64::INFINITY, |difference| -difference),
        _ => one.ratio.unwrap_or(f64::INFINITY),
    };
    let mut judged = judged.into_iter();
    match rule {
        Rule::Close | Rule::Below | Rule::Above | Rule::Highest => {
            judged.max_by(|a, b| key(a).total_cmp(&key(b)))
        }
        _ => judged.next(),
    }
}
