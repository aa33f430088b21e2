//! Text widths, line breaking and truncation. Widths are estimates because the font is not known.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The estimated width of a narrow character, as a multiple of the font size.
const NARROW: f64 = 0.58;

/// Estimates the width of text. East Asian characters count as twice as wide as others.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    text.width() as f64 * size * NARROW
}

/// Breaks text into lines, between words where possible. A word that is wider than a line is itself
/// broken. Empty text has no lines.
pub(crate) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let columns = ((width / (size * NARROW)) as usize).max(2);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| broken(word, columns)) {
        match lines.last_mut() {
            Some(line) if width_of(line, size) + width_of(&word, size) + size < width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Breaks a word into pieces of at most `columns` columns.
fn broken(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for character in word.chars() {
        let width = character.width().unwrap_or(1);
        if used + width > columns {
            pieces.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

/// Truncates text that is too wide and appends an ellipsis. Leaves all other text unchanged.
pub(crate) fn cut(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_string();
    }
    let columns = ((width / width_of("m", size)) as usize).saturating_sub(1).max(1);
    broken(text, columns).swap_remove(0) + "…"
}

/// Returns the largest font size, in steps of 0.5 up to 13, at which text fits into a rectangle.
/// Returns `None` if the text would fit only at a size below 5, which is too small to read.
pub(crate) fn size_within(text: &str, [across, down]: [f64; 2]) -> Option<f64> {
    let letters = text.width().max(1) as f64;
    let size = (across * 1.5 / (letters + 0.6)).min(down * 0.75).min(13.0);
    (size >= 5.0).then(|| (size * 2.0).round() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_within_their_width() {
        let long = "x".repeat(400);
        for text in
            ["a few words of text that go on for a while", &long, "", "名".repeat(90).as_str()]
        {
            for line in wrapped(text, 13.0, 200.0) {
                assert!(width_of(&line, 13.0) <= 200.0, "{line}");
            }
        }
        assert_eq!(wrapped("ab cd", 10.0, 1000.0), ["ab cd"]);
        assert!(wrapped("  ", 10.0, 100.0).is_empty());
    }

    #[test]
    fn what_is_too_wide_is_cut() {
        assert_eq!(cut("short", 13.0, 220.0), "short");
        let cut = cut(&"long".repeat(30), 13.0, 220.0);
        assert!(cut.ends_with('…') && width_of(&cut, 13.0) <= 220.0);
        assert_eq!(size_within("abcdefgh", [10.0, 10.0]), None);
        assert_eq!(size_within("7", [40.0, 12.0]), Some(9.0));
    }
}
