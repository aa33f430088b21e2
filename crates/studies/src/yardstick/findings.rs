//! Statements about the board as data, checked against its runs.
//!
//! `statements.toml` has the same format as for papers: statements with rows, and a rule per row. A
//! row refers to a number on the board rather than to points in an experiment. The runs are not
//! random, so bounds have no tolerance. An order holds only if the interval excludes zero.

use pavior::experiments::Catalogue;
use pavior::experiments::advice::{Change, Shown};
use serde::Deserialize;

use super::board::{Board, Row as Run, in_boxes};
use super::bootstrap::change;
use super::parts::Parts;
use super::set::Yardstick;
use crate::folder::{self, PaperError, STATEMENTS};
use crate::statement::Claim;
use crate::statements::{Rule, Statements};
use crate::{Estimate, Statement, StatementCount, count};

/// The statements of the yardstick.
pub struct Findings {
    statements: Statements,
    text: String,
}

/// The judged statements.
pub struct Judged {
    /// The judged rows.
    pub rows: Vec<Statement>,
    /// The counts of each statement's rows.
    pub counts: Vec<StatementCount>,
    /// The statements that are not judged because they refer to a missing scenario or run.
    pub left_out: Vec<String>,
}

/// The evidence for judging the statements.
pub struct Evidence<'b> {
    /// The scenarios.
    pub yardstick: &'b Yardstick,
    /// The runs.
    pub board: &'b Board,
    /// The parts of the gaps.
    pub parts: &'b [Parts],
    /// True if the board contains all strategies, so that the best one is known.
    pub whole: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    /// The part of the name that follows the statement's id.
    id: Option<String>,
    /// The scenarios: `all`, `drawn`, `logs`, or the name of one.
    of: String,
    /// The rule. `at-least` and `at-most` have a bound; `above` and `below` compare with 0.
    rule: Rule,
    bound: Option<f64>,
    number: Number,
    /// A description of the number.
    note: String,
}

/// The rows of a statement, each with its claim.
type Claims = Vec<(Row, Claim)>;

/// A number on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Number {
    /// The difference in mean turnaround, in hours.
    Longer(Difference),
    /// The number of scenarios in which the turnaround is significantly longer (interval above 0).
    ShownLonger(Difference),
    /// The ratio of the turnaround to the bound, as the geometric mean over the scenarios.
    Ratio(Name),
    /// The number of scenarios whose best run has the most frequent name among best runs.
    Best(Best),
}

/// Two runs to compare job by job.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Difference {
    /// A part of the gap.
    Cost { cost: Cost },
    /// Two runs on the board.
    Runs { a: Name, b: Name },
}

/// A part of the gap, as an index into [`Parts::costs`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cost {
    Boxes,
    Estimates,
    Order,
    Arrivals,
}

/// The kind of name to count among the best runs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Best {
    Strategy,
    /// The strategy, among runs that give each job its box.
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
        let wrong = || format!("`{text}` must be a strategy and a scheduler");
        let (strategy, scheduler) = text.split_once(' ').ok_or_else(wrong)?;
        let catalogue = Catalogue::default();
        catalogue.strategies.select(strategy).map_err(|error| error.to_string())?;
        catalogue.schedulers.select(scheduler).map_err(|error| error.to_string())?;
        Ok(Name { strategy: strategy.to_string(), scheduler: scheduler.to_string() })
    }
}

impl Findings {
    /// Returns the built-in statements.
    ///
    /// # Panics
    /// This never panics, because a test reads the statements.
    pub fn built_in() -> Findings {
        let text = include_str!("../../papers/yardstick/statements.toml");
        Findings::read(text).expect("the built-in statements are valid")
    }

    /// Reads statements from the text of a file.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML, or not in the format of the yardstick's
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
            let rows = statement.rows::<Row>().map_err(|wrong| fault(wrong.reason, wrong.span))?;
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

    /// Judges each statement whose rows all have a number.
    ///
    /// # Errors
    /// Returns an error if a row refers to a scenario that is not in the set.
    pub fn judge(&self, evidence: &Evidence<'_>) -> Result<Judged, PaperError> {
        let (mut judged, mut left_out) = (Vec::new(), Vec::new());
        for (id, rows) in self.rows()? {
            let mut own = Vec::new();
            for (row, claim) in &rows {
                let scenarios = evidence.scenarios(&row.of);
                let scenarios = scenarios.map_err(|reason| PaperError::new(STATEMENTS, reason))?;
                let Some(ours) = evidence.number(&row.number, &scenarios) else { continue };
                let name = row.id.as_ref().map_or(id.to_string(), |own| format!("{id}@{own}"));
                own.push(Statement { note: row.note.clone(), ..claim.judge(name, Some(ours)) });
            }
            if own.len() == rows.len() {
                judged.extend(own);
            } else {
                left_out.push(id.to_string());
            }
        }
        let counts = count::counts(&self.statements, &judged);
        Ok(Judged { rows: judged, counts, left_out })
    }
}

impl Row {
    /// Returns the claim. The number is exact, so there is no tolerance.
    fn claim(&self) -> Result<Claim, String> {
        match (self.rule, self.bound, &self.number) {
            (Rule::AtLeast, Some(bound), _) => Ok(Claim::AtLeast(bound, Some(0.0))),
            (Rule::AtMost, Some(bound), _) => Ok(Claim::AtMost(bound, Some(0.0))),
            (Rule::Above, None, Number::Longer(_)) => Ok(Claim::Above("above 0".to_string())),
            (Rule::Below, None, Number::Longer(_)) => Ok(Claim::Below("below 0".to_string())),
            (Rule::AtLeast | Rule::AtMost, None, _) => Err("`bound` is missing".to_string()),
            (Rule::Above | Rule::Below, ..) => {
                Err("`above` and `below` accept no `bound`, and apply only to `longer`".to_string())
            }
            _ => Err("`rule` must be at-least, at-most, above or below".to_string()),
        }
    }
}

impl Evidence<'_> {
    /// Returns the names of a row's scenarios.
    fn scenarios(&self, of: &str) -> Result<Vec<&str>, String> {
        let all = self.yardstick.scenarios();
        let names: Vec<&str> = match of {
            "all" => all.map(|(name, ..)| name).collect(),
            "drawn" => all.filter(|(.., log)| log.is_none()).map(|(name, ..)| name).collect(),
            "logs" => all.filter(|(.., log)| log.is_some()).map(|(name, ..)| name).collect(),
            one => all.map(|(name, ..)| name).filter(|name| *name == one).collect(),
        };
        if names.is_empty() { Err(format!("there is no scenario `{of}`")) } else { Ok(names) }
    }

    /// Returns a number over these scenarios, or `None` if a run is missing.
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
            Number::Best(best) => self.often(*best, scenarios)? as f64,
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

    /// Returns the difference in turnaround, or `None` if a run or this part of the gap is missing.
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

    fn run(&self, name: &Name, scenario: &str) -> Option<&Run> {
        self.board.rows.iter().find(|row| {
            row.scenario == scenario
                && row.strategy == name.strategy
                && row.scheduler == name.scheduler
        })
    }

    /// Returns the number of scenarios whose best run has the most frequent name. Equally good runs
    /// are all considered the best.
    fn often(&self, best: Best, scenarios: &[&str]) -> Option<usize> {
        if !self.whole {
            return None;
        }
        let catalogue = Catalogue::default();
        let mut wins: Vec<&str> = Vec::new();
        for scenario in scenarios {
            let rows = self.board.rows.iter().filter(|row| row.scenario == *scenario);
            let counts = |row: &&Run| match best {
                Best::StrategyInBoxes => in_boxes(&catalogue, row),
                Best::Strategy | Best::Scheduler => true,
            };
            let rows: Vec<&Run> = rows.filter(counts).collect();
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

    /// Returns one row of the table for each judged row.
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
mod tests {
    use super::*;
    use crate::Verdict;

    const HOUR: f64 = 3600.0;

    /// Returns a run of 300 jobs. Each takes `hours` hours, plus a wave with a period of 10 jobs.
    fn run(scenario: &str, (strategy, scheduler): (&str, &str), hours: f64) -> Run {
        let wave = |job: usize| (hours + (job % 10) as f64 / 10.0 - 0.45) * HOUR;
        Run {
            scenario: scenario.to_string(),
            strategy: strategy.to_string(),
            scheduler: scheduler.to_string(),
            jobs: 300,
            turnaround: hours * HOUR,
            bound: HOUR,
            node_gap: 0.0,
            makespan_gap: 0.0,
            behind: None,
            each: (0..300).map(wave).collect(),
        }
    }

    fn cost(hours: f64) -> Change {
        Change { difference: hours * HOUR, half_width: Some(0.5 * HOUR) }
    }

    /// Returns a board of all scenarios. `mbs` takes 2 hours, and `tff` 4 hours, or 8 under `fcfs`.
    /// Boxes cost an hour, but save two hours if nodes fail. The cost of estimates is not
    /// significant.
    fn board(yardstick: &Yardstick) -> (Board, Vec<Parts>) {
        let (mut rows, mut parts) = (Vec::new(), Vec::new());
        for (name, ..) in yardstick.scenarios() {
            rows.push(run(name, ("mbs", "easy"), 2.0));
            rows.push(run(name, ("tff", "easy"), 4.0));
            rows.push(run(name, ("tff", "fcfs"), 8.0));
            let fails = name == "pod-failures";
            parts.push(Parts {
                scenario: name.to_string(),
                jobs: 300,
                gap: 3.0 * HOUR,
                contiguity: cost(if fails { -2.0 } else { 1.0 }),
                estimates: cost(0.4),
                order: (!fails).then(|| cost(0.6)),
                arrivals: (!fails).then(|| cost(-0.1)),
                rest: HOUR,
            });
        }
        (Board { rows, certificates: Vec::new(), undone: Vec::new() }, parts)
    }

    /// Judges a single row on the board after a change.
    fn judged(row: &str, change: impl FnOnce(&mut Board, &mut Vec<Parts>)) -> Judged {
        let yardstick = Yardstick::built_in();
        let (mut board, mut parts) = board(&yardstick);
        change(&mut board, &mut parts);
        let evidence =
            Evidence { yardstick: &yardstick, board: &board, parts: &parts, whole: true };
        Findings::read(&statement(row)).unwrap().judge(&evidence).unwrap()
    }

    fn statement(row: &str) -> String {
        format!("[[statement]]\nid = 'Y'\nclaim = 'it'\nrow = [{{ {row}, note = 'what' }}]")
    }

    /// Returns a row about all scenarios.
    fn all(number: &str, rule: &str) -> String {
        format!("of = 'all', number = {{ {number} }}, rule = {rule}")
    }

    #[test]
    fn true_statements_hold_and_planted_false_ones_differ() {
        use Verdict::{Differs, Holds};
        let boxes = "number = { shown-longer = { cost = 'boxes' } }";
        let failing = "of = 'pod-failures', number = { longer = { cost = 'boxes' } }";
        let light = "of = 'mesh-light', number = { longer = { cost = 'estimates' } }";
        let order = "number = { shown-longer = { cost = 'order' } }";
        let slow = "number = { longer = { a = 'tff fcfs', b = 'tff easy' } }";
        let more = "number = { shown-longer = { a = 'tff easy', b = 'tff fcfs' } }";
        for (row, ours, verdict) in [
            (format!("of = 'drawn', {boxes}, rule = 'at-least', bound = 15"), 15.0, Holds),
            (format!("of = 'drawn', {boxes}, rule = 'at-least', bound = 16"), 15.0, Differs),
            (format!("of = 'logs', {boxes}, rule = 'at-most', bound = 3"), 4.0, Differs),
            (format!("{failing}, rule = 'below'"), -2.0, Holds),
            (format!("{failing}, rule = 'above'"), -2.0, Differs),
            // The interval contains 0, so neither order holds.
            (format!("{light}, rule = 'above'"), 0.4, Differs),
            (format!("{light}, rule = 'below'"), 0.4, Differs),
            (format!("of = 'all', {order}, rule = 'at-least', bound = 19"), 19.0, Holds),
            (format!("of = 'log-kth', {slow}, rule = 'above'"), 4.0, Holds),
            (format!("of = 'log-kth', {slow}, rule = 'at-least', bound = 4.1"), 4.0, Differs),
            (format!("of = 'all', {more}, rule = 'at-most', bound = 0"), 0.0, Holds),
            (all("ratio = 'tff easy'", "'at-most', bound = 3"), 4.0, Differs),
            (all("ratio = 'mbs easy'", "'at-most', bound = 2.01"), 2.0, Holds),
            (all("best = 'strategy'", "'at-most', bound = 19"), 20.0, Differs),
            (all("best = 'strategy-in-boxes'", "'at-least', bound = 20"), 20.0, Holds),
        ] {
            let judged = judged(&row, |_, _| ());
            let [one] = &judged.rows[..] else { panic!("{row}") };
            assert!((one.ours.unwrap() - ours).abs() < 1e-9, "{row}: {:?}", one.ours);
            assert_eq!(one.verdict, verdict, "{row}");
            assert_eq!(judged.counts[0].verdict(), verdict, "{row}");
            assert_eq!((one.id.as_str(), one.note.as_str()), ("Y", "what"));
        }
    }

    #[test]
    fn the_best_are_counted_by_name_and_equal_runs_are_all_the_best() {
        let often = |best: &str| {
            let row = all(&format!("best = '{best}'"), "'at-least', bound = 1");
            let judged = judged(&row, |board, _| {
                // This run equals the best one in one scenario, and is better in another.
                for (at, hours) in [(1, 2.0), (4, 1.5)] {
                    let own = board.rows[at].clone();
                    board.rows[at] = run(&own.scenario, ("tff", "fcfs"), hours);
                }
            });
            judged.rows[0].ours
        };
        assert_eq!(often("strategy"), Some(19.0));
        assert_eq!(often("scheduler"), Some(19.0));
        assert_eq!(often("strategy-in-boxes"), Some(20.0));
    }

    #[test]
    fn what_was_not_run_is_not_judged() {
        let row = all("shown-longer = { cost = 'boxes' }", "'at-least', bound = 1");
        let without = |change: fn(&mut Board, &mut Vec<Parts>)| {
            let judged = judged(&row, change);
            assert!(judged.rows.is_empty() && judged.counts.is_empty());
            judged.left_out
        };
        assert_eq!(without(|_, parts| drop(parts.pop())), ["Y"]);
        assert_eq!(without(|_, parts| parts[3].contiguity.half_width = None), ["Y"]);
        let row = "of = 'drawn', number = { ratio = 'mbs easy' }, rule = 'at-least', bound = 1";
        assert_eq!(judged(row, |board, _| drop(board.rows.remove(0))).left_out, ["Y"]);
        // The missing run of a log does not matter.
        assert_eq!(judged(row, |board, _| drop(board.rows.pop())).rows.len(), 1);
    }

    #[test]
    fn the_own_statements_can_be_read_and_faults_are_found() {
        assert!(Findings::built_in().rows().unwrap().len() > 5);
        for (row, reason) in [
            (all("ratio = 'tff'", "'at-most', bound = 1"), "a strategy and a scheduler"),
            (all("ratio = 'tfff easy'", "'at-most', bound = 1"), "tfff"),
            (all("ratio = 'tff easy'", "'at-most'"), "`bound` is missing"),
            (all("ratio = 'tff easy'", "'above'"), "apply only to `longer`"),
            (all("ratio = 'tff easy'", "'close', bound = 1"), "`rule` must be"),
            (all("cost = 'boxes'", "'at-most', bound = 1"), "unknown variant"),
        ] {
            let fault = Findings::read(&statement(&row)).err().expect(&row);
            assert!(fault.reason.contains(reason), "{row}: {}", fault.reason);
            let (text, span) = fault.place.unwrap();
            assert!(text[span].contains(&row), "the row is underlined");
        }
        let row = "of = 'mesh', number = { best = 'strategy' }, rule = 'at-most', bound = 1";
        let yardstick = Yardstick::built_in();
        let (board, parts) = board(&yardstick);
        let evidence =
            Evidence { yardstick: &yardstick, board: &board, parts: &parts, whole: true };
        let judged = Findings::read(&statement(row)).unwrap().judge(&evidence);
        assert!(judged.is_err_and(|fault| fault.reason.contains("there is no scenario `mesh`")));
    }
}
