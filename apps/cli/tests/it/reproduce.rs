//! Tests `pavior reproduce`: the figures and statements of papers.

use crate::{Folder, good, refused, refused_for, words};

#[test]
fn a_quick_run_judges_the_tbl_paper() {
    if pavior_trials::left_out("the short run of the paper `tbl`") {
        return;
    }
    let folder = Folder::new();
    let at = folder.path("tbl");
    std::fs::create_dir(&at).unwrap();
    let printed = good(&format!("reproduce tbl --quick --out {at} --format csv"));
    assert_eq!(printed, folder.read("tbl/statements.csv"));
    assert!(printed.starts_with("id,paper,ours,ci95,ratio,verdict,stated,note\n"));
    let rows = rows(&printed);
    let row = |id: &str| rows.iter().find(|row| &row[0] == id).unwrap_or_else(|| panic!("{id}"));
    for id in ["T2@3.8", "T2@4.2", "T2@4.6", "T4@uniform-4.6-tbl", "T5@uniform-growth"] {
        assert!(["holds", "tolerance", "differs"].contains(&&row(id)[5]), "{id}");
    }
    // A quick run does not check the measured times of T1 and T6, so the rows are the same on every
    // machine.
    for statement in 1..=6 {
        let is_judged = rows.iter().any(|row| row[0].starts_with(&format!("T{statement}")));
        assert_eq!(is_judged, (2..=5).contains(&statement), "T{statement}");
    }
    assert_eq!((&row("T2@4.6")[1], &row("T2@4.6")[5]), ("0.56", "holds"));
    assert_eq!(&row("T5@larger-8x8x8")[5], "holds");
    for figure in 7..=14 {
        folder.read(&format!("tbl/fig{figure:02}.svg"));
        folder.read(&format!("tbl/fig{figure:02}.vl.json"));
    }
    let report = folder.read("tbl/report.html");
    for part in ["pavior reproduce tbl --quick", "seed 1", "T2@3.8", "Fig. 14", "replications"] {
        assert!(report.contains(part), "{part}");
    }
    assert!(!report.contains("http://") || !report.contains("src="), "nothing is fetched");
    refused(&format!("reproduce tbl --quick --out {at}"));
    refused("reproduce no-such-paper");
    let logs = format!("reproduce tbl --quick --logs {at} --out {}", folder.path("other"));
    refused_for(&logs, "--logs: the experiment in tbl does not read a job log");
    assert_eq!(folder.names(), ["tbl"]);
}

#[test]
fn a_quick_run_judges_the_mfa_paper() {
    let folder = Folder::new();
    let at = folder.path("mfa");
    let printed = good(&format!("reproduce mfa --quick --out {at} --format csv"));
    let read = |name: &str| folder.read(&format!("mfa/{name}"));
    assert_eq!(printed, read("statements.csv"));
    let rows = rows(&printed);
    let differ: Vec<&str> =
        rows.iter().filter(|row| &row[5] == "differs").map(|row| &row[0]).collect();
    assert_eq!(differ, ["M2@2-3x2-granted", "M2@2-3x3-granted", "M2@2-4x2-granted"]);
    let row = rows.iter().find(|row| &row[0] == "M1@2").unwrap();
    assert_eq!((&row[1], &row[2], &row[5]), ("<0,3> with index 7", "7", "holds"));
    // All figures, simulated or not, can be drawn again from the tables alone.
    let figures = ["fig06", "fig07", "fig07-measured", "fig08", "fig09"];
    let drawn = figures.map(|name| read(&format!("{name}.svg")));
    for name in figures {
        std::fs::remove_file(folder.path(&format!("mfa/{name}.svg"))).unwrap();
    }
    good(&format!("plot {at}"));
    assert!(figures.map(|name| read(&format!("{name}.svg"))) == drawn, "the figures differ");
    assert!(drawn[3].contains("2DB"), "what refuses keeps its place");
    let report = read("report.html");
    for part in ["pavior reproduce mfa --quick", "seed 1", "M1@V-2-5", "Example 2", "printed: 4"] {
        assert!(report.contains(part), "{part}");
    }
    let results = read("results.csv");
    assert!(results.contains(",optimality_index,10,0,count"), "{results}");
    let whole = format!("reproduce mfa --resume --out {at}");
    refused_for(&whole, "contains a quick reproduction; add --quick");
}

fn rows(csv: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_reader(csv.as_bytes()).records().map(Result::unwrap).collect()
}

#[test]
fn a_quick_run_judges_the_gabl_paper() {
    if pavior_trials::left_out("the short run of the paper `gabl`") {
        return;
    }
    let folder = Folder::new();
    let at = folder.path("gabl");
    let printed = good(&format!("reproduce gabl --quick --out {at} --format csv"));
    let read = |name: &str| folder.read(&format!("gabl/{name}"));
    assert_eq!(printed, read("statements.csv"));
    let rows = rows(&printed);
    let row = |id: &str| rows.iter().find(|row| &row[0] == id).unwrap_or_else(|| panic!("{id}"));
    let papers = [
        ("G1@ff", "0.36"),
        ("G1@paging", "0.64"),
        ("G1@mbs", "0.69"),
        ("G2@ff", "0.17"),
        ("G2@paging", "0.28"),
        ("G2@mbs", "0.3"),
        ("G3@one-uniform-fcfs-mbs", "0.72 to 0.79"),
        ("G3@all-decreasing-ssd-ff", "at most 0.49"),
        ("G4@0.025", "0.54"),
        ("G6@all-uniform-64-gabl", "gabl below mbs"),
        ("G6@one-uniform-16-over-ff", "GABL's advantage grows"),
        ("G7@one-uniform-fcfs-0.0205", "GABL lowest"),
    ];
    for (id, paper) in papers {
        assert_eq!(&row(id)[1], paper, "{id}");
    }
    // With any seed, these differences far exceed the width of the confidence intervals.
    for id in
        ["G3@one-uniform-fcfs-equal", "G4@0.035", "G5@one-uniform-gabl", "G5@all-decreasing-ff"]
    {
        assert_eq!(&row(id)[5], "holds", "{id}");
    }
    for id in ["G2@paging", "G2@mbs", "G2@ff"] {
        assert_ne!(&row(id)[5], "differs", "{id}: the declared reading gives G2");
    }
    assert_eq!((&row("G1@mbs")[5], rows.len()), ("differs", 161));
    // The summary has a line for every statement, with the text of the statement.
    let markdown = read("statements.md");
    assert!(markdown.starts_with("`pavior reproduce gabl --quick`, Pavior "), "{markdown}");
    for statement in 1..=7 {
        let line = format!("| G{statement} | ");
        let line = markdown.lines().find(|text| text.starts_with(&line)).unwrap();
        assert!(line.split('|').nth(2).unwrap().len() > 10, "{line}");
    }
    let report = read("report.html");
    for part in ["pavior reproduce gabl --quick", "seed 1", "Fig. 8", "Paging(0)(SSD)"] {
        assert!(report.contains(part), "{part}");
    }
    // The figures can be drawn from the table alone.
    let figures =
        ["fig03", "fig04", "fig05", "fig06", "fig06-ssd", "fig07", "fig07-uniform", "fig08"];
    let drawn = figures.map(|figure| read(&format!("{figure}.svg")));
    for figure in figures {
        std::fs::remove_file(folder.path(&format!("gabl/{figure}.svg"))).unwrap();
    }
    std::fs::remove_file(folder.path("gabl/replications.csv")).unwrap();
    good(&format!("plot {at}"));
    assert_eq!(drawn, figures.map(|figure| read(&format!("{figure}.svg"))));
}

/// The interpretations used in a smaller run.
const READINGS: &str =
    "default sorted ranks-by-part gabl-unturned pipelined from-zero rounded-up buffer-8";

/// Copies the GABL paper's folder, but keeps only the interpretations listed in `READINGS`, and
/// only the last of the choices. Returns the path of the copy.
fn few_readings(folder: &Folder) -> String {
    let paper = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/gabl");
    let few = folder.path("gabl");
    std::fs::create_dir(&few).unwrap();
    for file in std::fs::read_dir(paper).unwrap().map(Result::unwrap) {
        let name = file.file_name().into_string().unwrap();
        std::fs::copy(file.path(), folder.path(&format!("gabl/{name}"))).unwrap();
    }
    let text = folder.read("gabl/readings.toml");
    let (readings, choices) = text.split_once("[[choice]]").unwrap();
    let mut parts = readings.split("[[reading]]");
    let mut kept = parts.next().unwrap().to_string();
    let names: Vec<String> =
        words(READINGS).iter().map(|name| format!("name = \"{name}\"\n")).collect();
    for part in parts.filter(|part| names.iter().any(|name| part.contains(name))) {
        kept += &format!("[[reading]]{part}");
    }
    kept += &format!("[[choice]]{}", choices.split("[[choice]]").last().unwrap());
    folder.write("gabl/readings.toml", kept);
    few
}

#[test]
fn alternative_readings_are_ranked() {
    if pavior_trials::left_out("the alternatives of a paper") {
        return;
    }
    let folder = Folder::new();
    let few = few_readings(&folder);
    let paper = pavior_trials::size("", few.as_str(), "gabl");
    let at = folder.path("readings");
    let quickly = format!("reproduce {paper} --alternatives --quick --out {at}");
    let printed = good(&format!("{quickly} --format csv"));
    let read = |name: &str| folder.read(&format!("readings/{name}"));
    assert_eq!(printed, read("alternatives.csv"));
    let rows = rows(&printed);
    // Each interpretation has one ratio per goal. The closest interpretation comes first, and its
    // distance is correct.
    let distance = |row: &csv::StringRecord| row[1].parse::<f64>().unwrap();
    assert!(rows.is_sorted_by_key(distance));
    let usual: Vec<_> = rows.iter().filter(|row| &row[0] == "default").collect();
    let goals = usual.len();
    assert!(goals >= 6 && rows.len() % goals == 0);
    let number = |text: &str| text.parse::<f64>().unwrap();
    let squares: f64 =
        usual.iter().map(|row| (number(&row[6]) / number(&row[5])).ln().powi(2)).sum();
    assert!((distance(usual[0]) - (squares / goals as f64).sqrt()).abs() < 1e-9);
    for reading in words(READINGS) {
        assert_eq!(rows.iter().filter(|row| &row[0] == reading).count(), goals, "{reading}");
    }
    assert!(read("statements.csv").contains("G2@paging:buffer-8,0.28,"));
    // Unlike `sorted`, the default interpretation runs paging as `paging:free=fifo`.
    let points = read("replications.csv");
    let ratio = |reading: &str| {
        let of =
            |row: &&csv::StringRecord| &row[0] == reading && &row[2] == "G2" && &row[3] == "paging";
        number(&rows.iter().find(of).unwrap()[6])
    };
    assert!(points.contains("paging:free=fifo") && points.contains("mbs:free=fifo:order=small"));
    assert!(ratio("default") < 0.5 * ratio("sorted"), "{} {}", ratio("default"), ratio("sorted"));
    let report = read("report.html");
    for part in ["Closest readings", "Closest for G2: ", "--alternatives --quick", "a quick run"] {
        assert!(report.contains(part), "{part}");
    }
    assert!(report.contains("G1@ff is GABL's turnaround divided by that of FF"));
    assert!(!report.contains("timings.csv"), "nothing is measured here");
    assert!(read("alternatives.md").contains("| default | "));
    let printed = good(&format!("{quickly} --resume --format table"));
    assert!(printed.contains(&format!("Closest over all {goals} ratios: ")), "{printed}");
    refused_for("reproduce tbl --alternatives", "`tbl` has no alternative readings");
}

#[test]
fn reproducing_all_papers_needs_a_separate_directory() {
    let folder = Folder::new();
    let small = "machine = 'mesh:4x4'\nstrategy = 'ff'\njobs = 9\nreplications = 2\n";
    let file = folder.write("small.toml", small);
    let all = "reproduce all --quick --out";
    refused_for(&format!("{all} {}", folder.path("")), "is not empty");
    let inside = folder.path("experiment");
    good(&format!("experiment {file} --out {inside}"));
    refused_for(&format!("{all} {inside} --resume"), "contains an experiment");
}

#[test]
fn the_forecast_study_needs_logs_and_a_separate_directory() {
    let folder = Folder::new();
    let [logs, out, full] = ["logs", "out", ""].map(|name| folder.path(name));
    std::fs::create_dir(&logs).unwrap();
    let begun = format!("reproduce forecasts --quick --logs {logs} --out");
    refused_for(&format!("{begun} {out}"), "SDSC-SP2-1998-4.2-cln.swf.gz");
    assert!(!std::fs::exists(folder.path("out/forecasts.csv")).unwrap());
    refused_for(&format!("{begun} {full}"), "is not empty");
    for option in ["--alternatives", "--resume"] {
        refused_for(&format!("{begun} {out} {option}"), option);
    }
}
