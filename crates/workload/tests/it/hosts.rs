//! Tests of node names in machines and in logs.

use pavior_mesh::{Grid, NodeId};
use pavior_workload::hosts::{Hosts, expand};
use pavior_workload::traces::{Format, ReadOptions};

fn grid(text: &str) -> Grid {
    text.parse().unwrap()
}

#[test]
fn names_are_those_of_patterns_and_lists() {
    for (machine, text, name, found) in [
        ("mesh:4x2", "n{:02}", "n05", Some((5, NodeId(5)))),
        ("mesh:4x2", "n{x}-{y}", "n4-2", Some((7, NodeId(7)))),
        ("mesh:4x2", "a[1-4]b[7,9]", "a2b9", Some((3, NodeId(3)))),
        ("mesh:4x2", "nid[00-15]", "nid03", Some((3, NodeId(1)))),
        ("mesh:4x2", "n{:02}", "n05.site.org", Some((5, NodeId(5)))),
        ("mesh:4x2", "n{:02}", "n08", None),
        ("mesh:4x2", "n{:02}", "", None),
    ] {
        let hosts = Hosts::new(&grid(machine), text).unwrap();
        assert_eq!(hosts.find(name), found, "{text} {name}");
    }
    for text in ["", "n[0-6]", "n[0-7],n1,n2,n3,n4,n5,n6,n7,n8", "n{}{x}", "n{x}", "n[7-0]", "n 1"]
    {
        assert!(Hosts::new(&grid("mesh:4x2"), text).is_err(), "{text}");
    }
}

#[test]
fn lists_are_expanded_as_slurm_does() {
    for (list, names) in [
        ("n[00-02,07],m1", "n00 n01 n02 n07 m1"),
        ("n[8-11]", "n8 n9 n10 n11"),
        ("x[0-1]y[0-1]", "x0y0 x0y1 x1y0 x1y1"),
        ("x[0-1]-ib,m[3]s", "x0-ib x1-ib m3s"),
        ("", ""),
    ] {
        assert_eq!(expand(list).unwrap().join(" "), names);
    }
    let refused = "n[3-1] n[a] n[1 n1] n[[1]] n[] n[1,] n[+1] n1, ,n1 n1,,n2 n[00000000001] \
                   n[0-4294967295] x[0-9999]y[0-9999] n[0-99999],m[0-99999] (null)";
    // Extremely long numbers must be rejected without a panic.
    let wide = format!("n[{}1]", "0".repeat(1 << 17));
    for list in refused.split(' ').chain(["n 1", "n1\nm1", &wide]) {
        assert_eq!(expand(list), None, "{}", &list[..list.len().min(30)]);
    }
}

proptest::proptest! {
    #[test]
    fn any_list_is_expanded_or_refused(list in "[n\\[\\],0-9x-]{0,24}") {
        proptest::prop_assert!(expand(&list).is_none_or(|names| names.len() <= 1 << 17));
    }
}

#[test]
fn logs_name_the_nodes_of_their_jobs() {
    let sacct = "JobID|Submit|Start|Elapsed|NNodes|State|NodeList\n\
                 7|2026-01-02T03:04:05|2026-01-02T03:04:06|00:01:00|3|COMPLETED|n[1-2],m4\n";
    let json = r#"{"jobs": [{"job_id": 7, "allocation_nodes": 3, "state": "COMPLETED",
        "nodes": "n[1-2],m4", "time": {"submission": 1000, "start": 1010, "elapsed": 60}}]}"#;
    let pbs = "03/18/2017 00:01:15;E;7.bw;user=ann ctime=100 start=160 end=220 \
               exec_host=n1/0-31+n2/0+n2/1+m4/0*32 Exit_status=0\n";
    let kube = r#"{"items": [
        {"kind": "Job", "metadata": {"name": "a", "namespace": "b", "uid": "u",
            "creationTimestamp": "2026-01-05T08:00:00Z"},
         "status": {"startTime": "2026-01-05T08:00:00Z", "completionTime": "2026-01-05T09:00:00Z"}},
        {"kind": "Pod", "metadata": {"ownerReferences": [{"kind": "Job", "uid": "u"}]},
         "spec": {"nodeName": "n1"}, "status": {}}]}"#;
    for (format, log, names) in [
        (Format::Sacct, sacct, vec!["n1", "n2", "m4"]),
        (Format::SacctJson, json, vec!["n1", "n2", "m4"]),
        (Format::Pbs, pbs, vec!["n1", "n2", "m4"]),
        (Format::Kubectl, kube, vec!["n1"]),
    ] {
        for hosts in [false, true] {
            let options = ReadOptions { hosts, ..ReadOptions::default() };
            let trace = format.read(log.as_bytes(), &options).unwrap();
            let found = trace.hosts(&trace.records[0]).map(|list| expand(list).unwrap());
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            assert_eq!(found, hosts.then_some(names));
        }
    }
}
