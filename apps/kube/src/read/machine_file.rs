//! Reads a Machine from a file.

use std::path::Path;

use pavior::files::{Limits, read_text};
use pavior::text::shown;

use crate::error::KubeError;
use crate::objects::Machine;

/// Reads a Machine from a file, for clusters without Machine objects.
pub(crate) fn read_machine(path: &Path) -> Result<Machine, KubeError> {
    let fault = |why: String| KubeError::File { path: path.to_path_buf(), why };
    let text = read_text(path, Limits::DOCUMENT).map_err(|error| fault(error.to_string()))?;
    serde_saphyr::from_str(&text).map_err(|error| fault(shown(&error.to_string()).to_string()))
}
