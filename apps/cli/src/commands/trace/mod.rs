//! `pavior trace`: summarizes, converts and generates logs.

mod convert;
mod generate;
mod inspect;

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use pavior::workload::traces::{Format, Header, Record, batsim, sim, swf};

use crate::args::{TraceArgs, TraceCommand};
use crate::failure::Failure;
use crate::files;

pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    match &args.command {
        TraceCommand::Inspect(args) => inspect::run(args),
        TraceCommand::Convert(args) => convert::run(args),
        TraceCommand::Generate(args) => generate::run(args),
    }
}

struct Log {
    header: Header,
    records: Vec<Record>,
    /// The number of nodes in the machine, which Batsim requires.
    nodes: u64,
    version: batsim::Version,
}

/// An output log file. Its name determines the format; if it ends in `.gz`, the log is compressed.
struct LogFile<'p> {
    path: &'p Path,
    format: Format,
}

impl<'p> LogFile<'p> {
    fn new(path: &'p Path) -> Result<LogFile<'p>, Failure> {
        let format = Format::of_file(&path.to_string_lossy());
        let format = format.filter(|format| format.is_written()).ok_or_else(|| {
            Failure::usage(format!(
                "{}: cannot determine the format from the file name; the name must end in .swf, \
                 .sim or .json, optionally followed by .gz",
                files::shown(path)
            ))
        })?;
        Ok(LogFile { path, format })
    }

    fn write(&self, log: &Log) -> Result<(), Failure> {
        let LogFile { path, format } = *self;
        let gzip = files::has_extension(path, "gz");
        Ok(files::write_whole(path, |out| {
            if gzip {
                let mut encoder = GzEncoder::new(out, Compression::default());
                log.write_to(&mut encoder, format)?;
                encoder.finish().map(drop)
            } else {
                log.write_to(out, format)
            }
        })?)
    }
}

impl Log {
    fn write_to(&self, out: &mut dyn Write, format: Format) -> io::Result<()> {
        match format {
            Format::Swf => swf::write(out, &self.header, &self.records),
            Format::Sim => sim::write(out, &self.records),
            Format::Batsim => batsim::write(out, &self.records, self.nodes, self.version),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
