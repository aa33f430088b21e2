//! A chart as a Vega-Lite specification with its data inside, for those who want to restyle it.

use serde_json::{Value, json};

use crate::chart::{Chart, ChartAxis, Mark, Marks};

/// The Vega-Lite (version 5) specification of a chart.
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
        quantitative("x", &chart.x, false)
    } else {
        json!({ "field": "x", "type": "nominal", "title": chart.x.label,
                "sort": chart.categories, "axis": { "labelAngle": 0 } })
    };
    let y = quantitative("y", &chart.y, true);
    let colour = json!({ "field": "series", "type": "nominal", "title": null, "sort": names });
    let mark = match chart.marks {
        Marks::Lines => json!({ "type": "line", "point": true }),
        Marks::Bars => json!({ "type": "bar" }),
        Marks::Steps => json!({ "type": "line", "interpolate": "step-after" }),
    };
    let mut encoding = json!({ "x": x, "color": colour });
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
    if !chart.stated.is_empty() {
        let stated = chart.stated.iter();
        let stated: Vec<Value> = stated
            .map(|mark| json!({ "x": along(mark), "y": mark.y, "stated": Chart::STATED }))
            .collect();
        layer.push(json!({
            "data": { "values": stated },
            "mark": { "type": "point", "shape": "cross", "angle": 45, "size": 110, "filled": true },
            "encoding": {
                "y": { "field": "y", "type": "quantitative", "title": chart.y.label },
                "color": { "value": "black" },
                "shape": { "field": "stated", "type": "nominal", "title": null,
                           "scale": { "range": ["cross"] } },
            },
        }));
    }
    json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": { "text": chart.title, "subtitle": chart.note },
        "width": 520,
        "height": 300,
        "data": { "values": values },
        "encoding": encoding,
        "layer": layer,
    })
}

fn quantitative(field: &str, axis: &ChartAxis, zero: bool) -> Value {
    let scale = if axis.logarithmic {
        json!({ "type": "log" })
    } else {
        json!({ "type": "linear", "zero": zero })
    };
    json!({ "field": field, "type": "quantitative", "title": axis.label, "scale": scale })
}
