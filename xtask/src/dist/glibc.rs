//! The glibc version that a program needs: the newest version among the symbols that it references.

use std::path::Path;
use std::process::Command;

use super::said;

type Version = (u32, u32);

/// Fails if a program does not run with a glibc.
pub(super) fn at_most(program: &Path, most: Version) -> Result<(), String> {
    let (major, minor) = needed(program)?;
    if (major, minor) <= most {
        return Ok(());
    }
    let program = program.display();
    Err(format!("{program} needs glibc {major}.{minor}, and may need {}.{}", most.0, most.1))
}

/// Returns the oldest glibc that can run a program.
pub(super) fn needed(program: &Path) -> Result<Version, String> {
    let text = said(Command::new("readelf").args(["--version-info", "--wide"]).arg(program))?;
    newest(&text).ok_or_else(|| format!("{} is not linked to a glibc", program.display()))
}

fn newest(text: &str) -> Option<Version> {
    let version = |word: &str| {
        // Some versions have a third number: 2.2.5.
        let mut numbers = word.strip_prefix("GLIBC_")?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    text.split_whitespace().filter_map(version).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_counts_by_number() {
        let text = "0x0010: Name: GLIBC_2.2.5  Flags: none  Version: 4\n\
                    0x0020: Name: GLIBC_2.28 Flags: none\n  Name: GLIBC_2.9  Name: GCC_4.2.0";
        assert_eq!(newest(text), Some((2, 28)));
        assert_eq!(newest("Name: GLIBC_PRIVATE"), None);
    }
}
