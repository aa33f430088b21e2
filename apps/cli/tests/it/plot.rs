//! Tests `pavior plot`: figures from tables, and drawings of jobs and placements.

use std::path::Path;

use crate::{good, pavior, refused, refused_for, stderr, stdout};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn figures_come_again_from_the_tables_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.toml");
    std::fs::write(
        &file,
        "machine = 'mesh:8x8'\nstrategy = ['ff', 'tff']\nload = [1, 2, 3]\njobs = 60\n\
         sides = ['uniform', 'exponential']\nprecision = 0.2\nmax-replications = 9\n\
         [[figure]]\nname = 'lines'\ny = 'turnaround'\nseries = 'strategy'\n\
         where = { sides = 'uniform' }\nlog = 'y'\nlabels = { ff = 'First Fit & <more>' }\n\
         [[figure]]\nname = 'bars'\nx = 'strategy'\ny = 'utilization'\nwhere = { load = 3 }\n\
         [[figure]]\nname = 'time'\ny = 'allocation_ns'\n",
    )
    .unwrap();
    let out = folder.path().join("out");
    good(&["experiment", text(&file), "--out", text(&out)]);
    let names =
        ["lines", "bars", "time"].map(|name| [format!("{name}.svg"), format!("{name}.vl.json")]);
    let names = names.concat();
    let read = |name: &String| std::fs::read(out.join(name)).unwrap();
    let drawn: Vec<Vec<u8>> = names.iter().map(read).collect();
    for name in &names {
        std::fs::remove_file(out.join(name)).unwrap();
    }
    std::fs::remove_file(out.join("replications.csv")).unwrap();
    good(&["plot", text(&out)]);
    assert!(names.iter().map(read).collect::<Vec<_>>() == drawn, "the figures differ");
    let svg = String::from_utf8(drawn[0].clone()).unwrap();
    assert!(svg.contains("First Fit &amp; &lt;more&gt;") && svg.contains("prefers-color-scheme"));
    let vega: serde_json::Value = serde_json::from_slice(&drawn[1]).unwrap();
    assert_eq!(vega["data"]["values"].as_array().unwrap().len(), 6);
    // A custom chart is drawn from the same table.
    let results = out.join("results.csv");
    let chart = good(&["plot", text(&results), "--y", "waiting", "--log", "x,y"]);
    assert!(chart.starts_with("<svg") && chart.contains("waiting (time units)"));
    assert!(chart.contains("<title>Waiting by load on mesh:8x8</title>"), "{chart}");
    // The same chart is drawn from standard input.
    let table = std::fs::read_to_string(&results).unwrap();
    let piped = pavior(&["plot", "-", "--y", "waiting", "--log", "x,y"], &table);
    assert_eq!(stdout(&piped), chart, "{}", stderr(&piped));
    refused_for(&["plot", text(&results), "--y", "wating"], "did you mean `waiting`?");
    assert!(refused(&["plot", text(&results), "--x", "lod"]).contains("`load`"));
    refused(&["plot", text(&file)]);
    refused(&["plot", text(folder.path())]);
    refused(&["plot", "nowhere.csv"]);
}

/// Writes results for nine strategies under two schedulers. One strategy has options with `=`.
fn crowd(file: &Path) {
    let mut table = String::from("strategy,scheduler,load,busy,metric,mean,ci95\n");
    for strategy in ["ff", "bf", "wf", "bl", "tff", "tbl", "gabl", "mbs", "ff:turn=all"] {
        for scheduler in ["fcfs", "ssd"] {
            for load in ["0.5", "1"] {
                let point = format!("{strategy},{scheduler},{load},\"0,0:1x1 2,2:2x1\"");
                table += &format!("{point},turnaround,2,0.1\n");
            }
        }
    }
    std::fs::write(file, table).unwrap();
}

#[test]
fn a_crowd_of_series_is_thinned_by_a_filter() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.csv");
    crowd(&file);
    let plot = |filter: &[&str]| {
        let output = pavior(&[&["plot", text(&file)], filter].concat(), "");
        assert!(output.status.success(), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let (_, note) = plot(&[]);
    assert!(note.contains("18 series") && note.contains("--filter"), "{note}");
    assert!(note.contains("strategy, scheduler") && note.contains("scheduler=fcfs"), "{note}");
    // Half as many series are still one too many. The example in the note omits the parameter that
    // is already filtered.
    let (_, note) = plot(&["--filter", "scheduler=fcfs"]);
    assert!(note.contains("9 series") && note.contains("strategy=ff"), "{note}");
    let (chart, note) =
        plot(&["--filter", "scheduler=fcfs,busy=0,0:1x1 2,2:2x1,strategy=ff,tff,ff:turn=all"]);
    assert_eq!(note, "");
    let title = "<title>Turnaround by load, scheduler fcfs, busy 0,0:1x1 2,2:2x1, \
                 strategy ff or tff or ff:turn=all</title>";
    assert!(chart.contains(title), "{chart}");
    let shown = |name: &str| chart.contains(&format!(">{name}</text>"));
    assert_eq!(
        ["ff", "tff", "ff:turn=all", "bf", "fcfs"].map(shown),
        [true, true, true, false, false]
    );
    // Values are in the forms that users write, and one parameter is named twice.
    let (chart, _) = plot(&["--filter", "load=1.0,strategy=ff,load=.5", "--title", "Own"]);
    assert!(chart.contains("<title>Own</title>") && chart.contains(">fcfs</text>"), "{chart}");
    for (filter, reason) in [
        ("uniform", "such as sides=uniform"),
        ("shceduler=ssd", "did you mean `scheduler`?"),
        ("scheduler=fcsf", "did you mean `fcfs`?"),
        ("strategy=ff,tlb", "did you mean `tbl`?"),
        ("jobs=9", "no column `jobs`"),
        ("strategy=", "unknown strategy"),
    ] {
        refused_for(&["plot", text(&file), "--filter", filter], reason);
    }
    refused_for(&["plot", text(folder.path()), "--filter", "load=1"], "draw a results.csv");
}

#[test]
fn schedules_machines_and_distributions() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (placements, jobs) = (at("p.jsonl"), at("jobs.csv"));
    good(&[
        "simulate",
        "--machine",
        "grid:4wx4",
        "--strategy",
        "tff",
        "--load",
        "2",
        "--jobs",
        "30",
        "--replications",
        "1",
        "--placements",
        text(&placements),
        "--jobs-csv",
        text(&jobs),
    ]);
    let plot = |more: &[&str]| {
        good(&[&["plot", text(&placements), "--machine", "grid:4wx4"], more].concat())
    };
    let count = |svg: &str, part: &str| svg.matches(part).count();
    let lines = std::fs::read_to_string(&placements).unwrap().lines().count();
    assert_eq!(count(&plot(&[]), "<title>job "), lines);
    assert!(count(&plot(&["--from", "1", "--to", "2"]), "<title>job ") < lines);
    assert!(plot(&["--at", "3"]).contains("of 16 nodes; gray is free"));
    assert!(plot(&[]).contains(">time (time units)<"), "placements name their unit");
    assert!(plot(&["--unit", "s"]).contains(">time<"));
    assert_eq!(count(&plot(&["--animate"]), "<set attributeName"), lines);
    let cdf = good(&["plot", text(&jobs), "--cdf", "waiting_time"]);
    assert!(cdf.contains("share of jobs") && cdf.contains("30 jobs"));
    assert!(refused(&["plot", text(&placements)]).contains("--machine"));
    refused_for(
        &["plot", text(&placements), "--machine", "mesh:2x2"],
        "not a valid placement on mesh:2x2",
    );
    refused(&["plot", text(&placements), "--machine", "grid:4wx4", "--from", "9", "--to", "3"]);
    assert!(refused(&["plot", text(&jobs), "--cdf", "wait"]).contains("waiting_time"));
}

#[test]
fn numbers_that_cannot_be_drawn_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let placements = at("p.jsonl");
    let line =
        r#"{"job":"</title>\u0001&","start":0,"end":4,"parts":[{"base":[0,0],"sides":[2,2]}]}"#;
    std::fs::write(&placements, format!("{line}\n")).unwrap();
    let place = text(&placements);
    let plot = |option: &str, value: &str| {
        ["plot", place, "-m", "mesh:4x4", option, value].map(String::from)
    };
    for option in ["--at", "--from", "--to"] {
        for value in ["nan", "inf", "-inf", "NaN"] {
            let message = refused(&plot(option, value).each_ref().map(String::as_str));
            assert!(message.contains(option) && message.contains("finite"), "{message}");
        }
    }
    // The name would end the title element, and contains a character that XML forbids.
    let svg = good(&plot("--at", "1").each_ref().map(String::as_str));
    assert!(!svg.contains("</title>\u{1}") && !svg.contains('\u{1}'), "{svg}");
    let svg = good(&plot("--from", "0").each_ref().map(String::as_str));
    assert!(
        svg.contains("<title>job &lt;/title&gt;\u{fffd}&amp;: 4 nodes, 0 to 4</title>"),
        "{svg}"
    );
    let results = at("results.csv");
    for mean in ["inf", "-inf", "NaN"] {
        std::fs::write(
            &results,
            format!("load,metric,mean,ci95\n1,waiting,{mean},\n2,waiting,3,inf\n"),
        )
        .unwrap();
        refused_for(&["plot", text(&results), "--y", "waiting"], "cannot be drawn");
    }
    for (load, half) in [("inf", "1"), ("nan", "1"), ("x", "1"), ("1", "nan"), ("1", "-1")] {
        let rows = format!("{load},waiting,1,{half}\n2,waiting,3,1\n");
        std::fs::write(&results, format!("load,metric,mean,ci95\n{rows}")).unwrap();
        refused_for(&["plot", text(&results), "--y", "waiting"], "cannot be drawn");
    }
    // These are an infinite interval, numbers of extreme magnitudes, and no data on a logarithmic
    // axis.
    for means in [["3", "4"], ["1e308", "-1e308"], ["1e-320", "0"]] {
        let rows = format!("1,waiting,{},inf\n2,waiting,{},\n", means[0], means[1]);
        std::fs::write(&results, format!("load,metric,mean,ci95\n{rows}")).unwrap();
        for log in ["x", "y"] {
            let svg = good(&["plot", text(&results), "--y", "waiting", "--log", log]);
            assert!(!svg.contains("NaN") && !svg.contains("=\"inf"), "{svg}");
        }
    }
    let jobs = at("jobs.csv");
    std::fs::write(&jobs, "job_id,waiting_time\n").unwrap();
    good(&["plot", text(&jobs), "--cdf", "waiting_time", "--log", "x"]);
    std::fs::write(&jobs, "job_id,waiting_time\n1,inf\n").unwrap();
    let message = refused(&["plot", text(&jobs), "--cdf", "waiting_time"]);
    assert!(message.contains("line 2") && message.contains("finite"), "{message}");
}
