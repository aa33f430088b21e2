//! A schedule that bounds are compared with.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Task;

/// What a schedule by numbers of nodes comes to: whenever a job is released or ends, those that
/// wait are gone through by weight for each node second, the greatest first, and each that finds
/// its nodes free starts. O(jobs x jobs); none needs more than `capacity` nodes.
pub(super) fn reached(tasks: &[Task], capacity: i64) -> i64 {
    let density = |task: &Task| task.weight as f64 / (task.run * task.nodes) as f64;
    let mut released: Vec<&Task> = tasks.iter().collect();
    released.sort_by_key(|task| Reverse(task.release));
    let (mut waiting, mut ends) = (Vec::<&Task>::new(), BinaryHeap::new());
    let (mut free, mut sum) = (capacity, 0);
    while let Some(now) = earliest(&released, &ends) {
        while let Some(task) = released.pop_if(|task| task.release <= now) {
            let at = waiting.partition_point(|other| density(other) >= density(task));
            waiting.insert(at, task);
        }
        while ends.peek().is_some_and(|&Reverse((end, _))| end <= now) {
            let Some(Reverse((_, nodes))) = ends.pop() else { break };
            free += nodes;
        }
        waiting.retain(|task| {
            let starts = task.nodes <= free;
            if starts {
                free -= task.nodes;
                sum += task.weight * (now + task.run);
                ends.push(Reverse((now + task.run, task.nodes)));
            }
            !starts
        });
    }
    sum
}

/// When a job is released or ends next.
fn earliest(released: &[&Task], ends: &BinaryHeap<Reverse<(i64, i64)>>) -> Option<i64> {
    let release = released.last().map(|task| task.release);
    let end = ends.peek().map(|&Reverse((end, _))| end);
    release.into_iter().chain(end).min()
}

#[cfg(test)]
mod tests {
    use super::{Task, reached};

    #[test]
    fn short_jobs_go_first_and_those_that_fit_pass() {
        let task = |release, run, nodes| Task { release, run, nodes, weight: 1 };
        // All nodes each: 10, 30, 60, 100, 150.
        let one_by_one = [30, 10, 50, 20, 40].map(|run| task(0, run, 16));
        assert_eq!(reached(&one_by_one, 16), 350);
        // The second waits for the first; the third passes it, and the fourth waits for both.
        let passed = [task(0, 10, 10), task(1, 5, 12), task(2, 20, 6), task(3, 1, 16)];
        assert_eq!(reached(&passed, 16), 10 + 22 + 23 + 28);
    }
}
