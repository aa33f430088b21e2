//! `pavior explain`: shows where each strategy would place a request, and the reasons for refusals.

use pavior::answers::json::Place;
use pavior::answers::{
    Blocked, Demand, Question, SearchLimits, Shape, Snapshot, Why, Words, nearest, why,
};
use pavior::boxes::volume;
use pavior::experiments::LeftOut;
use pavior::strategies::explain::{self, Answer, Choice};
use pavior::strategies::{Registry, Selection};
use pavior::{Cuboid, Grid, JobId, Refusal, Request};
use serde_json::{Value, json};

use crate::args::ExplainArgs;
use crate::busy::{self, Busy};
use crate::failure::Failure;
use crate::files;
use crate::input::{self, Strategies};
use crate::output::{self, Format, MAX_WIDTH, Table, count, sides};

/// The maximum number of jobs that a plan may move.
const MAX_MOVED_JOBS: usize = 2;

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let request = input::request(&args.ask, args.freedom.as_deref(), &grid)?;
    let Strategies { chosen, skipped } = strategies(args, &grid)?;
    files::check_output("--svg", args.svg.as_deref(), &[("--busy", Some(&args.busy))])?;
    let busy = busy::read_at(&args.busy, grid, args.at)?;
    let mut answers = Vec::new();
    for selection in &chosen {
        let answer = explain::answer(&busy.state, selection, &request, args.ask.seed);
        answers.push(answer.map_err(Failure::usage)?);
    }
    let (snapshot, why) = diagnose(&busy, &request)?;
    let report = ExplainReport { busy, request, answers, skipped, snapshot, why };
    if let Some(path) = &args.svg {
        let name = |job: JobId| report.busy.shown_name(job).raw();
        let freed = report.blocked().map(|blocked| blocked.at);
        let ExplainReport { busy, answers, .. } = &report;
        let svg = pavior::draw::explanation(&busy.state, &request, answers, freed.as_ref(), &name);
        files::write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    match args.output.format() {
        Format::Json => output::json(&report.json(args.ask.seed)),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    }
}

/// Takes a snapshot, and finds where a request fits or which jobs block it. The second value is
/// `None` if the request has no shape. Jobs without an end time are assumed to run forever. If any
/// end time is invalid, all end times are ignored.
fn diagnose(busy: &Busy, request: &Request) -> Result<(Snapshot, Option<Why>), Failure> {
    let machine = busy.machine()?;
    let snapshot = Snapshot::of(&machine);
    let Some(shape) = request.shape else { return Ok((snapshot, None)) };
    let boxes = Shape::all_for(request, &machine, true);
    let demand = Demand::boxed(&snapshot, boxes.unwrap_or_else(|| vec![Shape::new(shape)]));
    let ends = busy.ends().ok();
    let end = |job: JobId| ends.as_ref()?.rank(job);
    let limits = SearchLimits::jobs(MAX_MOVED_JOBS);
    let answer = why(&snapshot, &Question { limits, ..Question::new(&demand, &end) });
    Ok((snapshot, Some(answer)))
}

/// Returns the strategies that the user named or, by default, all that work on the machine.
fn strategies(args: &ExplainArgs, grid: &Grid) -> Result<Strategies, Failure> {
    if let Some(typed) = &args.strategy {
        return input::strategies(typed, grid, args.skip_unsupported);
    }
    let all = Registry::new().entries().map(Selection::defaults);
    let chosen = all.filter(|selection| selection.supports(grid).is_ok()).collect();
    Ok(Strategies { chosen, skipped: None })
}

/// The results, and everything needed to print them.
struct ExplainReport {
    busy: Busy,
    request: Request,
    answers: Vec<Answer>,
    /// The skipped strategies, or `None` if an unsupported strategy is an error.
    skipped: Option<Vec<LeftOut>>,
    snapshot: Snapshot,
    /// A free location for the request or the jobs that block it, unless the request has no shape.
    why: Option<Why>,
}

impl ExplainReport {
    fn grid(&self) -> &Grid {
        self.busy.state.grid()
    }

    fn blocked(&self) -> Option<&Blocked> {
        self.why.as_ref()?.blocked.as_ref()
    }

    /// Returns the free box that is most similar to the requested box.
    fn nearest(&self) -> Option<Cuboid> {
        nearest(&self.snapshot, Shape::new(self.request.shape?), 1).pop()
    }

    fn largest_free(&self) -> Option<Cuboid> {
        self.busy.state.free().largest_free()
    }

    /// Describes the free location, or explains why the box does not fit anywhere.
    fn why_lines(&self) -> Vec<String> {
        let ends = self.busy.ends().ok();
        let time = |at| ends.as_ref().map_or_else(String::new, |ends| ends.at(at).to_string());
        let refuses = |answer: &&Answer| answer.outcome.is_err();
        let refusing = self.answers.iter().find(refuses).map(|answer| answer.selection.to_string());
        let words = Words {
            grid: self.grid(),
            job: &|job| format!("job {}", self.busy.shown_name(job)),
            time: &time,
            strategy: &refusing.unwrap_or_default(),
            scheduler: "",
        };
        self.why.as_ref().map_or(Vec::new(), |why| why.lines(&words))
    }

    /// Returns the request as JSON. Its freedom is included only if the user specified one.
    fn request_json(&self) -> Value {
        let axes = self.grid().axes();
        let mut request = json!({
            "nodes": self.request.nodes,
            "shape": self.request.shape.map(|shape| shape[..axes].to_vec()),
        });
        if let Some(freedom) = self.request.freedom {
            request["freedom"] = json!(freedom.word());
        }
        request
    }

    fn json(&self, seed: u64) -> Value {
        let (state, grid) = (&self.busy.state, self.grid());
        let cuboid = |at: Option<Cuboid>| at.map(|at| Place::of(grid, &at));
        let fits = self.why.as_ref().and_then(|why| why.place.first().copied());
        let strategies: Vec<_> =
            self.answers.iter().map(|answer| self.strategy_json(answer)).collect();
        let mut document = json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "seed": seed,
            "machine": grid.to_string(),
            "request": self.request_json(),
            "free": state.free().count(),
            "busy": state.busy_nodes(),
            "failed": state.failed().len(),
            "jobs": state.held().len(),
            "perfect_index": self.perfect_index(),
            "strategies": strategies,
            "fits": cuboid(fits),
            "nearest": cuboid(self.nearest()),
            "largest_free": cuboid(self.largest_free()),
            "why": self.why_lines(),
            "blocked": self.blocked().map(|blocked| self.blocked_json(blocked)),
        });
        if let Some(skipped) = &self.skipped {
            document["skipped"] = json!(skipped);
        }
        document
    }

    fn blocked_json(&self, blocked: &Blocked) -> Value {
        let ends = self.busy.ends().ok();
        let name = |job| self.busy.name(job);
        let holder = |job, nodes| json!({ "job": name(job), "nodes": nodes });
        let time = |until| ends.as_ref().map(|ends| ends.at(until));
        json!(blocked.json(&self.snapshot, name, holder, time))
    }

    fn strategy_json(&self, answer: &Answer) -> Value {
        let choice = answer.outcome.as_ref().ok();
        let parts = choice.map_or(&[][..], |choice| choice.placement.parts());
        json!({
            "strategy": answer.selection.to_string(),
            "contiguous": answer.selection.entry.does.contiguous,
            "granted": choice.is_some(),
            "reason": answer.outcome.as_ref().err().map(|refusal| refusal.word()),
            "nodes": choice.map_or(0, |choice| choice.placement.nodes()),
            "index": choice.map(Choice::index),
            "part_indices": choice.map_or(&[][..], |choice| &choice.indices),
            "parts": Place::all(self.grid(), parts),
        })
    }

    /// Returns one row per strategy: strategy, granted, reason, nodes, index, number of parts, and
    /// placement.
    fn rows(&self) -> impl Iterator<Item = [String; 7]> {
        self.answers.iter().map(|answer| {
            let name = answer.selection.to_string();
            match &answer.outcome {
                Ok(choice) => {
                    let parts = choice.placement.parts();
                    let words = parts.iter().map(|part| explain::words(self.grid(), part));
                    let words = words.collect::<Vec<_>>().join("; ");
                    let nodes = choice.placement.nodes().to_string();
                    let (index, count) = (choice.index().to_string(), parts.len().to_string());
                    [name, "true".into(), String::new(), nodes, index, count, words]
                }
                Err(refusal) => {
                    let none = String::new;
                    [name, "false".into(), refusal.to_string(), none(), none(), none(), none()]
                }
            }
        })
    }

    fn csv(&self) -> Result<(), Failure> {
        let header = ["strategy", "granted", "reason", "nodes", "index", "parts", "placement"];
        output::csv(&header, &self.rows().map(Vec::from).collect::<Vec<_>>())
    }

    fn table(&self) -> Result<(), Failure> {
        output::text(&self.heading(), MAX_WIDTH)?;
        let mut table =
            Table::new(&["strategy", "index", "nodes", "parts", "placement"], 1).with_words(4);
        for [name, _, reason, nodes, index, parts, placement] in self.rows() {
            let placement =
                if reason.is_empty() { placement } else { format!("refused: {reason}") };
            table.row(vec![name, index, nodes, parts, placement]);
        }
        table.print(MAX_WIDTH)?;
        if self.answers.iter().any(|answer| answer.outcome.is_err()) {
            for sentence in self.reasons() {
                output::text(&sentence, MAX_WIDTH)?;
            }
        }
        Ok(())
    }

    fn heading(&self) -> String {
        let (state, grid) = (&self.busy.state, self.grid());
        let failed = match state.failed().len() {
            0 => String::new(),
            1 => ", 1 node has failed".into(),
            count => format!(", {count} nodes have failed"),
        };
        let shape = self.request.shape;
        let shape =
            shape.map_or("without a shape".into(), |shape| format!("as {}", sides(grid, shape)));
        let perfect = self
            .perfect_index()
            .map_or(String::new(), |index| format!(" (maximum index for a single box: {index})"));
        format!(
            "{grid}: {} hold{} {}{failed}, {} free; request: {} {shape}{perfect}",
            count(state.held().len() as u64, "job"),
            if state.held().len() == 1 { "s" } else { "" },
            count(state.busy_nodes().into(), "node"),
            state.free().count(),
            count(self.request.nodes.into(), "node"),
        )
    }

    /// Returns sentences that explain the refusals.
    fn reasons(&self) -> Vec<String> {
        let mut sentences = vec![String::new()];
        for reason in Refusal::ALL {
            let refuse = |answer: &&Answer| answer.outcome.as_ref().err() == Some(&reason);
            let names: Vec<String> =
                self.answers.iter().filter(refuse).map(|a| a.selection.to_string()).collect();
            if !names.is_empty() {
                sentences.push(format!("{reason} ({}): {}", reason.meaning(), names.join(", ")));
            }
        }
        sentences.extend(self.why_lines());
        if self.blocked().is_some() {
            sentences.push(match self.nearest() {
                Some(at) => format!("nearest box that fits: {}", self.describe(&at)),
                None => "nearest box that fits: none; no nodes are free".into(),
            });
        }
        let largest = self.largest_free();
        sentences.extend(largest.map(|at| format!("largest free submesh: {}", self.describe(&at))));
        sentences
    }

    /// Formats a box with its number of nodes.
    fn describe(&self, at: &Cuboid) -> String {
        format!("{} ({})", explain::words(self.grid(), at), count(volume(at.sides), "node"))
    }

    /// Returns the highest contact index that the requested box can reach anywhere on the machine.
    fn perfect_index(&self) -> Option<i64> {
        explain::perfect_index(&self.busy.state, self.request.shape?)
    }
}
