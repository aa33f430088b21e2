//! The header: the columns of the log, and the assignment of the cells of a line to them.
//!
//! `sacct` does not escape bars in texts of users, such as names of jobs. If a line has too many
//! cells, the extra ones belong to the only column of such texts, or are between the first and the
//! last of them. Columns before and after are counted from the two ends of the line.

use std::io::BufRead;
use std::ops::Range;

use crate::traces::error::quoted;
use crate::traces::text::Lines;
use crate::traces::{LineError, ReadError};

/// A column that is read.
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
}

/// Each column with its name.
const COLUMNS: [(Column, &str); 20] = [
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
];

/// Columns of texts that may contain a bar.
const FREE: [&str; 14] = [
    "AdminComment",
    "Comment",
    "Constraints",
    "Container",
    "Extra",
    "JobName",
    "Licenses",
    "StdErr",
    "StdIn",
    "StdOut",
    "SubmitLine",
    "SystemComment",
    "WCKey",
    "WorkDir",
];

/// The recommended command.
const ASK: &str = "sacct -a -X --parsable2 \
                   --format=JobID,User,Submit,Start,End,Elapsed,Timelimit,NNodes,State";

impl Column {
    pub(super) fn name(self) -> &'static str {
        COLUMNS[self as usize].1
    }

    /// Returns a description of its valid cells.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Column::JobId | Column::JobIdRaw => "71, 71_4, 71+0, 71.batch",
            Column::Submit | Column::Start | Column::End => {
                "2026-01-02T03:04:05, or seconds since 1970 (SLURM_TIME_FORMAT=%s)"
            }
            Column::Elapsed | Column::Timelimit => "[days-]hours:minutes:seconds",
            Column::AllocNodes | Column::NNodes | Column::ReqNodes => "a count such as 4 or 1K",
            Column::State => "a word in capitals such as COMPLETED",
            _ => "a whole number",
        }
    }
}

/// Returns true if a header has a column of job ids.
pub(super) fn names_jobs(line: &[u8]) -> bool {
    let layout = Layout::of(line);
    layout.has(Column::JobId) || layout.has(Column::JobIdRaw)
}

/// The columns of a log.
#[derive(Debug)]
pub(super) struct Layout {
    /// The header's line.
    pub(super) line: Vec<u8>,
    /// The position of each column that is read, in the order of [`COLUMNS`].
    places: [Option<usize>; COLUMNS.len()],
    columns: usize,
    /// The first and the last column of free texts.
    free: Option<(usize, usize)>,
    /// The column `SubmitLine`, which is one of them.
    submit_line: Option<usize>,
}

impl Layout {
    /// Reads the layout from the first line that is not blank, or returns `None` if there is none.
    pub(super) fn read(lines: &mut Lines<impl BufRead>) -> Result<Option<Layout>, ReadError> {
        while lines.advance()? {
            if lines.line().trim_ascii().is_empty() {
                continue;
            }
            let layout = Layout::of(lines.line());
            let fault = |reason| LineError::new(lines.number, lines.line(), 0..1, reason);
            return match layout.lacks() {
                None => Ok(Some(layout)),
                Some(reason) => Err(fault(reason).into()),
            };
        }
        Ok(None)
    }

    fn of(line: &[u8]) -> Layout {
        let (mut places, mut free, mut submit_line) = ([None; COLUMNS.len()], None, None);
        let names = line.split(|&byte| byte == b'|').map(<[u8]>::trim_ascii);
        let mut columns = 0;
        for (index, name) in names.enumerate() {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if let Some((column, _)) = COLUMNS.iter().find(|(_, known)| is(known)) {
                places[*column as usize].get_or_insert(index);
            }
            if FREE.into_iter().any(is) {
                free = Some((free.map_or(index, |(first, _)| first), index));
            }
            if is("SubmitLine") {
                submit_line.get_or_insert(index);
            }
            columns = index + 1;
        }
        Layout { line: line.to_vec(), places, columns, free, submit_line }
    }

    fn has(&self, column: Column) -> bool {
        self.places[column as usize].is_some()
    }

    /// Returns a message about a missing column and the recommended command.
    fn lacks(&self) -> Option<String> {
        let any = |columns: &[Column]| columns.iter().any(|&column| self.has(column));
        let runs = any(&[Column::Elapsed, Column::ElapsedRaw])
            || self.has(Column::Start) && self.has(Column::End);
        let missing = if !any(&[Column::JobId, Column::JobIdRaw]) {
            let first = self.line.split(|&byte| byte == b'|').next().unwrap_or_default();
            let first = quoted(first);
            return Some(format!(
                "no header of sacct, which names JobID: it begins with {first}. Print it without \
                 --noheader: {ASK}"
            ));
        } else if !any(&[Column::Submit]) {
            "Submit"
        } else if !any(&[Column::State]) {
            "State"
        } else if !any(&[Column::AllocNodes, Column::NNodes, Column::ReqNodes]) {
            "NNodes"
        } else if !runs {
            "Elapsed"
        } else {
            return None;
        };
        Some(format!("there is no column {missing}. Ask for it: {ASK}"))
    }

    /// Checks that a line with this number of cells can be read.
    pub(super) fn check(&self, cells: usize) -> Result<(), String> {
        let columns = self.columns;
        if cells < columns {
            return Err(format!("{cells} cells; the header has {columns} columns"));
        }
        let clear = |place: &Option<usize>| {
            place.is_none_or(|index| self.shifted(index, cells - columns).is_some())
        };
        if self.places.iter().all(clear) {
            return Ok(());
        }
        Err(format!(
            "{cells} cells; the header has {columns} columns. A bar in a text cannot be told from \
             one between columns: leave columns of texts out, such as JobName"
        ))
    }

    /// Returns the cell of a column in a line with this number of cells.
    pub(super) fn index(&self, column: Column, cells: usize) -> Option<usize> {
        self.shifted(self.places[column as usize]?, cells.saturating_sub(self.columns))
    }

    /// Returns the cells of `SubmitLine` in a line with this number of cells, or `None` if there is
    /// no such column or its cells cannot be told from those of other free texts.
    pub(super) fn submit_line(&self, cells: usize) -> Option<Range<usize>> {
        let (index, bars) = (self.submit_line?, cells.saturating_sub(self.columns));
        let is_alone = self.free == Some((index, index));
        (bars == 0 || is_alone).then_some(index..index + bars + 1)
    }

    /// Returns the cell of the column at a position if free texts contain this number of bars.
    fn shifted(&self, index: usize, bars: usize) -> Option<usize> {
        match self.free {
            _ if bars == 0 => Some(index),
            Some((first, _)) if index < first => Some(index),
            Some((_, last)) if index > last => Some(index + bars),
            _ => None,
        }
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
}
