//! `pavior reproduce`: the papers' figures and statements.

use crate::{good, refused};

#[test]
fn the_tbl_paper_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tbl");
    let at = out.to_str().unwrap();
    std::fs::create_dir(&out).unwrap();
    let printed = good(&["reproduce", "tbl", "--quick", "--out", at, "--format", "csv"]);
    let written = std::fs::read_to_string(out.join("statements.csv")).unwrap();
    assert_eq!(printed, written);
    assert!(written.starts_with("id,paper,ours,ci95,ratio,verdict,note\n"));
    let mut reader = csv::Reader::from_reader(written.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let row = |id: &str| rows.iter().find(|row| &row[0] == id).unwrap_or_else(|| panic!("{id}"));
    for id in ["T1", "T2@3.8", "T2@4.2", "T2@4.6", "T4@uniform-4.6-tbl", "T5@uniform-growth"] {
        assert!(["holds", "differs"].contains(&&row(id)[5]), "{id}");
    }
    for statement in 1..=6 {
        assert!(rows.iter().any(|row| row[0].starts_with(&format!("T{statement}"))));
    }
    // Not measured times: the same on every machine.
    assert_eq!((&row("T2@4.6")[1], &row("T2@4.6")[5]), ("0.56", "holds"));
    assert_eq!(&row("T5@larger-8x8x8")[5], "holds");
    for figure in 7..=14 {
        assert!(out.join(format!("fig{figure:02}.svg")).exists());
        assert!(out.join(format!("fig{figure:02}.vl.json")).exists());
    }
    let report = std::fs::read_to_string(out.join("report.html")).unwrap();
    for part in ["pavior reproduce tbl --quick", "seed 1", "T2@3.8", "Fig. 14", "replications"] {
        assert!(report.contains(part), "{part}");
    }
    assert!(!report.contains("http://") || !report.contains("src="), "nothing is fetched");
    refused(&["reproduce", "tbl", "--quick", "--out", at]);
    refused(&["reproduce", "no-such-paper"]);
}

#[test]
fn the_mfa_paper_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mfa");
    let at = out.to_str().unwrap();
    let printed = good(&["reproduce", "mfa", "--quick", "--out", at, "--format", "csv"]);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(printed, read("statements.csv"));
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let differ: Vec<&str> =
        rows.iter().filter(|row| &row[5] == "differs").map(|row| &row[0]).collect();
    assert_eq!(differ, ["M2@2-3x2", "M2@2-3x3", "M2@2-4x2"]);
    let row = rows.iter().find(|row| &row[0] == "M1@2").unwrap();
    assert_eq!((&row[1], &row[2], &row[5]), ("<0,3> with index 7", "7", "holds"));
    // Simulated or not, figures come again from the tables alone.
    let figures = ["fig06", "fig07", "fig07-measured", "fig08", "fig09"];
    let drawn = figures.map(|name| read(&format!("{name}.svg")));
    for name in figures {
        std::fs::remove_file(out.join(format!("{name}.svg"))).unwrap();
    }
    good(&["plot", at]);
    assert!(figures.map(|name| read(&format!("{name}.svg"))) == drawn, "the figures differ");
    assert!(drawn[3].contains("2DB"), "what refuses keeps its place");
    let report = read("report.html");
    for part in ["pavior reproduce mfa --quick", "seed 1", "M1@V-2-5", "Example 2", "printed: 4"] {
        assert!(report.contains(part), "{part}");
    }
    let results = read("results.csv");
    assert!(results.contains(",optimality_index,10,0,count"), "{results}");
}
