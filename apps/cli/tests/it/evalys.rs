//! Tests that Evalys, a Python package that analyzes Batsim results, can read our `jobs.csv`.
//!
//! The test installs Evalys once, in a virtual environment below `target/tmp`. If that fails, for
//! example because Python or a network connection is missing, the test prints the reason and checks
//! nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Folder;
use crate::tries::run_until;

/// A log of seven jobs for 16 nodes. Job 14 requests 17 nodes, so it is rejected.
const LOG: &str = "\
11 1000 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1
12 1010 -1 30 16 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
13 1010 -1 0 3 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
14 1020 -1 5 17 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
15 1030 -1 2.5 7 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
16 1031 -1 60 5 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
17 1032 -1 9 3 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
";

const SCRIPT: &str = "\
import json, sys
from evalys.jobset import JobSet
jobs = JobSet.from_csv(sys.argv[1])
done = jobs.df[jobs.df.success == 1]
print(json.dumps({
    'missing': [c for c in JobSet.columns if c not in jobs.df.columns and c != 'job_id'],
    'jobs': len(jobs.df),
    'held': {str(row.jobID): len(row.allocated_resources) for row in jobs.df.itertuples()},
    'bounds': str(jobs.res_bounds),
    'waiting': done.waiting_time.mean(),
    'running': jobs.mean_utilisation(),
    'queue': int(jobs.queue.load.max()),
}))
";

#[test]
fn evalys_reads_our_jobs() {
    if pavior_trials::left_out("jobs.csv in Evalys, which is installed for it") {
        return;
    }
    let python = match environment(Duration::from_mins(5)) {
        Ok(python) => python,
        Err(reason) => {
            return pavior_trials::skipped("jobs.csv in Evalys", &reason, "PAVIOR_REQUIRE_PYTHON");
        }
    };
    let folder = Folder::new();
    let (log, jobs) = (folder.write("log.swf", LOG), folder.path("jobs.csv"));
    let run = format!(
        "simulate --trace {log} --machine mesh:4x4 --strategy mbs --scheduler scan-all \
         --jobs-csv {jobs} --no-timing"
    );
    let results = crate::json(&run, "");
    let metric = |name: &str| results["results"][0]["metrics"][name]["mean"].as_f64().unwrap();

    let output = Command::new(python)
        .args(["-W", "ignore", "-c", SCRIPT, &jobs])
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", folder.path(""))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "Evalys cannot read jobs.csv: {errors}");
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(read["missing"], serde_json::json!([]));
    assert_eq!(read["jobs"], 7);
    let held = serde_json::json!({
        "11": 4, "12": 16, "13": 3, "14": 0, "15": 7, "16": 5, "17": 3
    });
    assert_eq!(read["held"], held);
    assert_eq!(read["bounds"], "0-15");
    let near = |key: &str, expected: f64| {
        let value = read[key].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-6 * expected, "{key}: {value}, not {expected}");
    };
    near("waiting", metric("waiting"));
    near("running", 16.0 * metric("utilization"));
    // Job 12 has to wait, and job 17 waits half a second.
    assert_eq!(read["queue"], 16 + 3);
}

/// Returns the Python interpreter of a virtual environment with Evalys. The environment is created
/// on first use, which must not take longer than `limit`.
fn environment(limit: Duration) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("evalys");
    let python = folder.join("bin/python");
    let (ready, failed) = (folder.join("ready"), folder.join("failed"));
    if ready.exists() {
        return Ok(python);
    }
    if let Ok(reason) = std::fs::read_to_string(&failed) {
        return Err(format!("{reason} (remove {} to try again)", failed.display()));
    }
    let deadline = Instant::now() + limit;
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&folder);
    finish(make, deadline)?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--only-binary=:all:", "--retries=0", "--timeout=15", "evalys==4.0.7"]);
    let mut import = Command::new(&python);
    import.args(["-c", "import evalys.jobset"]);
    let made = finish(install, deadline).and_then(|()| finish(import, deadline));
    let (mark, text) = match &made {
        Ok(()) => (ready, ""),
        Err(reason) => (failed, reason.as_str()),
    };
    // If this write fails, the next run of the test just takes longer.
    let _ = std::fs::write(mark, text);
    made.map(|()| python)
}

/// Waits for a command to succeed, up to a deadline.
fn finish(mut command: Command, deadline: Instant) -> Result<(), String> {
    let named = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let outcome = run_until(command, deadline).map_err(|error| format!("{named}: {error}"))?;
    if outcome.code == Some(0) {
        return Ok(());
    }
    let reason = outcome.message.trim_end().lines().last().unwrap_or("it failed");
    Err(format!("{named}: {reason}"))
}
