//! Records the output of `squeue` for jobs of every kind, including jobs with hostile comments. If
//! PAVIOR_SLURM_RECORD names a directory, the output is written there. The library's unit tests
//! read one such file per release.

use std::path::PathBuf;

use crate::cluster::{Cluster, Options};
use crate::gate::ACCEPT;
use crate::release::{Release, on_each_release};

on_each_release! { squeue_output_for_all_kinds_of_jobs }

/// The mark in recorded output.
const MARK: &str = "0123456789abcdef0123456789abcdef";

/// A wrapper around `squeue` that records the format that the daemon passes.
const NOTES: &str = "#!/bin/sh\n\
                     printf %s \"$SQUEUE_FORMAT\" >@DIR@/format\n\
                     exec /usr/bin/squeue \"$@\"\n";

fn squeue_output_for_all_kinds_of_jobs(release: Release) {
    let options = Options::new("squeue output with jobs of every kind")
        .machine("mesh:4x4")
        .file("squeue", NOTES);
    let Some(cluster) = Cluster::start(release, options) else { return };
    let folder = cluster.path().display().to_string();
    cluster.run(&format!("PATH={folder}:$PATH {}", cluster.pavior_line("--dry-run")));
    let format = cluster.read("format");
    let format = format.replace(&format[..MARK.len()], MARK);
    let fields = format.matches('%').count();
    let count = jobs_of_every_kind(&cluster);
    let variables = format!("SLURM_TIME_FORMAT=%s SQUEUE_FORMAT='{format}'");
    cluster.run(&format!("{variables} squeue -h -r -p mesh >{folder}/answer"));
    let answer = std::fs::read(cluster.path().join("answer")).unwrap();
    let text = String::from_utf8_lossy(&answer);
    assert_eq!(text.matches(MARK).count(), count * (fields + 1), "{text}");
    if let Some(folder) = std::env::var_os("PAVIOR_SLURM_RECORD") {
        let version = cluster.run("slurmctld -V").replace("slurm-wlm ", "");
        let file = PathBuf::from(folder).join(format!("squeue-{version}.txt"));
        std::fs::write(file, answer).unwrap();
    }
}

/// Submits the jobs. Returns the number of jobs, counting every task and component.
fn jobs_of_every_kind(cluster: &Cluster) -> usize {
    // Slurm compares modification times with a resolution of one second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    cluster.write("job_submit.lua", ACCEPT);
    let open = |options: &str, nodes: &str, comment: &str| {
        let count = nodes.split(',').count();
        let options = format!("{options} -w {nodes} -N {count} --comment=\"{comment}\"");
        let job = cluster.submit("runs", &options, 600.0);
        cluster.wait_until_running(&job, 20);
        job
    };
    let first = open("-t 5", "n00,n01,n04,n05", "shape=2x2");
    let forged = format!("{first}|R|None|1|4|n[00-02]||1|1:00|1|(null)|shape=2x2");
    open("", "n10", &format!("x\n{forged}"));
    // One job is suspended. Another was suspended for three seconds, so it ends three seconds late.
    let suspended = open("-t 5", "n03", "shape=1x1");
    cluster.run(&format!("scontrol suspend {suspended}"));
    let resumed = open("-t 5", "n02", "shape=1x1");
    cluster.run(&format!("scontrol suspend {resumed}"));
    std::thread::sleep(std::time::Duration::from_secs(3));
    cluster.run(&format!("scontrol resume {resumed}"));
    cluster.wait_until_running(&resumed, 20);
    let almost = &MARK[..MARK.len() - 1];
    let comments = [
        "shape=2x2 a\nb".to_string(),
        format!("x\n{forged}"),
        format!("x\n{first}|PD|None|1|4|||N/A|1:00|1|(null)|shape=2x2\\n\\n"),
        "a\rb\u{b}\u{c}\u{1b}[31m\u{1}|x".into(),
        "\n".into(),
        "caf$(printf '\\377\\230')".into(),
        almost.into(),
    ];
    let license = "-L pavior:1";
    for (serial, comment) in comments.iter().enumerate() {
        let nodes = if serial == 0 { 4 } else { 1 };
        let options = format!("-H -N{nodes} {license} --comment=\"{comment}\"");
        cluster.submit("held", &options, 0.0);
    }
    cluster.submit("array", &format!("-H --array=1,3,5-6 -t 1-12:30 {license}"), 0.0);
    let later = format!("--begin=now+1000000 -t 1 {license} --comment=shape=1x1");
    cluster.submit("later", &later, 0.0);
    cluster.submit("after", &format!("-d afterok:{first} {license} --comment="), 0.0);
    cluster.run(&format!("sbatch -H -N1 {license} : -N1 --wrap true"));
    4 + comments.len() + 4 + 2 + 2
}
