//! The packaged systemd unit, adapted to the given program and configuration paths.

use std::path::Path;

const PACKAGED_UNIT: &str = include_str!("../../dist/pavior-slurm.service");

/// The part of the packaged unit to replace.
const PACKAGED_COMMAND: &str = "/usr/bin/pavior slurm --config /etc/pavior/slurm.toml";
pub(crate) const PACKAGED_PROGRAM: &str = "/usr/bin/pavior";

/// Generates the systemd unit for the daemon that places jobs.
pub(crate) fn service_unit(config: &Path, program: &Path) -> String {
    // systemd expands variables in arguments but not in the program path.
    let config = quoted(config).replace('$', "$$");
    let start = format!("{} slurm --config {config}", quoted(program));
    PACKAGED_UNIT.replace(PACKAGED_COMMAND, &start)
}

/// Quotes a path for systemd.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    if text.chars().all(plain) {
        return text;
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_systemd() {
        let unit = service_unit(Path::new("/a $b/50%.toml"), Path::new("/opt/$x/pavior"));
        let start = "ExecStart=\"/opt/$x/pavior\" slurm --config \"/a $$b/50%%.toml\"\n";
        assert!(unit.contains(start) && !unit.contains("/usr/bin/pavior"), "{unit}");
    }
}
