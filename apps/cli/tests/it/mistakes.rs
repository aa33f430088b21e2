//! Tests wrong usage and wrong input: the message is clear and shows the position, the status is 2,
//! and nothing panics.

use std::path::PathBuf;

use crate::{refused, refused_for};

#[test]
fn names_that_do_not_exist_get_suggestions() {
    refused_for(&["simulate", "--strategy", "ff,tlb"], "did you mean `tbl`?");
    let underlined = "--strategy ff,tlb\n                ^^^";
    refused_for(&["simulate", "--strategy", "ff,tlb"], underlined);
    refused_for(&["simulate", "--scheduler", "fifo"], "unknown scheduler `fifo`");
    refused_for(&["simulate", "--metrics", "turnaronud"], "did you mean `turnaround`?");
    refused_for(&["simulate", "--sides", "unifrom"], "did you mean `uniform`?");
    refused(&["simulat"]);
    refused(&["simulate", "--lod", "1"]);
}

#[test]
fn machines_that_cannot_be() {
    for (machine, at_fault) in [
        ("mesh:0x4", "`0` is not a valid side"),
        ("mesh:70000x2", "`70000` is not a valid side"),
        ("mesh:", "`` is not a valid side"),
        ("mesh:4x4x4x4", "1 to 3 axes"),
        ("mesh:65535x65535", "nodes"),
        ("ring:4", "`ring` is not a valid kind of machine"),
        ("8x8", "write a machine as"),
    ] {
        let message = refused(&["allocate", "--machine", machine, "--strategy", "ff"]);
        assert!(message.contains(at_fault) && message.contains('^'), "{machine}: {message}");
    }
}

#[test]
fn numbers_out_of_range() {
    for arguments in [
        &["simulate", "--load", "-1"][..],
        &["simulate", "--load", "0"],
        &["simulate", "--load", "nan"],
        &["simulate", "--load", "1,x"],
        &["simulate", "--load", "1,1"],
        &["simulate", "--jobs", "0"],
        &["simulate", "--warmup", "1000"],
        &["simulate", "--replications", "0"],
        &["simulate", "--threads", "0"],
        &["simulate", "--precision", "0"],
        &["simulate", "--precision", "0.05", "--confidence", "1"],
        &["simulate", "--precision", "0.05", "--replications", "3"],
        &["simulate", "--slowdown-bound", "-1"],
        &["simulate", "--service", "exponential:-1"],
        &["simulate", "--strategy", "ff,ff"],
        &["simulate", "--strategy", "ff,,tff"],
        &["simulate", "--sides", "uniform-decreasing", "--machine", "mesh:4x4"],
        &["simulate", "--first", "3"],
    ] {
        refused(arguments);
    }
}

/// Writes bytes to a file in a temporary folder.
fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn logs_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let line = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let letters = line.replace(" 60 ", " abc ");
    let zipped = {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(line.repeat(500).as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let whole = file(&folder, "whole.swf.gz", &zipped);
    crate::good(&["simulate", "--trace", whole.to_str().unwrap(), "--strategy", "ff"]);
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty.swf", b"", "no job lines"),
        ("comments.swf", b"; Computer: none\n", "no job lines"),
        ("cut.swf.gz", &zipped[..zipped.len() / 2], "cut.swf.gz"),
        ("binary.swf", &[0xff, 0x00, 0xfe, 0x0a, 0x01], "binary.swf:1:1"),
        ("short.swf", b"1 0 -1 60 4\n", "short.swf:1:"),
        ("letters.swf", letters.as_bytes(), "letters.swf:1:8"),
        ("log.txt", b"hello\n", "neither the text nor the name determines the format"),
    ];
    for (name, bytes, expected) in cases {
        let path = file(&folder, name, bytes);
        refused_for(&["simulate", "--trace", path.to_str().unwrap(), "--strategy", "ff"], expected);
    }
    refused_for(&["simulate", "--trace", folder.path().to_str().unwrap()], "directory");
    refused(&["simulate", "--trace", "nowhere.swf"]);
}

#[test]
fn options_that_do_not_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let line = b"1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let path = file(&folder, "one.swf", line);
    let path = path.to_str().unwrap();
    refused_for(
        &["simulate", "--trace", path, "--jobs", "10"],
        "--jobs applies only to synthetic workloads",
    );
    refused(&["simulate", "--trace", path, "--load", "1"]);
    refused(&["simulate", "--trace", path, "--filter", "partition=9"]);
    refused(&["simulate", "--trace", path, "--filter", "party=9"]);
    refused(&["simulate", "--trace", path, "--arrival-scale", "0"]);
}
