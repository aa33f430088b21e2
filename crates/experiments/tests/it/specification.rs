//! Tests of how experiment files are interpreted, and of the reported positions of errors.

use pavior_experiments::{NoFiles, Policy, Specification, parameters, schema};

use crate::read;

#[test]
fn values_lists_and_ranges_are_combined() {
    let experiment = read(
        "machine = 'mesh:8x8'\nstrategies = ['ff', 'ff:turn=all']\nscheduler = ['fcfs', 'ssd']\n\
         load = { from = 0.1, to = 10, steps = 3, scale = 'log' }\njobs = 50\n",
    );
    let loads: Vec<&str> =
        experiment.points.iter().step_by(4).map(|point| point.get("load").unwrap()).collect();
    assert_eq!(loads, ["0.1", "1", "10"]);
    assert_eq!(experiment.points.len(), 12);
    // The last parameter in the list varies fastest, and omitted parameters take their default
    // values.
    assert_eq!(experiment.points[1].get("strategy"), Some("ff:turn=all"));
    assert_eq!(experiment.points[2].get("scheduler"), Some("ssd"));
    assert_eq!(experiment.points[0].get("sides"), Some("uniform"));
    assert_eq!(experiment.points[0].get("trace"), None);
    assert_eq!(experiment.baseline.as_deref(), Some("ff"));
    assert_eq!(experiment.policy, Policy::Fixed(10));
}

#[test]
fn every_parameter_can_be_given() {
    for parameter in parameters::ALL {
        let value = match parameter.name {
            "machine" => "['mesh:8x8', 'torus:8x8']",
            "trace" => "'log.swf.gz'",
            "filter" => "'queue=1,queue=2'",
            "status" => "'1,5'",
            "shape-rule" => "['compact', 'exact']",
            "log-format" => "['swf', 'sacct-json']",
            "kill" | "lenient" | "dependencies" | "pieces" => "[true, false]",
            "sides" => "['uniform', 'exponential']",
            "service" => "['exponential:2', 'constant:1']",
            "arrivals" => "'exponential'",
            "scheduler" => "['fcfs', 'ssd']",
            "strategy" => "['ff', 'tbl']",
            "slowdown-bound" => "[0, 10.5]",
            "load" | "arrival-scale" => "{ from = 0.5, to = 1, steps = 2 }",
            "estimates" => "['log', 'exact']",
            "freedom" => "['connected', 'box:4,any:25%']",
            "communication" => "[0.1, 0.4]",
            "contention" => "['estimated', 'simulated']",
            "pattern" => "['ring', 'all-to-all']",
            "sending" => "['blocking', 'pipelined']",
            "rounds" => "['barrier', 'free']",
            "ranks" => "['coordinates', 'parts']",
            "engine" => "['worm', 'flit']",
            "release" => "'drained'",
            "lanes" => "[1, '2']",
            "order" => "'from-zero'",
            "failures" => "'failures.jsonl'",
            "reservations" => "'reservations.jsonl'",
            "fail-classes" => "['chip:mttf=9:mttr=1', 'cube:mttf=5:mttr=1,switch:mttf=99:mttr=2']",
            "slice" => "['8', '4x8x8']",
            "movable" => "['64', '25%']",
            "busy" => "['0,0:2x2', '0,0:2x2 4,4:1x3']",
            "request" => "['3x2', '2x2']",
            "placed" => "'n{}'",
            _ => "[3, 4]",
        };
        let log = match parameter.applies {
            _ if parameter.name == "mttr" => "mttf = 2\n",
            _ if ["checkpoint", "max-interruptions"].contains(&parameter.name) => {
                "mttf = 2\nmttr = 1\n"
            }
            _ if parameter.name == "fail-classes" => "machine = 'torus:8x8x8'\nstrategy = 'tpu'\n",
            _ if ["spares", "spare-switches", "slice"].contains(&parameter.name) => {
                "machine = 'torus:8x8x8'\nstrategy = 'tpu'\n\
                 fail-classes = 'cube:mttf=5:mttr=1,switch:mttf=99:mttr=2'\n"
            }
            _ if parameter.name == "movable" => "migration = 2\n",
            parameters::Applies::Messages => "service = 'messages:5'\n",
            parameters::Applies::Communication => "trace = 'x.swf'\ncommunication = 0.2\n",
            parameters::Applies::Snapshot if parameter.name != "request" => "request = '3x2'\n",
            _ if parameter.name == "mttf" => "mttr = 2\n",
            parameters::Applies::Log if parameter.name != "trace" => "trace = 'x.swf'\n",
            _ => "",
        };
        for key in [parameter.name.to_string(), parameter.column()] {
            let experiment = read(&format!("{log}{key} = {value}\n"));
            let points = experiment.points.iter();
            let count = points.filter(|point| point.get(parameter.name).is_some()).count();
            // `placed` adds only a single point, which uses the placements in the log.
            let expected = if parameter.name == "placed" { 1 } else { experiment.points.len() };
            assert_eq!(count, expected, "{key}");
        }
    }
}

#[test]
fn sweeps_are_joined_without_repetition() {
    let experiment = read(
        "strategy = ['ff', 'tff']\njobs = 10\n[[sweep]]\nload = [1, 2]\n[[sweep]]\nload = [2, 3]\n\
         strategy = 'tff'\n",
    );
    let points: Vec<(&str, &str)> = experiment
        .points
        .iter()
        .map(|point| (point.get("load").unwrap(), point.get("strategy").unwrap()))
        .collect();
    assert_eq!(points, [("1", "ff"), ("1", "tff"), ("2", "ff"), ("2", "tff"), ("3", "tff")]);
}

#[test]
fn precision_has_its_own_settings() {
    let experiment = read(
        "precision = 0.1\nmin-replications = 3\nmax_replications = 40\n\
         precision-metrics = ['waiting']\n",
    );
    assert_eq!(
        experiment.policy,
        Policy::Precision { relative: 0.1, confidence: 0.95, least: 3, most: 40 }
    );
    assert_eq!(experiment.metrics[experiment.targets[0]].name, "waiting");
    let targets = read("precision = 0.1\n");
    let names: Vec<&str> = targets.targets.iter().map(|&t| targets.metrics[t].name).collect();
    assert_eq!(names, ["turnaround", "utilization"]);
}

#[test]
fn a_sweep_may_cap_its_replications() {
    let text = "precision = 0.1\nmax-replications = 40\n[[sweep]]\nload = [1, 2]\nstrategy = 'ff'\n\
                [[sweep]]\nload = [2, 3]\nstrategy = 'ff'\nmax-replications = 3\n";
    let experiment = read(text);
    let most: Vec<u64> = (0..3)
        .map(|point| match experiment.policy_at(point) {
            Policy::Precision { least, most, .. } => least.min(most) * 100 + most,
            Policy::Fixed(_) => 0,
        })
        .collect();
    // The second point is in both sweeps. The first sweep's limit applies to this point.
    assert_eq!(most, [540, 540, 303]);
    let other = read(&text.replace("= 3\n", "= 4\n"));
    let of = |experiment: &Specification| experiment.fingerprint(&NoFiles).unwrap();
    assert_ne!(of(&experiment), of(&other));
    let error = Specification::parse(&text[16..].replace("max-replications = 40\n", ""), "test");
    assert!(error.err().unwrap().reason.contains("needs `precision`"));
    for wrong in ["0", "1.5", "[3]"] {
        let text = text.replace("= 3\n", &format!("= {wrong}\n"));
        assert!(Specification::parse(&text, "test").is_err(), "{wrong}");
    }
}

#[test]
fn what_varies_with_x_needs_no_series() {
    let text = "strategy = ['ff', 'tff']\n[[sweep]]\nmachine = 'mesh:8x8'\nload = 1\n\
                [[sweep]]\nmachine = 'mesh:16x16'\nload = 2\n[[figure]]\nname = 'a'\n\
                y = 'turnaround'\nseries = 'strategy'\n";
    assert_eq!(read(text).figures[0].series.len(), 1);
    let error = Specification::parse(&text.replace("load = 2", "load = 1"), "test").err().unwrap();
    assert!(error.reason.contains("`machine` also varies"), "{error}");
}

#[test]
fn figures_find_their_series() {
    let text = "strategy = ['ff', 'tff']\nsides = ['uniform', 'exponential']\nload = [1, 2]\n";
    let figure = &read(&format!("{text}[[figure]]\nname = 'a'\ny = 'turnaround'\n")).figures[0];
    let series: Vec<&str> =
        figure.series.iter().map(|&index| parameters::ALL[index].name).collect();
    assert_eq!(series, ["strategy", "sides"]);
    let text = format!(
        "{text}[[figure]]\nname = 'b'\nx = 'load'\ny = 'utilization'\nseries = 'strategy'\n\
         where = {{ sides = 'uniform' }}\nlog = ['x', 'y']\nlabels = {{ ff = 'First Fit' }}\n"
    );
    let figure = &read(&text).figures[0];
    assert!(figure.x_axis.logarithmic && figure.y_axis.logarithmic);
    assert_eq!((figure.label("ff"), figure.label("tff")), ("First Fit", "tff"));
}

#[test]
fn an_experiment_without_figures_gets_the_usual_ones() {
    let names = |text: &str| -> Vec<String> {
        let figures = read(text).figures;
        figures.iter().map(|f| format!("{} {}", parameters::ALL[f.x].name, f.y)).collect()
    };
    assert_eq!(names("load = [1, 2]\nwarmup = [0, 5]\n"), ["load turnaround", "load utilization"]);
    assert_eq!(names("warmup = [0, 5]\nmetrics = 'utilization'\n"), ["warmup utilization"]);
    assert_eq!(names("metrics = ['turnaround', 'waiting']\n"), ["strategy turnaround"]);
    assert!(names("metrics = 'makespan'\n").is_empty());
    assert!(names("figure = []\n").is_empty());
}

/// Returns an error's reason and the part of the file that the error underlines.
fn underlined(text: &str) -> (String, String) {
    let error = Specification::parse(text, "test").err().unwrap_or_else(|| panic!("{text}"));
    (error.reason, text[error.span].to_string())
}

#[test]
fn faults_are_shown_where_they_stand() {
    for (text, place, reason) in [
        ("strategy = ['ff', 'tlb']", "tlb", "did you mean `tbl`?"),
        ("strategy = 'ff:turn=al'", "al", "`al` is not a valid value for `turn`"),
        ("stratgy = 'ff'", "stratgy", "did you mean `strategy`?"),
        ("machine = 'mesh:0x4'", "0", "is not a valid side"),
        ("load = -1", "-1", "from 1e-6 to 1e6"),
        ("load = 'high'", "'high'", "expected a number, but found text"),
        ("strategy = 3", "3", "text in quotes"),
        ("load = [1, 2, 1.0]", "1.0", "appears twice"),
        ("load = []", "[]", "the list is empty"),
        ("load = { from = 1, to = 2 }", "{ from = 1, to = 2 }", "expected a range such as"),
        ("load = { from = 1, to = 2, steps = 1 }", "1", "2 to 10000 steps"),
        ("load = { from = 0, to = 2, steps = 3, scale = 'log' }", "0", "must be positive"),
        ("load = { from = 1, to = 2, stesp = 3 }", "stesp", "did you mean `steps`?"),
        (
            "sides = { from = 1, to = 2, steps = 3 }",
            "{ from = 1, to = 2, steps = 3 }",
            "does not accept a range",
        ),
        ("jobs = 10.5", "10.5", "whole number"),
        ("jobs = 100\nwarmup = [0, 100]", "100", "must be shorter than the run"),
        ("sides = 'uniform-decreasing'\nmachine = 'mesh:4x4'", "'uniform-decreasing'", "sides"),
        ("trace = 'a.swf'\nload = 1", "load", "synthetic"),
        ("first = 3", "first", "`trace`"),
        ("load = 1\nloads = 2", "loads", "given twice"),
        ("metrics = ['turnaronud']", "'turnaronud'", "did you mean `turnaround`?"),
        ("replications = 0", "0", "at least one"),
        ("replications = 3\nprecision = 0.1", "replications", "cannot be combined with"),
        ("confidence = 0.9", "confidence", "needs `precision`"),
        ("precision = 1", "1", "between 0 and 1"),
        ("precision = 0.1\nprecision-metrics = 'allocation_ns'", "'allocation_ns'", "measured"),
        ("precision = 0.1\nmetrics = 'makespan'", "0.1", "no metric for the precision target"),
        ("baseline = 'mbs'\nstrategy = ['ff', 'tff']", "mbs", ""),
        ("name = 'a/b'", "'a/b'", "used in file names"),
        ("[[sweep]]\nlod = 1", "lod", "did you mean `load`?"),
        ("[[figure]]\nname = 'f'\ny = 'turnaroud'", "'turnaroud'", "did you mean"),
        ("[[figure]]\nname = 'f'\ny = 'largest_free'", "'largest_free'", "add it to `metrics`"),
        ("[[figure]]\nname = 'f'\ny = 'turnaround'\nx = 'lod'", "'lod'", "did you mean `load`?"),
        (
            "[[figure]]\nname = 'f'\ny = 'waiting'\nseries = 'scheduler'",
            "'scheduler'",
            "`strategy` also varies",
        ),
        ("[[figure]]\nname = 'f'\ny = 'waiting'\nx = 'strategy'\nlog = 'x'", "'x'", "not a number"),
        (
            "scheduler = 'easy-freedom'\nservice = 'iterations:2'",
            "'easy-freedom'",
            "are not predicted",
        ),
        ("load = ", "", ""),
        ("load == 1", "=", ""),
    ] {
        let (said, at) = underlined(text);
        assert!(said.contains(reason), "{text}: {said}");
        if !(place.is_empty() || text == "load == 1" || text.starts_with("baseline")) {
            assert_eq!(at, place, "{text}: {said}");
        }
    }
}

#[test]
fn the_schema_knows_every_key() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    for parameter in parameters::ALL {
        assert!(properties.contains_key(parameter.name), "{}", parameter.name);
    }
    // The parser may reject this value, but must never report a key in the schema as unknown.
    for key in properties.keys() {
        if let Err(error) = Specification::parse(&format!("{key} = {{ x = 1 }}"), "test") {
            assert!(!error.reason.contains(&format!("unknown key `{key}`")), "{error}");
        }
    }
}
