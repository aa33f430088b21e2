//! All replications, in two tables: one for reproducible results, and one for measured times.
//!
//! Numbers are read back exactly as they were written, so these tables alone are enough to merge
//! and extend finished experiments. Every line ends with a checksum of its other cells.

use std::collections::HashMap;
use std::io::{Read, Write};

use pavior_kernel::Checksum;

use crate::results::{number, shown, values};
use crate::{JournalEntry, Sample, Samples, Specification, parameters};

/// The name of the checksum column. No parameter or metric has this name.
const CHECKSUM: &str = "checksum";

/// Returns the checksum of a line's other cells.
fn checksum<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let mut checksum = Checksum::default();
    for cell in cells {
        checksum.add(cell.as_bytes());
        checksum.add(b"\n");
    }
    checksum.to_string()
}

/// The result of [`Specification::read_replications`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replications {
    /// The replications read from intact lines.
    pub entries: Vec<JournalEntry>,
    /// The line numbers of damaged lines, counted from 1.
    pub damaged: Vec<u64>,
}

const FACTS: [&str; 5] =
    ["replication", "arrived", "still_waiting", "rejected_jobs", "rejected_set"];

impl Specification {
    /// Writes all replications that ran, without the measured times.
    ///
    /// # Errors
    /// Returns an error if the writer fails.
    pub fn write_replications(
        &self,
        samples: &Samples,
        out: &mut dyn Write,
    ) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(out);
        let mut header = self.header();
        header.extend(FACTS.map(String::from));
        header.extend(self.metrics.iter().map(|spec| spec.name.to_string()));
        header.push(CHECKSUM.to_string());
        writer.write_record(&header)?;
        self.each(samples, |mut line, sample| {
            line.extend([sample.arrived, sample.waiting, sample.rejected].map(|n| n.to_string()));
            line.push(format!("{:x}", sample.rejected_set));
            line.extend(sample.values.iter().map(|value| number(*value)));
            line.push(checksum(line.iter().map(String::as_str)));
            writer.write_record(&line)
        })?;
        Ok(writer.flush()?)
    }

    /// Writes the measured times of all replications that ran.
    ///
    /// # Errors
    /// Returns an error if the writer fails.
    pub fn write_timings(&self, samples: &Samples, out: &mut dyn Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(out);
        let mut header = self.header();
        header.extend(["replication", pavior_simulation::metrics::ALLOCATION_NS].map(String::from));
        writer.write_record(&header)?;
        self.each(samples, |mut line, sample| {
            line.push(number(sample.allocation_ns));
            writer.write_record(&line)
        })?;
        Ok(writer.flush()?)
    }

    /// Returns the columns that identify a point.
    fn header(&self) -> Vec<String> {
        let shown = shown(self).into_iter().map(|index| parameters::ALL[index].column());
        std::iter::once("point".to_string()).chain(shown).collect()
    }

    fn each(
        &self,
        samples: &Samples,
        mut write: impl FnMut(Vec<String>, &Sample) -> Result<(), csv::Error>,
    ) -> Result<(), csv::Error> {
        let shown = shown(self);
        for (index, (point, samples)) in self.points.iter().zip(samples).enumerate() {
            for (replication, sample) in samples.iter().enumerate() {
                let mut line = vec![index.to_string()];
                line.extend(values(point, &shown));
                line.push(replication.to_string());
                write(line, sample)?;
            }
        }
        Ok(())
    }

    /// Reads the tables written by [`Self::write_replications`] and [`Self::write_timings`].
    ///
    /// # Errors
    /// Returns an error message if the tables do not belong to this experiment.
    pub fn read_replications(
        &self,
        replications: impl Read,
        timings: Option<impl Read>,
    ) -> Result<Replications, String> {
        let measured = timings.map_or(Ok(HashMap::new()), read_timings)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(replications);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let find = |name: &str| {
            let position = header.iter().position(|column| column == name);
            position.ok_or_else(|| format!("no such column: `{name}`"))
        };
        let at_point = find("point")?;
        let facts = FACTS.map(find);
        let facts: Vec<usize> = facts.into_iter().collect::<Result<_, _>>()?;
        // A parameter may have the same name as a metric (`service`), but all parameter columns
        // come first.
        let last = |name: &str| {
            let position = (0..header.len()).rev().find(|&column| &header[column] == name);
            position.ok_or_else(|| format!("no such column: `{name}`"))
        };
        let metrics: Vec<usize> =
            self.metrics.iter().map(|spec| last(spec.name)).collect::<Result<_, _>>()?;
        let at_checksum = find(CHECKSUM)?;
        let (mut entries, mut damaged) = (Vec::new(), Vec::new());
        for record in reader.byte_records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            let Some(record) = csv::StringRecord::from_byte_record(record).ok().filter(|record| {
                let cells = record.iter().enumerate().filter(|(index, _)| *index != at_checksum);
                record.len() == header.len()
                    && record[at_checksum] == checksum(cells.map(|(_, cell)| cell))
            }) else {
                damaged.push(line);
                continue;
            };
            let bad = |index: usize| format!("line {line}: `{}` is malformed", &record[index]);
            let whole = |index: usize| record[index].parse::<u64>().map_err(|_| bad(index));
            let float = |&index: &usize| match &record[index] {
                "" => Ok(None),
                text => text.parse::<f64>().map(Some).map_err(|_| bad(index)),
            };
            let (point, replication) = (whole(at_point)?, whole(facts[0])?);
            entries.push(JournalEntry {
                point: point as usize,
                replication,
                sample: Sample {
                    values: metrics.iter().map(float).collect::<Result<_, _>>()?,
                    arrived: whole(facts[1])?,
                    waiting: whole(facts[2])?,
                    rejected: whole(facts[3])?,
                    rejected_set: u64::from_str_radix(&record[facts[4]], 16)
                        .map_err(|_| bad(facts[4]))?,
                    allocation_ns: measured.get(&(point, replication)).copied(),
                },
            });
        }
        Ok(Replications { entries, damaged })
    }
}

/// Reads the measured time for each (point, replication).
fn read_timings(input: impl Read) -> Result<HashMap<(u64, u64), f64>, String> {
    let mut reader = csv::Reader::from_reader(input);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let find = |name: &str| {
        let position = header.iter().position(|column| column == name);
        position.ok_or_else(|| format!("no such column: `{name}`"))
    };
    let (point, replication) = (find("point")?, find("replication")?);
    let measured = find(pavior_simulation::metrics::ALLOCATION_NS)?;
    let mut times = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let key = (record[point].parse::<u64>(), record[replication].parse::<u64>());
        if let ((Ok(point), Ok(replication)), Ok(time)) = (key, record[measured].parse()) {
            times.insert((point, replication), time);
        }
    }
    Ok(times)
}
