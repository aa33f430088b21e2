//! What results depend on: this crate, those of the workspace below it, and the versions of the
//! libraries that they use. All are found in the manifests, so that none can be left out.
//!
//! The manifests are read line by line, in the form that this workspace gives them, and the lock
//! file in the one form that it has: a reader of TOML and a digest of a library would be compiled
//! once more, for the machine that builds. A test holds what is found against `cargo tree`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// What is digested.
pub(crate) struct Sources {
    /// The crates of the workspace by their names, and where they are.
    pub(crate) crates: BTreeMap<String, PathBuf>,
    /// The libraries from elsewhere, by name and version; none where there is no lock file.
    pub(crate) libraries: BTreeSet<String>,
}

impl Sources {
    /// Those of the crate in a folder, which is a member of the workspace two folders above.
    ///
    /// Outside a workspace, as in a package, a crate stands alone: its version pins the others.
    pub(crate) fn of(manifest: &Path) -> io::Result<Sources> {
        let root = manifest.join("../..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let shared = read("Cargo.toml");
        let mut crates = BTreeMap::new();
        let mut names = BTreeSet::new();
        let mut open = vec![manifest.to_path_buf()];
        while let Some(folder) = open.pop() {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
            let name =
                section(&manifest, |of| of == "[package]").find_map(|line| value(line, "name"));
            if crates.insert(name.unwrap_or_default().to_string(), folder).is_some() {
                continue;
            }
            for name in section(&manifest, is_dependencies).map(key) {
                let mut shared = section(&shared, |of| of == "[workspace.dependencies]");
                let line = shared.find(|line| key(line) == name).unwrap_or_default();
                let path =
                    line.split_once("path = \"").and_then(|(_, rest)| rest.split('"').next());
                match path.map(|path| root.join(path)).filter(|folder| folder.is_dir()) {
                    Some(folder) => open.push(folder),
                    None => drop(names.insert(name.to_string())),
                }
            }
        }
        Ok(Sources { crates, libraries: locked(&read("Cargo.lock"), names) })
    }

    /// The digest of all of it, as hexadecimal digits.
    pub(crate) fn digest(&self) -> io::Result<String> {
        // Another compiler may have another hasher: its results are another build's, too.
        let mut digest = DefaultHasher::new();
        for (name, folder) in &self.crates {
            let mut files = vec![folder.join("Cargo.toml")];
            collect(&folder.join("src"), &mut files)?;
            files.sort();
            digest.write(name.as_bytes());
            digest.write_u8(0);
            for file in files {
                digest.write(&std::fs::read(file)?);
                digest.write_u8(0);
            }
        }
        for library in &self.libraries {
            digest.write(library.as_bytes());
            digest.write_u8(0);
        }
        Ok(format!("{:016x}", digest.finish()))
    }
}

/// The libraries of these names, those that they use in turn, and their versions.
fn locked(lock: &str, names: BTreeSet<String>) -> BTreeSet<String> {
    let packages: Vec<&str> = lock.split("[[package]]").collect();
    let text = |package, key| str::lines(package).find_map(|line| value(line, key));
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = names.into_iter().collect();
    while let Some(wanted) = open.pop() {
        // A name, and a version where the lock file has several.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next(), words.next());
        for package in packages.iter().filter(|package| text(package, "name") == name) {
            let own = text(package, "version").unwrap_or_default();
            if version.is_some_and(|version| version != own)
                || !found.insert(format!("{} {own}", name.unwrap_or_default()))
            {
                continue;
            }
            // ` "name",` a line, from `dependencies = [` on.
            let used = package.split_once("dependencies = [").map_or("", |(_, used)| used);
            let quoted = used.lines().filter_map(|line| line.trim().strip_prefix('"'));
            open.extend(quoted.map(|line| line.trim_end_matches("\",").to_string()));
        }
    }
    found
}

/// Whether a header is that of dependencies, of every platform or of one.
fn is_dependencies(header: &str) -> bool {
    let of_one = header.starts_with("[target.") && header.ends_with(".dependencies]");
    of_one || header == "[dependencies]"
}

/// The lines of some sections of a manifest that state something.
fn section<'a>(
    manifest: &'a str,
    is_wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let lines = manifest.lines().filter(move |line| !line.is_empty() && !line.starts_with('#'));
    let own = lines.scan(false, move |inside, line| {
        let is_header = line.starts_with('[');
        if is_header {
            *inside = is_wanted(line);
        }
        Some(Some(line).filter(|_| *inside && !is_header))
    });
    own.flatten()
}

/// What a line states: `name` of `name.workspace = true` and of `name = { ... }`.
fn key(line: &str) -> &str {
    line.split(['.', ' ', '=']).next().unwrap_or_default()
}

/// The text of a line `key = "text"`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

/// The files of a folder and those below it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
