//! Packs jobs into non-overlapping boxes whose axes are time and height.

/// A job to draw: its start time, end time and number of nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) nodes: u64,
}

/// The free rows, as non-adjacent ranges `low..high` in ascending order.
struct Rows(Vec<(u64, u64)>);

impl Rows {
    /// Takes `count` rows from the lower end of the narrowest gap that is large enough. If no gap
    /// is large enough, takes rows from several gaps, widest first. If fewer than `count` rows are
    /// free, takes only those.
    fn take(&mut self, count: u64) -> Vec<(u64, u64)> {
        let wide = |gap: &&(u64, u64)| gap.1 - gap.0 >= count;
        if let Some(&(low, _)) = self.0.iter().filter(wide).min_by_key(|gap| (gap.1 - gap.0, gap.0))
        {
            let taken = (low, low + count);
            self.remove(taken);
            return vec![taken];
        }
        let (mut pieces, mut left) = (Vec::new(), count);
        while left > 0 {
            let widest = self.0.iter().max_by_key(|gap| (gap.1 - gap.0, u64::MAX - gap.0));
            let Some(&(low, high)) = widest else { break };
            let taken = (low, high.min(low + left));
            self.remove(taken);
            left -= taken.1 - taken.0;
            pieces.push(taken);
        }
        pieces.sort_unstable();
        pieces
    }

    /// Removes rows from the lower end of a gap.
    fn remove(&mut self, (low, high): (u64, u64)) {
        if let Ok(place) = self.0.binary_search_by_key(&low, |gap| gap.0) {
            if self.0[place].1 == high {
                self.0.remove(place);
            } else {
                self.0[place].0 = high;
            }
        }
    }

    fn give(&mut self, (low, high): (u64, u64)) {
        let place = self.0.partition_point(|gap| gap.0 < low);
        let joins_next = self.0.get(place).is_some_and(|next| next.0 == high);
        let joins_last = place > 0 && self.0[place - 1].1 == low;
        match (joins_last, joins_next) {
            (true, true) => self.0[place - 1].1 = self.0.remove(place).1,
            (true, false) => self.0[place - 1].1 = high,
            (false, true) => self.0[place].0 = low,
            (false, false) => self.0.insert(place, (low, high)),
        }
    }
}

/// Assigns each job some of the `rows` available rows, and returns each job's rows, in job order. A
/// row does not represent a particular node. If enough rows are free, a job gets one row for each
/// of its nodes. These rows are adjacent if possible.
pub(crate) fn packed(jobs: &[Held], rows: u64) -> Vec<Vec<(u64, u64)>> {
    let mut events: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * jobs.len());
    for (index, job) in jobs.iter().enumerate().filter(|(_, job)| job.end > job.start) {
        events.extend([(job.start, true, index), (job.end, false, index)]);
    }
    // When one job ends as another starts, the job that ends must free its rows first.
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut free = Rows(if rows == 0 { Vec::new() } else { vec![(0, rows)] });
    let mut places = vec![Vec::new(); jobs.len()];
    for (_, starts, index) in events {
        if starts {
            places[index] = free.take(jobs[index].nodes);
        } else {
            places[index].iter().for_each(|&piece| free.give(piece));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;

    #[test]
    fn no_job_covers_another() {
        let mut dice = Stream::new(1, 0, "packing");
        // 200 rows are enough for all jobs at any time, but 30 are not.
        for (_, rows) in (0..50).flat_map(|round| [200, 30].map(|rows| (round, rows))) {
            let jobs: Vec<Held> = (0..40)
                .map(|_| {
                    let start = dice.below(50) as f64;
                    let (length, nodes) = (dice.below(9) as f64, dice.between(1, 5));
                    Held { start, end: start + length, nodes }
                })
                .collect();
            let places = packed(&jobs, rows);
            for at in (0..60).map(|at| f64::from(at) + 0.5) {
                let holds = |job: &Held| job.start <= at && job.end > at;
                let holding: Vec<usize> =
                    (0..jobs.len()).filter(|&index| holds(&jobs[index])).collect();
                let pieces = holding.iter().flat_map(|&index| &places[index]);
                let mut taken: Vec<u64> = pieces.flat_map(|piece| piece.0..piece.1).collect();
                let drawn = taken.len();
                let wanted: u64 = holding.iter().map(|&index| jobs[index].nodes).sum();
                taken.sort_unstable();
                taken.dedup();
                assert_eq!(taken.len(), drawn, "two jobs on one row at {at}");
                assert!(rows < 200 || drawn as u64 == wanted, "{drawn} of {wanted} rows at {at}");
                assert!(taken.iter().all(|&row| row < rows));
            }
        }
    }

    #[test]
    fn a_job_is_in_one_piece_where_it_can_be() {
        let held = |start, end, nodes| Held { start, end, nodes };
        let jobs = [held(0.0, 9.0, 3), held(0.0, 5.0, 2), held(0.0, 9.0, 3), held(6.0, 8.0, 4)];
        let places = packed(&jobs, 10);
        assert_eq!(places[..3], [vec![(0, 3)], vec![(3, 5)], vec![(5, 8)]]);
        assert_eq!(places[3], [(3, 5), (8, 10)], "4 rows are free in two gaps");
    }
}
