//! Tests a site with its own licenses and plugins, messages to its administrators, a daemon that
//! starts before its license exists, ungated partitions, a dry run, and long node names.

use std::time::Duration;

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};

on_each_release! { lists_of_the_site_are_kept long_node_names_are_compressed }

fn lists_of_the_site_are_kept(release: Release) {
    let options =
        Options::new("a site with its own licenses and plugins").machine("mesh:2x2").conf(
            "Licenses=matlab:4\nJobSubmitPlugins=require_timelimit\n\
         PartitionName=debug Nodes=n[00-01] OverSubscribe=EXCLUSIVE",
        );
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    let folder = cluster.path().display().to_string();
    cluster.add_metrics();
    cluster.start_daemon();
    let licenses = "Licenses=matlab:4,pavior:1";
    let missing = format!("change the Licenses line to {licenses}, and restart slurmctld");
    cluster.wait_for(&format!("cat {folder}/pavior.log"), 20, |log| log.contains(&missing));
    let found = cluster.pavior("check");
    let plugins = "JobSubmitPlugins=require_timelimit,lua";
    let advice = "jobs in partition debug can use the machine's nodes but bypass the gate";
    for words in [licenses, plugins, advice] {
        assert!(found.contains(words), "{words}: {found}");
    }
    // The lines that the install command prints and writes preserve the site's own entries.
    let told = cluster.pavior(&format!("install {folder}"));
    let lines = cluster.read("slurm.conf.lines");
    for line in [licenses, plugins] {
        assert!(told.contains(line) && lines.contains(&format!("{line}\n")), "{told}{lines}");
    }
    let conf = format!("{folder}/slurm.conf");
    cluster.run(&format!("sed -i '/^Licenses/d; /^JobSubmitPlugins/d' {conf}"));
    cluster.run(&format!("grep -v '^#' {folder}/slurm.conf.lines >>{conf}"));
    restart(&cluster);
    // The daemon recovers without a restart, and a plugin listed before lua does not hide the gate.
    cluster.wait_for("scontrol show reservation -o", 30, |text| text.contains("=pavior "));
    let found = cluster.pavior("check");
    assert!(found.contains("faults: []"), "{found}");
    let total = "scontrol show licenses matlab | grep -c Total=4";
    assert_eq!(cluster.run(total), "1");
    why_names_ungated_partitions_and_arrays(&cluster);
    // A second `Licenses` line overrides the site's own.
    cluster.run(&format!("echo Licenses=pavior:1 >>{conf}"));
    restart(&cluster);
    let found = cluster.pavior("check");
    assert!(found.contains("2 lines set Licenses") && found.contains(licenses), "{found}");
}

/// Restarts slurmctld, which reads plugins only at startup.
fn restart(cluster: &Cluster) {
    cluster.stop_slurmctld();
    std::thread::sleep(Duration::from_secs(2));
    cluster.start_slurmctld();
}

fn why_names_ungated_partitions_and_arrays(cluster: &Cluster) {
    let debug = cluster.submit_as(User::Root, "-t 5 -p debug -N2", 300.0);
    cluster.wait_until_running(&debug, 30);
    let array = cluster.submit_as(User::Root, "-t 5 --comment=shape=2x2 --array=1-3", 1.0);
    cluster.wait_for("squeue -h -r -t PD -o %i | wc -l", 20, |count| count == "3");
    for name in [array.clone(), format!("'{array}_[1-3]'")] {
        let told = cluster.pavior(&format!("why {name}"));
        let lines = [
            format!("Array {array}: 3 waiting, 0 running."),
            "Jobs in partition debug can start on these nodes without going through".to_string(),
            format!("job {debug} in partition debug"),
        ];
        assert!(lines.iter().all(|line| told.contains(line)), "{told}");
    }
    // A dry run, next to a daemon that serves metrics, exits by itself and reports that nothing was
    // changed.
    let log = cluster.run(&format!("timeout 100 {} 2>&1", cluster.pavior_line("--dry-run")));
    assert!(log.trim().lines().last().unwrap().contains("dry run: nothing was changed"), "{log}");
    cluster.cancel(&format!("{debug} {array}"), 30);
}

/// Tests 150 nodes with long names. Two lists of these nodes on one line exceed 4,095 bytes.
fn long_node_names_are_compressed(release: Release) {
    let options =
        Options::new("150 nodes with long names").machine("mesh:15x10").prefix("compute-no");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    let job = cluster.submit("15x10-long", "--comment=shape=15x10", 20.0);
    cluster.wait_until_running(&job, 30);
    let shown = cluster.run(&format!("scontrol show job -o {job}"));
    assert!(shown.contains("NodeList=compute-no[000-149]"), "{shown}");
    let ranks = (0..150).map(|node| format!("compute-no{node:03}")).collect::<Vec<_>>().join(",");
    assert!(shown.contains(&format!("=pavior:box=15x10@0,0;ranks={ranks} ")), "{shown}");
    let log = cluster.read("pavior.log");
    assert!(!log.contains("change rejected"), "{log}");
    cluster.cancel(&job, 30);
}
