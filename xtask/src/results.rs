//! Pages of results, which must be short and have unique names.

use std::path::Path;

/// The maximum number of lines on a page of results. Longer tables are CSV files next to it.
const PAGE_LINES: usize = 100;

/// Returns the pages that are too long, or that have the same name as a page of docs/.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for folder in ["results", "results/reproduction", "results/service"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            problems.push(format!("{folder}: cannot be read"));
            continue;
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.extension().is_none_or(|end| end != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            problems.extend(of_page(folder, name, &text));
            if name != "README.md" && root.join("docs").join(name).exists() {
                problems.push(format!("{folder}/{name}: docs/{name} has the same name"));
            }
        }
    }
    problems.sort();
    problems
}

/// Returns the problem with a page that is too long.
fn of_page(folder: &str, name: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let long = lines > PAGE_LINES;
    long.then(|| format!("{folder}/{name}: {lines} lines; a page of results has {PAGE_LINES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pages_are_found() {
        assert_eq!(of_page("results", "a.md", &"a line\n".repeat(100)), None);
        let found = of_page("results", "a.md", &"a line\n".repeat(101)).unwrap_or_default();
        assert!(found.starts_with("results/a.md: 101 lines"));
    }
}
