//! An index that maps the keys in a list to their positions.
//!
//! The index is a hash table with open addressing and linear probing. Its slots contain positions
//! in the list rather than keys, so the index is a single array that is quick to copy.
//!
//! Invariant: every key in the list has exactly one slot, and at most half of the slots are used.
//!
//! Cost: O(1) expected time per operation.

/// The value of an empty slot.
const NONE: u32 = u32::MAX;

/// The position of each key in a list of distinct keys.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyIndex {
    /// The slots. The number of slots is a power of two, or 0 if there is no index.
    slots: Vec<u32>,
}

impl KeyIndex {
    pub(super) fn of(keys: &[u64]) -> KeyIndex {
        let mut places = KeyIndex { slots: vec![NONE; (4 * keys.len()).next_power_of_two()] };
        for (place, &key) in keys.iter().enumerate() {
            places.fill(key, place);
        }
        places
    }

    /// Returns true if there is an index.
    pub(super) fn is_used(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Adds the list's last key to the index, which must not contain it yet.
    pub(super) fn pushed(&mut self, keys: &[u64]) {
        if keys.len() * 2 > self.slots.len() {
            *self = KeyIndex::of(keys);
        } else if let Some((&key, others)) = keys.split_last() {
            self.fill(key, others.len());
        }
    }

    /// Removes a key from the list, moves the last key to its position, and returns that position.
    pub(super) fn swap_remove(&mut self, keys: &mut Vec<u64>, key: u64) -> Option<usize> {
        let hole = self.find(keys, key)?;
        let place = self.slots[hole];
        let moved = self.find(keys, *keys.last()?)?;
        self.slots[moved] = place;
        keys.swap_remove(place as usize);
        self.empty(keys, hole);
        Some(place as usize)
    }

    fn home(&self, key: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn find(&self, keys: &[u64], key: u64) -> Option<usize> {
        let mut slot = self.home(key);
        while self.slots[slot] != NONE {
            if keys[self.slots[slot] as usize] == key {
                return Some(slot);
            }
            slot = self.after(slot);
        }
        None
    }

    fn fill(&mut self, key: u64, place: usize) {
        let mut slot = self.home(key);
        while self.slots[slot] != NONE {
            slot = self.after(slot);
        }
        self.slots[slot] = place as u32;
    }

    /// Empties a slot and moves later entries that lookups would otherwise fail to reach.
    fn empty(&mut self, keys: &[u64], mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = self.after(hole);
        while self.slots[slot] != NONE {
            let home = self.home(keys[self.slots[slot] as usize]);
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[slot];
                hole = slot;
            }
            slot = self.after(slot);
        }
        self.slots[hole] = NONE;
    }
}
