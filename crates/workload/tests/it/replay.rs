//! Tests of the conversion of records to jobs: arrivals, runs, estimates and shapes.

use pavior_kernel::Time;
use pavior_mesh::{Grid, Request};
use pavior_workload::traces::{Record, Replay, Tags, TraceJobs};
use pavior_workload::{Job, Service, Shaper};

fn records() -> Vec<Record> {
    let record = |number, submit, run, estimate: Option<u64>, nodes| Record {
        number,
        line: number,
        submit: Time(submit),
        run: Time(run),
        estimate: estimate.map(Time),
        nodes,
        shape: None,
        freedom: None,
        tags: Tags::UNKNOWN,
        wait: None,
        dependency: None,
    };
    vec![
        record(7, 1000, 50, Some(60), 5),
        record(9, 1003, 80, Some(60), 40),
        record(10, 1010, 0, None, 4),
        Record { shape: Some([2, 1, 3]), ..record(11, 1010, 30, None, 6) },
    ]
}

fn jobs(replay: Replay) -> Vec<Job> {
    let grid = Grid::mesh(&[4, 4, 2]).unwrap();
    let shaper = Shaper::new(&"compact".parse().unwrap(), &grid, 1, 0);
    TraceJobs::new(&records(), shaper, replay).collect()
}

#[test]
fn jobs_carry_the_log() {
    let all = jobs(Replay::default());
    assert_eq!(all.iter().map(|job| job.id.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(all.iter().map(|job| job.number).collect::<Vec<_>>(), [7, 9, 10, 11]);
    let requests: Vec<Request> = all.iter().map(|job| job.request).collect();
    assert_eq!(
        requests,
        [
            Request::hinted(5, [3, 2, 1]),
            Request::nodes(40),
            Request::hinted(4, [2, 2, 1]),
            Request::shape([2, 1, 3])
        ]
    );
}

#[test]
fn scaling_keeps_the_first_arrival() {
    let arrivals = |arrival_scale| {
        let all = jobs(Replay { arrival_scale, ..Replay::default() });
        all.iter().map(|job| job.arrival.0).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(1.0), [1000, 1003, 1010, 1010]);
    assert_eq!(arrivals(0.5), [1000, 1002, 1005, 1005]);
    assert_eq!(arrivals(3.0), [1000, 1009, 1030, 1030]);
}

#[test]
fn runs_and_estimates() {
    let times = |kill, estimates: &str| {
        let estimates = estimates.parse().unwrap();
        jobs(Replay { kill, estimates, ..Replay::default() })
            .iter()
            .map(|job| match job.service {
                Service::Run(run) => (run.0, job.estimate.0),
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(times(false, "log"), [(50, 60), (80, 60), (0, 0), (30, 30)]);
    assert_eq!(times(true, "log"), [(50, 60), (60, 60), (0, 0), (30, 30)]);
    assert_eq!(times(false, "exact"), [(50, 50), (80, 80), (0, 0), (30, 30)]);
    assert_eq!(times(false, "factor:1.5"), [(50, 75), (80, 120), (0, 0), (30, 45)]);
}
