//! Tests `--dependencies` and the sessions written by `trace convert`.

use crate::{Folder, good, noted, refused_for};

const LOG: &str = "\
; MaxProcs: 16
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1
2 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 1 60
";

fn folder(log: &str) -> Folder {
    let folder = Folder::new();
    folder.write("log.swf", log);
    folder
}

/// Replays a log, checks that the command succeeds, and returns its messages on standard error.
fn simulate(log: &str, more: &str) -> String {
    let plain = "--machine mesh:4x4 --strategy tff --scheduler fcfs --no-timing";
    noted(&format!("simulate --trace {log} {plain} {more}"), "").1
}

#[test]
fn placements_and_schedules_have_the_simulated_submit_time() {
    let folder = folder(LOG);
    let [log, placed, swf] = ["log.swf", "placed.jsonl", "out.swf"].map(|name| folder.path(name));
    let notes = simulate(&log, &format!("--dependencies --placements {placed} --swf {swf}"));
    assert!(notes.contains("note: 1 of 2 jobs name a preceding job: 1 followed"), "{notes}");
    let last = &folder.json_lines("placed.jsonl")[1];
    assert_eq!(
        (&last["job"], &last["submit"], &last["start"]),
        (&2.into(), &160.into(), &160.into())
    );
    assert!(folder.read("out.swf").lines().last().unwrap().starts_with("2 160 0 100 4 "));
    simulate(&log, "--metrics makespan");
    assert!(!simulate(&log, "").contains("follow"));
}

#[test]
fn ignored_dependencies_are_reported() {
    let more = "3 5 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 4 1\n\
                4 6 -1 9 99 -1 -1 99 -1 -1 1 1 1 1 1 1 3 1\n\
                5 7 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 4 1\n\
                6 8 -1 9 4 -1 -1 4 -1 -1 1 1 1 1 1 1 77 1\n";
    let unfollowed = folder(&(LOG.to_string() + more));
    let notes = simulate(&unfollowed.path("log.swf"), "--dependencies");
    assert!(
        notes.contains(
            "note: 5 of 6 jobs name a preceding job: 3 followed, 1 filtered out, \
             skipped or not in the log, 1 not earlier in the log (1 cycle)"
        ),
        "{notes}"
    );
    assert!(notes.contains("note: 1 dependency is ignored"), "{notes}");
    let none = folder(&LOG.replace(" 1 60\n", " -1 -1\n"));
    let notes = simulate(&none.path("log.swf"), "--dependencies");
    assert!(notes.contains("note: no job in the log refers to a preceding job"), "{notes}");
    assert!(notes.contains("fields 17 and 18 in SWF, `SubmitLine` in sacct"), "{notes}");
}

#[test]
fn sessions_are_written_and_followed() {
    let user = "1 0 50 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n\
                2 200 0 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n\
                3 900 0 100 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let folder = folder(user);
    let [log, to] = ["log.swf", "sessions.swf"].map(|name| folder.path(name));
    for (time, ends) in
        [("60s", [" -1 -1", " 1 50", " -1 -1"]), ("20m", [" -1 -1", " 1 50", " 2 600"])]
    {
        good(&format!("trace convert --sessions {time} {log} {to}"));
        let written = folder.read("sessions.swf");
        assert!(written.lines().zip(ends).all(|(line, end)| line.ends_with(end)), "{written}");
        assert!(written.starts_with("1 0 50 100 4 "));
    }
    simulate(&to, "--dependencies --metrics makespan");
    refused_for(&format!("trace convert --sessions 20m {log} x.json"), "only .swf logs");
    refused_for(&format!("trace convert --sessions soon {log} x.swf"), "such as 20m");
}
