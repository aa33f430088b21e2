//! The links on the pages: every linked file, image and anchor must exist, and every image must be
//! valid and have alt text.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Single pages, and folders whose pages are read recursively.
const PAGES: [&str; 10] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs",
    "results",
    "apps",
    "crates",
    "examples",
];

/// Folders with files that are not written here.
const SKIPPED: [&str; 3] = ["target", "node_modules", ".venv"];

/// A link on a page.
struct Link {
    line: usize,
    target: String,
    /// The alternative text of a picture. `None` if the link is not a picture.
    picture: Option<String>,
}

/// Returns every broken link, as `page:line: what is missing`.
pub(crate) fn problems(root: &Path) -> Vec<String> {
    let mut texts = BTreeMap::new();
    for page in PAGES {
        read(root, Path::new(page), &mut texts);
    }
    let mut problems = Vec::new();
    for (page, text) in &texts {
        for link in links(text) {
            if let Err(problem) = follow(root, page, &link, &texts) {
                problems.push(format!("{}:{}: {problem}", page.display(), link.line));
            }
        }
    }
    problems
}

/// Reads the pages at and below a path.
fn read(root: &Path, path: &Path, texts: &mut BTreeMap<PathBuf, String>) {
    let here = root.join(path);
    if here.is_dir() {
        let Ok(entries) = std::fs::read_dir(&here) else { return };
        for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
            if !SKIPPED.contains(&name.as_str()) {
                read(root, &path.join(name), texts);
            }
        }
    } else if path.extension().is_some_and(|extension| extension == "md")
        && let Ok(text) = std::fs::read_to_string(&here)
    {
        texts.insert(path.to_path_buf(), text);
    }
}

/// Checks the target of a link.
fn follow(
    root: &Path,
    page: &Path,
    link: &Link,
    texts: &BTreeMap<PathBuf, String>,
) -> Result<(), String> {
    let target = &link.target;
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = target
        .split_once('#')
        .map_or((target.as_str(), None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { page.to_path_buf() } else { beside(page, path)? };
    let file = root.join(&path);
    if !file.exists() {
        return Err(format!("there is no {target}"));
    }
    if let Some(anchor) = anchor {
        let text = texts.get(&path).ok_or(format!("{target}: an anchor outside any page"))?;
        if !anchors(text).iter().any(|there| there == anchor) {
            return Err(format!("{} has no heading #{anchor}", path.display()));
        }
    }
    match &link.picture {
        Some(text) if text.trim().is_empty() => Err(format!("{target} has no text beside it")),
        Some(_) if !is_picture(&file) => Err(format!("{target} is not a PNG, WebP or SVG")),
        _ => Ok(()),
    }
}

/// Resolves a path relative to a page, returning it relative to the root.
fn beside(page: &Path, path: &str) -> Result<PathBuf, String> {
    let mut found = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir if found.pop() => {}
            Component::ParentDir => return Err(format!("{path} is outside the repository")),
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    Ok(found)
}

fn is_picture(file: &Path) -> bool {
    let Ok(bytes) = std::fs::read(file) else { return false };
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(512)]);
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("png") => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        Some("webp") => bytes.starts_with(b"RIFF") && bytes[8..].starts_with(b"WEBP"),
        Some("svg") => head.contains("<svg"),
        _ => false,
    }
}

/// Returns the links on a page, outside code. A link's text may span lines, its target may not.
fn links(text: &str) -> Vec<Link> {
    let text = without_code(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("](") {
        let close = from + at;
        from = close + 2;
        let end = text[from..].find([')', '\n']).map_or(text.len(), |end| from + end);
        let target = text[from..end].split_whitespace().next().unwrap_or_default().to_string();
        let open = opening(&text[..close]);
        let is_picture = open > 0 && text.as_bytes()[open - 1] == b'!';
        found.push(Link {
            line: text[..close].matches('\n').count() + 1,
            target,
            picture: is_picture.then(|| text[open + 1..close].to_string()),
        });
    }
    found
}

/// Returns the position of the bracket whose closing one ends a text.
fn opening(before: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in before.bytes().enumerate().rev() {
        match byte {
            b']' => depth += 1,
            b'[' if depth == 0 => return at,
            b'[' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// Replaces the code on a page, both blocks and inline code, by spaces. Line breaks are kept.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    let mut in_fence = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        if !is_fence && !in_fence {
            plain += line;
        }
        plain.push('\n');
    }
    let mut parts = plain.split('`');
    let mut bare = parts.next().unwrap_or_default().to_string();
    for (index, part) in parts.enumerate() {
        if index % 2 == 0 {
            // `code`: only the line ends of its text count.
            bare.extend(part.chars().map(|c| if c == '\n' { '\n' } else { 'c' }));
        } else {
            bare += part;
        }
    }
    bare
}

/// Returns the anchors of a page's headings, as generated by forges and the site.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_fence || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug: String = shown(heading.trim())
            .to_lowercase()
            .chars()
            .filter(|&c| c.is_alphanumeric() || "-_ ".contains(c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let before = found.iter().filter(|there| {
            let rest = there.strip_prefix(&slug);
            rest.is_some_and(|rest| rest.is_empty() || rest[1..].parse::<u32>().is_ok())
        });
        let before = before.count();
        found.push(if before == 0 { slug } else { format!("{slug}-{before}") });
    }
    found
}

/// Returns a heading as it is displayed: links become their text.
fn shown(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "a [b](c.md) `[d](e)`\n```\n[f](g)\n```\n![two\nlines](h.svg) [`i`](j.md#k)\n";
        let found = links(text);
        let found: Vec<_> =
            found.iter().map(|l| (l.line, l.target.as_str(), l.picture.as_deref())).collect();
        let expected = [(1, "c.md", None), (6, "h.svg", Some("two\nlines")), (6, "j.md#k", None)];
        assert_eq!(found, expected);
    }

    #[test]
    fn anchors_are_those_of_forges() {
        let text = "# A `b-c`: d?\n## Two words\n### Two words\n```\n# no\n```\n## [E](f.md)\n";
        assert_eq!(anchors(text), ["a-b-c-d", "two-words", "two-words-1", "e"]);
    }

    #[test]
    fn missing_files_anchors_and_texts_are_told() {
        let root = std::env::temp_dir().join(format!("pavior-links-{}", std::process::id()));
        std::fs::create_dir_all(root.join("docs")).unwrap();
        let page = "# One\n[a](b.md)\n[a](#one)\n[a](#two)\n![](c.svg)\n[a](../../d)\n![t](e.svg)";
        std::fs::write(root.join("docs/a.md"), page).unwrap();
        std::fs::write(root.join("docs/c.svg"), "<svg/>").unwrap();
        std::fs::write(root.join("docs/e.svg"), "text").unwrap();
        let told = [
            "docs/a.md:2: there is no b.md",
            "docs/a.md:4: docs/a.md has no heading #two",
            "docs/a.md:5: c.svg has no text beside it",
            "docs/a.md:6: ../../d is outside the repository",
            "docs/a.md:7: e.svg is not a PNG, WebP or SVG",
        ];
        assert_eq!(problems(&root), told);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_pages_lead_somewhere() {
        let problems = problems(&crate::root());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
