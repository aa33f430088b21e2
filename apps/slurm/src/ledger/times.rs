//! Times and durations as Slurm prints them.

use crate::names::number;

/// An upper bound on time limits in seconds, more than Slurm can express.
const LONGEST: u64 = 1 << 40;

/// Returns true if the text is one of Slurm's special words, such as N/A or UNLIMITED.
pub(super) fn is_word(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || b"/_".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}

/// Reads seconds since 1970, which Slurm stores in 32 bits; `None` for a word such as N/A.
pub(super) fn time(text: &str) -> Result<Option<u64>, &'static str> {
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
    seconds(text)
        .filter(|seconds| *seconds < LONGEST)
        .map(Some)
        .ok_or("its time limit cannot be parsed")
}

fn seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (number::<u32>(days)?, rest),
        None => (0, text),
    };
    let parts = rest.split(':').map(number::<u32>).collect::<Option<Vec<u32>>>()?;
    let parts: Vec<u64> = parts.into_iter().map(u64::from).collect();
    let of_a_day = match (parts[..].len(), text.contains('-')) {
        (1, false) => parts[0] * 60,
        (1, true) => parts[0] * 3600,
        (2, true) => parts[0] * 3600 + parts[1] * 60,
        (2, false) => parts[0] * 60 + parts[1],
        (3, _) => parts[0] * 3600 + parts[1] * 60 + parts[2],
        _ => return None,
    };
    Some(u64::from(days) * 86_400 + of_a_day)
}
