//! `cargo xtask strategy NAME`: creates and registers the file for a new contiguous strategy.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Problems, process};

const FOLDER: &str = "crates/allocation/src/strategies";
/// The line in the list above which a new contiguous strategy is inserted.
const END_OF_LIST: &str = "    // The contiguous strategies end here.\n";

/// The beginning of each line in the module list, which rustfmt sorts.
const FIRST_MODULE: &str = "pub(super) mod ";

/// The template for the file, with the placeholders `{name}`, `{title}` and `{rule}`.
const TEMPLATE: &str = include_str!("../templates/strategy.rs.in");

pub(crate) fn add(root: &Path, name: &str) -> Problems {
    create(root, name)?;
    eprintln!(
        "Created {FOLDER}/contiguous/{}.rs, and listed it in contiguous/mod.rs and mod.rs.\n\
         Now write the header and `best`. Until then, the claim that the strategy misses no \
         free box is false:\n\n\
         \x20 cargo xtask conformance {name}    check its claims, in seconds\n\
         \x20 cargo xtask exhaustive {name}     check every occupancy of up to 12 nodes\n\
         \x20 cargo test -p pavior-allocation   check that it is well formed\n\
         \x20 cargo run -p pavior-cli -- simulate --strategy {name}   run it",
        name.replace('-', "_")
    );
    Ok(Vec::new())
}

fn create(root: &Path, name: &str) -> Result<(), String> {
    let is_word = |word: &str| {
        let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        !word.is_empty() && word.chars().all(is_legal)
    };
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.split('-').all(is_word) {
        return Err(format!(
            "`{name}` is not a valid strategy name; use lowercase words joined by hyphens, such \
             as worst-corner"
        ));
    }
    let module = name.replace('-', "_");
    let folder = root.join(FOLDER);
    let file = folder.join("contiguous").join(&module).with_extension("rs");
    if file.exists() {
        return Err(format!("{} already exists", file.display()));
    }
    let modules = folder.join("contiguous/mod.rs");
    insert(&modules, FIRST_MODULE, &format!("pub(super) mod {module};\n"))?;
    insert(&folder.join("mod.rs"), END_OF_LIST, &format!("    &contiguous::{module}::ENTRY,\n"))?;
    fs::write(&file, filled(name)).map_err(|error| format!("{}: {error}", file.display()))?;
    process::run(Command::new("rustfmt").args(["--edition", "2024"]).arg(modules))
}

/// Inserts a line into a file before the first occurrence of a string.
fn insert(file: &Path, before: &str, line: &str) -> Result<(), String> {
    let path = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))?;
    let (first, rest) =
        text.split_once(before).ok_or_else(|| format!("{path}: no `{}`", before.trim()))?;
    let text = format!("{first}{line}{before}{rest}");
    fs::write(file, text).map_err(|error| format!("{path}: {error}"))
}

fn filled(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let words: Vec<String> = name.split('-').map(capital).collect();
    TEMPLATE
        .replace("{name}", name)
        .replace("{title}", &words.join(" "))
        .replace("{rule}", &words.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_types_and_titles() {
        let text = filled("worst-corner");
        assert!(text.starts_with("//! Worst Corner: "));
        assert!(text.contains("impl BoxRule for WorstCorner {"));
        let list = fs::read_to_string(crate::root().join(FOLDER).join("mod.rs")).unwrap();
        assert!(list.contains(END_OF_LIST));
    }

    #[test]
    fn invalid_names_are_rejected() {
        for name in ["", "Worst", "worst_corner", "-a", "a--b", "2d", "../x"] {
            let problem = create(Path::new("/nowhere"), name).unwrap_err();
            assert!(problem.contains("is not a valid"), "{name}: {problem}");
        }
    }
}
