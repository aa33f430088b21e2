//! Tests for `squeue` output, both recorded and constructed.

use super::*;

pub(super) const MARK: &str = "0123456789abcdef0123456789abcdef";

/// A job's fields as `squeue` prints them, without its comment.
pub(super) const WAITING: [&str; FIELD_COUNT - 1] = [
    "3_1",
    "PD",
    "Licenses",
    "4294901757",
    "4",
    "",
    "n[02-03]",
    "N/A",
    "1-00:00:00",
    "1795311390",
    "matlab:2,pavior:1",
    "mesh",
    "normal",
    "physics",
    "1000",
    "(null)",
    "a&(b|c)",
    "gres:gpu:2",
    "3000M",
    "2",
    "8",
    "*:*:*",
    "0",
    "n[07-08]",
    "N/A",
];

/// Formats a job's record as `squeue` prints it.
pub(super) fn line(fields: &[&str; FIELD_COUNT - 1], comment: &str) -> String {
    let mut text = MARK.to_string();
    for field in fields.iter().chain([&comment]) {
        text = text + field + MARK;
    }
    text + "\n"
}

fn with_field(at: usize, field: &'static str) -> [&'static str; FIELD_COUNT - 1] {
    let mut fields = WAITING;
    fields[at] = field;
    fields
}

pub(super) fn parse(text: &str) -> (Vec<SlurmJob>, Vec<Unreadable>) {
    read(text, &Mark::of(MARK)).unwrap()
}

#[test]
fn marks_are_random() {
    let (one, other) = (Mark::new().unwrap(), Mark::new().unwrap());
    assert!(one.0.len() == 32 && one.0 != other.0);
    let format = Mark::of("M").format();
    assert_eq!(
        format,
        "M%iM%tM%rM%QM%DM%NM%nM%SM%lM%VM%WM%PM%qM%aM%UM%vM%fM%bM%mM%cM%CM%zM%dM%xM%eM%kM"
    );
}

#[test]
fn a_record_is_parsed() {
    let (jobs, unreadable) = parse(&line(&WAITING, "shape=2x2 a|b"));
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((job.name.to_string(), job.phase, job.nodes), ("3_1".into(), Phase::Pending, 4));
    assert_eq!((job.named.len(), job.limit, job.start), (2, Some(86_400), None));
    assert!(job.licenses.has_gate("pavior"));
    assert_eq!(job.licenses.without_gate("pavior").to_string(), "matlab:2");
    assert_eq!((job.partition.as_str(), job.user, job.account.as_str()), ("mesh", 1000, "physics"));
    let demands = job.demands.as_ref().unwrap();
    assert_eq!((demands.memory, demands.cpus, demands.excluded.len()), (3000, 2, 2));
    assert!(job.reservation.is_empty() && demands.features.is_some());
    assert!(job.comment == "shape=2x2 a|b" && !job.bad_comment && unreadable.is_empty());
    assert_eq!(parse(""), (Vec::new(), Vec::new()));
    assert_eq!(parse(&line(&WAITING, "(null)")).0[0].comment, "");
}

#[test]
fn time_limits_are_parsed() {
    let all = ["30", "1:30", "2:00:00", "1-00", "1-12:30", "UNLIMITED", "NOT_SET"];
    let some = [1800, 90, 7200, 86_400, 131_400].map(Some);
    assert_eq!(all[..5].iter().map(|text| time_limit(text).unwrap()).collect::<Vec<_>>(), some);
    assert!(all[5..].iter().all(|text| time_limit(text) == Ok(None)));
    for text in ["", "+1", "1:", "4294967295-00:00:00", "1 2", "1:2:3:4", "99999999999"] {
        assert!(time_limit(text).is_err(), "{text}");
    }
}

#[test]
fn a_malformed_record_does_not_affect_other_records() {
    let good = line(&WAITING, "shape=2x2");
    for (at, field, fault, job) in [
        (0, "x", "identifier", false),
        (0, "7 StartTime=now", "identifier", false),
        (0, "7+1", "heterogeneous", false),
        (0, "7_[1-5%2]", "several tasks", false),
        (1, "", "state", true),
        (3, "-1", "priority", true),
        (4, "1K", "number of nodes", true),
        (5, "n[1", "its nodes", true),
        (7, "tomorrow 7", "time", true),
        (8, "1:2:3:4", "time limit", true),
        (9, "N/A", "submission", true),
        (10, "a|b", "licenses", true),
        (24, "9 8", "time", true),
    ] {
        let (jobs, unreadable) =
            parse(&(good.clone() + &line(&with_field(at, field), "x") + &good));
        let [found] = &unreadable[..] else { panic!("{field}: {unreadable:?}") };
        assert!(found.fault.contains(fault), "{field}: {}", found.fault);
        assert_eq!((jobs.len(), found.job.is_some()), (2, job), "{field}");
        // The record's nodes are known nevertheless.
        assert_eq!(found.nodes.len(), 2, "{field}");
    }
}

#[test]
fn a_comment_with_control_characters_stays_one_comment() {
    for comment in ["shape=2x2 a\nb", "a\rb", "\u{1b}[31m", "a\u{85}b", "\n", "a\tb"] {
        let (jobs, unreadable) = parse(&(line(&WAITING, comment) + &line(&with_field(0, "9"), "")));
        assert_eq!((jobs.len(), unreadable.len()), (2, 1), "{comment:?}");
        assert!(jobs[0].bad_comment && !jobs[1].bad_comment && jobs[0].named.len() == 2);
        assert_eq!(unreadable[0].fault, CONTROL_CHARACTERS);
        assert_eq!(unreadable[0].job, Some(jobs[0].name));
    }
}

#[test]
fn text_between_records_is_reported() {
    let good = line(&WAITING, "shape=2x2");
    let (jobs, unreadable) = parse(&format!("noise\n{good}noise\n{good}"));
    assert_eq!((jobs.len(), unreadable.len()), (2, 2));
    // Without the mark, there is no record at all.
    let (jobs, unreadable) = parse("7|R|None|1|1|n0||1|1:00|1|(null)|\n8|R|x\n");
    assert_eq!((jobs.len(), unreadable.len()), (0, 1));
}

#[test]
fn truncated_output_is_an_error() {
    let whole = line(&WAITING, "shape=2x2 a\nb") + &line(&with_field(0, "9"), "");
    let lengths =
        (1..whole.len()).filter(|length| *length != line(&WAITING, "shape=2x2 a\nb").len());
    for length in lengths {
        let cut = read(&whole[..length], &Mark::of(MARK));
        assert!(cut.is_err(), "{length} of {}: {cut:?}", whole.len());
    }
}

/// Checks `squeue` output from clusters with jobs of every kind, which `tests/it/recorded.rs`
/// recorded with this mark. Six of the jobs have hostile comments.
#[test]
fn recorded_output_is_parsed() {
    let answers: [(&[u8], &str); 3] = [
        (include_bytes!("squeue-22.05.8.txt"), "1 2 4"),
        (include_bytes!("squeue-24.11.5.txt"), "4 2 1"),
        (include_bytes!("squeue-26.05.5.txt"), "4 2 1"),
    ];
    for (answer, running) in answers {
        let (jobs, unreadable) = parse(&String::from_utf8_lossy(answer));
        let names = jobs.iter().map(|job| job.name.to_string()).collect::<Vec<_>>();
        let expected = format!("13 14 12_1 12_3 12_5 12_6 11 10 9 8 7 6 5 {running} 3");
        assert_eq!(names.join(" "), expected);
        let running = jobs.iter().filter(|job| job.phase == Phase::Running);
        let mut held: Vec<usize> = running.map(|job| job.held.len()).collect();
        held.sort_unstable();
        let forged = "a line of job 2's comment says that job 1 holds n00 to n02";
        assert_eq!(held, [1, 1, 1, 4], "{forged}");
        let faults: Vec<_> = unreadable.iter().map(|record| record.fault).collect();
        let control = faults.iter().filter(|fault| **fault == CONTROL_CHARACTERS).count();
        let several = faults.iter().filter(|fault| fault.contains("heterogeneous")).count();
        assert_eq!((control, several, faults.len()), (6, 2, 8), "{unreadable:?}");
        check_ends(&jobs);
    }
}

/// Checks the ends of recorded jobs. Job 1 has a time limit of 300 s, job 2 has none, job 3 is
/// suspended, and job 4 was suspended for three or four seconds.
fn check_ends(jobs: &[SlurmJob]) {
    let job = |name: &str| jobs.iter().find(|job| job.name.to_string() == name).unwrap();
    let length = |name: &str| Some(job(name).release_time(0)? - job(name).start?);
    assert_eq!((length("1"), length("2"), length("3")), (Some(300), None, None));
    assert!(matches!(length("4"), Some(303 | 304)), "{:?}", length("4"));
    assert_eq!((job("4").limit, job("3").end), (Some(300), None));
}
