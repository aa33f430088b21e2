//! The current view and its recent changes, which pages receive as they occur.
//!
//! The board stores only the latest changes. A page that has missed older ones reloads the whole
//! state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch::{Receiver, Sender};

use crate::series::Series;
use crate::view::Drawn;
use crate::{View, date};

/// The maximum number of changes that are stored.
const MAX_CHANGES: usize = 4096;

/// A change, in the format sent to pages.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) seq: u64,
    pub(crate) kind: &'static str,
    pub(crate) data: Arc<str>,
}

struct Inner {
    /// The number of the last change. Numbers from an earlier process are smaller.
    seq: u64,
    view: Arc<View>,
    drawn: Drawn,
    changes: VecDeque<Change>,
    series: Series,
}

/// A board, from which pages read.
pub struct Board {
    inner: Mutex<Inner>,
    /// Announces the number of each new change.
    news: Sender<u64>,
}

impl Board {
    /// Creates a board that shows a view.
    pub fn new(view: View) -> Board {
        // Numbers are below 2^53, so JavaScript can represent them.
        let seq = view.now.saturating_mul(1_000_000).min(1 << 52);
        let (drawn, changes, series) = (view.drawn(), VecDeque::new(), Series::default());
        Board {
            inner: Mutex::new(Inner { seq, view: Arc::new(view), drawn, changes, series }),
            news: Sender::new(seq),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the view that is shown.
    pub fn publish(&self, view: View) {
        let (drawn, now) = (view.drawn(), view.now);
        let mut inner = self.inner();
        let events = events(&inner.drawn, &drawn, &view.name);
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
        inner.drawn = drawn;
        inner.view = Arc::new(view);
        let seq = inner.seq;
        drop(inner);
        self.news.send_if_modified(|last| std::mem::replace(last, seq) != seq);
    }

    /// Returns the view and the number of its last change.
    pub(crate) fn view(&self) -> (Arc<View>, u64) {
        let inner = self.inner();
        (Arc::clone(&inner.view), inner.seq)
    }

    /// Returns everything that the page draws.
    pub(crate) fn state(&self) -> String {
        let inner = self.inner();
        let (view, drawn) = (&inner.view, &inner.drawn);
        json!({
            "seq": inner.seq,
            "now": date(view.now),
            "name": view.name,
            "machine": view.grid.to_string(),
            "strategy": view.strategy.to_string(),
            "scheduler": Value::Null,
            "leases": drawn.leases.values().collect::<Vec<_>>(),
            "waiting": drawn.waiting.iter().map(|(_, one)| one).collect::<Vec<_>>(),
            "failed": drawn.failed,
            "drained": [],
            "machines": [view.name],
            // This board does not grant requests, and stores no past states.
            "observer": view.ledger,
        })
        .to_string()
    }

    /// Returns the machine's history.
    pub(crate) fn series(&self) -> Value {
        let inner = self.inner();
        json!({ "samples": inner.series.samples(), "now": date(inner.view.now) })
    }

    /// Returns the changes after a given one, or `None` if these changes are no longer stored or
    /// the given one never existed.
    pub(crate) fn after(&self, seq: u64) -> Option<Vec<Change>> {
        let inner = self.inner();
        let oldest = inner.changes.front().map_or(inner.seq, |change| change.seq - 1);
        let known = (oldest..=inner.seq).contains(&seq);
        let new = inner.changes.iter().filter(|change| change.seq > seq);
        known.then(|| new.cloned().collect())
    }

    pub(crate) fn news(&self) -> Receiver<u64> {
        self.news.subscribe()
    }
}

/// Lists the differences between an old and a new view, as events for the page.
fn events(old: &Drawn, new: &Drawn, machine: &str) -> Vec<(&'static str, Value)> {
    let mut events = Vec::new();
    let by_name =
        |drawn: &Drawn| -> BTreeMap<String, Value> { drawn.waiting.iter().cloned().collect() };
    let (old_waiting, new_waiting) = (by_name(old), by_name(new));
    let gone = |old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>| -> Vec<String> {
        let gone = old.iter().filter(|(name, was)| new.get(*name) != Some(*was));
        gone.map(|(name, _)| name.clone()).collect()
    };
    let ended: BTreeSet<String> = gone(&old.leases, &new.leases)
        .into_iter()
        .chain(gone(&old_waiting, &new_waiting))
        .collect();
    for name in &ended {
        events.push(("ended", json!({ "id": name })));
    }
    for (name, lease) in &new.leases {
        if ended.contains(name) || !old.leases.contains_key(name) {
            events.push(("granted", json!({ "lease": lease })));
        }
    }
    for (name, waiting) in &new.waiting {
        if ended.contains(name) || !old_waiting.contains_key(name) {
            events.push(("queued", json!({ "waiting": waiting })));
        }
    }
    let node = |node: &Vec<u16>, state: &str| {
        ("node", json!({ "machine": machine, "node": node, "state": state }))
    };
    let better = old.failed.iter().filter(|at| !new.failed.contains(at));
    events.extend(better.map(|at| node(at, "healthy")));
    let worse = new.failed.iter().filter(|at| !old.failed.contains(at));
    events.extend(worse.map(|at| node(at, "failed")));
    events
}
