//! A digest of everything that determines the results.
//!
//! Replications may be combined only if their fingerprints are equal. With equal fingerprints, the
//! program, points, metrics and policy are the same, and so is every field in every log and list.
//!
//! The digest detects mistakes, but not tampering: anyone who can write results can also forge
//! them.

use std::collections::HashSet;
use std::hash::Hasher;

use pavior_workload::traces::{Dependencies, Link, Record, Tags, Trace};
use pavior_workload::{Change, FailureEvent, ReservedNodes};
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::{InputError, InputFiles, InputRequest, Point, Specification};

/// The program version and a digest of the sources that affect results.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("PAVIOR_SOURCES"));

/// A digest under construction. Each string is preceded by its length, which marks the string's
/// end.
struct Items(SipHasher24);

impl Items {
    fn new() -> Items {
        Items(SipHasher24::new())
    }

    fn number(&mut self, number: u64) {
        self.0.write(&number.to_le_bytes());
    }

    fn numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        for number in numbers {
            self.number(number);
        }
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.write(text.as_bytes());
    }

    /// Returns the 128-bit digest as hexadecimal digits.
    fn digits(self) -> String {
        format!("{:032x}", self.0.finish128().as_u128())
    }
}

impl Specification {
    fn inputs(&self) -> impl Iterator<Item = InputRequest> + '_ {
        self.points.iter().flat_map(|point: &Point| point.settings().inputs())
    }

    /// Returns true if any point reads a log or a list.
    pub fn reads_files(&self) -> bool {
        self.inputs().next().is_some()
    }

    /// Computes a digest of everything that determines the results. The digest consists of the
    /// digest of the specification and the program ([`Specification::own_fingerprint`]), a dash,
    /// and the digest of the inputs.
    ///
    /// # Errors
    /// Returns an error if a log or a list cannot be read.
    pub fn fingerprint(&self, files: &dyn InputFiles) -> Result<String, InputError> {
        let mut items = Items::new();
        let mut seen = HashSet::new();
        for input in self.inputs() {
            if !seen.insert(input.key().to_string()) {
                continue;
            }
            items.text(input.key());
            match &input {
                InputRequest::Log(log) => add_trace(&mut items, files.log(log)?.as_ref()),
                InputRequest::Failures(list) => add_events(&mut items, &files.failures(list)?),
                InputRequest::Reservations(list) => {
                    add_reserved(&mut items, &files.reservations(list)?);
                }
            }
        }
        Ok(format!("{}-{}", self.own_fingerprint(), items.digits()))
    }

    /// Computes a digest of everything, except input files, that determines the results: the
    /// program, the points, the metrics, and the number of replications per point.
    pub fn own_fingerprint(&self) -> String {
        let mut items = Items::new();
        items.text(BUILD);
        items.number(self.points.len() as u64);
        self.points.iter().for_each(|point| items.text(&point.key()));
        items.number(self.metrics.len() as u64);
        self.metrics.iter().for_each(|spec| items.text(spec.name));
        let Specification { policy, caps, targets, timing, orders, .. } = self;
        items.text(&format!("{policy:?} {targets:?} {timing} {orders:?}"));
        for cap in caps {
            items.number(cap.unwrap_or(0));
        }
        items.digits()
    }
}

fn add_trace(items: &mut Items, trace: &Trace) {
    items.number(trace.records.len() as u64);
    for record in &trace.records {
        // List every field explicitly so that a new field cannot be forgotten. Links between jobs
        // follow the records.
        let Record {
            number,
            line: _,
            submit,
            run,
            estimate,
            nodes,
            shape,
            freedom,
            tags,
            wait: _,
            dependency: _,
        } = record;
        let Tags { status, user, group, application, queue, partition } = tags;
        let estimate = estimate.map_or(u64::MAX, |estimate| estimate.0);
        items.numbers([*number, submit.0, run.0, estimate, u64::from(*nodes)]);
        items.numbers(shape.unwrap_or_default().map(u64::from));
        items.number(freedom.map_or(0, |freedom| 1 + freedom as u64));
        items.numbers([status, user, group, application, queue, partition].map(|tag| *tag as u64));
    }
    for Link { predecessor, event, follower, think } in &Dependencies::of(&trace.records).links {
        items.numbers([u64::from(*predecessor), *event as u64, u64::from(*follower), think.0]);
    }
}

fn add_events(items: &mut Items, events: &[FailureEvent]) {
    items.number(events.len() as u64);
    for FailureEvent { at, component, change } in events {
        let (kind, number) = component.parts();
        let change = match change {
            Change::Repair => 0,
            Change::Fail => 1,
        };
        items.numbers([at.0, kind as u64, u64::from(number), change]);
    }
}

fn add_reserved(items: &mut Items, reserved: &[ReservedNodes]) {
    items.number(reserved.len() as u64);
    for ReservedNodes { boxes, from, to } in reserved {
        items.numbers([from.0, to.0, boxes.len() as u64]);
        for part in boxes {
            items.numbers(part.base.map(u64::from));
            items.numbers(part.sides.map(u64::from));
        }
    }
}
