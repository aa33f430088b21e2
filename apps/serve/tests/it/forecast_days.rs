//! Replays days of a real log over HTTP, and compares each job's actual start with the forecast
//! made when the job was submitted. The service's clock is advanced from one event of the log to
//! the next. Each forecast takes a few hundred milliseconds, during which the clock advances, so
//! the numbers vary slightly between runs. `PAVIOR_SIZE=long` learns from 14 days and evaluates 7
//! days (the checks use one day for each); `PAVIOR_FORECAST_CSV=FILE` stores a line per job.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::bufread::MultiGzDecoder;
use pavior::workload::traces::{ReadOptions, Record, swf};
use pavior_serve::clock::ServiceClock;
use pavior_serve::service;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, batch, find, millis, number};
use crate::server::{Setup, options};

const LOG: &str = "KTH-SP2-1996-2.1-cln.swf.gz";
/// The first day to replay. The first month of the log is skipped.
const BEGINS: u64 = 30;
const DAY_S: u64 = 86_400;

/// A job from the log and its outcome. Times are in milliseconds since 1970.
struct LogJob {
    record: Record,
    submit_ms: u64,
    lease: Option<Value>,
    start_ms: Option<u64>,
    /// The earliest, median and latest predicted start, if the job had to wait.
    told: Option<[u64; 3]>,
}

impl LogJob {
    fn held(&self) -> bool {
        let starts =
            |[low, _, high]: [u64; 3]| self.start_ms.is_some_and(|at| low <= at && at <= high);
        self.told.is_some_and(starts)
    }
}

/// Upcoming events as (time, kind, job). In a tie, job ends (0) come before arrivals (1).
type Agenda = BTreeSet<(u64, u8, usize)>;

struct Days {
    clock: ServiceClock,
    client: Client,
    jobs: Vec<LogJob>,
    agenda: Agenda,
    waiting: BTreeMap<u64, usize>,
}

impl Days {
    /// Replays all events.
    fn run(&mut self) {
        while let Some(&(at, kind, job)) = self.agenda.first() {
            if at > self.clock.now_ms() {
                self.clock.set_ms(at);
            }
            if kind == 0 {
                self.end(at);
            } else {
                self.agenda.pop_first();
                self.submit(job);
            }
            self.look();
        }
    }

    /// Ends all jobs due at the same time in one batch, so the queue advances only after the last
    /// one.
    fn end(&mut self, at: u64) {
        let mut ends = Vec::new();
        while let Some(&next) = self.agenda.first().filter(|next| (next.0, next.1) == (at, 0)) {
            self.agenda.pop_first();
            let lease = self.jobs[next.2].lease.as_ref().expect("it has started");
            ends.push(json!({ "end": { "id": lease["id"], "epoch": lease["epoch"] } }));
        }
        let answers = self.client.post("/v1/batch", batch(ends)).json();
        let all = answers["answers"].as_array().expect("a batch has answers");
        assert!(all.iter().all(|answer| answer["status"] == 200), "{answers}");
    }

    fn submit(&mut self, job: usize) {
        let Record { nodes, estimate, tags, .. } = &self.jobs[job].record;
        let estimate_s = estimate.map(|estimate| estimate.0 as f64 * 1e-6);
        let body = json!({ "nodes": nodes, "estimate_s": estimate_s, "wait": true, "job": job,
                           "tenant": format!("user-{}", tags.user) });
        let reply = self.client.lease(body);
        let id = number(&reply["id"]);
        self.waiting.insert(id, job);
        if reply["state"] != "waiting" {
            return;
        }
        let told = find("a forecast", || {
            let reply = self.client.get(&format!("/v1/leases/{id}")).json();
            Some(reply["forecast"].clone()).filter(Value::is_object)
        });
        let time = |name: &str| millis(told[name].as_str().expect("the member is a time"));
        self.jobs[job].told = Some(["earliest", "median", "latest"].map(time));
    }

    /// Schedules the ends of newly started jobs.
    fn look(&mut self) {
        let list = self.client.get("/v1/leases?limit=10000").json();
        for lease in list["leases"].as_array().expect("the answers are a list") {
            let Some(job) = self.waiting.remove(&number(&lease["id"])) else { continue };
            let start = millis(lease["start"].as_str().expect("the member is a time"));
            let found = &mut self.jobs[job];
            let run = Duration::from_micros(found.record.run.0).as_millis() as u64;
            (found.lease, found.start_ms) = (Some(lease.clone()), Some(start));
            self.agenda.insert((start + run, 0, job));
        }
    }
}

/// Returns the jobs submitted in the given number of days, with times relative to `base_ms`.
fn jobs(path: PathBuf, days: u64, base_ms: u64) -> Vec<LogJob> {
    let file = BufReader::new(File::open(path).expect("the log can be read"));
    let text = BufReader::new(MultiGzDecoder::new(file));
    let log = swf::read(text, &ReadOptions::default()).expect("it is a log");
    let second = |record: &Record| record.submit.0 / 1_000_000;
    let here = |record: &Record| (BEGINS..BEGINS + days).contains(&(second(record) / DAY_S));
    let jobs = log.records.into_iter().filter(here).map(|record| LogJob {
        submit_ms: base_ms + 1000 * (second(&record) - BEGINS * DAY_S),
        lease: None,
        start_ms: None,
        told: None,
        record,
    });
    jobs.collect()
}

/// Replays the log against a service in this process, with a clock that the test advances.
fn replayed(path: PathBuf, days: u64) -> (Days, u64) {
    let folder = TempDir::new().expect("the file system has space");
    let setup = Setup {
        machine: "mesh:10x10".into(),
        scheduler: Some("easy".into()),
        ..Setup::new(&folder.path().join("data"))
    };
    let (clock, told) = (ServiceClock::new(), folder.path().join("address"));
    let (own, output) = (clock.clone(), File::create(&told));
    let service = std::thread::spawn(move || {
        service::run_with_clock(
            own,
            &options(setup),
            &mut output.expect("the file system has space"),
        )
    });
    let address = find("the service", || {
        std::fs::read_to_string(&told).ok().filter(|address| address.ends_with('\n'))
    });
    let base_ms = clock.now_ms() + 1000;
    let jobs = jobs(path, days, base_ms);
    let agenda = jobs.iter().enumerate().map(|(job, one)| (one.submit_ms, 1, job)).collect();
    let client = Client::new(address.trim());
    let mut days = Days { clock, client, jobs, agenda, waiting: BTreeMap::new() };
    days.run();
    assert!(days.waiting.is_empty(), "every job has started");
    service_has_counted(&mut days);
    let stop = Command::new("kill").args(["-s", "TERM", &std::process::id().to_string()]).status();
    assert!(stop.expect("there is a kill").success());
    service.join().expect("it does not panic").expect("a stop is no failure");
    (days, base_ms)
}

/// Compares the service's own count of kept forecasts with the test's count. Reply times are whole
/// milliseconds, so the counts may differ by one.
fn service_has_counted(days: &mut Days) {
    let told = days.jobs.iter().filter(|job| job.told.is_some()).count() as u64;
    let held = days.jobs.iter().filter(|job| job.held()).count() as u64;
    let says = find("every run", || {
        let reply = days.client.post("/v1/forecast", r#"{"nodes":1}"#).json();
        Some(reply["forecast"].clone()).filter(|says| says["runs"] == days.jobs.len())
    });
    let (kept, broken) = (number(&says["kept"]), number(&says["broken"]));
    assert_eq!(kept + broken, told, "{says}");
    assert!(kept.abs_diff(held) <= 1, "{held} held: {says}");
}

/// Formats one line per evaluated job. Times are in seconds on the log's clock.
fn csv(days: &Days, base_ms: u64, from: u64) -> String {
    let second = |ms: u64| (ms as f64 - base_ms as f64) * 1e-3 + (BEGINS * DAY_S) as f64;
    let mut text = "job,nodes,submit,earliest,median,latest,start,held\n".to_string();
    for job in days.jobs.iter().filter(|job| job.submit_ms >= from) {
        let (submit, start) = (job.submit_ms, job.start_ms.unwrap_or_default());
        let times = job.told.unwrap_or([submit; 3]).map(second);
        let held = if job.told.is_none() {
            "at once"
        } else if job.held() {
            "yes"
        } else {
            "no"
        };
        let (number, nodes) = (job.record.number, job.record.nodes);
        let [low, median, high] = times.map(|time| format!("{time:.1}"));
        let (submit, start) = (second(submit), second(start));
        writeln!(text, "{number},{nodes},{submit:.1},{low},{median},{high},{start:.1},{held}")
            .expect("writing to a string does not fail");
    }
    text
}

#[test]
fn forecasts_hold_for_days_of_a_real_log() {
    let Some(path) = pavior_trials::log(LOG) else { return };
    let (past, judged): (u64, u64) = pavior_trials::size((1, 1), (1, 1), (14, 7));
    let began = Instant::now();
    let (days, base_ms) = replayed(path, past + judged);
    println!("day  jobs  at once  waited  kept  share");
    for day in 0..past + judged {
        let from = base_ms + 1000 * day * DAY_S;
        let here = |job: &&LogJob| (from..from + 1000 * DAY_S).contains(&job.submit_ms);
        let own: Vec<&LogJob> = days.jobs.iter().filter(here).collect();
        let waited = own.iter().filter(|job| job.told.is_some()).count();
        let held = own.iter().filter(|job| job.held()).count();
        let share = 100.0 * held as f64 / waited.max(1) as f64;
        let (jobs, mark) = (own.len(), if day < past { "past" } else { "" });
        let now = jobs - waited;
        println!("{:3} {jobs:5} {now:8} {waited:7} {held:5} {share:5.1}% {mark}", BEGINS + day);
    }
    let from = base_ms + 1000 * past * DAY_S;
    let waited = days.jobs.iter().filter(|job| job.submit_ms >= from && job.told.is_some());
    let (waited, held) = (waited.clone().count(), waited.filter(|job| job.held()).count());
    println!(
        "{held} of {waited} forecasts kept after {past} days of learning, in {:?}",
        began.elapsed()
    );
    if let Some(file) = std::env::var_os("PAVIOR_FORECAST_CSV") {
        std::fs::write(file, csv(&days, base_ms, from)).expect("the file system has space");
    }
    assert!(waited > 0 && 2 * held > waited, "{held} of {waited} forecasts kept");
}
