//! Finds the command that replays a log.

use std::path::Path;

use pavior::Grid;
use pavior::text::shell_word;
use pavior::workload::inspect::LogSummary;

use crate::args::InspectArgs;

/// The maximum length of a mesh's side.
const MAX_SIDE: u64 = 65_535;

/// Returns the command that replays a log with the options used to summarize it. If no grid is
/// given, the command uses the most compact mesh of the size in the header. Returns `None` if that
/// size is unknown or is not the size of any mesh, or if the path is not valid UTF-8.
pub(super) fn command(
    args: &InspectArgs,
    grid: Option<&Grid>,
    summary: &LogSummary,
) -> Option<String> {
    let machine = match grid {
        Some(grid) => grid.to_string(),
        None => compact_mesh(summary.machine_size?)?,
    };
    let path = path_word(&args.file)?;
    let mut command = format!(
        "pavior simulate --trace {path} --machine {machine} --strategy tff --scheduler easy"
    );
    if summary.dependencies.followed > 0 && args.read.typed("dependencies").is_none() {
        command += " --dependencies";
    }
    for argument in args.read.arguments() {
        command = command + " " + &shell_word(&argument);
    }
    Some(command)
}

/// Quotes a log's path for a shell. A file name that begins with `-` is changed to begin with
/// `./-`, so that it cannot be mistaken for an option. Returns `None` if the path is not valid
/// UTF-8.
fn path_word(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let folder = if path.starts_with('-') && path != "-" { "./" } else { "" };
    Some(shell_word(&format!("{folder}{path}")).into_owned())
}

/// Returns the mesh with at most three axes and the smallest surface, or `None` if no mesh has this
/// number of nodes.
fn compact_mesh(nodes: u64) -> Option<String> {
    let mut best: Option<(u64, [u64; 3])> = None;
    for z in small_divisors(nodes).take_while(|side| side * side * side <= nodes) {
        let rest = nodes / z;
        for y in small_divisors(rest) {
            let x = rest / y;
            let sides = [x.saturating_mul(y), y.saturating_mul(z), x.saturating_mul(z)];
            let surface = sides.into_iter().fold(0, u64::saturating_add);
            if x <= MAX_SIDE && best.is_none_or(|(least, _)| surface < least) {
                best = Some((surface, [x, y, z]));
            }
        }
    }
    let (_, sides) = best?;
    let axes = 1 + (1..3).filter(|&axis| sides[axis] > 1).count();
    let sides: Vec<String> = sides[..axes].iter().map(ToString::to_string).collect();
    let text = format!("mesh:{}", sides.join("x"));
    text.parse::<Grid>().ok().map(|_| text)
}

/// Returns the divisors of a number up to its square root, excluding those above [`MAX_SIDE`].
fn small_divisors(of: u64) -> impl Iterator<Item = u64> {
    let sides = (1..=MAX_SIDE).take_while(move |side| side * side <= of);
    sides.filter(move |side| of.is_multiple_of(*side))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_a_size_is_the_most_compact_mesh() {
        for (nodes, expected) in [
            (1, Some("mesh:1")),
            (7, Some("mesh:7")),
            (12, Some("mesh:3x2x2")),
            (128, Some("mesh:8x4x4")),
            (1152, Some("mesh:12x12x8")),
            (40_960, Some("mesh:40x32x32")),
            (0, None),
            // A prime above the maximum side.
            (65_537, None),
            (u64::MAX, None),
        ] {
            assert_eq!(compact_mesh(nodes).as_deref(), expected, "{nodes}");
        }
    }

    #[test]
    fn a_path_is_one_word_that_names_the_file() {
        for (path, expected) in [
            ("-", "-"),
            ("-x.swf", "./-x.swf"),
            ("-a b", "'./-a b'"),
            ("logs/a.swf", "logs/a.swf"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(path_word(Path::new(path)).as_deref(), Some(expected));
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            assert_eq!(path_word(Path::new(std::ffi::OsStr::from_bytes(b"\xff.swf"))), None);
        }
    }
}
