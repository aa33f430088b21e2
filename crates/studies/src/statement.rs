//! Statements from papers, and the rules that judge them.

use std::io::Write;

use super::Estimate;
use pavior::experiments::{Median, Summary};

/// The relative precision that the papers claim for their means.
const PAPERS_OWN: f64 = 0.05;
/// The maximum relative difference between values that are considered close.
const CLOSE: f64 = 0.10;

/// A description of the rules, for reports.
pub(super) const RULES: &str = "A stated value holds if it is in our 95% interval. A bound holds \
                                if any value in our interval satisfies it. For tolerance, the \
                                interval is widened by 5% of the stated value, the papers' own \
                                precision. A ratio also holds within tolerance if it is within 10% \
                                of ours. \"Close\" or \"equal\" holds if the interval of the ratio \
                                contains 1, and holds within tolerance if the ratio is within 10% \
                                of 1. An order holds if the interval of the paired difference lies \
                                on the stated side of zero. Counts have no interval and must match \
                                exactly. All other rows differ, and are listed. A statement \
                                differs if any row from the paper differs. Otherwise, the \
                                statement holds; if any of these rows holds only within tolerance, \
                                so does the statement. Rows that we added are counted separately.";

/// The verdict on a paper's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The claim is consistent with our interval.
    Holds,
    /// The claim is consistent with our interval only if the interval is widened by the tolerance.
    Tolerance,
    /// The claim is inconsistent with even our widened interval.
    Differs,
}

impl Verdict {
    /// Returns the verdict's name: `holds`, `tolerance` or `differs`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Tolerance => "tolerance",
            Verdict::Differs => "differs",
        }
    }

    /// Returns true unless the verdict is `Differs`.
    pub fn is_good(self) -> bool {
        self != Verdict::Differs
    }

    /// Returns `Holds` if `holds` is true, else `Tolerance` if `tolerated` is true, else `Differs`.
    fn graded(holds: bool, tolerated: bool) -> Verdict {
        match (holds, tolerated) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Tolerance,
            (false, false) => Verdict::Differs,
        }
    }
}

/// A number or claim from a paper, compared with our number.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The name, for example `T2@3.8`.
    pub id: String,
    /// The paper's number or claim.
    pub paper: String,
    /// Our number, or `None` if the experiment does not provide one.
    pub ours: Option<f64>,
    /// The half-width of the 95% confidence interval. For a median, half the interval's width.
    pub ci95: Option<f64>,
    /// The endpoints of the interval, if our number is a median.
    pub interval: Option<[f64; 2]>,
    /// Our number divided by the paper's number or, for a claim about two values, the ratio of
    /// these values.
    pub ratio: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// True if the statement is from the paper, false if we added it.
    pub stated: bool,
    /// Remarks for the reader, including the number of runs.
    pub note: String,
}

impl Statement {
    /// Returns the statement's origin: `paper` or `ours`.
    pub fn source(&self) -> &'static str {
        if self.stated { "paper" } else { "ours" }
    }

    /// Formats our number and its interval with four digits. Counts are shown in full.
    pub fn number(&self) -> String {
        match (self.ours, self.ci95) {
            (Some(median), _) if self.interval.is_some() => {
                Median { value: median, interval: self.interval }.to_string()
            }
            // A whole number without an interval is a count.
            (Some(whole), None) if whole.fract() == 0.0 => whole.to_string(),
            (mean, ci95) => Summary { mean, ci95 }.to_string(),
        }
    }

    /// The columns of [`Statement::cells`].
    pub(super) const COLUMNS: [&str; 6] = ["id", "paper", "ours", "ratio", "verdict", "note"];

    /// Returns the statement as a table row.
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

    /// Inserts a note before the existing notes.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Statement {
        let notes = [note.into(), std::mem::take(&mut self.note)];
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        self.note = notes.join("; ");
        self
    }

    /// Creates a statement about a number that was counted or computed and has no random error.
    pub(super) fn counted(
        id: impl Into<String>,
        paper: impl Into<String>,
        ours: Option<f64>,
        holds: bool,
    ) -> Statement {
        Statement {
            id: id.into(),
            paper: paper.into(),
            ours,
            ci95: None,
            interval: None,
            ratio: None,
            verdict: Verdict::graded(holds, holds),
            stated: true,
            note: String::new(),
        }
    }
}

/// A paper's claim about one of our numbers.
#[derive(Clone, Debug)]
pub(super) enum Claim {
    /// Our number has this value.
    Value(f64),
    /// Our ratio has this value.
    Ratio(f64),
    /// Our number is within this range.
    Between(f64, f64),
    /// Our number is at most this bound. The tolerance is given as a fraction of the bound, and
    /// defaults to the papers' own precision.
    AtMost(f64, Option<f64>),
    /// Our number is at least this bound. The tolerance is the same as for [`Claim::AtMost`].
    AtLeast(f64, Option<f64>),
    /// Two values are close. Our number is their ratio.
    Close(String),
    /// One value is below another. Our number is their paired difference.
    Below(String),
    /// One value is above another. Our number is their paired difference.
    Above(String),
}

impl Claim {
    /// Judges our number. The verdict is `Differs` if there is no number. For an order, the caller
    /// must set the ratio, which cannot be derived from the difference.
    pub(super) fn judge(&self, id: impl Into<String>, ours: Option<Estimate>) -> Statement {
        let note = ours.map_or("no runs, or division by 0".into(), |ours| {
            let missed = if ours.missed { ", precision target missed" } else { "" };
            let median = if ours.sides.is_some() { "median of " } else { "" };
            format!("{median}{} runs{missed}", ours.runs)
        });
        Statement {
            id: id.into(),
            paper: self.words(),
            ours: ours.map(|ours| ours.value),
            ci95: ours.and_then(|ours| ours.ci95),
            interval: ours.filter(|ours| ours.sides.is_some()).map(Estimate::ends),
            ratio: ours.and_then(|ours| Some(ours.value / self.whole()?)),
            verdict: ours.map_or(Verdict::Differs, |ours| self.verdict(ours)),
            stated: true,
            note,
        }
    }

    fn words(&self) -> String {
        match self {
            Claim::Value(paper) | Claim::Ratio(paper) => paper.to_string(),
            Claim::Between(low, high) => format!("{low} to {high}"),
            Claim::AtMost(bound, _) => format!("at most {bound}"),
            Claim::AtLeast(bound, _) => format!("at least {bound}"),
            Claim::Close(words) | Claim::Below(words) | Claim::Above(words) => words.clone(),
        }
    }

    /// Returns the paper's number, which is the denominator of the ratio.
    fn whole(&self) -> Option<f64> {
        match self {
            Claim::Value(paper)
            | Claim::Ratio(paper)
            | Claim::AtMost(paper, _)
            | Claim::AtLeast(paper, _) => Some(*paper),
            Claim::Between(low, high) => Some(low.midpoint(*high)),
            Claim::Close(_) => Some(1.0),
            Claim::Below(_) | Claim::Above(_) => None,
        }
    }

    fn verdict(&self, ours: Estimate) -> Verdict {
        let [low, high] = ours.ends();
        let holds = |holds| Verdict::graded(holds, holds);
        match *self {
            Claim::Value(paper) => within(paper, ours),
            Claim::Ratio(paper) => {
                let close = (paper - ours.value).abs() <= CLOSE * ours.value.abs();
                within(paper, ours).min(Verdict::graded(false, close))
            }
            Claim::Between(least, most) => {
                let inside = holds((least..=most).contains(&ours.value));
                inside.min(within(least, ours)).min(within(most, ours))
            }
            Claim::AtMost(bound, tolerance) => {
                let widened = tolerance.unwrap_or(PAPERS_OWN) * bound.abs();
                Verdict::graded(low - bound <= 0.0, low - bound <= widened)
            }
            Claim::AtLeast(bound, tolerance) => {
                let widened = tolerance.unwrap_or(PAPERS_OWN) * bound.abs();
                Verdict::graded(bound - high <= 0.0, bound - high <= widened)
            }
            Claim::Close(_) => {
                let apart = (ours.value - 1.0).abs();
                Verdict::graded(ours.outside(1.0) <= 0.0, apart <= CLOSE)
            }
            // With too few runs for an interval, there is no evidence for an order.
            Claim::Below(_) => holds(ours.ci95.is_some() && high < 0.0),
            Claim::Above(_) => holds(ours.ci95.is_some() && low > 0.0),
        }
    }
}

/// Judges whether a value is within our interval, or within the interval widened by the tolerance.
fn within(paper: f64, ours: Estimate) -> Verdict {
    let outside = ours.outside(paper);
    Verdict::graded(outside <= 0.0, outside <= PAPERS_OWN * paper.abs())
}

/// Formats a number with all its digits, or returns an empty string if it is missing.
pub(super) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Writes statements as CSV.
///
/// # Errors
/// Returns an error if the writer fails.
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
        let none = with(-1.0, None);
        let note = Claim::Value(1.0).judge("v", none).note("what it is").note;
        assert_eq!(note, "what it is; 9 runs, precision target missed");
        let is = |claim: &Claim, value, ci95| claim.judge("", with(value, Some(ci95))).verdict;
        let words = String::new;
        let bound = Claim::AtMost(0.36, None);
        let wide = Claim::AtMost(1.0, Some(0.1));
        let least = Claim::AtLeast(10.0, Some(0.0));
        let range = Claim::Between(0.47, 0.49);
        for (claim, value, ci95, verdict) in [
            // The paper's value is 100 ± 5. In these three cases, our interval ends at 100, 95 and
            // 94.9.
            (&Claim::Value(100.0), 90.0, 10.0, Holds),
            (&Claim::Value(100.0), 90.0, 5.0, Tolerance),
            (&Claim::Value(100.0), 90.0, 4.9, Differs),
            // This ratio differs from ours by less than 10%.
            (&Claim::Ratio(0.549), 0.5, 0.0, Tolerance),
            (&Claim::Ratio(0.551), 0.5, 0.0, Differs),
            (&Claim::Ratio(0.551), 0.5, 0.06, Holds),
            (&Claim::Value(0.55), 0.5, 0.0, Differs),
            (&bound, 0.1, 0.0, Holds),
            (&bound, 0.369, 0.01, Holds),
            (&bound, 0.377, 0.0, Tolerance),
            (&bound, 0.38, 0.001, Differs),
            (&wide, 1.06, 0.01, Tolerance),
            (&wide, 1.12, 0.01, Differs),
            (&least, 10.0, 0.0, Holds),
            (&least, 9.0, 1.0, Holds),
            (&least, 9.9, 0.0, Differs),
            (&Claim::AtLeast(100.0, None), 95.0, 0.0, Tolerance),
            (&range, 0.48, 0.0, Holds),
            (&range, 0.50, 0.0, Tolerance),
            (&range, 0.52, 0.0, Differs),
            (&Claim::Close(words()), 1.09, 0.5, Holds),
            (&Claim::Close(words()), 1.09, 0.01, Tolerance),
            (&Claim::Close(words()), 0.89, 0.01, Differs),
            (&Claim::Below(words()), -1.0, 0.9, Holds),
            (&Claim::Below(words()), -1.0, 1.0, Differs),
            (&Claim::Above(words()), 1.0, 0.9, Holds),
        ] {
            assert_eq!(is(claim, value, ci95), verdict, "{claim:?}: {value} ± {ci95}");
        }
        assert_eq!(Claim::Below(words()).judge("o", none).verdict, Differs);
        assert_eq!(Claim::Above(words()).judge("o", None).verdict, Differs);
    }
}
