//! Statements of papers, and the rules by which they are judged.

use std::io::Write;

use super::Estimate;
use pavior::experiments::{Median, Summary};

/// What the papers' runs promise of their own means.
const PAPERS_OWN: f64 = 0.05;
/// How far apart is still close.
const CLOSE: f64 = 0.10;

/// The rules in words, for reports.
pub(super) const RULES: &str = "A stated value or bound holds if it lies within our 95 % interval, \
    and holds within tolerance if it does with the interval widened by 5 % of it, the papers' own \
    precision (a ratio also if it is within 10 % of ours). \"Close\" or \"equal\" holds if the \
    interval of the ratio contains 1, and within tolerance if the ratio is within 10 % of it. An \
    order holds if the paired difference excludes zero. What is counted has no interval, and holds \
    if it is as stated. Everything else differs, and stays in the table. A statement holds if all \
    rows that the paper states do, holds within tolerance if some of them only do so, and differs \
    if one of them differs; rows that are ours to add are counted apart.";

/// Whether what a paper says is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Within our interval.
    Holds,
    /// Only with the interval widened.
    Tolerance,
    /// Neither.
    Differs,
}

impl Verdict {
    /// `holds`, `tolerance` or `differs`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Tolerance => "tolerance",
            Verdict::Differs => "differs",
        }
    }

    /// Whether it holds, be it within tolerance.
    pub fn is_good(self) -> bool {
        self != Verdict::Differs
    }

    fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Differs }
    }

    /// Holds under the first condition, within tolerance under the second.
    fn graded(holds: bool, tolerated: bool) -> Verdict {
        match (holds, tolerated) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Tolerance,
            (false, false) => Verdict::Differs,
        }
    }
}

/// A number or claim of a paper beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Which, such as `T2@3.8`.
    pub id: String,
    /// The paper's number or claim.
    pub paper: String,
    /// Our number; none if the experiment gives none.
    pub ours: Option<f64>,
    /// The half-width of its 95 % confidence interval; half the length of that of a median.
    pub ci95: Option<f64>,
    /// The ends of the interval where our number is a median.
    pub interval: Option<[f64; 2]>,
    /// Ours over the paper's; where a claim is about two things, theirs.
    pub ratio: Option<f64>,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Whether it is the paper that states it, and not we who add it.
    pub stated: bool,
    /// What a reader must know, the number of runs included.
    pub note: String,
}

impl Statement {
    /// Who states it: `paper` or `ours`.
    pub fn source(&self) -> &'static str {
        if self.stated { "paper" } else { "ours" }
    }

    /// Our number with its interval, to four digits; a count in full.
    pub fn number(&self) -> String {
        match (self.ours, self.ci95) {
            (Some(median), _) if self.interval.is_some() => {
                Median { value: median, interval: self.interval }.to_string()
            }
            // Counted.
            (Some(whole), None) if whole.fract() == 0.0 => whole.to_string(),
            (mean, ci95) => Summary { mean, ci95 }.to_string(),
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
            self.verdict.word().to_string(),
            self.note.clone(),
        ]
    }

    /// With a note before what is noted already.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Statement {
        let notes = [note.into(), std::mem::take(&mut self.note)];
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        self.note = notes.join("; ");
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
            interval: None,
            ratio: None,
            verdict: Verdict::of(holds),
            stated: true,
            note: String::new(),
        }
    }

    fn judged(
        id: impl Into<String>,
        paper: impl Into<String>,
        ours: Option<Estimate>,
        verdict: impl FnOnce(Estimate) -> Verdict,
    ) -> Statement {
        Statement {
            id: id.into(),
            paper: paper.into(),
            ours: ours.map(|ours| ours.value),
            ci95: ours.and_then(|ours| ours.ci95),
            interval: ours.filter(|ours| ours.sides.is_some()).map(Estimate::ends),
            ratio: None,
            verdict: ours.map_or(Verdict::Differs, verdict),
            stated: true,
            note: ours.map_or("no runs, or a ratio to 0".into(), |ours| {
                let missed = if ours.missed { ", precision target missed" } else { "" };
                let median = if ours.sides.is_some() { "median of " } else { "" };
                format!("{median}{} runs{missed}", ours.runs)
            }),
        }
    }

    /// A stated value.
    pub fn value(id: impl Into<String>, paper: f64, ours: Option<Estimate>) -> Statement {
        let verdict = |ours: Estimate| within(paper, ours);
        let mut statement = Statement::judged(id, paper.to_string(), ours, verdict);
        statement.ratio = ours.map(|ours| ours.value / paper);
        statement
    }

    /// A stated ratio.
    pub fn ratio(id: impl Into<String>, paper: f64, ours: Option<Estimate>) -> Statement {
        let mut statement = Statement::value(id, paper, ours);
        let close = |ours: Estimate| (paper - ours.value).abs() <= CLOSE * ours.value.abs();
        if ours.is_some_and(close) {
            statement.verdict = statement.verdict.min(Verdict::Tolerance);
        }
        statement
    }

    /// A stated range.
    pub fn between(
        id: impl Into<String>,
        (low, high): (f64, f64),
        ours: Option<Estimate>,
    ) -> Statement {
        let verdict = |ours: Estimate| {
            let inside = Verdict::of((low..=high).contains(&ours.value));
            inside.min(within(low, ours)).min(within(high, ours))
        };
        let mut statement = Statement::judged(id, format!("{low} to {high}"), ours, verdict);
        statement.ratio = ours.map(|ours| ours.value / low.midpoint(high));
        statement
    }

    /// A stated upper bound; a `tolerance` of it is the papers' own precision if none is given.
    pub fn at_most(
        id: impl Into<String>,
        bound: f64,
        tolerance: Option<f64>,
        ours: Option<Estimate>,
    ) -> Statement {
        let widened = tolerance.unwrap_or(PAPERS_OWN) * bound.abs();
        let verdict = |ours: Estimate| {
            let above = ours.ends()[0] - bound;
            Verdict::graded(above <= 0.0, above <= widened)
        };
        let mut statement = Statement::judged(id, format!("at most {bound}"), ours, verdict);
        statement.ratio = ours.map(|ours| ours.value / bound);
        statement
    }

    /// Two things that are close: `ours` is their ratio.
    pub fn close(
        id: impl Into<String>,
        claim: impl Into<String>,
        ours: Option<Estimate>,
    ) -> Statement {
        let verdict = |ours: Estimate| {
            let apart = (ours.value - 1.0).abs();
            Verdict::graded(ours.outside(1.0) <= 0.0, apart <= CLOSE)
        };
        let mut statement = Statement::judged(id, claim, ours, verdict);
        statement.ratio = ours.map(|ours| ours.value);
        statement
    }

    /// One thing below another: `ours` is their paired difference, `ratio` their ratio.
    pub fn below(
        id: impl Into<String>,
        claim: impl Into<String>,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
    ) -> Statement {
        Statement::order(id, claim, ours, ratio, |_, high| high < 0.0)
    }

    /// One thing above another: `ours` is their paired difference, `ratio` their ratio.
    pub fn above(
        id: impl Into<String>,
        claim: impl Into<String>,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
    ) -> Statement {
        Statement::order(id, claim, ours, ratio, |low, _| low > 0.0)
    }

    /// An order, which `shows` judges by the ends of the interval of the difference.
    fn order(
        id: impl Into<String>,
        claim: impl Into<String>,
        ours: Option<Estimate>,
        ratio: Option<Estimate>,
        shows: impl FnOnce(f64, f64) -> bool,
    ) -> Statement {
        // With too few runs for an interval nothing is shown.
        let verdict = |ours: Estimate| {
            let [low, high] = ours.ends();
            Verdict::of(ours.ci95.is_some() && shows(low, high))
        };
        let mut statement = Statement::judged(id, claim, ours, verdict);
        statement.ratio = ratio.map(|ratio| ratio.value);
        statement
    }
}

/// Whether a stated value lies within our interval, or so once it is widened by the paper's own
/// precision.
fn within(paper: f64, ours: Estimate) -> Verdict {
    let outside = ours.outside(paper);
    Verdict::graded(outside <= 0.0, outside <= PAPERS_OWN * paper.abs())
}

/// A number in full; nothing where there is none.
pub(super) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Writes statements as CSV.
///
/// # Errors
/// If the writer fails.
pub fn write_statements(all: &[Statement], out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["id", "paper", "ours", "ci95", "ratio", "verdict", "stated", "note"])?;
    for one in all {
        let numbers = [one.ours, one.ci95, one.ratio].map(number);
        let [ours, ci95, ratio] = &numbers;
        let verdict = one.verdict.word();
        let line = [&one.id, &one.paper, ours, ci95, ratio, verdict, one.source(), &one.note];
        writer.write_record(line)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_at_their_edges() {
        use Verdict::{Differs, Holds, Tolerance};
        let with = |value, ci95| Some(Estimate { value, ci95, sides: None, runs: 9, missed: true });
        let ours = |value: f64, ci95: f64| with(value, Some(ci95));
        let none = with(-1.0, None);
        let note = Statement::value("v", 1.0, none).note("what it is").note;
        assert_eq!(note, "what it is; 9 runs, precision target missed");
        let is = |one: Statement| one.verdict;
        // 100 stated: our interval reaches 100, or 95, from below.
        assert_eq!(is(Statement::value("v", 100.0, ours(90.0, 10.0))), Holds);
        assert_eq!(is(Statement::value("v", 100.0, ours(90.0, 5.0))), Tolerance);
        assert_eq!(is(Statement::value("v", 100.0, ours(90.0, 4.9))), Differs);
        // A ratio within 10 % of ours.
        assert_eq!(is(Statement::ratio("r", 0.549, ours(0.5, 0.0))), Tolerance);
        assert_eq!(is(Statement::ratio("r", 0.551, ours(0.5, 0.0))), Differs);
        assert_eq!(is(Statement::ratio("r", 0.551, ours(0.5, 0.06))), Holds);
        assert_eq!(is(Statement::value("v", 0.55, ours(0.5, 0.0))), Differs);
        let at_most = |value, ci95| is(Statement::at_most("b", 0.36, None, ours(value, ci95)));
        assert_eq!([at_most(0.1, 0.0), at_most(0.369, 0.01)], [Holds; 2]);
        assert_eq!([at_most(0.377, 0.0), at_most(0.38, 0.001)], [Tolerance, Differs]);
        assert_eq!(is(Statement::at_most("b", 1.0, Some(0.1), ours(1.06, 0.01))), Tolerance);
        assert_eq!(is(Statement::at_most("b", 1.0, Some(0.1), ours(1.12, 0.01))), Differs);
        let between = |value| is(Statement::between("w", (0.47, 0.49), ours(value, 0.0)));
        assert_eq!([between(0.48), between(0.50), between(0.52)], [Holds, Tolerance, Differs]);
        let close = |value, ci95| is(Statement::close("c", "", ours(value, ci95)));
        assert_eq!(
            [close(1.09, 0.5), close(1.09, 0.01), close(0.89, 0.01)],
            [Holds, Tolerance, Differs]
        );
        assert_eq!(is(Statement::below("o", "", ours(-1.0, 0.9), None)), Holds);
        assert_eq!(is(Statement::below("o", "", ours(-1.0, 1.0), None)), Differs);
        assert_eq!(is(Statement::below("o", "", none, None)), Differs);
        assert_eq!(is(Statement::above("o", "", ours(1.0, 0.9), None)), Holds);
        assert_eq!(is(Statement::above("o", "", None, None)), Differs);
    }
}
