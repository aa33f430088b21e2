//! Output from Slurm's `sacct --parsable2`, or a CSV file with quoted cells. After a header, there
//! is one line per job. Cells are separated by bars or another delimiter (`sacct --delimiter`).
//!
//! ```text
//!   JobID|User|Submit|Start|Elapsed|Timelimit|NNodes|State
//!   71|ann|2026-01-02T03:04:05|2026-01-02T03:10:00|01:00:00|02:00:00|4|COMPLETED
//! ```
//!
//! The header names the columns, in any order; unknown columns are ignored. It must name `JobID` or
//! `JobIDRaw`, `Submit`, `State`, a node count (the first positive one of `AllocNodes`, `NNodes`
//! and `ReqNodes`) and a run time (`ElapsedRaw`, `Elapsed`, or `Start` with `End`). In a log
//! without node counts, an option can divide `AllocCPUS`, `NCPUS` or `ReqCPUS` instead. Lines
//! before the header are skipped. If a cell contains a line break, the next lines are joined to it
//! until all columns are present or, if `JobID` is first, until a line starts with a job id.
//! `Timelimit` is the estimate. A job that never ran or has not ended has no known run time.
//!
//! Steps (`71.batch`) are skipped. The same id in different clusters (`Cluster`) refers to
//! different jobs. Array tasks (`71_4`) and components of heterogeneous jobs (`71+0`) are separate
//! jobs. If several lines have the same id (`sacct -D`), the one with the latest submission is
//! used, which is also what `sacct` prints without `-D`. The log's clock starts at the first
//! submission. A date without a time zone is in the machine's local time, which repeats an hour
//! when DST ends. User, group, QOS and partition names are numbered from 1 as they appear.
//!
//! `--dependency=after*` in `SubmitLine` names the jobs on which a job depends.
//!
//! Source: the `sacct` manual page (Slurm 25.05) and, for counts such as `1K`, `convert_num_unit`
//! in Slurm's source code. Cost: one pass over the bytes, keeping an entry per job in memory.

pub(super) mod cells;
pub(super) mod dependency;
mod header;

use std::io::BufRead;
use std::ops::Range;

use rustc_hash::FxHashMap;

use self::cells::{Id, Name, State};
use self::header::{Column, Count, Layout};
use super::error::quoted;
use super::latest::Latest;
use super::record::{Collector, Draft, LONGEST, wait};
use super::text::Lines;
use super::{Field, LineError, Names, ReadError, ReadOptions, Tags, Trace};

/// Returns true if a line is the header of a `sacct` log or of an aligned table. Aligned tables are
/// rejected later.
pub(super) fn is_header(line: &[u8]) -> bool {
    header::names_jobs(line) || header::is_aligned(line)
}

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if the first line is not a header or a required column is
/// missing, if a line is malformed (unless lenient), or if there are no job lines.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::traces::{ReadOptions, sacct};
/// let log = "JobID|State|Submit|NNodes|Elapsed|Timelimit\n\
///            71|COMPLETED|2026-01-02T03:04:05|4|00:01:30|1-00:00:00\n\
///            71.batch|COMPLETED|2026-01-02T03:05:00|1|00:01:30|\n";
/// let trace = sacct::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((trace.records.len(), trace.records[0].number, trace.records[0].nodes), (1, 71, 4));
/// assert_eq!(trace.records[0].run.0, 90_000_000);
/// # Ok::<(), pavior::workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(reader);
    let mut jobs = Collector::new(options);
    let Some(layout) = Layout::read(&mut lines)? else {
        return Err(ReadError::NoJobs { lines: lines.number });
    };
    if layout.in_front > 0 {
        let text = "skipped lines before the sacct header, such as warnings";
        (0..layout.in_front).for_each(|_| jobs.note(text, 1));
    }
    if !layout.has_nodes() && options.processors_per_node.is_none() {
        let reason = "the log has processor counts but no NNodes column; request it, or use \
                      --processors-per-node";
        return Err(ReadError::Option(reason.into()));
    }
    let known = Known { hosts: options.hosts, ..Known::default() };
    let (mut log, mut known) = (Latest::new(), known);
    let mut places = Vec::new();
    let mut rows = Rows { layout: &layout, lines, row: Vec::new(), next: None };
    while jobs.wants_more(log.len()) {
        let Some(number) = rows.advance()? else { break };
        let line = rows.row.as_slice();
        // Concatenated logs contain more headers further down.
        if line.trim_ascii().is_empty() || line == layout.line {
            continue;
        }
        match Row::new(&layout, line, number, &mut places).and_then(|row| row.job(&mut known)) {
            Ok(None) => {}
            Ok(Some((key, draft))) => {
                if key.0 > 0 {
                    jobs.note(MORE_CLUSTERS, number);
                }
                log.push(key, draft);
            }
            Err(fault) => jobs.malformed(number, || fault)?,
        }
    }
    jobs.set_names(known.names)?;
    log.offer(&mut jobs, known.zone);
    jobs.finish(rows.lines.number)
}

/// The base for a cluster's job numbers, and a job id in that cluster.
type ClusterId = (u64, Id);

#[derive(Default)]
struct Known {
    names: Names,
    /// The UTC offset of the first date, in seconds.
    zone: Option<i64>,
    /// True to read node names.
    hosts: bool,
    clusters: Clusters,
}

/// The clusters in a log. Because different clusters may use the same job numbers, the numbers for
/// each additional cluster start 10,000,000,000 higher.
#[derive(Default)]
pub(super) struct Clusters(FxHashMap<Box<[u8]>, u64>);

/// The note shown if a log contains jobs from several clusters.
pub(super) const MORE_CLUSTERS: &str = "jobs from other clusters are replayed on the same machine, \
                                        and their job numbers start at 10000000000; to list only \
                                        one cluster's jobs, use sacct -M CLUSTER";

impl Clusters {
    /// Returns the base for a cluster's job numbers. The base is 0 for jobs without a cluster.
    pub(super) fn base(&mut self, name: &[u8]) -> u64 {
        let base = self.0.get(name).copied();
        base.or(name.is_empty().then_some(0)).unwrap_or_else(|| {
            let base = self.0.len() as u64 * 10_000_000_000;
            self.0.insert(name.into(), base);
            base
        })
    }
}

/// The maximum length of a row, in bytes.
const LONGEST_ROW: usize = 1 << 20;

/// The rows in a log. A row is usually one line, but spans several if a cell has line breaks.
struct Rows<'l, R> {
    layout: &'l Layout,
    lines: Lines<R>,
    row: Vec<u8>,
    /// The next line and its number, if that line has already been read.
    next: Option<(u64, Vec<u8>)>,
}

impl<R: BufRead> Rows<'_, R> {
    /// Reads the next row. Returns the number of its first line, or `None` at the end of the log.
    fn advance(&mut self) -> Result<Option<u64>, ReadError> {
        self.row.clear();
        let number = match self.next.take() {
            Some((number, line)) => {
                self.row = line;
                number
            }
            None if self.lines.advance()? => {
                self.row.extend_from_slice(self.lines.line());
                self.lines.number
            }
            None => return Ok(None),
        };
        let ends = self.row.trim_ascii().is_empty() || self.row == self.layout.line;
        if ends || !self.layout.has_texts() {
            return Ok(Some(number));
        }
        let mut count = self.layout.count(Count::default(), &self.row);
        while self.lines.advance()? {
            let line = self.lines.line();
            let is_short = self.row.len() + line.len() < LONGEST_ROW;
            if !is_short || !self.layout.continues(count, line) {
                self.next = Some((self.lines.number, line.to_vec()));
                break;
            }
            count = self.layout.count(count, line);
            self.row.push(b'\n');
            self.row.extend_from_slice(line);
        }
        Ok(Some(number))
    }
}

/// A row, split at its delimiters.
struct Row<'l> {
    layout: &'l Layout,
    line: &'l [u8],
    number: u64,
    places: &'l [Range<usize>],
}

/// A cell's value and byte range, or `None` if the log does not have the column.
type Found<T> = Option<(T, Range<usize>)>;

impl<'l> Row<'l> {
    fn new(
        layout: &'l Layout,
        line: &'l [u8],
        number: u64,
        places: &'l mut Vec<Range<usize>>,
    ) -> Result<Row<'l>, LineError> {
        places.clear();
        places.extend(layout.cells(line));
        let row = Row { layout, line, number, places };
        layout.check(row.cells()).map_err(|reason| row.fault(&(line.len()..line.len()), reason))?;
        Ok(row)
    }

    fn cells(&self) -> usize {
        self.places.len()
    }

    fn fault(&self, at: &Range<usize>, reason: impl AsRef<str>) -> LineError {
        LineError::new(self.number, self.line, at.clone(), reason)
    }

    /// Returns the byte range of a column's cell, or `None` if the log does not have the column.
    fn place(&self, column: Column) -> Option<Range<usize>> {
        let index = self.layout.index(column, self.cells())?;
        Some(self.places[index].clone())
    }

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
        Err(self.fault(&at, format!("{} is not a valid {name}; expected {wanted}", quoted(cell))))
    }

    /// Returns a cell's parsed value, or `otherwise` if the log does not have the column.
    fn value<T>(
        &self,
        column: Column,
        grammar: impl Fn(&[u8]) -> Option<T>,
        otherwise: T,
    ) -> Result<T, LineError> {
        Ok(self.read(column, grammar)?.map_or(otherwise, |(value, _)| value))
    }

    /// Reads the job in the row. Returns `None` if the row is a job step.
    fn job(&self, known: &mut Known) -> Result<Option<(ClusterId, Draft)>, LineError> {
        let raw = self.read(Column::JobIdRaw, cells::id)?.map(|(name, _)| name);
        let Some(name) = self.read(Column::JobId, cells::id)?.map(|(name, _)| name).or(raw) else {
            return Ok(None);
        };
        let (Name::Job(id), raw) = (name, raw) else { return Ok(None) };
        let number = match raw {
            Some(Name::Job(raw)) => raw.number,
            _ => id.number,
        };
        let cluster = self.place(Column::Cluster).unwrap_or_default();
        let base = known.clusters.base(self.line[cluster].trim_ascii());
        let (submit, zone) = self.value(Column::Submit, cells::instant, (-1.0, None))?;
        known.zone = known.zone.or(zone);
        if submit > LONGEST {
            let at = self.place(Column::Submit).unwrap_or_default();
            return Err(self.fault(&at, format!("the submit time is above {LONGEST:e} s")));
        }
        let state = self.value(Column::State, cells::state, State::OVER)?;
        let names = &mut known.names;
        let state_name = self.place(Column::State).map(|at| cells::state_word(&self.line[at]));
        let limit = self.value(Column::TimelimitRaw, cells::minutes, -1.0)?;
        let limit = self.value(Column::Timelimit, cells::limit, limit)?;
        Ok(Some((
            (base, id),
            Draft {
                number: (base + number) as f64,
                line: self.number,
                submit,
                run: self.run(state)?.min(LONGEST),
                estimate: limit.min(LONGEST),
                nodes: self.nodes()?,
                in_processors: !self.layout.has_nodes(),
                state: state_name.map_or(-1, |word| names.number(Field::Status, word)),
                shape: None,
                freedom: None,
                tags: self.tags(state, names)?,
                wait: wait(
                    submit,
                    self.read(Column::Start, cells::instant)?.map(|((at, _), _)| at),
                ),
                after: dependency::predecessors(self.text(header::SUBMIT_LINE), base),
                hosts: known.hosts.then(|| {
                    String::from_utf8_lossy(self.text(header::NODE_LIST).trim_ascii()).into()
                }),
            },
        )))
    }

    /// Returns the text in a column that may contain delimiters, or `""` if the text is ambiguous.
    fn text(&self, text: usize) -> &[u8] {
        let Some(cells) = self.layout.text(text, self.cells()) else { return &[] };
        &self.line[self.places[cells.start].start..self.places[cells.end - 1].end]
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

    /// Returns the first positive node count, or 0 if there is none. If the log has no node counts,
    /// returns the number of processors.
    fn nodes(&self) -> Result<f64, LineError> {
        for column in if self.layout.has_nodes() { header::NODES } else { header::CPUS } {
            let Some((nodes, at)) = self.read(column, cells::count)? else { continue };
            if nodes.fract() != 0.0 {
                let cell = quoted(&self.line[at.clone()]);
                return Err(self.fault(&at, format!("{cell} is rounded; use sacct --noconvert")));
            }
            if nodes > 0.0 {
                return Ok(nodes);
            }
        }
        Ok(0.0)
    }

    fn tags(&self, state: State, names: &mut Names) -> Result<Tags, LineError> {
        let cell = |column: &Column| {
            let cell = self.line[self.place(*column)?].trim_ascii();
            (!cell.is_empty()).then_some(cell)
        };
        let mut class = |field, number: Option<Column>, named: &[Column]| {
            let name = named.iter().find_map(cell);
            match number.filter(|column| cell(column).is_some()) {
                Some(column) => {
                    let number = self.value(column, cells::number, -1.0)? as i64;
                    if let Some(name) = name {
                        names.add(field, name, number);
                    }
                    Ok::<i64, LineError>(number)
                }
                None => Ok(name.map_or(-1, |name| names.number(field, name))),
            }
        };
        Ok(Tags {
            status: state.status,
            user: class(Field::User, Some(Column::Uid), &[Column::User])?,
            group: class(Field::Group, Some(Column::Gid), &[Column::Group, Column::Account])?,
            application: -1,
            queue: class(Field::Queue, None, &[Column::Qos])?,
            partition: class(Field::Partition, None, &[Column::Partition])?,
        })
    }
}
