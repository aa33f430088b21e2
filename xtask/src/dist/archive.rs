//! The archives: the program with its pages and completions, as `bin` and `share`, and separately
//! the debug data.

use super::tree::Tree;
use super::{Release, said};

/// Writes the archives.
pub(super) fn write(release: &Release, tree: &Tree) -> Result<(), String> {
    let name = release.name();
    pack(release, tree, &name, &format!("{name}.tar.gz"))?;
    pack(release, tree, "pavior.debug", &format!("{name}-debug.tar.gz"))
}

/// Packs one of the staged files or folders. The same files give the same bytes.
fn pack(release: &Release, tree: &Tree, name: &str, archive: &str) -> Result<(), String> {
    let mut tar = release.packer("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--owner=root:0", "--group=root:0"])
        .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{}", release.seconds)])
        .arg("--file")
        .arg(release.out.join(archive))
        .arg("--directory")
        .arg(&tree.stage)
        .arg(name);
    said(&mut tar).map(drop)
}
