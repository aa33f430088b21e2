//! Vega-Lite specifications of charts with embedded data, for users who want to restyle them.

use serde_json::{Map, Value, json};

use crate::axis::{Scale, Unit};
use crate::chart::{Chart, ChartAxis, Mark, Marks};
use crate::coinciding::{is_equal, listed};

/// Converts a chart to a Vega-Lite (version 5) specification.
pub fn vega(chart: &Chart) -> Value {
    let mut values = Vec::new();
    let along = |mark: &Mark| match chart.categories.get(mark.x as usize) {
        Some(name) => json!(name),
        None => json!(mark.x),
    };
    for series in &chart.series {
        for mark in &series.points {
            let x = along(mark);
            let [low, high] = [0, 1].map(|end| mark.interval.map(|interval| interval[end]));
            values.push(
                json!({ "x": x, "y": mark.y, "low": low, "high": high, "series": series.name }),
            );
        }
    }
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    let x = if chart.categories.is_empty() {
        quantitative("x", &chart.x, false, chart.points().map(|mark| mark.x))
    } else {
        json!({ "field": "x", "type": "nominal", "title": chart.x.label,
                "sort": chart.categories, "axis": { "labelAngle": 0 } })
    };
    let y = quantitative("y", &chart.y, true, chart.points().map(|mark| mark.y));
    let colour = json!({ "field": "series", "type": "nominal", "title": null, "sort": names });
    let mark = match chart.marks {
        Marks::Lines => json!({ "type": "line", "point": true }),
        // A logarithmic axis has no 0 for bars to start from.
        Marks::Bars if chart.y.logarithmic => json!({ "type": "point", "filled": true }),
        Marks::Bars => json!({ "type": "bar" }),
        Marks::Steps => json!({ "type": "line", "interpolate": "step-after" }),
    };
    let mut encoding = json!({ "x": x, "color": colour });
    if chart.marks == Marks::Lines {
        // Dashes distinguish the series without color, even where lines coincide.
        encoding["strokeDash"] = colour.clone();
        encoding["shape"] = colour.clone();
    }
    let mut interval = json!({ "y": { "field": "low", "type": "quantitative",
                                      "title": chart.y.label }, "y2": { "field": "high" } });
    if chart.marks == Marks::Bars {
        encoding["xOffset"] = json!({ "field": "series", "sort": names });
        interval["color"] = json!({ "value": "black" });
    }
    let mut layer = vec![
        json!({ "mark": mark, "encoding": { "y": y } }),
        json!({ "transform": [{ "filter": "isValid(datum.low)" }],
                "mark": { "type": "rule" }, "encoding": interval }),
    ];
    layer.extend(stated(chart, along));
    json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": { "text": chart.title, "subtitle": subtitle(chart) },
        "description": chart.title,
        "width": 520,
        "height": 300,
        "data": { "values": values },
        "encoding": encoding,
        "layer": layer,
    })
}

/// Returns a layer with crosses for the values reported in a paper, or `None` if there are none.
fn stated(chart: &Chart, along: impl Fn(&Mark) -> Value) -> Option<Value> {
    let values: Vec<Value> = chart
        .stated
        .iter()
        .map(|mark| json!({ "x": along(mark), "y": mark.y, "stated": Chart::STATED }))
        .collect();
    (!values.is_empty()).then(|| {
        json!({
            "data": { "values": values },
            "mark": { "type": "point", "shape": "cross", "angle": 45, "size": 110, "filled": true },
            "encoding": {
                "y": { "field": "y", "type": "quantitative", "title": chart.y.label },
                "color": { "value": "black" },
                "shape": { "field": "stated", "type": "nominal", "title": null,
                           "scale": { "range": ["cross"] } },
            },
        })
    })
}

/// Returns the chart's note, followed by one sentence for each group of identical series.
fn subtitle(chart: &Chart) -> Vec<String> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, series) in chart.series.iter().enumerate() {
        match groups.iter_mut().find(|group| is_equal(&chart.series[group[0]], series)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let equal = groups.iter().filter(|group| group.len() > 1).map(|group| {
        let names: Vec<&str> =
            group.iter().map(|&index| chart.series[index].name.as_str()).collect();
        format!("{} are equal.", listed(&names))
    });
    [chart.note.clone()].into_iter().filter(|note| !note.is_empty()).chain(equal).collect()
}

/// Returns the encoding for a numeric axis. A time axis gets round ticks, formatted as times.
fn quantitative(
    field: &str,
    axis: &ChartAxis,
    zero: bool,
    values: impl Iterator<Item = f64>,
) -> Value {
    let scale = if axis.logarithmic {
        json!({ "type": "log" })
    } else {
        json!({ "type": "linear", "zero": zero })
    };
    let mut channel =
        json!({ "field": field, "type": "quantitative", "title": axis.label, "scale": scale });
    let range = Chart::range(values, axis.logarithmic).filter(|_| axis.unit != Unit::Plain);
    if let Some((low, high)) = range {
        let low = if zero && !axis.logarithmic { low.min(0.0) } else { low };
        let kind = (axis.logarithmic, axis.unit);
        let scale = Scale::new((low, high), kind, (0.0, 1.0), 6);
        let labels: Map<String, Value> =
            scale.ticks.iter().map(|&tick| (tick.to_string(), scale.label(tick).into())).collect();
        let labels = Value::Object(labels);
        channel["axis"] = json!({
            "values": scale.ticks,
            "labelExpr": format!("{labels}[datum.value]"),
        });
    }
    channel
}
