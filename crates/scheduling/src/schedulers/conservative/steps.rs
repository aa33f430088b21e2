//! The number of free nodes at every time from now on, stored as a treap of changes.
//!
//! Each tree node stores the sum of the changes in its subtree, and the minimum and maximum of
//! their partial sums. The next time with enough free nodes, or with too few, can therefore be
//! found without visiting the times in between.
//!
//! Invariant: no change is 0. The priority of a change is a hash of its time, so the shape of the
//! tree depends only on the changes, not on the order in which they were added.
//!
//! Cost: O(T) words for T changes, and O(log T) per change and query.
//!
//! Source: Seidel & Aragon, "Randomized search trees", Algorithmica 16, 1996.

use std::cmp::Ordering;

use pavior_kernel::Time;

use super::slot::{Interval, Need};

/// The number of free nodes over time, stored as changes.
pub(super) struct Steps {
    from: Time,
    /// The number of free nodes before the first change.
    first: i64,
    root: Link,
    changes: Vec<Change>,
    /// Unused indices of `changes`.
    unused: Vec<usize>,
}

type Link = Option<usize>;

/// A change in the number of free nodes, and the sums over its subtree.
struct Change {
    at: Time,
    by: i64,
    before: Link,
    after: Link,
    sum: i64,
    least: i64,
    most: i64,
}

/// The condition that the number of free nodes must satisfy.
#[derive(Clone, Copy)]
enum Wanted {
    Enough(i64),
    TooFew(i64),
}

impl Wanted {
    /// Returns true if at least one number from `least` to `most` satisfies the condition.
    fn among(self, least: i64, most: i64) -> bool {
        match self {
            Wanted::Enough(nodes) => most >= nodes,
            Wanted::TooFew(nodes) => least < nodes,
        }
    }
}

impl Steps {
    /// Creates a timeline with a constant number of free nodes.
    pub(super) fn new(from: Time, nodes: u32) -> Steps {
        let first = i64::from(nodes);
        Steps { from, first, root: None, changes: Vec::new(), unused: Vec::new() }
    }

    /// Drops everything before `now`. Takes O(log T) time for each change that is dropped.
    pub(super) fn advance(&mut self, now: Time) {
        let (past, coming) = self.split(self.root, now.saturating_add(Time(1)));
        self.root = coming;
        self.from = self.from.max(now);
        let mut forgotten: Vec<usize> = past.into_iter().collect();
        self.first += past.map_or(0, |past| self.changes[past].sum);
        while let Some(change) = forgotten.pop() {
            forgotten.extend(self.changes[change].before);
            forgotten.extend(self.changes[change].after);
            self.unused.push(change);
        }
    }

    /// Adds `nodes` to the number of free nodes in the part of `stretch` that is not yet past.
    pub(super) fn add(&mut self, nodes: i64, stretch: Interval) {
        let from = stretch.from.max(self.from);
        if stretch.to <= from || nodes == 0 {
            return;
        }
        if from == self.from {
            self.first += nodes;
        } else {
            self.root = self.insert(self.root, from, nodes);
        }
        if stretch.to < Time::MAX {
            self.root = self.insert(self.root, stretch.to, -nodes);
        }
    }

    /// Returns the first time in `begins` from which enough nodes are free for the job's whole
    /// estimate. Takes O(log T) time, plus O(log T) for each earlier gap that is too short.
    pub(super) fn earliest(&self, need: Need, begins: Interval) -> Option<Time> {
        let nodes = i64::try_from(need.nodes).unwrap_or(i64::MAX);
        let mut begin = begins.from.max(self.from);
        if self.at(begin) < nodes {
            begin = self.next(begin, Wanted::Enough(nodes))?;
        }
        while begin < begins.to {
            match self.next(begin, Wanted::TooFew(nodes)) {
                Some(short) if short < Interval::new(begin, need.estimate).to => {
                    begin = self.next(short, Wanted::Enough(nodes))?;
                }
                _ => return Some(begin),
            }
        }
        None
    }

    /// Returns true if fewer than `nodes` nodes are free at some time in `stretch`. Takes O(log T)
    /// time.
    pub(super) fn are_fewer(&self, nodes: i64, stretch: Interval) -> bool {
        let from = stretch.from.max(self.from);
        let fewer = || self.next(from, Wanted::TooFew(nodes));
        self.at(from) < nodes || fewer().is_some_and(|short| short < stretch.to)
    }

    /// Returns the maximum number of free nodes at any time before `limit`. Takes O(log T) time.
    pub(super) fn most(&self, limit: Time) -> i64 {
        let (mut most, mut level, mut tree) = (self.first, self.first, self.root);
        while let Some(place) = tree {
            let change = &self.changes[place];
            if change.at >= limit {
                tree = change.before;
                continue;
            }
            if let Some(before) = change.before {
                most = most.max(level + self.changes[before].most);
            }
            level += self.sum(change.before) + change.by;
            most = most.max(level);
            tree = change.after;
        }
        most
    }

    /// Returns the number of free nodes at the given time.
    fn at(&self, time: Time) -> i64 {
        let (mut level, mut tree) = (self.first, self.root);
        while let Some(place) = tree {
            let change = &self.changes[place];
            if change.at <= time {
                level += self.sum(change.before) + change.by;
                tree = change.after;
            } else {
                tree = change.before;
            }
        }
        level
    }

    /// Returns the first time after `after` at which the number changes and satisfies `wanted`.
    fn next(&self, after: Time, wanted: Wanted) -> Option<Time> {
        self.next_in(self.root, self.first, after, wanted)
    }

    fn next_in(&self, tree: Link, level: i64, after: Time, wanted: Wanted) -> Option<Time> {
        let change = &self.changes[tree?];
        if !wanted.among(level + change.least, level + change.most) {
            return None;
        }
        let here = level + self.sum(change.before) + change.by;
        if change.at > after {
            let sooner = self.next_in(change.before, level, after, wanted);
            if sooner.is_some() {
                return sooner;
            }
            if wanted.among(here, here) {
                return Some(change.at);
            }
        }
        self.next_in(change.after, here, after, wanted)
    }

    fn sum(&self, tree: Link) -> i64 {
        tree.map_or(0, |place| self.changes[place].sum)
    }

    /// Adds a change to the tree. Removes the entry if the total change at that time becomes 0.
    fn insert(&mut self, tree: Link, at: Time, by: i64) -> Link {
        let top = tree.filter(|&place| priority(self.changes[place].at) >= priority(at));
        let Some(place) = top else {
            // Not in this subtree, because the time's priority is higher than the root's.
            let (before, after) = self.split(tree, at);
            return Some(self.place(Change { at, by, before, after, sum: 0, least: 0, most: 0 }));
        };
        let Change { at: here, before, after, .. } = self.changes[place];
        match at.cmp(&here) {
            Ordering::Less => self.changes[place].before = self.insert(before, at, by),
            Ordering::Greater => self.changes[place].after = self.insert(after, at, by),
            Ordering::Equal => {
                self.changes[place].by += by;
                if self.changes[place].by == 0 {
                    self.unused.push(place);
                    return self.join(before, after);
                }
            }
        }
        self.sum_up(place);
        tree
    }

    fn place(&mut self, change: Change) -> usize {
        let place = self.unused.pop().unwrap_or(self.changes.len());
        if place == self.changes.len() {
            self.changes.push(change);
        } else {
            self.changes[place] = change;
        }
        self.sum_up(place);
        place
    }

    /// Splits the tree into the changes before a time and the changes at or after it.
    fn split(&mut self, tree: Link, at: Time) -> (Link, Link) {
        let Some(place) = tree else { return (None, None) };
        let answer = if self.changes[place].at < at {
            let (near, far) = self.split(self.changes[place].after, at);
            self.changes[place].after = near;
            (tree, far)
        } else {
            let (near, far) = self.split(self.changes[place].before, at);
            self.changes[place].before = far;
            (near, tree)
        };
        self.sum_up(place);
        answer
    }

    /// Joins two trees. All changes in the first must be before those in the second.
    fn join(&mut self, before: Link, after: Link) -> Link {
        let (Some(one), Some(other)) = (before, after) else { return before.or(after) };
        if priority(self.changes[one].at) > priority(self.changes[other].at) {
            self.changes[one].after = self.join(self.changes[one].after, after);
            self.sum_up(one);
            before
        } else {
            self.changes[other].before = self.join(before, self.changes[other].before);
            self.sum_up(other);
            after
        }
    }

    fn sum_up(&mut self, place: usize) {
        let Change { by, before, after, .. } = self.changes[place];
        let here = self.sum(before) + by;
        let (mut least, mut most) = (here, here);
        for (tree, level) in [(before, 0), (after, here)] {
            if let Some(part) = tree.map(|place| &self.changes[place]) {
                least = least.min(level + part.least);
                most = most.max(level + part.most);
            }
        }
        let sum = here + self.sum(after);
        let change = &mut self.changes[place];
        (change.sum, change.least, change.most) = (sum, least, most);
    }
}

/// Returns a distinct pseudorandom number for every time (the finalizer of splitmix64).
fn priority(at: Time) -> u64 {
    let mut mixed = at.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIMES: usize = 40;

    /// The number of free nodes at each time, as a plain list.
    struct Plain {
        from: usize,
        free: Vec<i64>,
    }

    impl Plain {
        fn earliest(&self, nodes: i64, length: usize, from: usize, limit: usize) -> Option<usize> {
            (from.max(self.from)..limit).find(|&begin| {
                let at = |time: usize| self.free[time.min(TIMES - 1)];
                (begin..begin + length.max(1)).all(|time| at(time) >= nodes)
            })
        }
    }

    fn interval(from: usize, to: usize) -> Interval {
        let to = if to == TIMES { Time::MAX } else { Time(to as u64) };
        Interval { from: Time(from as u64), to }
    }

    fn check(steps: &Steps, plain: &Plain) -> Result<(), TestCaseError> {
        for time in plain.from..TIMES {
            prop_assert_eq!(steps.at(Time(time as u64)), plain.free[time]);
            let most = plain.free[plain.from..time.max(plain.from + 1)].iter().max();
            prop_assert_eq!(Some(&steps.most(Time(time as u64))), most);
        }
        for (nodes, (from, to)) in
            (0..9).flat_map(|nodes| [(0, 1), (3, 9), (17, TIMES)].map(|stretch| (nodes, stretch)))
        {
            let fewer = (from.max(plain.from)..to).any(|time| plain.free[time] < nodes);
            if from.max(plain.from) < to {
                prop_assert_eq!(steps.are_fewer(nodes, interval(from, to)), fewer);
            }
        }
        for (nodes, length) in (0..9).flat_map(|nodes| [0, 1, 2, 5, 13].map(|many| (nodes, many))) {
            for (from, to) in [(0, 1), (0, 25), (3, TIMES), (17, 18), (17, TIMES)] {
                let need = Need { nodes, estimate: Time(length as u64) };
                let found = steps.earliest(need, interval(from, to));
                let plain = plain.earliest(nodes as i64, length, from, to);
                prop_assert_eq!(found, plain.map(|time| Time(time as u64)), "{} {}", nodes, length);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_tree_of_changes_is_a_number_at_each_time(
            ops in prop::collection::vec((-4i64..5, 0..TIMES, 0..=TIMES, 0u64..9), 1..40),
        ) {
            let mut steps = Steps::new(Time(0), 5);
            let mut plain = Plain { from: 0, free: vec![5; TIMES] };
            for (nodes, from, to, forward) in ops {
                steps.add(nodes, interval(from, to));
                plain.free.iter_mut().take(to).skip(from).for_each(|free| *free += nodes);
                if forward == 0 {
                    plain.from = (plain.from + 2).min(TIMES - 1);
                    steps.advance(Time(plain.from as u64));
                }
                check(&steps, &plain)?;
            }
            // A change that cancels out leaves no entry.
            let kept = steps.changes.len() - steps.unused.len();
            let differ = plain.free.windows(2).skip(plain.from).filter(|pair| pair[0] != pair[1]);
            prop_assert_eq!(kept, differ.count());
        }
    }
}
