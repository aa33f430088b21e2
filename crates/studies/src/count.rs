//! Verdicts on whole statements, computed from the verdicts on their rows.

use std::io::Write;

use super::statements::Statements;
use super::{Statement, Verdict};

/// A statement and its row counts by verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementCount {
    /// The statement's id.
    pub id: String,
    /// The statement's claim.
    pub claim: String,
    /// The number of rows from the paper, for each verdict in [`Verdict`] order.
    pub stated: [usize; 3],
    /// The number of rows added by us, for each verdict.
    pub ours: [usize; 3],
}

impl StatementCount {
    /// Returns the number of rows from the paper.
    pub fn rows(&self) -> usize {
        self.stated.iter().sum()
    }

    /// Returns the verdict on the statement: `Differs` if it has no rows from the paper or any of
    /// them differs, otherwise `Tolerance` if any of them holds only within tolerance, and
    /// otherwise `Holds`. Rows added by us are ignored.
    pub fn verdict(&self) -> Verdict {
        match self.stated {
            [_, _, differ] if differ > 0 => Verdict::Differs,
            [_, tolerance, _] if tolerance > 0 => Verdict::Tolerance,
            [0, ..] => Verdict::Differs,
            _ => Verdict::Holds,
        }
    }

    /// Summarizes the row counts in words.
    pub fn in_words(&self) -> String {
        let words = |[hold, tolerance, differ]: [usize; 3]| {
            let counts = [(hold, "hold"), (tolerance, "within tolerance"), (differ, "differ")];
            let some = counts.into_iter().filter(|(count, _)| *count > 0);
            some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
        };
        match self.ours.iter().sum::<usize>() {
            0 => words(self.stated),
            _ => format!("{}; rows we added: {}", words(self.stated), words(self.ours)),
        }
    }
}

/// Counts the rows of each statement that has rows, in statement order.
pub(super) fn counts(statements: &Statements, all: &[Statement]) -> Vec<StatementCount> {
    let mut counts = Vec::new();
    for claim in &statements.statement {
        let (mut stated, mut ours) = ([0; 3], [0; 3]);
        for one in all.iter().filter(|one| one.id.split('@').next() == Some(&claim.id)) {
            let rows = if one.stated { &mut stated } else { &mut ours };
            rows[one.verdict as usize] += 1;
        }
        if stated.iter().chain(&ours).any(|rows| *rows > 0) {
            let (id, claim) = (claim.id.clone(), claim.text.clone());
            counts.push(StatementCount { id, claim, stated, ours });
        }
    }
    counts
}

/// Summarizes in words how many statements hold, hold within tolerance, and differ.
pub fn in_words(counts: &[StatementCount]) -> String {
    let of = |verdict| counts.iter().filter(|one| one.verdict() == verdict).count();
    format!(
        "{} of {} statements hold, {} hold within tolerance, {} differ.",
        of(Verdict::Holds),
        counts.len(),
        of(Verdict::Tolerance),
        of(Verdict::Differs)
    )
}

/// Writes one CSV row per statement, counting only the rows from the paper.
///
/// # Errors
/// Returns an error if the writer fails.
pub fn write_summary(counts: &[StatementCount], out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["id", "verdict", "rows", "hold", "tolerance", "differ"])?;
    for one in counts {
        let [hold, tolerance, differ] = one.stated.map(|rows| rows.to_string());
        let rows = one.rows().to_string();
        let line = [&one.id, one.verdict().word(), &rows, &hold, &tolerance, &differ];
        writer.write_record(line)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_as_good_as_its_worst_stated_row() {
        let verdict = |stated, ours| {
            let (id, claim) = (String::new(), String::new());
            StatementCount { id, claim, stated, ours }.verdict()
        };
        assert_eq!(verdict([3, 0, 0], [0, 0, 9]), Verdict::Holds);
        assert_eq!(verdict([3, 1, 0], [0, 0, 0]), Verdict::Tolerance);
        assert_eq!(verdict([3, 1, 1], [0, 0, 0]), Verdict::Differs);
        assert_eq!(verdict([0, 0, 0], [3, 0, 0]), Verdict::Differs);
    }
}
