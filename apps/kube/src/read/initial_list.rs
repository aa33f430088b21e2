//! The initial list of a watch.

use std::collections::BTreeMap;

use kube::runtime::watcher::Event;

/// The list of a kind received while its watch restarts.
pub(super) struct InitialList<V> {
    buffer: Vec<V>,
    /// True once a complete list has been received.
    pub(super) is_complete: bool,
}

impl<V> Default for InitialList<V> {
    fn default() -> InitialList<V> {
        InitialList { buffer: Vec::new(), is_complete: false }
    }
}

impl<V> InitialList<V> {
    /// Applies an event. A list replaces all objects, but only when it is complete.
    pub(super) fn apply<K: Ord>(
        &mut self,
        event: Event<V>,
        objects: &mut BTreeMap<K, V>,
        key: impl Fn(&V) -> K,
    ) {
        match event {
            Event::Apply(one) => drop(objects.insert(key(&one), one)),
            Event::Delete(one) => drop(objects.remove(&key(&one))),
            Event::Init => self.buffer.clear(),
            Event::InitApply(one) => self.buffer.push(one),
            Event::InitDone => {
                let all = std::mem::take(&mut self.buffer).into_iter();
                *objects = all.map(|one| (key(&one), one)).collect();
                self.is_complete = true;
            }
        }
    }
}
