//! The kinds of the pages in docs/: tutorial, how-to, reference or explanation, as in
//! docs/README.md. Every page must be listed there under one kind, and must not declare another.

use std::collections::BTreeMap;
use std::path::Path;

const INDEX: &str = "docs/README.md";
const KINDS: [&str; 4] = ["tutorial", "how-to", "reference", "explanation"];

/// Returns the pages that are listed under no kind or more than one, or that declare another kind.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let Ok(index) = std::fs::read_to_string(root.join(INDEX)) else {
        return vec![format!("{INDEX}: cannot be read")];
    };
    let listed = listed(&index);
    let mut problems = Vec::new();
    let Ok(entries) = std::fs::read_dir(root.join("docs")) else { return problems };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_none_or(|end| end != "md") || name == "README.md" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let kinds = listed.get(name).map_or(&[][..], Vec::as_slice);
        problems.extend(of_page(name, &text, kinds));
    }
    problems.sort();
    problems
}

/// Returns the pages in the index with their kinds, without duplicates.
fn listed(index: &str) -> BTreeMap<&str, Vec<&'static str>> {
    let mut found: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
    let mut section = "";
    for line in index.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let Some((_, row)) = line.strip_prefix("| [").and_then(|row| row.split_once("](")) else {
            continue;
        };
        let Some((page, cells)) = row.split_once(')') else { continue };
        // In the section of an interface the second cell has the kind; elsewhere the heading is the
        // kind or its plural.
        let cell = cells.split('|').nth(1).unwrap_or_default().trim();
        let heading = section.to_lowercase();
        let kind = KINDS.into_iter().find(|&kind| cell == kind || heading.starts_with(kind));
        let kinds = found.entry(page).or_default();
        kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
    }
    found
}

fn of_page(name: &str, text: &str, kinds: &[&str]) -> Option<String> {
    let [kind] = kinds else {
        return Some(format!("docs/{name}: {INDEX} has it under {} kinds", kinds.len()));
    };
    let third = text.lines().nth(2).unwrap_or_default();
    let said = third.strip_prefix('*').filter(|said| !said.starts_with('*'))?;
    let said = said.split([',', '.']).next().unwrap_or_default().to_lowercase();
    (said != *kind).then(|| format!("docs/{name}: calls itself {said}; {INDEX} has it as {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_one_kind() {
        let index = "## A door\n| [A](a.md) | tutorial | x |\n| [B](b.md) | how-to | y |\n\
                     ## Another\n| [B](b.md) | how-to | y |\n\
                     ## Reference\n| [C](c.md) | z |\n| [B](b.md) | z |\n";
        let listed = listed(index);
        assert_eq!(listed["a.md"], ["tutorial"]);
        assert_eq!(listed["b.md"], ["how-to", "reference"]);
        assert_eq!(listed["c.md"], ["reference"]);
        assert_eq!(of_page("c.md", "# C\n\n*Reference.* Of c.\n", &["reference"]), None);
        assert_eq!(of_page("c.md", "# C\n\nOf c.\n", &["reference"]), None);
        assert!(of_page("c.md", "# C\n\n*How-to.*\n", &["reference"]).is_some());
        assert!(of_page("b.md", "# B\n", &["how-to", "reference"]).is_some());
        assert!(of_page("d.md", "# D\n", &[]).is_some());
    }

    #[test]
    fn the_pages_are_of_their_kinds() {
        let problems = problems(&crate::root());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
