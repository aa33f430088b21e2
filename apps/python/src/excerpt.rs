//! Formats values and tables for terminals and notebooks. The values may be untrusted.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use pavior::draw::escape;

/// The maximum number of characters in a cell.
const MAX_CELL: usize = 48;
/// The maximum number of list members in a cell.
const MAX_MEMBERS: usize = 48;
/// The maximum width of a table on a terminal.
const MAX_WIDTH: usize = 110;

/// Formats a number with six significant digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.5e}");
    }
    let places = (5 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Formats a value in a column. Null becomes an empty string.
fn value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    let members = |list: ArrayRef| {
        let all = (0..list.len().min(MAX_MEMBERS)).map(|row| value(&list, row));
        format!("[{}]", all.collect::<Vec<_>>().join(", "))
    };
    match column.data_type() {
        DataType::Float64 => number(column.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_string(),
        DataType::Dictionary(..) => {
            let dictionary = column.as_dictionary::<UInt8Type>();
            let words = dictionary.values().as_string::<i32>();
            dictionary.key(row).map_or(String::new(), |key| words.value(key).to_string())
        }
        DataType::List(_) => members(column.as_list::<i32>().value(row)),
        DataType::FixedSizeList(..) => members(column.as_fixed_size_list().value(row)),
        // Tables do not contain any other types.
        other => format!("({other})"),
    }
}

/// Escapes text and shortens it to fit in a cell, which is a single line.
pub(crate) fn cell(text: &str) -> String {
    let text = pavior::text::cell(text);
    if text.chars().count() <= MAX_CELL {
        return text;
    }
    text.chars().take(MAX_CELL - 1).chain(['…']).collect()
}

/// The first and last rows of a table as text, with headings.
pub(crate) struct Excerpt {
    heads: Vec<String>,
    /// True for each column that contains numbers.
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
    /// The number of rows that precede the omitted ones.
    head: usize,
    /// The total number of rows.
    total: usize,
}

impl Excerpt {
    /// Creates an excerpt with at most `most` rows from the beginning and the end of a table.
    pub(crate) fn of(batch: &RecordBatch, most: usize) -> Excerpt {
        let total = batch.num_rows();
        let (head, tail) = if total <= most { (total, 0) } else { (most - most / 2, most / 2) };
        let shown = (0..head).chain(total - tail..total);
        let row = |row| batch.columns().iter().map(|column| cell(&value(column, row))).collect();
        let schema = batch.schema();
        Excerpt {
            heads: schema.fields().iter().map(|field| cell(field.name())).collect(),
            numeric: schema.fields().iter().map(|field| field.data_type().is_numeric()).collect(),
            rows: shown.map(row).collect(),
            head,
            total,
        }
    }

    /// Creates an excerpt that contains all rows of a table of text.
    pub(crate) fn of_texts(heads: &[&str], numeric: &[bool], rows: Vec<Vec<String>>) -> Excerpt {
        let (head, total) = (rows.len(), rows.len());
        let harmless =
            |row: &Vec<String>| row.iter().map(|text| pavior::text::cell(text)).collect();
        let rows = rows.iter().map(harmless).collect();
        let heads = heads.iter().map(|&head| head.to_string()).collect();
        Excerpt { heads, numeric: numeric.to_vec(), rows, head, total }
    }

    /// Returns the number of rows omitted directly before a row, or `None` if there are none.
    fn omitted_before(&self, row: usize) -> Option<usize> {
        let omitted = self.total - self.rows.len();
        (row == self.head && omitted > 0).then_some(omitted)
    }

    /// Formats the rows for a terminal, and lists the columns that do not fit.
    pub(crate) fn text(&self) -> String {
        let width = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].chars().count());
            cells.chain([self.heads[at].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let ends = widths.iter().scan(0, |end, width| {
            *end += width + 2;
            Some(*end)
        });
        let count = ends.take_while(|&end| end <= MAX_WIDTH).count().max(1).min(widths.len());
        let line = |cells: &[String]| {
            let mut line = String::new();
            for (at, cell) in cells.iter().enumerate().take(count) {
                let pad = " ".repeat(widths[at] - cell.chars().count());
                line += "  ";
                line += &if self.numeric[at] { pad + cell } else { cell.clone() + &pad };
            }
            line.trim_end().to_string()
        };
        let mut lines = vec![line(&self.heads)];
        for (number, row) in self.rows.iter().enumerate() {
            if let Some(omitted) = self.omitted_before(number) {
                lines.push(format!("  … {omitted} more rows"));
            }
            lines.push(line(row));
        }
        let hidden = &self.heads[count..];
        if !hidden.is_empty() {
            lines.push(format!("  … more columns: {}", hidden.join(", ")));
        }
        lines.join("\n")
    }

    /// Formats the rows as an HTML table with a caption.
    pub(crate) fn html(&self, caption: &str) -> String {
        let side = |at: usize| if self.numeric[at] { "right" } else { "left" };
        let cells = |tag: &str, cells: &[String]| {
            let mut row = String::from("<tr>");
            for (at, cell) in cells.iter().enumerate() {
                let (side, text) = (side(at), escape(cell));
                // Writing to a string cannot fail.
                let _ = write!(row, "<{tag} style=\"text-align:{side}\">{text}</{tag}>");
            }
            row + "</tr>"
        };
        let mut body = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            if let Some(omitted) = self.omitted_before(number) {
                let columns = self.heads.len();
                let _ = write!(
                    body,
                    "<tr><td colspan=\"{columns}\" style=\"text-align:left\">… {omitted} more \
                     rows</td></tr>"
                );
            }
            body += &cells("td", row);
        }
        format!(
            "<table><caption style=\"text-align:left\">{}</caption><thead>{}</thead>\
             <tbody>{body}</tbody></table>",
            escape(caption),
            cells("th", &self.heads)
        )
    }
}
