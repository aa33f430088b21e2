//! The output of Slurm's `sacct --parsable2`: a header, then a line per job, with cells between
//! bars.
//!
//! ```text
//!   JobID|User|Submit|Start|Elapsed|Timelimit|NNodes|State
//!   71|ann|2026-01-02T03:04:05|2026-01-02T03:10:00|01:00:00|02:00:00|4|COMPLETED
//! ```
//!
//! The header names the columns, in any order; other columns are ignored. The required ones are
//! `JobID` or `JobIDRaw`, `Submit`, `State`, a number of nodes (`AllocNodes`, `NNodes`, `ReqNodes`;
//! the first above 0 counts) and a run time (`ElapsedRaw`, `Elapsed`, or `Start` with `End`).
//! `Timelimit` is the estimate. The run time of a job that has not ended, or never ran, is unknown.
//!
//! Steps (`71.batch`) are skipped. Tasks of arrays (`71_4`) and components of heterogeneous jobs
//! (`71+0`) are separate jobs. If an id is on several lines (`sacct -D`), the latest submission
//! counts, as without `-D`. The log's clock begins at its first submission. Names of users, groups,
//! qualities of service and partitions become numbers from 1, in the order in which they appear.
//!
//! `--dependency=after*` in `SubmitLine` names the jobs that a job follows.
//!
//! Source: the manual page of `sacct` (Slurm 25.05), and `convert_num_unit` of its sources for
//! counts such as `1K`. Cost: one pass over the bytes, and an entry per job.

mod cells;
mod dependency;
mod header;

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

use self::cells::{Id, Name, State};
use self::header::{Column, Layout};
use super::error::quoted;
use super::record::{Collector, Draft, LONGEST};
use super::text::Lines;
use super::{Header, LineError, ReadError, ReadOptions, Skip, Tags, Trace};

/// Returns true if a line is the header of such a log.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.contains(&b'|') && header::names_jobs(line)
}

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if the first line is not a header or lacks a required
/// column, if a line breaks the format (unless lenient), or if there are no job lines.
///
/// ```
/// use pavior_workload::traces::{ReadOptions, sacct};
/// let log = "JobID|State|Submit|NNodes|Elapsed|Timelimit\n\
///            71|COMPLETED|2026-01-02T03:04:05|4|00:01:30|1-00:00:00\n\
///            71.batch|COMPLETED|2026-01-02T03:05:00|1|00:01:30|\n";
/// let trace = sacct::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((trace.records.len(), trace.records[0].number, trace.records[0].nodes), (1, 71, 4));
/// assert_eq!(trace.records[0].run.0, 90_000_000);
/// # Ok::<(), pavior_workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(reader);
    let mut jobs = Collector::new(options);
    let Some(layout) = Layout::read(&mut lines)? else {
        return Err(ReadError::NoJobs { lines: lines.number });
    };
    let (mut log, mut names) = (Log::default(), Names::default());
    let (mut malformed, mut bars) = (0, Vec::new());
    let wants_more = |read: u64| options.first.is_none_or(|first| read < first);
    while wants_more(log.drafts.len() as u64 + malformed) && lines.advance()? {
        let line = lines.line();
        // Logs that were concatenated have headers in the middle.
        if line.trim_ascii().is_empty() || line == layout.line {
            continue;
        }
        match Row::new(&layout, line, lines.number, &mut bars).and_then(|row| row.job(&mut names)) {
            Ok(None) => {}
            Ok(Some((id, draft))) => log.push(id, draft),
            Err(fault) => {
                jobs.malformed(lines.number, || fault)?;
                malformed += 1;
            }
        }
    }
    let header = log.offer(&mut jobs, names.local);
    jobs.finish(header, lines.number)
}

/// The job lines of a log.
#[derive(Default)]
struct Log {
    drafts: Vec<Draft>,
    /// True for each of them that a later run of the same job replaces.
    replaced: Vec<bool>,
    latest: HashMap<Id, usize>,
}

impl Log {
    fn push(&mut self, id: Id, draft: Draft) {
        let index = self.drafts.len();
        let mut replaced = false;
        if let Some(known) = self.latest.insert(id, index) {
            if self.drafts[known].submit <= draft.submit {
                self.replaced[known] = true;
            } else {
                self.latest.insert(id, known);
                replaced = true;
            }
        }
        self.drafts.push(draft);
        self.replaced.push(replaced);
    }

    /// Passes the jobs to the collector, with times from the first submission. Returns a header.
    fn offer(self, jobs: &mut Collector<'_>, local: bool) -> Header {
        let submits = self.drafts.iter().map(|draft| draft.submit).filter(|&at| at >= 0.0);
        let begin = submits.fold(f64::INFINITY, f64::min);
        for (draft, replaced) in self.drafts.into_iter().zip(self.replaced) {
            let known = draft.submit >= 0.0;
            let submit = if known { draft.submit - begin } else { draft.submit };
            if replaced {
                jobs.skip(Skip::Requeued, draft.line);
            } else {
                jobs.offer(&Draft { submit, ..draft });
            }
        }
        let mut header = Header::default();
        if begin.is_finite() {
            header.push("UnixStartTime", &format!("{begin:.0}"));
        }
        if local {
            // Dates have no zone: they are in the machine's local time.
            header.push("TimeZone", "0");
        }
        header
    }
}

/// The numbers of names, and the form of dates.
#[derive(Default)]
struct Names {
    numbers: HashMap<Column, HashMap<Vec<u8>, i64>>,
    /// True if dates are written out.
    local: bool,
}

impl Names {
    fn number(&mut self, column: Column, name: &[u8]) -> i64 {
        let known = self.numbers.entry(column).or_default();
        if let Some(&number) = known.get(name) {
            return number;
        }
        let number = known.len() as i64 + 1;
        known.insert(name.to_vec(), number);
        number
    }
}

/// A line, cut at its bars.
struct Row<'l> {
    layout: &'l Layout,
    line: &'l [u8],
    number: u64,
    /// The beginnings and ends of cells: one more than there are cells.
    bars: &'l [usize],
}

/// The value of a cell and its bytes, or `None` if the log lacks the column.
type Found<T> = Option<(T, Range<usize>)>;

impl<'l> Row<'l> {
    fn new(
        layout: &'l Layout,
        line: &'l [u8],
        number: u64,
        bars: &'l mut Vec<usize>,
    ) -> Result<Row<'l>, LineError> {
        bars.clear();
        bars.push(0);
        bars.extend((0..line.len()).filter(|&at| line[at] == b'|').map(|at| at + 1));
        bars.push(line.len() + 1);
        let row = Row { layout, line, number, bars };
        layout.check(row.cells()).map_err(|reason| row.fault(&(line.len()..line.len()), reason))?;
        Ok(row)
    }

    fn cells(&self) -> usize {
        self.bars.len() - 1
    }

    fn fault(&self, at: &Range<usize>, reason: impl AsRef<str>) -> LineError {
        LineError::new(self.number, self.line, at.clone(), reason)
    }

    /// Returns the bytes of the cell of a column, if the log has the column.
    fn place(&self, column: Column) -> Option<Range<usize>> {
        let index = self.layout.index(column, self.cells())?;
        Some(self.bars[index]..self.bars[index + 1] - 1)
    }

    /// Parses a cell with a grammar.
    fn read<T>(
        &self,
        column: Column,
        grammar: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Found<T>, LineError> {
        let Some(at) = self.place(column) else { return Ok(None) };
        let cell = &self.line[at.clone()];
        if let Some(value) = grammar(cell) {
            return Ok(Some((value, at)));
        }
        let (name, wanted) = (column.name(), column.wanted());
        Err(self.fault(&at, format!("{} is no {name}: {wanted}", quoted(cell))))
    }

    /// Returns the value of a cell, or `otherwise` if the log lacks the column.
    fn value<T>(
        &self,
        column: Column,
        grammar: impl Fn(&[u8]) -> Option<T>,
        otherwise: T,
    ) -> Result<T, LineError> {
        Ok(self.read(column, grammar)?.map_or(otherwise, |(value, _)| value))
    }

    /// Reads the job of the line, or returns `None` for a step of one.
    fn job(&self, names: &mut Names) -> Result<Option<(Id, Draft)>, LineError> {
        let raw = self.read(Column::JobIdRaw, cells::id)?.map(|(name, _)| name);
        let Some(name) = self.read(Column::JobId, cells::id)?.map(|(name, _)| name).or(raw) else {
            return Ok(None);
        };
        let (Name::Job(id), raw) = (name, raw) else { return Ok(None) };
        let number = match raw {
            Some(Name::Job(raw)) => raw.number,
            _ => id.number,
        };
        let (submit, is_local) = self.value(Column::Submit, cells::instant, (-1.0, false))?;
        names.local |= is_local;
        if submit > LONGEST {
            let at = self.place(Column::Submit).unwrap_or_default();
            return Err(self.fault(&at, format!("a submission above {LONGEST:e} s")));
        }
        let state = self.value(Column::State, cells::state, State::OVER)?;
        let limit = self.value(Column::TimelimitRaw, cells::minutes, -1.0)?;
        let limit = self.value(Column::Timelimit, cells::limit, limit)?;
        Ok(Some((
            id,
            Draft {
                number: number as f64,
                line: self.number,
                submit,
                run: self.run(state)?.min(LONGEST),
                estimate: limit.min(LONGEST),
                nodes: self.nodes()?,
                shape: None,
                freedom: None,
                tags: self.tags(state, names)?,
                wait: self.wait(submit)?,
                after: dependency::predecessors(self.submit_line()),
            },
        )))
    }

    /// Returns the time from the submission to the start, or -1 if it is unknown.
    fn wait(&self, submit: f64) -> Result<f64, LineError> {
        let start = self.read(Column::Start, cells::instant)?.map_or(-1.0, |((at, _), _)| at);
        Ok(if submit >= 0.0 && start >= submit { (start - submit).min(LONGEST) } else { -1.0 })
    }

    /// Returns the command that submitted the job; empty if it is unknown.
    fn submit_line(&self) -> &[u8] {
        let cells = self.layout.submit_line(self.cells());
        cells.map_or(&[], |cells| &self.line[self.bars[cells.start]..self.bars[cells.end] - 1])
    }

    /// Returns the run time in seconds, or -1 if the job never ran or has not ended.
    fn run(&self, state: State) -> Result<f64, LineError> {
        let start = self.read(Column::Start, cells::instant)?.map(|((at, _), _)| at);
        let end = self.read(Column::End, cells::instant)?.map(|((at, _), _)| at);
        let raw = self.read(Column::ElapsedRaw, cells::seconds)?.map(|(run, _)| run);
        let elapsed = self.read(Column::Elapsed, cells::elapsed)?.map(|(run, _)| run);
        let granted = self.read(Column::AllocNodes, cells::count)?.map(|(nodes, _)| nodes);
        let unknown = |time: Option<f64>| time.is_some_and(|time| time < 0.0);
        let between = start.zip(end).map(|(start, end)| end - start);
        let run = raw.or(elapsed).or(between).unwrap_or(-1.0);
        let in_vain = run == 0.0 && (state.cancelled || granted == Some(0.0));
        if !state.over || unknown(start) || unknown(end) || in_vain {
            return Ok(-1.0);
        }
        Ok(run)
    }

    /// Returns the first number of nodes that is above 0, or 0 if there is none.
    fn nodes(&self) -> Result<f64, LineError> {
        for column in [Column::AllocNodes, Column::NNodes, Column::ReqNodes] {
            let Some((nodes, at)) = self.read(column, cells::count)? else { continue };
            if nodes.fract() != 0.0 {
                let cell = quoted(&self.line[at.clone()]);
                return Err(self.fault(&at, format!("{cell} is rounded: add --noconvert to sacct")));
            }
            if nodes > 0.0 {
                return Ok(nodes);
            }
        }
        Ok(0.0)
    }

    fn tags(&self, state: State, names: &mut Names) -> Result<Tags, LineError> {
        let mut class = |columns: [Option<Column>; 3]| -> Result<i64, LineError> {
            for column in columns.into_iter().flatten() {
                let Some(at) = self.place(column) else { continue };
                let cell = self.line[at.clone()].trim_ascii();
                match column {
                    _ if cell.is_empty() => {}
                    Column::Uid | Column::Gid => {
                        return Ok(self.value(column, cells::number, -1.0)? as i64);
                    }
                    _ => return Ok(names.number(column, cell)),
                }
            }
            Ok(-1)
        };
        Ok(Tags {
            status: state.status,
            user: class([Some(Column::Uid), Some(Column::User), None])?,
            group: class([Some(Column::Gid), Some(Column::Group), Some(Column::Account)])?,
            application: -1,
            queue: class([Some(Column::Qos), None, None])?,
            partition: class([Some(Column::Partition), None, None])?,
        })
    }
}
