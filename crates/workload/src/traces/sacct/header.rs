//! The header line, which determines the column that each cell belongs to.
//!
//! The delimiter is the text between the first two column names. Cells may be in double quotes
//! (CSV), except in `sacct`'s own format, which has bars and an unquoted header. Text that users
//! write, such as job names, may contain delimiters, because `sacct` does not escape them. Extra
//! cells on a line are therefore attributed to the unused columns. Columns before the first unused
//! one are counted from the start of the line, and columns after the last unused one are counted
//! from the end.

use std::io::BufRead;
use std::ops::Range;

use super::cells as grammar;
use crate::traces::error::quoted;
use crate::traces::text::{Lines, MOST_IN_FRONT};
use crate::traces::{LineError, ReadError};

/// A column that Pavior uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    JobId,
    JobIdRaw,
    Submit,
    Start,
    End,
    Elapsed,
    ElapsedRaw,
    Timelimit,
    TimelimitRaw,
    AllocNodes,
    NNodes,
    ReqNodes,
    State,
    Uid,
    User,
    Gid,
    Group,
    Account,
    Qos,
    Partition,
    AllocCpus,
    NCpus,
    ReqCpus,
    Cluster,
}

const COLUMNS: [(Column, &str); 24] = [
    (Column::JobId, "JobID"),
    (Column::JobIdRaw, "JobIDRaw"),
    (Column::Submit, "Submit"),
    (Column::Start, "Start"),
    (Column::End, "End"),
    (Column::Elapsed, "Elapsed"),
    (Column::ElapsedRaw, "ElapsedRaw"),
    (Column::Timelimit, "Timelimit"),
    (Column::TimelimitRaw, "TimelimitRaw"),
    (Column::AllocNodes, "AllocNodes"),
    (Column::NNodes, "NNodes"),
    (Column::ReqNodes, "ReqNodes"),
    (Column::State, "State"),
    (Column::Uid, "UID"),
    (Column::User, "User"),
    (Column::Gid, "GID"),
    (Column::Group, "Group"),
    (Column::Account, "Account"),
    (Column::Qos, "QOS"),
    (Column::Partition, "Partition"),
    (Column::AllocCpus, "AllocCPUS"),
    (Column::NCpus, "NCPUS"),
    (Column::ReqCpus, "ReqCPUS"),
    (Column::Cluster, "Cluster"),
];

/// Columns whose cells may contain delimiters. A cell is used only if it is unambiguous.
const TEXTS: [&str; 2] = ["SubmitLine", "NodeList"];
pub(super) const SUBMIT_LINE: usize = 0;
pub(super) const NODE_LIST: usize = 1;

/// The columns for node counts and for processor counts, each in order of preference.
pub(super) const NODES: [Column; 3] = [Column::AllocNodes, Column::NNodes, Column::ReqNodes];
pub(super) const CPUS: [Column; 3] = [Column::AllocCpus, Column::NCpus, Column::ReqCpus];

/// The command to recommend to users.
const ASK: &str = "sacct -a -X --parsable2 \
                   --format=JobID,User,Submit,Start,End,Elapsed,Timelimit,NNodes,State";

impl Column {
    pub(super) fn name(self) -> &'static str {
        COLUMNS[self as usize].1
    }

    /// Returns a description of valid cells in the column.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Column::JobId | Column::JobIdRaw => "71, 71_4, 71+0 or 71.batch",
            Column::Submit | Column::Start | Column::End => {
                "2026-01-02T03:04:05, with or without +0100, or seconds since 1970 \
                 (SLURM_TIME_FORMAT=%s)"
            }
            Column::Elapsed => "[days-]hours:minutes:seconds; ElapsedRaw is in seconds",
            Column::Timelimit => "[days-]hours:minutes:seconds; TimelimitRaw is in minutes",
            _ if NODES.contains(&self) || CPUS.contains(&self) => "a count such as 4 or 1K",
            Column::State => "an uppercase word such as COMPLETED",
            _ => "a whole number",
        }
    }
}

/// Returns true if a line is a header with a job id column.
pub(super) fn names_jobs(line: &[u8]) -> bool {
    let layout = Layout::of(line);
    !layout.delimiter.is_empty() && (layout.has(Column::JobId) || layout.has(Column::JobIdRaw))
}

/// Returns true if a line is the header of a table aligned with spaces.
pub(super) fn is_aligned(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_id = |word: &[u8]| {
        ["jobid", "jobidraw"].iter().any(|id| word.eq_ignore_ascii_case(id.as_bytes()))
    };
    !line.contains(&b'|') && !line.contains(&b'\t') && words.any(is_id) && words.next().is_some()
}

/// The columns in a log.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) line: Vec<u8>,
    pub(super) delimiter: Vec<u8>,
    /// True if cells may be in double quotes.
    has_quotes: bool,
    /// The number of lines before the header.
    pub(super) in_front: u64,
    /// True if the first column contains job ids.
    first_is_id: bool,
    /// The index of each column, in [`COLUMNS`] order.
    places: [Option<usize>; COLUMNS.len()],
    columns: usize,
    /// The first and the last unused column. Unused columns may contain any text.
    free: Option<(usize, usize)>,
    /// The indices of the [`TEXTS`] columns.
    texts: [Option<usize>; TEXTS.len()],
}

impl Layout {
    /// Reads the layout from the first line that has a job id column, skipping earlier lines such
    /// as warnings. Returns `None` if all lines are blank.
    pub(super) fn read(lines: &mut Lines<impl BufRead>) -> Result<Option<Layout>, ReadError> {
        let (mut first, mut in_front) = (None, 0);
        while in_front < MOST_IN_FRONT && lines.advance()? {
            if lines.line().trim_ascii().is_empty() {
                continue;
            }
            let layout = Layout { in_front, ..Layout::of(lines.line()) };
            let fault = |reason| LineError::new(lines.number, lines.line(), 0..1, reason);
            if names_jobs(lines.line()) {
                return match layout.lacks() {
                    None => Ok(Some(layout)),
                    Some(reason) => Err(fault(reason).into()),
                };
            }
            if is_aligned(lines.line()) {
                let reason = format!(
                    "sacct aligned this table with spaces and truncated its cells. Rerun it with \
                     --parsable2: {ASK}"
                );
                return Err(fault(reason).into());
            }
            if first.is_none() {
                first = Some(fault(layout.lacks().unwrap_or_default()));
            }
            in_front += 1;
        }
        first.map_or(Ok(None), |fault| Err(fault.into()))
    }

    fn of(line: &[u8]) -> Layout {
        let (mut places, mut free, mut texts) = ([None; COLUMNS.len()], None, [None; TEXTS.len()]);
        let delimiter = delimiter(line).to_vec();
        let has_quotes = delimiter != b"|" || line.trim_ascii_start().starts_with(b"\"");
        let mut columns = 0;
        for (index, at) in Cells::new(line, &delimiter, has_quotes).enumerate() {
            let name = line[at].trim_ascii();
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if let Some((column, _)) = COLUMNS.iter().find(|(_, known)| is(known)) {
                places[*column as usize].get_or_insert(index);
            } else if !name.is_empty() {
                free = Some((free.map_or(index, |(first, _)| first), index));
            }
            if let Some(text) = TEXTS.iter().position(|text| is(text)) {
                texts[text].get_or_insert(index);
            }
            columns = index + 1;
        }
        let ids = [Column::JobId, Column::JobIdRaw].map(|column| places[column as usize]);
        let first_is_id = ids.contains(&Some(0));
        let (line, in_front) = (line.to_vec(), 0);
        Layout { line, delimiter, has_quotes, in_front, first_is_id, places, columns, free, texts }
    }

    pub(super) fn cells<'l>(&'l self, line: &'l [u8]) -> Cells<'l> {
        Cells::new(line, &self.delimiter, self.has_quotes)
    }

    /// Returns the cell count of a row after another line has been added to the row.
    pub(super) fn count(&self, so_far: Count, line: &[u8]) -> Count {
        let mut cells = Cells { is_open: so_far.is_open, ..self.cells(line) };
        let mut count = Count { cells: so_far.cells.saturating_sub(1), is_open: false };
        // Unless rows start with ids, a quote that is not closed is treated as text.
        while !count.is_open && cells.next().is_some() {
            count.cells += 1;
            count.is_open = cells.is_open && self.first_is_id;
        }
        count
    }

    /// Returns true if there are unused columns. Their cells may contain line breaks.
    pub(super) fn has_texts(&self) -> bool {
        self.free.is_some()
    }

    /// Returns true if a line continues the row, given the number of cells read so far.
    pub(super) fn continues(&self, so_far: Count, line: &[u8]) -> bool {
        if line == self.line {
            return false;
        }
        let is_short = so_far.cells < self.columns || so_far.is_open;
        if !self.first_is_id {
            return is_short;
        }
        let mut cells_of_line = self.cells(line);
        let first = cells_of_line.next().unwrap_or(0..0);
        let begins_job = cells_of_line.next().is_some() && grammar::id(&line[first]).is_some();
        let ends_in_text = self.free.is_some_and(|(_, last)| last + 1 == self.columns);
        !begins_job && (is_short || ends_in_text)
    }

    fn has(&self, column: Column) -> bool {
        self.places[column as usize].is_some()
    }

    /// Returns an error message if a required column is missing. The message recommends a `sacct`
    /// command.
    fn lacks(&self) -> Option<String> {
        let any = |columns: &[Column]| columns.iter().any(|&column| self.has(column));
        let runs = any(&[Column::Elapsed, Column::ElapsedRaw])
            || self.has(Column::Start) && self.has(Column::End);
        let missing = if !any(&[Column::JobId, Column::JobIdRaw]) {
            let first = quoted(self.line.split(|&byte| byte == b'|').next().unwrap_or_default());
            return Some(format!(
                "expected a sacct header with a JobID column, but the first line begins with \
                 {first}; rerun sacct without --noheader: {ASK}"
            ));
        } else if !any(&[Column::Submit]) {
            "Submit"
        } else if !any(&[Column::State]) {
            "State"
        } else if !any(&NODES) && !any(&CPUS) {
            "NNodes"
        } else if !runs {
            "Elapsed"
        } else {
            return None;
        };
        Some(format!("no {missing} column found; request it with: {ASK}"))
    }

    /// Returns true if the log has node counts.
    pub(super) fn has_nodes(&self) -> bool {
        NODES.iter().any(|&column| self.has(column))
    }

    /// Checks that a line with the given number of cells is unambiguous.
    pub(super) fn check(&self, cells: usize) -> Result<(), String> {
        let columns = self.columns;
        if cells < columns {
            let text = if self.has_texts() {
                ". A cell may contain a line break; omit text columns such as JobName, Comment and \
                 SubmitLine"
            } else {
                ""
            };
            return Err(format!(
                "expected {columns} cells, as in the header, but found {cells}{text}"
            ));
        }
        let clear = |place: &Option<usize>| {
            place.is_none_or(|index| self.shifted(index, cells - columns).is_some())
        };
        if self.places.iter().all(clear) {
            return Ok(());
        }
        Err(format!(
            "expected {columns} cells, as in the header, but found {cells}. {} within a cell looks \
             like a column separator; omit text columns such as JobName",
            if self.delimiter == b"|" { "A bar".to_string() } else { quoted(&self.delimiter) }
        ))
    }

    /// Returns the index of a column's cell on a line with the given number of cells.
    pub(super) fn index(&self, column: Column, cells: usize) -> Option<usize> {
        self.shifted(self.places[column as usize]?, cells.saturating_sub(self.columns))
    }

    /// Returns the cells that belong to one of the [`TEXTS`] columns on a line with the given
    /// number of cells. Returns `None` if the log lacks the column, or if the column's cells cannot
    /// be distinguished from those in other free-text columns.
    pub(super) fn text(&self, text: usize, cells: usize) -> Option<Range<usize>> {
        let (index, bars) = (self.texts[text]?, cells.saturating_sub(self.columns));
        let is_alone = self.free == Some((index, index));
        (bars == 0 || is_alone).then_some(index..index + bars + 1)
    }

    /// Returns the index of a column's cell when unused columns contain `bars` extra delimiters.
    fn shifted(&self, index: usize, bars: usize) -> Option<usize> {
        match self.free {
            _ if bars == 0 => Some(index),
            Some((first, _)) if index < first => Some(index),
            Some((_, last)) if index > last => Some(index + bars),
            _ => None,
        }
    }
}

/// Returns the delimiter in a header: the text after the first column name and its quotes. The
/// delimiter is empty if there is only one name or if the names are separated by spaces.
fn delimiter(line: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric();
    let start = line.iter().position(is_name).unwrap_or(line.len());
    let rest = &line[start..];
    let rest = &rest[rest.iter().take_while(|byte| is_name(byte)).count()..];
    let mut delimiter = &rest[..rest.iter().take_while(|byte| !is_name(byte)).count()];
    if line[..start].ends_with(b"\"") {
        delimiter = delimiter.strip_prefix(b"\"").unwrap_or(delimiter);
        delimiter = delimiter.strip_suffix(b"\"").unwrap_or(delimiter);
    }
    if delimiter.iter().all(|&byte| byte == b' ') { &[] } else { delimiter }
}

/// The number of cells read so far in a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    cells: usize,
    /// True if the last cell has an unclosed quote.
    is_open: bool,
}

/// The positions of the cells on a line, without quotes.
pub(super) struct Cells<'l> {
    line: &'l [u8],
    delimiter: &'l [u8],
    has_quotes: bool,
    next: Option<usize>,
    /// True inside an unclosed quote.
    is_open: bool,
}

impl<'l> Cells<'l> {
    fn new(line: &'l [u8], delimiter: &'l [u8], has_quotes: bool) -> Cells<'l> {
        Cells { line, delimiter, has_quotes, next: Some(0), is_open: false }
    }

    /// Finds a closing quote, which must be followed by a delimiter or the end of the line.
    fn closing(&self, mut at: usize) -> Option<usize> {
        while at < self.line.len() {
            if self.line[at] == b'"' {
                let rest = &self.line[at + 1..];
                if rest.is_empty() || rest.starts_with(self.delimiter) {
                    return Some(at);
                }
                // Two consecutive quotes represent one quote in the text.
                at += usize::from(rest[0] == b'"');
            }
            at += 1;
        }
        None
    }
}

impl Iterator for Cells<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (start, width) = (self.next?, self.delimiter.len());
        let is_quoted = self.has_quotes && self.line[start..].starts_with(b"\"");
        if width > 0 && (self.is_open && start == 0 || is_quoted) {
            let text = start + usize::from(!self.is_open);
            if let Some(end) = self.closing(text) {
                self.is_open = false;
                self.next = (end + 1 < self.line.len()).then_some(end + 1 + width);
                return Some(text..end);
            }
            // If there is no closing quote, all quotes on the line are treated as text.
            (self.is_open, self.has_quotes) = (true, false);
        }
        let mut windows = self.line[start..].windows(width.max(1));
        let end = windows.position(|part| part == self.delimiter).map(|at| start + at);
        self.next = end.map(|end| end + width);
        Some(start..end.unwrap_or(self.line.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_the_order_of_the_list() {
        for (index, (column, _)) in COLUMNS.iter().enumerate() {
            assert_eq!(*column as usize, index);
        }
    }

    #[test]
    fn bars_belong_to_the_free_texts() {
        let one = Layout::of(b"JobID|JobName|State");
        assert_eq!(one.index(Column::State, 3), Some(2));
        assert_eq!(one.index(Column::State, 5), Some(4));
        assert!(one.check(5).is_ok() && one.check(2).is_err());
        let two = Layout::of(b"JobID|JobName|State|Comment");
        assert!(two.check(4).is_ok() && two.check(5).is_err());
        assert!(Layout::of(b"JobID|State").check(3).is_err());
    }

    #[test]
    fn the_delimiter_is_behind_the_first_name() {
        for (header, expected) in [
            ("JobID|State", "|"),
            ("JobID,State", ","),
            ("JobID\tState", "\t"),
            ("JobID@@State", "@@"),
            ("JobID;State;", ";"),
            ("JobID State", ""),
            ("       JobID    State ", ""),
            ("JobID", ""),
            ("\"JobID\",\"State\"", ","),
        ] {
            assert_eq!(delimiter(header.as_bytes()), expected.as_bytes(), "{header}");
        }
        for (line, delimiter, expected) in [
            ("a@@@@b", "@@", "a  b"),
            ("\"a,b\",c,\"d\"", ",", "a,b c d"),
            ("\"a\"\",\",\"\"", ",", "a\"\", "),
            ("\"a,\"b\",", ",", "a,\"b "),
            ("\"a,\"b", ",", "\"a \"b"),
        ] {
            let cells = Cells::new(line.as_bytes(), delimiter.as_bytes(), true);
            let found: Vec<_> = cells.map(|at| &line[at]).collect();
            assert_eq!(found.join(" "), expected, "{line}");
        }
        assert!(is_aligned(b"       JobID    JobName ") && !is_aligned(b"JobID"));
    }
}
