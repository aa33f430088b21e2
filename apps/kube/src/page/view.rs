//! Converts a plan to the page's view of a machine.

use std::collections::BTreeMap;

use pavior::boxes::volume;
use pavior_cluster::{View, WaitingJob, date};
use serde_json::json;

use crate::plan::{Forecast, Picture, Plan, Waiting};

pub(crate) fn view(
    machine: &str,
    picture: Picture,
    plan: &Plan,
    now: u64,
    forecast: Option<&Forecast>,
) -> View {
    let Picture { held, failed } = picture;
    let view = View {
        now,
        name: machine.to_string(),
        ledger: "kubernetes",
        grid: plan.config.grid,
        strategy: plan.config.strategy.clone(),
        scheduler: plan.config.scheduler.to_string(),
        held,
        failed,
        waiting: plan.waiting.iter().map(|one| waiting_job(one, forecast)).collect(),
        // Only exact names are accepted, so there is no sentence before the name.
        find: Box::new(|name| Some((name.to_string(), String::new()))),
        unreadable: BTreeMap::new(),
        shaper: None,
    };
    view.joined()
}

fn waiting_job(waiting: &Waiting, forecast: Option<&Forecast>) -> WaitingJob {
    let shape = waiting.request.and_then(|request| request.shape);
    let uid = &waiting.job.uid;
    let start = |known: &Forecast| Some((json!(known.json(uid, date)?), known.words(uid, date)?));
    WaitingJob {
        id: format!("{}/{}", waiting.job.namespace, waiting.job.name),
        user: waiting.job.namespace.clone(),
        nodes: shape.map(volume),
        shape,
        request: waiting.request,
        submitted: waiting.created_at,
        kind: waiting.kind().to_string(),
        sentence: waiting.why.clone(),
        starts: waiting.starts_at,
        forecast: forecast.and_then(start),
    }
}
