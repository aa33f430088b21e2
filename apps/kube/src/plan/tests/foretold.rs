//! When a waiting Job will probably start.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::model::Model;
use super::small::settle;
use crate::objects::{Known as _, SECONDS, Uid};
use crate::plan::{Depth, Foretold, Memory, plan};
use crate::world::Index;

const NOW: i64 = 10_000;

fn at(seconds: i64) -> Time {
    Time(Timestamp::from_second(seconds).unwrap())
}

/// A Job says that it runs ten minutes.
fn says(model: &mut Model, job: &Uid, created: i64) {
    let job = model.world.jobs.get_mut(job).unwrap();
    job.metadata.annotations.get_or_insert_default().insert(SECONDS.into(), "600".into());
    job.metadata.creation_timestamp = Some(at(created));
}

/// A machine that a Job has whole, another that waits for it, and whole machines of the past: every
/// eight seconds one came, and ran for half a minute of its ten.
fn machine(past: i64) -> (Model, Uid) {
    let mut model = Model::new("mesh:4x2", &json!({}));
    let first = model.add_job("first", "4x2", &json!({}));
    settle(&mut model);
    let second = model.add_job("second", "4x2", &json!({}));
    model.make_pods();
    says(&mut model, &first, NOW - 20);
    says(&mut model, &second, NOW - 5);
    for placement in model.world.placements.values_mut() {
        placement.metadata.creation_timestamp = Some(at(NOW - 10));
    }
    for number in 0..past {
        // The last of each three is a set of two.
        let jobs = if number % 3 == 2 {
            [0, 1].map(|part| model.add_job_of(&format!("s{number}"), part, "4x2", 4)).to_vec()
        } else {
            vec![model.add_job(&format!("p{number}"), "4x2", &json!({}))]
        };
        for job in jobs {
            says(&mut model, &job, 1000 + 8 * number);
            let begin = 1000 + 30 * number;
            model.world.begun.insert(job.clone(), begin);
            let status = &mut model.world.jobs.get_mut(&job).unwrap().status;
            status.completion_time = Some(at(begin + 30));
            let complete = json!({ "type": "Complete", "status": "True" });
            status.conditions.push(serde_json::from_value(complete).unwrap());
        }
    }
    (model, second)
}

fn foretold(model: &Model, memory: &mut Memory) -> Foretold {
    let depth = Depth { foretold: true, ..Depth::ACT };
    let made = plan(&Index::of(&model.world), "m", memory, NOW, depth).unwrap();
    made.question.unwrap().answer().unwrap()
}

fn words(told: &Foretold, job: &Uid) -> String {
    told.words(job, |seconds| seconds.to_string()).unwrap()
}

#[test]
fn before_enough_have_run_it_is_said_what_is_lacking() {
    for past in [0, 20] {
        let (model, second) = machine(past);
        let told = foretold(&model, &mut Memory::default());
        assert!(!told.calibrated);
        let waited = (past - 1).max(0);
        let lacking = format!("of {past} that are known, {waited} had to.");
        assert!(words(&told, &second).ends_with(&lacking), "{}", words(&told, &second));
    }
}

#[test]
fn run_times_of_the_past_make_a_range() {
    let (model, second) = machine(60);
    let told = foretold(&model, &mut Memory::default());
    let [low, median, high, plan] = told.of(&second).unwrap().map(|time| time as i64);
    assert!(told.calibrated && NOW <= low && low <= median && median <= high, "{told:?}");
    assert_eq!(plan, NOW - 10 + 600, "by what is said alone");
    assert!(median < plan, "such Jobs run for half a minute: {told:?}");
    assert!(words(&told, &second).starts_with("It probably starts between"));
    assert_eq!(told.of(&Uid("none".into())), None);
}

#[test]
fn what_is_deleted_is_remembered_and_counted_once() {
    let (mut model, second) = machine(60);
    let mut memory = Memory::default();
    let before = foretold(&model, &mut memory);
    let again = foretold(&model, &mut memory);
    assert_eq!(before.of(&second), again.of(&second));
    model.world.jobs.retain(|_, job| job.status.completion_time.is_none());
    assert_eq!(before.of(&second), foretold(&model, &mut memory).of(&second));
    assert!(!foretold(&model, &mut Memory::default()).calibrated, "a new process knows less");
    assert_eq!(model.world.jobs[&second].name(), "second");
}
