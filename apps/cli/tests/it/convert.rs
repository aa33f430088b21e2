//! Tests `pavior trace convert`.

use serde_json::Value;

use crate::{Folder, good, pavior, refused_for, stderr};

#[test]
fn batsim_files_state_the_size_of_the_machine() {
    let (folder, log) =
        Folder::with("log.swf", "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n");
    let to = folder.path("to.json");
    for (machine, nodes) in [("", 4), ("--machine mesh:4x4", 16)] {
        good(&format!("trace convert {log} {to} {machine}"));
        let written: Value = serde_json::from_str(&folder.read("to.json")).unwrap();
        assert_eq!(written["nb_res"], nodes, "{machine}");
    }
}

#[test]
fn shapes_that_swf_cannot_hold_are_noted() {
    let (folder, log) =
        Folder::with("log.swf", "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n");
    for (to, options, noted) in [
        ("to.swf", "", false),
        ("to.swf", "--machine mesh:4x4", true),
        ("to.sim", "--machine mesh:4x4", false),
    ] {
        let command = format!("trace convert {log} {} {options}", folder.path(to));
        let error = stderr(&pavior(&command, ""));
        assert_eq!(error.contains("cannot contain shapes"), noted, "{to} {options}: {error}");
    }
}

#[test]
fn options_are_checked_before_the_log_is_read() {
    for (options, reason) in [
        ("to.txt", "cannot determine the format from the file name"),
        ("to.json --sessions 20m", "only .swf logs"),
        ("to.swf --machine mesh:4x4 --shape-rule compct", "did you mean `compact`"),
        ("to.sim --shape-rule compact", "--machine <MACHINE>"),
        ("to.sim --seed 2", "--machine <MACHINE>"),
    ] {
        refused_for(&format!("trace convert missing.swf {options}"), reason);
    }
}
