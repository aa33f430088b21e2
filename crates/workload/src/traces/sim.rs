//! The `.sim` format used by scheduler simulators: one job per line, with a few columns.
//!
//! ```text
//!   arrival processors run [estimate]                  3 or 4 columns
//!   arrival processors run [estimate] mesh x y z       7 or 8 columns; x y z is the shape
//!   arrival x y z run [estimate]                       5 or 6 columns; x y z is the shape
//! ```
//!
//! The number of columns determines the form of a line. Times are in seconds and may have decimals.
//! A shape always has three sides; on a machine with fewer axes, the extra sides are 1. If the box
//! after `mesh` has more nodes than the requested number of processors, the excess is internal
//! fragmentation; a smaller box is an error. `mesh` may be in upper case. A column that starts with
//! `#`, `;`, `%` or `//` begins a comment. Jobs are numbered from 0.
//!
//! This is the format read by the scheduler in the Structural Simulation Toolkit (Rodrigues et al.
//! 2011). Unknown values are treated as in the Standard Workload Format.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use pavior_mesh::{Sides, volume};

use super::error::quoted;
use super::record::{Collector, Draft, LONGEST};
use super::text::{Lines, columns, comment, number};
use super::{LineError, ReadError, ReadOptions, Record, Tags, Trace, seconds};

/// The number of columns to look for: one more than in the longest form, so that extra columns are
/// detected.
const ROOM: usize = 9;

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if a line matches none of the forms (unless lenient), or
/// if there are no job lines.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; }
/// use pavior::workload::traces::{ReadOptions, sim};
/// let log = "# a comment\n0 12 60 90 mesh 2 3 2\n5.5 2 2 1 10\n";
/// let trace = sim::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((trace.records[0].nodes, trace.records[0].shape), (12, Some([2, 3, 2])));
/// assert_eq!((trace.records[1].nodes, trace.records[1].shape), (4, Some([2, 2, 1])));
/// # Ok::<(), pavior::workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    read_into(Collector::new(options), reader)
}

pub(super) fn read_into(mut jobs: Collector<'_>, reader: impl BufRead) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(reader);
    while jobs.wants_more(0) && lines.advance()? {
        if comment(lines.line()).is_some() {
            continue;
        }
        match (Line { number: lines.number, bytes: lines.line() }).job() {
            Ok(draft) => jobs.offer(&draft),
            Err(fault) => jobs.malformed(lines.number, || fault)?,
        }
    }
    jobs.finish(lines.number)
}

struct Line<'l> {
    number: u64,
    bytes: &'l [u8],
}

impl Line<'_> {
    fn fault(&self, at: &Range<usize>, reason: String) -> LineError {
        LineError::new(self.number, self.bytes, at.clone(), reason)
    }

    fn job(&self) -> Result<Draft, LineError> {
        let mut places = [const { 0..0 }; ROOM];
        let found = columns(self.bytes, &mut places);
        let is_comment = |at: &Range<usize>| comment(&self.bytes[at.clone()]).is_some();
        let end = places[..found].iter().position(is_comment);
        let places = &places[..end.unwrap_or(found)];
        let is_mesh = |at: &Range<usize>| self.bytes[at.clone()].eq_ignore_ascii_case(b"mesh");
        let word = places.iter().position(is_mesh);
        let (plain, mesh) = match (word, places.len()) {
            (None, 3..=6) => (places, None),
            (Some(word @ 3..=4), columns) if columns == word + 4 => {
                (&places[..word], Some(&places[word + 1..]))
            }
            (None, 7 | 8) => {
                let at = &places[places.len() - 4];
                let word = quoted(&self.bytes[at.clone()]);
                return Err(self.fault(at, format!("expected the word `mesh`, found {word}")));
            }
            _ => return Err(self.columns(places)),
        };
        let arrival = self.time("arrival", &plain[0])?;
        let (nodes, shape, rest) = if plain.len() < 5 {
            (self.whole("number of processors", &plain[1])?, None, &plain[2..])
        } else {
            let sides = self.sides(&plain[1..4])?;
            (volume(sides) as f64, Some(sides), &plain[4..])
        };
        let shape = match mesh {
            Some(mesh) => Some(self.mesh(mesh, nodes)?),
            None => shape,
        };
        Ok(Draft {
            number: -1.0,
            line: self.number,
            submit: arrival,
            run: self.time("run time", &rest[0])?,
            estimate: rest.get(1).map_or(Ok(-1.0), |at| self.time("estimate", at))?,
            nodes,
            in_processors: shape.is_none(),
            state: -1,
            shape,
            freedom: None,
            tags: Tags::UNKNOWN,
            wait: -1.0,
            after: Vec::new(),
            hosts: None,
        })
    }

    /// Creates an error for a line that matches none of the forms.
    fn columns(&self, places: &[Range<usize>]) -> LineError {
        let many = if places.len() < ROOM { places.len().to_string() } else { "too many".into() };
        let reason = format!(
            "expected `arrival processors run [estimate] [mesh x y z]` or `arrival x y z run \
             [estimate]`, but found {many} columns"
        );
        self.fault(&(self.bytes.len()..self.bytes.len()), reason)
    }

    /// Parses the sides of the box that follows the word `mesh`.
    fn mesh(&self, places: &[Range<usize>], nodes: f64) -> Result<Sides, LineError> {
        let sides = self.sides(places)?;
        let volume = volume(sides);
        if (volume as f64) < nodes {
            let reason = format!("a mesh of {volume} nodes is too small for {nodes} processors");
            return Err(self.fault(&(places[0].start..places[2].end), reason));
        }
        Ok(sides)
    }

    fn sides(&self, places: &[Range<usize>]) -> Result<Sides, LineError> {
        let mut sides = [1; 3];
        for (side, at) in sides.iter_mut().zip(places) {
            let value = self.whole("side", at)?;
            if !(1.0..=65_535.0).contains(&value) {
                return Err(self.fault(at, format!("a side must be from 1 to 65535, not {value}")));
            }
            *side = value as u16;
        }
        Ok(sides)
    }

    fn whole(&self, what: &str, at: &Range<usize>) -> Result<f64, LineError> {
        let value = self.number(what, at)?;
        if value.fract() == 0.0 {
            Ok(value)
        } else {
            Err(self.fault(at, format!("the {what} is not a whole number")))
        }
    }

    fn time(&self, what: &str, at: &Range<usize>) -> Result<f64, LineError> {
        let value = self.number(what, at)?;
        if value <= LONGEST {
            Ok(value)
        } else {
            Err(self.fault(at, format!("the {what} exceeds {LONGEST:e} s")))
        }
    }

    fn number(&self, what: &str, at: &Range<usize>) -> Result<f64, LineError> {
        let token = &self.bytes[at.clone()];
        number(token)
            .ok_or_else(|| self.fault(at, format!("{} is not a valid {what}", quoted(token))))
    }
}

/// Writes a log, with lines of the form `arrival processors run [estimate] [mesh x y z]`.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(mut to: impl Write, records: &[Record]) -> io::Result<()> {
    for record in records {
        write!(to, "{} {} {}", seconds(record.submit), record.nodes, seconds(record.run))?;
        if let Some(estimate) = record.estimate {
            write!(to, " {}", seconds(estimate))?;
        }
        if let Some([x, y, z]) = record.shape {
            write!(to, " mesh {x} {y} {z}")?;
        }
        writeln!(to)?;
    }
    Ok(())
}
