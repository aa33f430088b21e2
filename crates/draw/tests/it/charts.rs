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

prop_compose! {
    fn mark()(
        x in number(), y in number(), interval in prop::option::of([number(), number()]),
    ) -> Mark {
        Mark { x, y, interval }
    }
}

proptest! {
    #[test]
    fn no_numbers_break_a_chart(
        series in prop::collection::vec(prop::collection::vec(mark(), 0..6), 0..4),
        logarithmic: [bool; 2],
        marks in prop::sample::select(vec![Marks::Lines, Marks::Bars, Marks::Steps]),
        categories in 0..4,
        unit in prop::sample::select(vec![Unit::Plain, Unit::Seconds, Unit::Nanoseconds]),
    ) {
        let axis = |logarithmic| ChartAxis { label: "axis".into(), logarithmic, unit };
        let series = series.into_iter().map(|points| Series { name: "series".into(), points });
        let chart = Chart {
            title: "Numbers".into(),
            x: axis(logarithmic[0]),
            y: axis(logarithmic[1]),
            categories: (0..categories).map(|number| number.to_string()).collect(),
            marks,
            series: series.collect(),
            stated: Vec::new(),
            note: String::new(),
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
    let mark = |x, y| Mark { x, y, interval: None };
    let series =
        |name: &str, y| Series { name: name.into(), points: vec![mark(0.0, y), mark(1.0, y)] };
    let chart = |series: Vec<Series>| Chart {
        title: "Lines".into(),
        x: ChartAxis::plain("load", false),
        y: ChartAxis::plain("turnaround", false),
        categories: Vec::new(),
        marks: Marks::Lines,
        series,
        stated: Vec::new(),
        note: String::new(),
    };
    let drawn = chart(vec![series("ff", 2.0), series("<tff>", 2.0), series("tbl", 1.0)]);
    let picture = svg(&drawn);
    let said = "ff and &lt;tff&gt; are equal, so their dashes alternate.";
    // The sentence appears both in the drawing and in its description.
    assert_eq!(picture.matches(said).count(), 2, "{picture}");
    // Only the second line has offset -8, because samples in the legend start with a dash.
    let count = |offset: &str| picture.matches(&format!("stroke-dashoffset=\"{offset}\"")).count();
    assert_eq!([count("-8"), count("0")], [1, 3], "{picture}");
    assert!(vega(&drawn).to_string().contains("ff and <tff> are equal."));
    let apart = svg(&chart(vec![series("ff", 2.0), series("tff", 1.9)]));
    assert!(!apart.contains("take turns") && !apart.contains("dashoffset"), "{apart}");
}

#[test]
fn bars_differ_without_colours() {
    let mark = |x| Mark { x, y: 1.0, interval: None };
    let series = |name: &str| Series { name: name.into(), points: vec![mark(0.0)] };
    let chart = Chart {
        title: "Bars".into(),
        x: ChartAxis::plain("", false),
        y: ChartAxis::of("allocation_ns", "ns", false),
        categories: vec!["ff".into()],
        marks: Marks::Bars,
        series: vec![series("granted"), series("refused")],
        stated: Vec::new(),
        note: String::new(),
    };
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
    let points = vec![Mark { x: 0.0, y: -2.0, interval: None }];
    let axis = || ChartAxis::plain("", false);
    let chart = Chart {
        title: String::new(),
        x: axis(),
        y: axis(),
        categories: vec!["a".into()],
        marks: Marks::Bars,
        series: vec![Series { name: String::new(), points }],
        stated: Vec::new(),
        note: String::new(),
    };
    // The axis runs from -2 at the bottom to 0 at the top, so the bar spans the whole axis.
    assert!(svg(&chart).contains(r#"height="260""#), "{}", svg(&chart));
}

#[test]
fn long_names_along_x_do_not_leave_the_picture() {
    let name = "First Fit with a name that is much longer than its place";
    let axis = || ChartAxis::plain("", false);
    let mark = |x| Mark { x, y: 1.0, interval: None };
    let chart = Chart {
        title: String::new(),
        x: axis(),
        y: axis(),
        categories: vec![name.into(), name.into()],
        marks: Marks::Bars,
        series: vec![Series { name: String::new(), points: vec![mark(0.0), mark(1.0)] }],
        stated: Vec::new(),
        note: String::new(),
    };
    let svg = svg(&chart);
    // The second position is farther from the left edge, leaving space for the whole name.
    let whole = svg.matches(&format!(">{name}<")).count();
    assert_eq!((whole, svg.matches('…').count()), (1, 1), "{svg}");
}

#[test]
fn points_with_long_names_are_in_rows_with_their_whole_names() {
    let names = ["mesh-overloaded", "mesh-small-jobs", "mesh-exponential", "mesh-equal-runs", "it"];
    let mark = |(x, y)| Mark { x: x as f64, y, interval: Some([y / 2.0, 2.0 * y]) };
    let chart = Chart {
        title: "Points".into(),
        x: ChartAxis::plain("", false),
        y: ChartAxis::plain("ratio", true),
        categories: names.map(String::from).into(),
        marks: Marks::Bars,
        series: vec![Series {
            name: "best".into(),
            points: [1.0, 10.0, 100.0].into_iter().enumerate().map(mark).collect(),
        }],
        stated: Vec::new(),
        note: String::new(),
    };
    let svg = svg(&chart);
    let x = |circle: &str| -> f64 { circle.split('"').next().unwrap().parse().unwrap() };
    // The first circle belongs to the legend.
    let places: Vec<f64> = svg.split("cx=\"").skip(2).map(x).collect();
    assert!(names.iter().all(|name| svg.contains(&format!(">{name}<"))), "{svg}");
    assert_eq!(places.len(), 3, "{svg}");
    let steps = [places[1] - places[0], places[2] - places[1]];
    assert!(steps[0] > 20.0 && (steps[0] - steps[1]).abs() < 0.1, "{places:?}");
}
