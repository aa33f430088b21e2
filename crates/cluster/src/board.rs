//! The current view and the most recent changes, which are sent to pages as they occur.
//!
//! The board stores only the latest changes. A page that missed older ones reloads the full state.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch::{Receiver, Sender};

use crate::events::events;
use crate::page_state::PageState;
use crate::series::Series;
use crate::{View, date};

/// The maximum number of stored changes.
const MAX_CHANGES: usize = 4096;

/// A change, in the format sent to pages.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) seq: u64,
    pub(crate) kind: &'static str,
    pub(crate) data: Arc<str>,
}

struct Inner {
    /// The sequence number of the last change. It starts at the current time in microseconds, so it
    /// exceeds all numbers from earlier processes, unless one of them started within the same
    /// second or the clock was set back.
    seq: u64,
    view: Arc<View>,
    page: PageState,
    changes: VecDeque<Change>,
    series: Series,
}

/// The current view and its most recent changes.
pub struct Board {
    inner: Mutex<Inner>,
    /// A channel that notifies watchers of each new `seq`.
    last_seq: Sender<u64>,
}

impl Board {
    /// Creates a board that shows `view`.
    pub fn new(view: View) -> Board {
        // Sequence numbers stay below 2^53 so that JavaScript can represent them.
        let seq = view.now.saturating_mul(1_000_000).min(1 << 52);
        let (page, changes, series) = (view.page_state(), VecDeque::new(), Series::default());
        Board {
            inner: Mutex::new(Inner { seq, view: Arc::new(view), page, changes, series }),
            last_seq: Sender::new(seq),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the view and sends the changes to pages. If the machine or the strategy has
    /// changed, pages must reload the full state instead.
    pub fn publish(&self, view: View) {
        let (page, now) = (view.page_state(), view.now);
        let (busy, largest_free) = (view.busy(), view.largest_free());
        let mut inner = self.lock();
        let machine = |view: &View| (view.grid, view.name.clone(), view.strategy.to_string());
        let events = if machine(&inner.view) == machine(&view) {
            events(&inner.page, &page, &view.name)
        } else {
            inner.changes.clear();
            inner.seq += 1;
            Vec::new()
        };
        for (kind, mut data) in events {
            inner.seq += 1;
            let seq = inner.seq;
            data["seq"] = seq.into();
            data["at"] = date(now).into();
            data["kind"] = kind.into();
            inner.changes.push_back(Change { seq, kind, data: data.to_string().into() });
        }
        let over = inner.changes.len().saturating_sub(MAX_CHANGES);
        inner.changes.drain(..over);
        inner.series.add(now, busy, largest_free);
        inner.page = page;
        inner.view = Arc::new(view);
        let seq = inner.seq;
        drop(inner);
        self.last_seq.send_if_modified(|last| std::mem::replace(last, seq) != seq);
    }

    /// Returns the view and the sequence number of its last change.
    pub(crate) fn view(&self) -> (Arc<View>, u64) {
        let inner = self.lock();
        (Arc::clone(&inner.view), inner.seq)
    }

    /// Returns everything that the page draws, as JSON.
    pub(crate) fn state(&self) -> String {
        let inner = self.lock();
        let (view, page) = (&inner.view, &inner.page);
        json!({
            "seq": inner.seq,
            "now": date(view.now),
            "name": view.name,
            "machine": view.grid.to_string(),
            "strategy": view.strategy.to_string(),
            "scheduler": Value::Null,
            "leases": page.leases.values().collect::<Vec<_>>(),
            "waiting": page.waiting.iter().map(|(_, entry)| entry).collect::<Vec<_>>(),
            "failed": page.failed,
            "drained": [],
            "machines": [view.name],
            // The board grants no requests and stores no past states.
            "observer": view.ledger,
        })
        .to_string()
    }

    /// Returns the utilization history.
    pub(crate) fn series(&self) -> Value {
        let inner = self.lock();
        json!({ "samples": inner.series.samples(), "now": date(inner.view.now) })
    }

    /// Returns the changes after `seq`, or `None` if they are no longer stored or `seq` is unknown.
    pub(crate) fn after(&self, seq: u64) -> Option<Vec<Change>> {
        let inner = self.lock();
        let oldest = inner.changes.front().map_or(inner.seq, |change| change.seq - 1);
        let is_known = (oldest..=inner.seq).contains(&seq);
        let new = inner.changes.iter().filter(|change| change.seq > seq);
        is_known.then(|| new.cloned().collect())
    }

    /// Subscribes to the sequence number of the last change.
    pub(crate) fn last_seq(&self) -> Receiver<u64> {
        self.last_seq.subscribe()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use pavior::NodeId;

    use super::*;

    /// Creates a view of a machine on which the first `failed` nodes have failed.
    pub(crate) fn view(grid: &str, failed: u32) -> View {
        View {
            now: 1,
            name: "m".to_string(),
            ledger: "test",
            grid: grid.parse().unwrap(),
            strategy: "ff".parse().unwrap(),
            scheduler: "fcfs".to_string(),
            held: Vec::new(),
            failed: (0..failed).map(NodeId).collect(),
            waiting: Vec::new(),
            find: Box::new(|_| None),
            unreadable: BTreeMap::new(),
            shaper: None,
        }
    }

    #[test]
    fn pages_reload_if_changes_are_missing_or_the_machine_is_a_different_one() {
        let board = Board::new(view("mesh:100x50", 0));
        let count = |seq| board.after(seq).map(|changes| changes.len());
        let (first, most) = (board.view().1, MAX_CHANGES as u64);
        board.publish(view("mesh:100x50", MAX_CHANGES as u32));
        let counts = [first - 1, first, first + most, first + most + 1].map(count);
        assert_eq!(counts, [None, Some(MAX_CHANGES), Some(0), None]);
        board.publish(view("mesh:100x50", MAX_CHANGES as u32 + 1));
        assert_eq!([first, first + 1].map(count), [None, Some(MAX_CHANGES)]);
        board.publish(view("mesh:50x100", MAX_CHANGES as u32));
        assert_eq!([first + most + 1, first + most + 2].map(count), [None, Some(0)]);
    }
}
