//! Reads a Machine from a file.

use std::path::Path;

use pavior::files::{FileError, Limits, read_text};
use pavior::text::shown;

use crate::error::KubeError;
use crate::objects::Machine;

/// Reads a Machine from a file, for clusters without Machine objects.
pub(crate) fn read_machine(path: &Path) -> Result<Machine, KubeError> {
    let text = read_text(path, Limits::DOCUMENT)?;
    let fault = |error: serde_saphyr::Error| {
        FileError::content(path, shown(&error.to_string()).to_string()).into()
    };
    serde_saphyr::from_str(&text).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_once_and_escape_its_path() {
        let text = |path: &str| read_machine(Path::new(path)).unwrap_err().to_string();
        let missing = "cannot read /none\\u{1b}.yaml: No such file or directory (os error 2)";
        assert_eq!(text("/none\u{1b}.yaml"), missing);
        let invalid = text(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(invalid.starts_with("cannot read ") && !invalid.contains('\n'), "{invalid}");
    }
}
