//! Output of results: tables for humans, and JSON and CSV for programs.
//!
//! All output passes through `harmless` or `pavior::text::cell`, so job and file names are always
//! escaped when they reach a terminal.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use console::{Alignment, measure_text_width, pad_str};
use pavior::{Grid, Sides};
use serde_json::Value;

use crate::failure::Failure;
use crate::harmless;

/// The maximum width of tables and sentences in answers and advice, even on wide terminals.
pub(crate) const MAX_WIDTH: usize = 80;

/// The minimum width of a truncated last column.
const MIN_COLUMN_WIDTH: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns.
    Table,
    /// JSON.
    Json,
    /// Comma-separated values.
    Csv,
}

impl Format {
    /// Returns the default format: a table on a terminal and JSON otherwise.
    pub(crate) fn default_here() -> Format {
        if io::stdout().is_terminal() { Format::Table } else { Format::Json }
    }
}

/// Returns the width of the terminal in columns, or 100 if standard output is not a terminal.
pub(crate) fn width() -> usize {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| usize::from(columns))
}

/// Prints a sentence, wrapped between words to the given width.
pub(crate) fn text(sentence: &str, width: usize) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let mut line = String::new();
    for word in pavior::text::cell(sentence).split(' ') {
        if !line.is_empty() && measure_text_width(&line) + 1 + measure_text_width(word) > width {
            writeln!(out, "{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    Ok(writeln!(out, "{line}")?)
}

/// Prints lines or a CSV table.
pub(crate) fn plain(text: &str) -> Result<(), Failure> {
    print_escaped(&harmless::lines(text))
}

/// Prints a drawing.
pub(crate) fn xml(text: &str) -> Result<(), Failure> {
    print_escaped(&harmless::xml(text))
}

/// Prints indented JSON.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    json_text(&(serde_json::to_string_pretty(value).map_err(io::Error::from)? + "\n"))
}

/// Prints JSON text.
pub(crate) fn json_text(text: &str) -> Result<(), Failure> {
    print_escaped(&harmless::json(text))
}

/// Prints text that is already escaped.
fn print_escaped(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints rows of a CSV table.
///
/// Hidden characters in cells are escaped. Cells that begin with `=` or a similar character are
/// left unchanged, because such a character may begin a number, and escaping would alter names.
pub(crate) fn csv(header: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(io::stdout().lock());
    let write = |writer: &mut csv::Writer<_>| -> Result<(), csv::Error> {
        writer.write_record(header)?;
        let shown = |row: &Vec<String>| row.iter().map(|cell| pavior::text::cell(cell)).collect();
        rows.iter().try_for_each(|row| writer.write_record::<Vec<String>, _>(shown(row)))?;
        Ok(writer.flush()?)
    };
    write(&mut writer).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => Failure::Other(format!("cannot write CSV: {other:?}")),
    })
}

/// Formats a count with its noun, such as `2 jobs`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Formats the sides of a box, such as `4x2`.
pub(crate) fn sides(grid: &Grid, sides: Sides) -> String {
    sides[..grid.axes()].iter().map(u16::to_string).collect::<Vec<_>>().join("x")
}

/// Formats items one per line, each line beginning with a label.
#[cfg(any(feature = "slurm", feature = "kube"))]
pub(crate) fn labeled(label: &str, items: &[String]) -> String {
    let lines: Vec<String> = items.iter().map(|item| format!("{label}  {item}\n")).collect();
    lines.concat()
}

/// Returns rows as JSON objects. The first `words` columns contain text; all other cells are
/// converted to numbers, booleans or null.
pub(crate) fn objects(columns: &[&str], words: usize, rows: &[Vec<String>]) -> Value {
    let typed = |(column, cell): (usize, &String)| match cell.as_str() {
        text if column < words => Value::from(text),
        "yes" | "no" => (cell == "yes").into(),
        number => serde_json::from_str(number).unwrap_or_default(),
    };
    let object = |row: &Vec<String>| -> Value {
        let cells = row.iter().enumerate().map(typed);
        columns.iter().map(ToString::to_string).zip(cells).collect()
    };
    rows.iter().map(object).collect()
}

/// An answer that can be printed in every format.
pub(crate) struct Reply<'r> {
    pub(crate) json: Value,
    /// The CSV header and rows.
    pub(crate) csv: (&'r [&'r str], Vec<Vec<String>>),
    /// Sentences to print above the tables.
    pub(crate) sentences: Vec<String>,
    pub(crate) tables: Vec<Table>,
}

impl Reply<'_> {
    pub(crate) fn print(&self, format: Format, width: usize) -> Result<(), Failure> {
        match format {
            Format::Json => json(&self.json),
            Format::Csv => csv(self.csv.0, &self.csv.1),
            Format::Table => {
                self.sentences.iter().try_for_each(|sentence| text(sentence, width))?;
                self.tables.iter().try_for_each(|table| table.print(width).map(drop))
            }
        }
    }
}

/// A table of text cells.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// True for numeric columns, which are right-aligned.
    numbers: Vec<bool>,
}

impl Table {
    /// Creates a table whose first `words` columns contain text and whose other columns contain
    /// numbers.
    pub(crate) fn new(header: &[&str], words: usize) -> Table {
        let header: Vec<String> = header.iter().map(ToString::to_string).collect();
        let numbers = (0..header.len()).map(|index| index >= words).collect();
        Table { header, rows: Vec::new(), numbers }
    }

    /// Creates a table of text columns. Returns `None` if there are no rows.
    pub(crate) fn of_words(header: &[&str], rows: &[Vec<String>]) -> Option<Table> {
        let table = Table::new(header, header.len()).with_rows(rows.iter().cloned());
        (!rows.is_empty()).then_some(table)
    }

    pub(crate) fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }

    /// Marks another column as text.
    pub(crate) fn with_words(mut self, column: usize) -> Table {
        self.numbers[column] = false;
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers build the cells for this call")]
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells.iter().map(|cell| pavior::text::cell(cell)).collect());
    }

    fn size(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| &row[column]).chain([&self.header[column]]);
        cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
    }

    /// Returns the width of the table if nothing is truncated.
    pub(crate) fn width(&self) -> usize {
        let wanted: usize = (0..self.header.len()).map(|column| self.size(column) + 2).sum();
        wanted.saturating_sub(2)
    }

    /// Prints as many columns as fit in the width, and returns the number of columns omitted. The
    /// first and the last printed column may be truncated if they contain text.
    pub(crate) fn print(&self, width: usize) -> Result<usize, Failure> {
        let sizes = self.sizes(width);
        let mut out = io::stdout().lock();
        for row in std::iter::once(&self.header).chain(&self.rows) {
            writeln!(out, "{}", self.line(row, &sizes).trim_end())?;
        }
        out.flush()?;
        Ok(self.header.len() - sizes.len())
    }

    /// Returns the width of each printed column.
    fn sizes(&self, width: usize) -> Vec<usize> {
        let (mut sizes, mut used) = (Vec::new(), 0);
        for column in 0..self.header.len() {
            let gap = if column == 0 { 0 } else { 2 };
            // A long name in the first column must not crowd out the columns after it.
            let is_cut =
                column == 0 && !self.numbers[0] && self.header.len() > 1 && self.width() > width;
            let size = if is_cut { self.size(column).min(width / 2) } else { self.size(column) };
            if used + gap + size <= width {
                sizes.push(size);
                used += gap + size;
            } else if !self.numbers[column] && used + gap + MIN_COLUMN_WIDTH <= width {
                sizes.push(width - used - gap);
                used = width;
            } else {
                break;
            }
        }
        sizes
    }

    fn line(&self, row: &[String], sizes: &[usize]) -> String {
        let mut line = String::new();
        for (column, &size) in sizes.iter().enumerate() {
            if column > 0 {
                line += "  ";
            }
            let side = if self.numbers[column] { Alignment::Right } else { Alignment::Left };
            line += &pad_str(&row[column], size, side, Some("…"));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_stay_text_and_counts_are_integers() {
        let rows = ["2008", "yes", "nan"].map(|name| [name, "60", "0.5000", "no", ""]);
        let rows = rows.map(|row| row.map(str::to_string).to_vec());
        let objects = objects(&["log", "jobs", "held", "holds", "leads"], 1, &rows);
        assert_eq!(objects[1]["log"], "yes");
        let last = json!({"log": "nan", "jobs": 60, "held": 0.5, "holds": false, "leads": null});
        assert_eq!((&objects[0]["log"], &objects[2]), (&json!("2008"), &last));
    }

    #[test]
    fn columns_that_do_not_fit_are_truncated_or_dropped() {
        let row = [&"a".repeat(30), "1234", &"b".repeat(30)].map(str::to_string).to_vec();
        let table = Table::new(&["name", "nodes", "meaning"], 1).with_words(2);
        let table = table.with_rows([row.clone()]);
        for (width, sizes) in [
            (69, vec![30, 5, 30]),
            (68, vec![30, 5, 29]),
            (60, vec![30, 5, 21]),
            (40, vec![20, 5]),
            (42, vec![21, 5, 12]),
            (8, vec![4]),
        ] {
            assert_eq!(table.sizes(width), sizes, "{width}");
        }
        assert_eq!(table.line(&row, &[5, 5, 3]), "aaaa…   1234  bb…");
    }
}
