//! How many rows of each statement hold.

use super::Statement;
use super::statements::Statements;

/// How many rows of a statement hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementCount {
    /// The statement.
    pub id: String,
    /// What it says.
    pub claim: String,
    /// Rows that hold.
    pub holds: usize,
    /// All rows.
    pub rows: usize,
}

impl StatementCount {
    /// In words: `holds`, `differs`, or how many hold.
    pub fn verdict(&self) -> String {
        match (self.holds, self.rows) {
            (1, 1) => "holds".to_string(),
            (0, 1) => "differs".to_string(),
            (holds, rows) if holds == rows => format!("all {rows} hold"),
            (0, rows) => format!("none of {rows} holds"),
            (holds, rows) => format!("{holds} of {rows} hold"),
        }
    }
}

/// The rows by statement, in the order of the statements.
pub(super) fn counts(statements: &Statements, all: &[Statement]) -> Vec<StatementCount> {
    let of = |id: &str| {
        let mut count =
            StatementCount { id: id.to_string(), claim: String::new(), holds: 0, rows: 0 };
        for one in all.iter().filter(|one| one.id.split('@').next() == Some(id)) {
            count.rows += 1;
            count.holds += usize::from(one.holds);
        }
        count
    };
    let claims = statements.statement.iter();
    let counts = claims.map(|claim| StatementCount { claim: claim.claim.clone(), ..of(&claim.id) });
    counts.filter(|count| count.rows > 0).collect()
}
