//! Attack attempts that put a hostile name in each kind of input.

use serde_json::{Value, json};

use super::{Attempt, attempt, attempt_with};

/// Returns two jobs that block a request for the whole machine. One of them has the given name.
fn busy(name: &str) -> String {
    let of = |job: &str, base: [u8; 2], side: u8| {
        let parts = json!([{"base": base, "sides": [side, side]}]);
        json!({"job": job, "end": name, "parts": parts})
    };
    format!("{}\n{}\n", of(name, [1, 1], 2), of("b", [0, 3], 1))
}

/// Returns attempts that read a queue, with and without a running job of the same name.
pub(super) fn queues(name: &str) -> Vec<Attempt> {
    let line = |members: Value| format!("{members}\n");
    let waits = line(json!({ "job": name, "nodes": 4, "estimate": 60 }));
    let held = json!({ "job": name, "end": 60, "parts": [{ "base": [0, 0], "sides": [4, 4] }] });
    let mut tries = Vec::new();
    for text in [
        waits.clone(),
        format!("{waits}{waits}"),
        line(json!({ "job": 1, "nodes": 1, "freedom": name })),
        line(json!({ "job": 1, "nodes": 1, "user": name })),
        line(json!({ "job": 1, "shape": name })),
        line(json!({ "job": 1, name: 1 })),
        format!("{name}\n"),
    ] {
        let files = [("queue", text), ("busy", line(held.clone()))];
        for format in ["table", "json", "csv"] {
            let run = format!("forecast --machine mesh:4x4 --queue $queue --format {format}");
            tries.push(attempt(&files, &run));
            tries.push(attempt(&files, &format!("{run} --busy $busy")));
        }
    }
    tries
}

/// Returns attempts that read a machine state, one for each kind of question about the state.
pub(super) fn states(name: &str) -> Vec<Attempt> {
    let mut tries = Vec::new();
    let state = "--machine mesh:4x4 --busy $busy";
    let twice = format!("{0}{0}", busy(name));
    let key = format!("{}\n", json!({ "job": 1, name: 2 }));
    let inside = json!({ "job": 1, "parts": [{ "base": [0, 0], name: [1, 1] }] }).to_string();
    let weight = |name: &str| format!("{}\n", json!({ "job": name, "weight": 2.5 }));
    for text in [busy(name), twice, key, inside, name.to_string()] {
        let files = [("busy", text)];
        for format in ["table", "json", "csv"] {
            for question in [
                "explain --shape 4x4",
                "slots --moves 1 --shape 2x2",
                "unblock --shape 3x3",
                "unblock --shape 3x3 --blockers",
                "unblock --shape 3x3 --earliest",
                "unblock --shape 3x3 --nearest 3",
                "unblock --drain 1,1",
            ] {
                tries.push(attempt(&files, &format!("{question} {state} --format {format}")));
            }
        }
    }
    for weights in [
        weight(name),
        weight("none") + &weight(name),
        weight(name) + &weight(name),
        format!("{name}\n"),
    ] {
        let files = [("busy", busy(name)), ("weights", weights)];
        let run = format!("unblock {state} --shape 3x3 --format table --weights $weights");
        tries.push(attempt(&files, &run));
    }
    tries
}

/// Returns attempts to read, replay and convert logs of every format.
pub(super) fn logs(name: &str) -> Vec<Attempt> {
    let line = "1 0 -1 60 4 -1 -1 4 90 -1 1 7 -1 -1 2 -1 -1 -1\n";
    let text = json!(name).to_string();
    let batsim = |id: &str, profile: &str, extra: &str| {
        format!(
            "{{\"nb_res\":16,\"jobs\":[{{\"id\":{id},\"subtime\":0,\"res\":4,\"profile\":{profile},\
             \"extra_data\":{extra}}}],\"profiles\":{{{text}:{{\"type\":{text}}},\
             \"a\":{{\"type\":\"delay\",\"delay\":1}}}}}}"
        )
    };
    let logs = [
        ("log.swf", format!("; Computer: {name}\n;{name}: 1\n{line}")),
        ("log.swf", format!("{line}{}\n", line.trim_end().replace(" 60 ", &format!(" {name} ")))),
        ("log.swf", format!("{name}\n{line}")),
        ("log.sim", format!("0 1 1 1 {name}\n")),
        ("log.sim", format!("# {name}\n0 1 1 1 1\n")),
        ("log.json", batsim(&text, "\"a\"", "{}")),
        ("log.json", batsim(&text, &text, "{}")),
        ("log.json", batsim("1", "\"none\"", "{}")),
        ("log.json", batsim("1", "\"a\"", &json!({ "shape": name }).to_string())),
        ("log.json", batsim("1", "\"a\"", &json!({ "freedom": name }).to_string())),
        ("log.json", format!("{{{text}: 1}}")),
        ("log.json", name.to_string()),
        ("log.sacct", sacct(&[("User", name), ("JobName", name), ("Comment", name)])),
        ("log.sacct", sacct(&[("Timelimit", name)])),
        ("log.sacct", sacct(&[(name, "1")])),
        ("log.sacct", name.to_string()),
    ];
    let mut tries = Vec::new();
    for log in logs {
        let path = format!("${}", log.0);
        let mut lines = vec![
            format!("trace inspect {path} --format table"),
            format!("trace inspect {path} --format json"),
            format!("trace inspect {path} --format csv"),
            format!("trace inspect {path} --lenient --format table"),
            format!("trace convert {path} $out.swf"),
            format!("simulate --trace {path} -m mesh:4x4 -s ff --no-timing --format table"),
        ];
        if log.0 == "log.sacct" {
            let advise = |format| format!("advise {path} --format {format} --machine mesh:4x4");
            lines.extend(["table", "json", "csv", "html"].map(advise));
        }
        tries.extend(lines.iter().map(|line| attempt(std::slice::from_ref(&log), line)));
    }
    tries
}

/// Returns a `sacct` log of two jobs. Users control the text in some of its cells.
fn sacct(cells: &[(&str, &str)]) -> String {
    let own = [
        ("JobID", "7"),
        ("Submit", "2026-01-02T03:04:05"),
        ("State", "COMPLETED"),
        ("NNodes", "4"),
        ("Elapsed", "00:01:00"),
    ];
    let all = || own.iter().chain(cells);
    let heads: Vec<&str> = all().map(|(head, _)| *head).collect();
    let line: Vec<&str> = all().map(|(_, cell)| *cell).collect();
    let line = line.join("|");
    format!("{}\n{line}\n8{}\n", heads.join("|"), &line[1..])
}

/// Returns attempts that read failure lists, message lists, or live allocator input.
pub(super) fn lines(name: &str) -> Vec<Attempt> {
    let mut tries = Vec::new();
    for text in [json!({ "op": name, "node": [0, 0], "at": 1 }), json!({ name: 1 }), json!(name)] {
        let files = [("failures", format!("{text}\n"))];
        let run = "simulate --machine mesh:4x4 --jobs 5 -s ff --failures $failures --format table";
        tries.push(attempt(&files, run));
        let network = attempt(&[], "network --machine mesh:4x4");
        tries.push(Attempt { input: format!("{text}\n"), ..network });
    }
    let asks = [
        json!({ "op": "allocate", "job": name, "nodes": 2 }),
        json!({ "op": "allocate", "job": name, "nodes": 2 }),
        json!({ "op": "hold", "job": name, "parts": [{ "base": [3, 3], "sides": [1, 1] }] }),
        json!({ "op": "list" }),
        json!({ "op": "unblock", "shape": [4, 4] }),
        json!({ "op": "release", "job": format!("{name}b") }),
        json!({ "op": name }),
        json!({ "op": "allocate", "job": 1, "nodes": 1, "freedom": name }),
        json!({ "op": "allocate", "job": 1, name: 1 }),
    ];
    let asks = asks.map(|ask| ask.to_string()).join("\n");
    let allocate = attempt(&[], "allocate --machine mesh:4x4 --strategy ff");
    tries.push(Attempt { input: format!("{asks}\n{name}\n"), ..allocate });
    tries
}

/// Returns attempts to plot placements, jobs and results.
pub(super) fn plots(name: &str) -> Vec<Attempt> {
    let part = json!([{ "base": [0, 0], "sides": [2, 2] }]);
    let placed =
        json!({ "job": name, "submit": 0, "start": 1, "end": 5, "nodes": 4, "parts": part });
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let results = |strategy: &str, metric: &str| {
        format!(
            "machine,strategy,scheduler,load,replications,overloaded,metric,mean,ci95,unit\n\
             mesh:4x4,{strategy},fcfs,1,3,false,{metric},2.5,0.1,time_unit\n\
             mesh:4x4,b,fcfs,2,3,false,{metric},2.5,0.1,{quoted}\n"
        )
    };
    let mut tries = Vec::new();
    for text in [placed.to_string(), json!({ "job": 1, name: 1 }).to_string(), name.to_string()] {
        let files = [("placed.jsonl", format!("{text}\n"))];
        for more in ["", "--at 2", "--animate", "--html --out $page.html"] {
            let run = format!("plot $placed.jsonl --machine mesh:4x4 {more}");
            tries.push(attempt(&files, &run));
        }
    }
    for text in [
        results(&quoted, "turnaround"),
        results("a", &quoted),
        name.to_string(),
        format!("{quoted},metric,mean,ci95\n1,2,3,4\n"),
    ] {
        let files = [("results.csv", text)];
        for more in ["", "--x strategy", "--filter strategy=none", "--title t", "--y none"] {
            tries.push(attempt(&files, &format!("plot $results.csv {more}")));
        }
    }
    let jobs = format!(
        "job_id,workload_name,{quoted},turnaround_time\n1,{quoted},2,3\n2,w0,{quoted},{quoted}\n"
    );
    tries.push(attempt(&[("jobs.csv", jobs.clone())], "plot $jobs.csv"));
    tries.push(attempt(&[("jobs.csv", jobs)], "plot $jobs.csv --cdf none"));
    tries
}

/// Returns attempts to run, list and print experiments.
pub(super) fn experiments(name: &str) -> Vec<Attempt> {
    let text = json!(name).to_string();
    let base =
        "machine = 'mesh:4x4'\nstrategy = 'ff'\njobs = 5\nreplications = 2\ntiming = false\n";
    let figure = format!(
        "title = {text}\n[[figure]]\nname = 'f'\ny = 'utilization'\nx = 'strategy'\n\
         title = {text}\nx-label = {text}\nlabels = {{ ff = {text} }}\n"
    );
    let texts = [
        format!("{base}{figure}"),
        format!("{base}name = {text}\n"),
        format!("{base}{text} = 1\n"),
        base.replace("'ff'", &text),
        base.replace("'mesh:4x4'", &text),
        format!("{base}trace = {text}\n"),
        format!("{base}[[figure]]\nname = {text}\ny = {text}\n"),
        format!("# {name}\n{base}"),
        // Without these settings, the experiment would run for a long time.
        format!("{name}\njobs = 5\nreplications = 2\n"),
    ];
    let mut tries = Vec::new();
    for text in texts {
        for format in ["table", "json", "csv"] {
            let run = format!("experiment $e.toml --out $out --threads 1 --format {format}");
            tries.push(attempt(&[("e.toml", text.clone())], &run));
        }
        let spans =
            [("experiment.toml", text), ("spans", format!("[{{\"point\":0,{}:1}}]", json!(name)))];
        for run in
            ["sweep wanted $", "sweep wanted $ --json", "sweep run $ --spans $spans --out $part"]
        {
            tries.push(attempt(&spans, run));
        }
    }
    tries
}

/// Returns attempts that use the name in file names and option values. Returns no attempts if the
/// name is too long for a file name or contains NUL or `/`.
pub(super) fn paths(name: &str) -> Vec<Attempt> {
    if name.len() > 200 || name.contains(['\0', '/']) {
        return Vec::new();
    }
    let (log, none) = (format!("${name}.swf"), format!("${name}"));
    let files = [(&*format!("{name}.swf"), "1 0 -1 60 4\n".to_string())];
    let mut tries = vec![
        attempt_with(&files, &["trace", "inspect", &log]),
        attempt_with(&files, &["trace", "convert", &log, &none]),
        attempt_with(&files, &["simulate", "--trace", &log]),
        attempt_with(&files, &["plot", &log]),
    ];
    for command in [
        &["trace", "inspect", &none][..],
        &["trace", "generate", "lublin", "--nodes", "4", "--jobs", "2", "--out", &none],
        &["trace", "generate", name, "--nodes", "4"],
        &["explain", "--machine", "mesh:4x4", "--shape", "2x2", "--busy", &none],
        &["explain", "--machine", name, "--shape", name, "--busy", &none],
        &["plot", &none],
        &["plot", "/dev/null", "--log", name],
        &["plot", "/dev/null", "--filter", name],
        &["experiment", &none],
        &["experiment", &none, "--shard", name],
        &["merge", &none, "--out", &none],
        &["sweep", "wanted", &none],
        &["reproduce", &none],
        &["reproduce", name],
        &["simulate", "--strategy", name],
        &["simulate", "--jobs", name],
        &["simulate", "--metrics", name],
        &["bench", "--machine", name],
        &["network", "--machine", name],
        &["slurm", "--config", &none],
        &[name],
        &["simulate", &format!("--{name}")],
    ] {
        tries.push(attempt_with(&[], command));
    }
    tries
}
