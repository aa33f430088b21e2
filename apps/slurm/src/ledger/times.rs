//! Times and durations as Slurm prints them.

use crate::names::number;

/// A bound on time limits in seconds. Slurm stores them as 32 bits of minutes, which is less; a
/// longer one is damaged output.
const MAX_LIMIT_S: u64 = 1 << 40;

/// Returns true for a word such as N/A or UNLIMITED, which Slurm prints in place of a value.
pub(super) fn is_word(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || b"/_".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}

/// Reads seconds since 1970, which Slurm stores in 32 bits; `None` for a word such as N/A.
pub(super) fn timestamp(text: &str) -> Result<Option<u64>, &'static str> {
    match number::<u32>(text) {
        Some(seconds) => Ok(Some(seconds.into())),
        None if is_word(text) => Ok(None),
        None => Err("one of its times cannot be parsed"),
    }
}

/// Reads `days-hours:minutes:seconds` and its shorter forms as seconds; `None` for a word.
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
