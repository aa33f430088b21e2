//! Tests that a service, when sent a day of arrivals, makes the same placements as `simulate`.
//!
//! The client sends arrivals and departures in chronological order. The client's speed has no
//! effect on the result: by default it never pauses, and `PAVIOR_REPLAY_SPEED=1000` replays a day
//! in 86 s.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::real_logs::log;
use crate::serve::Service;
use crate::{Folder, good};

/// Future events: time, kind and job. At equal times, departures (0) precede arrivals (1).
type Agenda = BTreeSet<(u64, u8, usize)>;

/// Compares the placements of a service with those of the simulator, job by job.
fn replay(trace: &str, machine: &str, scheduler: &str) {
    let folder = Folder::new();
    let out = folder.path("placements.jsonl");
    let run = format!("simulate --trace {trace} --machine {machine} --scheduler {scheduler}");
    good(&format!("{run} --strategy tff --no-timing --placements {out}"));
    let mut jobs = folder.json_lines("placements.jsonl");
    let number = |job: &Value, key: &str| job[key].as_f64().unwrap() as u64;
    jobs.sort_by_key(|job| (number(job, "submit"), number(job, "job")));

    let options = format!("--machine {machine} --strategy tff --scheduler {scheduler}");
    let mut service = Service::start(&options);
    let mut agenda: Agenda =
        jobs.iter().enumerate().map(|(index, job)| (number(job, "submit"), 1, index)).collect();
    let speed = std::env::var("PAVIOR_REPLAY_SPEED").ok().map(|text| text.parse::<f64>().unwrap());
    let (began, first) = (Instant::now(), agenda.first().unwrap().0);
    let last = number(jobs.last().unwrap(), "submit");
    let mut waiting: HashMap<u64, usize> = HashMap::new();
    let mut held: BTreeMap<usize, Value> = BTreeMap::new();
    let mut same = 0;
    while let Some((now, kind, index)) = agenda.pop_first() {
        if let Some(speed) = speed.filter(|_| now <= last) {
            let due = Duration::from_secs_f64((now - first) as f64 / speed);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
        }
        if kind == 1 {
            let body = json!({ "nodes": jobs[index]["nodes"], "wait": true, "job": index });
            let (status, lease) = service.send("POST", "/v1/leases", &body.to_string());
            assert!(status == 201 || status == 202, "{lease}");
            waiting.insert(lease["id"].as_u64().unwrap(), index);
        } else {
            // Simultaneous departures are sent in one request, so the queue advances only after the
            // last of them.
            let mut ends = vec![end(&held.remove(&index).unwrap())];
            while let Some(next) = agenda.first().filter(|next| (next.0, next.1) == (now, 0)) {
                ends.push(end(&held.remove(&next.2).unwrap()));
                agenda.pop_first();
            }
            let body = json!({ "operations": ends }).to_string();
            let (_, answers) = service.send("POST", "/v1/batch", &body);
            let answers = answers["answers"].as_array().unwrap();
            assert!(answers.iter().all(|answer| answer["status"] == 200), "{answers:?}");
        }
        // The departures made room for these jobs.
        let (_, list) = service.send("GET", "/v1/leases?limit=10000", "");
        for lease in list["leases"].as_array().unwrap() {
            let Some(started) = waiting.remove(&lease["id"].as_u64().unwrap()) else { continue };
            let job = &jobs[started];
            assert_eq!(lease["parts"], job["parts"], "job {} at {now}", job["job"]);
            assert_eq!(now, number(job, "start"), "job {}", job["job"]);
            same += 1;
            held.insert(started, lease.clone());
            agenda.insert((now + number(job, "end") - number(job, "start"), 0, started));
        }
    }
    assert_eq!((same, waiting.len(), held.len()), (jobs.len(), 0, 0));
    println!("{same} jobs, the same placements, in {:?}", began.elapsed());
}

/// Returns the operation that ends a lease.
fn end(lease: &Value) -> Value {
    json!({ "end": { "id": lease["id"], "epoch": lease["epoch"] } })
}

#[test]
fn a_synthetic_log_is_placed_as_it_is_simulated() {
    let folder = Folder::new();
    let trace = folder.path("log.swf");
    good(&format!("trace generate lublin --nodes 256 --jobs 300 --out {trace}"));
    for scheduler in ["fcfs", "scan-all"] {
        replay(&trace, "mesh:16x16", scheduler);
    }
}

#[test]
fn a_day_of_a_real_log_is_placed_as_it_is_simulated() {
    let Some(log) = log("SDSC-Par-1996-3.1-cln.swf.gz") else { return };
    let folder = Folder::new();
    good(&format!("trace convert {log} {}", folder.path("all.swf")));
    // Day 117 has 691 jobs, many of which wait.
    let day = |line: &&str| {
        line.starts_with(';')
            || line.split_whitespace().nth(1).is_some_and(|second| {
                second.parse::<u64>().is_ok_and(|second| second / 86_400 == 117)
            })
    };
    let text = folder.read("all.swf");
    let text: String = text.lines().filter(day).flat_map(|line| [line, "\n"]).collect();
    replay(&folder.write("day.swf", text), "mesh:16x22", "fcfs");
}
