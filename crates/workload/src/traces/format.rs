//! The formats of logs.

use std::io::BufRead;

use super::{ReadError, ReadOptions, Trace, batsim, sacct, sim, swf};

/// A format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The Standard Workload Format.
    Swf,
    /// One job per line, with few columns.
    Sim,
    /// Batsim's JSON.
    Batsim,
    /// The output of `sacct --parsable2`, which is only read.
    Sacct,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Swf, Format::Sim, Format::Batsim, Format::Sacct];

    /// Returns the file extension of this format, without the dot. `.gz` may follow.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Swf => "swf",
            Format::Sim => "sim",
            Format::Batsim => "json",
            Format::Sacct => "sacct",
        }
    }

    /// Returns the format in words.
    pub fn title(self) -> &'static str {
        match self {
            Format::Swf => "Standard Workload Format",
            Format::Sim => "scheduler simulators' .sim",
            Format::Batsim => "Batsim workload",
            Format::Sacct => "Slurm's sacct --parsable2",
        }
    }

    /// Returns the format of a file by its extension, or `None` if no format has it.
    ///
    /// ```
    /// use pavior_workload::traces::Format;
    /// assert_eq!(Format::of_file("logs/KTH-SP2.swf.gz"), Some(Format::Swf));
    /// assert_eq!(Format::of_file("notes.txt"), None);
    /// ```
    pub fn of_file(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let (_, end) = name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?;
        Format::ALL.into_iter().find(|format| format.extension() == end)
    }

    /// Returns the format of a log by its first line, which may be cut, or `None` if it is unknown.
    ///
    /// ```
    /// use pavior_workload::traces::Format;
    /// assert_eq!(Format::of_line(b"JobID|Submit|State"), Some(Format::Sacct));
    /// assert_eq!(Format::of_line(b"; Version: 2.2"), None);
    /// ```
    pub fn of_line(line: &[u8]) -> Option<Format> {
        sacct::is_header(line).then_some(Format::Sacct)
    }

    /// Reads a log of this format.
    ///
    /// # Errors
    /// Returns the errors of the format's own `read`.
    pub fn read(self, reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
        let mut trace = match self {
            Format::Swf => swf::read(reader, options),
            Format::Sim => sim::read(reader, options),
            Format::Batsim => batsim::read(reader, options),
            Format::Sacct => sacct::read(reader, options),
        }?;
        trace.report.format = Some(self);
        Ok(trace)
    }
}
