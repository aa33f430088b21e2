//! `cargo xtask strategy NAME`: creates the file for a new contiguous strategy, and its lines in
//! the lists.

use std::fs;
use std::path::Path;

const FOLDER: &str = "crates/allocation/src/strategies";
/// The line in the list above which a new contiguous strategy is inserted.
const END_OF_LIST: &str = "    // End of the contiguous ones.\n";

/// The file, in which `{name}`, `{title}` and `{rule}` are replaced.
const TEMPLATE: &str = r#"//! {title}: what it does, in a sentence.
//!
//! Misses nothing, or the placements that it misses; a small drawing of one of its choices.
//!
//! Cost: its order of growth, with the variables.
//!
//! Source: authors, title, journal and year; unknown details, and departures.

use pavior_mesh::{Scan, Sides};

use crate::contiguous::{BoxRule, Contiguous, Scored, TURN_ON, View};
use crate::kind::{Entry, StrategyKind};

pub(crate) static ENTRY: Entry = Entry {
    name: "{name}",
    title: "{title}",
    source: "authors and year",
    options: &[TURN_ON],
    variants: &["", "turn=none"],
    does: StrategyKind::contiguous(|grid, options| {
        Contiguous::new(grid, options, {rule}).boxed()
    }),
};

#[derive(Clone)]
struct {rule};

impl BoxRule for {rule} {
    /// Returns no placement yet: `view.first` and `view.best` choose among candidates.
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        view.first(view.placements(shape, Scan::default()).take(0))
    }
}
"#;

/// Writes the file and the lines. Returns the problems.
pub(crate) fn add(root: &Path, name: &str) -> Vec<String> {
    match try_add(root, name) {
        Ok(file) => {
            eprintln!(
                "{file} is written, its module is named in contiguous/mod.rs and its entry is in \
                 the list of strategies/mod.rs.\n\
                 Now fill in the header and `best`; until then the claim, that it misses no free \
                 box, is broken:\n\n\
                 \x20 cargo xtask conformance {name}    its claim, in seconds\n\
                 \x20 cargo xtask exhaustive {name}     on every occupancy of up to 12 nodes\n\
                 \x20 cargo test -p pavior-allocation   that it is well formed\n\
                 \x20 cargo run -p pavior-cli -- simulate --strategy {name}   it runs"
            );
            Vec::new()
        }
        Err(reason) => vec![reason],
    }
}

fn try_add(root: &Path, name: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let kebab = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(legal)
        && name.split('-').all(|word| !word.is_empty());
    if !kebab {
        return Err(format!(
            "`{name}` is not a name for a strategy: lower-case words with hyphens, such as \
             worst-corner"
        ));
    }
    let module = name.replace('-', "_");
    let file = format!("{FOLDER}/contiguous/{module}.rs");
    let (modules, list) = (format!("{FOLDER}/contiguous/mod.rs"), format!("{FOLDER}/mod.rs"));
    if root.join(&file).exists() {
        return Err(format!("{file} is there already"));
    }
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let write = |path: &str, text: &str| {
        fs::write(root.join(path), text).map_err(|error| format!("{path}: {error}"))
    };
    let named = with_module(&read(&modules)?, &module);
    let listed = read(&list)?;
    let entry = format!("    &contiguous::{module}::ENTRY,\n{END_OF_LIST}");
    if !listed.contains(END_OF_LIST) {
        return Err(format!("{list}: no line `{}`", END_OF_LIST.trim()));
    }
    write(&file, &filled(name))?;
    write(&modules, &named)?;
    write(&list, &listed.replace(END_OF_LIST, &entry))?;
    Ok(file)
}

/// Returns the file for a strategy.
fn filled(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let words: Vec<String> = name.split('-').map(capital).collect();
    TEMPLATE
        .replace("{name}", name)
        .replace("{title}", &words.join(" "))
        .replace("{rule}", &words.concat())
}

/// Adds a module to the list of modules, in order of name.
fn with_module(text: &str, module: &str) -> String {
    let line = format!("pub(super) mod {module};");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &&str| line.starts_with("pub(super) mod ");
    let end = lines.iter().rposition(&is_module).map_or(lines.len(), |at| at + 1);
    let at = lines.iter().position(|other| is_module(other) && **other > *line).unwrap_or(end);
    lines.insert(at, &line);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_goes_where_its_name_belongs() {
        let text = "//! Text.\n\npub(super) mod adj;\npub(super) mod wf;\n";
        let with = |module| with_module(text, module);
        assert!(with("bf").contains("mod adj;\npub(super) mod bf;\npub(super) mod wf;\n"));
        assert!(with("zz").ends_with("mod wf;\npub(super) mod zz;\n"));
    }

    #[test]
    fn names_make_types_and_titles() {
        let text = filled("worst-corner");
        assert!(text.starts_with("//! Worst Corner: "));
        assert!(text.contains("impl BoxRule for WorstCorner {"));
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for name in ["", "Worst", "worst_corner", "-a", "a--b", "2d", "../x"] {
            assert!(
                try_add(Path::new("/nowhere"), name).unwrap_err().contains("not a name"),
                "{name}"
            );
        }
    }
}
