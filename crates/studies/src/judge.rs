//! The one judge of statements: it knows rules, and no paper and no strategy.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::evidence::{Observed, Pair};
use super::statements::{By, Growth, Row, Rule, Show, Statements};
use super::values::Names;
use super::{Estimate, Evidence, Statement, Verdict, functions};
use pavior::experiments::Formula;

/// Judges every row.
///
/// # Errors
/// The statement whose row names what is not there, and why.
pub(super) fn judge(
    statements: &Statements,
    evidence: &Evidence<'_>,
) -> Result<Vec<Statement>, String> {
    let judge = Judge { evidence };
    let names = Names::new(&statements.lists);
    let mut all = Vec::new();
    for claim in &statements.statement {
        for row in &claim.row {
            let judged = judge.rows(row, &names, &mut all);
            judged.map_err(|reason| format!("statement {}: {reason}", claim.id))?;
        }
    }
    Ok(all)
}

struct Judge<'e, 's> {
    evidence: &'e Evidence<'s>,
}

impl Judge<'_, '_> {
    /// A row for every combination of its loops' values, and the rows in it.
    fn rows(&self, row: &Row, names: &Names<'_>, all: &mut Vec<Statement>) -> Result<(), String> {
        let mut combinations = vec![names.clone()];
        for (name, each) in row.r#for.iter().flatten() {
            let mut longer = Vec::new();
            for names in &combinations {
                for (position, value) in (1..).zip(self.evidence_values(each, names)?) {
                    let at = Value::Integer(position);
                    longer.push(names.with(&format!("{name}#"), at).with(name, value));
                }
            }
            combinations = longer;
        }
        for names in &combinations {
            if row.inner.is_empty() {
                all.push(self.row(row, names)?);
            }
            for inner in &row.inner {
                self.rows(&inner.inside(row), names, all)?;
            }
        }
        Ok(())
    }

    fn evidence_values(
        &self,
        each: &super::values::Loop,
        names: &Names<'_>,
    ) -> Result<Vec<Value>, String> {
        names.each(each, self.evidence)
    }

    /// A row, judged.
    fn row(&self, row: &Row, names: &Names<'_>) -> Result<Statement, String> {
        let id = row.id.as_ref().ok_or("a row has no `id`")?;
        let id = names.fill(id)?;
        let inner = |reason: String| format!("row {id}: {reason}");
        let (statement, names) = match row.rule {
            None => Err("it has no `rule`".to_string()),
            Some(Rule::Highest) => self.highest(row, names),
            Some(Rule::Counted) => Self::facts(row, names),
            Some(rule) => self.compared(rule, row, names),
        }
        .map_err(inner)?;
        let names = self.beside(row, &names).map_err(inner)?;
        let stated = row.stated != Some(By::Ours);
        let mut statement = Statement { id: id.clone(), stated, ..statement };
        if row.counted == Some(true) {
            (statement.ci95, statement.interval) = (None, None);
            statement.note = String::new();
        }
        let mut note = row.note.as_ref().map_or(Ok(String::new()), |note| names.fill(note))?;
        if let (Some(differs), Verdict::Differs) = (&row.differs, statement.verdict) {
            note += &names.fill(differs)?;
        }
        Ok(if note.is_empty() { statement } else { statement.note(note) })
    }

    /// Two points compared, or one point with a number.
    fn compared<'n>(
        &self,
        rule: Rule,
        row: &Row,
        names: &Names<'n>,
    ) -> Result<(Statement, Names<'n>), String> {
        let Some(among) = &row.among else {
            return Ok((self.one(rule, row, names)?, names.clone()));
        };
        let Some((name, each)) = among.iter().next() else {
            return Err("`among` is empty".to_string());
        };
        let mut judged: Vec<(Value, Statement)> = Vec::new();
        for value in names.each(each, self.evidence)? {
            let statement = self.one(rule, row, &names.with(name, value.clone()))?;
            judged.push((value, statement));
        }
        let members = judged.iter().map(|(_, one)| member(one)).collect();
        let worst = judged.iter().map(|(_, one)| one.verdict).max();
        let (value, mut shown) = chosen(judged, row.show.unwrap_or(Show::First))
            .ok_or_else(|| format!("`among` has no `{name}`"))?;
        shown.verdict = worst.unwrap_or(shown.verdict);
        Ok((shown, names.with("among", Value::Array(members)).with("shown", value)))
    }

    fn one(&self, rule: Rule, row: &Row, names: &Names<'_>) -> Result<Statement, String> {
        if let Some(formula) = &row.value {
            return formulas(rule, formula, row, names);
        }
        let metric = row.metric.as_ref().ok_or("it has no `metric`")?;
        let metric = self.evidence.metric(&names.fill(metric)?)?;
        let paper = row.paper.as_ref().ok_or("it has no `paper`")?;
        let (ours, ratio) = self.measured(rule, metric, row, names)?;
        let id = String::new();
        Ok(match rule {
            Rule::Value | Rule::Difference => Statement::value(id, names.number(paper)?, ours),
            Rule::Ratio => Statement::ratio(id, names.number(paper)?, ours),
            Rule::AtMost => Statement::at_most(id, names.number(paper)?, row.tolerance, ours),
            Rule::Between => {
                let Some([low, high]) = paper.as_array().map(Vec::as_slice) else {
                    return Err("`paper` is to be a range, [low, high]".to_string());
                };
                Statement::between(id, (names.number(low)?, names.number(high)?), ours)
            }
            Rule::Close => Statement::close(id, &names.text(paper)?, ours),
            Rule::Below => Statement::below(id, &names.text(paper)?, ours, ratio),
            Rule::Above | Rule::Highest | Rule::Counted => {
                Statement::above(id, &names.text(paper)?, ours, ratio)
            }
        })
    }

    /// Our number, and, where that is a difference, the ratio beside it.
    fn measured(
        &self,
        rule: Rule,
        metric: Observed,
        row: &Row,
        names: &Names<'_>,
    ) -> Result<(Option<Estimate>, Option<Estimate>), String> {
        let evidence = self.evidence;
        let pair = self.pair(row, names)?;
        if let Some(growth) = row.growth {
            let low = self.pair(&Row { at: row.from.clone(), ..row.clone() }.over(row), names)?;
            if row.counted == Some(true) {
                // Every run has the same numbers.
                let at = |pair| match growth {
                    Growth::Ratio => evidence.ratio(metric, pair),
                    Growth::Difference => evidence.difference(metric, pair),
                };
                let grown = at(pair).zip(at(low));
                let grown =
                    grown.map(|(high, low)| Estimate { value: high.value - low.value, ..high });
                return Ok((grown, None));
            }
            let of: fn(f64, f64) -> f64 = match growth {
                Growth::Ratio => |x, y| x / y,
                Growth::Difference => |x, y| x - y,
            };
            return Ok((evidence.growth(metric, of, pair, low), None));
        }
        if row.b.is_empty() {
            return Ok((evidence.mean(metric, pair[0]), None));
        }
        let ratio = evidence.ratio(metric, pair);
        Ok(match rule {
            Rule::Below | Rule::Above => (evidence.difference(metric, pair), ratio),
            Rule::Difference => (evidence.difference(metric, pair), None),
            _ => (ratio, None),
        })
    }

    /// The two points of a row; the same one twice where it names one.
    fn pair(&self, row: &Row, names: &Names<'_>) -> Result<Pair, String> {
        let point = |own| self.evidence.point(&names.picks(&[&row.at, own])?);
        let a = point(&row.a)?;
        Ok([a, if row.b.is_empty() { a } else { point(&row.b)? }])
    }

    /// The value of `a` less the highest of the others.
    fn highest<'n>(&self, row: &Row, names: &Names<'n>) -> Result<(Statement, Names<'n>), String> {
        let metric = row.metric.as_ref().ok_or("it has no `metric`")?;
        let metric = self.evidence.metric(metric)?;
        let mean = |metric, own, names: &Names<'_>| -> Result<Option<f64>, String> {
            let point = self.evidence.point(&names.picks(&[&row.at, own])?)?;
            Ok(self.evidence.mean(metric, point).map(|found| found.value))
        };
        let own = mean(metric, &row.a, names)?;
        let (name, each) =
            row.among.iter().flatten().next().ok_or("`highest` is judged `among` others")?;
        let mut others: Vec<(String, f64)> = Vec::new();
        for value in names.each(each, self.evidence)? {
            let names = names.with(name, value);
            if let Some(only) = &row.only {
                let found = mean(self.evidence.metric(&only.metric)?, &row.b, &names)?;
                if found != Some(names.number(&only.is)?) {
                    continue;
                }
            }
            let called = names.fill(&format!("{{{name}|upper}}"))?;
            others.extend(mean(metric, &row.b, &names)?.map(|found| (called, found)));
        }
        let best = others.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max);
        let highest = others.iter().filter(|(_, value)| *value >= best);
        let highest: Vec<&str> = highest.map(|(name, _)| name.as_str()).collect();
        // A tie is no higher value of another.
        let difference = own.map(|own| own - best);
        let holds = difference.is_some_and(|difference| difference >= 0.0);
        let paper = names.text(row.paper.as_ref().ok_or("it has no `paper`")?)?;
        let own = own.map_or("none".to_string(), |own| own.to_string());
        let names = names
            .with("own", Value::String(own))
            .with("best", Value::String(best.to_string()))
            .with("highest", Value::String(highest.join(", ")));
        Ok((Statement::counted("", paper, difference, holds), names))
    }

    /// Facts that a function finds, beside those that the paper states.
    fn facts<'n>(row: &Row, names: &Names<'n>) -> Result<(Statement, Names<'n>), String> {
        let function = row.function.as_ref().ok_or("`counted` needs a `function`")?;
        let with = names.picks(&[&row.with])?;
        let facts = functions::find(function)?(&with)?;
        let mut names = names.clone();
        for (name, fact) in &facts {
            names = names.with(name, Value::String(fact.clone()));
        }
        let mut holds = true;
        for (name, wanted) in names.picks(&[&row.expect])? {
            let unknown = || format!("`{function}` finds no `{name}`");
            holds &= *facts.get(name.as_str()).ok_or_else(unknown)? == wanted;
        }
        let ours = row.shows.as_ref().and_then(|name| facts.get(name.as_str())?.parse().ok());
        let paper = names.text(row.paper.as_ref().ok_or("it has no `paper`")?)?;
        Ok((Statement::counted("", paper, ours, holds), names))
    }

    /// The names with the further numbers of a row.
    fn beside<'n>(&self, row: &Row, names: &Names<'n>) -> Result<Names<'n>, String> {
        let mut more = names.clone();
        for (name, beside) in &row.beside {
            let metric = beside.metric.as_ref().or(row.metric.as_ref());
            let metric = self.evidence.metric(metric.ok_or("it has no `metric`")?)?;
            let at = if beside.at.is_empty() { &row.at } else { &beside.at };
            let point = |own| self.evidence.point(&names.picks(&[at, own])?);
            let ratio = self.evidence.ratio(metric, [point(&beside.a)?, point(&beside.b)?]);
            let digits = beside.digits;
            let text =
                ratio.map_or("not measured".into(), |ratio| format!("{:.digits$}", ratio.value));
            more = more.with(name, Value::String(text));
        }
        Ok(more)
    }
}

/// A comparison for notes: `{among.2.ours}` and `{among.2.verdict}`.
fn member(one: &Statement) -> Value {
    let mut table = Table::new();
    let ours = one.ours.unwrap_or(f64::NAN);
    table.insert("ours".to_string(), Value::String(format!("{ours:.3}")));
    table.insert("verdict".to_string(), Value::String(one.verdict.word().to_string()));
    Value::Table(table)
}

/// The comparison that is shown; of equal ones the last.
fn chosen(judged: Vec<(Value, Statement)>, show: Show) -> Option<(Value, Statement)> {
    let key = |one: &Statement| match show {
        Show::First => 0.0,
        Show::Greatest => one.ratio.unwrap_or(f64::INFINITY),
        // What has no ratio is farther from 1 than nothing.
        Show::Farthest => one.ratio.map_or(-1.0, |ratio| (ratio - 1.0).abs()),
    };
    let mut judged = judged.into_iter();
    if show == Show::First {
        return judged.next();
    }
    judged.max_by(|(_, a), (_, b)| key(a).total_cmp(&key(b)))
}

/// A row whose numbers are formulas.
fn formulas(rule: Rule, formula: &str, row: &Row, names: &Names<'_>) -> Result<Statement, String> {
    let value = |text: &str| -> Result<f64, String> {
        let formula: Formula =
            names.fill(text)?.parse().map_err(|bad: pavior::strategies::BadName| bad.reason)?;
        let found = formula.value(&|name| names.numeric(name));
        found.map_err(|name| format!("`{text}`: nothing is called `{name}` here"))
    };
    let ours = value(formula)?;
    let holds = match rule {
        Rule::Below => ours < 0.0,
        Rule::Above => ours > 0.0,
        _ => return Err("a formula is judged as `below` or `above` 0".to_string()),
    };
    let paper = names.text(row.paper.as_ref().ok_or("it has no `paper`")?)?;
    let mut statement = Statement::counted("", paper, Some(ours), holds);
    statement.ratio = row.ratio.as_deref().map(value).transpose()?;
    Ok(statement)
}

impl Row {
    /// With the points that another picks where it picks none itself.
    fn over(mut self, other: &Row) -> Row {
        let mut at: BTreeMap<String, Value> = other.at.clone();
        at.extend(self.at);
        self.at = at;
        self
    }
}
