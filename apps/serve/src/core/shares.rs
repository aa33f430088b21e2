//! Divides a limited resource fairly. Each entry belongs to a party, such as a tenant. When the
//! number or the total size of the entries is too large, the party with the largest share loses its
//! oldest entry. Each of P parties is therefore guaranteed at least 1/P of the total.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// A table of entries by number and by party. Each entry has `N` amounts (for example, its size).
/// Each amount is summed per party and in total.
#[derive(Clone, Debug)]
pub(crate) struct Shares<P, T, const N: usize> {
    entries: BTreeMap<u64, Entry<P, T, N>>,
    parties: HashMap<P, Share<N>>,
    total: [usize; N],
    /// For each amount, the parties ranked by their sums.
    ranks: [BTreeSet<(usize, P)>; N],
    last: u64,
}

#[derive(Clone, Debug)]
struct Entry<P, T, const N: usize> {
    party: P,
    amounts: [usize; N],
    item: T,
}

/// One party's entries.
#[derive(Clone, Debug)]
struct Share<const N: usize> {
    numbers: BTreeSet<u64>,
    amounts: [usize; N],
}

impl<P, T, const N: usize> Default for Shares<P, T, N> {
    fn default() -> Shares<P, T, N> {
        let ranks = std::array::from_fn(|_| BTreeSet::new());
        let (entries, parties) = (BTreeMap::new(), HashMap::new());
        Shares { entries, parties, total: [0; N], ranks, last: 0 }
    }
}

impl<P: Clone + Eq + Hash + Ord, T, const N: usize> Shares<P, T, N> {
    /// Returns the number for a new entry. The first number is 1.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Appends an entry and returns its number.
    pub(crate) fn add(&mut self, party: P, amounts: [usize; N], item: T) -> u64 {
        let number = self.number();
        self.insert(number, party, amounts, item);
        number
    }

    /// Adds an entry with an unused number.
    pub(crate) fn insert(&mut self, number: u64, party: P, amounts: [usize; N], item: T) {
        self.change(&party, |share| {
            share.numbers.insert(number);
            share.amounts.iter_mut().zip(amounts).for_each(|(own, more)| *own += more);
        });
        self.entries.insert(number, Entry { party, amounts, item });
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<(P, T)> {
        let Entry { party, amounts, item } = self.entries.remove(&number)?;
        self.change(&party, |share| {
            share.numbers.remove(&number);
            share.amounts.iter_mut().zip(amounts).for_each(|(own, less)| *own -= less);
        });
        Some((party, item))
    }

    /// Removes the oldest entry of the party with the largest sum of the given amount.
    pub(crate) fn remove_from_largest(&mut self, amount: usize) -> Option<(P, T)> {
        let (_, largest) = self.ranks[amount].last()?;
        let oldest = self.parties[largest].numbers.first().copied()?;
        self.remove(oldest)
    }

    /// Applies a change to a party's share and updates the totals and ranks.
    fn change(&mut self, party: &P, change: impl FnOnce(&mut Share<N>)) {
        let none = || Share { numbers: BTreeSet::new(), amounts: [0; N] };
        let share = self.parties.entry(party.clone()).or_insert_with(none);
        let before = share.amounts;
        change(share);
        let (after, is_empty) = (share.amounts, share.numbers.is_empty());
        if is_empty {
            self.parties.remove(party);
        }
        for (index, rank) in self.ranks.iter_mut().enumerate() {
            self.total[index] = self.total[index] - before[index] + after[index];
            rank.remove(&(before[index], party.clone()));
            if !is_empty {
                rank.insert((after[index], party.clone()));
            }
        }
    }

    pub(crate) fn total(&self) -> [usize; N] {
        self.total
    }

    pub(crate) fn get(&self, number: u64) -> Option<(&P, &T)> {
        self.entries.get(&number).map(|entry| (&entry.party, &entry.item))
    }

    /// Returns the oldest entry and its party.
    pub(crate) fn first(&self) -> Option<(u64, &P, &T)> {
        self.iter().next()
    }

    /// Returns the entries and their parties, in order of number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &P, &T)> {
        self.entries.iter().map(|(&number, entry)| (number, &entry.party, &entry.item))
    }
}

#[cfg(feature = "http")]
impl<P: Eq + Hash, T, const N: usize> Shares<P, T, N> {
    /// Returns a party's sum of each amount.
    pub(crate) fn of(&self, party: &P) -> [usize; N] {
        self.parties.get(party).map_or([0; N], |share| share.amounts)
    }

    /// Returns each party with its total amounts and the number of its oldest entry.
    pub(crate) fn parties(&self) -> impl Iterator<Item = (&P, [usize; N], u64)> {
        let first = |share: &Share<N>| share.numbers.first().copied();
        self.parties
            .iter()
            .filter_map(move |(party, share)| Some((party, share.amounts, first(share)?)))
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use pavior::Stream;

    use super::*;

    #[test]
    fn entries_and_sums_match_a_list() {
        let mut dice = Stream::new(1, 0, "shares");
        let (mut shares, mut list) = (Shares::default(), Vec::new());
        for round in 0..2_000 {
            let amount = dice.below(2) as usize;
            match dice.below(if round / 200 % 2 == 0 { 3 } else { 9 }) {
                0 | 1 => {
                    let (party, amounts) = (dice.below(4), [1, dice.below(9) as usize]);
                    list.push((shares.add(party, amounts, round), party, amounts, round));
                }
                2 if !list.is_empty() => {
                    let entry = list.remove(dice.below(list.len() as u64) as usize);
                    assert_eq!(shares.remove(entry.0), Some((entry.1, entry.3)));
                }
                _ => {
                    let sum = |party: u64| -> usize {
                        let entries = list.iter().filter(|entry| entry.1 == party);
                        entries.map(|entry| entry.2[amount]).sum()
                    };
                    let largest = list.iter().map(|entry| (sum(entry.1), entry.1)).max();
                    let is_theirs = |party| largest.is_some_and(|(_, largest)| party == largest);
                    let oldest = list.iter().position(|entry| is_theirs(entry.1));
                    let removed = oldest.map(|at| list.remove(at));
                    let removed = removed.map(|(_, party, _, item)| (party, item));
                    assert_eq!(shares.remove_from_largest(amount), removed);
                }
            }
            let sum = |amount: usize| list.iter().map(|entry| entry.2[amount]).sum::<usize>();
            assert_eq!(shares.total(), [sum(0), sum(1)]);
            let entries = list.iter().map(|(number, party, _, item)| (*number, party, item));
            assert!(shares.iter().eq(entries));
        }
    }
}
