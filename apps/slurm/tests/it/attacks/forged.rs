//! Tests forged comments and other user-supplied text on a real Slurm cluster.

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites::until_told;
use crate::{observe, records};

on_each_release! { users_cannot_forge_what_the_daemon_reads }

fn users_cannot_forge_what_the_daemon_reads(release: Release) {
    let options = Options::new("forged comments on a real Slurm cluster")
        .conf("SchedulerParameters=bf_interval=1,batch_sched_delay=1");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.add_metrics();
    the_gate_refuses_control_characters(&cluster);
    cluster.start_daemon();
    texts_of_other_fields(&cluster);
    a_gate_that_accepts_control_characters(&mut cluster);
    comments_that_look_like_jobs(&cluster);
    a_running_job_with_a_forged_comment(&mut cluster);
    slurm_is_away(&mut cluster);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
    records::check_allocations(&records::read(&cluster), 8);
}

/// Returns the value of one of the daemon's metrics.
fn metric(cluster: &Cluster, name: &str) -> u64 {
    let address = ("127.0.0.1", cluster.spare_port());
    let text = observe::send(address, "GET /metrics HTTP/1.1\r\n\r\n");
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("pavior_slurm_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

/// Waits until a metric has the expected value.
fn metric_until(cluster: &Cluster, name: &str, good: impl Fn(u64) -> bool) {
    let mut last = 0;
    for _ in 0..3000 {
        last = metric(cluster, name);
        if good(last) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{name} is still {last}; log:\n{}", cluster.log());
}

/// Submits a job as an ordinary user. Returns the job ID or the error message.
fn attempt(cluster: &Cluster, options: &str) -> Result<String, String> {
    let line = format!("sbatch --parsable -o /dev/null {options} --wrap 'sleep 0.2'");
    let output = cluster.shell_as(User::Alice, &line);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_string();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Quotes a comment for the shell.
fn comment(text: &str) -> String {
    format!("--comment='{text}'")
}

fn the_gate_refuses_control_characters(cluster: &Cluster) {
    let texts = ["shape=2x2 a\nb", "a\rb", "a\tb", "\u{1b}[31mred", "a\u{7f}", "a\u{85}b", "\n"];
    let mut failed = 0;
    for text in texts {
        let said = attempt(cluster, &comment(text)).unwrap_err();
        failed += usize::from(!said.contains("line breaks or other control characters"));
    }
    let options = format!("-H -J 1x1-held {}", comment("größe shape=1x1"));
    let held = attempt(cluster, &options).unwrap();
    for (user, change) in [(User::Alice, "a\nb"), (User::Root, "a\nb"), (User::Alice, "ab")] {
        let line = format!("scontrol update JobId={held} Comment='{change}'");
        failed += usize::from(cluster.shell_as(user, &line).status.success());
    }
    cluster.run(&format!("scancel {held}"));
    let attack = "control characters in comments, on submission and later";
    pavior_trials::attacked("slurm", attack, texts.len() + 3, failed);
}

/// Submits jobs with hostile text in fields other than the comment. Slurm must either reject the
/// jobs or run them normally.
fn texts_of_other_fields(cluster: &Cluster) {
    let record = "x\n9|R|None|1|4|n[00-02]||1|1:00|1|(null)|shape=2x2";
    let options = [
        format!("-J '1x1-{record}'"),
        format!("--wckey='{record}'"),
        format!("-A '{record}'"),
        format!("-C '{record}'"),
        format!("--reservation='{record}'"),
        format!("-p 'mesh\n{record}'"),
        format!("-L '{record}'"),
        "-L 'pavior:1;pavior:1'".into(),
        "-L 'a|b'".into(),
        format!("--mail-user='{record}'"),
        format!("--export='A={record}'"),
        format!("--dependency='{record}'"),
        format!("-w '{record}'"),
        format!("--qos='{record}'"),
        format!("--gres='{record}'"),
        format!("--array='{record}'"),
        "--array='0-3%2'".into(),
        "-t '1-00:00:00' --begin=now".into(),
        "--comment='1x1|2|3|4|5|6|7|8|9|10|11|12|13'".into(),
    ];
    let mut failed = 0;
    for options in &options {
        // `records::check_allocations` reads the shape from the job name.
        let name = if options.starts_with("-J") { "" } else { "-J 1x1-text" };
        let told = attempt(cluster, &format!("{name} {options}"));
        failed += usize::from(told.is_err_and(|said| said.is_empty()));
    }
    cluster.wait_until_empty(60);
    failed +=
        metric(cluster, "unreadable_total") as usize + metric(cluster, "overlaps_total") as usize;
    let attack = "names, accounts, licenses, reservations and other fields that imitate records";
    pavior_trials::attacked("slurm", attack, options.len(), failed);
}

/// Checks that `check` reports a gate that lets control characters through.
fn a_gate_that_accepts_control_characters(cluster: &mut Cluster) {
    let text = cluster.read("pavior.lua");
    let checksum = text.split_once("checksum ").unwrap().1.split_once('.').unwrap().0;
    let older = text.replace("if has_controls(", "if false and (");
    assert_ne!(text, older);
    let older = older.replace(checksum, "0123456789abcdef");
    let check = cluster.pavior_line("check");
    assert!(cluster.run(&check).contains("faults: []"));
    // Slurm compares modification times with a resolution of one second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    cluster.write("pavior.lua", &older);
    cluster.run(&format!("touch {}/job_submit.lua", cluster.path().display()));
    cluster.wait_for(&check, 30, |text| text.contains("another version"));
    // The daemon checks the gate at startup.
    assert_eq!(metric(cluster, "gate_loaded"), 1);
    cluster.start_daemon();
    let log = format!("cat {}/pavior.log", cluster.path().display());
    cluster.wait_for(&log, 30, |text| text.contains("gate check failed"));
    assert_eq!(metric(cluster, "gate_loaded"), 0);
}

/// Submits jobs whose comments imitate records of another user's jobs. The other user's jobs must
/// not change.
fn comments_that_look_like_jobs(cluster: &Cluster) {
    let victim = cluster.submit("1x3-victim", "--comment=shape=1x3", 600.0);
    let state = format!("squeue -h -j {victim} -o '%t %N'");
    let running = cluster.wait_for(&state, 30, |text| text.starts_with("R n"));
    let nodes = running.strip_prefix("R ").unwrap();
    let held = cluster.submit("2x2-held", "-H --comment=shape=2x2", 0.5);
    let now = cluster.run("date +%s");
    let priority = format!("squeue -h -j {held} -o %Q");
    assert_eq!(cluster.run(&priority), "0");
    let mut failed = 0;
    let attacks = [
        "shape=2x2 a\nb".to_string(),
        // To get the job requeued, this record claims that the job just started on the wrong nodes.
        format!("x\n{victim}|R|None|1|4|{nodes}||{now}|1:00|1|(null)|shape=2x2"),
        // This record claims that the job's gate is open on nodes that do not form a box. If the
        // daemon believed this, it would close the gate and release the job.
        format!("x\n{held}|PD|None|1|4||n[00-02]|N/A|1:00|1|(null)|shape=2x2"),
        // These records claim that the job has no gate or a closed one.
        format!("x\n{held}|PD|None|1|4|||N/A|1:00|1|(null)|shape=2x2"),
        format!("x\n{held}|PD|Licenses|9|4|||N/A|1:00|1|pavior:1|shape=2x2"),
        format!("x\n{victim}|CG|None|1|3|||{now}|1:00|1|(null)|"),
        "x\n9 Priority=1\nrelease 9|PD|None|1|4|||N/A|1:00|1|(null)|".to_string(),
        "\n\n\n".to_string(),
        "x\r\u{1b}[2J\u{7}".to_string(),
    ];
    let mut hostile = Vec::new();
    for (serial, text) in attacks.iter().enumerate() {
        hostile.push(attempt(cluster, &format!("-H {}", comment(text))).unwrap());
        // Other jobs are still placed.
        let good = cluster.submit(&format!("2x2-good{serial}"), "--comment=shape=2x2", 0.2);
        cluster.wait_until_gone(&good, 60);
        let shown = cluster.run(&format!("scontrol show job {victim}"));
        let kept = shown.contains("JobState=RUNNING") && shown.contains("Restarts=0");
        failed += usize::from(!kept || cluster.run(&priority) != "0");
    }
    let count = attacks.len() as u64;
    metric_until(cluster, "records_unreadable", |value| value == count);
    assert!(metric(cluster, "unreadable_total") > count, "not counted in each cycle");
    assert_eq!((metric(cluster, "up"), metric(cluster, "failures_total")), (1, 0));
    assert_eq!(metric(cluster, "overlaps_total"), 0, "{}", cluster.log());
    let log = cluster.log();
    let said = log.matches("\"malformed records\"").count();
    assert!((1..=3).contains(&said), "not logged once a minute:\n{log}");
    assert!(!log.contains("|R|") && !log.contains('\u{1b}') && !log.contains("\\u001b"), "{log}");
    // After its release, the hostile job keeps waiting, and a note explains why.
    cluster.run(&format!("scontrol release {}", hostile[0]));
    until_told(cluster, &hostile[0], "not placed: its comment contains control characters");
    cluster.run(&format!("scancel {victim} {held} {}", hostile.join(" ")));
    metric_until(cluster, "records_unreadable", |value| value == 0);
    cluster.wait_until_empty(60);
    let attack = "forged comments: another user's job is requeued or released, or placement stops";
    pavior_trials::attacked("slurm", attack, attacks.len(), failed);
}

/// Checks that a running job keeps its nodes even if its comment says that it is completing.
fn a_running_job_with_a_forged_comment(cluster: &mut Cluster) {
    let tried = pavior_trials::size(1, 1, 8);
    let mut failed = 0;
    for serial in 0..tried {
        cluster.kill_daemon();
        let text = "x\n1|CG|None|1|4|||1|1:00|1|(null)|";
        let options = format!("-J wrong-forged{serial} -t 5 {}", comment(text));
        let forged = cluster.submit_as(User::Alice, &options, 600.0);
        let node = format!("n{:02}", (9 + 5 * serial) % 64);
        let open = format!("ReqNodeList={node} Licenses= Priority=4294967290");
        cluster.run(&format!("scontrol update JobId={forged} {open}"));
        let place = format!("squeue -h -j {forged} -o '%t %N'");
        cluster.wait_for(&place, 30, |text| text == format!("R {node}"));
        cluster.start_daemon();
        let whole = cluster.submit("8x8-beside", "--comment=shape=8x8 -t 1", 0.2);
        until_told(cluster, &whole, &format!("by job {forged} (1 node)"));
        let row = cluster.submit("8x1-beside", "--comment=shape=8x1 -t 1", 0.2);
        cluster.wait_until_gone(&row, 30);
        failed += usize::from(cluster.run(&place) != format!("R {node}"));
        cluster.cancel(&forged, 60);
    }
    let attack = "a running job's comment claims that its nodes are free";
    pavior_trials::attacked("slurm", attack, tried, failed);
}

/// Checks that malformed records are not counted while Slurm is not responding.
fn slurm_is_away(cluster: &mut Cluster) {
    let unreadable = metric(cluster, "unreadable_total");
    std::thread::sleep(std::time::Duration::from_secs(6));
    cluster.kill("slurmctld");
    metric_until(cluster, "failures_total", |value| value > 0);
    assert_eq!(metric(cluster, "up"), 0);
    cluster.start_slurmctld();
    cluster.wait_until_idle(90);
    metric_until(cluster, "up", |value| value == 1);
    assert_eq!(metric(cluster, "unreadable_total"), unreadable);
    assert!(cluster.log().contains("cycles are running again"));
}
