//! The sources that affect results: this crate, the workspace crates it uses, and the versions of
//! their external libraries. The list is read from the manifests, so that no source can be missed.
//!
//! The manifests and the lock file are read line by line, and only the notation used in this
//! workspace is supported. This avoids compiling a TOML parser and a digest library a second time.
//! A test compares the result with `cargo tree`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The crates and libraries to digest.
pub(crate) struct Sources {
    /// The directory of each workspace crate, by crate name.
    pub(crate) crates: BTreeMap<String, PathBuf>,
    /// The name and version of each external library. Empty if there is no lock file.
    pub(crate) libraries: BTreeSet<String>,
}

impl Sources {
    /// Finds the sources of a crate whose directory is two levels below the workspace root.
    ///
    /// Outside a workspace, as in a published package, only this crate is found. Its manifest pins
    /// the versions of the other crates.
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

    /// Returns the digest of all sources as hexadecimal digits.
    pub(crate) fn digest(&self) -> io::Result<String> {
        // A different compiler may hash differently, but it also produces a different build.
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

/// Returns the named libraries and all their dependencies, with versions.
fn locked(lock: &str, names: BTreeSet<String>) -> BTreeSet<String> {
    let packages: Vec<&str> = lock.split("[[package]]").collect();
    let text = |package, key| str::lines(package).find_map(|line| value(line, key));
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = names.into_iter().collect();
    while let Some(wanted) = open.pop() {
        // The version follows the name if the lock file contains several versions of a library.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next(), words.next());
        for package in packages.iter().filter(|package| text(package, "name") == name) {
            let own = text(package, "version").unwrap_or_default();
            if version.is_some_and(|version| version != own)
                || !found.insert(format!("{} {own}", name.unwrap_or_default()))
            {
                continue;
            }
            // Dependencies are listed after `dependencies = [`, in lines of the form ` "name",`.
            let used = package.split_once("dependencies = [").map_or("", |(_, used)| used);
            let quoted = used.lines().filter_map(|line| line.trim().strip_prefix('"'));
            open.extend(quoted.map(|line| line.trim_end_matches("\",").to_string()));
        }
    }
    found
}

/// Returns true if a header introduces a list of dependencies, for all platforms or just one.
fn is_dependencies(header: &str) -> bool {
    let of_one = header.starts_with("[target.") && header.ends_with(".dependencies]");
    of_one || header == "[dependencies]"
}

/// Returns the lines in the requested sections of a manifest, without comments or empty lines.
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

/// Returns the key of a line, such as `name` for `name.workspace = true` or `name = { ... }`.
fn key(line: &str) -> &str {
    line.split(['.', ' ', '=']).next().unwrap_or_default()
}

/// Returns the text in a line of the form `key = "text"`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

/// Collects the files in a directory and its subdirectories.
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
