//! Tests of jobs that run on the nodes recorded in the log.

use pavior_experiments::advice::advise;
use pavior_experiments::{
    Environment, Folder, Keys, NoStore, PlacedCounts, Scenario, Setting, Shard, Specification,
};
use pavior_files::Limits;
use pavior_simulation::{Histories, Stop};

/// A log for a row of nodes, 0 to 3. Job 2 starts on a node that job 1 is still using, and job 3
/// starts when job 1 ends. Job 4 ran on an unknown node, no nodes are recorded for job 5, and job 6
/// ends as soon as it starts.
const LOG: &str = "JobID|Submit|Start|End|NNodes|State|NodeList
1|2026-01-02T00:00:00|2026-01-02T00:00:00|2026-01-02T00:00:40|2|COMPLETED|n[0,2]
2|2026-01-02T00:00:00|2026-01-02T00:00:10|2026-01-02T00:00:20|2|COMPLETED|n[2-3]
3|2026-01-02T00:00:05|2026-01-02T00:00:40|2026-01-02T00:00:50|4|COMPLETED|n[0-3]
4|2026-01-02T00:00:06|2026-01-02T00:00:40|2026-01-02T00:00:50|1|COMPLETED|m7
5|2026-01-02T00:00:07|2026-01-02T00:00:40|2026-01-02T00:00:50|1|COMPLETED|None assigned
6|2026-01-02T00:00:50|2026-01-02T00:00:50|2026-01-02T00:00:50|1|COMPLETED|n1
";

fn files(log: &str) -> (tempfile::TempDir, Folder) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.sacct"), log).unwrap();
    let files = Folder::new(folder.path(), Limits::LINES);
    (folder, files)
}

fn settings(machine: &str, names: &str, more: &[(&str, &str)]) -> Vec<Setting> {
    let all = [("trace", "log.sacct"), ("machine", machine), ("placed", names)];
    all.iter().chain(more).map(|(key, value)| Setting::new(*key, *value)).collect()
}

fn specification(machine: &str, names: &str, more: &[(&str, &str)]) -> Specification {
    let more = [&[("strategy", "ff"), ("scheduler", "fcfs")][..], more].concat();
    Specification::from_settings(&settings(machine, names, &more), "test", Keys::Plain).unwrap()
}

fn counts(log: &str, machine: &str, names: &str) -> PlacedCounts {
    let (_folder, files) = files(log);
    let specification = specification(machine, names, &[]);
    let settings = specification.points[1].settings();
    Scenario::new(settings, false, &files, &Histories::default()).unwrap().placed().unwrap()
}

#[test]
fn jobs_have_the_times_and_nodes_of_the_log() {
    let (_folder, files) = files(LOG);
    let metrics = [("metrics", "waiting"), ("timing", "false")];
    let specification = specification("mesh:4x1", "n{}", &metrics);
    let names: Vec<_> = specification.points.iter().map(|point| point.get("strategy")).collect();
    assert_eq!(names, [Some("ff"), Some("placed")]);
    let settings = specification.points[1].settings();
    let scenario = Scenario::new(settings, false, &files, &Histories::default()).unwrap();
    let (sample, record) = scenario.record(0, &[], None, &Stop::default()).unwrap();
    assert_eq!((sample.arrived, sample.rejected, sample.waiting), (6, 2, 0));
    let stays: Vec<_> = record
        .jobs
        .iter()
        .flat_map(|job| job.stays().map(|stay| (job.job.number, stay)))
        .map(|(number, stay)| {
            let second = |time: pavior_kernel::Time| time.0 / 1_000_000;
            (number, second(stay.start), stay.end.map(second), stay.placement.to_string())
        })
        .collect();
    let stay = |number, start, end, boxes: &str| (number, start, Some(end), boxes.to_string());
    assert_eq!(
        stays,
        [
            stay(1, 0, 40, "1x1 at 0,0, 1x1 at 2,0"),
            stay(2, 10, 20, "2x1 at 2,0"),
            stay(3, 40, 50, "4x1 at 0,0"),
            stay(6, 50, 50, "1x1 at 1,0"),
        ]
    );
    let environment = Environment { files: &files, ..Environment::PLAIN };
    let samples = specification.run(Vec::new(), Shard::WHOLE, environment, &mut NoStore).unwrap();
    // The jobs wait for 0, 10, 35 and 0 s.
    assert_eq!(samples[1][0].values, [Some(11.25)]);
}

#[test]
fn overlaps_and_shared_routers_are_counted() {
    let of_nodes = PlacedCounts { placed: 4, unknown: 1, elsewhere: 1, overlapping: 1, sharing: 0 };
    assert_eq!(counts(LOG, "mesh:4x1", "n{}"), of_nodes);
    // With two nodes per router, jobs 1 and 2 still overlap on node 2.
    assert_eq!(counts(LOG, "mesh:2x1", "n[0-3]"), of_nodes);
    assert_eq!(counts(LOG, "mesh:2x1", "n[0,3,2,1]"), of_nodes);
}

/// Two single-node jobs that overlap in time, recorded in a PBS log and (below) in a Kubernetes
/// log.
const PBS: &str = "03/18/2017 00:01:15;E;1.h;ctime=100 start=160 end=220 exec_host=n0/0-31
03/18/2017 00:01:16;E;2.h;ctime=100 start=170 end=230 exec_host=n1.site.org/3+n1.site.org/2
";
const KUBE: &str = r#"{"items": [
{"kind": "Job", "metadata": {"name": "a", "uid": "a", "creationTimestamp": "2026-01-05T08:00:00Z"},
 "status": {"startTime": "2026-01-05T08:01:00Z", "completionTime": "2026-01-05T08:02:00Z"}},
{"kind": "Job", "metadata": {"name": "b", "uid": "b", "creationTimestamp": "2026-01-05T08:00:00Z"},
 "status": {"startTime": "2026-01-05T08:01:10Z", "completionTime": "2026-01-05T08:02:10Z"}},
{"kind": "Pod", "metadata": {"ownerReferences": [{"kind": "Job", "uid": "a"}]},
 "spec": {"nodeName": "n0"}},
{"kind": "Pod", "metadata": {"ownerReferences": [{"kind": "Job", "uid": "b"}]},
 "spec": {"nodeName": "n1"}}]}"#;

#[test]
fn every_log_with_names_has_places() {
    let none = PlacedCounts { placed: 2, ..PlacedCounts::default() };
    for log in [PBS, KUBE] {
        for (machine, names, expected) in [
            ("mesh:4x1", "n{}", none),
            ("mesh:2x1", "n[0-3]", PlacedCounts { sharing: 1, ..none }),
            ("mesh:2x1", "n[0,2,1,3]", none),
            ("mesh:2x1", "n0,m0", PlacedCounts { placed: 1, elsewhere: 1, ..none }),
        ] {
            assert_eq!(counts(log, machine, names), expected, "{names}: {log}");
        }
    }
}

#[test]
fn names_and_settings_that_do_not_fit_are_refused() {
    for (names, more, reason) in [
        ("n{", ("seed", "1"), "use {} or {:02}"),
        ("n[0-8]", ("seed", "1"), "9 names cannot be divided evenly among 4 nodes"),
        ("n{}", ("arrival-scale", "2"), "arrival-scale cannot be combined"),
        ("n{}", ("dependencies", "true"), "dependencies cannot be combined"),
    ] {
        let more = [("strategy", "ff"), ("scheduler", "fcfs"), more];
        let settings = settings("mesh:4x1", names, &more);
        let read = Specification::from_settings(&settings, "test", Keys::Plain);
        let error = read.err().unwrap();
        assert!(error.reason.contains(reason), "{names}: {}", error.reason);
    }
    let (_folder, files) = files(LOG);
    let specification = specification("mesh:4x1", "m[0-3]", &[]);
    let settings = specification.points[1].settings();
    let scenario = Scenario::new(settings, false, &files, &Histories::default());
    let error = scenario.err().unwrap().to_string();
    assert!(
        error.starts_with("no job can be placed where the log placed it (jobs without nodes"),
        "{error}"
    );
}

#[test]
fn advice_has_a_row_for_the_places_of_the_log() {
    let (_folder, files) = files(LOG);
    let environment = Environment { files: &files, ..Environment::PLAIN };
    let present = [("strategy", "ff"), ("scheduler", "fcfs")];
    let advice = advise(&settings("mesh:4x1", "n{}", &present), None, environment).unwrap();
    let first = &advice.alternatives[0];
    assert_eq!((first.name.as_str(), first.run.rejected), ("placements from the log", 2));
    assert_eq!(first.run.values[0], Some(11.25));
    assert!(first.run.command.contains(" --placed 'n{}' "), "{}", first.run.command);
    assert_eq!(advice.present.rejected, 0);
}
