//! Reads the jobs in a table, one record per row.

use std::fmt::Display;

use arrow_array::RecordBatch;
use pavior::workload::TimeUnit;
use pavior::workload::traces::{Field, Names, Record, Tags};
use pavior::{Freedom, Sides, Time, UnknownFreedom};
use pyo3::prelude::*;

use crate::errors::value;
use crate::table::{numbers, texts};

/// The maximum time in a table, in seconds: about 30,000 years.
const MAX_TIME_S: f64 = 1e12;

/// The maximum job or user number. It is below 2^53, above which floats skip whole numbers.
const MAX_ID: f64 = 9e15;

/// A column of numbers.
struct Column {
    name: &'static str,
    /// The values, or `None` if the table has no such column.
    values: Option<Vec<Option<f64>>>,
}

impl Column {
    fn new(batch: &RecordBatch, name: &'static str) -> PyResult<Column> {
        Ok(Column { name, values: numbers(batch, name, "numbers")? })
    }

    /// Reads a column of numbers or names. Names are replaced by numbers.
    fn tags(batch: &RecordBatch, field: Field, names: &mut Names) -> PyResult<Column> {
        let name = field.key();
        let Ok(Some(words)) = texts(batch, name) else {
            return Ok(Column { name, values: numbers(batch, name, "numbers or text")? });
        };
        let mut number = |word: &String| names.number(field, word.as_bytes()) as f64;
        let values = words.iter().map(|word| word.as_ref().map(&mut number)).collect();
        Ok(Column { name, values: Some(values) })
    }
}

/// A row's index in its batch, and in the whole table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) in_batch: usize,
    pub(super) in_table: usize,
}

impl Row {
    fn error(self, problem: impl Display) -> PyErr {
        value(format!("row {}: {problem}", self.in_table))
    }

    fn get(self, column: &Column) -> Option<f64> {
        column.values.as_ref()?[self.in_batch]
    }

    fn whole(self, column: &Column, [least, most]: [f64; 2]) -> PyResult<Option<i64>> {
        let Some(number) = self.get(column) else { return Ok(None) };
        if number.fract() == 0.0 && (least..=most).contains(&number) {
            return Ok(Some(number as i64));
        }
        let name = column.name;
        let reason =
            format!("`{name}` must be a whole number from {least} to {most}, not {number}");
        Err(self.error(reason))
    }

    fn time(self, column: &Column) -> PyResult<Option<Time>> {
        let Some(seconds) = self.get(column) else { return Ok(None) };
        if (0.0..=MAX_TIME_S).contains(&seconds) {
            return Ok(Some(TimeUnit::SECOND.time(seconds)));
        }
        Err(self.error(format!("`{}` must be from 0 to 1e12 seconds, not {seconds}", column.name)))
    }

    fn required<T>(self, column: &Column, number: Option<T>) -> PyResult<T> {
        number.ok_or_else(|| match column.values {
            None => value(format!("the table has no column {:?}", column.name)),
            Some(_) => self.error(format!("`{}` is null", column.name)),
        })
    }
}

/// The columns in a batch of rows.
pub(super) struct Columns {
    submit: Column,
    run: Column,
    nodes: Column,
    job: Column,
    estimate: Column,
    sides: [Column; 3],
    freedom: Option<Vec<Option<String>>>,
    user: Column,
    queue: Column,
    partition: Column,
}

impl Columns {
    /// Finds the columns in a batch, and adds the names they contain to `names`.
    pub(super) fn new(batch: &RecordBatch, names: &mut Names) -> PyResult<Columns> {
        let column = |name| Column::new(batch, name);
        let mut tags = |field| Column::tags(batch, field, names);
        Ok(Columns {
            submit: column("submit")?,
            run: column("run")?,
            nodes: column("nodes")?,
            job: column("job")?,
            estimate: column("estimate")?,
            sides: [column("x")?, column("y")?, column("z")?],
            freedom: texts(batch, "freedom")?,
            user: tags(Field::User)?,
            queue: tags(Field::Queue)?,
            partition: tags(Field::Partition)?,
        })
    }

    /// Reads the job in a row.
    pub(super) fn record(&self, row: Row) -> PyResult<Record> {
        // Tables made from SWF logs contain -1 for unknown tags.
        let tag = |column| row.whole(column, [-1.0, MAX_ID]).map(|tag| tag.unwrap_or(-1));
        let time = |column| row.required(column, row.time(column)?);
        let nodes = row.whole(&self.nodes, [1.0, f64::from(u32::MAX)])?;
        let nodes = row.required(&self.nodes, nodes)? as u32;
        let number = row.whole(&self.job, [0.0, MAX_ID])?;
        Ok(Record {
            number: number.map_or(row.in_table as u64, |number| number as u64),
            line: row.in_table as u64 + 1,
            submit: time(&self.submit)?,
            run: time(&self.run)?,
            estimate: row.time(&self.estimate)?,
            nodes,
            shape: self.shape(row, nodes)?,
            freedom: self.freedom(row)?,
            tags: Tags {
                user: tag(&self.user)?,
                queue: tag(&self.queue)?,
                partition: tag(&self.partition)?,
                ..Tags::UNKNOWN
            },
            wait: None,
            dependency: None,
        })
    }

    fn shape(&self, row: Row, nodes: u32) -> PyResult<Option<Sides>> {
        let (mut shape, mut missing) = (None, None);
        for (axis, column) in self.sides.iter().enumerate() {
            let Some(side) = row.whole(column, [1.0, 65_535.0])? else {
                missing.get_or_insert(column.name);
                continue;
            };
            if let Some(missing) = missing {
                return Err(row.error(format!("`{}` requires `{missing}`", column.name)));
            }
            shape.get_or_insert([1; 3])[axis] = side as u16;
        }
        let Some(sides) = shape else { return Ok(None) };
        if sides.iter().map(|&side| u64::from(side)).product::<u64>() != u64::from(nodes) {
            let reason =
                format!("the product of x, y and z must equal the number of nodes, {nodes}");
            return Err(row.error(reason));
        }
        Ok(shape)
    }

    fn freedom(&self, row: Row) -> PyResult<Option<Freedom>> {
        let word = self.freedom.as_ref().and_then(|words| words[row.in_batch].as_deref());
        word.map(|word| word.parse().map_err(|unknown: UnknownFreedom| row.error(unknown)))
            .transpose()
    }
}
