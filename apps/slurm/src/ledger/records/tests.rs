//! Tests with recorded and constructed `squeue` output.

use super::*;

pub(super) const MARK: &str = "0123456789abcdef0123456789abcdef";

/// The waiting job's name.
pub(super) const NAME: &str = "3_1";

/// A waiting job's fields except the comment, each with its `squeue` letter.
const WAITING: [(char, &str); FIELD_COUNT - 1] = [
    ('i', NAME),
    ('t', "PD"),
    ('r', "Licenses"),
    ('Q', "4294901757"),
    ('D', "4"),
    ('N', ""),
    ('n', "n[02-03]"),
    ('S', "N/A"),
    ('l', "1-00:00:00"),
    ('V', "1795311390"),
    ('W', "matlab:2,pavior:1"),
    ('P', "mesh"),
    ('q', "normal"),
    ('a', "physics"),
    ('U', "1000"),
    ('v', "(null)"),
    ('f', "a&(b|c)"),
    ('b', "gres:gpu:2"),
    ('m', "3000M"),
    ('c', "2"),
    ('C', "8"),
    ('z', "*:*:*"),
    ('d', "0"),
    ('x', "n[07-08]"),
    ('e', "N/A"),
];

/// Returns the waiting job's fields in the order of [`FIELDS`], with some of them replaced.
pub(super) fn waiting<'a>(changes: &[(char, &'a str)]) -> [&'a str; FIELD_COUNT - 1] {
    std::array::from_fn(|at| {
        let mut all = changes.iter().chain(&WAITING);
        all.find(|(letter, _)| *letter == FIELDS[at]).unwrap().1
    })
}

/// Formats a job's record as `squeue` prints it.
pub(super) fn line(fields: &[&str; FIELD_COUNT - 1], comment: &str) -> String {
    let mut text = MARK.to_string();
    for field in fields.iter().chain([&comment]) {
        text = text + field + MARK;
    }
    text + "\n"
}

pub(super) fn parse(text: &str) -> (Vec<SlurmJob>, Vec<Unreadable>) {
    read(text, &Mark::of(MARK)).unwrap()
}

#[test]
fn marks_are_random() {
    let (one, other) = (Mark::new().unwrap(), Mark::new().unwrap());
    assert_eq!(one.0.len(), 32);
    assert_ne!(one.0, other.0);
}

#[test]
fn the_mark_surrounds_every_field() {
    let format = Mark::of("M").format();
    assert_eq!(
        format,
        "M%iM%tM%rM%QM%DM%NM%nM%SM%lM%VM%WM%PM%qM%aM%UM%vM%fM%bM%mM%cM%CM%zM%dM%xM%eM%kM"
    );
}

#[test]
fn a_record_is_parsed() {
    let (jobs, unreadable) = parse(&line(&waiting(&[]), "shape=2x2 a|b"));
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((job.name.to_string(), job.phase, job.nodes), ("3_1".into(), Phase::Pending, 4));
    assert_eq!((job.requested_nodes.len(), job.limit, job.start), (2, Some(86_400), None));
    assert!(job.licenses.has_gate("pavior"));
    assert_eq!(job.licenses.without_gate("pavior").to_string(), "matlab:2");
    assert_eq!((job.partition.as_str(), job.user, job.account.as_str()), ("mesh", 1000, "physics"));
    let demands = job.demands.as_ref().unwrap();
    assert_eq!((demands.memory, demands.cpus, demands.excluded.len()), (3000, 2, 2));
    assert_eq!(job.reservation, "");
    assert!(demands.constraint.is_some());
    assert_eq!(job.comment.as_deref(), Ok("shape=2x2 a|b"));
    assert_eq!(unreadable, []);
    assert_eq!(parse(""), (Vec::new(), Vec::new()));
    assert_eq!(parse(&line(&waiting(&[]), "(null)")).0[0].comment.as_deref(), Ok(""));
}

#[test]
fn a_malformed_record_does_not_affect_other_records() {
    let good = line(&waiting(&[]), "shape=2x2");
    for (letter, field, fault) in [
        ('i', "x", "job ID"),
        ('i', "7 StartTime=now", "job ID"),
        ('i', "7+1", "heterogeneous"),
        ('i', "7_[1-5%2]", "array tasks"),
        ('t', "", "state"),
        ('Q', "-1", "priority"),
        ('D', "1K", "node count"),
        ('N', "n[1", "its node list"),
        ('n', "n[1", "requested nodes"),
        ('S', "tomorrow 7", "time"),
        ('l', "1:2:3:4", "time limit"),
        ('V', "N/A", "submission"),
        ('W', "a|b", "licenses"),
        ('U', "-1", "user"),
        ('x', "n[1", "excluded nodes"),
        ('e', "9 8", "time"),
    ] {
        let bad = line(&waiting(&[(letter, field)]), "x");
        let (jobs, unreadable) = parse(&(good.clone() + &bad + &good));
        let [found] = &unreadable[..] else { panic!("{field}: {unreadable:?}") };
        assert!(found.fault.contains(fault), "{field}: {}", found.fault);
        assert_eq!(jobs.len(), 2, "{field}");
        assert_eq!(found.job.is_some(), letter != 'i', "the job is known by its identifier");
        // The record's nodes are known even if another field is malformed.
        assert_eq!(found.nodes.len(), if letter == 'n' { 0 } else { 2 }, "{field}");
    }
}

#[test]
fn a_comment_with_control_characters_stays_one_comment() {
    for comment in ["shape=2x2 a\nb", "a\rb", "\u{1b}[31m", "a\u{85}b", "\n", "a\tb"] {
        let (jobs, unreadable) =
            parse(&(line(&waiting(&[]), comment) + &line(&waiting(&[('i', "9")]), "")));
        assert_eq!((jobs.len(), unreadable.len()), (2, 1), "{comment:?}");
        assert_eq!(jobs[0].comment, Err(ControlCharacters));
        assert_eq!(jobs[0].requested_nodes.len(), 2);
        assert_eq!(jobs[1].comment.as_deref(), Ok(""));
        assert_eq!(unreadable[0].fault, CONTROL_CHARACTERS);
        assert_eq!(unreadable[0].job, Some(jobs[0].name));
    }
}

#[test]
fn text_between_records_is_reported() {
    let good = line(&waiting(&[]), "shape=2x2");
    let (jobs, unreadable) = parse(&format!("noise\n{good}noise\n{good}"));
    assert_eq!((jobs.len(), unreadable.len()), (2, 2));
    // Without the mark, no record is found.
    let (jobs, unreadable) = parse("7|R|None|1|1|n0||1|1:00|1|(null)|\n8|R|x\n");
    assert_eq!((jobs.len(), unreadable.len()), (0, 1));
}

#[test]
fn truncated_output_is_an_error() {
    let first = line(&waiting(&[]), "shape=2x2 a\nb");
    let whole = first.clone() + &line(&waiting(&[('i', "9")]), "");
    for length in (1..whole.len()).filter(|length| *length != first.len()) {
        let cut = read(&whole[..length], &Mark::of(MARK));
        assert!(cut.is_err(), "{length} of {}: {cut:?}", whole.len());
    }
    // Output that ends between two records looks complete. Only the exit status of `squeue` reveals
    // the truncation.
    assert_eq!(parse(&whole[..first.len()]).0.len(), 1);
}

/// Checks `squeue` output that `tests/it/recorded.rs` recorded with this mark, on clusters with
/// jobs of every kind. Six of the jobs have hostile comments.
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
        let mut held: Vec<usize> = running.map(|job| job.held_nodes.len()).collect();
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

/// Checks the recorded jobs' end times. Job 1 has a time limit of 300 s, job 2 has none, job 3 is
/// suspended, and job 4 was suspended for three or four seconds.
fn check_ends(jobs: &[SlurmJob]) {
    let job = |name: &str| jobs.iter().find(|job| job.name.to_string() == name).unwrap();
    let length = |name: &str| Some(job(name).release_time(0)? - job(name).start?);
    assert_eq!((length("1"), length("2"), length("3")), (Some(300), None, None));
    assert!(matches!(length("4"), Some(303 | 304)), "{:?}", length("4"));
    assert_eq!((job("4").limit, job("3").end), (Some(300), None));
}
