//! `pavior unblock`: plans which jobs to move to make a request fit, and answers related
//! questions.

mod deadline;

use std::path::{Path, PathBuf};

use pavior::answers::json::{MoveJson, Place, Point};
use pavior::answers::{self, Move, MovePlan, Room, SearchLimits, Shape, Snapshot, Weights};
use pavior::draw::PlannedMove;
use pavior::strategies::explain;
use pavior::{BadName, Cuboid, Freedom, Grid, JobId, Machine, NodeId, Request, Time};
use serde_json::{Value, json};

use self::deadline::Deadline;
use crate::args::{Turning, UnblockArgs};
use crate::busy::{self, Busy, JobName};
use crate::failure::Failure;
use crate::json_lines::{LineObject, for_each_line};
use crate::output::{self, Format, MAX_WIDTH, Reply, Table};
use crate::{files, input};

pub(crate) fn run(args: &UnblockArgs) -> Result<(), Failure> {
    if args.now > args.by {
        return Err(Failure::usage("--by must not be earlier than --now"));
    }
    let grid = input::machine(&args.machine)?;
    let request = || input::request(&args.ask, args.freedom.as_deref(), &grid);
    let request = args.drain.is_empty().then(request).transpose()?;
    let turn = args.turn == Turning::All;
    let shape = request.and_then(|request| request.shape).map(|sides| Shape { sides, turn });
    let drained: Vec<NodeId> =
        args.drain.iter().map(|typed| node(typed, &grid)).collect::<Result<_, _>>()?;
    let inputs = [("--busy", Some(&*args.busy)), ("--weights", args.weights.as_deref())];
    files::check_stdin(inputs)?;
    files::check_output("--svg", args.svg.as_deref(), &inputs)?;
    let busy = busy::read(Some(&args.busy), grid)?;
    let machine = busy.machine()?;
    let shapes = usable_shapes(request, &machine, turn)?;
    let snapshot = Snapshot::of(&machine);
    let ScaledWeights { weights, scale } = match &args.weights {
        None => ScaledWeights { weights: Weights::nodes(&snapshot), scale: 1.0 },
        Some(path) => read_weights(path, &busy, &snapshot)?,
    };
    let (format, svg) = (args.output.format(), args.svg.clone());
    let report = UnblockReport { busy, snapshot, weights, scale, format, svg };
    let limits = SearchLimits { max_jobs: args.max_jobs, turn, budget: args.budget };
    if let Some(by) = args.by {
        let room = if request.is_some() { Room::Box(&shapes) } else { Room::Nodes(&drained) };
        return report.plan_by(room, Deadline { by, now: args.now }, &limits);
    }
    if args.blockers {
        report.blockers(shape)
    } else if args.earliest {
        report.earliest(shape)
    } else if let Some(count) = args.nearest {
        report.nearest(shape, count)
    } else if request.is_none() {
        report.drain(&drained, &limits)
    } else {
        report.unblock(&shapes, &limits)
    }
}

/// Returns the boxes that a request may use, or an empty list if the request has no shape.
pub(super) fn usable_shapes(
    request: Option<Request>,
    machine: &Machine,
    turn: bool,
) -> Result<Vec<Shape>, Failure> {
    let Some(request) = request else { return Ok(Vec::new()) };
    Shape::all_for(&request, machine, turn).ok_or_else(|| {
        let typed = request.freedom.map_or("", Freedom::word);
        let reason = "plans are limited to boxes; choose box, turned or any-box".to_string();
        Failure::option("--freedom", typed, 0, &BadName { reason, span: 0..typed.len() })
    })
}

/// Parses a node, such as 1,2.
fn node(typed: &str, grid: &Grid) -> Result<NodeId, Failure> {
    let numbers: Option<Vec<u64>> = typed.split(',').map(|part| part.parse().ok()).collect();
    let node = numbers.and_then(|numbers| input::node(&numbers, grid));
    node.map(|node| grid.id(node)).ok_or_else(|| {
        let reason =
            format!("not a node of {grid}; specify {} zero-based coordinates", grid.axes());
        Failure::option("--drain", typed, 0, &BadName { reason, span: 0..typed.len() })
    })
}

/// Job weights as integers.
struct ScaledWeights {
    weights: Weights,
    /// The factor by which the weights were multiplied.
    scale: f64,
}

/// Reads weights from a file. Decimal weights are multiplied by a million.
fn read_weights(path: &Path, busy: &Busy, snapshot: &Snapshot) -> Result<ScaledWeights, Failure> {
    let mut given: Vec<Option<f64>> = vec![None; busy.state.held().len()];
    for_each_line(path, |line, _| {
        let object = LineObject::parse(line, "{\"job\",\"weight\"}")?;
        object.check_keys(&["job", "weight"], &[])?;
        let (job, weight) = (object.require("job")?, object.require("weight")?);
        let name = object.value(job);
        let id = busy.job_named(&name);
        let name = JobName(&name);
        let id = id.ok_or_else(|| job.wrong(format!("job {name} holds no nodes")))?;
        let value = object.value(weight).as_f64().filter(|value| (0.0..1e15).contains(value));
        let wrong = || weight.wrong("a weight must be a number from 0 to 1e15");
        let value = value.ok_or_else(wrong)?;
        match given[id.0 as usize].replace(value) {
            None => Ok(()),
            Some(_) => Err(job.wrong(format!("job {name} already has a weight"))),
        }
    })?;
    let are_integers = given.iter().flatten().all(|weight| weight.fract() == 0.0);
    let scale = if are_integers { 1.0 } else { 1e6 };
    let weight = |job: JobId| {
        let weight = given[job.0 as usize].unwrap_or_else(|| busy.nodes(job).into());
        (weight * scale).round() as u64
    };
    let weights = Weights::new(snapshot, weight).map_err(Failure::usage)?;
    Ok(ScaledWeights { weights, scale })
}

/// The state of a machine, with everything needed to print answers about it.
struct UnblockReport {
    busy: Busy,
    snapshot: Snapshot,
    weights: Weights,
    scale: f64,
    format: Format,
    svg: Option<PathBuf>,
}

impl UnblockReport {
    fn unblock(&self, shapes: &[Shape], limits: &SearchLimits) -> Result<(), Failure> {
        let answer = answers::unblock_any(&self.snapshot, shapes, &self.weights, limits);
        let fits = answer.plan.as_ref().is_some_and(|plan| plan.jobs.is_empty());
        let plan = answer.plan.as_ref();
        let place = plan.and_then(|plan| plan.boxes.first());
        let most = jobs(limits.max_jobs);
        let value = json!({
            "fits": fits,
            "proven": answer.proven,
            "cost": plan.map(|plan| self.number(plan.cost)),
            "jobs": plan.map(|plan| self.names(&plan.jobs)),
            "placement": self.place(place),
            "moves": self.moves(plan),
        });
        let sentence = match (place, plan) {
            (Some(place), _) if fits => format!("already free: {}", self.describe(place)),
            (Some(place), Some(plan)) => {
                let caveat = if answer.proven { "" } else { ", though a cheaper plan may exist" };
                let (cost, place) = (self.number(plan.cost), self.describe(place));
                format!("free after these moves (weight {cost}){caveat}: {place}")
            }
            _ if !shapes.iter().any(|shape| shape.fits(self.snapshot.grid())) => {
                format!("never: no such box fits on {}", self.snapshot.grid())
            }
            _ if answer.proven => format!("moving at most {most} cannot free such a box"),
            _ => format!("no plan that moves at most {most} was found within the search budget"),
        };
        self.print_moves(value, sentence, plan)
    }

    fn drain(&self, nodes: &[NodeId], limits: &SearchLimits) -> Result<(), Failure> {
        let answer = answers::drain(&self.snapshot, nodes, &self.weights, limits);
        let plan = answer.plan.as_ref();
        let value = json!({
            "proven": answer.proven,
            "cost": plan.map(|plan| self.number(plan.cost)),
            "jobs": plan.map(|plan| self.names(&plan.jobs)),
            "moves": self.moves(plan),
        });
        let sentence = match plan {
            Some(plan) if plan.moves.is_empty() => "no job holds these nodes".to_string(),
            Some(plan) => format!("empty after these moves (weight {})", self.number(plan.cost)),
            None if answer.proven => {
                let most = jobs(limits.max_jobs);
                format!("moving at most {most} cannot empty these nodes")
            }
            None => "no plan was found within the search budget".to_string(),
        };
        self.print_moves(value, sentence, plan)
    }

    fn blockers(&self, shape: Option<Shape>) -> Result<(), Failure> {
        let found = shape.and_then(|shape| answers::blockers(&self.snapshot, shape, &self.weights));
        let place = self.place(found.as_ref().map(|found| &found.at));
        let grid = self.snapshot.grid();
        let unavailable = found.as_ref().map(|found| Point::all(grid, &found.unavailable));
        let value = json!({
            "base": place.map(|place| place.base),
            "sides": place.map(|place| place.sides),
            "weight": found.as_ref().map(|found| self.number(found.weight)),
            "jobs": found.as_ref().map(|found| self.names(&found.jobs)),
            "unavailable": unavailable,
        });
        let never = || format!("never: no such box fits on {}", self.snapshot.grid());
        let sentence = found.as_ref().map_or_else(never, |found| {
            let at = self.describe(&found.at);
            let lost = match found.unavailable.len() {
                0 => String::new(),
                lost => format!("; failed nodes in this box: {lost}"),
            };
            let names = self.shown_names(&found.jobs);
            match names.len() {
                0 if lost.is_empty() => format!("free: {at}"),
                0 => format!("no job holds nodes in {at}{lost}"),
                count => format!(
                    "least blocked: {at}, held by {} (weight {}): {}{lost}",
                    jobs(count),
                    self.number(found.weight),
                    names.join(", ")
                ),
            }
        });
        let row = found.map(|found| {
            let names = self.shown_names(&found.jobs);
            vec![self.describe(&found.at), self.number(found.weight).to_string(), names.join("; ")]
        });
        self.print_places(value, sentence, (&["place", "weight", "jobs"], Vec::from_iter(row)))
    }

    fn earliest(&self, shape: Option<Shape>) -> Result<(), Failure> {
        let ends = self.busy.ends()?;
        let rank = |job| ends.rank(job);
        let found = shape.and_then(|shape| answers::earliest(&self.snapshot, shape, rank));
        let at = found.map(|found| ends.at(found.at));
        let place = self.place(found.as_ref().map(|found| &found.place));
        let value = json!({
            "at": at,
            "base": place.map(|place| place.base),
            "sides": place.map(|place| place.sides),
        });
        let row = found.as_ref().zip(at.as_ref());
        let row = row.map(|(found, at)| vec![at.to_string(), self.describe(&found.place)]);
        let sentence = match (found, at) {
            (Some(found), _) if found.at == Time::ZERO => {
                format!("free now: {}", self.describe(&found.place))
            }
            (Some(found), Some(at)) => format!("free at {at}: {}", self.describe(&found.place)),
            _ => "never free, according to the known end times".to_string(),
        };
        self.print_places(value, sentence, (&["at", "place"], Vec::from_iter(row)))
    }

    fn nearest(&self, shape: Option<Shape>, count: usize) -> Result<(), Failure> {
        let found =
            shape.map_or(Vec::new(), |shape| answers::nearest(&self.snapshot, shape, count));
        let value = json!({ "nearest": Place::all(self.snapshot.grid(), &found) });
        let words: Vec<String> = found.iter().map(|at| self.describe(at)).collect();
        let sentence = match words.len() {
            0 => "nearest box that fits: none".to_string(),
            _ => format!("nearest box that fits: {}", words.join("; ")),
        };
        let rows = words.into_iter().map(|place| vec![place]).collect();
        self.print_places(value, sentence, (&["place"], rows))
    }

    /// Prints an answer that contains no moves. In CSV, prints one row per location.
    fn print_places(
        &self,
        json: Value,
        sentence: String,
        csv: (&[&str], Vec<Vec<String>>),
    ) -> Result<(), Failure> {
        if let Some(path) = &self.svg {
            draw(path, &self.busy, &[], &[])?;
        }
        let reply = Reply { json, csv, sentences: vec![sentence], tables: Vec::new() };
        reply.print(self.format, MAX_WIDTH)
    }

    /// Prints an answer with a table of the moves.
    fn print_moves(
        &self,
        json: Value,
        sentence: String,
        plan: Option<&MovePlan>,
    ) -> Result<(), Failure> {
        let moves: &[Move] = plan.map_or(&[], |plan| &plan.moves);
        if let Some(path) = &self.svg {
            draw(path, &self.busy, moves, plan.map_or(&[], |plan| &plan.boxes))?;
        }
        let rows = move_rows(&self.busy, moves);
        let tables = Vec::from_iter(Table::of_words(&MOVES_HEADER, &rows));
        let reply = Reply { json, csv: (&MOVES_HEADER, rows), sentences: vec![sentence], tables };
        reply.print(self.format, MAX_WIDTH)
    }

    fn moves(&self, plan: Option<&MovePlan>) -> Vec<MoveJson<&Value>> {
        let moves = plan.map_or(&[][..], |plan| &plan.moves);
        MoveJson::all(self.snapshot.grid(), moves, |job| self.busy.name(job))
    }

    fn names(&self, jobs: &[JobId]) -> Vec<&Value> {
        jobs.iter().map(|&job| self.busy.name(job)).collect()
    }

    fn shown_names(&self, jobs: &[JobId]) -> Vec<String> {
        jobs.iter().map(|&job| self.busy.shown_name(job).to_string()).collect()
    }

    fn place(&self, at: Option<&Cuboid>) -> Option<Place> {
        at.map(|at| Place::of(self.snapshot.grid(), at))
    }

    /// Returns a sum of weights in the original scale, as an integer if all weights are integers.
    fn number(&self, weight: u64) -> Value {
        if self.scale > 1.0 { json!(weight as f64 / self.scale) } else { json!(weight) }
    }

    fn describe(&self, at: &Cuboid) -> String {
        explain::words(self.snapshot.grid(), at)
    }
}

pub(super) const MOVES_HEADER: [&str; 3] = ["job", "from", "to"];

/// Returns one row per move.
pub(super) fn move_rows(busy: &Busy, moves: &[Move]) -> Vec<Vec<String>> {
    let list = |boxes: &[Cuboid]| list(busy.state.grid(), boxes);
    let row =
        |step: &Move| vec![busy.shown_name(step.job).to_string(), list(&step.from), list(&step.to)];
    moves.iter().map(row).collect()
}

fn list(grid: &Grid, boxes: &[Cuboid]) -> String {
    boxes.iter().map(|at| explain::words(grid, at)).collect::<Vec<_>>().join("; ")
}

/// Draws a machine before and after moves.
pub(super) fn draw(
    path: &Path,
    busy: &Busy,
    moves: &[Move],
    boxes: &[Cuboid],
) -> Result<(), Failure> {
    let mut after = explain::State::new(*busy.state.grid());
    for (job, placement) in busy.state.held() {
        let last = moves.iter().rev().find(|step| step.job == *job);
        let parts = last.map_or(placement.parts(), |step| &step.to);
        let held = after.hold(*job, parts);
        held.map_err(|clash| Failure::Other(format!("the moves conflict: {clash}")))?;
    }
    for node in busy.state.failed() {
        after.fail(node);
    }
    let drawn: Vec<PlannedMove<'_>> =
        moves.iter().map(|step| PlannedMove { from: &step.from, to: &step.to }).collect();
    let name = |job: JobId| busy.shown_name(job).raw();
    let svg = pavior::draw::plan(&busy.state, &after, &drawn, boxes, &name);
    Ok(files::write_whole(path, |out| out.write_all(svg.as_bytes()))?)
}

fn jobs(count: usize) -> String {
    output::count(count as u64, "job")
}
