//! The most recent durable records, kept for watchers in bounded memory.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::core::{Event, ServiceRecord};

/// The approximate maximum size of the retained records in bytes.
const MAX_BYTES: usize = 32 << 20;
/// The maximum number of records in a group.
const MAX_GROUP_RECORDS: usize = 512;

/// A durable record.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) record: ServiceRecord,
    /// The JSON text for watchers, written by the first watcher that needs it.
    pub(crate) sent: OnceLock<Box<str>>,
}

/// The most recent durable records.
pub(crate) struct Recent {
    retained: Mutex<Retained>,
    last: watch::Sender<u64>,
}

#[derive(Default)]
struct Retained {
    /// Groups of records and their approximate sizes in bytes, in order.
    groups: VecDeque<(Arc<Vec<Recorded>>, usize)>,
    bytes: usize,
    /// The number of the last durable record, repeated here because reading the channel is slower.
    last: u64,
}

/// The records after a given record.
#[derive(Debug)]
pub(crate) enum Next {
    /// A group whose first records may be earlier than requested.
    Records(Arc<Vec<Recorded>>),
    /// There are no records yet.
    Nothing,
    /// The records are no longer retained.
    Gone,
}

impl Recent {
    /// Returns an empty list; `last` is the number of the last durable record.
    pub(crate) fn new(last: u64) -> Recent {
        let retained = Retained { last, ..Retained::default() };
        Recent { retained: Mutex::new(retained), last: watch::Sender::new(last) }
    }

    /// Returns the number of the last durable record.
    pub(crate) fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// Announces records that another server has written. They are not retained here.
    pub(crate) fn advance_to(&self, last: u64) {
        self.retained.lock().last = last;
        self.last.send_replace(last);
    }

    /// Adds durable records. If there are no watchers, none are retained.
    pub(crate) fn add(&self, records: &mut Vec<ServiceRecord>) {
        let Some(last) = records.last().map(|record| record.seq) else { return };
        let mut retained = self.retained.lock();
        if self.last.receiver_count() == 0 {
            retained.clear();
        } else {
            retained.add(records);
        }
        records.clear();
        retained.last = last;
        drop(retained);
        self.last.send_replace(last);
    }

    /// Returns the next group of records after `seq`.
    pub(crate) fn after(&self, seq: u64) -> Next {
        let retained = self.retained.lock();
        if seq >= retained.last {
            return Next::Nothing;
        }
        let is_early = |(group, _): &(Arc<Vec<Recorded>>, usize)| group[0].record.seq <= seq + 1;
        let index = retained.groups.partition_point(is_early).checked_sub(1);
        let group = index.map(|index| &retained.groups[index].0);
        // There is a gap between two groups if another server has written records.
        let ends_later =
            |group: &&Arc<Vec<Recorded>>| group.last().is_some_and(|last| last.record.seq > seq);
        group.filter(ends_later).map_or(Next::Gone, |group| Next::Records(group.clone()))
    }

    /// Returns a channel with the last record number. Records are retained while it is open.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }
}

impl Retained {
    fn clear(&mut self) {
        self.groups.clear();
        self.bytes = 0;
    }

    fn add(&mut self, records: &mut Vec<ServiceRecord>) {
        while !records.is_empty() {
            let group = records.drain(..MAX_GROUP_RECORDS.min(records.len()));
            let group = group.map(|record| Recorded { record, sent: OnceLock::new() });
            let group: Vec<_> = group.collect();
            let bytes =
                |recorded: &Recorded| weight(&recorded.record) + sent_weight(&recorded.record);
            let bytes = group.iter().map(bytes).sum();
            self.groups.push_back((Arc::new(group), bytes));
            self.bytes += bytes;
        }
        while self.bytes > MAX_BYTES
            && let Some((_, bytes)) = self.groups.pop_front()
        {
            self.bytes -= bytes;
        }
    }
}

/// Returns a record's approximate size in memory, in bytes.
pub(crate) fn weight(record: &ServiceRecord) -> usize {
    let kept = record.kept.as_ref().map_or(0, |kept| kept.body.stored_bytes() + kept.key.len());
    let event = match &record.event {
        Event::Granted { lease } => size_of_val(&**lease) + size_of_val(&lease.parts[..]) + 256,
        Event::Reserved { reservation } => {
            size_of_val(&**reservation) + size_of_val(&reservation.parts[..])
        }
        Event::Queued { waiting } => size_of_val(&**waiting) + 256,
        Event::Configured { machines } => 256 * machines.len(),
        _ => 0,
    };
    size_of::<ServiceRecord>() + kept + event
}

/// Returns the approximate size of a record's text for watchers, in bytes.
fn sent_weight(record: &ServiceRecord) -> usize {
    let parts = match &record.event {
        Event::Granted { lease } => lease.parts.len(),
        Event::Reserved { reservation } => reservation.parts.len(),
        _ => 0,
    };
    512 + 48 * parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(from: u64, count: u64, bytes: usize) -> Vec<ServiceRecord> {
        let kept = || crate::core::StoredReply {
            tenant: String::new(),
            key: String::new(),
            digest: 0,
            status: 200,
            body: crate::core::StoredBody::Text("x".repeat(bytes)),
        };
        let record = |seq| ServiceRecord { seq, at_ms: 0, event: Event::Kept, kept: Some(kept()) };
        (from..from + count).map(record).collect()
    }

    fn first(next: &Next) -> Option<u64> {
        match next {
            Next::Records(records) => Some(records[0].record.seq),
            _ => None,
        }
    }

    #[test]
    fn records_are_retained_up_to_the_size_limit() {
        let recent = Recent::new(4);
        recent.add(&mut records(5, 2, 10));
        assert!(matches!(recent.after(6), Next::Nothing));
        // There were no watchers when these records were added.
        assert!(matches!(recent.after(4), Next::Gone));
        let watching = recent.watch();
        recent.add(&mut records(7, 600, 10));
        assert_eq!(*watching.borrow(), 606);
        assert_eq!(first(&recent.after(6)), Some(7));
        assert_eq!(first(&recent.after(518)), Some(519));
        assert!(matches!(recent.after(5), Next::Gone));
        recent.add(&mut records(607, 40, 1 << 20));
        assert!(matches!(recent.after(6), Next::Gone));
        assert!(recent.retained.lock().bytes <= MAX_BYTES);
    }
}
