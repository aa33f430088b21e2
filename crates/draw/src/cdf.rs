//! Cumulative distributions: the fraction of jobs whose value is at most x.

use crate::chart::{Chart, ChartAxis, Mark, Marks, Series};

/// The maximum number of steps in a curve. This number exceeds the width of a figure in pixels.
const MOST_STEPS: usize = 2000;

/// Creates a chart that shows the cumulative distribution of each named sample.
///
/// Non-finite values are omitted. If a sample has more than 2,000 values, the curve is drawn only
/// at evenly spaced ranks, including those of the minimum and the maximum.
pub fn cdf(title: &str, x: ChartAxis, samples: &[(String, Vec<f64>)]) -> Chart {
    let logarithmic = x.logarithmic;
    let series = |(name, sample): &(String, Vec<f64>)| {
        let mut sorted: Vec<f64> = sample.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let mut points = Vec::new();
        if let Some(&first) = sorted.first()
            && !(logarithmic && first <= 0.0)
        {
            points.push(Mark { x: first, y: 0.0, interval: None });
        }
        let steps = n.min(MOST_STEPS);
        for step in 1..=steps {
            let rank = step * n / steps;
            let x = sorted[rank - 1];
            points.push(Mark { x, y: rank as f64 / n as f64, interval: None });
        }
        Series { name: name.clone(), points }
    };
    let count: usize = samples.iter().map(|(_, sample)| sample.len()).sum();
    Chart {
        title: title.to_string(),
        x,
        y: ChartAxis::plain("share of jobs", false),
        categories: Vec::new(),
        marks: Marks::Steps,
        series: samples.iter().map(series).collect(),
        stated: Vec::new(),
        note: format!("{count} jobs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_rise_to_one() {
        let chart =
            cdf("", ChartAxis::plain("s", false), &[("a".into(), vec![3.0, 1.0, 2.0, 2.0])]);
        let points: Vec<(f64, f64)> =
            chart.series[0].points.iter().map(|mark| (mark.x, mark.y)).collect();
        assert_eq!(points, [(1.0, 0.0), (1.0, 0.25), (2.0, 0.5), (2.0, 0.75), (3.0, 1.0)]);
        let long = (0..10_000).map(f64::from).collect();
        let chart = cdf("", ChartAxis::plain("s", false), &[("a".into(), long)]);
        let last = chart.series[0].points.last().unwrap();
        assert_eq!((chart.series[0].points.len(), last.x, last.y), (2001, 9999.0, 1.0));
    }
}
