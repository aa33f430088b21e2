//! Formats Markdown tables for pages kept under version control.

use super::{Statement, StatementCount};

/// Formats a table. The columns in the range `words..end` contain numbers.
pub(super) fn table(header: &[String], rows: &[Vec<String>], words: usize, end: usize) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = |column: usize| if (words..end).contains(&column) { "---:|" } else { "---|" };
    let rule: String = (0..header.len()).map(rule).collect();
    let lines: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|{rule}\n{lines}", line(header))
}

/// Formats a table of row counts per statement, then a table of the rows that differ.
pub(super) fn statements(counts: &[StatementCount], all: &[Statement]) -> String {
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(ToString::to_string).collect() };
    let summary: Vec<Vec<String>> = counts
        .iter()
        .map(|one| {
            vec![
                one.id.clone(),
                one.claim.clone(),
                one.verdict().word().to_string(),
                one.in_words(),
            ]
        })
        .collect();
    let mut text =
        table(&words(&["statement", "paper's claim", "verdict", "rows"]), &summary, 4, 4);
    let differ = all.iter().filter(|one| !one.verdict.is_good());
    let rows: Vec<Vec<String>> = differ.map(Statement::cells).collect();
    if !rows.is_empty() {
        text += "\n";
        text += &table(&words(&Statement::COLUMNS), &rows, 2, 4);
    }
    text
}
