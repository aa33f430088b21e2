//! Numbers and truth values as Slurm reads them out of text.

/// A number of 16 bits as Slurm makes it, or none where it refuses the text.
///
/// Slurm reads an integer of 64 bits, decimal after white space and a sign or hexadecimal after
/// `0x`, and keeps its lowest 16 bits without a word.
pub(super) fn read(text: &str) -> Option<Read> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let whole = if let Some(digits) = hexadecimal {
        i64::from_str_radix(plain(digits, 16)?, 16).ok()?
    } else {
        let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let number: i64 = plain(digits, 10)?.parse().ok()?;
        if negative { -number } else { number }
    };
    let kept = whole as u16;
    Some(Read { kept, cut: (i64::from(kept) != whole).then_some(whole) })
}

/// What Slurm makes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The number that it uses.
    pub(super) kept: u16,
    /// The number that stands there, if it is another.
    pub(super) cut: Option<i64>,
}

/// Digits alone: `from_str_radix` would take a sign.
fn plain(text: &str, radix: u32) -> Option<&str> {
    (!text.is_empty() && text.chars().all(|letter| letter.is_digit(radix))).then_some(text)
}

/// A truth value as Slurm makes it of a text, and whether the text is a word for it.
pub(super) fn boolean(text: &str) -> (bool, bool) {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "t" | "true" | "on" | "1" => (true, true),
        "n" | "no" | "f" | "false" | "off" | "0" | "null" | "~" | "" => (false, true),
        // Slurm takes any other text for true.
        other => (!other.starts_with('~') && other.parse() != Ok(0.0), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_slurm_makes_of_them() {
        for (text, kept) in [("4", 4), ("04", 4), ("+4", 4), (" 4", 4), ("0x1f", 31), ("0", 0)] {
            assert_eq!(read(text), Some(Read { kept, cut: None }), "{text}");
        }
        for (text, kept, whole) in [("65540", 4, 65540), ("-4", 65532, -4), ("0x10004", 4, 65540)] {
            assert_eq!(read(text), Some(Read { kept, cut: Some(whole) }), "{text}");
        }
        for text in ["", "~", "four", "4.0", "4k", "4 ", "0x", "0xg", "+-4", "- 4", "null", "٤"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn any_other_text_is_true() {
        for (text, value) in [("yes", true), ("ON", true), ("f", false), ("0", false), ("", false)]
        {
            assert_eq!(boolean(text), (value, true), "{text}");
        }
        for (text, value) in [("perhaps", true), ("0.0", false), ("~x", false), ("2", true)] {
            assert_eq!(boolean(text), (value, false), "{text}");
        }
    }
}
