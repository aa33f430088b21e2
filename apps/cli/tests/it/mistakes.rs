//! Tests that invalid usage or input does not cause a panic, but results in exit status 2 and a
//! clear message that shows the position of the error.

use crate::{Folder, good, gzipped, refused, refused_for};

#[test]
fn names_that_do_not_exist_get_suggestions() {
    refused_for("simulate --strategy ff,tlb", "did you mean `tbl`?");
    let underlined = "--strategy ff,tlb\n                ^^^";
    refused_for("simulate --strategy ff,tlb", underlined);
    refused_for("simulate --scheduler fifo", "unknown scheduler `fifo`");
    refused_for("simulate --metrics turnaronud", "did you mean `turnaround`?");
    refused_for("simulate --sides unifrom", "did you mean `uniform`?");
    refused("simulat");
    refused("simulate --lod 1");
}

#[test]
fn impossible_machines_are_rejected() {
    for (machine, at_fault) in [
        ("mesh:0x4", "`0` is not a valid side"),
        ("mesh:70000x2", "`70000` is not a valid side"),
        ("mesh:", "`` is not a valid side"),
        ("mesh:4x4x4x4", "1 to 3 axes"),
        ("mesh:65535x65535", "nodes"),
        ("ring:4", "unknown machine kind `ring`"),
        ("8x8", "expected a machine such as"),
    ] {
        let message = refused(&format!("allocate --machine {machine} --strategy ff"));
        assert!(message.contains(at_fault) && message.contains('^'), "{machine}: {message}");
    }
}

#[test]
fn the_underline_matches_wide_characters_and_crlf_lines() {
    let message = refused("simulate --strategy 名,ff名");
    assert!(message.ends_with("--strategy 名,ff名\n             ^^\n"), "{message}");
    let (folder, file) = Folder::with("e.toml", "strategy = 'tlb'\r\njobs = 10\r\n");
    let message = refused(&format!("experiment {file} --out {}", folder.path("out")));
    assert!(!message.contains("\\r") && message.contains("= 'tlb'\n"), "{message}");
}

#[test]
fn numbers_out_of_range_are_rejected() {
    for options in [
        "--load -1",
        "--load 0",
        "--load nan",
        "--load 1,x",
        "--load 1,1",
        "--jobs 0",
        "--warmup 1000",
        "--replications 0",
        "--threads 0",
        "--precision 0",
        "--precision 0.05 --confidence 1",
        "--precision 0.05 --replications 3",
        "--slowdown-bound -1",
        "--service exponential:-1",
        "--strategy ff,ff",
        "--strategy ff,,tff",
        "--sides uniform-decreasing --machine mesh:4x4",
        "--first 3",
    ] {
        refused(&format!("simulate {options}"));
    }
}

#[test]
fn invalid_logs_are_rejected() {
    let folder = Folder::new();
    let line = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let letters = line.replace(" 60 ", " abc ");
    let zipped = gzipped(line.repeat(500).as_bytes());
    let whole = folder.write("whole.swf.gz", &zipped);
    good(&format!("simulate --trace {whole} --strategy ff"));
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty.swf", b"", "no jobs found"),
        ("comments.swf", b"; Computer: none\n", "no jobs found"),
        ("cut.swf.gz", &zipped[..zipped.len() / 2], "cut.swf.gz"),
        ("binary.swf", &[0xff, 0x00, 0xfe, 0x0a, 0x01], "binary.swf:1:1"),
        ("short.swf", b"1 0 -1 60 4\n", "short.swf:1:"),
        ("letters.swf", letters.as_bytes(), "letters.swf:1:8"),
        ("log.txt", b"hello\n", "cannot detect the log's format from its contents or name"),
    ];
    for (name, bytes, expected) in cases {
        let path = folder.write(name, bytes);
        refused_for(&format!("simulate --trace {path} --strategy ff"), expected);
    }
    refused_for(&format!("simulate --trace {}", folder.path("")), "directory");
    refused("simulate --trace nowhere.swf");
}

#[test]
fn conflicting_options_are_rejected() {
    let folder = Folder::new();
    let line = "1 0 -1 60 4 -1 -1 -1 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    let run = format!("simulate --trace {}", folder.write("one.swf", line));
    refused_for(&format!("{run} --jobs 10"), "--jobs applies only to synthetic workloads");
    for more in ["--load 1", "--filter partition=9", "--filter party=9", "--arrival-scale 0"] {
        refused(&format!("{run} {more}"));
    }
}
