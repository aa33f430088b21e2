//! Computes the events that update a page from one state to another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::page_state::PageState;

/// Returns the events that update a page from the old state to the new one. No lease may have the
/// same id as a waiting job, because `ended` events refer to both by id.
pub(crate) fn events(
    old: &PageState,
    new: &PageState,
    machine: &str,
) -> Vec<(&'static str, Value)> {
    let mut events = Vec::new();
    // A page can only append to its queue, so resend every job, starting with the first one that
    // moved or changed.
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
    let [before, after] = [old, new].map(|page| page.failed.iter().collect::<BTreeSet<_>>());
    let repaired = old.failed.iter().filter(|at| !after.contains(at));
    events.extend(repaired.map(|at| node(at, "healthy")));
    let failed = new.failed.iter().filter(|at| !before.contains(at));
    events.extend(failed.map(|at| node(at, "failed")));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies events the same way the page does.
    fn apply(page: &mut PageState, events: Vec<(&'static str, Value)>) {
        let id = |value: &Value| value["id"].as_str().unwrap().to_string();
        for (kind, data) in events {
            match kind {
                "ended" => {
                    page.waiting.retain(|(id, _)| *id != data["id"]);
                    page.leases.remove(&id(&data));
                }
                "queued" => page.waiting.push((id(&data["waiting"]), data["waiting"].clone())),
                "granted" => {
                    page.leases.insert(id(&data["lease"]), data["lease"].clone());
                }
                _ if data["state"] == "failed" => {
                    page.failed.push(serde_json::from_value(data["node"].clone()).unwrap());
                }
                _ => page.failed.retain(|node| json!(node) != data["node"]),
            }
        }
    }

    #[test]
    fn a_page_that_applies_the_events_has_the_new_state() {
        let page = |waiting: &str, leases: &str, failed: &[u16]| {
            let lease = |id: &str| (id[..1].to_string(), json!({ "id": id[..1], "part": id }));
            let waiting = waiting.split_whitespace();
            PageState {
                waiting: waiting.map(|id| (id.to_string(), json!({ "id": id }))).collect(),
                leases: leases.split_whitespace().map(lease).collect(),
                failed: failed.iter().map(|&x| vec![x, 0]).collect(),
            }
        };
        for (mut shown, new, sent) in [
            (page("a b c", "", &[]), page("a b c", "", &[]), 0),
            (page("a b c", "", &[]), page("a c d", "", &[]), 2),
            (page("a b c", "", &[]), page("c b a", "", &[]), 6),
            (page("a b c", "", &[]), page("a x b c", "", &[]), 5),
            (page("a b", "x1 y1", &[]), page("b", "x1 y2 a1", &[]), 4),
            (page("", "x1 y1", &[1, 2, 3]), page("a", "y1", &[2, 4]), 5),
        ] {
            let events = events(&shown, &new, "m");
            assert_eq!(events.len(), sent);
            apply(&mut shown, events);
            shown.failed.sort_unstable();
            assert_eq!(shown.failed, new.failed);
            assert_eq!((shown.waiting, shown.leases), (new.waiting, new.leases));
        }
    }
}
