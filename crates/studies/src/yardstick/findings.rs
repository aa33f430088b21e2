//! Statements about the board, defined as data and checked against the runs on the board.
//!
//! As with papers, `statements.toml` contains statements with rows, and each row has a rule. Here,
//! however, a row refers to a number on the board, not to points in an experiment. The runs are not
//! random, so bounds have no tolerance. An order holds only if the interval excludes zero.

use pavior::experiments::Catalogue;
use pavior::experiments::advice::{Change, Shown};
use serde::Deserialize;

use super::board::{Board, Row, in_boxes};
use super::bootstrap::change;
use super::parts::Parts;
use super::set::{ScenarioInfo, Yardstick};
use crate::folder::{self, PaperError, STATEMENTS};
use crate::statement::Claim;
use crate::statements::{Rule, Statements};
use crate::{Estimate, Statement, StatementCount, count};

/// The statements about the yardstick.
pub struct Findings {
    statements: Statements,
    text: String,
}

/// The judged statements.
pub struct Judged {
    /// The judged rows.
    pub rows: Vec<Statement>,
    /// Each statement's row counts.
    pub counts: Vec<StatementCount>,
    /// The statements that cannot be judged because they refer to a missing scenario or run.
    pub left_out: Vec<String>,
}

/// The evidence used to judge statements.
pub struct BoardEvidence<'b> {
    /// The scenarios.
    pub yardstick: &'b Yardstick,
    /// The runs.
    pub board: &'b Board,
    /// The breakdown of each scenario's gap into parts.
    pub parts: &'b [Parts],
    /// True if the board covers all strategies, so that the best one is known.
    pub whole: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StatementRow {
    /// The part of the name that follows the statement's id.
    id: Option<String>,
    /// The scenarios: `all`, `drawn`, `logs`, or a single scenario's name.
    of: String,
    /// The rule. `at-least` and `at-most` require a bound; `above` and `below` compare with 0.
    rule: Rule,
    bound: Option<f64>,
    number: Number,
    /// A description of the number.
    note: String,
}

/// A statement's rows, each with its claim.
type Claims = Vec<(StatementRow, Claim)>;

/// A number on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Number {
    /// The difference in mean turnaround, in hours.
    Longer(Difference),
    /// The number of scenarios in which turnaround is significantly longer (interval above 0).
    ShownLonger(Difference),
    /// The ratio of turnaround to bound, as a geometric mean over the scenarios.
    Ratio(Name),
    /// The number of scenarios in which the most successful strategy or scheduler has the best run.
    Best(Best),
}

/// A difference between two runs, which are compared job by job.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Difference {
    /// A part of the gap.
    Cost { cost: Cost },
    /// Two runs on the board.
    Runs { a: Name, b: Name },
}

/// A part of the gap. The variants are in the same order as [`Parts::costs`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cost {
    Boxes,
    Estimates,
    Order,
    Arrivals,
}

/// The names to count among the scenarios' best runs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Best {
    Strategy,
    /// The strategy, considering only runs in which each job gets its box.
    StrategyInBoxes,
    Scheduler,
}

/// A strategy and a scheduler, such as `tff easy`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Name {
    strategy: String,
    scheduler: String,
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Name, String> {
        let wrong = || format!("expected STRATEGY SCHEDULER, but found `{text}`");
        let (strategy, scheduler) = text.split_once(' ').ok_or_else(wrong)?;
        let catalogue = Catalogue::default();
        catalogue.strategies.select(strategy).map_err(|error| error.to_string())?;
        catalogue.schedulers.select(scheduler).map_err(|error| error.to_string())?;
        Ok(Name { strategy: strategy.to_string(), scheduler: scheduler.to_string() })
    }
}

impl Findings {
    /// Returns the built-in statements.
    pub fn built_in() -> Findings {
        let text = include_str!("../../papers/yardstick/statements.toml");
        folder::built_in(Findings::read(text))
    }

    /// Reads statements from the text of a file.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML, or is not in the format of the yardstick's
    /// statements.
    pub fn read(text: &str) -> Result<Findings, PaperError> {
        let statements: Statements = folder::parse(STATEMENTS, text)?;
        let findings = Findings { statements, text: text.to_string() };
        findings.rows()?;
        Ok(findings)
    }

    /// Returns each statement's id, and its rows with their claims.
    fn rows(&self) -> Result<Vec<(&str, Claims)>, PaperError> {
        let fault = |reason: String, span| {
            let place = Some((self.text.clone(), span));
            PaperError { file: STATEMENTS, reason, place }
        };
        let mut all = Vec::new();
        for statement in &self.statements.statement {
            let rows = statement
                .rows::<StatementRow>()
                .map_err(|wrong| fault(wrong.reason, wrong.span))?;
            let mut claims = Vec::new();
            for (span, row) in rows {
                let claim = row.claim().map_err(|reason| {
                    fault(format!("statement {}: {reason}", statement.id), span)
                })?;
                claims.push((row, claim));
            }
            all.push((&*statement.id, claims));
        }
        Ok(all)
    }

    /// Judges every statement for which the numbers in all rows can be computed.
    ///
    /// # Errors
    /// Returns an error if a row refers to a scenario that does not exist.
    pub fn judge(&self, evidence: &BoardEvidence<'_>) -> Result<Judged, PaperError> {
        let (mut judged, mut left_out) = (Vec::new(), Vec::new());
        for (id, rows) in self.rows()? {
            let mut statements = Vec::new();
            for (row, claim) in &rows {
                let scenarios = evidence.scenarios(&row.of);
                let scenarios = scenarios.map_err(|reason| PaperError::new(STATEMENTS, reason))?;
                let Some(ours) = evidence.number(&row.number, &scenarios) else { continue };
                let name = row.id.as_ref().map_or(id.to_string(), |part| format!("{id}@{part}"));
                statements
                    .push(Statement { note: row.note.clone(), ..claim.judge(name, Some(ours)) });
            }
            if statements.len() == rows.len() {
                judged.extend(statements);
            } else {
                left_out.push(id.to_string());
            }
        }
        let counts = count::counts(&self.statements, &judged);
        Ok(Judged { rows: judged, counts, left_out })
    }
}

impl StatementRow {
    /// Returns the claim. Because the number is exact, the claim has no tolerance.
    fn claim(&self) -> Result<Claim, String> {
        match (self.rule, self.bound, &self.number) {
            (Rule::AtLeast, Some(bound), _) => Ok(Claim::AtLeast(bound, Some(0.0))),
            (Rule::AtMost, Some(bound), _) => Ok(Claim::AtMost(bound, Some(0.0))),
            (Rule::Above, None, Number::Longer(_)) => Ok(Claim::Above("above 0".to_string())),
            (Rule::Below, None, Number::Longer(_)) => Ok(Claim::Below("below 0".to_string())),
            (Rule::AtLeast | Rule::AtMost, None, _) => Err("`bound` is missing".to_string()),
            (Rule::Above | Rule::Below, ..) => {
                Err("`above` and `below` do not accept `bound`, and apply only to `longer`"
                    .to_string())
            }
            _ => Err("`rule` must be at-least, at-most, above or below".to_string()),
        }
    }
}

impl BoardEvidence<'_> {
    /// Returns the names of the scenarios that a row covers.
    fn scenarios(&self, of: &str) -> Result<Vec<&str>, String> {
        let matches = |scenario: &ScenarioInfo<'_>| match of {
            "all" => true,
            "drawn" => scenario.log.is_none(),
            "logs" => scenario.log.is_some(),
            name => scenario.name == name,
        };
        let scenarios = self.yardstick.scenarios().filter(matches);
        let names: Vec<&str> = scenarios.map(|scenario| scenario.name).collect();
        if names.is_empty() { Err(format!("no such scenario: `{of}`")) } else { Ok(names) }
    }

    /// Computes a number over the given scenarios. Returns `None` if a run is missing.
    fn number(&self, number: &Number, scenarios: &[&str]) -> Option<Estimate> {
        let value = match number {
            Number::Longer(difference) => {
                let [scenario] = scenarios else { return None };
                let Change { difference, half_width } = self.change(difference, scenario)?;
                let [value, ci95] = [difference, half_width?].map(|seconds| seconds / 3600.0);
                let ci95 = Some(ci95);
                return Some(Estimate { value, ci95, sides: None, runs: 1, missed: false });
            }
            Number::ShownLonger(difference) => {
                if !scenarios.iter().all(|scenario| self.has(difference, scenario)) {
                    return None;
                }
                let changes = scenarios.iter().filter_map(|one| self.change(difference, one));
                let changes: Vec<Change> = changes.collect();
                if changes.iter().any(|change| change.half_width.is_none()) {
                    return None;
                }
                changes.iter().filter(|change| change.shown() == Shown::More).count() as f64
            }
            Number::Ratio(name) => {
                let logs = scenarios.iter().map(|scenario| {
                    let run = self.run(name, scenario)?;
                    Some(libm::log(run.turnaround / run.bound))
                });
                let logs = logs.collect::<Option<Vec<f64>>>()?;
                libm::exp(logs.iter().sum::<f64>() / logs.len() as f64)
            }
            Number::Best(best) => self.most_frequent(*best, scenarios)? as f64,
        };
        let runs = scenarios.len() as u64;
        Some(Estimate { value, ci95: None, sides: None, runs, missed: false })
    }

    fn has(&self, difference: &Difference, scenario: &str) -> bool {
        match difference {
            Difference::Cost { .. } => self.parts.iter().any(|one| one.scenario == scenario),
            Difference::Runs { a, b } => {
                [a, b].iter().all(|name| self.run(name, scenario).is_some())
            }
        }
    }

    /// Returns the difference in turnaround, or `None` if a run is missing or if the gap lacks the
    /// given part.
    fn change(&self, difference: &Difference, scenario: &str) -> Option<Change> {
        match difference {
            Difference::Cost { cost } => {
                let parts = self.parts.iter().find(|one| one.scenario == scenario)?;
                parts.costs()[*cost as usize]
            }
            Difference::Runs { a, b } => {
                change(&self.run(a, scenario)?.each, &self.run(b, scenario)?.each)
            }
        }
    }

    fn run(&self, name: &Name, scenario: &str) -> Option<&Row> {
        self.board.rows.iter().find(|row| {
            row.scenario == scenario
                && row.strategy == name.strategy
                && row.scheduler == name.scheduler
        })
    }

    /// Returns the number of scenarios in which the most successful strategy or scheduler has the
    /// best run. If several runs are equally good, all of them are considered best.
    fn most_frequent(&self, best: Best, scenarios: &[&str]) -> Option<usize> {
        if !self.whole {
            return None;
        }
        let catalogue = Catalogue::default();
        let mut wins: Vec<&str> = Vec::new();
        for scenario in scenarios {
            let rows = self.board.rows.iter().filter(|row| row.scenario == *scenario);
            let counts = |row: &&Row| match best {
                Best::StrategyInBoxes => in_boxes(&catalogue, row),
                Best::Strategy | Best::Scheduler => true,
            };
            let rows: Vec<&Row> = rows.filter(counts).collect();
            let least = rows.iter().map(|row| row.turnaround).reduce(f64::min)?;
            let first = rows.iter().filter(|row| row.turnaround <= least);
            let mut names: Vec<&str> = first
                .map(|row| match best {
                    Best::Scheduler => &*row.scheduler,
                    Best::Strategy | Best::StrategyInBoxes => &*row.strategy,
                })
                .collect();
            names.sort_unstable();
            names.dedup();
            wins.extend(names);
        }
        wins.sort_unstable();
        wins.chunk_by(|one, other| one == other).map(<[&str]>::len).max()
    }
}

impl Judged {
    /// The columns of [`Judged::cells`].
    pub const COLUMNS: [&str; 6] = ["id", "verdict", "ours", "half_width", "stated", "what"];

    /// Returns one table row for each row that was judged.
    pub fn cells(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.rows.iter().map(|one| {
            let number = |value: Option<f64>| {
                value.map_or(String::new(), |value| {
                    if value.fract() == 0.0 { value.to_string() } else { format!("{value:.4}") }
                })
            };
            vec![
                one.id.clone(),
                one.verdict.word().to_string(),
                number(one.ours),
                number(one.ci95),
                one.paper.clone(),
                one.note.clone(),
            ]
        })
    }
}

#[cfg(test)]
mod tests;
