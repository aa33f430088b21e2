//! Parsers for times and durations in Slurm's formats.

use crate::names::number;

/// An upper bound on time limits, in seconds. Slurm stores minutes in 32 bits, so a longer limit
/// means that the output is corrupt.
const MAX_LIMIT_S: u64 = 1 << 40;

/// Returns true if the text is a word that Slurm prints instead of a value, such as N/A.
pub(super) fn is_word(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || b"/_".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}

/// Parses seconds since 1970, which Slurm stores in 32 bits. Returns `None` for words such as N/A.
pub(super) fn timestamp(text: &str) -> Result<Option<u64>, &'static str> {
    match number::<u32>(text) {
        Some(seconds) => Ok(Some(seconds.into())),
        None if is_word(text) => Ok(None),
        None => Err("one of its timestamps cannot be parsed"),
    }
}

/// Parses `days-hours:minutes:seconds`, or a shorter form, into seconds. Returns `None` for words
/// such as UNLIMITED.
pub(crate) fn time_limit(text: &str) -> Result<Option<u64>, &'static str> {
    if is_word(text) {
        return Ok(None);
    }
    duration(text)
        .filter(|seconds| *seconds < MAX_LIMIT_S)
        .map(Some)
        .ok_or("its time limit cannot be parsed")
}

fn duration(text: &str) -> Option<u64> {
    let part = |text: &str| number::<u32>(text).map(u64::from);
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(part(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(part).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, parts.as_slice()) {
        (None, &[minutes]) => (0, minutes, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        (Some(_), &[hours]) => (hours, 0, 0),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        _ => return None,
    };
    Some(days.unwrap_or(0) * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn timestamps_are_parsed() {
        assert_eq!(timestamp("1795311390"), Ok(Some(1_795_311_390)));
        assert_eq!(timestamp("N/A"), Ok(None));
        for text in ["", "-1", "tomorrow 7", "4294967296"] {
            assert!(timestamp(text).is_err(), "{text}");
        }
    }
}
