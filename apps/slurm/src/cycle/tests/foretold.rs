//! When a waiting job will probably start.

use super::*;
use crate::foretold::{Past, Queued};
use crate::reason::date;

const NOW: u64 = 1010;

/// What job 2 is told, which waits for all nodes behind job 1.
fn told(past: Option<&str>) -> String {
    let config = config("easy");
    let held: Vec<u32> = (0..8).collect();
    let jobs = vec![running("1", "4x2", &held, 600), shaped("2", "4x2", 8, 5)];
    let ledger = ledger(jobs);
    let (mut shaper, site, said) = (shaper(&config).unwrap(), Site::default(), Said::default());
    let seen = Seen { now: NOW, site: &site, preempting: &HashSet::new() };
    let mut state = State::of(&config, &ledger, &mut shaper, &seen).unwrap();
    let view = View { now: NOW, site: &site, said: &said };
    queue(&ledger, &mut state, &mut Limits::new(&site, &said, &ledger), &view);
    let past = past.map(|text| Past::read(text).unwrap());
    let queued = Queued { config: &config, ledger: &ledger, state: &state, now: NOW };
    queued.told(1, past.as_ref(), &mut shaper).unwrap()
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

#[test]
fn what_is_no_log_is_no_past() {
    for text in ["", "Slurm accounting storage is disabled\n", "JobIDRaw|State\n", "\u{1b}[2J|"] {
        assert!(Past::read(text).is_none(), "{text:?}");
    }
}
