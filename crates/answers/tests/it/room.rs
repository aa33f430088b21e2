//! Tests of plans that make room on a dispatcher's machine, and of the jobs that they delay.

use pavior_allocation::{Machine, Placement};
use pavior_answers::{DelayedJob, Room, RoomQuestion, SearchLimits, Shape};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, Request};
use pavior_scheduling::Dispatcher;
use pavior_workload::Job;

use crate::waits;

const NOW: Time = Time(5);

fn job(id: u64, sides: u16, estimate: u64) -> Job {
    waits::job(id, Request::shape([sides]), Time::ZERO, Time(estimate))
}

/// Creates a dispatcher with six nodes. Job 1 holds the first two until time 100, and job 2 is
/// waiting for all six.
fn line() -> Dispatcher {
    let machine = Machine::new("mesh:6".parse().unwrap(), "ff").unwrap();
    let mut dispatcher = Dispatcher::new(machine, waits::scheduler("easy"));
    let held = Placement::Whole(Cuboid::new([0, 0, 0], [2, 1, 1]));
    dispatcher.hold(job(1, 2, 100), Time::ZERO, held).unwrap();
    dispatcher.submit(job(2, 6, 10)).unwrap();
    dispatcher
}

fn question(shapes: &[Shape], requeue: bool) -> RoomQuestion<'_> {
    let (by, length) = (Time(10), Time(150));
    let requeue = requeue.then_some(Time(1));
    let limits = SearchLimits::jobs(1);
    RoomQuestion { room: Room::Box(shapes), by, length, requeue, limits }
}

#[test]
fn a_requeued_job_waits_again_and_what_is_reserved_delays_others() {
    let (dispatcher, shapes) = (line(), [Shape::new([6, 1, 1])]);
    assert_eq!(question(&shapes, false).plan(&dispatcher, NOW).plan, None);
    let question = question(&shapes, true);
    let plan = question.plan(&dispatcher, NOW).plan.expect("the job may be requeued");
    // The job loses five ticks of work on two nodes.
    assert_eq!((&plan.requeued[..], plan.lost), (&[JobId(1)][..], 10));
    // Without the plan, job 2 starts at time 100, when job 1 ends. With the plan, job 2 starts at
    // time 160, when the freed nodes are no longer needed.
    let scheduler = || waits::scheduler("easy");
    let late = question.delayed(&plan, &dispatcher, NOW, scheduler).unwrap();
    let delayed = |job, before, planned| DelayedJob {
        job: JobId(job),
        before: Time(before),
        planned: Some(Time(planned)),
    };
    assert_eq!(late, [delayed(1, 0, 170), delayed(2, 100, 160)]);
    assert_eq!(late[1].delay(), Some(Time(60)));
}
