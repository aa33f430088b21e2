//! Which nodes are free when: occupancy from now on, by what is expected and booked.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

/// The free nodes from a time on, until the next segment begins.
struct Segment {
    from: Time,
    free: Occupancy,
}

/// The free nodes at every time from now on. The last segment never ends.
///
/// For T segments and N nodes: O(T N/64) words; taking and giving cost the nodes' rows in every
/// segment that they concern.
pub(crate) struct Profile {
    segments: Vec<Segment>,
}

/// A stretch of time, its end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Interval {
    /// A stretch of a job's estimated length, at least a tick: a job said to take no time still
    /// holds its nodes in an instant.
    pub(crate) fn new(from: Time, estimate: Time) -> Interval {
        Interval { from, to: from.saturating_add(estimate.max(Time(1))) }
    }
}

impl Profile {
    /// These nodes free from now on for ever.
    pub(crate) fn new(now: Time, free: Occupancy) -> Profile {
        Profile { segments: vec![Segment { from: now, free }] }
    }

    /// Forgets what was before now.
    pub(crate) fn advance(&mut self, now: Time) {
        let current = self.segments.partition_point(|segment| segment.from <= now).max(1) - 1;
        self.segments.drain(..current);
        self.segments[0].from = self.segments[0].from.max(now);
    }

    /// Takes free nodes for a stretch of time, as far as it is not past.
    pub(crate) fn take(&mut self, placement: &Placement, interval: Interval) {
        self.change(interval, |free| {
            free.take_all(placement.parts()).expect("booked nodes are free");
        });
    }

    /// Gives nodes back for a stretch of time, as far as it is not past.
    pub(crate) fn give(&mut self, placement: &Placement, interval: Interval) {
        self.change(interval, |free| {
            free.give_all(placement.parts()).expect("booked nodes were taken");
        });
    }

    /// When, before `limit`, nodes are first free for as long as a job is estimated to run.
    pub(crate) fn earliest_of(
        &self,
        placement: &Placement,
        estimate: Time,
        limit: Time,
    ) -> Option<Interval> {
        let starts = self.segments.iter().enumerate();
        starts.take_while(|(_, segment)| segment.from < limit).find_map(|(index, segment)| {
            let interval = Interval::new(segment.from, estimate);
            let window = self.segments[index..].iter().take_while(|later| later.from < interval.to);
            let is_free =
                |free: &Occupancy| placement.parts().iter().all(|part| free.is_free(part));
            window.map(|later| &later.free).all(is_free).then_some(interval)
        })
    }

    /// Joins segments that do not differ.
    pub(crate) fn tidy(&mut self) {
        self.segments.dedup_by(|next, before| next.free == before.free);
    }

    fn change(&mut self, interval: Interval, change: impl Fn(&mut Occupancy)) {
        let from = interval.from.max(self.segments[0].from);
        if interval.to <= from {
            return;
        }
        let first = self.cut(from);
        let last =
            if interval.to == Time::MAX { self.segments.len() } else { self.cut(interval.to) };
        self.segments[first..last].iter_mut().for_each(|segment| change(&mut segment.free));
    }

    /// The index of the segment that begins at a time, cut there if need be.
    fn cut(&mut self, at: Time) -> usize {
        let index = self.segments.partition_point(|segment| segment.from < at);
        if self.segments.get(index).is_none_or(|segment| segment.from != at) {
            let free = self.segments[index - 1].free.clone();
            self.segments.insert(index, Segment { from: at, free });
        }
        index
    }

    /// The earliest time before `limit` at which a request can be placed for as long as it is
    /// estimated to run, on nodes free throughout, and where. `ask` puts the question for nodes
    /// free from a time on.
    ///
    /// The nodes free throughout a stretch that begins inside a segment are free throughout the one
    /// that begins with it, or with the present: only those are tried. O(T) counts in all, and only where
    /// enough nodes are free throughout a question, and O(N/64) words for each segment of the stretch.
    pub(crate) fn earliest(
        &self,
        needed: u64,
        estimate: Time,
        limit: Time,
        mut ask: impl FnMut(Time, &Occupancy) -> Option<Placement>,
    ) -> Option<(Time, Placement)> {
        let short = |segment: &Segment| u64::from(segment.free.count()) < needed;
        let mut index = 0;
        // The segments looked at so far, and the one behind the last of them that has too few nodes:
        // whatever begins before that runs into it. Both only grow with the beginning.
        let (mut seen, mut open) = (0, 0);
        let mut free: Option<Occupancy> = None;
        while let Some(segment) = self.segments.get(index).filter(|segment| segment.from < limit) {
            let end = Interval::new(segment.from, estimate).to;
            while let Some(later) = self.segments.get(seen).filter(|later| later.from < end) {
                seen += 1;
                if short(later) {
                    open = seen;
                }
            }
            if open > index {
                index = open;
                continue;
            }
            let free = match &mut free {
                Some(free) => {
                    free.clone_from(&segment.free);
                    free
                }
                none => none.insert(segment.free.clone()),
            };
            let enough = self.segments[index + 1..seen.max(index + 1)].iter().all(|later| {
                free.keep(&later.free).expect("one machine");
                u64::from(free.count()) >= needed
            });
            if enough && let Some(placement) = ask(segment.from, free) {
                return Some((segment.from, placement));
            }
            index += 1;
        }
        None
    }
}
