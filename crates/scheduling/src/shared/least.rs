//! The waiting job with the least key.

use crate::{MachineView, Queue, Start};
use pavior_workload::Job;

/// Picks the waiting job with the least key, ties by arrival, and remembers it while nothing leaves
/// the queue: O(q) after a start or a departure, O(1) for each arrival.
pub(crate) struct Least<K> {
    key: Box<dyn Fn(&Job) -> K + Send + Sync>,
    /// The machine's state, the jobs looked at, and the least of them.
    known: Option<(u64, usize, (K, usize))>,
}

impl<K: Ord + Copy> Least<K> {
    pub(crate) fn new(key: impl Fn(&Job) -> K + Send + Sync + 'static) -> Least<K> {
        Least { key: Box::new(key), known: None }
    }

    /// Starts the least job if it can start; a least job that cannot blocks all others.
    pub(crate) fn start(&mut self, queue: &Queue, view: &mut MachineView<'_>) -> Option<Start> {
        let index = self.find(queue, view.machine().state())?;
        view.can_start(&queue.get(index)?.request).ok().map(|()| Start::at(index))
    }

    /// Jobs leave the queue only by starting, and return to it only from the machine: while its
    /// state is the same, the queue has at most grown at its end.
    fn find(&mut self, queue: &Queue, state: u64) -> Option<usize> {
        let known = self.known.filter(|&(then, seen, _)| then == state && seen <= queue.len());
        let (seen, best) = known.map_or((0, None), |(_, seen, best)| (seen, Some(best)));
        let fresh =
            (seen..queue.len()).filter_map(|index| Some(((self.key)(queue.get(index)?), index)));
        let best = best.into_iter().chain(fresh).min()?;
        self.known = Some((state, queue.len(), best));
        Some(best.1)
    }
}
