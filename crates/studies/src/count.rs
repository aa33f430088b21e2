//! The verdict of each statement, from its rows.

use std::io::Write;

use super::statements::Statements;
use super::{Statement, Verdict};

/// A statement with its rows counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementCount {
    /// The statement.
    pub id: String,
    /// What it says.
    pub claim: String,
    /// Rows that the paper states, by verdict: hold, hold within tolerance, differ.
    pub stated: [usize; 3],
    /// Rows that are ours to add, likewise.
    pub ours: [usize; 3],
}

impl StatementCount {
    /// Rows that the paper states.
    pub fn rows(&self) -> usize {
        self.stated.iter().sum()
    }

    /// The statement's own verdict: it differs if a row that the paper states does, and holds
    /// within tolerance if one of them only does so. Rows that are ours count for nothing.
    pub fn verdict(&self) -> Verdict {
        match self.stated {
            [_, _, differ] if differ > 0 => Verdict::Differs,
            [_, tolerance, _] if tolerance > 0 => Verdict::Tolerance,
            [0, ..] => Verdict::Differs,
            _ => Verdict::Holds,
        }
    }

    /// The rows in words.
    pub fn in_words(&self) -> String {
        let words = |[hold, tolerance, differ]: [usize; 3]| {
            let counts = [(hold, "hold"), (tolerance, "within tolerance"), (differ, "differ")];
            let some = counts.into_iter().filter(|(count, _)| *count > 0);
            some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
        };
        match self.ours.iter().sum::<usize>() {
            0 => words(self.stated),
            _ => format!("{}; of ours {}", words(self.stated), words(self.ours)),
        }
    }
}

/// The statements that have rows, in their order.
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

/// How many statements hold, hold within tolerance, and differ, in words.
pub fn in_words(counts: &[StatementCount]) -> String {
    let of = |verdict| counts.iter().filter(|one| one.verdict() == verdict).count();
    format!(
        "Of {} statements {} hold, {} hold within tolerance, {} differ.",
        counts.len(),
        of(Verdict::Holds),
        of(Verdict::Tolerance),
        of(Verdict::Differs)
    )
}

/// Writes a row a statement as CSV; its rows are those that the paper states.
///
/// # Errors
/// If the writer fails.
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
