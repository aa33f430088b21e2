//! Parses the shape in a comment.
//!
//! The grammar is the same as in `gate/pavior.lua`, and `gate/shapes.txt` contains test cases for
//! both. The word `shape` may occur anywhere in the comment, except directly after a letter, digit
//! or underscore, or directly before a letter. It is followed by an equals sign, which may be
//! surrounded by spaces, and by the sides, separated by `x`. The sides end at a space, comma or
//! semicolon. Case does not matter. Text that almost has this form is an error. If it were treated
//! as a comment without a shape, the job would silently run on a single node instead of a box.

use pavior::Sides;

use crate::names::number;

const NOT_WRITTEN: &str = "specify the shape as shape=4x4";
const NO_SHAPE: &str = "its shape must have the form 4x4";
const BAD_SIDE: &str = "each side of its shape must be between 1 and 65535";

/// The maximum number of digits in a side, including leading zeros.
const MAX_DIGITS: usize = 5;

/// Parses the shape in a comment, for a machine with `axes` axes. Returns `None` if the comment
/// contains no shape.
pub(crate) fn read(comment: &str, axes: usize) -> Result<Option<Sides>, String> {
    let mut found = None;
    let mut from = 0;
    while let Some(behind) = next_word(comment, from) {
        from = behind;
        match value(&comment[behind..])? {
            Some(_) if found.is_some() => return Err("its comment contains two shapes".into()),
            Some(text) => found = Some(text),
            None => {}
        }
    }
    found.map(|text| sides(text, axes)).transpose()
}

/// Finds the next occurrence of the word `shape` and returns its end position.
fn next_word(comment: &str, from: usize) -> Option<usize> {
    const WORD: &[u8] = b"shape";
    let bytes = comment.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let is_word = |&at: &usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let end = at + WORD.len();
        let is_plural = bytes.get(end).is_some_and(|next| next.eq_ignore_ascii_case(&b's'));
        bytes[at..end].eq_ignore_ascii_case(WORD)
            && !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !is_letter(end + usize::from(is_plural))
    };
    let last = bytes.len().checked_sub(WORD.len())?;
    (from..=last).find(is_word).map(|at| at + WORD.len())
}

/// Returns the sides written after the word `shape`, or `None` if the text is not a shape.
fn value(rest: &str) -> Result<Option<&str>, &'static str> {
    let (is_plural, rest) = match rest.strip_prefix(['s', 'S']) {
        Some(behind) => (true, behind),
        None => (false, rest),
    };
    let is_end = |c: char| c.is_ascii_alphanumeric() || [',', ';'].contains(&c);
    let between = rest.find(is_end).unwrap_or(rest.len());
    if is_plural || rest[..between].trim_matches(' ') != "=" {
        let has_digit = rest[between..].starts_with(|c: char| c.is_ascii_digit());
        let is_meant = has_digit || rest[..between].contains('=');
        return if is_meant { Err(NOT_WRITTEN) } else { Ok(None) };
    }
    let text = &rest[between..];
    let (text, behind) = text.split_at(text.find([' ', ',', ';']).unwrap_or(text.len()));
    // `4 x 4` must not be parsed as 4.
    let behind = behind.trim_start_matches(' ');
    let goes_on = behind.strip_prefix(['x', 'X', '*']).map(|more| more.trim_start_matches(' '));
    if goes_on.is_some_and(|more| more.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(NO_SHAPE);
    }
    Ok(Some(text))
}

fn sides(text: &str, axes: usize) -> Result<Sides, String> {
    let parts: Vec<&str> = text.split(['x', 'X']).collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !parts.iter().all(is_number) {
        return Err(NO_SHAPE.into());
    }
    let side = |part: &&str| {
        let side = if part.len() <= MAX_DIGITS { number::<u16>(part) } else { None };
        side.filter(|side| *side > 0).ok_or(BAD_SIDE)
    };
    let read = parts.iter().map(side).collect::<Result<Vec<u16>, &str>>()?;
    if read.len() != axes {
        return Err(format!("its shape does not have {axes} sides"));
    }
    let mut sides = [1; 3];
    sides[..axes].copy_from_slice(&read);
    Ok(sides)
}
