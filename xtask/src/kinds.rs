//! Checks that docs/README.md lists every page in docs/ under exactly one kind (tutorial, how-to,
//! reference or explanation), and that no page states a different kind on its third line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::sources;

const INDEX: &str = "docs/README.md";
const KINDS: [&str; 4] = ["tutorial", "how-to", "reference", "explanation"];

pub(crate) fn problems(root: &Path) -> Vec<String> {
    let index = std::fs::read_to_string(root.join(INDEX)).unwrap_or_default();
    let listed = listed(&index);
    let docs = root.join("docs");
    let of_page = |page: PathBuf| {
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        let is_listed = page.parent() == Some(&docs) && name != "README.md";
        is_listed.then(|| of_page(&name, &text, listed.get(&*name)))?
    };
    sources(&docs, "md").into_iter().filter_map(of_page).collect()
}

/// Returns the pages listed in the index, and their kinds.
fn listed(index: &str) -> BTreeMap<&str, BTreeSet<&'static str>> {
    let mut found: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let mut heading = String::new();
    for line in index.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text.to_lowercase();
        }
        let link = line.strip_prefix("| [").and_then(|row| row.split_once("]("));
        let Some((page, cells)) = link.and_then(|(_, row)| row.split_once(')')) else { continue };
        // In a reading path, the second cell gives the kind; elsewhere, the heading does.
        let cell = cells.split('|').nth(1).unwrap_or_default().trim();
        let kind = KINDS.into_iter().find(|&kind| cell == kind || heading.starts_with(kind));
        found.entry(page).or_default().extend(kind);
    }
    found
}

fn of_page(name: &str, text: &str, kinds: Option<&BTreeSet<&str>>) -> Option<String> {
    let kinds: Vec<&str> = kinds.into_iter().flatten().copied().collect();
    let [kind] = kinds[..] else {
        return Some(format!("docs/{name}: listed under {} kinds in {INDEX}", kinds.len()));
    };
    let third = text.lines().nth(2).unwrap_or_default();
    let own = third.strip_prefix('*').filter(|own| !own.starts_with('*'))?;
    let own = own.split([',', '.']).next().unwrap_or_default().to_lowercase();
    (own != kind).then(|| format!("docs/{name}: declares `{own}`, but {INDEX} lists it as {kind}"))
}

#[test]
fn a_page_has_one_kind() {
    let index = "## A path\n| [A](a.md) | tutorial | x |\n| [B](b.md) | how-to | y |\n\
                 ## Reference\n| [C](c.md) | z |\n| [B](b.md) | z |\n";
    let listed = listed(index);
    for (name, text, is_right) in [
        ("a.md", "# A\n\n*Tutorial.* Text.\n", true),
        ("a.md", "# A\n\n*How-to.* Text.\n", false),
        ("b.md", "# B\n", false),
        ("c.md", "# C\n\nText.\n", true),
        ("d.md", "# D\n", false),
    ] {
        assert_eq!(of_page(name, text, listed.get(name)).is_none(), is_right, "{name}: {text}");
    }
}
