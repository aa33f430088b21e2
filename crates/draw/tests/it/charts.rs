//! Tests of charts, schedules and machines with numbers of every magnitude, including infinities
//! and NaN.

use pavior_draw::*;
use pavior_mesh::{Cuboid, Grid};
use proptest::prelude::*;

use crate::wellformed::assert_well_formed;

const AWKWARD: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.3,
    1e9,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(AWKWARD.to_vec()),
        any::<f64>(),
        any::<u64>().prop_map(f64::from_bits),
        -10.0..10.0,
    ]
}

/// Creates a chart with unlabeled linear axes.
fn chart(marks: Marks, categories: &[&str], series: Vec<Series>) -> Chart {
    Chart {
        title: "Chart".into(),
        x: ChartAxis::plain("", false),
        y: ChartAxis::plain("", false),
        categories: categories.iter().map(ToString::to_string).collect(),
        marks,
        series,
        stated: Vec::new(),
        note: String::new(),
    }
}

fn series(name: &str, points: Vec<Mark>) -> Series {
    Series { name: name.into(), points }
}

fn mark(x: f64, y: f64) -> Mark {
    Mark { x, y, interval: None }
}

prop_compose! {
    fn any_mark()(
        x in number(), y in number(), interval in prop::option::of([number(), number()]),
    ) -> Mark {
        Mark { x, y, interval }
    }
}

proptest! {
    #[test]
    fn no_numbers_break_a_chart(
        series in prop::collection::vec(prop::collection::vec(any_mark(), 0..6), 0..4),
        logarithmic: [bool; 2],
        marks in prop::sample::select(vec![Marks::Lines, Marks::Bars, Marks::Steps]),
        categories in 0..4usize,
        unit in prop::sample::select(vec![Unit::Plain, Unit::Seconds, Unit::Nanoseconds]),
    ) {
        let axis = |logarithmic| ChartAxis { label: "axis".into(), logarithmic, unit };
        let series = series.into_iter().map(|points| self::series("series", points)).collect();
        let chart = Chart {
            x: axis(logarithmic[0]),
            y: axis(logarithmic[1]),
            ..chart(marks, &["0", "1", "2"][..categories], series)
        };
        assert_well_formed(&svg(&chart));
        let _ = vega(&chart).to_string();
    }

    #[test]
    fn no_samples_break_a_distribution(
        sample in prop::collection::vec(number(), 0..20),
        logarithmic: bool,
    ) {
        let axis = ChartAxis::of("waiting", "s", logarithmic);
        let chart = cdf("Sample", axis, &[("a".to_string(), sample)]);
        assert_well_formed(&svg(&chart));
    }

    #[test]
    fn no_times_break_a_schedule(
        jobs in prop::collection::vec((number(), prop::option::of(number())), 0..6),
        ends in prop::array::uniform2(prop::option::of(number())),
        at in number(),
        seconds in number(),
        unit in prop::sample::select(vec!["s", "cycle"]),
    ) {
        let grid: Grid = "torus:4x4".parse().unwrap();
        let parts = vec![Cuboid::new([3, 1, 0], [2, 2, 1])];
        let placed: Vec<Placed> = jobs
            .into_iter()
            .map(|(start, end)| Placed { job: "1".into(), start, end, parts: parts.clone() })
            .collect();
        let drawn = [
            schedule("Schedule", &grid, &placed, (ends[0], ends[1]), unit),
            instant("Machine", &grid, &placed, at, unit),
            animation("Animation", &grid, &placed, seconds, unit),
        ];
        for svg in drawn.iter().flatten() {
            assert_well_formed(svg);
        }
        if !at.is_finite() {
            prop_assert!(drawn[1].is_err());
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let grid: Grid = "mesh:4x4".parse().unwrap();
    let parts = vec![Cuboid::new([0; 3], [2, 2, 1])];
    let placed = [Placed { job: "1".into(), start: 0.0, end: Some(5.0), parts }];
    let refusal = instant("", &grid, &placed, f64::NAN, "").unwrap_err().to_string();
    assert_eq!(refusal, "the instant is NaN, which cannot be drawn");
    assert_eq!(instant("", &grid, &[], 1.0, ""), Err(DrawError::NoPlacement));
    let refusal = schedule("", &grid, &placed, (Some(f64::NAN), None), "");
    assert!(matches!(refusal, Err(DrawError::NoNumber { .. })));
    let refusal = schedule("", &grid, &placed, (Some(3.0), Some(1.0)), "");
    assert_eq!(refusal, Err(DrawError::EmptyInterval { from: 3.0, to: 1.0 }));
}

#[test]
fn equal_lines_are_said_and_drawn_apart() {
    let line = |(name, y): (&str, f64)| series(name, vec![mark(0.0, y), mark(1.0, y)]);
    let lines =
        |lines: &[(&str, f64)]| chart(Marks::Lines, &[], lines.iter().copied().map(line).collect());
    let drawn = lines(&[("ff", 2.0), ("<tff>", 2.0), ("tbl", 1.0)]);
    let picture = svg(&drawn);
    let said = "ff and &lt;tff&gt; are equal, so their dashes alternate.";
    // The sentence appears both in the drawing and in its description.
    assert_eq!(picture.matches(said).count(), 2, "{picture}");
    // Only the second line has offset -8, because line samples in the legend start with a dash.
    let count = |offset: &str| picture.matches(&format!("stroke-dashoffset=\"{offset}\"")).count();
    assert_eq!([count("-8"), count("0")], [1, 3], "{picture}");
    assert!(vega(&drawn).to_string().contains("ff and <tff> are equal."));
    let apart = svg(&lines(&[("ff", 2.0), ("tff", 1.9)]));
    assert!(!apart.contains("take turns") && !apart.contains("dashoffset"), "{apart}");
}

#[test]
fn bars_differ_without_colours() {
    let bars = ["granted", "refused"].map(|name| series(name, vec![mark(0.0, 1.0)]));
    let y = ChartAxis::of("allocation_ns", "ns", false);
    let chart = Chart { y, ..chart(Marks::Bars, &["ff"], bars.into()) };
    // The second bar and its legend entry are hatched.
    assert_eq!(svg(&chart).matches("fill=\"url(#h1-").count(), 2, "{}", svg(&chart));
    // On a logarithmic axis, bars become points of different shapes.
    let axis = ChartAxis { logarithmic: true, ..chart.y.clone() };
    let points = svg(&Chart { y: axis, ..chart });
    let count = |shape: &str| points.matches(shape).count();
    assert_eq!([count("<circle"), count("<polygon"), count("url(#h1-")], [2, 2, 0], "{points}");
}

#[test]
fn bars_of_values_below_0_hang_from_0() {
    let chart = chart(Marks::Bars, &["a"], vec![series("", vec![mark(0.0, -2.0)])]);
    // The axis runs from -2 at the bottom to 0 at the top, so the bar spans the whole axis.
    assert!(svg(&chart).contains(r#"height="260""#), "{}", svg(&chart));
}

#[test]
fn long_names_along_x_do_not_leave_the_picture() {
    let name = "First Fit with a name that is much longer than its place";
    let bars = series("", vec![mark(0.0, 1.0), mark(1.0, 1.0)]);
    let svg = svg(&chart(Marks::Bars, &[name, name], vec![bars]));
    // The second position is farther from the left edge, leaving space for the whole name.
    let whole = svg.matches(&format!(">{name}<")).count();
    assert_eq!((whole, svg.matches('…').count()), (1, 1), "{svg}");
}

#[test]
fn points_with_long_names_are_in_rows_with_their_whole_names() {
    let names = ["mesh-overloaded", "mesh-small-jobs", "mesh-exponential", "mesh-equal-runs", "it"];
    let marks = [(0.0, 1.0), (1.0, 10.0), (2.0, 100.0)]
        .map(|(x, y)| Mark { interval: Some([y / 2.0, 2.0 * y]), ..mark(x, y) });
    let y = ChartAxis::plain("ratio", true);
    let best = vec![series("best", marks.into())];
    let svg = svg(&Chart { y, ..chart(Marks::Bars, &names, best) });
    let x = |circle: &str| -> f64 { circle.split('"').next().unwrap().parse().unwrap() };
    // The first circle belongs to the legend.
    let places: Vec<f64> = svg.split("cx=\"").skip(2).map(x).collect();
    assert!(names.iter().all(|name| svg.contains(&format!(">{name}<"))), "{svg}");
    assert_eq!(places.len(), 3, "{svg}");
    let steps = [places[1] - places[0], places[2] - places[1]];
    assert!(steps[0] > 20.0 && (steps[0] - steps[1]).abs() < 0.1, "{places:?}");
}
