//! Parses the message in a line.

use pavior::answers::SearchLimits;
use pavior::{Coordinates, Cuboid, Freedom, Grid, UnknownFreedom, json};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::core::{Ask, JobName, node_coordinates};

/// The keys of all operations. A key that almost matches one of them is an error.
const KEYS: [&str; 10] =
    ["op", "job", "shape", "nodes", "freedom", "dry_run", "node", "parts", "max_jobs", "turn"];
/// The default value of `max_jobs`, the maximum number of jobs to move.
const DEFAULT_MAX_JOBS: u64 = 3;

/// A JSON object whose members describe an operation.
pub(super) struct Message(Map<String, Value>);

impl Message {
    pub(super) fn parse(line: &[u8]) -> Result<Message, String> {
        let value: Value = json::read(line).map_err(|error| {
            let (reason, column) = (json::reason(&error), error.column());
            // On a data error, such as a duplicate key, the text may be valid JSON.
            let what = if error.is_data() { "" } else { "not a JSON object: " };
            format!("{what}{reason} (column {column})")
        })?;
        let Value::Object(members) = value else {
            return Err("not a JSON object".to_string());
        };
        reject_misspelled_keys(&members)?;
        Ok(Message(members))
    }

    pub(super) fn op(&self) -> Option<&str> {
        self.0.get("op").and_then(Value::as_str)
    }

    pub(super) fn job(&self) -> Result<JobName, String> {
        let name = self.0.get("job").ok_or("missing \"job\"")?;
        JobName::deserialize(name).map_err(|_| "\"job\" must be an integer or a string".to_string())
    }

    /// Reads the requested shape or, failing that, the number of nodes, for the shape rule to
    /// convert.
    pub(super) fn ask(&self, grid: &Grid) -> Result<Ask, String> {
        let sides = |shape: &Value| {
            let sides: Option<Vec<u64>> =
                shape.as_array().and_then(|sides| sides.iter().map(positive).collect());
            sides.ok_or("\"shape\" must be a list of positive integers")
        };
        let nodes = |nodes| positive(nodes).ok_or("\"nodes\" must be a positive integer");
        let shape = self.0.get("shape").map(sides).transpose()?;
        let nodes = self.0.get("nodes").map(nodes).transpose()?;
        Ask::read(shape.as_deref(), nodes, grid).map_err(|fault| fault.to_string())
    }

    pub(super) fn freedom(&self) -> Result<Option<Freedom>, String> {
        let Some(word) = self.0.get("freedom").filter(|word| !word.is_null()) else {
            return Ok(None);
        };
        let word = word.as_str().ok_or("\"freedom\" must be a string")?;
        word.parse().map(Some).map_err(|error: UnknownFreedom| error.to_string())
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool, String> {
        self.0.get(key).map_or(Ok(default), |value| {
            value.as_bool().ok_or_else(|| format!("\"{key}\" must be true or false"))
        })
    }

    /// Reads the limits on a search for moves.
    pub(super) fn limits(&self) -> Result<SearchLimits, String> {
        let max_jobs = match self.0.get("max_jobs") {
            None => DEFAULT_MAX_JOBS,
            Some(jobs) => jobs.as_u64().ok_or("\"max_jobs\" must be a non-negative integer")?,
        };
        let turn = self.flag("turn", true)?;
        let max_jobs = usize::try_from(max_jobs).unwrap_or(usize::MAX);
        Ok(SearchLimits { turn, ..SearchLimits::jobs(max_jobs) })
    }

    pub(super) fn node(&self, grid: &Grid) -> Result<Coordinates, String> {
        node(self.0.get("node"), grid)
    }

    pub(super) fn nodes(&self, grid: &Grid) -> Result<Vec<Coordinates>, String> {
        let list = self.0.get("nodes").and_then(Value::as_array);
        let list = list.ok_or("\"nodes\" must be a list of nodes")?;
        list.iter().map(|value| node(Some(value), grid)).collect()
    }

    pub(super) fn parts(&self, grid: &Grid) -> Result<Vec<Cuboid>, String> {
        let list = self.0.get("parts").and_then(Value::as_array).filter(|list| !list.is_empty());
        let list = list.ok_or("\"parts\" must be a list of at least one box")?;
        list.iter().map(|value| cuboid(value, grid)).collect()
    }
}

/// Rejects keys that look like misspellings of known keys: if `dryrun` were ignored, for example,
/// the message would allocate nodes. All other unknown keys are ignored.
fn reject_misspelled_keys(members: &Map<String, Value>) -> Result<(), String> {
    let unknown = members.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let mut typos = unknown.filter_map(|key| {
        let plain = key.to_lowercase().replace(['_', '-', ' '], "");
        let known = KEYS.iter().find(|known| {
            // Short keys are too similar to unrelated words.
            let max_distance = usize::from(known.len() > 4);
            strsim::damerau_levenshtein(&plain, &known.replace('_', "")) <= max_distance
        })?;
        Some(format!("unknown key \"{}\"; did you mean \"{known}\"?", key.escape_default()))
    });
    typos.next().map_or(Ok(()), Err)
}

/// Returns a positive integer, or `u64::MAX` if the integer exceeds 64 bits.
fn positive(value: &Value) -> Option<u64> {
    let beyond = || value.as_f64().filter(|number| *number >= 2f64.powi(64)).map(|_| u64::MAX);
    value.as_u64().or_else(beyond).filter(|&number| number > 0)
}

fn node(value: Option<&Value>, grid: &Grid) -> Result<Coordinates, String> {
    let list = value.and_then(Value::as_array);
    let numbers: Option<Vec<u64>> = list.and_then(|list| list.iter().map(Value::as_u64).collect());
    node_coordinates(&numbers.unwrap_or_default(), grid).map_err(|problem| problem.detail)
}

fn cuboid(value: &Value, grid: &Grid) -> Result<Cuboid, String> {
    let axes = grid.axes();
    let read = |key: &str, least: u16| {
        let numbers = value.get(key).and_then(Value::as_array);
        let numbers = numbers.filter(|numbers| numbers.len() == axes)?;
        let mut vector = [least; 3];
        for (entry, number) in vector.iter_mut().zip(numbers) {
            *entry = u16::try_from(number.as_u64()?).ok().filter(|&number| number >= least)?;
        }
        Some(vector)
    };
    let invalid = || {
        format!(
            "a part must have the form {{\"base\":[..],\"sides\":[..]}}, with {axes} integers in \
             each list"
        )
    };
    let is_known = |key: &String| ["base", "sides"].contains(&key.as_str());
    if !value.as_object().is_some_and(|part| part.keys().all(is_known)) {
        return Err(invalid());
    }
    Ok(Cuboid::new(read("base", 0).ok_or_else(invalid)?, read("sides", 1).ok_or_else(invalid)?))
}
