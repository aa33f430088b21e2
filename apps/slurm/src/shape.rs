//! The shape that a comment asks for.
//!
//! One grammar, which `gate/pavior.lua` has as well; `gate/shapes.txt` is the table of cases that
//! both are held against. The word `shape` stands anywhere in the comment, behind no letter, digit
//! or underscore, and before no letter. Behind it come an equals sign, with spaces around it or
//! not, and the sides, joined by `x`, up to a space, a comma or a semicolon. Capital letters are as
//! good as small ones.
//!
//! What nearly looks like that is a fault, never a comment without a shape: a job of one node in
//! place of a box would run, and nobody would be told.

use pavior::Sides;

use crate::names::number;

/// Why a comment asks for no shape although it seems to; in words that hold no text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadShape {
    Two,
    NotWritten,
    NoShape,
    BadSide,
    Axes(usize),
}

impl std::fmt::Display for BadShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadShape::Two => f.write_str("its comment names two shapes"),
            BadShape::NotWritten => f.write_str("a shape is written as shape=4x4"),
            BadShape::NoShape => f.write_str("its shape is none; write one like 4x4"),
            BadShape::BadSide => f.write_str("a side of its shape is not 1 to 65535"),
            BadShape::Axes(axes) => write!(f, "its shape has not {axes} sides"),
        }
    }
}

/// The longest side, in digits.
const DIGITS: usize = 5;

/// The shape of a comment on a machine of so many axes; `None` if it asks for none.
pub(crate) fn read(comment: &str, axes: usize) -> Result<Option<Sides>, BadShape> {
    let mut found = None;
    let mut from = 0;
    while let Some(behind) = next_word(comment, from) {
        from = behind;
        match value(&comment[behind..])? {
            Some(_) if found.is_some() => return Err(BadShape::Two),
            Some(text) => found = Some(text),
            None => {}
        }
    }
    found.map(|text| sides(text, axes)).transpose()
}

/// Where the text behind the next word `shape` begins.
fn next_word(comment: &str, from: usize) -> Option<usize> {
    const WORD: &[u8] = b"shape";
    let bytes = comment.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let is = |&at: &usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let end = at + WORD.len();
        let plural = bytes.get(end).is_some_and(|next| next.eq_ignore_ascii_case(&b's'));
        bytes[at..end].eq_ignore_ascii_case(WORD)
            && !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !letter(end + usize::from(plural))
    };
    let last = bytes.len().checked_sub(WORD.len())?;
    (from..=last).find(is).map(|at| at + WORD.len())
}

/// The sides behind the word, as they are written; `None` if no sides are meant.
fn value(rest: &str) -> Result<Option<&str>, BadShape> {
    let (plural, rest) = match rest.strip_prefix(['s', 'S']) {
        Some(behind) => (true, behind),
        None => (false, rest),
    };
    let ends = |c: char| c.is_ascii_alphanumeric() || [',', ';'].contains(&c);
    let between = rest.find(ends).unwrap_or(rest.len());
    if plural || rest[..between].trim_matches(' ') != "=" {
        let digit = rest[between..].starts_with(|c: char| c.is_ascii_digit());
        let meant = digit || rest[..between].contains('=');
        return if meant { Err(BadShape::NotWritten) } else { Ok(None) };
    }
    let text = &rest[between..];
    let (text, behind) = text.split_at(text.find([' ', ',', ';']).unwrap_or(text.len()));
    // `4 x 4` is not four of anything.
    let behind = behind.trim_start_matches(' ');
    let goes_on = behind.strip_prefix(['x', 'X', '*']).map(|more| more.trim_start_matches(' '));
    if goes_on.is_some_and(|more| more.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(BadShape::NoShape);
    }
    Ok(Some(text))
}

fn sides(text: &str, axes: usize) -> Result<Sides, BadShape> {
    let parts: Vec<&str> = text.split(['x', 'X']).collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !parts.iter().all(digits) {
        return Err(BadShape::NoShape);
    }
    let side = |part: &&str| {
        let side = if part.len() <= DIGITS { number::<u16>(part) } else { None };
        side.filter(|side| *side > 0).ok_or(BadShape::BadSide)
    };
    let read = parts.iter().map(side).collect::<Result<Vec<u16>, BadShape>>()?;
    if read.len() != axes {
        return Err(BadShape::Axes(axes));
    }
    let mut sides = [1; 3];
    sides[..axes].copy_from_slice(&read);
    Ok(sides)
}
