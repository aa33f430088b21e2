//! What results depend on: this crate, those of the workspace below it, and the versions of the
//! libraries that they use. All are found in the manifests, so that none can be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toml::Table;

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
        let shared = table(&root.join("Cargo.toml")).unwrap_or_default();
        let shared = shared.get("workspace").and_then(|workspace| workspace.get("dependencies"));
        let mut crates = BTreeMap::new();
        let mut names = BTreeSet::new();
        let mut open = vec![manifest.to_path_buf()];
        while let Some(folder) = open.pop() {
            let manifest = table(&folder.join("Cargo.toml"))?;
            let name = manifest["package"]["name"].as_str().unwrap_or_default().to_string();
            if crates.insert(name, folder).is_some() {
                continue;
            }
            let used = manifest.get("dependencies").and_then(toml::Value::as_table);
            for name in used.into_iter().flat_map(Table::keys) {
                let path = shared.and_then(|shared| shared.get(name)?.get("path")?.as_str());
                match path.map(|path| root.join(path)).filter(|folder| folder.is_dir()) {
                    Some(folder) => open.push(folder),
                    None => drop(names.insert(name.clone())),
                }
            }
        }
        let lock = table(&root.join("Cargo.lock")).unwrap_or_default();
        Ok(Sources { crates, libraries: locked(&lock, names) })
    }

    /// The digest of all of it, as hexadecimal digits.
    pub(crate) fn digest(&self) -> io::Result<String> {
        let mut digest = Sha256::new();
        for (name, folder) in &self.crates {
            let mut files = vec![folder.join("Cargo.toml")];
            collect(&folder.join("src"), &mut files)?;
            files.sort();
            digest.update(name);
            digest.update([0]);
            for file in files {
                digest.update(std::fs::read(file)?);
                digest.update([0]);
            }
        }
        for library in &self.libraries {
            digest.update(library);
            digest.update([0]);
        }
        let digest = digest.finalize();
        let words: Vec<String> = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(words.concat())
    }
}

/// The libraries of these names, those that they use in turn, and their versions.
fn locked(lock: &Table, names: BTreeSet<String>) -> BTreeSet<String> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let packages: Vec<&Table> =
        packages.into_iter().flatten().filter_map(toml::Value::as_table).collect();
    let text = |package: &Table, key: &str| -> String {
        package.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_string()
    };
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = names.into_iter().collect();
    while let Some(wanted) = open.pop() {
        // A name, and a version where the lock file has several.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for package in packages.iter().filter(|package| text(package, "name") == name) {
            let own = text(package, "version");
            if version.is_some_and(|version| version != own)
                || !found.insert(format!("{name} {own}"))
            {
                continue;
            }
            let used = package.get("dependencies").and_then(toml::Value::as_array);
            open.extend(
                used.into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_string())),
            );
        }
    }
    found
}

fn table(path: &Path) -> io::Result<Table> {
    std::fs::read_to_string(path)?.parse().map_err(io::Error::other)
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
