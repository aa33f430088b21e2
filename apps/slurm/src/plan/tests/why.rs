//! Tests of `why` for queued jobs.

use super::*;
use crate::show::why::explain_job;

const NOW: u64 = 1010;

/// Returns the answer for job 2.
fn why(ledger: &Ledger, order: &str) -> String {
    let (config, site, usage) = (config(order), Site::default(), Usage::default());
    let world = World { config: &config, ledger, now: NOW };
    explain_job(world, Rules { site: &site, usage: &usage }, job_name("2")).unwrap()
}

/// Checks a job with a reservation and a job behind another one.
#[test]
fn an_explanation_has_one_time_and_one_place() {
    let held: Vec<u32> = (0..8).collect();
    let runs = || running("1", "4x2", &held, 600);
    let jobs = vec![runs(), shaped("2", "4x2", 8, 5)];
    assert_eq!(
        why(&ledger(jobs), "easy"),
        "It needs 8 nodes, but none are free; it is planned to start at 1970-01-01T00:26:40Z, on \
         4x2 at 0,0.\nIn the way there: job 1 (8 nodes)."
    );
    let jobs = vec![runs(), shaped("3", "4x2", 8, 9), shaped("2", "4x2", 8, 5)];
    let behind = why(&ledger(jobs), "easy");
    assert!(behind.contains("it is planned to start at 1970-01-01T00:27:40Z."), "{behind}");
    assert_eq!(behind.matches("1970").count(), 1, "{behind}");
}

#[test]
fn the_box_of_a_job_that_fits_is_shown() {
    let jobs = vec![shaped("1", "2x2", 4, 9), shaped("2", "2x2", 4, 5)];
    assert_eq!(why(&ledger(jobs), "easy"), "2 may start now on 2x2 at 2,0");
}

/// Checks a 3x2 job that needs the unavailable node n1 and, in strict order, a job behind it.
#[test]
fn a_job_that_cannot_start_has_no_planned_time() {
    let mut lacking = ledger(vec![shaped("1", "1x2", 2, 9), shaped("2", "3x2", 6, 5)]);
    lacking.nodes[1].condition = Condition::Unavailable;
    let text = why(&lacking, "easy");
    assert!(text.contains("cannot start until the unavailable node"), "{text}");
    let mut lacking = ledger(vec![shaped("1", "3x2", 6, 9), shaped("2", "1x1", 1, 5)]);
    lacking.nodes[1].condition = Condition::Unavailable;
    for text in [text, why(&lacking, "strict")] {
        assert!(!text.contains("1970") && !text.contains("may start"), "{text}");
    }
    // The end of a job without a time limit is unknown.
    let held: Vec<u32> = (0..8).collect();
    let endless = SlurmJob { limit: None, ..running("1", "4x2", &held, 1) };
    let text = why(&ledger(vec![endless, shaped("2", "4x2", 8, 5)]), "easy");
    assert!(!text.contains("planned"), "{text}");
}
