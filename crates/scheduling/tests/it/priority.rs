//! Tests that compare priority functions with equivalent built-in schedulers.

use pavior_kernel::CallerError;
use pavior_scheduling::{KeyFunction, Priority, Scheduler};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs};
use crate::world::{World, job};

fn run(scheduler: Box<dyn Scheduler>, jobs: &[Job]) -> World {
    World::with(GRID, "tff", scheduler).run(jobs)
}

/// Checks that a key and a built-in scheduler produce the same starts and attempts.
fn same(
    name: &str,
    key: fn(&Job) -> f64,
    backfill: bool,
    jobs: &[Job],
) -> Result<(), TestCaseError> {
    let key: Box<KeyFunction> = Box::new(move |job| Ok(key(job)));
    let ours = run(Box::new(Priority::new(key, backfill)), jobs);
    let theirs = World::new(GRID, "tff", name).run(jobs);
    prop_assert_eq!(&ours.started, &theirs.started, "{}", name);
    prop_assert_eq!(ours.attempts, theirs.attempts, "{}", name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(25, 128, 128)))]

    #[test]
    fn keys_make_the_schedulers_of_the_list(jobs in jobs(40, Estimates::Any)) {
        same("fcfs", |_| 0.0, false, &jobs)?;
        same("scan-all", |_| -0.0, true, &jobs)?;
        same("ssd", |job| job.estimate.ticks(), false, &jobs)?;
        same("sjf", |job| f64::from(job.request.nodes), false, &jobs)?;
        same("ljf", |job| -f64::from(job.request.nodes), false, &jobs)?;
    }

    /// With backfilling, the job with the smallest key among those that fit must start.
    #[test]
    fn the_least_that_fits_starts(jobs in jobs(40, Estimates::Any)) {
        let key = |job: &Job| f64::from(job.request.nodes);
        let world = run(Box::new(Priority::new(Box::new(move |job| Ok(key(job))), true)), &jobs);
        prop_assert_eq!(world.started.len(), jobs.len());
        for started in &world.started {
            let own = started.waiting.iter().find(|job| job.id == started.job).unwrap();
            // A smaller request whose sides are no longer than this one's would also have fit, so
            // no such request may be waiting.
            let smaller = started.waiting.iter().filter(|other| {
                let [own, other] = [own, *other].map(|job| job.request.shape.unwrap());
                own != other && own.iter().zip(other).all(|(own, other)| other <= *own)
            });
            prop_assert_eq!(smaller.count(), 0);
        }
    }
}

#[test]
fn each_job_is_looked_at_once() {
    let request = pavior_mesh::Request::shape([5, 4, 1]);
    let jobs: Vec<Job> = (0..50).map(|id| job(id, id / 3, request, 7, 7)).collect();
    let (sender, looked_at) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    let key: Box<KeyFunction> = Box::new(move |job| {
        sender.lock().unwrap().send(job.id).unwrap();
        Ok(-(job.number as f64))
    });
    let world = run(Box::new(Priority::new(key, true)), &jobs);
    assert_eq!(world.started.len(), 50);
    let looked_at: Vec<_> = looked_at.try_iter().collect();
    assert_eq!(looked_at, jobs.iter().map(|job| job.id).collect::<Vec<_>>());
}

#[test]
fn a_key_that_cannot_be_told_is_an_error() {
    let request = pavior_mesh::Request::shape([1, 1, 1]);
    for (key, says) in [(Ok(f64::NAN), "is NaN"), (Err(()), "no key")] {
        let key: Box<KeyFunction> = Box::new(move |_| key.map_err(|()| CallerError::new("no key")));
        let mut world = World::with(GRID, "tff", Box::new(Priority::new(key, false)));
        world.dispatcher.submit(job(0, 0, request, 1, 1)).unwrap();
        let world = world.run(&[job(1, 0, request, 1, 1)]);
        assert!(world.started.is_empty());
        assert!(world.error().unwrap().to_string().contains(says));
    }
}
