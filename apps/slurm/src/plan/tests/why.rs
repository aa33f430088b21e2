//! Tests `why` for queued jobs, and the notes in AdminComment.

use super::*;
use crate::ledger::ControlCharacters;
use crate::show::why::explain_job;

const NOW: u64 = 1010;

/// Returns the answer for job 2.
fn why(ledger: &Ledger, order: &str) -> String {
    let (config, site, usage) = (config(order), Site::default(), Usage::default());
    let world = World { config: &config, ledger, now: NOW };
    explain_job(world, Rules { site: &site, usage: &usage }, job_name("2")).unwrap()
}

/// Checks the answers for the first job in the queue and for a job queued behind another one.
#[test]
fn an_explanation_has_one_time_and_one_place() {
    let held: Vec<u32> = (0..8).collect();
    let runs = || running("1", "4x2", &held, 600);
    let jobs = vec![runs(), shaped("2", "4x2", 8, 5)];
    assert_eq!(
        why(&ledger(jobs), "easy"),
        "It needs 8 nodes, but none are free; it is planned to start at 1970-01-01T00:26:40Z, on \
         4x2 at 0,0.\nBlocked there by job 1 (8 nodes)."
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

/// Checks that neither a job that needs an unavailable node nor the job behind it has a planned
/// start.
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

#[test]
fn a_note_names_the_partition_of_a_foreign_job() {
    let strange = SlurmJob { partition: "oth\u{1b}er".into(), ..running("9", "4x1", &[0, 1], 60) };
    let mut run = Run::new("easy");
    let text = note_for(&run.decide(&ledger(vec![strange, shaped("1", "4x2", 8, 9)]), 1000), "1");
    assert!(text.contains("job 9 in partition oth") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn an_unchanged_note_is_written_once() {
    let jobs = || vec![running("9", "4x1", &[0, 1, 2, 3], 60), shaped("1", "4x2", 8, 9)];
    let mut run = Run::new("easy");
    let mut note = |now| note_for(&run.decide(&ledger(jobs()), now), "1");
    assert_eq!(
        note(1000),
        "pavior: It needs 8 nodes, but only 4 are free; it is planned to start at \
         1970-01-01T00:17:40Z, on 4x2 at 0,0. Blocked there by job 9 (4 nodes). Nearest free: 4x1 \
         at 0,1."
    );
    assert!(note(1005).is_empty() && note(1030).is_empty());
}

#[test]
fn notes_that_keep_changing_do_not_displace_others() {
    // Job 9 is past its time limit, so the planned start of every other job keeps changing.
    let mut jobs = vec![running("9", "4x2", &[0, 1, 2, 3, 4, 5, 6, 7], 1)];
    jobs.extend((1..=4).map(|number| shaped(&number.to_string(), "4x2", 8, 9)));
    jobs.push(job("5", 5, 9));
    let (mut run, ledger) = (Run::new("easy"), ledger(jobs));
    assert!(!note_for(&run.decide(&ledger, 2000), "4").is_empty());
    assert!(note_for(&run.decide(&ledger, 2010), "5").contains("not placed"));
}

#[test]
fn a_job_with_control_characters_is_not_placed_and_gets_a_note() {
    let bad = || SlurmJob { comment: Err(ControlCharacters), ..shaped("1", "2x2", 4, 9) };
    let runs =
        SlurmJob { comment: Err(ControlCharacters), ..running("3", "1x1", &[0, 1, 4, 5], 60) };
    let opened = SlurmJob { comment: Err(ControlCharacters), ..opened("4", "1x1", 1, &[7]) };
    let state = ledger(vec![bad(), shaped("2", "2x1", 2, 8), runs, opened]);
    let changes = Run::new("easy").decide(&state, 1001).changes;
    // Running jobs stay on their nodes, open gates are closed, and other jobs are placed.
    assert_eq!(opened_gates(&changes), ["2 n2,n3"]);
    let text = "pavior: not placed: its comment contains control characters; resubmit the job";
    let note = |name: &str| Change::Comment { job: job_name(name), comment: Note::new(text) };
    assert!(changes.contains(&note("1")), "{changes:?}");
    assert!(changes.iter().any(|change| change.name() == "close" && change.job() == job_name("4")));
    assert!(changes.iter().all(|change| change.job() != job_name("3")), "{changes:?}");
}

#[test]
fn jobs_without_a_box_get_notes() {
    // The gate has just been installed. No box has exactly five nodes, and the three nodes in use
    // do not form a box.
    let waits = job("1", 5, 9);
    let runs = SlurmJob { comment: Ok(String::new()), ..running("2", "1x1", &[0, 2, 5], 60) };
    let mut run = Run::new("easy");
    let decision = run.decide(&ledger(vec![waits, runs]), 5000);
    let note =
        |name: &str, text: &str| Change::Comment { job: job_name(name), comment: Note::new(text) };
    let never = "pavior: not placed: no box on the machine has 5 nodes; resubmit the job";
    let elsewhere = "pavior: running on nodes that do not form the requested box; not requeued";
    assert_eq!(decision.changes, [note("2", elsewhere), note("1", never)]);
    assert_eq!(decision.boxless.len(), 2);
}
