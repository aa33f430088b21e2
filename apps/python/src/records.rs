//! Exports the history of all jobs as Arrow tables with one row per job or per box.

use std::sync::Arc;

use arrow_array::types::{Float64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, FixedSizeListArray, ListArray, StringArray, UInt8Array, UInt16Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use pavior::simulation::{Fate, JobRecord, Stay};
use pavior::workload::TimeUnit;
use pavior::{Cuboid, Time};
use pyo3::prelude::*;

use crate::arrays::reasons as all_reasons;
use crate::errors::value;
use crate::table::{Table, column};

/// The names of fates, indexed by the keys stored in the column.
const FATES: [&str; 4] = ["departed", "running", "waiting", "rejected"];

/// Returns a job's start and departure, or `None` if the job never started.
pub(crate) fn span(record: &JobRecord) -> Option<(Time, Option<Time>)> {
    match record.fate {
        Fate::Started { start, end, .. } => Some((start, end)),
        _ => None,
    }
}

/// Returns a job's boxes or, if the job has moved, the boxes in which it started.
pub(crate) fn parts(record: &JobRecord) -> &[Cuboid] {
    match &record.fate {
        Fate::Started { placement, .. } => placement.parts(),
        _ => &[],
    }
}

/// Creates a table with one row per job, in order of arrival. Its columns are `job` (the job's
/// number in the log), `submit`, `start`, `end` (in units of time; null if there is none), `nodes`
/// (requested), `granted_nodes`, `fate`, `reason` (why the job was rejected), and `boxes` (six
/// numbers per box: base and sides).
pub(crate) fn jobs(records: &[JobRecord], unit: TimeUnit) -> PyResult<Table> {
    let jobs = || records.iter().map(|record| &record.job);
    let fate = |record: &JobRecord| match record.fate {
        Fate::Started { end: Some(_), .. } => 0,
        Fate::Started { end: None, .. } => 1,
        Fate::Waiting => 2,
        Fate::Rejected(_) => 3,
    };
    let granted = |record: &JobRecord| parts(record).iter().map(Cuboid::volume).sum::<u32>();
    let times = |of: fn(&JobRecord) -> Option<Time>| -> ArrayRef {
        column::<Float64Type>(records.iter().map(|record| Some(unit.units(of(record)?))))
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("job", column::<UInt64Type>(jobs().map(|job| job.number))),
        ("submit", times(|record| Some(record.job.arrival))),
        ("start", times(|record| Some(span(record)?.0))),
        ("end", times(|record| span(record)?.1)),
        ("nodes", column::<UInt32Type>(jobs().map(|job| job.request.nodes))),
        ("granted_nodes", column::<UInt32Type>(records.iter().map(granted))),
        ("fate", word_column(records.iter().map(|record| Some(fate(record))), &FATES)?),
        ("reason", reasons(records)?),
        ("boxes", boxes(records)?),
    ];
    Table::new(columns, unit.name)
}

/// Creates a table with one row per box. Its columns are `job`, `start` and `end` (the interval
/// during which the job held the box; `end` is null if the job still holds it), `base_x` to
/// `base_z`, and `side_x` to `side_z`.
pub(crate) fn placements(records: &[JobRecord], unit: TimeUnit) -> PyResult<Table> {
    type PlacedBox<'r> = (&'r JobRecord, Time, Option<Time>, &'r Cuboid);
    let held: Vec<PlacedBox<'_>> = records
        .iter()
        .flat_map(|record| record.stays().map(move |stay| (record, stay)))
        .flat_map(|(record, Stay { start, end, placement })| {
            placement.parts().iter().map(move |part| (record, start, end, part))
        })
        .collect();
    let numbers = |of: fn(&Cuboid) -> u16| -> ArrayRef {
        column::<UInt16Type>(held.iter().map(|(.., part)| of(part)))
    };
    let ends = held.iter().map(|&(_, _, end, _)| end.map(|end| unit.units(end)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("job", column::<UInt64Type>(held.iter().map(|(record, ..)| record.job.number))),
        ("start", column::<Float64Type>(held.iter().map(|&(_, start, ..)| unit.units(start)))),
        ("end", column::<Float64Type>(ends)),
        ("base_x", numbers(|part| part.base[0])),
        ("base_y", numbers(|part| part.base[1])),
        ("base_z", numbers(|part| part.base[2])),
        ("side_x", numbers(|part| part.sides[0])),
        ("side_y", numbers(|part| part.sides[1])),
        ("side_z", numbers(|part| part.sides[2])),
    ];
    Table::new(columns, unit.name)
}

/// Creates a column of text values, each stored as an index into the short list `words`.
fn word_column(keys: impl Iterator<Item = Option<u8>>, words: &[&str]) -> PyResult<ArrayRef> {
    let values = Arc::new(StringArray::from(words.to_vec()));
    let keys: UInt8Array = keys.collect();
    Ok(Arc::new(DictionaryArray::<UInt8Type>::try_new(keys, values).map_err(value)?))
}

/// Creates the column of rejection reasons.
fn reasons(records: &[JobRecord]) -> PyResult<ArrayRef> {
    let known = all_reasons();
    let key = |record: &JobRecord| match record.fate {
        Fate::Rejected(refusal) => {
            known.iter().position(|word| *word == refusal.word()).map(|key| key as u8)
        }
        _ => None,
    };
    word_column(records.iter().map(key), &known)
}

/// Creates the column that contains each job's boxes.
fn boxes(records: &[JobRecord]) -> PyResult<ArrayRef> {
    let (mut offsets, mut numbers) = (vec![0_i32], Vec::<u16>::with_capacity(6 * records.len()));
    for record in records {
        for Cuboid { base, sides } in parts(record) {
            numbers.extend(base.iter().chain(sides));
        }
        let count = i32::try_from(numbers.len() / 6)
            .map_err(|_| value("a table cannot contain more than 2^31 boxes"))?;
        offsets.push(count);
    }
    let number = Arc::new(Field::new("item", DataType::UInt16, false));
    let six =
        FixedSizeListArray::try_new(number.clone(), 6, Arc::new(UInt16Array::from(numbers)), None)
            .map_err(value)?;
    let one = Arc::new(Field::new("item", DataType::FixedSizeList(number, 6), false));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(ListArray::try_new(one, offsets, Arc::new(six), None).map_err(value)?))
}
