//! The leases by number, in a tree whose parts are shared with views.
//!
//! A view keeps the root. A change copies the page of its lease and the nodes above it, if a view
//! shares them. In addition to each lease, its page stores everything that diagnoses need from all
//! leases ([`Held`]): leases are scattered in memory, pages are not.
//!
//! Invariant: all pages are at the same depth, and only the page of an empty tree is empty. Numbers
//! increase within a page and from page to page; each part is stored with its first number. Two
//! neighbors together have more than half of [`MOST`] entries.
//!
//! Cost: O(log leases) for everything except traversals.

use std::ops::Index;
use std::sync::Arc;

use pavior::{Cuboid, Placement};

use super::Lease;

/// The maximum number of leases in a page, and of parts in an inner node.
const MOST: usize = 64;

/// The data of a lease that all diagnoses need.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: u64,
    /// The index of its machine.
    pub(crate) board: usize,
    pub(crate) placement: Placement,
    /// The time at which it expires or its job is expected to end, if known.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "diagnoses are told over HTTP"))]
    pub(crate) end_ms: Option<u64>,
    lease: Arc<Lease>,
}

impl Held {
    fn new(board: usize, lease: Arc<Lease>) -> Held {
        let placement = match lease.parts[..] {
            [[base, sides]] => Placement::Whole(Cuboid::new(base, sides)),
            _ => Placement::Parts(lease.cuboids()),
        };
        Held { id: lease.id, board, placement, end_ms: lease.end_ms(), lease }
    }
}

/// A node in the tree.
#[derive(Clone, Debug)]
enum Node {
    /// Leases by number.
    Page(Vec<Held>),
    /// Parts, each with its first number.
    Above(Vec<(u64, Arc<Node>)>),
}

/// The leases by number. Clones share them.
#[derive(Clone, Debug)]
pub struct Leases {
    root: Arc<Node>,
    count: usize,
}

impl Default for Leases {
    fn default() -> Leases {
        Leases { root: Arc::new(Node::Page(Vec::new())), count: 0 }
    }
}

impl Leases {
    /// Returns the number of leases.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no leases.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the leases by number.
    pub fn values(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.held().map(|held| &held.lease)
    }

    /// Returns the leases by number, like [`Leases::values`].
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.values()
    }

    /// Returns the leases of a machine, or all, in the order they were granted. O(l log l) for l
    /// leases.
    pub(crate) fn by_grant(&self, machine: Option<&str>) -> Vec<&Arc<Lease>> {
        let is_on = |lease: &&Arc<Lease>| machine.is_none_or(|name| lease.machine == name);
        let mut leases: Vec<&Arc<Lease>> = self.values().filter(is_on).collect();
        leases.sort_by_key(|lease| lease.epoch);
        leases
    }

    /// Returns the data of leases that diagnoses need, by number. The leases themselves are not
    /// accessed.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Held> {
        let mut above = Vec::new();
        let mut page = self.root.begin(&mut above).iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(held) = page.next() {
                    return Some(held);
                }
                let next = loop {
                    match above.last_mut()?.next() {
                        Some((_, part)) => break part,
                        None => drop(above.pop()),
                    }
                };
                page = next.begin(&mut above).iter();
            }
        })
    }

    /// Returns a lease by its number.
    pub fn get(&self, id: &u64) -> Option<&Arc<Lease>> {
        let mut node = &self.root;
        loop {
            match &**node {
                Node::Above(parts) => node = &parts[part(parts, *id)].1,
                Node::Page(page) => {
                    let at = page.binary_search_by_key(id, |held| held.id).ok()?;
                    return Some(&page[at].lease);
                }
            }
        }
    }

    /// Returns true if there is a lease with this number.
    pub fn contains_key(&self, id: &u64) -> bool {
        self.get(id).is_some()
    }

    /// Inserts a lease on the machine with an index, replacing any lease with its number.
    pub(crate) fn insert(&mut self, board: usize, lease: Arc<Lease>) {
        self.count += usize::from(!self.contains_key(&lease.id));
        let first = self.held().next().map_or(lease.id, |held| held.id.min(lease.id));
        if let Some(rest) = Node::insert(&mut self.root, Held::new(board, lease), true) {
            let parts = vec![(first, self.root.clone()), rest];
            self.root = Arc::new(Node::Above(parts));
        }
    }

    /// Removes a lease.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Arc<Lease>> {
        // Removing a missing lease must not copy anything.
        self.get(&id)?;
        let gone = Node::remove(&mut self.root, id)?;
        self.count -= 1;
        while let Node::Above(parts) = &*self.root
            && let [(_, only)] = &parts[..]
        {
            self.root = only.clone();
        }
        Some(gone.lease)
    }
}

/// Returns the index of the part for a number; the first part if the number comes before all of
/// them.
fn part(parts: &[(u64, Arc<Node>)], id: u64) -> usize {
    parts.partition_point(|(first, _)| *first <= id).saturating_sub(1)
}

/// Splits a list that is too long, and returns its second part. Numbers usually increase: an
/// addition at the end of the whole tree starts a new list, and the old one stays full.
fn split<T>(list: &mut Vec<T>, added: usize, is_last: bool) -> Option<Vec<T>> {
    let at = if is_last && added == MOST { MOST } else { MOST / 2 };
    (list.len() > MOST).then(|| list.split_off(at))
}

impl Node {
    /// Returns the number of leases or parts.
    fn len(&self) -> usize {
        match self {
            Node::Page(page) => page.len(),
            Node::Above(parts) => parts.len(),
        }
    }

    /// Returns the first page and the remaining parts at each depth.
    fn begin<'a>(&'a self, above: &mut Vec<std::slice::Iter<'a, (u64, Arc<Node>)>>) -> &'a [Held] {
        let mut node = self;
        loop {
            match node {
                Node::Page(page) => return page,
                Node::Above(parts) => {
                    let mut parts = parts.iter();
                    let (_, first) = parts.next().expect("a part has a page");
                    above.push(parts);
                    node = first;
                }
            }
        }
    }

    /// Inserts a lease into a part, which may be the last at its depth. If the part grew too long,
    /// returns the new part that follows it.
    fn insert(node: &mut Arc<Node>, held: Held, is_last: bool) -> Option<(u64, Arc<Node>)> {
        let id = held.id;
        match Arc::make_mut(node) {
            Node::Page(page) => match page.binary_search_by_key(&id, |held| held.id) {
                Ok(at) => {
                    page[at] = held;
                    None
                }
                Err(at) => {
                    page.insert(at, held);
                    let rest = split(page, at, is_last)?;
                    Some((rest[0].id, Arc::new(Node::Page(rest))))
                }
            },
            Node::Above(parts) => {
                let at = part(parts, id);
                let ends = is_last && at + 1 == parts.len();
                let (first, below) = &mut parts[at];
                *first = id.min(*first);
                let more = Node::insert(below, held, ends)?;
                parts.insert(at + 1, more);
                let rest = split(parts, at + 1, is_last)?;
                Some((rest[0].0, Arc::new(Node::Above(rest))))
            }
        }
    }

    /// Removes a lease from a part, which may then be empty.
    fn remove(node: &mut Arc<Node>, id: u64) -> Option<Held> {
        match Arc::make_mut(node) {
            Node::Page(page) => {
                let at = page.binary_search_by_key(&id, |held| held.id).ok()?;
                Some(page.remove(at))
            }
            Node::Above(parts) => {
                let at = part(parts, id);
                let (first, below) = &mut parts[at];
                let gone = Node::remove(below, id)?;
                match below.first() {
                    Some(id) => *first = id,
                    None => drop(parts.remove(at)),
                }
                Node::join(parts, at);
                Node::join(parts, at.saturating_sub(1));
                Some(gone)
            }
        }
    }

    /// Returns the first number; `None` if the part is empty.
    fn first(&self) -> Option<u64> {
        match self {
            Node::Page(page) => page.first().map(|held| held.id),
            Node::Above(parts) => parts.first().map(|(first, _)| *first),
        }
    }

    /// Joins a part and the next one if both are short.
    fn join(parts: &mut Vec<(u64, Arc<Node>)>, at: usize) {
        let [(_, one), (_, next), ..] = parts.get(at..).unwrap_or_default() else { return };
        if one.len() + next.len() > MOST / 2 {
            return;
        }
        let (_, next) = parts.remove(at + 1);
        match (Arc::make_mut(&mut parts[at].1), &*next) {
            (Node::Page(page), Node::Page(more)) => page.extend(more.iter().cloned()),
            (Node::Above(parts), Node::Above(more)) => parts.extend(more.iter().cloned()),
            _ => unreachable!("all pages are equally deep"),
        }
    }
}

impl Index<&u64> for Leases {
    type Output = Arc<Lease>;

    fn index(&self, id: &u64) -> &Arc<Lease> {
        self.get(id).expect("the lease is held")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pavior::Stream;

    use super::*;

    fn lease(id: u64, epoch: u64) -> Arc<Lease> {
        let text = format!(
            r#"{{"id":{id},"epoch":{epoch},"machine":"","parts":[],"requested":0,"start_ms":0}}"#
        );
        Arc::new(serde_json::from_str(&text).unwrap())
    }

    fn same(leases: &Leases, known: &BTreeMap<u64, Arc<Lease>>) {
        assert!(leases.values().eq(known.values()));
        assert_eq!((leases.len(), leases.is_empty()), (known.len(), known.is_empty()));
        assert!(known.iter().all(|(id, lease)| leases.get(id) == Some(lease)));
        judge(&leases.root, true);
    }

    /// Checks a part against the invariants; returns its depth and its first number.
    fn judge(node: &Node, is_root: bool) -> (usize, u64) {
        let length = node.len();
        assert!(length <= MOST && (length > 0 || is_root), "{length}");
        let short = |lengths: &[usize]| lengths.windows(2).any(|two| two[0] + two[1] <= MOST / 2);
        match node {
            Node::Page(page) => {
                assert!(page.is_sorted_by(|one, next| one.id < next.id));
                (0, page.first().map_or(0, |held| held.id))
            }
            Node::Above(parts) => {
                let lengths: Vec<usize> = parts.iter().map(|(_, part)| part.len()).collect();
                assert!(!short(&lengths), "{lengths:?}");
                assert!(length > 1 || !is_root, "a root of one part");
                let depths = parts.iter().map(|(first, part)| {
                    let (depth, known) = judge(part, false);
                    assert_eq!(*first, known);
                    depth
                });
                let depths: Vec<usize> = depths.collect();
                assert!(depths.iter().all(|&depth| depth == depths[0]), "{depths:?}");
                (depths[0] + 1, parts[0].0)
            }
        }
    }

    /// Returns the parts of one tree that the other does not share.
    fn own(node: &Arc<Node>, other: &[*const Node]) -> usize {
        if other.contains(&Arc::as_ptr(node)) {
            return 0;
        }
        match &**node {
            Node::Page(_) => 1,
            Node::Above(parts) => 1 + parts.iter().map(|(_, part)| own(part, other)).sum::<usize>(),
        }
    }

    fn all(node: &Arc<Node>, found: &mut Vec<*const Node>) {
        found.push(Arc::as_ptr(node));
        if let Node::Above(parts) = &**node {
            for (_, part) in parts {
                all(part, found);
            }
        }
    }

    /// Checks that a grant and an end cost the logarithm of the number of leases, even if a view
    /// shares all of them.
    #[test]
    fn a_change_copies_a_page_and_what_is_above_it() {
        let one = lease(0, 0);
        for (count, depth) in [(60, 0), (4_000, 1), (100_000, 2)] {
            let mut leases = Leases::default();
            for id in 0..count {
                leases.insert(0, Arc::new(Lease { id: 2 * id, ..Lease::clone(&one) }));
            }
            assert_eq!(judge(&leases.root, true).0, depth, "{count}");
            for id in [1, count, count + 1, 2 * count - 2, 2 * count] {
                let mut shared = Vec::new();
                let view = leases.clone();
                all(&view.root, &mut shared);
                if leases.remove(id).is_none() {
                    leases.insert(0, lease(id, 0));
                }
                // Splitting or joining a page affects two pages, and possibly two nodes at each
                // level above.
                let copied = own(&leases.root, &shared);
                assert!(copied <= 2 * (depth + 1) + 1, "{count} leases: {copied} copied");
            }
        }
    }

    #[test]
    fn it_is_a_map_and_views_of_it_stay() {
        let mut dice = Stream::new(1, 0, "leases");
        let (mut leases, mut known) = (Leases::default(), BTreeMap::new());
        for round in 0..60_000u64 {
            // The tree alternately grows and shrinks, with replacements.
            let growing = round / 10_000 % 2 == 0;
            let id = dice.below(5_000);
            if dice.below(10) < if growing { 8 } else { 1 } {
                let one = lease(id, round);
                leases.insert(0, one.clone());
                known.insert(id, one);
            } else {
                assert_eq!(leases.remove(id), known.remove(&id));
            }
            if round % 1_000 == 0 {
                let (view, then) = (leases.clone(), known.clone());
                let gone: Vec<u64> = known.keys().copied().step_by(3).collect();
                for id in gone {
                    assert_eq!(leases.remove(id), known.remove(&id));
                }
                same(&view, &then);
                same(&leases, &known);
            }
        }
        assert!(!leases.contains_key(&6_000));
    }
}
