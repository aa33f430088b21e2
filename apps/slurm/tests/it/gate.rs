//! Tests the gate in a real slurmctld, and the daemon's startup checks.

use std::process::Output;
use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites::until_told;

on_each_release! { a_gate_in_slurmctld two_machines_in_one_cluster }

fn a_gate_in_slurmctld(release: Release) {
    let options = Options::new("the gate in a real slurmctld").nodes("n[00-63]", "CPUs=2");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    // This test takes a minute and has the same result on all releases, so it runs on only one.
    let before = (release == Release::Testing).then(|| jobs_from_before_the_gate(&cluster));
    the_gate_parses_each_comment_in_the_table(&cluster);
    unsupported_requirements_are_rejected(&cluster);
    startup_checks_report_faults(&cluster);
    check_identifies_the_loaded_gate(&cluster);
    if let Some(before) = before {
        jobs_from_before_the_gate_get_notes(&mut cluster, &before);
    }
    ranks_follow_the_box(&mut cluster);
    a_job_with_a_minimum_time_limit_is_placed(&cluster);
    notes_use_the_configured_field(&mut cluster);
}

/// A site's own job_submit.lua.
pub(crate) const ACCEPT: &str = "function slurm_job_submit() return slurm.SUCCESS end\n\
                      function slurm_job_modify() return slurm.SUCCESS end\n";

/// Jobs submitted before the gate was installed in the cluster.
struct Before {
    since: Instant,
    runs: String,
    waits: String,
    whole: String,
}

/// Submits a job as an ordinary user with `--test-only`. Returns whether the gate accepts the job,
/// along with Slurm's message. Newer Slurm releases reject even a job that the gate accepts,
/// because there is no license for the job.
fn tested(cluster: &Cluster, options: &str) -> (bool, String) {
    let line = format!("sbatch --test-only -o /dev/null {options} --wrap true");
    let said = cluster.shell_as(User::Alice, &line).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let is_rejected = said.contains("pavior: ") || said.contains("not contact");
    let is_checked = said.contains(" to start at ") || said.contains("allocation failure");
    assert!(is_rejected || is_checked, "sbatch itself rejects {options}: {said}");
    (!is_rejected, said)
}

fn the_gate_parses_each_comment_in_the_table(cluster: &Cluster) {
    let table = include_str!("../../src/gate/shapes.txt");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (comment, expected) = line.split_once('\t').unwrap();
        let comment = format!("--comment='{}'", comment.replace('\'', "'\\''"));
        let (passes, said) = tested(cluster, &comment);
        let sides = expected.split_once('x').map(|(a, b)| [a, b].map(|side| side.parse().unwrap()));
        let nodes: Option<u32> = sides.map(|[a, b]: [u32; 2]| a * b);
        if expected == "bad" || nodes.is_some_and(|nodes| nodes > 64) {
            assert!(!passes, "{line}: {said}");
            continue;
        }
        assert!(passes, "{line}: {said}");
        let job = cluster.run(&format!("sbatch --parsable -H -o /dev/null {comment} --wrap true"));
        let shown = cluster.run(&format!("squeue -h -j {job} -o '%D %W'; scancel {job}"));
        assert_eq!(shown, format!("{} pavior:1", nodes.unwrap_or(1)), "{line}");
    }
}

fn unsupported_requirements_are_rejected(cluster: &Cluster) {
    for (options, word) in [
        ("-N2 -C '[a|b]'", "a constraint may contain only"),
        ("-N2 --batch=a", "--batch"),
        ("-N2 --ntasks-per-socket=1", "--ntasks-per-socket"),
        ("-N2 --mem-per-cpu=10", "--mem-per-cpu"),
        ("-N2 --contiguous", "--contiguous"),
        ("-N2 --switches=1", "--switches"),
        ("-N2 -w n01,n02", "nodes are chosen"),
        ("-N3-11", "no box has 11 nodes; the next larger box has 12"),
        ("-N2 --comment='100%d shape=4%s'", "'4%s' is not a valid shape"),
    ] {
        let (passes, said) = tested(cluster, options);
        assert!(!passes && said.contains(word), "{options}: {said}");
    }
    // docs/slurm-users.md describes the rules for node counts without a shape.
    for (count, nodes) in [(5, "5"), (11, "12")] {
        let job = cluster.run(&format!("sbatch --parsable -H -o /dev/null -N{count} --wrap true"));
        assert_eq!(cluster.run(&format!("squeue -h -j {job} -o %D; scancel {job}")), nodes);
    }
    for options in ["-N2 -x n00", "-N2 --mem=10", "-N2-4", "-N2 -c1", "-N2 -B 2:1"] {
        let (passes, said) = tested(cluster, options);
        assert!(passes, "{options}: {said}");
    }
}

/// Writes a configuration and runs the daemon program with it.
fn run(cluster: &Cluster, config: &str, arguments: &str, user: User) -> Output {
    cluster.write("other.toml", config);
    let (program, folder) = (cluster.program(), cluster.path().display());
    cluster.shell_as(user, &format!("{program} {folder}/other.toml {arguments}"))
}

fn startup_checks_report_faults(cluster: &Cluster) {
    let config = cluster.read("pavior.toml");
    let log = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let run_with = |from: &str, to: &str| {
        let changed = config.replace(from, to);
        assert_ne!(changed, config, "{from} occurs");
        run(cluster, &changed, "--dry-run", User::Root)
    };
    for (from, to, word) in [
        ("\"mesh\"", "\"mash\"", "no partition mash"),
        ("n{:02}", "m{:02}", "64 nodes in the configuration but not in"),
    ] {
        let output = run_with(from, to);
        assert_eq!(output.status.code(), Some(3), "{}", log(&output));
        assert!(log(&output).contains(word), "{}", log(&output));
    }
    let output = run_with("mesh:8x8", "mesh:8x7");
    assert_eq!(output.status.code(), Some(0), "{}", log(&output));
    // Without --dry-run, the daemon refuses to run as an ordinary user.
    let output = run(cluster, &config, "", User::Alice);
    assert_eq!(output.status.code(), Some(3), "{}", log(&output));
    assert!(log(&output).contains("as root"), "{}", log(&output));
    // An unreachable slurmctld is not a configuration error, but a one-cycle run still fails.
    let text = cluster.read("slurm.conf");
    let port = format!("SlurmctldPort={}\nMessageTimeout=2", cluster.spare_port());
    let away =
        |line: &str| if line.starts_with("SlurmctldPort") { port.clone() } else { line.into() };
    cluster.write("away.conf", &text.lines().map(away).collect::<Vec<_>>().join("\n"));
    let (folder, line) = (cluster.path().display(), cluster.pavior_line("--dry-run"));
    let output = cluster.shell(&format!("SLURM_CONF={folder}/away.conf timeout 100 {line}"));
    assert_eq!(output.status.code(), Some(1), "{}", log(&output));
    assert!(log(&output).contains("cycle skipped"), "{}", log(&output));
}

fn check_identifies_the_loaded_gate(cluster: &Cluster) {
    let folder = cluster.path().display();
    let own = cluster.read("job_submit.lua");
    let load = format!("local pavior = dofile(\"{folder}/pavior.lua\")\n");
    let submit = "slurm_job_submit = pavior.submit(slurm_job_submit)\n";
    let modify = "slurm_job_modify = pavior.modify(slurm_job_modify)\n";
    // A site's own script rejects either jobs without a time limit or all jobs.
    let refuses = |which: &str| {
        format!(
            "function slurm_job_submit(job) if {which} then slurm.log_user('say how long') \
             return slurm.ERROR end return slurm.SUCCESS end\nfunction slurm_job_modify() end\n"
        )
    };
    for (text, word) in [
        (ACCEPT.to_string(), "does not call the gate"),
        (refuses("job.time_limit > 4294967290"), "does not call the gate"),
        (refuses("true"), "cannot determine whether slurmctld has loaded the gate"),
        (format!("{ACCEPT}{load}{submit}"), "not pavior.modify"),
        (format!("{ACCEPT}{load}{submit}{modify}"), "faults: []"),
        (own, "faults: []"),
    ] {
        // Slurm compares modification times with a resolution of one second.
        std::thread::sleep(Duration::from_millis(1100));
        cluster.write("job_submit.lua", &text);
        let faults = cluster.pavior("check");
        assert!(faults.contains(word), "{text}: {faults}");
        if !text.starts_with("-- Written") {
            cluster.pavior(&format!("install {folder}"));
            assert_eq!(cluster.read("job_submit.lua"), text, "it is the site's own");
        }
    }
    // The loaded gate is for another machine.
    std::thread::sleep(Duration::from_millis(1100));
    let small = cluster.read("pavior.toml").replace("mesh:8x8", "mesh:8x7");
    let output = run(cluster, &small, "check", User::Root);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("another version or configuration"), "{said}");
}

/// Submits jobs before a gate exists: one runs on nodes that do not form a box, and two wait.
fn jobs_from_before_the_gate(cluster: &Cluster) -> Before {
    let own = cluster.read("job_submit.lua");
    cluster.write("job_submit.lua", ACCEPT);
    std::thread::sleep(Duration::from_millis(1100));
    let runs = cluster.submit("wrong-runs", "-w n00,n02,n05 -N3", 90.0);
    cluster.wait_until_running(&runs, 20);
    let before = Before {
        since: Instant::now(),
        runs,
        waits: cluster.submit("7x9-waits", "-N63", 1.0),
        whole: cluster.submit("8x8-whole", "-N64", 0.5),
    };
    cluster.write("job_submit.lua", &own);
    std::thread::sleep(Duration::from_millis(1100));
    before
}

fn jobs_from_before_the_gate_get_notes(cluster: &mut Cluster, before: &Before) {
    // A job that started less than a minute ago would be requeued.
    std::thread::sleep(Duration::from_secs(62).saturating_sub(before.since.elapsed()));
    cluster.start_daemon();
    until_told(cluster, &before.waits, "pavior: not placed: no box on the machine has 63 nodes");
    until_told(cluster, &before.runs, "pavior: running on nodes that do not form");
    let log = cluster.log();
    assert!(log.contains("\"event\":\"jobs without a box\""), "{log}");
    cluster.run(&format!("scancel {} {}", before.waits, before.runs));
    cluster.wait_until_gone(&before.whole, 60);
    cluster.wait_until_empty(30);
}

/// Checks that rank i of the example job runs on the i-th node of its box, on a machine whose node
/// names are in reverse order.
fn ranks_follow_the_box(cluster: &mut Cluster) {
    let own = cluster.read("pavior.toml");
    let name = |x: usize, y: usize| format!("n{:02}", 63 - x - 8 * y);
    let pairs = (0..64).map(|id| format!("{} = [{}, {}]", name(id % 8, id / 8), id % 8, id / 8));
    let table = format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "));
    cluster.write("pavior.toml", &own.replace("\"n{:02}\"", &table));
    cluster.start_daemon();
    cluster.write("box.sh", include_str!("../../../../examples/slurm/box.sh"));
    let folder = cluster.path().display().to_string();
    for (per_node, options) in [(1, ""), (2, "--ntasks-per-node=2")] {
        cluster.run(&format!(
            "sbatch --wait -o {folder}/ranks.txt -J 2x3-ranks {options} --comment=shape=2x3 \
             {folder}/box.sh sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'"
        ));
        let text = cluster.read("ranks.txt");
        let mut lines: Vec<(usize, &str)> = text
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(rank, node)| (rank.parse().unwrap(), node))
            .collect();
        lines.sort_unstable();
        // The box is in the corner of the machine, in either orientation.
        let sides = if lines[2 * per_node].1 == name(2, 0) { (3, 2) } else { (2, 3) };
        let rank_of = |rank: usize| name(rank / per_node % sides.0, rank / per_node / sides.0);
        let expected: Vec<String> = (0..6 * per_node).map(rank_of).collect();
        let found: Vec<&str> = lines.iter().map(|(_, node)| *node).collect();
        assert_eq!(found, expected);
    }
    cluster.write("pavior.toml", &own);
    cluster.start_daemon();
}

/// Checks that a job with a minimum time limit is placed like any other.
fn a_job_with_a_minimum_time_limit_is_placed(cluster: &Cluster) {
    cluster.submit("4x2-least", "--comment=shape=4x2 -t 10 --time-min=2", 0.5);
    cluster.wait_until_empty(30);
}

/// Checks that notes use the configured field if a site uses AdminComment for other purposes.
fn notes_use_the_configured_field(cluster: &mut Cluster) {
    let own = cluster.read("pavior.toml");
    for (tell, field) in [("extra", "Extra"), ("none", "AdminComment")] {
        cluster.write("pavior.toml", &format!("{own}tell = \"{tell}\"\n"));
        let found = cluster.pavior("check");
        let old = tell == "extra" && cluster.release() == Release::Slurm22_05;
        assert_eq!(found.contains("requires Slurm 23.02"), old, "{found}");
        if old {
            continue;
        }
        cluster.start_daemon();
        let job = cluster.submit("8x8-told", "--comment=shape=8x8", 3.0);
        cluster.run(&format!("scontrol update JobId={job} AdminComment=kept"));
        cluster.wait_until_running(&job, 20);
        let shown = cluster.run(&format!("scontrol show job {job}"));
        assert!(shown.contains("AdminComment=kept"), "{shown}");
        assert_eq!(
            shown.contains(&format!("{field}=pavior:box=8x8@0,0;ranks=n00,")),
            tell == "extra"
        );
        cluster.wait_until_empty(30);
    }
    cluster.write("pavior.toml", &own);
}

/// Turns each half of a cluster into a machine with its own partition, license and daemon.
fn two_machines_in_one_cluster(release: Release) {
    let options = Options::new("two machines in one cluster").machine("mesh:4x2").conf(
        "Licenses=pavior:1,upper:1\nPartitionName=upper Nodes=n[04-07] OverSubscribe=EXCLUSIVE\n\
         PartitionName=mesh Nodes=n[00-03] Default=YES OverSubscribe=EXCLUSIVE",
    );
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    let (folder, program) = (cluster.path().display().to_string(), cluster.program());
    let own = cluster.read("pavior.toml").replace("mesh:4x2", "mesh:2x2");
    let names = "{ n04 = [0, 0], n05 = [1, 0], n06 = [0, 1], n07 = [1, 1] }";
    let upper = own.replace("\"n{:02}\"", names).replace("\"mesh\"", "\"upper\"");
    cluster.write("pavior.toml", &own);
    cluster.write("upper.toml", &(upper + "licence = \"upper\"\n"));
    // Slurm compares modification times with a resolution of one second.
    std::thread::sleep(Duration::from_millis(1100));
    for config in ["pavior", "upper"] {
        cluster.run(&format!("{program} {folder}/{config}.toml install {folder}"));
    }
    cluster.start_daemon();
    cluster.start_daemon_of("upper");
    cluster.wait_for("scontrol show reservation -o", 30, |text| {
        text.contains("ReservationName=upper ") && text.contains("ReservationName=pavior ")
    });
    for config in ["pavior", "upper"] {
        let found = cluster.run(&format!("{program} {folder}/{config}.toml check"));
        assert!(found.contains("faults: []"), "{config}: {found}");
    }
    let lower = cluster.submit("2x2-lower", "-p mesh --comment=shape=2x2", 4.0);
    let over = cluster.submit("2x2-upper", "-p upper --comment=shape=2x2", 4.0);
    for (job, nodes) in [(lower, "n[00-03]"), (over, "n[04-07]")] {
        let line = format!("squeue -h -j {job} -o '%t %N'");
        cluster.wait_for(&line, 30, |text| text == format!("R {nodes}"));
    }
    let (passes, said) = tested(&cluster, "-p mesh,upper -N2");
    assert!(!passes && said.contains("cannot name other partitions"), "{said}");
    cluster.wait_until_empty(30);
    cluster.kill_daemon_of("upper");
}
