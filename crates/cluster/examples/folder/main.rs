//! A daemon whose ledger is a directory of JSON files. To run it: `cargo run -p pavior-cluster
//! --example folder -- FOLDER ADDRESS`.
//!
//! `machine.json` describes the machine, and each file in `jobs` describes a job. Users create and
//! delete these files. The daemon adds a box to the file of each running job and a reason to that
//! of each waiting job:
//!
//! ```text
//! machine.json    { "grid": "torus:4x4", "strategy": "tff", "scheduler": "easy", "down": [7] }
//! jobs/a.json     { "shape": "2x2", "seconds": 60, "submitted": 1795311390 }
//! ```
//!
//! In each cycle, the daemon reads the directory into a [`World`], plans [`Action`]s with a pure
//! function, and carries them out. An action is dropped if its file has changed since the file was
//! read. Several daemons may therefore run simultaneously, and any of them may be stopped at any
//! time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use pavior::answers::{Queued, Snapshot};
use pavior::json::log;
use pavior::workload::Ask;
use pavior::{Cuboid, Grid, JobId, NodeId, Request, Time, boxes, scheduling, strategies};
use pavior_cluster::metrics::registry;
use pavior_cluster::{Board, Context, Explainer, Holding, Planner, View, WaitingJob, http, site};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The `machine.json` file.
#[derive(Deserialize)]
struct Description {
    grid: String,
    strategy: String,
    scheduler: String,
    /// The numbers of unavailable nodes.
    #[serde(default)]
    down: Vec<u32>,
}

/// A file in the `jobs` directory.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Record {
    shape: String,
    seconds: u64,
    submitted: u64,
    /// The base and sides of the box, or `None` while the job is waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<[[u16; 3]; 2]>,
    /// The start time, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    /// The reason that the job is waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A job, along with the text of its file.
struct Job {
    name: String,
    text: String,
    record: Record,
}

/// The directory's contents. Jobs are sorted oldest first and numbered by their index in `jobs`.
struct World {
    grid: Grid,
    strategy: strategies::Selection,
    scheduler: scheduling::Selection,
    down: Vec<u32>,
    jobs: Vec<Job>,
}

/// A change to a job's file. The change is made only if the file still contains the text `seen`. If
/// `text` is `None`, the file is deleted.
struct Action {
    name: String,
    seen: String,
    text: Option<String>,
}

/// Prefixes an error with the path of the file.
fn fault(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// Reads a directory.
///
/// # Errors
/// Returns an error if any file is unreadable, because it may describe a job that holds nodes.
fn read(folder: &Path) -> Result<World, String> {
    let path = folder.join("machine.json");
    let text = fs::read(&path).map_err(|error| fault(&path, &error))?;
    let machine: Description = pavior::json::read(&text).map_err(|error| fault(&path, &error))?;
    let bad = |error: pavior::BadName| fault(&path, &error.reason);
    let mut world = World {
        grid: machine.grid.parse().map_err(bad)?,
        strategy: machine.strategy.parse().map_err(bad)?,
        scheduler: machine.scheduler.parse().map_err(bad)?,
        down: machine.down,
        jobs: Vec::new(),
    };
    let folder = folder.join("jobs");
    for entry in fs::read_dir(&folder).map_err(|error| fault(&folder, &error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".json").map(str::to_string) else { continue };
        // The file may have been deleted in the meantime.
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        let record = pavior::json::read(text.as_bytes());
        let record = record.map_err(|error| fault(&entry.path(), &error))?;
        world.jobs.push(Job { name, text, record });
    }
    world.jobs.sort_by_cached_key(|job| (job.record.submitted, job.name.clone()));
    Ok(world)
}

impl Job {
    fn change(&self, record: &Record) -> Action {
        let text = serde_json::to_string(record).ok();
        Action { name: self.name.clone(), seen: self.text.clone(), text }
    }

    /// Returns the job's box, or `None` if there is none or it extends past the machine's edge.
    fn held(&self, grid: &Grid) -> Option<Cuboid> {
        let [base, sides] = self.record.at?;
        Some(Cuboid::new(base, sides)).filter(|at| at.lies_on(grid))
    }

    fn end(&self) -> u64 {
        self.record.start.unwrap_or(0).saturating_add(self.record.seconds)
    }

    fn holding(&self, at: Cuboid) -> Holding {
        let (id, name) = (self.name.clone(), format!("job {}", self.name));
        let (job, start, end) = (Some(id.clone()), self.record.start, Some(self.end()));
        Holding { id, name, job, user: None, start, end, parts: vec![at] }
    }

    fn waiting(&self, request: Option<Request>, sentence: String) -> WaitingJob {
        let shape = request.and_then(|request| request.shape);
        WaitingJob {
            id: self.name.clone(),
            user: String::new(),
            nodes: shape.map(boxes::volume),
            shape,
            request,
            submitted: self.record.submitted,
            kind: if request.is_some() { "place" } else { "never" }.to_string(),
            sentence,
            starts: None,
            forecast: None,
        }
    }
}

/// Returns a job's request if its shape fits on the machine.
fn request(job: &Job, planner: &mut Planner) -> Option<Request> {
    let ask = Ask::typed(Some(&job.record.shape), None, planner.machine().grid()).ok()?;
    let Ask::Shape(sides) = ask else { return None };
    let request = Request::shape(sides);
    planner.could_ever_fit(&request).then_some(request)
}

/// Plans actions that delete finished jobs and start the jobs that the scheduler chooses.
///
/// # Errors
/// Returns an error if the strategy or scheduler does not support the machine.
fn plan(world: &World, now: u64) -> Result<(Vec<Action>, View), String> {
    let World { grid, strategy, scheduler, jobs, .. } = world;
    let mut planner = Planner::new(*grid, strategy, scheduler, now)?;
    let (mut actions, mut held, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let mut queue = BTreeMap::new();
    for (id, job) in (0..).zip(jobs) {
        let Some(at) = job.held(grid) else {
            let Some(request) = request(job, &mut planner) else {
                waiting.push(job.waiting(None, format!("its shape does not fit on {grid}")));
                continue;
            };
            planner.submit(id, queue.len(), request, Some(job.record.seconds));
            queue.insert(JobId(id), request);
            continue;
        };
        if job.end() <= now {
            // The nodes become free once the file is deleted.
            actions.push(Action { name: job.name.clone(), seen: job.text.clone(), text: None });
        }
        let (start, end) = (job.record.start.unwrap_or(now), job.end().max(now + 1));
        planner.hold(id, at.nodes(grid).collect(), start, Some(end));
        held.push(job.holding(at));
    }
    let failed: Vec<NodeId> = world.down.iter().map(|&node| NodeId(node)).collect();
    for &node in &failed {
        let _ = planner.fail(node);
    }
    while let Some((id, at)) = planner.start_next().map_err(|error| error.to_string())? {
        queue.remove(&id);
        let (job, Some(at)) = (&jobs[id.0 as usize], at) else { continue };
        let (at, start) = (Some([at.base, at.sides]), Some(now));
        actions.push(job.change(&Record { at, start, why: None, ..job.record.clone() }));
    }
    explain(world, &planner, queue, &mut actions, &mut waiting);
    let view = View {
        now,
        name: "folder".to_string(),
        ledger: "folder",
        grid: *grid,
        strategy: strategy.clone(),
        scheduler: scheduler.to_string(),
        held,
        failed,
        waiting,
        find: Box::new(|name| Some((name.to_string(), String::new()))),
        unreadable: BTreeMap::new(),
        shaper: None,
    };
    Ok((actions, view))
}

/// Lists the waiting jobs with their reasons, and plans updates to the files whose reasons have
/// changed.
fn explain(
    world: &World,
    planner: &Planner,
    queue: BTreeMap<JobId, Request>,
    actions: &mut Vec<Action>,
    waiting: &mut Vec<WaitingJob>,
) {
    let job = |id: JobId| &world.jobs[id.0 as usize];
    let explainer = Explainer {
        grid: &world.grid,
        strategy: &world.strategy.to_string(),
        scheduler: &world.scheduler.to_string(),
        name: &|id| format!("job {}", job(id).name),
        end: &|id| job(id).record.start.map(|_| Time(job(id).end())),
        is_job: &|_| true,
    };
    let (snapshot, standing) = (Snapshot::of(planner.machine()), planner.standing());
    for (id, request) in queue {
        let planned = planner.planned(standing.as_ref(), id);
        let context = Context { moved: 0, queued: Queued::Kept, planned };
        let (_, lines) = explainer.explain(&snapshot, &request, &context);
        let (job, why) = (job(id), lines.join(" "));
        if job.record.why.as_ref() != Some(&why) {
            actions.push(job.change(&Record { why: Some(why.clone()), ..job.record.clone() }));
        }
        waiting.push(job.waiting(Some(request), why));
    }
}

/// Carries out an action unless its file has changed. Returns true if it was carried out.
///
/// # Errors
/// Returns an error if the file cannot be written.
fn carry_out(folder: &Path, action: &Action) -> io::Result<bool> {
    let lock = fs::File::create(folder.join("lock"))?;
    lock.lock()?;
    let path = folder.join("jobs").join(format!("{}.json", action.name));
    if fs::read_to_string(&path).ok().as_ref() != Some(&action.seen) {
        return Ok(false);
    }
    let Some(text) = &action.text else { return fs::remove_file(path).map(|()| true) };
    let new = folder.join("new");
    fs::write(&new, text)?;
    fs::rename(new, path).map(|()| true)
}

/// Runs one cycle and returns the view to publish.
fn turn(folder: &Path, now: u64) -> Result<View, String> {
    let (actions, view) = plan(&read(folder)?, now)?;
    for action in &actions {
        let is_done = carry_out(folder, action).map_err(|error| fault(folder, &error))?;
        log(now, "info", if is_done { "write" } else { "conflict" }, json!({ "job": action.name }));
    }
    Ok(view)
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, address] = &arguments[..] else {
        return Err("usage: folder FOLDER ADDRESS".into());
    };
    let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let board = Arc::new(Board::new(turn(Path::new(folder), now())?));
    let site = site(Arc::clone(&board), Arc::new(registry("folder")));
    http::serve(address, site).map_err(|error| fault(Path::new(address), &error))?;
    loop {
        std::thread::sleep(Duration::from_secs(1));
        match turn(Path::new(folder), now()) {
            Ok(view) => board.publish(view),
            Err(error) => log(now(), "warn", "turn skipped", json!({ "error": error })),
        }
    }
}

#[cfg(test)]
mod tests;
