//! Parsers for the cells in `sacct` output, also used for `sacct --json`. A parser returns `None`
//! for an invalid cell, and a negative number for a time that is unknown.

use pavior_kernel::Date;

use crate::traces::text;

/// The id of a job or step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) enum Name {
    /// A job id.
    Job(Id),
    /// A step id.
    Step,
}

/// The parts of a job id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::traces) struct Id {
    /// The number of the job as a whole.
    pub(in crate::traces) number: u64,
    /// The task number, if this is an array task.
    task: Option<u64>,
    /// The component number, if this is part of a heterogeneous job.
    component: Option<u64>,
}

/// Parses a job id such as `71`, `71_4`, `71_[5-9%2]` or `71+0`, or a step id such as `71.batch` or
/// `71_4.0`.
pub(in crate::traces) fn id(cell: &[u8]) -> Option<Name> {
    let (number, mut rest) = digits(cell)?;
    let mut id = Id { number, task: None, component: None };
    if let Some(tasks) = rest.strip_prefix(b"_[") {
        let end = tasks.iter().position(|&byte| byte == b']')?;
        let legal = |byte: &u8| byte.is_ascii_digit() || b",-%:.".contains(byte);
        if end == 0 || !tasks[..end].iter().all(legal) {
            return None;
        }
        // Pending tasks share one line, which gets a task number that no real task has.
        id.task = Some(u64::MAX);
        rest = &tasks[end + 1..];
    } else if let Some(task) = rest.strip_prefix(b"_") {
        let (task, behind) = digits(task)?;
        (id.task, rest) = (Some(task), behind);
    }
    if let Some(component) = rest.strip_prefix(b"+") {
        let (component, behind) = digits(component)?;
        (id.component, rest) = (Some(component), behind);
    }
    match rest {
        [] => Some(Name::Job(id)),
        [b'.', step @ ..] => {
            let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+-".contains(byte);
            (!step.is_empty() && step.iter().all(legal)).then_some(Name::Step)
        }
        _ => None,
    }
}

/// Splits off the leading integer, which may have up to 15 digits.
fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=15).contains(&count) {
        return None;
    }
    let number = text[..count].iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
    Some((number, &text[count..]))
}

/// Parses text that consists only of an integer.
fn whole(text: &[u8]) -> Option<u64> {
    digits(text).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}

pub(in crate::traces) fn number(cell: &[u8]) -> Option<f64> {
    whole(cell).map(|number| number as f64)
}

/// The parts of a job's state that Pavior uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traces) struct State {
    /// The status in the Standard Workload Format: 1 for completed, 0 for failed, 5 for canceled,
    /// and -1 for any other state.
    pub(in crate::traces) status: i64,
    /// True if the job, or this run of the job, has ended.
    pub(in crate::traces) over: bool,
    /// True if the job was canceled.
    pub(in crate::traces) cancelled: bool,
}

impl State {
    /// The state of a job that has ended with an unknown outcome.
    pub(in crate::traces) const OVER: State = State { status: -1, over: true, cancelled: false };
}

/// The states of jobs that are waiting or running.
const OPEN: [&[u8]; 9] = [
    b"PENDING",
    b"RUNNING",
    b"SUSPENDED",
    b"COMPLETING",
    b"CONFIGURING",
    b"SIGNALING",
    b"STAGE_OUT",
    b"STOPPED",
    b"REVOKED",
];

/// The states of jobs that failed.
const FAILED: [&[u8]; 7] = [
    b"FAILED",
    b"TIMEOUT",
    b"NODE_FAIL",
    b"OUT_OF_MEMORY",
    b"BOOT_FAIL",
    b"LAUNCH_FAILED",
    b"DEADLINE",
];

/// Returns the state word, without the name of the user who canceled the job.
pub(in crate::traces) fn state_word(cell: &[u8]) -> &[u8] {
    cell.split(|&byte| byte == b' ').next().unwrap_or_default()
}

/// Parses a state: a word in capitals, optionally followed by ` by` and a user name. Unknown words
/// are accepted, because new Slurm releases introduce new words.
pub(in crate::traces) fn state(cell: &[u8]) -> Option<State> {
    let end = cell.iter().position(|&byte| byte == b' ').unwrap_or(cell.len());
    let (word, rest) = cell.split_at(end);
    let legal = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    let by = rest.strip_prefix(b" by ").is_some_and(|who| !who.is_empty());
    if word.is_empty() || !word.iter().all(legal) || !(rest.is_empty() || by) {
        return None;
    }
    let cancelled = word == b"CANCELLED";
    let status = match word {
        b"COMPLETED" => 1,
        _ if FAILED.contains(&word) => 0,
        _ if cancelled => 5,
        _ => -1,
    };
    Some(State { status, over: !OPEN.contains(&word), cancelled })
}

/// Returns true if a cell is empty or contains a word for an unknown value.
fn is_unknown(cell: &[u8]) -> bool {
    let words = ["", "Unknown", "None", "N/A", "INVALID"];
    words.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// Parses a point in time, in seconds since 1970. The cell contains a number or a date. The date is
/// followed by `T` or a space and the time of day, optionally with decimals and a time zone (`Z`,
/// `+0100`, `+01:00`). Also returns the zone's offset in seconds, which is 0 for a date without a
/// zone and `None` for a number.
pub(in crate::traces) fn instant(cell: &[u8]) -> Option<(f64, Option<i64>)> {
    if is_unknown(cell) {
        return Some((-1.0, None));
    }
    if let Some(seconds) = whole(cell) {
        return Some((seconds as f64, None));
    }
    let text = std::str::from_utf8(cell).ok()?;
    let (date, rest) = text.split_at_checked("2026-01-02T03:04:05".len())?;
    let date = date.replacen(' ', "T", 1);
    let seconds = Date::without_zone(&date)?.0.as_secs_f64();
    let decimals = rest
        .strip_prefix('.')
        .map_or(0, |rest| 1 + rest.bytes().take_while(u8::is_ascii_digit).count());
    if decimals == 1 || decimals > 10 {
        return None;
    }
    let (decimals, zone) = rest.split_at(decimals);
    let decimals: f64 = if decimals.is_empty() { 0.0 } else { decimals.parse().ok()? };
    let offset = if zone.is_empty() { 0 } else { offset(zone)? };
    Some((seconds + decimals - offset as f64, Some(offset)))
}

/// Parses a time zone and returns its UTC offset in seconds.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.strip_prefix(['+', '-'])?;
    let is_form = match digits.len() {
        2 | 4 => digits.bytes().all(|byte| byte.is_ascii_digit()),
        5 => digits.as_bytes()[2] == b':',
        _ => false,
    };
    let digits = digits.replacen(':', "", 1);
    let whole = |text: &str| if text.is_empty() { Some(0) } else { whole(text.as_bytes()) };
    let (hours, minutes) = digits.split_at_checked(2).filter(|_| is_form)?;
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60) as i64)
}

/// Parses `[D-]HH:MM:SS` or `MM:SS`, with or without decimals, into seconds.
fn span(cell: &[u8]) -> Option<f64> {
    let (days, clock) = match cell.iter().position(|&byte| byte == b'-') {
        Some(at) => (whole(&cell[..at])?, &cell[at + 1..]),
        None => (0, cell),
    };
    let parts: Vec<&[u8]> = clock.splitn(4, |&byte| byte == b':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes, seconds] => (whole(hours)?, whole(minutes)?, seconds),
        [minutes, seconds] if days == 0 => (0, whole(minutes)?, seconds),
        _ => return None,
    };
    let decimals = seconds.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds = text::number(seconds).filter(|_| decimals)?;
    if hours > 99_999 || minutes > 59 || seconds >= 60.0 {
        return None;
    }
    let hours = days as f64 * 24.0 + hours as f64;
    Some(hours * 3600.0 + minutes as f64 * 60.0 + seconds)
}

/// Parses a run time in seconds.
pub(in crate::traces) fn elapsed(cell: &[u8]) -> Option<f64> {
    if is_unknown(cell) { Some(-1.0) } else { span(cell) }
}

/// Parses a run time as a whole number of seconds.
pub(in crate::traces) fn seconds(cell: &[u8]) -> Option<f64> {
    if is_unknown(cell) { Some(-1.0) } else { number(cell) }
}

/// Returns true if a cell in the time-limit column indicates that the job has no limit.
fn is_unlimited(cell: &[u8]) -> bool {
    let words = ["UNLIMITED", "Partition_Limit"];
    is_unknown(cell) || words.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// Parses a time limit, in seconds.
pub(in crate::traces) fn limit(cell: &[u8]) -> Option<f64> {
    if is_unlimited(cell) { Some(-1.0) } else { span(cell) }
}

/// Parses a time limit in whole minutes, converting it to seconds.
pub(in crate::traces) fn minutes(cell: &[u8]) -> Option<f64> {
    if is_unlimited(cell) { Some(-1.0) } else { number(cell).map(|minutes| minutes * 60.0) }
}

/// Parses a node count, such as `128`, `1K` (1024) or `1.50K`. An unknown count becomes 0.
pub(in crate::traces) fn count(cell: &[u8]) -> Option<f64> {
    if is_unknown(cell) {
        return Some(0.0);
    }
    let suffixes = b"KMG";
    let power = cell.last().and_then(|last| suffixes.iter().position(|suffix| suffix == last));
    let digits = if power.is_some() { &cell[..cell.len() - 1] } else { cell };
    let legal = digits.len() <= 15 && digits.iter().all(|c| c.is_ascii_digit() || *c == b'.');
    let value = text::number(digits).filter(|_| legal)?;
    Some(value * power.map_or(1.0, |power| f64::from(1 << (10 * (power + 1)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_jobs_or_steps() {
        let job = |text: &str| match id(text.as_bytes()) {
            Some(Name::Job(id)) => Some((id.number, id.task, id.component)),
            _ => None,
        };
        assert_eq!(job("71"), Some((71, None, None)));
        assert_eq!(job("71_4"), Some((71, Some(4), None)));
        assert_eq!(job("71+2"), Some((71, None, Some(2))));
        assert_eq!(job("71_[5-9,11%2]"), Some((71, Some(u64::MAX), None)));
        for step in ["71.batch", "71.0", "71_4.extern", "71+0.interactive", "71.0+1"] {
            assert_eq!(id(step.as_bytes()), Some(Name::Step), "{step}");
        }
        for none in ["", "x", "71_", "71_[", "71_[]", "71_[a]", "71+", "71.", "71.a b", "71x", "-1"]
        {
            assert_eq!(id(none.as_bytes()), None, "{none}");
        }
        assert_eq!(id(b"1234567890123456"), None);
    }

    #[test]
    fn times_are_read_as_slurm_writes_them() {
        for (text, expected) in [
            ("00:01:30", Some(90.0)),
            ("1-02:03:04", Some(93_784.0)),
            ("100-00:00:00", Some(8_640_000.0)),
            ("01:30.500", Some(90.5)),
            ("00:60:00", None),
            ("00:00:60", None),
            ("90", None),
            ("-00:00:01", None),
            ("1-2-00:00:00", None),
            ("1-00:00", None),
            ("00:00:1e1", None),
            ("0:0:0:0", None),
        ] {
            assert_eq!(span(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(limit(b"Partition_Limit"), Some(-1.0));
        assert_eq!((limit(b"UNLIMITED"), minutes(b"90")), (Some(-1.0), Some(5400.0)));
        assert_eq!(instant(b"2026-01-02T03:04:05"), Some((1_767_323_045.0, Some(0))));
        assert_eq!(instant(b"1767323045"), Some((1_767_323_045.0, None)));
        for (text, seconds, zone) in [
            ("2026-01-02T03:04:05Z", 45.0, 0),
            ("2026-01-02 03:04:05", 45.0, 0),
            ("2026-01-02T04:04:05+0100", 45.0, 3600),
            ("2026-01-02T04:04:05+01:00", 45.0, 3600),
            ("2026-01-01T20:04:05.5-07", 45.5, -25_200),
            ("2026-01-02 03:04:05.250", 45.25, 0),
        ] {
            let found = instant(text.as_bytes()).unwrap();
            assert_eq!(found, (1_767_323_000.0 + seconds, Some(zone)), "{text}");
        }
        for none in [
            "2026-01-02",
            "2026-02-30T00:00:00",
            "2026-01-02T03:04:05X",
            "2026-01-02T03:04:05.",
            "2026-01-02T03:04:05+1",
            "2026-01-02T03:04:05+99:00",
            "2026-01-02T03:04:05+01:0",
            "2026-01-02T03:04:05 +0100 ",
            "2026-01-02  03:04:05",
            "Now",
            "-1",
        ] {
            assert_eq!(instant(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn counts_may_be_of_1024() {
        let found = ["4", "1K", "1.50K", "2M", "", "0"].map(|text| count(text.as_bytes()));
        assert_eq!(found, [4.0, 1024.0, 1536.0, 2_097_152.0, 0.0, 0.0].map(Some));
        for none in ["K", "1k", "-1", "1e3", "1KK", "0x1"] {
            assert_eq!(count(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn states_are_words_in_capitals() {
        let found = |text: &str| state(text.as_bytes()).map(|state| (state.status, state.over));
        assert_eq!(found("COMPLETED"), Some((1, true)));
        assert_eq!(found("CANCELLED by 1000"), Some((5, true)));
        assert_eq!(found("NODE_FAIL"), Some((0, true)));
        assert_eq!(found("RUNNING"), Some((-1, false)));
        assert_eq!(found("REQUEUED"), Some((-1, true)));
        assert_eq!(["", "Completed", "CANCELLED by ", "CANCELLED 7"].map(found), [None; 4]);
    }
}
