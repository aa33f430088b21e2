//! Computes the events that update a page from one state to another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::page_state::PageState;

/// Returns the events that update a page from the old state to the new one.
pub(crate) fn events(
    old: &PageState,
    new: &PageState,
    machine: &str,
) -> Vec<(&'static str, Value)> {
    let mut events = Vec::new();
    // A page can only append to its queue, so resend every job after those still in order.
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
    fn a_page_that_applies_the_events_has_the_new_queue() {
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
