//! A table of leases by number, stored in pages that are shared with views.
//!
//! A view keeps a reference to the list of pages, so a change may have to copy the list and the
//! affected page. Each page also stores the data that every diagnosis needs ([`Held`]), because a
//! page is contiguous, whereas the leases themselves are scattered in memory.
//!
//! Invariants: no page is empty; numbers increase within a page and from page to page; any two
//! adjacent pages together hold more than half of [`MAX_PAGE_LEASES`] leases.
//!
//! A lookup takes O(log leases). A change copies O(leases / [`MAX_PAGE_LEASES`]) pointers and at
//! most two pages.

use std::sync::Arc;

use pavior::Placement;

use super::Lease;

/// The maximum number of leases in a page.
const MAX_PAGE_LEASES: usize = 64;

/// The lease data that every diagnosis needs.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: u64,
    /// The index of the lease's machine.
    pub(crate) board: usize,
    pub(crate) placement: Placement,
    /// The time when the lease expires or its job is expected to end, if known.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "used only for diagnoses over HTTP")
    )]
    pub(crate) end_ms: Option<u64>,
    lease: Arc<Lease>,
}

impl Held {
    fn new(board: usize, lease: Arc<Lease>) -> Held {
        Held { id: lease.id, board, placement: lease.placement(), end_ms: lease.end_ms(), lease }
    }
}

type Pages = Vec<Arc<Vec<Held>>>;

/// A table of leases by number. Clones share the leases.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    pages: Arc<Pages>,
    count: usize,
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

    /// Returns the leases in order of number.
    pub fn values(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.held().map(|held| &held.lease)
    }

    /// Returns the leases with numbers greater than `id`, in order of number.
    pub fn after(&self, id: u64) -> impl Iterator<Item = &Arc<Lease>> {
        let (page, at) = self.find(id).map_or_else(|next| next, |(page, at)| (page, at + 1));
        let pages = self.pages.get(page..).unwrap_or_default();
        pages.iter().flat_map(|page| page.iter()).skip(at).map(|held| &held.lease)
    }

    /// Returns the leases on a machine, or on all machines, in the order in which they were
    /// granted. Takes O(l log l) for l leases.
    pub(crate) fn by_grant(&self, machine: Option<&str>) -> Vec<&Arc<Lease>> {
        let is_on = |lease: &&Arc<Lease>| machine.is_none_or(|name| lease.machine == name);
        let mut leases: Vec<&Arc<Lease>> = self.values().filter(is_on).collect();
        leases.sort_by_key(|lease| lease.epoch);
        leases
    }

    /// Returns the data needed for diagnoses, in order of lease number. Does not read any lease.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Held> {
        self.pages.iter().flat_map(|page| page.iter())
    }

    /// Returns the lease with the given number.
    pub fn get(&self, id: u64) -> Option<&Arc<Lease>> {
        let (page, at) = self.find(id).ok()?;
        Some(&self.pages[page][at].lease)
    }

    /// Returns true if there is a lease with this number.
    pub fn contains(&self, id: u64) -> bool {
        self.find(id).is_ok()
    }

    /// Returns a lease's page and its index within the page, or the insertion point as an error.
    fn find(&self, id: u64) -> Result<(usize, usize), (usize, usize)> {
        let page = self.pages.partition_point(|page| page[0].id <= id).saturating_sub(1);
        let held = self.pages.get(page).map_or(&[][..], |page| page);
        let found = held.binary_search_by_key(&id, |held| held.id);
        found.map(|at| (page, at)).map_err(|at| (page, at))
    }

    /// Inserts a lease on machine `board`, replacing any lease with the same number.
    pub(crate) fn insert(&mut self, board: usize, lease: Arc<Lease>) {
        let (found, held) = (self.find(lease.id), Held::new(board, lease));
        let pages = Arc::make_mut(&mut self.pages);
        let (page, at) = match found {
            Ok((page, at)) => {
                Arc::make_mut(&mut pages[page])[at] = held;
                return;
            }
            Err(place) => place,
        };
        self.count += 1;
        if pages.is_empty() {
            pages.push(Arc::default());
        }
        let is_last = page + 1 == pages.len();
        let list = Arc::make_mut(&mut pages[page]);
        list.insert(at, held);
        if list.len() > MAX_PAGE_LEASES {
            // Numbers usually increase, so if the last page overflows at its end, leave it full and
            // start a new page.
            let rest = list.split_off(if is_last && at == MAX_PAGE_LEASES {
                MAX_PAGE_LEASES
            } else {
                MAX_PAGE_LEASES / 2
            });
            pages.insert(page + 1, Arc::new(rest));
        }
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Arc<Lease>> {
        // If there is no such lease, return before anything is copied.
        let (page, at) = self.find(id).ok()?;
        let pages = Arc::make_mut(&mut self.pages);
        let gone = Arc::make_mut(&mut pages[page]).remove(at);
        self.count -= 1;
        if pages[page].is_empty() {
            pages.remove(page);
        }
        join(pages, page);
        join(pages, page.saturating_sub(1));
        Some(gone.lease)
    }
}

/// Merges a page with the next one if both together hold at most half of [`MAX_PAGE_LEASES`].
fn join(pages: &mut Pages, at: usize) {
    let [one, next, ..] = pages.get(at..).unwrap_or_default() else { return };
    if one.len() + next.len() <= MAX_PAGE_LEASES / 2 {
        let next = pages.remove(at + 1);
        Arc::make_mut(&mut pages[at]).extend(next.iter().cloned());
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

    fn check_equal(leases: &Leases, known: &BTreeMap<u64, Arc<Lease>>) {
        assert!(leases.values().eq(known.values()));
        assert_eq!((leases.len(), leases.is_empty()), (known.len(), known.is_empty()));
        assert!(known.iter().all(|(id, lease)| leases.get(*id) == Some(lease)));
        for id in (0..5_002).step_by(61) {
            assert!(leases.after(id).eq(known.range(id + 1..).map(|(_, lease)| lease)), "{id}");
        }
        check_invariants(leases);
    }

    /// Checks the invariants.
    fn check_invariants(leases: &Leases) {
        let lengths: Vec<usize> = leases.pages.iter().map(|page| page.len()).collect();
        assert!(lengths.iter().all(|length| (1..=MAX_PAGE_LEASES).contains(length)), "{lengths:?}");
        assert!(lengths.windows(2).all(|two| two[0] + two[1] > MAX_PAGE_LEASES / 2), "{lengths:?}");
        let ids: Vec<u64> = leases.held().map(|held| held.id).collect();
        assert!(ids.is_sorted_by(|one, next| one < next));
    }

    /// Checks that granting or ending a lease copies at most two pages, even if a view shares them.
    #[test]
    fn a_change_copies_at_most_two_pages() {
        let one = lease(0, 0);
        for count in [60, 4_000, 100_000] {
            let mut leases = Leases::default();
            for id in 0..count {
                leases.insert(0, Arc::new(Lease { id: 2 * id, ..Lease::clone(&one) }));
            }
            check_invariants(&leases);
            for id in [1, count, count + 1, 2 * count - 2, 2 * count] {
                let view = leases.clone();
                if leases.remove(id).is_none() {
                    leases.insert(0, lease(id, 0));
                }
                let shared =
                    |page: &Arc<Vec<Held>>| view.pages.iter().any(|of| Arc::ptr_eq(of, page));
                let copied = leases.pages.iter().filter(|page| !shared(page)).count();
                // Splitting or merging a page affects two pages.
                assert!(copied <= 2, "{count} leases: {copied} copied");
            }
        }
    }

    #[test]
    fn leases_behave_like_a_map_and_views_do_not_change() {
        let mut dice = Stream::new(1, 0, "leases");
        let (mut leases, mut known) = (Leases::default(), BTreeMap::new());
        for round in 0..60_000u64 {
            // The table alternately grows and shrinks, and some insertions replace existing leases.
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
                check_equal(&view, &then);
                check_equal(&leases, &known);
            }
        }
        assert!(!leases.contains(6_000));
    }
}
