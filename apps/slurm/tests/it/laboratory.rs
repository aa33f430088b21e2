//! Checks that test clusters have the right release, nodes and users, and leave nothing behind.

use std::path::Path;

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites::submit;

on_each_release! { a_small_cluster_of_unlike_nodes }

fn a_small_cluster_of_unlike_nodes(release: Release) {
    let options = Options::new("a small cluster of unlike nodes with accounting")
        .machine("mesh:2x2")
        .conf("GresTypes=board")
        .nodes("n[00-01]", "Feature=fast Gres=board:2")
        .file("gres.conf", "NodeName=n[00-01] Name=board Count=2\n")
        .toml("patience_s = 7")
        .accounting();
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    let version = cluster.run("slurmctld -V");
    let right = match cluster.release() {
        Release::Slurm22_05 => version.starts_with("slurm-wlm 22.05."),
        Release::Slurm24_11 => version.starts_with("slurm-wlm 24.11."),
        // A newer release is also accepted.
        Release::Testing => version.as_str() > "slurm-wlm 26.05",
    };
    assert!(right, "{version}");
    let nodes = cluster.run("sinfo -h -N -p mesh -o '%N %f %G' | sort -u | xargs");
    let none = "(null) (null)";
    assert_eq!(nodes, format!("n00 fast board:2 n01 fast board:2 n02 {none} n03 {none}"));
    let toml = cluster.read("pavior.toml");
    assert!(toml.contains("patience_s = 7") && !toml.contains("patience_s = 10"), "{toml}");
    cluster.start_daemon();
    for user in [User::Root, User::Alice, User::Bob] {
        cluster.submit_as(user, "--comment=shape=2x1", 0.2);
    }
    cluster.wait_until_empty(60);
    let line =
        "sacct -X -n -a -P -s CD -S now-1hour -E now+1hour -o user,account,nnodes | sort | xargs";
    let all = "alice|toy|2 bob|toy|2 root|root|2";
    cluster.wait_for(line, 20, |text| text == all);
    an_answer_has_one_time_and_one_place(&cluster);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
    let folder = cluster.path().to_path_buf();
    assert!(!processes(&folder).is_empty());
    drop(cluster);
    assert_eq!(processes(&folder), "");
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!folder.exists() && !mounts.contains(folder.to_str().unwrap()), "{mounts}");
}

/// Checks that the explanation for a waiting job has only one start time and one location.
fn an_answer_has_one_time_and_one_place(cluster: &Cluster) {
    let long = submit(cluster, User::Root, "2x2", "-t 5", 300);
    cluster.wait_until_running(&long, 30);
    let waits = submit(cluster, User::Root, "2x1", "-t 5", 1);
    let told = cluster.pavior(&format!("why {waits}"));
    assert!(told.contains("it is planned to start at 20"), "{told}");
    assert!(told.contains(&format!("job {long} (4 nodes)")), "{told}");
    let years = told.split([' ', ',', '.']).filter(|word| word.starts_with("20")).count();
    assert_eq!((years, told.matches(" at 0,0").count()), (1, 1), "{told}");
    cluster.cancel(&format!("{long} {waits}"), 30);
}

/// Returns the command lines of all processes that mention a directory.
fn processes(folder: &Path) -> String {
    let name = folder.to_str().unwrap();
    let lines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(name)).collect::<Vec<_>>().join("\n")
}
