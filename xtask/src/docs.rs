//! The pages about strategies, generated from the headers of the strategies' files and from the
//! registry.
//!
//! There is one page per strategy, `docs/strategies/NAME.md`: the header (`//!`) of the file that
//! contains its entry, and the machines, claim, options and variants of the entry.
//! `docs/strategies/README.md` lists the pages.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pavior_allocation::claim::{Claim, Grants, Recognition};
use pavior_allocation::{Registry, Selection};
use pavior_mesh::Grid;

use crate::{blocks, cargo, kinds, links, messages, rust_files};

/// The folder of the strategies' files.
const SOURCES: &str = "crates/allocation/src/strategies";
/// The folder of the pages.
const PAGES: &str = "docs/strategies";
/// The families, as folders: name of the folder, heading, common property.
const FAMILIES: [(&str, &str, &str); 3] = [
    ("contiguous", "Contiguous", "grant one box, or one fixed shape, to a job"),
    ("noncontiguous", "Non-contiguous", "may grant a job several boxes"),
    ("partitioned", "Partition hardware", "follow the rules of machines that are built of units"),
];

/// A strategy's file.
struct Source {
    /// The strategy's name.
    name: String,
    /// The path from the root of the workspace.
    path: String,
    /// The name of the file's folder.
    family: String,
    /// The name of the module.
    module: String,
    /// The lines of the header.
    header: Vec<String>,
}

/// Writes the generated pages, and tests the statements of all pages, with a newly built or the
/// given program.
pub(crate) fn all(root: &Path, program: Option<&str>) -> Vec<String> {
    let mut problems = write(root);
    problems.extend(kinds::problems(root));
    problems.extend(links::problems(root));
    problems.extend(messages::problems(root));
    let program = program.map_or_else(|| cargo::every_door(root), |path| Ok(PathBuf::from(path)));
    match program {
        Ok(program) => problems.extend(blocks::problems(root, &program)),
        Err(problem) => problems.push(problem),
    }
    problems
}

/// Writes the pages, and removes those of strategies that no longer exist.
fn write(root: &Path) -> Vec<String> {
    let pages = match pages(root) {
        Ok(pages) => pages,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    for path in surplus(root, &pages) {
        problems
            .extend(std::fs::remove_file(&path).err().map(|e| format!("{}: {e}", path.display())));
    }
    for (path, text) in &pages {
        problems
            .extend(std::fs::write(path, text).err().map(|e| format!("{}: {e}", path.display())));
    }
    problems
}

/// Returns every page that differs from the output of [`write()`].
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let pages = match pages(root) {
        Ok(pages) => pages,
        Err(problem) => return vec![problem],
    };
    let stale = pages
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(path).map_or(true, |there| there != *text));
    let stale = stale.map(|(path, _)| format!("{}: stale; run cargo xtask docs", path.display()));
    let gone = surplus(root, &pages).into_iter();
    let gone = gone.map(|path| format!("{}: of no strategy; run cargo xtask docs", path.display()));
    stale.chain(gone).collect()
}

/// Returns the files in the folder of the pages that are not pages.
fn surplus(root: &Path, pages: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root.join(PAGES)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| !pages.iter().any(|(page, _)| page == path)).collect()
}

/// Returns the path and the text of every page.
fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let sources = sources(root)?;
    let mut pages = vec![(root.join(PAGES).join("README.md"), index(&sources))];
    for source in &sources {
        let selection: Selection =
            source.name.parse().map_err(|error| format!("{}: {error}", source.path))?;
        let path = root.join(PAGES).join(format!("{}.md", source.name));
        pages.push((path, page(source, &selection, &sources)));
    }
    Ok(pages)
}

/// Returns the files of all strategies, in the order of the registry.
fn sources(root: &Path) -> Result<Vec<Source>, String> {
    let mut found = Vec::new();
    for path in rust_files(&root.join(SOURCES)) {
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let Some(name) = text.lines().find_map(|line| {
            let line = line.trim().strip_prefix("name: \"")?;
            line.strip_suffix("\",").filter(|name| Registry::new().get(name).is_some())
        }) else {
            continue;
        };
        let header = text.lines().map_while(|line| line.strip_prefix("//!"));
        let header = header.map(|line| line.strip_prefix(' ').unwrap_or(line).to_string());
        let own = path.strip_prefix(root).unwrap_or(&path);
        let below = path.strip_prefix(root.join(SOURCES)).unwrap_or(&path);
        let family = below.iter().next().unwrap_or_default();
        // A strategy with several files has its own folder.
        let named = if own.ends_with("mod.rs") { own.parent().unwrap_or(own) } else { own };
        found.push(Source {
            name: name.to_string(),
            path: own.display().to_string(),
            family: family.to_string_lossy().into_owned(),
            module: named.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            header: header.collect(),
        });
    }
    let mut sources = Vec::new();
    for entry in Registry::new().entries() {
        let at = found.iter().position(|source| source.name == entry.name);
        let at = at.ok_or_else(|| format!("{SOURCES}: no file has the entry of {}", entry.name))?;
        sources.push(found.swap_remove(at));
    }
    Ok(sources)
}

/// Writes the list of the pages.
fn index(sources: &[Source]) -> String {
    let mut text = String::from(
        "<!-- Written by `cargo xtask docs`; changes here are lost. -->\n\n\
         # The strategies, one by one\n\n\
         Each page is the header of the strategy's file and what the registry says of it. \
         What a claim means,\nand how it is checked, is in [strategies.md](../strategies.md); \
         the families are compared in\n[families/](../families/README.md).\n",
    );
    for (folder, heading, meaning) in FAMILIES {
        let _ = write!(
            text,
            "\n## {heading}\n\nStrategies that {meaning}.\n\n\
             | name | strategy | first described by |\n|---|---|---|\n"
        );
        let own = sources.iter().filter(|source| source.family == folder);
        for source in own {
            let Some(entry) = Registry::new().get(&source.name) else { continue };
            let name = &source.name;
            let _ =
                writeln!(text, "| [`{name}`]({name}.md) | {} | {} |", entry.title, entry.source);
        }
    }
    text.push_str("\nOther names:");
    for (index, (name, stands_for)) in Registry::new().aliases().iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        let _ = write!(text, "{separator} `{name}` is `{stands_for}`");
    }
    text + ".\n"
}

/// Writes the page of a strategy.
fn page(source: &Source, selection: &Selection, sources: &[Source]) -> String {
    let entry = &selection.entry;
    let mut text = format!(
        "<!-- Written by `cargo xtask docs` from {}; changes here are lost. -->\n\n# {}: `{}`\n\n",
        source.path, entry.title, entry.name
    );
    text += &body(&source.header, sources);
    let _ = write!(
        text,
        "\n## In the registry\n\n| | |\n|---|---|\n| machines | {} |\n| recognition | `{}`: {} |\n\
         | grants | {} |\n| turns requests | {} |\n| first described by | {} |\n\
         | code | [{path}](../../{path}) |\n",
        machines(selection),
        Claim::of(selection).recognition.word(),
        meaning(&Claim::of(selection).recognition),
        match Claim::of(selection).grants {
            Grants::Exact => "exactly what is asked for",
            Grants::RoundsUp { .. } => "whole blocks, which may be more than is asked for",
        },
        if entry.does.turns { "yes" } else { "no, unless an option says so" },
        entry.source,
        path = source.path,
    );
    if !entry.options.is_empty() {
        text += "\n| option | values | default | meaning |\n|---|---|---|---|\n";
        for option in entry.options {
            let values = option.values.to_string().replace('|', "\\|");
            let _ = writeln!(
                text,
                "| `{}` | {values} | `{}` | {} |",
                option.key, option.default, option.meaning
            );
        }
    }
    let variants: Vec<String> = entry
        .variants
        .iter()
        .filter(|variant| !variant.is_empty())
        .map(|variant| format!("`{}:{variant}`", entry.name))
        .collect();
    if !variants.is_empty() {
        let _ = write!(text, "\nHeld against the oracle, too: {}.\n", variants.join(", "));
    }
    text
}

/// Converts the header of a file to Markdown: names of modules become links to pages, and the first
/// words of its last paragraphs are emphasized.
fn body(header: &[String], sources: &[Source]) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in header {
        let mut line = line.clone();
        is_code ^= line.starts_with("```");
        if !is_code {
            // `Cost:` and `Cost of NAME:` are emphasized, and so are the others.
            for word in ["Cost", "Source", "Requests"] {
                let end = line.find(':').filter(|&end| line.starts_with(word) && end < 40);
                if let Some(end) = end {
                    line = format!("**{}.**{}", &line[..end], &line[end + 1..]);
                }
            }
            line = linked(&line, sources);
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// Converts links to code in a line to links to pages of strategies, or to plain names.
fn linked(line: &str, sources: &[Source]) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        text += before;
        let link = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        let (module, after) = match link {
            // The strategy of the folder itself.
            Some(("super", after)) => (name, after),
            Some((path, after)) if path.starts_with("super::") || path.starts_with("crate::") => {
                (path.rsplit("::").next().unwrap_or(path), after)
            }
            _ => (name, after),
        };
        match sources.iter().find(|source| source.module == module) {
            Some(source) => text += &format!("[`{name}`]({}.md)", source.name),
            None => text += &format!("`{name}`"),
        }
        rest = after;
    }
    text + rest
}

/// Describes the machines on which a strategy works, found by asking it.
fn machines(selection: &Selection) -> String {
    let works = |axes: usize, wraps: bool| {
        let grid = Grid::new(&vec![8; axes], &vec![wraps; axes]);
        grid.is_ok_and(|grid| selection.supports(&grid).is_ok())
    };
    let axes = |wraps| {
        let all: Vec<String> =
            (1..=3).filter(|&axes| works(axes, wraps)).map(|axes| axes.to_string()).collect();
        all.join(", ")
    };
    let (meshes, tori) = (axes(false), axes(true));
    match (meshes.as_str(), tori.as_str()) {
        (meshes, "") => format!("meshes of {meshes} axes"),
        ("", tori) => format!("tori of {tori} axes"),
        (meshes, tori) if meshes == tori => format!("meshes and tori of {meshes} axes"),
        (meshes, tori) => format!("meshes of {meshes} axes, tori of {tori} axes"),
    }
}

/// Returns the claim of a strategy as a clause.
fn meaning(recognition: &Recognition) -> &'static str {
    match recognition {
        Recognition::First => {
            "finds exactly the first free base in scan order, orientation by orientation"
        }
        Recognition::Best { .. } => "finds the best score of all bases",
        Recognition::Complete => "refuses only if no base is free",
        Recognition::Partial(_) => "misses some; a stored case shows one",
        Recognition::Count => "succeeds if and only if enough nodes are free",
        Recognition::Own { .. } => "succeeds if and only if its own rule says so",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_code_become_links_to_pages() {
        let source = Source {
            name: "2db".into(),
            path: String::new(),
            family: String::new(),
            module: "two_db".into(),
            header: Vec::new(),
        };
        let linked = |line| linked(line, std::slice::from_ref(&source));
        assert_eq!(linked("as [`2db`](super::two_db), too"), "as [`2db`](2db.md), too");
        assert_eq!(
            linked("a [`Curve`](super::super::Curve) and [`two_db`]"),
            "a `Curve` and [`two_db`](2db.md)"
        );
        assert_eq!(linked("of [`2db`](crate::strategies::two_db)"), "of [`2db`](2db.md)");
        assert_eq!(linked("of [`two_db`](super)"), "of [`two_db`](2db.md)");
        assert_eq!(linked("[`open"), "[`open");
    }

    #[test]
    fn pages_are_fresh() {
        let problems = problems(&crate::root());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
