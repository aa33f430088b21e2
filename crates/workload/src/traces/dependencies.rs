//! Dependencies between jobs: predecessors named in a log, and the links derived from them.
//!
//! ```text
//!   log      1 0 ... 100 ... -1 -1        job 1 runs 100 s
//!            2 0 ... 100 ...  1 60        job 2 depends on job 1, with 60 s of think time
//!   links    index 0 -> index 1, 60 s     job 2 is submitted 60 s after the end of job 1
//! ```
//!
//! A link is used only if the predecessor was kept and precedes the job in the log, so links cannot
//! form a cycle. If several earlier jobs share a number, the last of those jobs is the predecessor.
//!
//! Source: fields 17 and 18 in the Standard Workload Format (Chapin et al. 1999), used for feedback
//! as proposed by Zakay & Feitelson (2013). Cost: O(jobs log jobs + links log links).

use std::cmp::Reverse;

use pavior_kernel::Time;
use rustc_hash::FxHashMap;

use super::Record;

/// A job's predecessors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The predecessors named in the log (at least one).
    pub after: Vec<Predecessor>,
    /// True if the log contains the job's submit time. Otherwise, the record's submit time is the
    /// latest submit time among its predecessors.
    pub has_submit: bool,
}

/// A job that another job depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predecessor {
    /// The predecessor's number in the log.
    pub number: u64,
    /// The time from `event` to the dependent job's submission, or `None` if it is not in the log.
    pub think: Option<Time>,
    /// The predecessor's start or end, whichever the dependent job waits for.
    pub event: Event,
}

/// An event that a dependent job can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The first start of the job.
    Start,
    /// The job's end, or its last end if failures restart the job.
    End,
}

/// A link between two jobs in a log. Each job is identified by its index in submission order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The job that the follower depends on.
    pub predecessor: u32,
    /// The event that the follower waits for.
    pub event: Event,
    /// The job that depends on the predecessor.
    pub follower: u32,
    /// The minimum time from the event to the follower's submission.
    pub think: Time,
}

/// The links in a log, and the numbers of dependencies that cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// The links to use in a run, in sorted order.
    pub links: Vec<Link>,
    /// The number of jobs for which the log names a predecessor.
    pub jobs: u64,
    /// The number of jobs whose submit time is missing from the log.
    pub without_submit: u64,
    /// The number of missing predecessors: those that were filtered out or skipped, come after the
    /// last job line read, or do not occur in the log.
    pub missing: u64,
    /// The number of predecessors that are the dependent job itself or come after it in the log.
    pub later: u64,
    /// The number of dependency cycles.
    pub cycles: u64,
}

impl Dependencies {
    /// Finds the links between a log's records, which must be in submission order.
    ///
    /// ```
    /// # mod pavior { pub use pavior_workload as workload; }
    /// use pavior::workload::traces::{Dependencies, ReadOptions, swf};
    /// let log = "1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n\
    ///            2 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 1 60\n";
    /// let trace = swf::read(log.as_bytes(), &ReadOptions::default())?;
    /// let found = Dependencies::of(&trace.records);
    /// let [link] = found.links[..] else { panic!("one job follows another") };
    /// assert_eq!((link.predecessor, link.follower, link.think.0), (0, 1, 60_000_000));
    /// # Ok::<(), pavior::workload::traces::ReadError>(())
    /// ```
    pub fn of(records: &[Record]) -> Dependencies {
        if records.iter().all(|record| record.dependency.is_none()) {
            return Dependencies::default();
        }
        let mut links = Links::default();
        for (index, record) in in_log_order(records) {
            links.add(index, record);
        }
        links.finish()
    }

    /// Returns true if the log names no predecessors.
    pub fn is_empty(&self) -> bool {
        self.jobs == 0
    }
}

/// Sorts records by line. Returns each record with its index in submission order.
pub(crate) fn in_log_order(records: &[Record]) -> impl Iterator<Item = (u32, &Record)> {
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.sort_by_key(|&index| records[index as usize].line);
    order.into_iter().map(|index| (index, &records[index as usize]))
}

/// A map from job numbers to indices. Takes 4 bytes per number if numbers are close together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(FxHashMap<u64, Box<[u32; 16]>>);

impl Numbers {
    fn get(&self, number: u64) -> Option<u32> {
        let index = self.0.get(&(number / 16))?[(number % 16) as usize];
        index.checked_sub(1)
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        self.get(number).is_some()
    }

    /// Sets the index for a job number. Returns true if the number is new.
    pub(crate) fn set(&mut self, number: u64, index: u32) -> bool {
        let page = self.0.entry(number / 16).or_default();
        std::mem::replace(&mut page[(number % 16) as usize], index + 1) == 0
    }
}

/// A search for links between jobs. Jobs are added one at a time, in log order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    found: Dependencies,
    /// The latest job with each number.
    latest: Numbers,
    /// The number of each predecessor not yet found, and the job that depends on it.
    open: Vec<(u64, u32)>,
}

impl Links {
    /// Adds a job with its index. Returns true if the job's number is new.
    pub(crate) fn add(&mut self, follower: u32, record: &Record) -> bool {
        if let Some(Dependency { after, has_submit }) = record.dependency.as_deref() {
            self.found.jobs += 1;
            self.found.without_submit += u64::from(!has_submit);
            for &Predecessor { number, think, event } in after {
                let think = think.unwrap_or(Time::ZERO);
                match self.latest.get(number) {
                    Some(predecessor) => {
                        self.found.links.push(Link { predecessor, event, follower, think });
                    }
                    None => self.open.push((number, follower)),
                }
            }
        }
        self.latest.set(record.number, follower)
    }

    /// Returns the sorted links and the counts.
    pub(crate) fn finish(self) -> Dependencies {
        let Links { mut found, latest, open } = self;
        found.links.sort_unstable();
        let place = |(number, follower)| Some((latest.get(number)?, follower));
        let mut later: Vec<(u32, u32)> = open.iter().copied().filter_map(place).collect();
        found.later = later.len() as u64;
        found.missing = open.len() as u64 - found.later;
        if !later.is_empty() {
            later.extend(found.links.iter().map(|link| (link.predecessor, link.follower)));
            found.cycles = cycles(&later);
        }
        found
    }
}

/// Counts the cycles in a graph. Connected cycles count as one.
///
/// Repeatedly removes nodes that have no incoming or no outgoing edges, until only cycles and the
/// paths between them remain.
fn cycles(edges: &[(u32, u32)]) -> u64 {
    let mut edges = edges.to_vec();
    // Each pass reverses the edges, so the second pass removes nodes that cannot reach a cycle.
    for _ in 0..2 {
        edges = reachable_from_cycles(&mut edges);
        for (from, to) in &mut edges {
            std::mem::swap(from, to);
        }
    }
    let mut group: FxHashMap<u32, u32> = edges.iter().map(|&(from, _)| (from, from)).collect();
    let mut groups = group.len() as u64;
    let find = |group: &mut FxHashMap<u32, u32>, mut node: u32| {
        while group[&node] != node {
            let above = group[&group[&node]];
            group.insert(node, above);
            node = above;
        }
        node
    };
    for &(from, to) in &edges {
        let [a, b] = [from, to].map(|node| find(&mut group, node));
        if a != b {
            group.insert(a, b);
            groups -= 1;
        }
    }
    groups
}

/// Repeatedly removes nodes that have no incoming edges, along with their outgoing edges.
fn reachable_from_cycles(edges: &mut [(u32, u32)]) -> Vec<(u32, u32)> {
    edges.sort_unstable();
    let mut entering: FxHashMap<u32, u32> = FxHashMap::default();
    for &(from, to) in &*edges {
        entering.entry(from).or_default();
        *entering.entry(to).or_default() += 1;
    }
    let mut open: Vec<u32> =
        entering.iter().filter(|(_, count)| **count == 0).map(|(&node, _)| node).collect();
    while let Some(node) = open.pop() {
        let first = edges.partition_point(|&(from, _)| from < node);
        for &(_, to) in edges[first..].iter().take_while(|&&(from, _)| from == node) {
            let count = entering.entry(to).or_default();
            *count -= 1;
            if *count == 0 {
                open.push(to);
            }
        }
    }
    edges.iter().copied().filter(|(from, _)| entering[from] > 0).collect()
}

/// Fills in fields 17 and 18 from user sessions. If a known user submits a job at most `within`
/// after that user's previous job ended, the new job depends on the previous one. Returns the
/// number of jobs that have a predecessor.
///
/// The user's previous job is the last one that ended at or before the new submission, according to
/// the submit, wait and run times in the log. A job submitted while all earlier jobs in its session
/// are waiting or running has no predecessor. Jobs keep their submit times. Existing predecessors
/// are replaced unless the job has no submit time.
///
/// Sources: Zakay & Feitelson, "On identifying user sessions in parallel workload logs" (2012),
/// with a maximum think time of 20 minutes; for the use of sessions, "Preserving user behavior
/// characteristics in trace-based simulation of parallel job scheduling" (2014). Cost: O(jobs log
/// jobs).
pub fn link_sessions(records: &mut [Record], within: Time) -> u64 {
    use std::collections::BinaryHeap;
    /// A user's running jobs by end time, and the job that ended last.
    #[derive(Default)]
    struct User {
        running: BinaryHeap<Reverse<(Time, u64)>>,
        ended: Option<(Time, u64)>,
    }
    let mut users: FxHashMap<i64, User> = FxHashMap::default();
    let mut linked = 0;
    for record in records {
        let has_submit = record.dependency.as_ref().is_none_or(|follows| follows.has_submit);
        if !has_submit {
            continue;
        }
        record.dependency = None;
        if record.tags.user < 0 {
            continue;
        }
        let user = users.entry(record.tags.user).or_default();
        while let Some(&Reverse(next)) = user.running.peek() {
            if next.0 > record.submit {
                break;
            }
            user.ended = Some(next);
            user.running.pop();
        }
        if let Some((end, number)) = user.ended {
            let think = record.submit.since(end);
            if think <= within {
                let predecessor = Predecessor { number, think: Some(think), event: Event::End };
                let dependency = Dependency { after: vec![predecessor], has_submit: true };
                record.dependency = Some(Box::new(dependency));
                linked += 1;
            }
        }
        let wait = record.wait.unwrap_or(Time::ZERO);
        let end = record.submit.saturating_add(wait).saturating_add(record.run);
        user.running.push(Reverse((end, record.number)));
    }
    linked
}
