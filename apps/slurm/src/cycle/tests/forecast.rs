//! When a waiting job will probably start.

use super::*;
use crate::forecast::{Past, QueueState};
use crate::reason::date;

const NOW: u64 = 1010;

/// What job 2 is told, which waits for all nodes behind job 1.
fn told(past: Option<&str>) -> String {
    let held: Vec<u32> = (0..8).collect();
    let jobs = vec![running("1", "4x2", &held, 600), shaped("2", "4x2", 8, 5)];
    told_of(&ledger(jobs), "easy", past)
}

/// What the job in the second place of a ledger is told.
fn told_of(ledger: &Ledger, order: &str, past: Option<&str>) -> String {
    let config = config(order);
    let (mut shaper, site, said) = (shaper(&config).unwrap(), Site::default(), Said::default());
    let seen = Seen { now: NOW, site: &site, preempting: &HashSet::new() };
    let mut state = State::of(&config, ledger, &mut shaper, &seen).unwrap();
    let view = View { now: NOW, site: &site, said: &said };
    queue(ledger, &mut state, &mut Limits::new(&site, &said, ledger), &view);
    let past = past.map(|text| Past::read(text).unwrap());
    let queued = QueueState { config: &config, ledger, state: &state, now: NOW };
    queued.forecast(1, past.as_ref(), &mut shaper).unwrap()
}

/// Jobs of the whole machine, which are done after half a minute of their ten; each eight seconds
/// one comes.
fn past(jobs: u32) -> String {
    let header = "JobIDRaw|UID|Submit|ElapsedRaw|TimelimitRaw|AllocNodes|State\n";
    let line = |number: u32| {
        let submit = 500 + 8 * number;
        format!("{number}|1001|{submit}|30|10|8|COMPLETED\n")
    };
    (1..=jobs).map(line).fold(header.to_string(), |text, line| text + &line)
}

#[test]
fn without_accounting_it_is_the_plan() {
    let told = told(None);
    assert!(told.starts_with(&format!("By the time limits alone it starts at {}.", date(1600))));
    assert!(told.ends_with("does not answer, so no range is told."), "{told}");
}

#[test]
fn too_few_that_waited_make_no_range() {
    let told = told(Some(&past(20)));
    assert!(told.contains(&date(1600)) && !told.contains("between"), "{told}");
    assert!(told.ends_with("of 20 that ran, 19 had to."), "{told}");
}

/// Such jobs run for half a minute: this one is over long before its limit.
#[test]
fn run_times_of_the_past_make_a_range() {
    let told = told(Some(&past(60)));
    let (range, plan) = told.split_once(" By the time limits alone it starts at ").unwrap();
    assert_eq!(plan, format!("{}.", date(1600)));
    let dates: Vec<&str> =
        range.split([' ', ',']).filter(|word| word.starts_with("1970")).collect();
    let [low, high, median] = dates[..] else { panic!("{told}") };
    assert!(low <= median && median <= high && median < &*date(1600), "{told}");
    assert!(*high > *date(NOW), "{told}");
}

/// Each 3x2 has the node n1. Behind such a job nothing starts in its order: another reason.
#[test]
fn what_cannot_start_has_no_time() {
    let past = past(60);
    let cannot = "It cannot start until an unavailable node is back; 3x2 at 0,0 has the fewest of \
                  them (1).";
    for past in [None, Some(&*past)] {
        let mut lacking = ledger(vec![shaped("1", "1x2", 2, 9), shaped("2", "3x2", 6, 5)]);
        lacking.nodes[1].condition = Condition::Unavailable;
        assert_eq!(told_of(&lacking, "easy", past), cannot);
        let mut lacking = ledger(vec![shaped("1", "3x2", 6, 9), shaped("2", "1x1", 1, 5)]);
        lacking.nodes[1].condition = Condition::Unavailable;
        let told = told_of(&lacking, "strict", past);
        assert!(told.contains("t does not start within 60 days.") != told.contains("cannot"));
        assert!(!told.contains("19") && !told.contains("between"), "{told}");
    }
}

#[test]
fn what_is_no_log_is_no_past() {
    for text in ["", "Slurm accounting storage is disabled\n", "JobIDRaw|State\n", "\u{1b}[2J|"] {
        assert!(Past::read(text).is_none(), "{text:?}");
    }
}
