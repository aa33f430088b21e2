//! Log formats, their names, and the rules for detecting them.

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use pavior_kernel::{BadName, unknown_name};
use serde::{Serialize, Serializer};

use super::record::Collector;
use super::text::{BYTE_ORDER_MARK, MOST_IN_FRONT, columns, comment, is_utf16, number};
use super::{ReadError, ReadOptions, Trace, batsim, kubectl, pbs, sacct, sacct_json, sim, swf};
use crate::inspect::Jobs;

/// A log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The Standard Workload Format.
    Swf,
    /// One line per job, with a few columns.
    Sim,
    /// Batsim's JSON documents.
    Batsim,
    /// Output from `sacct --parsable2` (read only).
    Sacct,
    /// Output from `sacct --json` (read only).
    SacctJson,
    /// Accounting logs from Torque, PBS Pro and OpenPBS (read only).
    Pbs,
    /// Output from `kubectl get jobs,pods -o json` (read only).
    Kubectl,
}

impl Format {
    /// All formats. A file extension shared by several formats refers to the first of them.
    pub const ALL: [Format; 7] = [
        Format::Swf,
        Format::Sim,
        Format::Batsim,
        Format::Sacct,
        Format::SacctJson,
        Format::Pbs,
        Format::Kubectl,
    ];

    /// Returns the format's name, as used in options.
    pub fn name(self) -> &'static str {
        match self {
            Format::Batsim => "batsim",
            Format::SacctJson => "sacct-json",
            Format::Kubectl => "kubectl",
            _ => self.extension(),
        }
    }

    /// Returns the format's file extension, without the dot. It may be followed by `.gz` or `.zst`.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Swf => "swf",
            Format::Sim => "sim",
            Format::Batsim | Format::SacctJson | Format::Kubectl => "json",
            Format::Sacct => "sacct",
            Format::Pbs => "pbs",
        }
    }

    /// Returns the format's title.
    pub fn title(self) -> &'static str {
        match self {
            Format::Swf => "Standard Workload Format",
            Format::Sim => "scheduler simulators' .sim",
            Format::Batsim => "Batsim workload",
            Format::Sacct => "Slurm's sacct --parsable2",
            Format::SacctJson => "Slurm's sacct --json",
            Format::Pbs => "Torque or PBS accounting log",
            Format::Kubectl => "kubectl get jobs,pods -o json",
        }
    }

    /// Returns true if a log in this format is a JSON document. A single line may then be as long
    /// as the whole log.
    pub fn is_document(self) -> bool {
        self.extension() == "json"
    }

    /// Returns true if Pavior can write logs in this format.
    pub fn is_written(self) -> bool {
        matches!(self, Format::Swf | Format::Sim | Format::Batsim)
    }

    /// Returns the format for a file's extension, or `None` if no format uses it.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; }
    /// use pavior::workload::traces::Format;
    /// assert_eq!(Format::of_file("logs/KTH-SP2.swf.gz"), Some(Format::Swf));
    /// assert_eq!(Format::of_file("notes.txt"), None);
    /// ```
    pub fn of_file(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let bare = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed));
        let (_, end) = bare.unwrap_or(&name).rsplit_once('.')?;
        Format::ALL.into_iter().find(|format| format.extension() == end)
    }

    /// Detects a log's format from the start of its text or, if the text is ambiguous, from its
    /// file name. `begin` should contain a few lines, the last of which may be incomplete.
    ///
    /// The text is decisive if it contains members from a JSON document, a `sacct` header, an
    /// accounting record, or a job line with 18 numbers. Otherwise, the format is determined by the
    /// file name or, failing that, by the number of columns.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; }
    /// use pavior::workload::traces::Format;
    /// assert_eq!(Format::find(b"JobID|Submit|State\n", "jobs.txt"), Some(Format::Sacct));
    /// assert_eq!(Format::find(b"; Version: 2.2\n1 x\n", "-"), Some(Format::Swf));
    /// assert_eq!(Format::find(b"# a comment\n0 4 60\n", "-"), Some(Format::Sim));
    /// assert_eq!(Format::find(b"hello\n", "log.swf"), Some(Format::Swf));
    /// assert_eq!(Format::find(b"hello\n", "log"), None);
    /// ```
    pub fn find(begin: &[u8], name: &str) -> Option<Format> {
        let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
        let named = Format::of_file(name);
        if is_utf16(begin) {
            return named.or(Some(Format::Swf));
        }
        let all = || begin.split(|byte| b"\r\n".contains(byte)).map(<[u8]>::trim_ascii);
        let mut filled = all().filter(|line| !line.is_empty()).take(MOST_IN_FRONT as usize);
        // Warnings may come before a document or a header.
        let decisive = filled.find(|line| line.starts_with(b"{") || sacct::is_header(line));
        match decisive {
            Some(line) if line.starts_with(b"{") => {
                return of_json(begin).or(named).or(Some(Format::Batsim));
            }
            Some(_) => return Some(Format::Sacct),
            None => {}
        }
        let first = all().find(|line| !line.is_empty()).unwrap_or_default();
        if pbs::is_record(first) {
            return Some(Format::Pbs);
        }
        let job = all().find(|line| comment(line).is_none()).unwrap_or_default();
        let mut places = [const { 0..0 }; 18];
        let found = columns(job, &mut places);
        let is_job = places[..found].iter().take(2).all(|at| number(&job[at.clone()]).is_some());
        if found == places.len() && is_job {
            return Some(Format::Swf);
        }
        let of_columns = match found {
            3..=8 if is_job => Some(Format::Sim),
            _ if first.starts_with(b";") => Some(Format::Swf),
            _ => None,
        };
        named.or(of_columns)
    }

    /// Reads a log in this format.
    ///
    /// # Errors
    /// Returns an error if the format's `read` does, or if an option requires another format.
    pub fn read(self, reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
        self.read_into(None, reader, options)
    }

    /// Reads a log in this format. If `sink` is given, SWF and `.sim` jobs are passed to it, and
    /// the returned log has no records.
    pub(crate) fn read_into(
        self,
        sink: Option<&mut Jobs>,
        mut reader: impl BufRead,
        options: &ReadOptions,
    ) -> Result<Trace, ReadError> {
        if options.nodes_from.is_some() && self != Format::Swf {
            let reason = format!("--nodes-from applies only to SWF logs, not to {}", self.title());
            return Err(ReadError::Option(reason));
        }
        let begin = reader.fill_buf().map_err(|source| ReadError::Io { line: 0, source })?;
        if is_utf16(begin) {
            let reason =
                "the log is UTF-16 text; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 LOG > NEW";
            return Err(ReadError::Option(reason.into()));
        }
        if begin.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        let mut trace = match self {
            Format::Swf => swf::read_into(Collector::new(options).with(sink), reader),
            Format::Sim => sim::read_into(Collector::new(options).with(sink), reader),
            Format::Batsim => batsim::read(reader, options),
            Format::Sacct => sacct::read(reader, options),
            Format::SacctJson => sacct_json::read(reader, options),
            Format::Pbs => pbs::read(reader, options),
            Format::Kubectl => kubectl::read(reader, options),
        }?;
        trace.report.format = Some(self);
        Ok(trace)
    }
}

/// Returns the format of a JSON document, based on the first member that occurs in only one format.
fn of_json(begin: &[u8]) -> Option<Format> {
    const MEMBERS: [(&[u8], Format); 9] = [
        (b"\"nb_res\"", Format::Batsim),
        (b"\"profiles\"", Format::Batsim),
        (b"\"subtime\"", Format::Batsim),
        (b"\"apiVersion\"", Format::Kubectl),
        (b"\"items\"", Format::Kubectl),
        (b"\"job_id\"", Format::SacctJson),
        (b"\"allocation_nodes\"", Format::SacctJson),
        (b"\"data_parser\"", Format::SacctJson),
        (b"\"meta\"", Format::SacctJson),
    ];
    (0..begin.len()).filter(|&at| begin[at] == b'"').find_map(|at| {
        let found = MEMBERS.iter().find(|(member, _)| begin[at..].starts_with(member));
        found.map(|(_, format)| *format)
    })
}

impl FromStr for Format {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Format, BadName> {
        let known = Format::ALL.map(Format::name);
        let found = Format::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| unknown_name("log format", text, &known))
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.title())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
