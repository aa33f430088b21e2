//! Tests `pavior plot`: figures from tables, and drawings of jobs and placements.

use crate::{Folder, good, good_input, noted_with, refused, refused_for};

#[test]
fn figures_can_be_redrawn_from_the_tables() {
    let (folder, file) = Folder::with(
        "e.toml",
        "machine = 'mesh:8x8'\nstrategy = ['ff', 'tff']\nload = [1, 2, 3]\njobs = 60\n\
         sides = ['uniform', 'exponential']\nprecision = 0.2\nmax-replications = 9\n\
         [[figure]]\nname = 'lines'\ny = 'turnaround'\nseries = 'strategy'\n\
         where = { sides = 'uniform' }\nlog = 'y'\nlabels = { ff = 'First Fit & <more>' }\n\
         [[figure]]\nname = 'bars'\nx = 'strategy'\ny = 'utilization'\nwhere = { load = 3 }\n\
         [[figure]]\nname = 'time'\ny = 'allocation_ns'\n",
    );
    let out = folder.path("out");
    good(&format!("experiment {file} --out {out}"));
    let names = ["lines", "bars", "time"]
        .map(|name| [format!("out/{name}.svg"), format!("out/{name}.vl.json")])
        .concat();
    let read = || names.iter().map(|name| folder.read(name)).collect::<Vec<String>>();
    let drawn = read();
    for name in &names {
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    std::fs::remove_file(folder.path("out/replications.csv")).unwrap();
    good(&format!("plot {out}"));
    assert!(read() == drawn, "the figures differ");
    let svg = &drawn[0];
    assert!(svg.contains("First Fit &amp; &lt;more&gt;") && svg.contains("prefers-color-scheme"));
    let vega: serde_json::Value = serde_json::from_str(&drawn[1]).unwrap();
    assert_eq!(vega["data"]["values"].as_array().unwrap().len(), 6);
    // A custom chart is drawn from the same table.
    let results = folder.path("out/results.csv");
    let chart = good(&format!("plot {results} --y waiting --log x,y"));
    assert!(chart.starts_with("<svg") && chart.contains("waiting (time units)"));
    assert!(chart.contains("<title>Waiting by load on mesh:8x8</title>"), "{chart}");
    // The same chart is drawn from standard input.
    let table = folder.read("out/results.csv");
    assert_eq!(good_input("plot - --y waiting --log x,y", &table), chart);
    refused_for(&format!("plot {results} --y wating"), "did you mean `waiting`?");
    refused_for(&format!("plot {results} --x lod"), "`load`");
    for other in [&file, &folder.path(""), "nowhere.csv"] {
        refused(&format!("plot {other}"));
    }
}

/// Returns results for nine strategies under two schedulers. One of the strategies has options with
/// `=`.
fn crowd() -> String {
    let mut table = String::from("strategy,scheduler,load,busy,metric,mean,ci95\n");
    for strategy in ["ff", "bf", "wf", "bl", "tff", "tbl", "gabl", "mbs", "ff:turn=all"] {
        for scheduler in ["fcfs", "ssd"] {
            for load in ["0.5", "1"] {
                let point = format!("{strategy},{scheduler},{load},\"0,0:1x1 2,2:2x1\"");
                table += &format!("{point},turnaround,2,0.1\n");
            }
        }
    }
    table
}

#[test]
fn filters_reduce_the_number_of_series() {
    let (folder, file) = Folder::with("results.csv", crowd());
    let plot = |filter: &[&str]| noted_with(&[&["plot", &*file], filter].concat(), "");
    let (_, note) = plot(&[]);
    assert!(note.contains("18 series") && note.contains("--filter"), "{note}");
    assert!(note.contains("strategy, scheduler") && note.contains("scheduler=fcfs"), "{note}");
    // With one scheduler, there are still nine series, one more than the limit. The note does not
    // suggest filtering by a parameter that is already filtered.
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
    // The values are written as users might write them, and one parameter is named twice.
    let (chart, _) = plot(&["--filter", "load=1.0,strategy=ff,load=.5", "--title", "Own"]);
    assert!(chart.contains("<title>Own</title>") && chart.contains(">fcfs</text>"), "{chart}");
    // The values are written as in the table, which another program may have rewritten.
    let padded = folder.write("padded.csv", crowd().replace(",0.5,", ",0.50,"));
    good(&format!("plot {padded} --filter load=0.50,1.0,strategy=ff"));
    for (filter, reason) in [
        ("uniform", "use one such as sides=uniform"),
        ("shceduler=ssd", "did you mean `scheduler`?"),
        ("scheduler=fcsf", "did you mean `fcfs`?"),
        ("strategy=ff,tlb", "did you mean `tbl`?"),
        ("jobs=9", "no column `jobs`"),
        ("strategy=", "unknown strategy"),
        ("strategy=ff,queue=3", "unknown parameter `queue`"),
        ("strategy=ff,laod=0.5", "unknown parameter `laod`; did you mean `load`?"),
        ("strategy=ff,tff:trun=all", "unknown strategy `tff:trun=all`"),
    ] {
        refused_for(&format!("plot {file} --filter {filter}"), reason);
    }
    for option in ["--filter", "--x", "--y"] {
        refused_for(&format!("plot {} {option} load=1", folder.path("")), "to results tables");
    }
}

#[test]
fn a_filter_of_a_log_can_be_selected() {
    let table = "filter,load,metric,mean,ci95\nuser=7,1,turnaround,2,0.1\n\
                 \"user=7,queue=3\",1,turnaround,2,0.1\n";
    let (_folder, file) = Folder::with("results.csv", table);
    let chart = good(&format!("plot {file} --filter filter=user=7,queue=3,load=1"));
    assert!(chart.contains(", filter user=7,queue=3, load 1</title>"), "{chart}");
}

#[test]
fn schedules_machines_and_distributions_are_drawn() {
    let folder = Folder::new();
    let [placements, jobs] = ["p.jsonl", "jobs.csv"].map(|name| folder.path(name));
    let run = "simulate --machine grid:4wx4 --strategy tff --load 2 --jobs 30 --replications 1";
    good(&format!("{run} --placements {placements} --jobs-csv {jobs}"));
    let line = |more: &str| format!("plot {placements} --machine grid:4wx4 {more}");
    let plot = |more: &str| good(&line(more));
    let count = |svg: &str, part: &str| svg.matches(part).count();
    let lines = folder.read("p.jsonl").lines().count();
    assert_eq!(count(&plot(""), "<title>job "), lines);
    assert!(count(&plot("--from 1 --to 2"), "<title>job ") < lines);
    assert!(plot("--at 3").contains("of 16 nodes; free nodes are gray"));
    assert!(plot("").contains(">time (time units)<"), "placements name their unit");
    assert!(plot("--unit s").contains(">time<"));
    assert_eq!(count(&plot("--animate"), "<set attributeName"), lines);
    let cdf = good(&format!("plot {jobs} --cdf waiting_time"));
    assert!(cdf.contains("share of jobs") && cdf.contains("30 jobs"));
    refused_for(&format!("plot {placements}"), "--machine");
    let other = format!("plot {placements} --machine mesh:2x2");
    refused_for(&other, "expected a placement on mesh:2x2");
    refused(&line("--from 9 --to 3"));
    refused_for(&format!("plot {jobs} --cdf wait"), "waiting_time");
    refused_for(&format!("plot {jobs} --y waiting"), "--y applies only to results tables");
    let failed = folder.write("failed.csv", "job_id,success,turnaround_time\n1,0,\n");
    refused_for(&format!("plot {failed}"), "no successful jobs");
}

#[test]
fn numbers_that_cannot_be_drawn_are_refused() {
    let folder = Folder::new();
    let line =
        r#"{"job":"</title>\u0001&","start":0,"end":4,"parts":[{"base":[0,0],"sides":[2,2]}]}"#;
    let plot = format!("plot {} -m mesh:4x4", folder.write("p.jsonl", format!("{line}\n")));
    for option in ["--at", "--from", "--to"] {
        for value in ["nan", "inf", "-inf", "NaN"] {
            let message = refused(&format!("{plot} {option} {value}"));
            assert!(message.contains(option) && message.contains("finite"), "{message}");
        }
    }
    // Unescaped, the job name would end the title element. The name also contains a character that
    // XML forbids.
    let svg = good(&format!("{plot} --at 1"));
    assert!(!svg.contains("</title>\u{1}") && !svg.contains('\u{1}'), "{svg}");
    let svg = good(&format!("{plot} --from 0"));
    assert!(
        svg.contains("<title>job &lt;/title&gt;\u{fffd}&amp;: 4 nodes, 0 to 4</title>"),
        "{svg}"
    );
    let results =
        |rows: &str| folder.write("results.csv", format!("load,metric,mean,ci95\n{rows}"));
    for rows in [
        "1,waiting,inf,\n2,waiting,3,inf\n",
        "1,waiting,-inf,\n2,waiting,3,inf\n",
        "1,waiting,NaN,\n2,waiting,3,inf\n",
        "inf,waiting,1,1\n2,waiting,3,1\n",
        "nan,waiting,1,1\n2,waiting,3,1\n",
        "x,waiting,1,1\n2,waiting,3,1\n",
        "1,waiting,1,nan\n2,waiting,3,1\n",
        "1,waiting,1,-1\n2,waiting,3,1\n",
    ] {
        refused_for(&format!("plot {} --y waiting", results(rows)), "cannot plot ");
    }
    // A parameter without a column has no values to draw.
    let constant = results("1,waiting,3,\n");
    refused_for(&format!("plot {constant} --y waiting --x scheduler"), "no column `scheduler`");
    good(&format!("plot {constant} --y waiting"));
    let neither = folder.write("neither.csv", "sides,metric,mean,ci95\nuniform,waiting,3,\n");
    refused_for(&format!("plot {neither} --y waiting"), "no column `load`");
    // Draw an infinite interval, numbers of extreme magnitude, and a logarithmic axis without any
    // data.
    for means in [["3", "4"], ["1e308", "-1e308"], ["1e-320", "0"]] {
        let path = results(&format!("1,waiting,{},inf\n2,waiting,{},\n", means[0], means[1]));
        for log in ["x", "y"] {
            let svg = good(&format!("plot {path} --y waiting --log {log}"));
            assert!(!svg.contains("NaN") && !svg.contains("=\"inf"), "{svg}");
        }
    }
    let jobs = folder.write("jobs.csv", "job_id,waiting_time\n1,0\n");
    good(&format!("plot {jobs} --cdf waiting_time --log x"));
    folder.write("jobs.csv", "job_id,waiting_time\n1,inf\n");
    let message = refused(&format!("plot {jobs} --cdf waiting_time"));
    assert!(message.contains("line 2") && message.contains("finite"), "{message}");
}
