//! Tests `pavior trace inspect`, which summarizes a log as text, JSON or a page.

use serde_json::Value;

use crate::{Folder, good, refused_for};

const LOG: &str = "\
; MaxNodes: 12
; MaxProcs: 12
1 0 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 -1
2 -1 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 <script>
3 9 0 100 4 -1 -1 4 200 -1 1 8 1 1 3 1 1 60
4 9 0 -1 4 -1 -1 4 200 -1 1 8 1 1 3 1 77 60
5 700000 0 100 4 -1 -1 4 -1 -1 1 8 1 1 3 1 77 60
";

#[test]
fn all_formats_contain_the_summary() {
    let folder = Folder::new();
    let path = folder.write("a & <b>.swf", LOG);
    let inspect = |more: &[&str]| good(&[&["trace", "inspect", &path, "--lenient"], more].concat());
    let text = inspect(&["--format", "table"]);
    for line in [
        "format                 Standard Workload Format",
        "kept                   3",
        "malformed              1 (line 4)",
        "no_run_time            1 (line 6)",
        "greatest_use           8",
        "header_nodes           12",
        "with_preceding_job     2 (1 followed, 1 not among the jobs)",
        "  malformed, line 4: 2 -1 0 100 4 -1 -1 4 200 -1 1 7 1 1 3 1 -1 <script>",
        "estimate / run time: mean 2, ",
        "       user: 8 (2), 7 (1)",
        "load in % by week of submission",
        "--machine mesh:3x2x2 --strategy tff --scheduler easy --dependencies",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json: Value = serde_json::from_str(&inspect(&["--format", "json"])).unwrap();
    assert_eq!((&json["kept"], &json["machine_size"]), (&3.into(), &12.into()));
    assert_eq!(json["examples"][1]["line"], 6);
    assert_eq!(json["dependencies"]["missing"], 1);
    assert!(json["replay"].as_str().unwrap().starts_with("pavior simulate --trace '"));
    assert!(inspect(&["--format", "csv"]).contains("greatest_use,8\n"));
    let page = inspect(&["--html"]);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>") && !page.contains("<b>"));
    assert_eq!(page.matches("<svg").count(), 5, "sizes, runs, load, jobs, hours, and no weekdays");
    inspect(&["--html", &folder.path("page.html")]);
    assert_eq!(folder.read("page.html"), page);
}

#[test]
fn options_are_checked_before_the_log_is_read() {
    let inspect = ["trace", "inspect", "missing.swf", "--html"];
    refused_for(&[&inspect[..], &["x.swf"]].concat(), "the name must end in .html");
    refused_for(&[&inspect[..], &["--format", "csv"]].concat(), "cannot be used with");
}
