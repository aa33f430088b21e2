//! Objects of a kind by uid, and which of them have changed.

use std::collections::{BTreeMap, btree_map};
use std::mem::take;
use std::ops::{Deref, DerefMut};

use crate::objects::Uid;

/// The objects of a kind. They are read, and changed, as a table by uid.
///
/// Invariant: each object that is another one than when [`Tracked::changes`] was last asked is
/// among the changes. What is changed otherwise than by the methods here counts as a change of all.
#[derive(Clone, Debug)]
pub(crate) struct Tracked<V> {
    all: BTreeMap<Uid, V>,
    changes: Changes<Uid>,
}

/// What has changed since it was last asked.
#[derive(Debug)]
pub(crate) enum Changes<K> {
    /// Of each of these, that it came, went, or is another one.
    Some(Vec<K>),
    /// All of them may have.
    All,
}

/// The most changes that are told apart. To look at more one by one is no faster.
const MOST: usize = 1 << 14;

impl<K> Default for Changes<K> {
    /// Nothing has changed.
    fn default() -> Changes<K> {
        Changes::Some(Vec::new())
    }
}

/// A copy of objects is another table: for who looks at it all may have changed.
impl<K> Clone for Changes<K> {
    fn clone(&self) -> Changes<K> {
        Changes::All
    }
}

impl<K> Changes<K> {
    /// Notes that one is another one now.
    pub(crate) fn note(&mut self, key: K) {
        match self {
            Changes::Some(keys) if keys.len() < MOST => keys.push(key),
            _ => *self = Changes::All,
        }
    }
}

impl<V> Tracked<V> {
    /// What has changed since this was last asked: all, the first time.
    pub(crate) fn changes(&mut self) -> Changes<Uid> {
        take(&mut self.changes)
    }

    /// Puts an object in, in the place of the one that had its uid.
    pub(crate) fn insert(&mut self, uid: Uid, one: V) -> Option<V> {
        self.changes.note(uid.clone());
        self.all.insert(uid, one)
    }

    pub(crate) fn remove(&mut self, uid: &Uid) -> Option<V> {
        self.changes.note(uid.clone());
        self.all.remove(uid)
    }

    /// An object, to change it.
    pub(crate) fn get_mut(&mut self, uid: &Uid) -> Option<&mut V> {
        self.changes.note(uid.clone());
        self.all.get_mut(uid)
    }
}

impl<V> Default for Tracked<V> {
    fn default() -> Tracked<V> {
        Tracked { all: BTreeMap::new(), changes: Changes::All }
    }
}

impl<V> FromIterator<(Uid, V)> for Tracked<V> {
    fn from_iter<I: IntoIterator<Item = (Uid, V)>>(all: I) -> Tracked<V> {
        Tracked { all: all.into_iter().collect(), changes: Changes::All }
    }
}

impl<'a, V> IntoIterator for &'a Tracked<V> {
    type Item = (&'a Uid, &'a V);
    type IntoIter = btree_map::Iter<'a, Uid, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl<V> Deref for Tracked<V> {
    type Target = BTreeMap<Uid, V>;

    fn deref(&self) -> &BTreeMap<Uid, V> {
        &self.all
    }
}

impl<V> DerefMut for Tracked<V> {
    fn deref_mut(&mut self) -> &mut BTreeMap<Uid, V> {
        self.changes = Changes::All;
        &mut self.all
    }
}
