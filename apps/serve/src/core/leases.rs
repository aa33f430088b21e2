//! The leases by number, in pages that views share.
//!
//! A view takes the pages, not the leases: O(leases / [`PAGE`]). A change copies its page if a view
//! has it.
//!
//! Invariant: pages are not empty, and numbers grow through a page and from page to page. Two
//! neighbours have more than half a page together.
//!
//! Cost: O(log leases) to find one; a change moves O([`PAGE`] + leases / [`PAGE`]) pointers.

use std::ops::Index;
use std::sync::Arc;

use super::Lease;

/// The most leases of a page.
const PAGE: usize = 256;

type Page = Vec<(u64, Arc<Lease>)>;

/// The leases by number. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    /// With the first number of each.
    pages: Vec<(u64, Arc<Page>)>,
    count: usize,
}

impl Leases {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The leases by number.
    pub fn values(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.pages.iter().flat_map(|(_, page)| page.iter().map(|(_, lease)| lease))
    }

    /// The same.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.values()
    }

    /// A lease by its number.
    pub fn get(&self, id: &u64) -> Option<&Arc<Lease>> {
        let (_, page) = self.pages.get(self.page(*id)?)?;
        let at = page.binary_search_by_key(id, |(id, _)| *id).ok()?;
        Some(&page[at].1)
    }

    /// Whether there is one of a number.
    pub fn contains_key(&self, id: &u64) -> bool {
        self.get(id).is_some()
    }

    /// The page that a number belongs to; none if it comes before all of them.
    fn page(&self, id: u64) -> Option<usize> {
        self.pages.partition_point(|(first, _)| *first <= id).checked_sub(1)
    }

    /// Puts a lease under its number, in place of the one that was there.
    pub(crate) fn insert(&mut self, id: u64, lease: Arc<Lease>) {
        let index = self.page(id).unwrap_or(0);
        let Some((first, page)) = self.pages.get_mut(index) else {
            self.pages.push((id, Arc::new(vec![(id, lease)])));
            self.count = 1;
            return;
        };
        let page = Arc::make_mut(page);
        match page.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => page[at].1 = lease,
            Err(at) => {
                page.insert(at, (id, lease));
                self.count += 1;
                *first = page[0].0;
                if page.len() > PAGE {
                    self.split(id);
                }
            }
        }
    }

    /// Divides the page of a number. Numbers grow as a rule: then all but the last stay.
    fn split(&mut self, id: u64) {
        let Some(index) = self.page(id) else { return };
        let page = Arc::make_mut(&mut self.pages[index].1);
        let is_last = page.last().is_some_and(|(last, _)| *last == id);
        let rest = page.split_off(if is_last { PAGE } else { PAGE / 2 });
        self.pages.insert(index + 1, (rest[0].0, Arc::new(rest)));
    }

    /// Takes a lease out.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Arc<Lease>> {
        let index = self.page(id)?;
        let (first, page) = &mut self.pages[index];
        let at = page.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let page = Arc::make_mut(page);
        let (_, gone) = page.remove(at);
        self.count -= 1;
        match page.first() {
            Some((id, _)) => *first = *id,
            None => drop(self.pages.remove(index)),
        }
        self.join(index);
        self.join(index.saturating_sub(1));
        Some(gone)
    }

    /// Joins a page and the next where both are short.
    fn join(&mut self, index: usize) {
        if let [(_, one), (_, next), ..] = self.pages.get(index..).unwrap_or_default()
            && one.len() + next.len() <= PAGE / 2
        {
            let (_, next) = self.pages.remove(index + 1);
            Arc::make_mut(&mut self.pages[index].1).extend(next.iter().cloned());
        }
    }
}

impl Index<&u64> for Leases {
    type Output = Arc<Lease>;

    fn index(&self, id: &u64) -> &Arc<Lease> {
        self.get(id).expect("the lease is held")
    }
}

impl FromIterator<Arc<Lease>> for Leases {
    fn from_iter<T: IntoIterator<Item = Arc<Lease>>>(leases: T) -> Leases {
        let mut all = Leases::default();
        leases.into_iter().for_each(|lease| all.insert(lease.id, lease));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pavior_kernel::Stream;

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
        let lengths: Vec<usize> = leases.pages.iter().map(|(_, page)| page.len()).collect();
        assert!(lengths.iter().all(|&length| (1..=PAGE).contains(&length)));
        assert!(lengths.windows(2).all(|two| two[0] + two[1] > PAGE / 2), "{lengths:?}");
        assert!(leases.pages.iter().all(|(first, page)| *first == page[0].0));
    }

    #[test]
    fn it_is_a_map_and_views_of_it_stay() {
        let mut dice = Stream::new(1, 0, "leases");
        let (mut leases, mut known) = (Leases::default(), BTreeMap::new());
        for round in 0..60_000u64 {
            // It grows, is replaced and shrinks in turn.
            let growing = round / 10_000 % 2 == 0;
            let id = dice.below(5_000);
            if dice.below(10) < if growing { 8 } else { 1 } {
                let one = lease(id, round);
                leases.insert(id, one.clone());
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
