//! Tests for start time forecasts.

use serde_json::json;

use super::model::{Model, condition, time};
use super::small::settle;
use crate::objects::{Object as _, Uid};
use crate::plan::forecast::seconds;
use crate::plan::{Detail, Forecast, Memory, plan};
use crate::world::Index;

const NOW: i64 = 10_000;

/// Sets a Job's creation time, and limits its run time to ten minutes.
fn says(model: &mut Model, job: &Uid, created: i64) {
    model.limit(job, 600);
    model.change_job(job, |job| job.metadata.creation_timestamp = Some(time(created)));
}

/// Creates a machine with one Job that occupies it and a second Job that waits for it. Also creates
/// past Jobs that used the whole machine. These arrived every eight seconds, and each ran for half
/// a minute of its ten-minute limit.
fn machine(past: i64) -> (Model, Uid) {
    let mut model = Model::new("mesh:4x2", &json!({}));
    let first = model.add_job("first", "4x2", &json!({}));
    settle(&mut model);
    let second = model.add_waiting_job("second", "4x2");
    says(&mut model, &first, NOW - 20);
    says(&mut model, &second, NOW - 5);
    for placement in model.world.placements.values_mut() {
        placement.metadata.creation_timestamp = Some(time(NOW - 10));
    }
    for number in 0..past {
        // Every third run is a set of two Jobs.
        let jobs = if number % 3 == 2 {
            [0, 1].map(|part| model.add_job_of(&format!("s{number}"), part, "4x2", 4)).to_vec()
        } else {
            vec![model.add_job(&format!("p{number}"), "4x2", &json!({}))]
        };
        for job in jobs {
            says(&mut model, &job, 1000 + 8 * number);
            let begin = 1000 + 30 * number;
            model.world.start_times.insert(job.clone(), begin);
            let status = &mut model.world.jobs.get_mut(&job).unwrap().status;
            status.completion_time = Some(time(begin + 30));
            status.conditions.push(condition("Complete"));
        }
    }
    (model, second)
}

fn forecast(model: &Model, memory: &mut Memory) -> Forecast {
    let detail = Detail { forecast: true, ..Detail::DAEMON };
    let made = plan(&Index::of(&model.world), "m", memory, NOW, detail).unwrap();
    made.question.unwrap().answer().unwrap()
}

fn words(forecast: &Forecast, job: &Uid) -> String {
    forecast.words(job, |seconds| seconds.to_string()).unwrap()
}

#[test]
fn with_too_few_past_runs_the_forecast_says_how_many_are_known() {
    for past in [0, 20] {
        let (model, second) = machine(past);
        let forecast = forecast(&model, &mut Memory::default());
        assert!(!forecast.queue.experience.calibrated);
        let waited = (past - 1).max(0);
        let lacking = format!("so far, {waited} of the {past} that are known had to wait).");
        assert!(words(&forecast, &second).ends_with(&lacking), "{}", words(&forecast, &second));
    }
}

#[test]
fn past_run_times_give_a_range() {
    let (model, second) = machine(60);
    let forecast = forecast(&model, &mut Memory::default());
    let times = forecast.of(&second).unwrap().times();
    let [low, median, high, plan] = times.map(|time| (time.unwrap().0 / seconds(1).0) as i64);
    let calibrated = forecast.queue.experience.calibrated;
    assert!(calibrated && NOW <= low && low <= median && median <= high, "{forecast:?}");
    assert_eq!(plan, NOW - 10 + 600, "from the limits alone");
    assert!(median < plan, "such Jobs run for half a minute: {forecast:?}");
    assert!(words(&forecast, &second).starts_with("It will probably start between"));
    assert_eq!(forecast.of(&Uid("none".into())), None);
}

#[test]
fn deleted_jobs_are_remembered_and_counted_once() {
    let (mut model, second) = machine(60);
    let mut memory = Memory::default();
    let before = forecast(&model, &mut memory);
    let again = forecast(&model, &mut memory);
    assert_eq!(before.of(&second), again.of(&second));
    model.world.jobs.retain(|_, job| job.status.completion_time.is_none());
    assert_eq!(before.of(&second), forecast(&model, &mut memory).of(&second));
    let new = forecast(&model, &mut Memory::default());
    assert!(!new.queue.experience.calibrated, "a new process knows less");
    assert_eq!(model.world.jobs[&second].name(), "second");
}

/// Checks that a Job has no start time if every 3x2 box contains an unavailable node. Under `fcfs`,
/// the next Job in the queue has no start time either.
#[test]
fn blocked_jobs_have_no_start_time() {
    for past in [0, 60] {
        let (mut model, _) = machine(past);
        model.world.jobs.retain(|_, job| job.status.completion_time.is_some());
        model.world.placements.clear();
        model.world.pods.clear();
        model.world.machines.get_mut("m").unwrap().spec.scheduler = Some("fcfs".into());
        model.delete_node("n1-0");
        let lacking = model.add_job("lacking", "3x2", &json!({}));
        let behind = model.add_waiting_job("behind", "1x1");
        let forecast = forecast(&model, &mut Memory::default());
        let cannot = "It cannot start until an unavailable node is back; 3x2 at 0,0 has the \
                      fewest unavailable nodes (1).";
        assert_eq!(words(&forecast, &lacking), cannot);
        assert_eq!(words(&forecast, &behind), "It is not expected to start within 60 days.");
        let json = forecast.json(&lacking, |seconds| seconds.to_string());
        let json = serde_json::to_value(json).unwrap();
        assert_eq!((&json["plan"], &json["obstacle"]), (&json!(null), &json!("unavailable")));
        assert_eq!(json["place"], json!({ "base": [0, 0], "sides": [3, 2] }));
    }
}
