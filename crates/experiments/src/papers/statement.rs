//! Statements of papers, and the rules by which they are judged.

use std::io::Write;

use super::Estimate;
use crate::results::number;

/// What the papers' runs promise of their own means.
const PAPERS_OWN: f64 = 0.05;
/// How far apart is still close.
const CLOSE: f64 = 0.10;

/// The rules in words, for reports.
pub(super) const RULES: &str = "A stated value or bound holds if it lies within our 95 % interval \
    widened by 5 % of it, the papers' own precision (a ratio also if it is within 10 % of ours). \
    \"Close\" or \"equal\" holds if the paired difference is within 10 %. An order holds if the \
    paired difference excludes zero. What is counted has no interval, and holds if it is as stated. \
    What does not hold is said to differ, and stays in the table.";

/// A number or claim of a paper beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Which, such as `T2@3.8`.
    pub id: String,
    /// The paper's number or claim.
    pub paper: String,
    /// Our number; none if the experiment gives none.
    pub ours: Option<f64>,
    /// The half-width of its 95 % confidence interval.
    pub ci95: Option<f64>,
    /// Ours over the paper's; where a claim is about two things, theirs.
    pub ratio: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
    /// What a reader must know, the number of runs included.
    pub note: String,
}

impl Statement {
    /// `holds` or `differs`.
    pub fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "differs" }
    }

    /// Our number with its interval, to four digits; a count in full.
    pub fn number(&self) -> String {
        match (self.ours, self.ci95) {
            // Counted.
            (Some(whole), None) if whole.fract() == 0.0 => whole.to_string(),
            (mean, ci95) => crate::publish::cell(crate::Summary { mean, ci95 }),
        }
    }

    /// The columns of [`Statement::cells`].
    pub(super) const COLUMNS: [&str; 6] = ["id", "paper", "ours", "ratio", "verdict", "note"];

    /// A row for readers.
    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            self.paper.clone(),
            self.number(),
            self.ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
            self.verdict().to_string(),
            self.note.clone(),
        ]
    }

    /// With a note before what is noted already.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Statement {
        let note = note.into();
        self.note = if self.note.is_empty() { note } else { format!("{note}; {}", self.note) };
        self
    }

    /// Something counted or computed, in which there is no chance.
    pub fn counted(
        id: impl Into<String>,
        claim: impl Into<String>,
        ours: Option<f64>,
        holds: bool,
    ) -> Statement {
        Statement {
            id: id.into(),
            paper: claim.into(),
            ours,
            ci95: None,
            ratio: None,
            holds,
            note: String::new(),
        }
    }

    fn judged(
        id: impl Into<String>,
        paper: impl Into<String>,
        ours: Option<Estimate>,
        holds: impl FnOnce(Estimate) -> bool,
    ) -> Statement {
        Statement {
            id: id.into(),
            paper: paper.into(),
            ours: ours.map(|ours| ours.value),
            ci95: ours.and_then(|ours| ours.ci95),
            ratio: None,
            holds: ours.is_some_and(holds),
            note: ours.map_or("no runs".into(), |ours| {
                let missed = if ours.missed { ", precision target missed" } else { "" };
                format!("{} runs{missed}", ours.runs)
            }),
        }
    }

    /// A stated value.
    pub fn value(id: impl Into<String>, paper: f64, ours: Option<Estimate>) -> Statement {
        let holds = |ours: Estimate| within(paper, ours);
        let mut statement = Statement::judged(id, paper.to_string(), ours, holds);
        statement.ratio = ours.map(|ours| ours.value / paper);
        statement
    }

    /// A stated ratio.
    pub fn ratio(id: impl Into<String>, paper: f64, ours: Option<Estimate>) -> Statement {
        let mut statement = Statement::value(id, paper, ours);
        statement.holds |=
            ours.is_some_and(|ours| (paper - ours.value).abs() <= CLOSE * ours.value.abs());
        statement
    }

    /// A stated range.
    pub fn between(
        id: impl Into<String>,
        (low, high): (f64, f64),
        ours: Option<Estimate>,
    ) -> Statement {
        let holds = |ours: Estimate| {
            within(low, ours) || within(high, ours) || (low..=high).contains(&ours.value)
        };
        let mut statement = Statement::judged(id, format!("{low} to {high}"), ours, holds);
        statement.ratio = ours.map(|ours| ours.value / low.midpoint(high));
        statement
    }

    /// A stated upper bound.
    pub fn at_most(id: impl Into<String>, bound: f64, ours: Option<Estimate>) -> Statement {
        let holds = |ours: Estimate| ours.value <= bound || within(bound, ours);
        let mut statement = Statement::judged(id, format!("at most {bound}"), ours, holds);
        statement.ratio = ours.map(|ours| ours.value / bound);
        statement
    }

    /// Two things that are close: `ours` is their ratio.
    pub fn close(id: impl Into<String>, claim: &str, ours: Option<Estimate>) -> Statement {
        let holds = |ours: Estimate| (ours.value - 1.0).abs() <= CLOSE;
        let mut statement = Statement::judged(id, claim, ours, holds);
        statement.ratio = ours.map(|ours| ours.value);
        statement
    }

    /// One thing below another: `ours` is their paired difference, `ratio` their ratio.
    pub fn below(
        id: impl Into<String>,
        claim: &str,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
    ) -> Statement {
        Statement::order(id, claim, ours, ratio, |_, high| high < 0.0)
    }

    /// One thing above another: `ours` is their paired difference, `ratio` their ratio.
    pub fn above(
        id: impl Into<String>,
        claim: &str,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
    ) -> Statement {
        Statement::order(id, claim, ours, ratio, |low, _| low > 0.0)
    }

    /// An order, which `shows` judges by the ends of the interval of the difference.
    fn order(
        id: impl Into<String>,
        claim: &str,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
        shows: impl FnOnce(f64, f64) -> bool,
    ) -> Statement {
        // With too few runs for an interval nothing is shown.
        let holds = |ours: Estimate| {
            ours.ci95.is_some_and(|width| shows(ours.value - width, ours.value + width))
        };
        let mut statement = Statement::judged(id, claim, ours, holds);
        statement.ratio = ratio.map(|ratio| ratio.value);
        statement
    }
}

/// Whether a stated value lies within our interval, widened by the paper's own precision.
fn within(paper: f64, ours: Estimate) -> bool {
    (paper - ours.value).abs() <= ours.width() + PAPERS_OWN * paper.abs()
}

/// Writes statements as CSV.
///
/// # Errors
/// If the writer fails.
pub fn write_statements(all: &[Statement], out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["id", "paper", "ours", "ci95", "ratio", "verdict", "note"])?;
    for one in all {
        let numbers = [one.ours, one.ci95, one.ratio].map(number);
        let [ours, ci95, ratio] = &numbers;
        let line = [&one.id, &one.paper, ours, ci95, ratio, one.verdict(), &one.note];
        writer.write_record(line)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_at_their_edges() {
        let with = |value, ci95| Some(Estimate { value, ci95, runs: 9, missed: true });
        let ours = |value: f64, ci95: f64| with(value, Some(ci95));
        let none = with(-1.0, None);
        let note = Statement::value("v", 1.0, none).note("what it is").note;
        assert_eq!(note, "what it is; 9 runs, precision target missed");
        // 100 stated: our interval reaches 95 from below.
        assert!(Statement::value("v", 100.0, ours(90.0, 5.0)).holds);
        assert!(!Statement::value("v", 100.0, ours(90.0, 4.9)).holds);
        // A ratio within 10 % of ours.
        assert!(Statement::ratio("r", 0.549, ours(0.5, 0.0)).holds);
        assert!(!Statement::ratio("r", 0.551, ours(0.5, 0.0)).holds);
        assert!(!Statement::value("v", 0.55, ours(0.5, 0.0)).holds);
        assert!(Statement::at_most("b", 0.36, ours(0.1, 0.0)).holds);
        assert!(Statement::at_most("b", 0.36, ours(0.377, 0.0)).holds);
        assert!(!Statement::at_most("b", 0.36, ours(0.38, 0.001)).holds);
        assert!(Statement::between("w", (0.47, 0.49), ours(0.48, 0.0)).holds);
        assert!(Statement::between("w", (0.47, 0.49), ours(0.50, 0.0)).holds);
        assert!(!Statement::between("w", (0.47, 0.49), ours(0.52, 0.0)).holds);
        assert!(Statement::close("c", "", ours(1.09, 0.5)).holds);
        assert!(!Statement::close("c", "", ours(0.89, 0.5)).holds);
        assert!(Statement::below("o", "", ours(-1.0, 0.9), None).holds);
        assert!(!Statement::below("o", "", ours(-1.0, 1.0), None).holds);
        assert!(!Statement::below("o", "", none, None).holds);
        assert!(Statement::above("o", "", ours(1.0, 0.9), None).holds);
        assert!(!Statement::above("o", "", None, None).holds);
    }
}
