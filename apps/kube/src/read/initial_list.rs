//! The initial list that a watch receives.

use std::collections::BTreeMap;

use kube::runtime::watcher::Event;

/// A list of objects of one kind, received while the watch for that kind restarts.
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
    /// Applies an event. A list replaces all objects, but only once it is complete.
    pub(super) fn apply<K: Ord>(
        &mut self,
        event: Event<V>,
        objects: &mut BTreeMap<K, V>,
        key: impl Fn(&V) -> K,
    ) {
        match event {
            Event::Apply(object) => drop(objects.insert(key(&object), object)),
            Event::Delete(object) => drop(objects.remove(&key(&object))),
            Event::Init => self.buffer.clear(),
            Event::InitApply(object) => self.buffer.push(object),
            Event::InitDone => {
                let all = std::mem::take(&mut self.buffer).into_iter();
                *objects = all.map(|object| (key(&object), object)).collect();
                self.is_complete = true;
            }
        }
    }
}
