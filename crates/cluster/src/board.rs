//! The current view and its recent changes, which are sent to pages as they occur.
//!
//! The board stores only the latest changes. A page that missed older ones reloads the whole state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch::{Receiver, Sender};

use crate::series::Series;
use crate::view::PageState;
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
    /// The number of the last change, larger than all numbers from earlier processes.
    seq: u64,
    view: Arc<View>,
    page: PageState,
    changes: VecDeque<Change>,
    series: Series,
}

/// The current view and its recent changes.
pub struct Board {
    inner: Mutex<Inner>,
    /// Notifies watchers of `seq`.
    last_seq: Sender<u64>,
}

impl Board {
    /// Creates a board that shows a view.
    pub fn new(view: View) -> Board {
        // Numbers are below 2^53, so JavaScript can represent them.
        let seq = view.now.saturating_mul(1_000_000).min(1 << 52);
        let (page, changes, series) = (view.page_state(), VecDeque::new(), Series::default());
        Board {
            inner: Mutex::new(Inner { seq, view: Arc::new(view), page, changes, series }),
            last_seq: Sender::new(seq),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the view, and sends the changes to pages.
    pub fn publish(&self, view: View) {
        let (page, now) = (view.page_state(), view.now);
        let mut inner = self.inner();
        let events = events(&inner.page, &page, &view.name);
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
        inner.series.add(now, view.busy(), view.largest_free());
        inner.page = page;
        inner.view = Arc::new(view);
        let seq = inner.seq;
        drop(inner);
        self.last_seq.send_if_modified(|last| std::mem::replace(last, seq) != seq);
    }

    /// Returns the view and the number of its last change.
    pub(crate) fn view(&self) -> (Arc<View>, u64) {
        let inner = self.inner();
        (Arc::clone(&inner.view), inner.seq)
    }

    /// Returns everything that the page draws, as JSON.
    pub(crate) fn state(&self) -> String {
        let inner = self.inner();
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
        let inner = self.inner();
        json!({ "samples": inner.series.samples(), "now": date(inner.view.now) })
    }

    /// Returns the changes after `seq`, or `None` if they are no longer stored or `seq` is unknown.
    pub(crate) fn after(&self, seq: u64) -> Option<Vec<Change>> {
        let inner = self.inner();
        let oldest = inner.changes.front().map_or(inner.seq, |change| change.seq - 1);
        let known = (oldest..=inner.seq).contains(&seq);
        let new = inner.changes.iter().filter(|change| change.seq > seq);
        known.then(|| new.cloned().collect())
    }

    /// Subscribes to the number of the last change.
    pub(crate) fn last_seq(&self) -> Receiver<u64> {
        self.last_seq.subscribe()
    }
}

/// Lists the differences between an old and a new view, as events for the page.
fn events(old: &PageState, new: &PageState, machine: &str) -> Vec<(&'static str, Value)> {
    let mut events = Vec::new();
    // A page can only append to its queue, so all jobs after the first change of order are resent.
    let present: BTreeMap<&String, &Value> =
        new.waiting.iter().map(|(id, job)| (id, job)).collect();
    let unchanged = old.waiting.iter().filter(|(id, job)| present.get(id) == Some(&job));
    let in_order = unchanged.zip(&new.waiting).take_while(|(old, new)| old == new).count();
    let (in_place, queued) = new.waiting.split_at(in_order);
    let in_place: BTreeSet<&String> = in_place.iter().map(|(id, _)| id).collect();
    let left = old.waiting.iter().map(|(id, _)| id).filter(|id| !in_place.contains(id));
    let changed = old.leases.iter().filter(|(id, lease)| new.leases.get(*id) != Some(*lease));
    let ended: BTreeSet<&String> = changed.map(|(id, _)| id).chain(left).collect();
    for name in &ended {
        events.push(("ended", json!({ "id": name })));
    }
    for (name, lease) in &new.leases {
        if ended.contains(name) || !old.leases.contains_key(name) {
            events.push(("granted", json!({ "lease": lease })));
        }
    }
    events.extend(queued.iter().map(|(_, job)| ("queued", json!({ "waiting": job }))));
    let node = |node: &Vec<u16>, state: &str| {
        ("node", json!({ "machine": machine, "node": node, "state": state }))
    };
    let repaired = old.failed.iter().filter(|at| !new.failed.contains(at));
    events.extend(repaired.map(|at| node(at, "healthy")));
    let failed = new.failed.iter().filter(|at| !old.failed.contains(at));
    events.extend(failed.map(|at| node(at, "failed")));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies events to a queue as the page does.
    fn page_queue(mut queue: Vec<String>, events: &[(&'static str, Value)]) -> Vec<String> {
        for (kind, data) in events {
            match *kind {
                "ended" => queue.retain(|id| *id != data["id"]),
                "queued" => queue.push(data["waiting"]["id"].as_str().unwrap().to_string()),
                _ => {}
            }
        }
        queue
    }

    #[test]
    fn a_page_has_the_order_of_the_queue() {
        let page = |queue: &str| {
            let waiting = queue.split(' ').map(|id| (id.to_string(), json!({ "id": id })));
            PageState { leases: BTreeMap::new(), waiting: waiting.collect(), failed: Vec::new() }
        };
        let queue = |page: &PageState| page.waiting.iter().map(|(id, _)| id.clone()).collect();
        for (old, new, sent) in [
            ("a b c", "a b c", 0),
            ("a b c", "a c d", 2),
            ("a b c", "c b a", 6),
            ("a b c", "a x b c", 5),
        ] {
            let (old, new) = (page(old), page(new));
            let events = events(&old, &new, "m");
            assert_eq!(page_queue(queue(&old), &events), queue(&new) as Vec<String>);
            assert_eq!(events.len(), sent);
        }
    }
}
