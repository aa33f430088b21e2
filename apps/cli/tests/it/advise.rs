//! Tests `pavior advise`: its numbers match the results of the commands it prints, and all
//! interfaces return the same advice.

use serde_json::Value;

use crate::{Folder, good, pavior, refused, refused_for};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advise.in/jobs.sacct");

/// Returns the command that advises on the log, with the options in `more`.
fn advise(more: &str) -> String {
    format!("advise {LOG} --machine torus:8x8 {more}")
}

#[test]
fn printed_commands_reproduce_their_numbers() {
    let advice = crate::json(&advise("--slots 3x3"), "");
    let alternatives = advice["alternatives"].as_array().unwrap();
    assert!(alternatives.len() >= 10);
    // Check one alternative of each kind.
    let wanted = ["strategy gabl", "scheduler fcfs", "freedom any-box", "torus:10x8", "failures"];
    let chosen = alternatives.iter().filter(|one| wanted.iter().any(|name| one["name"] == *name));
    let chosen: Vec<&Value> = [&advice["present"]].into_iter().chain(chosen).collect();
    assert_eq!(chosen.len(), wanted.len() + 1);
    for one in chosen {
        let command = one["command"].as_str().unwrap();
        let simulated = crate::json(command.strip_prefix("pavior ").unwrap(), "");
        let values = one["values"].as_object().unwrap();
        assert_eq!(values.len(), 7, "{command}");
        for (metric, value) in values {
            let again = simulated["results"][0]["metrics"][metric]["mean"].as_f64().unwrap();
            let value = value.as_f64().unwrap();
            assert!((again - value).abs() <= 1e-9 * value.abs().max(1.0), "{command}: {metric}");
        }
    }
}

#[test]
fn threads_do_not_change_advice_and_lines_fit_80_columns() {
    let one = good(&advise("--format table --threads 1"));
    assert_eq!(one, good(&advise("--format table --threads 3")));
    assert!(one.lines().all(|line| line.chars().count() <= 80), "{one}");
    assert!(one.contains("Keep strategy tff and scheduler easy"), "{one}");
}

#[test]
fn the_page_is_self_contained_and_is_printed_or_written() {
    let folder = Folder::new();
    let path = folder.path("page.html");
    let printed = good(&advise(&format!("--first 320 --format html --out {path}")));
    assert_eq!(printed, folder.read("page.html"));
    assert!(printed.starts_with("<!doctype html>") && printed.contains("prefers-color-scheme"));
    assert!(!printed.contains("<script") && !printed.contains("src="));
    let csv = good(&advise("--first 320 --format csv"));
    assert!(csv.starts_with("alternative,metric,value,difference,low,high,command\n"), "{csv}");
}

#[test]
fn the_header_identifies_the_log_format() {
    let (folder, path) = Folder::with("jobs.txt", std::fs::read(LOG).unwrap());
    let simulate = |log: &str| {
        let more = "--machine torus:8x8 --strategy tff --metrics waiting --format csv";
        good(&format!("simulate --trace {log} {more}"))
    };
    assert_eq!(simulate(&path), simulate(LOG));
    folder.write("jobs.txt", "JobID|State\n1|COMPLETED\n");
    let message = refused(&format!("trace inspect {path}"));
    assert!(message.contains("no Submit column found; request it with: sacct -a"), "{message}");
    let written = folder.path("out.sacct");
    refused_for(&format!("trace convert {LOG} {written}"), "must end in .swf");
}

#[test]
fn mistakes_are_refused() {
    for (more, reason) in [
        ("--strategy ff,tff", "one strategy and one scheduler"),
        ("--strategy tlb", "did you mean `tbl`"),
        ("--slots 4y4", "expected a shape, such as 4x4x4"),
        ("--threads 0", "must be at least 1"),
        ("--mttf 5", "--mttf needs --mttr"),
    ] {
        refused_for(&advise(more), reason);
    }
    let output = pavior("advise /nonexistent.swf --machine torus:8x8", "");
    assert!(!output.status.success());
}
