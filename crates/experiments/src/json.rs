//! Results as JSON. The JSON is generated point by point as it is written, because it is far larger
//! than the samples themselves.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::results::{shown, values};
use crate::{
    LeftOut, Line, Provenance, Sample, Samples, Specification, Summary, Table, parameters,
};

/// The contents of `results.json`.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    schema: u32,
    version: &'a str,
    experiment: &'a str,
    command: &'a str,
    /// The seed, if all points share one.
    seed: Option<u64>,
    /// Combinations that do not apply and are skipped, or `None` if they cause errors instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a [LeftOut]>,
    results: Results<'a>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(
        specification: &'a Specification,
        from: &'a Provenance,
        seed: Option<u64>,
        results: Results<'a>,
    ) -> Document<'a> {
        Document {
            schema: 1,
            version: &from.version,
            experiment: &specification.name,
            command: &from.command,
            seed,
            skipped: specification.skips_unsupported.then_some(&*specification.left_out),
            results,
        }
    }
}

/// The results for all points that ran.
pub(crate) struct Results<'a> {
    pub(crate) specification: &'a Specification,
    pub(crate) samples: &'a Samples,
    pub(crate) table: &'a Table,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = shown(self.specification);
        let run = self.specification.points.iter().zip(self.samples);
        let run = run.filter(|(_, samples)| !samples.is_empty());
        // Points cannot be run without a metric, because `metrics = []` is rejected.
        let lines = self.table.rows.chunks(self.specification.metrics.len().max(1));
        serializer.collect_seq(run.zip(lines).map(|((point, samples), lines)| {
            let mut object = Map::new();
            for (&index, value) in shown.iter().zip(values(point, &shown)) {
                object.insert(parameters::ALL[index].column(), typed(index, &value));
            }
            fill(&mut object, samples, lines);
            Value::Object(object)
        }))
    }
}

fn fill(object: &mut Map<String, Value>, samples: &[Sample], lines: &[Line]) {
    let metrics = lines.iter().map(|line| {
        let Summary { mean, ci95 } = line.summary;
        // A metric that does not apply is null.
        let value = mean
            .map_or(Value::Null, |mean| json!({ "mean": mean, "ci95": ci95, "unit": line.unit }));
        (line.metric.clone(), value)
    });
    let metrics: Map<String, Value> = metrics.collect();
    let flag = |of: fn(&Line) -> bool| json!(lines.first().is_some_and(of));
    object.insert("replications".into(), json!(samples.len()));
    object.insert("target_missed".into(), flag(|line| line.target_missed));
    object.insert("overloaded".into(), flag(|line| line.overloaded));
    object.insert("metrics".into(), Value::Object(metrics));
}

/// Converts a value to its JSON type.
fn typed(parameter: usize, value: &str) -> Value {
    use parameters::ValueType;
    match parameters::ALL[parameter].kind {
        _ if value.is_empty() => Value::Null,
        ValueType::Text | ValueType::Choice(_) => json!(value),
        ValueType::Number => value.parse::<f64>().map_or(Value::Null, |number| json!(number)),
        ValueType::Count => value.parse::<u64>().map_or(Value::Null, |number| json!(number)),
        ValueType::Switch => json!(value == "true"),
    }
}
