//! Tests in which the daemon runs as a service, is observed, runs twice at once, is upgraded under
//! load, and is uninstalled.

use std::time::Duration;

use crate::cluster::{Cluster, Options};
use crate::release::{Release, on_each_release};
use crate::{observe, records};

on_each_release! { from_observation_to_removal }

fn from_observation_to_removal(release: Release) {
    let options = Options::new("a daemon that is observed, doubled, upgraded and removed")
        .conf("SchedulerParameters=bf_interval=1,batch_sched_delay=1");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    configure(&cluster);
    let mut load = Load::default();
    load.submit(&cluster, 6);
    observe::compare_with_squeue(&cluster);
    run_two_active_daemons(&mut cluster, &mut load);
    run_daemons_with_a_lock(&mut cluster, &mut load);
    upgraded(&mut cluster, &mut load);
    removed(&mut cluster, &mut load);
    let all = records::read(&cluster);
    let placed: Vec<_> = all.into_iter().filter(|job| !job.name.contains("free")).collect();
    records::check_allocations(&placed, 8);
    let all = records::read(&cluster);
    for name in load.names {
        let of_name: Vec<_> = all.iter().filter(|job| job.name == name).collect();
        let done = of_name.iter().filter(|job| records::completed(&cluster, job)).count();
        let said = || of_name.iter().map(|job| cluster.job_log(&job.job)).collect::<String>();
        assert_eq!(done, 1, "{name} completed {done} times: {}", said());
    }
}

/// Writes four configurations. `one` and `two` have no lock; `first` and `second` share a lock.
fn configure(cluster: &Cluster) {
    let text = cluster.read("pavior.toml");
    let lock = format!("lock = \"{}/pavior.lock\"\n", cluster.path().display());
    for (name, more) in [("one", ""), ("two", ""), ("first", &*lock), ("second", &*lock)] {
        cluster.write(&format!("{name}.toml"), &format!("{text}{more}"));
    }
}

/// Jobs of a few shapes. Every job must complete exactly once.
#[derive(Default)]
struct Load {
    names: Vec<String>,
}

impl Load {
    fn submit(&mut self, cluster: &Cluster, count: usize) {
        for _ in 0..count {
            let number = self.names.len();
            let shape = ["2x2", "4x4", "3x2", "8x4", "1x5"][number % 5];
            self.submit_as(cluster, &format!("{shape}-job{number}"));
        }
    }

    fn submit_as(&mut self, cluster: &Cluster, name: &str) {
        let shape = name.split('-').next().unwrap();
        cluster.submit(name, &format!("--comment=shape={shape} -t 5"), 1.0);
        self.names.push(name.to_string());
    }
}

/// Runs two active daemons. No site should do this, but it is harmless, because Slurm rejects a
/// change if the job has changed since the daemon read it.
fn run_two_active_daemons(cluster: &mut Cluster, load: &mut Load) {
    cluster.start_daemon_of("one");
    cluster.start_daemon_of("two");
    load.submit(cluster, 20);
    cluster.wait_until_empty(120);
    cluster.kill_daemon_of("one");
    cluster.kill_daemon_of("two");
}

/// Checks that only one of two daemons sharing a lock is active, and that the other takes over.
fn run_daemons_with_a_lock(cluster: &mut Cluster, load: &mut Load) {
    cluster.start_daemon_of("first");
    let opens = |cluster: &Cluster, name: &str| {
        let log = std::fs::read_to_string(cluster.path().join(format!("{name}.log")));
        log.unwrap_or_default().matches("\"event\":\"open\"").count()
    };
    load.submit(cluster, 1);
    cluster.wait_until_empty(60);
    cluster.start_daemon_of("second");
    load.submit(cluster, 5);
    cluster.wait_until_empty(60);
    assert_eq!((opens(cluster, "second"), opens(cluster, "first") >= 6), (0, true));
    cluster.kill_daemon_of("first");
    load.submit(cluster, 5);
    cluster.wait_until_empty(60);
    assert!(opens(cluster, "second") >= 5, "the second daemon takes over");
    cluster.kill_daemon_of("second");
}

/// Replaces the daemon's executable under load, reloads the configuration, and restarts slurmctld.
fn upgraded(cluster: &mut Cluster, load: &mut Load) {
    let folder = cluster.path().display().to_string();
    cluster.start_daemon();
    load.submit(cluster, 10);
    // Replace the old file with a new one, as packages do.
    cluster.run(&format!(
        "cp {folder}/pavior-slurm {folder}/new && mv {folder}/new {folder}/pavior-slurm"
    ));
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
    load.submit(cluster, 5);
    cluster.start_daemon();
    let log = format!("cat {folder}/pavior.log");
    // A signal that arrives before its handler is installed would kill the daemon.
    cluster.wait_for(&log, 20, |text| text.matches("\"event\":\"started\"").count() == 2);
    // An invalid configuration changes nothing; a valid one is adopted.
    cluster.run(&format!(
        "cp {folder}/pavior.toml {folder}/good; echo 'wrong = 1' >>{folder}/pavior.toml"
    ));
    cluster.signal("pavior", "HUP");
    cluster.wait_for(&log, 20, |text| text.contains("configuration rejected"));
    cluster
        .run(&format!("sed 's/poll_ms = 200/poll_ms = 150/' {folder}/good >{folder}/pavior.toml"));
    cluster.signal("pavior", "HUP");
    cluster.wait_for(&log, 20, |text| text.contains("configuration reloaded"));
    load.submit(cluster, 5);
    // slurmctld saves its state on exit, and a restart of its unit waits until the state is saved.
    cluster.stop_slurmctld();
    std::thread::sleep(Duration::from_secs(3));
    cluster.run(&format!("{folder}/cluster.sh slurmctld {folder}"));
    cluster.wait_for("squeue -h -o %i", 30, |_| true);
    load.submit(cluster, 5);
    cluster.wait_until_empty(120);
}

/// Uninstalls everything under load. Slurm then schedules the waiting jobs itself, and all of them
/// run.
fn removed(cluster: &mut Cluster, load: &mut Load) {
    // A few jobs fill the machine. The others wait, some of them with open gates.
    for number in 0..12 {
        let shape = ["8x4", "8x4", "4x4", "2x2"][number % 4];
        load.submit_as(cluster, &format!("{shape}-free{number}"));
    }
    std::thread::sleep(Duration::from_millis(700));
    assert!(cluster.end_daemon());
    let said = cluster.pavior("uninstall");
    assert!(said.contains("the license reservation was removed"), "{said}");
    assert!(said.contains("job_submit.lua no longer calls the gate"), "{said}");
    assert!(!said.contains("new jobs;") && !cluster.path().join("pavior.lua").exists());
    // Jobs no longer get a gate.
    load.submit_as(cluster, "2x2-free-late");
    assert_eq!(cluster.run("squeue -h -r -t PD -o %W | sort -u | grep -c pavior || true"), "0");
    cluster.wait_until_empty(120);
    let again = cluster.pavior("uninstall");
    assert!(again.contains("no longer gated: 0") && again.contains("does not exist"), "{again}");
}
