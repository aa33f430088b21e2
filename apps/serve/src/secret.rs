//! Files that only their owner may read: tokens, keys and passwords.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The maximum size of a secret file, in bytes. The limit also stops reads from endless devices.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a file that only its owner may access. The owner must be root or the current user.
///
/// # Errors
/// Returns an error if the file is unreadable or other users have access to it. The error explains
/// how to fix the problem.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    // Check the open file, because the path could be replaced in the meantime.
    let metadata = file.metadata()?;
    // Pipes and devices leave no copy on disk, so their owner and mode do not matter.
    let is_on_disk = metadata.is_file();
    let (name, user) = (path.display(), rustix::process::geteuid().as_raw());
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if is_on_disk && owner != user && owner != 0 {
        let text = format!("it is owned by user {owner}: run `chown {user} {name}`");
        return Err(io::Error::other(text));
    }
    if is_on_disk && mode & 0o077 != 0 {
        let text =
            format!("its mode is {mode:03o}, which lets others access it: run `chmod 600 {name}`");
        return Err(io::Error::other(text));
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 1 MiB, the limit for secret files"));
    }
    Ok(bytes)
}

/// Reads a text file, with the same checks as [`read`].
///
/// # Errors
/// Returns an error if [`read`] does, or if the file is not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_can_access_is_refused_with_the_remedy() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens");
        std::fs::write(&file, "secret").unwrap();
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o777] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && error.contains("tokens"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        for mode in [0o600, 0o400] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(read(&file).unwrap(), b"secret");
        }
        assert!(read(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return pavior_trials::skipped(
                "a file of secrets that another user owns",
                "only root can give a file away",
                "PAVIOR_REQUIRE_ROOT",
            );
        }
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens");
        std::fs::write(&file, "secret").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("user 65534") && error.contains("chown 0"), "{error}");
    }
}
