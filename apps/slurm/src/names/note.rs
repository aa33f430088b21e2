//! Notes to users.

/// A note to a user, in printable ASCII without quotation marks or backslashes. All other
/// characters are replaced by question marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note(String);

impl Note {
    pub(crate) fn new(text: &str) -> Note {
        let harmless = |c: char| (c == ' ' || c.is_ascii_graphic()) && !"\"'`\\".contains(c);
        Note(text.chars().map(|c| if harmless(c) { c } else { '?' }).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the note as a single word, with underscores instead of spaces.
    pub(crate) fn word(&self) -> String {
        self.0.replace(' ', "_")
    }
}
