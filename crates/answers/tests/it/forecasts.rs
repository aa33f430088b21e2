//! Tests of forecasts through the public interface: their inputs, their independence from the
//! future, and their calibration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pavior_allocation::Machine;
use pavior_answers::forecasts::{
    Effort, ForecastError, Forecaster, HORIZON, Judged, Kind, Obstacle, Record, Score, Start,
    StartQuestion, StartWords, learn, replay,
};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, JobId, NodeId, Request};
use pavior_scheduling::{AdvanceReservation, Dispatcher, Selection};
use pavior_trials::size;
use pavior_workload::{Job, Service, TimeUnit};

const SECOND: u64 = TimeUnit::SECOND.ticks;
/// Node [1, 1] of a 4x4 mesh. Every 3x3 box contains this node.
const CENTER: NodeId = NodeId(5);

fn dispatcher(scheduler: &str) -> Dispatcher {
    let machine = Machine::new("mesh:4x4".parse().unwrap(), "tff").unwrap();
    Dispatcher::new(machine, selected(scheduler).build(()).unwrap())
}

fn selected(scheduler: &str) -> Selection {
    scheduler.parse().unwrap()
}

fn job(id: u64, arrival: u64, sides: [u16; 3], run: u64, estimate: Option<u64>) -> (Job, Kind) {
    let request = Request::shape(sides);
    let kind = Kind {
        user: Some(id % 3),
        nodes: request.nodes,
        estimate: estimate.map(|seconds| Time(seconds * SECOND)),
    };
    let job = Job::new(JobId(id), Time(arrival * SECOND), request, Time(run * SECOND));
    (Job { estimate: kind.estimate.unwrap_or(job.estimate), ..job }, kind)
}

/// Creates jobs from three users on a heavily loaded machine. One job in four has no estimate.
fn stream(seed: u64, count: u64) -> Vec<(Job, Kind)> {
    let mut draw = Stream::new(seed, 0, "test-jobs");
    let mut now = 0;
    let jobs = (0..count).map(|id| {
        now += draw.below(3000);
        let run = 60 * (1 + id % 3) * (1 + draw.below(60));
        let said = 600 * run.div_ceil(600) * (1 + draw.below(3));
        let sides = [1 + draw.below(4) as u16, 1 + draw.below(4) as u16, 1];
        job(id, now, sides, run, (draw.below(4) > 0).then_some(said))
    });
    jobs.collect()
}

fn forecaster(scheduler: &str) -> Forecaster {
    Forecaster::new(selected(scheduler), Effort::default())
}

/// Reports a job that waits in `state` to the forecaster, and submits it.
fn submit(forecaster: &mut Forecaster, state: &mut Dispatcher, (job, kind): (Job, Kind)) {
    forecaster.submitted(&job, kind);
    state.submit(job).unwrap();
}

fn judged(jobs: &[(Job, Kind)], scheduler: &str, effort: Effort) -> Vec<Judged> {
    let mut judged = Vec::new();
    let mut forecaster = Forecaster::new(selected(scheduler), effort);
    let each = |job| judged.push(job);
    replay(jobs.iter().cloned(), dispatcher(scheduler), &mut forecaster, each).unwrap();
    judged
}

#[test]
fn most_promises_hold_and_beat_the_plan() {
    let jobs = size(500, 1500, 1500);
    let judged = judged(&stream(1, jobs), "easy", Effort::default());
    let score = Score::of(&judged);
    assert!(score.waited > jobs / 5, "{score:?}");
    assert!((0.85..=0.95).contains(&score.held), "{score:?}");
    assert!(score.loss < score.plan_loss && score.loss < score.corrected_loss, "{score:?}");
}

#[test]
fn a_job_that_starts_at_once_is_known_exactly() {
    for job in judged(&stream(2, 300), "easy", Effort::default()).iter().filter(|job| !job.waited())
    {
        let said = job.forecast;
        assert_eq!([said.low, said.median, said.high, said.plan], [job.submit; 4]);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let jobs = stream(3, 400);
    let effort = |threads| Effort { threads, ..Effort::default() };
    assert_eq!(judged(&jobs, "easy", effort(1)), judged(&jobs, "easy", effort(3)));
}

/// Forecasts must not depend on the future: a job's forecast must stay the same if no other job
/// ends or arrives after the job's submission. Under `fcfs`, decisions do not depend on estimates,
/// so the state also stays the same.
#[test]
fn nothing_is_read_of_what_is_not_over() {
    let jobs = stream(4, 400);
    let whole = judged(&jobs, "fcfs", Effort::default());
    let of = |judged: &[Judged], number: u64| {
        judged.iter().find(|job| job.number == number).map(|job| (job.forecast, job.rivals))
    };
    let waited = whole.iter().filter(|job| job.waited()).map(|job| job.number);
    for number in waited.step_by(size(100, 20, 20)) {
        let submit = jobs[number as usize].0.arrival;
        let ended = |id: u64| {
            let one = whole.iter().find(|job| job.number == id).unwrap();
            let Service::Run(run) = jobs[id as usize].0.service else { unreachable!() };
            one.start + run <= submit
        };
        let other = jobs[..=number as usize].iter().map(|(job, kind)| {
            let mut job = job.clone();
            if !ended(job.number) {
                job.service = Service::Run(Time(900_000_000 * SECOND));
                job.estimate = kind.estimate.unwrap_or(Time(900_000_000 * SECOND));
            }
            (job, *kind)
        });
        let other: Vec<_> = other.collect();
        let said = judged(&other, "fcfs", Effort::default());
        assert_eq!(of(&said, number), of(&whole, number), "job {number}");
    }
}

/// Returns the forecast for a request that has not been submitted.
fn request(forecaster: &mut Forecaster, state: &Dispatcher, (job, kind): (Job, Kind)) -> Start {
    let id = job.id;
    forecaster.forecast_request(state, job, kind).unwrap().starts[&id]
}

#[test]
fn a_forecast_that_is_stopped_says_so() {
    let (mut forecaster, mut state) = (forecaster("easy"), dispatcher("easy"));
    submit(&mut forecaster, &mut state, job(1, 0, [4, 4, 1], 100, Some(100)));
    assert!(state.start_next(Time::ZERO, &mut ()).unwrap().is_some());
    let waiting = job(2, 1, [2, 2, 1], 100, Some(100));
    let stop = Arc::new(AtomicBool::new(true));
    forecaster.stop_by(stop.clone());
    let stopped = forecaster.forecast_request(&state, waiting.0.clone(), waiting.1);
    assert!(matches!(stopped, Err(ForecastError::Stopped)));
    stop.store(false, Ordering::Relaxed);
    assert!(forecaster.forecast_request(&state, waiting.0, waiting.1).is_ok());
}

/// If a job would overlap an advance reservation, its start is forecast for the reservation's end.
#[test]
fn what_is_reserved_ahead_is_waited_for() {
    for scheduler in ["fcfs", "easy", "conservative"] {
        let mut state = dispatcher(scheduler);
        let time = (Time(1800 * SECOND), Time(5400 * SECOND));
        let boxes = vec![Cuboid::new([0, 0], [1, 1])];
        let ahead = AdvanceReservation::new(1, &"mesh:4x4".parse().unwrap(), boxes, time);
        state.reserve(ahead.unwrap()).unwrap();
        let mut forecaster = forecaster(scheduler);
        let said = request(&mut forecaster, &state, job(0, 0, [4, 4, 1], 3600, Some(3600)));
        assert_eq!(said.plan, Some(Time(5400 * SECOND)), "{scheduler}");
        let said = request(&mut forecaster, &state, job(1, 0, [4, 4, 1], 1800, Some(1800)));
        assert_eq!(said.plan, Some(Time::ZERO), "{scheduler}: it ends before the reservation");
    }
}

#[test]
fn a_request_is_told_without_being_made() {
    let (mut forecaster, mut state) = (forecaster("easy"), dispatcher("easy"));
    submit(&mut forecaster, &mut state, job(0, 0, [4, 4, 1], 3600, Some(7200)));
    assert!(state.start_next(Time::ZERO, &mut ()).unwrap().is_some());
    let said = request(&mut forecaster, &state, job(1, 60, [2, 2, 1], 60, Some(60)));
    assert_eq!(said.plan, Some(Time(7200 * SECOND)), "job 0 has an estimate of two hours");
    assert!(said.earliest <= said.median && said.median <= said.latest);
    assert!(state.queue().is_empty(), "nothing was submitted");
    assert!(!forecaster.is_calibrated());
    state.end(JobId(0));
    let said = request(&mut forecaster, &state, job(2, 90, [2, 2, 1], 60, None));
    assert_eq!(said.times(), [Some(Time(90 * SECOND)); 4], "it fits now");
}

/// Simulated future arrivals must get unused job numbers, whatever numbers the other jobs have.
#[test]
fn jobs_may_have_any_numbers() {
    let mut forecaster = forecaster("easy");
    let past = stream(5, 400).into_iter();
    let now = learn(past, dispatcher("easy"), &mut forecaster, 400).unwrap();
    for first in [1 << 62, u64::MAX - 3] {
        let mut state = dispatcher("easy");
        for (place, sides) in [(0, [4, 3, 1]), (1, [4, 4, 1]), (2, [4, 4, 1])] {
            let (job, kind) = job(first + place, now.0 / SECOND, sides, 60, Some(600));
            forecaster.found(job.id, kind);
            state.submit(job).unwrap();
        }
        let jobs = [0, 1, 2].map(|place| JobId(first + place));
        let forecast = forecaster.forecast_queue(&mut state, now, &jobs).unwrap();
        let plans = jobs.map(|job| forecast.starts[&job].plan.unwrap());
        assert!(plans[0] == now && now < plans[1] && plans[1] < plans[2]);
    }
}

/// Job numbers from the past may be reused. Promises made to earlier jobs with the same numbers
/// must no longer count.
#[test]
fn a_queue_is_told_with_what_the_past_taught() {
    let jobs = stream(5, 400);
    let learned = |quiet| {
        let (mut forecaster, jobs) = (forecaster("easy"), jobs.iter().cloned());
        let now = learn(jobs, dispatcher("easy"), &mut forecaster, quiet).unwrap();
        (forecaster, now)
    };
    let (silent, now) = learned(400);
    assert_eq!((silent.past().len(), now), (400, jobs[399].0.arrival));
    assert_eq!(silent.record(), Record::default(), "nothing was promised");
    let (mut forecaster, now) = learned(100);
    assert!(forecaster.is_calibrated());
    let mut state = dispatcher("easy");
    for (id, sides) in [(0, [4, 3, 1]), (1, [4, 4, 1]), (2, [2, 1, 1])] {
        let (job, kind) = job(id, now.0 / SECOND, sides, 60, Some(600));
        forecaster.found(job.id, kind);
        state.submit(job).unwrap();
    }
    let jobs = [0, 1, 2].map(JobId);
    let forecast = forecaster.forecast_queue(&mut state, now, &jobs).unwrap();
    let [first, second, third] = jobs.map(|job| forecast.starts[&job]);
    for at_once in [first, third] {
        assert_eq!(at_once.times(), [Some(now); 4]);
    }
    let [low, median, high, plan] = second.times().map(|time| time.unwrap());
    assert_eq!(plan, now + Time(600 * SECOND));
    assert!(low <= median && median <= high && now < high);
    assert!(forecast.experience.calibrated && forecast.experience.runs == 400);
}

/// If every 3x3 box contains an unavailable node, a 3x3 request must get no start time, whatever
/// the forecaster has learned. Under `fcfs`, the job behind this request must not get a start time
/// either, but for a different reason.
#[test]
fn what_cannot_start_has_no_time_but_a_reason() {
    let past = stream(5, size(60, 400, 400));
    for past in [None, Some(past)] {
        for scheduler in ["fcfs", "easy", "conservative"] {
            let mut state = dispatcher(scheduler);
            let grid = *state.machine().grid();
            state.fail(CENTER).unwrap();
            let now = past.as_ref().map_or(Time::ZERO, |past| past.last().unwrap().0.arrival);
            let requests = [[3, 3, 1], [2, 2, 1]].into_iter().zip(1_000..);
            let mut kinds = Vec::new();
            for (sides, id) in requests {
                let (job, kind) = job(id, now.0 / SECOND, sides, 60, Some(600));
                kinds.push((job.id, kind));
                state.submit(job).unwrap();
            }
            let jobs = [1_000, 1_001].map(JobId);
            let question = StartQuestion {
                scheduler: selected(scheduler),
                strategy: "tff".parse().unwrap(),
                dispatcher: state,
                now,
                past: past.clone(),
                kinds,
                endless: HORIZON,
                jobs: jobs.to_vec(),
            };
            let answer = std::thread::spawn(|| question.answer()).join().unwrap().unwrap();
            let [blocked, behind] = jobs.map(|job| answer.starts[&job]);
            let place = Cuboid::new([0, 0], [3, 3]);
            let lacks = Some(Obstacle::Unavailable(Some((place, 1))));
            assert_eq!((blocked.times(), blocked.obstacle), ([None; 4], lacks), "{scheduler}");
            let words = |job: usize| {
                let date = |seconds: u64| seconds.to_string();
                let words = StartWords { grid: &grid, date: &date, jobs: "jobs", known: "ran" };
                answer.words(jobs[job], &words).unwrap()
            };
            assert_eq!(
                words(0),
                "It cannot start until an unavailable node is back; 3x3 at 0,0 has the fewest \
                 unavailable nodes (1)."
            );
            if scheduler == "fcfs" {
                assert_eq!(behind.times(), [None; 4]);
                assert_eq!(behind.obstacle, Some(Obstacle::Horizon));
                assert_eq!(words(1), "It is not expected to start within 60 days.");
            } else {
                assert_eq!((behind.times(), behind.obstacle), ([Some(now); 4], None));
            }
        }
    }
}

/// If nodes are granted by count, the forecast must not name an unavailable place.
#[test]
fn a_number_of_nodes_lacks_no_place() {
    let machine = Machine::new("mesh:4x4".parse().unwrap(), "random").unwrap();
    let mut state = Dispatcher::new(machine, selected("easy").build(()).unwrap());
    state.fail(CENTER).unwrap();
    let mut forecaster = forecaster("easy");
    let start = request(&mut forecaster, &state, job(0, 0, [4, 4, 1], 60, Some(60)));
    assert_eq!(start.obstacle, Some(Obstacle::Unavailable(None)));
    state.repair(CENTER).unwrap();
    let start = request(&mut forecaster, &state, job(1, 0, [4, 4, 1], 60, Some(60)));
    assert_eq!(start.times(), [Some(Time::ZERO); 4]);
}

/// A job without a predicted start must get no promise that could be broken when the job starts
/// after a repair.
#[test]
fn where_there_is_no_time_nothing_is_promised() {
    let (mut forecaster, mut state) = (forecaster("easy"), dispatcher("easy"));
    state.fail(CENTER).unwrap();
    submit(&mut forecaster, &mut state, job(0, 0, [3, 3, 1], 60, Some(60)));
    let forecast = forecaster.forecast_queue(&mut state, Time::ZERO, &[JobId(0)]).unwrap();
    assert!(forecast.starts[&JobId(0)].obstacle.is_some());
    state.repair(CENTER).unwrap();
    let now = Time(60 * SECOND);
    assert!(state.start_next(now, &mut ()).unwrap().is_some());
    forecaster.started(JobId(0), now);
    assert_eq!(forecaster.record(), Record::default());
}
