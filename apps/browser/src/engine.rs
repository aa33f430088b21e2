//! The page's commands and their replies.

use pavior::experiments::{
    Environment, Keys, NoStore, Scenario, Setting, SettingError, Shard, Specification, advice,
};
use pavior::simulation::Histories;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::log::Log;
use crate::session::Session;
use crate::{ask, registries};

/// A run's settings, keyed by name. Each setting has one or more values, given as text.
type Settings = Map<String, Value>;

/// A command from the page.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Command {
    /// Lists strategies, schedulers, patterns and parameters with their descriptions.
    Registries,
    /// Opens a run that advances in steps, replacing any run with the same number.
    Open { run: usize, settings: Settings },
    /// Advances a run by up to `instants` event times, stopping when the time reaches or passes
    /// `until`.
    Step { run: usize, instants: u64, until: Option<f64> },
    /// Compares the wait times in two runs.
    Difference { runs: [usize; 2] },
    /// Reports whether a shape fits on a run's machine in the run's current state.
    Ask { run: usize, shape: String },
    /// Shows where a strategy would place a request in a given state.
    Explain(ask::Scene),
    /// Runs a simulation, like `pavior simulate --no-timing --format json`.
    Simulate { settings: Settings },
    /// Reads and summarizes the log in the bytes that follow this command.
    Log { name: String },
    /// Simulates the log under all alternative settings, or only under the settings to try first.
    Advise { settings: Settings, all: bool },
}

/// The state of a page: its runs and its log.
#[derive(Default)]
pub struct Engine {
    runs: Vec<Option<Session>>,
    log: Log,
}

/// The alternatives to try first. Those already in use are skipped, and at most `MOST_TRIED` are
/// tried.
const TRIED: [&str; 7] = [
    "strategy tff",
    "strategy gabl",
    "scheduler easy",
    "scheduler conservative",
    "freedom any-box",
    "strategy bf:turn=all",
    "scheduler fcfs",
];
const MOST_TRIED: usize = 5;

/// The maximum number of runs on a page.
const MAX_RUNS: usize = 8;

impl Engine {
    /// Answers a message, which consists of a command (one line of JSON) and, if the command reads
    /// a log, the bytes of that log. The reply is a JSON object, which has an `error` member if the
    /// command fails.
    ///
    /// ```
    /// let mut engine = pavior_browser::Engine::default();
    /// let settings = r#"{"machine": "mesh:8x8", "strategy": "tff"}"#;
    /// let open = format!(r#"{{"do": "open", "run": 0, "settings": {settings}}}"#);
    /// let opened = engine.answer(open.as_bytes());
    /// assert!(!opened.contains("error"), "{opened}");
    /// assert!(engine.answer(b"x").starts_with(r#"{"error":"#));
    /// ```
    pub fn answer(&mut self, message: &[u8]) -> String {
        let (line, rest) = match message.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&message[..end], &message[end + 1..]),
            None => (message, &[][..]),
        };
        let reply = pavior::json::read(line)
            .map_err(|error| pavior::json::reason(&error).into())
            .and_then(|command| self.carry_out(command, rest));
        reply.unwrap_or_else(|fault| fault.json()).to_string()
    }

    fn carry_out(&mut self, command: Command, bytes: &[u8]) -> Result<Value, Fault> {
        match command {
            Command::Registries => Ok(registries::all()),
            Command::Open { run, settings } => {
                if run >= MAX_RUNS {
                    return Err(format!("a page can have at most {MAX_RUNS} runs").into());
                }
                let session = self.open(&settings)?;
                self.runs.resize_with(self.runs.len().max(run + 1), || None);
                Ok(self.runs[run].insert(session).opened())
            }
            Command::Step { run, instants, until } => self.session_mut(run)?.step(instants, until),
            Command::Ask { run, shape } => ask::shape(self.session(run)?, &shape),
            Command::Explain(scene) => ask::explain(&scene),
            Command::Difference { runs: [one, other] } => {
                Ok(self.session(one)?.difference(self.session(other)?))
            }
            Command::Simulate { settings } => self.simulate(&settings),
            Command::Log { name } => self.log.read(name, bytes),
            Command::Advise { settings, all } => self.advise(&settings, all),
        }
    }

    fn simulate(&self, settings: &Settings) -> Result<Value, Fault> {
        let specification = specification(settings)?;
        let environment = Environment { files: &self.log, ..Environment::PLAIN };
        let samples = specification.run(Vec::new(), Shard::WHOLE, environment, &mut NoStore);
        Ok(specification.to_json(&samples.map_err(Fault::of)?))
    }

    /// Tries all alternatives, or only those that should be tried first.
    fn advise(&self, settings: &Settings, all: bool) -> Result<Value, Fault> {
        let axes = specification(settings)?.points[0].settings().machine.axes();
        // Counting larger boxes after every event would dominate the run time.
        let smallest_box = vec!["1"; axes].join("x");
        let first = (!all).then_some((&TRIED[..], MOST_TRIED));
        let environment = Environment { files: &self.log, ..Environment::PLAIN };
        let advice =
            advice::advise_among(&setting_list(settings)?, Some(&smallest_box), first, environment);
        Ok(advice_json(&advice.map_err(Fault::of)?))
    }

    pub(crate) fn open(&self, settings: &Settings) -> Result<Session, Fault> {
        let specification = specification(settings)?;
        let [point] = &specification.points[..] else {
            return Err("each setting must have exactly one value".to_string().into());
        };
        let scenario = Scenario::new(point.settings(), false, &self.log, &Histories::default());
        Session::new(&scenario.map_err(Fault::of)?, point)
    }

    fn session(&self, run: usize) -> Result<&Session, Fault> {
        self.runs.get(run).and_then(Option::as_ref).ok_or_else(|| unknown_run(run))
    }

    fn session_mut(&mut self, run: usize) -> Result<&mut Session, Fault> {
        self.runs.get_mut(run).and_then(Option::as_mut).ok_or_else(|| unknown_run(run))
    }
}

fn unknown_run(run: usize) -> Fault {
    format!("no such run: {run}").into()
}

fn setting_list(settings: &Settings) -> Result<Vec<Setting>, Fault> {
    let texts = |value: &Value| -> Option<Vec<String>> {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        values.iter().map(|value| value.as_str().map(str::to_string)).collect()
    };
    let setting = |(key, value): (&String, &Value)| match texts(value) {
        Some(values) => Ok(Setting { key: key.clone(), values }),
        None => Err(Fault {
            reason: "each value must be a string".to_string(),
            setting: Some(key.clone()),
        }),
    };
    settings.iter().map(setting).collect()
}

/// Parses settings. Allocations are not timed, because browsers have no suitable clock.
fn specification(settings: &Settings) -> Result<Specification, Fault> {
    let mut all = setting_list(settings)?;
    all.push(Setting::new("timing", "false"));
    Specification::from_settings(&all, "simulate", Keys::Options).map_err(|error| {
        let SettingError { reason, setting, .. } = error;
        let setting = setting.and_then(|index| all.get(index)).map(|setting| setting.key.clone());
        Fault { reason, setting }
    })
}

/// Converts advice to JSON: its sentences, and the change in each metric except box counts.
fn advice_json(advice: &advice::Advice) -> Value {
    let is_shown = |measure: &advice::Measure| !measure.metric.starts_with("slots");
    let alternatives = advice.alternatives.iter().map(|one| {
        let changes = advice.measures.iter().zip(&one.changes);
        let changes = changes.filter(|(measure, _)| is_shown(measure)).map(|(measure, change)| {
            let change = change.map(|change| change.times(1.0 / measure.scale));
            change.map(|change| json!([change.difference, change.half_width]))
        });
        let changes: Vec<Option<Value>> = changes.collect();
        json!({ "name": one.name, "words": one.words, "changes": changes })
    });
    let measures =
        advice.measures.iter().filter(|one| is_shown(one)).map(|one| json!([one.title, one.unit]));
    json!({
        "measures": measures.collect::<Vec<_>>(),
        "alternatives": alternatives.collect::<Vec<_>>(),
        "recommendations": advice::recommendations(advice),
    })
}
