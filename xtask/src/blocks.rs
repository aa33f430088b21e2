//! Runs the shell blocks in the README and on other pages just as a reader would: in a fresh clone,
//! with `pavior` on the path.
//!
//! Each block in the README runs separately; the blocks on any other page run from top to bottom in
//! a single shell. Everything runs twice, so that each block also runs after all the others. Blocks
//! must succeed without leaving untracked or changed files in the clone.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Problems, process};

/// The page whose blocks run separately.
const README: &str = "README.md";

/// The pages whose `sh` blocks are run.
const PAGES: [&str; 6] = [
    README,
    "docs/first-study.md",
    "docs/first-machine.md",
    "docs/first-scheduler.md",
    "docs/choosing.md",
    "docs/troubleshooting.md",
];

/// The time limit for a block in seconds. It is long enough even for a busy machine.
const SECONDS: &str = "600";

/// The number of lines to show from the end of a failed block's output.
const SHOWN: usize = 10;

/// A block, or all blocks on a page, with the line number of the first command.
#[derive(Debug, PartialEq)]
struct Block {
    page: &'static str,
    line: usize,
    text: String,
}

/// Builds the program and runs the blocks.
pub(crate) fn problems(root: &Path, build: fn(&Path) -> Result<PathBuf, String>) -> Problems {
    let scratch = std::env::temp_dir().join(format!("pavior-blocks-{}", std::process::id()));
    let clone = build(root).and_then(|program| FreshClone::of(root, &program, &scratch));
    let problems = clone.and_then(|clone| run_blocks(root, &clone));
    let _ = fs::remove_dir_all(scratch);
    problems
}

fn run_blocks(root: &Path, clone: &FreshClone) -> Problems {
    let mut blocks = Vec::new();
    for page in PAGES {
        let text = fs::read_to_string(root.join(page));
        blocks.extend(of_page(page, &text.map_err(|error| format!("{page}: {error}"))?));
    }
    let mut problems = Vec::new();
    for block in blocks.iter().chain(&blocks) {
        let (failure, leftovers) = (clone.run(block).err(), clone.remove_leftovers());
        let problem = failure.or(leftovers);
        let place = format!("{}:{}", block.page, block.line);
        problems.extend(problem.map(|problem| format!("{place}: {problem}")));
    }
    eprintln!("ran {} scripts in the README and on selected pages, each twice", blocks.len());
    Ok(problems)
}

/// Returns the `sh` blocks on a page. Blocks are joined into one unless the page is the README.
fn of_page(page: &'static str, text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line == "```sh" {
            inside = true;
            if page == README || found.is_empty() {
                found.push(Block { page, line: index + 2, text: String::new() });
            }
        } else if line.starts_with("```") {
            inside = false;
        } else if let Some(block) = found.last_mut().filter(|_| inside) {
            block.text += line;
            block.text.push('\n');
        }
    }
    found
}

/// A fresh clone, and the `PATH` for the blocks that run in it.
struct FreshClone {
    folder: PathBuf,
    path: String,
    /// The directory for the blocks' temporary files.
    temporary: PathBuf,
}

impl FreshClone {
    /// Clones the current sources, including uncommitted changes.
    fn of(root: &Path, program: &Path, scratch: &Path) -> Result<FreshClone, String> {
        let (bin, temporary) = (scratch.join("bin"), scratch.join("tmp"));
        let folder = scratch.join("pavior");
        fs::create_dir_all(&bin)
            .and_then(|()| fs::create_dir_all(&temporary))
            .and_then(|()| fs::copy(program, bin.join("pavior")))
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let shown = folder.display().to_string();
        let who = ["--config", "user.name=blocks", "--config", "user.email=blocks@localhost"];
        git(root, &[&["clone", "--quiet", "--shared"], &who[..], &[".", &shown]].concat())?;
        git(&folder, &["rm", "-r", "--quiet", "."])?;
        let copy = |words: &[&str]| {
            let mut git = Command::new("git");
            let index = scratch.join("index");
            process::output(git.args(words).env("GIT_INDEX_FILE", index).current_dir(root))
        };
        copy(&["add", "--all"])?;
        copy(&["checkout-index", "--all", &format!("--prefix={shown}/")])?;
        git(&folder, &["add", "--all"])?;
        git(&folder, &["commit", "--quiet", "--allow-empty", "--message", "Current sources"])?;
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        Ok(FreshClone { folder, path, temporary })
    }

    /// Runs a block, then kills any processes that it started.
    fn run(&self, block: &Block) -> Result<(), String> {
        let output = self.temporary.join("output");
        let file = fs::File::create(&output).map_err(|error| error.to_string())?;
        let other = file.try_clone().map_err(|error| error.to_string())?;
        let mut child = Command::new("timeout")
            .args([SECONDS, "sh", "-e", "-c", &block.text])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("TMPDIR", &self.temporary)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(other)
            .process_group(0)
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let status = child.wait().map_err(|error| error.to_string())?;
        // A failed block may have left a server running.
        let kill = ["-KILL", "--", &format!("-{}", child.id())];
        let _ = Command::new("kill").args(kill).stderr(Stdio::null()).status();
        match status.code() {
            Some(0) => return Ok(()),
            // `timeout` exits with this status when the time limit is reached.
            Some(124) => return Err(format!("the block took more than {SECONDS} seconds")),
            _ => {}
        }
        let printed = fs::read(output).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed);
        let lines: Vec<&str> = printed.lines().collect();
        Err(format!("the block failed: {}", lines[lines.len().saturating_sub(SHOWN)..].join("\n")))
    }

    /// Describes and removes any untracked or changed files that a block leaves behind.
    fn remove_leftovers(&self) -> Option<String> {
        let left = git(&self.folder, &["status", "--porcelain"]).unwrap_or_else(|error| error);
        if left.is_empty() {
            return None;
        }
        let _ = git(&self.folder, &["stash", "--quiet", "--include-untracked"]);
        Some(format!("the block left files behind: {}", left.trim_end()))
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    process::output(Command::new("git").args(arguments).current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_blocks_are_found() {
        let text = "a\n```sh\none\ntwo\n```\n```console\n$ no\n```\n```sh\nthree\n```\n";
        let block = |page, line, text: &str| Block { page, line, text: text.into() };
        let each = [block(README, 3, "one\ntwo\n"), block(README, 10, "three\n")];
        assert_eq!(of_page(README, text), each);
        assert_eq!(of_page("p", text), [block("p", 3, "one\ntwo\nthree\n")]);
    }
}
