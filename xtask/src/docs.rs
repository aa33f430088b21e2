//! Checks of the contents of pages: kinds, links, quoted messages, and shell blocks.

use std::path::{Path, PathBuf};

use crate::{blocks, cargo, kinds, links, messages};

/// Tests the statements of all pages, with a newly built or the given program.
pub(crate) fn all(root: &Path, program: Option<&str>) -> Vec<String> {
    let mut problems = kinds::problems(root);
    problems.extend(links::problems(root));
    problems.extend(messages::problems(root));
    let program = program.map_or_else(|| cargo::every_door(root), |path| Ok(PathBuf::from(path)));
    match program {
        Ok(program) => problems.extend(blocks::problems(root, &program)),
        Err(problem) => problems.push(problem),
    }
    problems
}
