//! Checks how doc comments begin in each crate. Few sentences may begin with What, How and similar
//! words, and most comments on functions must begin with a verb.

use std::path::{Path, PathBuf};

use crate::sources;

/// Words that must not begin a sentence. `Whether` is allowed for `bool` fields.
const CLAUSES: [&str; 8] = ["What", "How", "Where", "Which", "Of", "Who", "Whose", "Whether"];
/// Words that look like third-person verbs but are not.
const NO_VERBS: [&str; 8] = ["This", "Its", "Is", "Nodes", "Times", "Boxes", "Jobs", "Sides"];
/// The maximum percentage of sentences that begin with one of [`CLAUSES`], and the minimum
/// percentage of function comments that begin with a verb.
const LIMITS: (usize, usize) = (3, 75);

#[derive(Debug, Default, PartialEq)]
struct Count {
    sentences: usize,
    clauses: usize,
    functions: usize,
    verbs: usize,
}

pub(crate) fn problems(root: &Path) -> Vec<String> {
    let parents = ["apps", "crates"].map(|parent| std::fs::read_dir(root.join(parent)));
    let entries = parents.into_iter().flatten().flatten();
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path())).chain([root.join("xtask")]);
    let of = |folder: PathBuf| {
        let mut count = Count::default();
        let texts = sources(&folder, "rs").into_iter().map(std::fs::read_to_string);
        texts.for_each(|text| count.add(&text.unwrap_or_default()));
        of_folder(&folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy(), &count)
    };
    folders.filter_map(of).collect()
}

fn of_folder(folder: &str, count: &Count) -> Option<String> {
    let (most, least) = LIMITS;
    let clauses = (100 * count.clauses).div_ceil(count.sentences.max(1));
    let verbs = (100 * count.verbs).checked_div(count.functions).unwrap_or(100);
    (clauses > most || verbs < least).then(|| {
        format!(
            "{folder}: {clauses}% of sentences begin with What, How, Of, ... (maximum {most}), \
             and {verbs}% of function comments begin with a verb (minimum {least})"
        )
    })
}

impl Count {
    fn add(&mut self, text: &str) {
        let (mut comment, mut is_code, mut is_property) = (String::new(), false, false);
        for line in text.lines().map(str::trim_start) {
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            if let Some(doc) = doc.map(str::trim) {
                is_code ^= doc.starts_with("```");
                let marks = ["- ", "* ", "# ", "| ", "```"];
                let is_new = doc.is_empty() || marks.iter().any(|mark| doc.starts_with(mark));
                comment += if is_new { "\n" } else { " " };
                let is_text = !is_code && !doc.starts_with("```");
                comment +=
                    if is_text { doc.trim_start_matches(['-', '*', '#', '|', ' ']) } else { "" };
            } else if line.starts_with("#[") {
                // A Python property, like a field, is documented with a noun phrase.
                is_property |= line == "#[getter]";
            } else {
                let item = if std::mem::take(&mut is_property) { "" } else { line };
                self.add_comment(&std::mem::take(&mut comment), item);
            }
        }
    }

    /// Counts the comment on an item, given the item's first line.
    fn add_comment(&mut self, comment: &str, item: &str) {
        let words: Vec<&str> = comment.lines().flat_map(|one| first_words(one.trim())).collect();
        let is_allowed = |word: &str| word == "Whether" && item.contains(": bool");
        let clauses = words.iter().filter(|word| CLAUSES.contains(word) && !is_allowed(word));
        self.clauses += clauses.count();
        self.sentences += words.len();
        if let Some(word) = words.first().filter(|_| is_function(item)) {
            let is_verb = word.starts_with(char::is_uppercase) && word.ends_with('s');
            self.functions += 1;
            self.verbs += usize::from(is_verb && !NO_VERBS.contains(word));
        }
    }
}

/// Returns true if a function definition begins on this line.
fn is_function(line: &str) -> bool {
    // `pub(in path)` is two words.
    let is_modifier = |word: &str| {
        word.starts_with("pub")
            || word.ends_with(')')
            || ["const", "async", "unsafe"].contains(&word)
    };
    line.split_once("fn ").is_some_and(|(before, _)| before.split_whitespace().all(is_modifier))
}

/// Returns the first word of each sentence in a paragraph.
fn first_words(text: &str) -> impl Iterator<Item = &str> {
    let begins = move |&at: &usize| {
        let before = text[..at].trim_end();
        before.is_empty() || before.len() < at && before.ends_with(['.', '!', '?', ':'])
    };
    let marks = |c: char| c.is_ascii_uppercase() || c == '`' || c == '[';
    let starts = text.match_indices(marks).map(|(at, _)| at).filter(begins);
    starts.filter_map(|at| text[at..].split(|c: char| !c.is_ascii_alphabetic()).next())
}

#[test]
fn first_words_are_counted_outside_code() {
    const TEXT: &str = "//! What? It is. How:\n//! - Who\n\n/// Finds. Its\n/// ```\n/// Of\n/// \
        ```\n#[inline]\npub fn a() {}\n/// Nodes. `x`.\nfn b() {}\n/// Whether.\na: bool,\n\
        /// Nodes.\n#[getter]\nfn c() {}\n";
    let mut count = Count::default();
    count.add(TEXT);
    assert_eq!(count, Count { sentences: 10, clauses: 3, functions: 2, verbs: 1 });
    let count = |clauses, verbs| Count { sentences: 100, clauses, functions: 100, verbs };
    let (most, least) = LIMITS;
    assert_eq!(of_folder("a", &count(most, least)), None);
    assert!(of_folder("a", &count(most + 1, least)).is_some());
    assert!(of_folder("a", &count(most, least - 1)).is_some());
}
