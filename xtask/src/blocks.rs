//! The shell blocks in the README and on other pages, run as a reader would: in a fresh clone, with
//! `pavior` on the path.
//!
//! Each block in the README runs on its own. Those on another page run from top to bottom in one
//! shell. All of them run twice, so that each also runs after every other one. They must terminate
//! with status 0, and must not leave files in the clone that git reports.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo;

/// The page whose blocks run one at a time.
const README: &str = "README.md";

/// The pages whose `sh` blocks are all run.
const PAGES: [&str; 6] = [
    README,
    "docs/first-study.md",
    "docs/first-machine.md",
    "docs/first-scheduler.md",
    "docs/choosing.md",
    "docs/troubleshooting.md",
];

/// Time limit of a block in seconds, on a busy machine.
const SECONDS: &str = "600";

/// The number of last output lines that a failure shows.
const SHOWN: usize = 10;

/// A block, or all blocks of a page, and the line of the first command.
#[derive(Debug, PartialEq)]
struct Block {
    page: &'static str,
    line: usize,
    text: String,
}

/// Runs the blocks with the program that the tests use.
pub(crate) fn with_tested(root: &Path) -> Vec<String> {
    match cargo::program(root) {
        Ok(program) => problems(root, &program),
        Err(problem) => vec![problem],
    }
}

/// Runs the blocks with a program. Failures are reported with their location.
pub(crate) fn problems(root: &Path, program: &Path) -> Vec<String> {
    let scratch = std::env::temp_dir().join(format!("pavior-blocks-{}", std::process::id()));
    let problems = match Clone::of(root, program, &scratch) {
        Ok(clone) => tried(root, &clone),
        Err(problem) => vec![problem],
    };
    let _ = fs::remove_dir_all(scratch);
    problems
}

fn tried(root: &Path, clone: &Clone) -> Vec<String> {
    let mut blocks = Vec::new();
    for page in PAGES {
        match fs::read_to_string(root.join(page)) {
            Ok(text) => blocks.extend(of_page(page, &text)),
            Err(error) => return vec![format!("{page}: {error}")],
        }
    }
    let mut problems = Vec::new();
    for block in blocks.iter().chain(&blocks) {
        let told = clone.run(block).err().or_else(|| clone.left_behind());
        problems.extend(told.map(|told| format!("{}:{}: {told}", block.page, block.line)));
    }
    eprintln!("{} scripts of README and first pages, each run twice", blocks.len());
    problems
}

/// Returns the `sh` blocks on a page: separately for the README, joined for any other page.
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

/// A fresh clone and the path on which its blocks find the program.
struct Clone {
    folder: PathBuf,
    path: std::ffi::OsString,
    /// The folder of the blocks' own temporary files.
    temporary: PathBuf,
}

impl Clone {
    /// Clones the current sources, including uncommitted changes.
    fn of(root: &Path, program: &Path, scratch: &Path) -> Result<Clone, String> {
        let (bin, temporary) = (scratch.join("bin"), scratch.join("tmp"));
        let folder = scratch.join("pavior");
        for made in [&bin, &temporary] {
            fs::create_dir_all(made).map_err(|error| format!("{}: {error}", made.display()))?;
        }
        let program = program.canonicalize().map_err(|e| format!("{}: {e}", program.display()))?;
        fs::copy(program, bin.join("pavior")).map_err(|error| error.to_string())?;
        let shown = folder.display().to_string();
        git(root, &["clone", "--quiet", "--shared", ".", &shown])?;
        let listed = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"];
        for name in git(root, &listed)?.split_terminator('\0') {
            let (from, to) = (root.join(name), folder.join(name));
            if !from.exists() {
                let _ = fs::remove_file(to);
                continue;
            }
            fs::create_dir_all(to.parent().unwrap_or(&folder)).map_err(|e| e.to_string())?;
            fs::copy(from, to).map_err(|error| format!("{name}: {error}"))?;
        }
        git(&folder, &["add", "--all"])?;
        let who = ["-c", "user.name=blocks", "-c", "user.email=blocks@localhost"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", "As it stands"];
        git(&folder, &[&who[..], &commit].concat())?;
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&others)));
        Ok(Clone { folder, path: path.map_err(|error| error.to_string())?, temporary })
    }

    /// Runs a block.
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
        end(child.id());
        match status.code() {
            Some(0) => return Ok(()),
            // The status of `timeout`.
            Some(124) => return Err(format!("it takes more than {SECONDS} seconds")),
            _ => {}
        }
        let said = fs::read(output).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last: Vec<&str> = said.lines().rev().take(SHOWN).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Err(format!("it fails: {}", last.join("\n")))
    }

    /// Describes and removes files left by a block that git reports.
    fn left_behind(&self) -> Option<String> {
        let left = git(&self.folder, &["status", "--porcelain"]).unwrap_or_else(|error| error);
        if left.is_empty() {
            return None;
        }
        let _ = git(&self.folder, &["stash", "--quiet", "--include-untracked"]);
        Some(format!("it leaves behind: {}", left.trim_end()))
    }
}

/// Kills processes that a shell has left running, such as a server started by a block that failed.
fn end(group: u32) {
    let kill = ["-KILL", "--", &format!("-{group}")];
    let _ = Command::new("kill").args(kill).stderr(Stdio::null()).status();
}

/// Returns the output of git.
fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {}: {}", arguments.join(" "), said.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_shell_alone_are_taken() {
        let text = "a\n```sh\none\ntwo\n```\n```console\n$ no\n```\n```sh\nthree\n```\n";
        let block = |page, line, text: &str| Block { page, line, text: text.into() };
        let each = [block(README, 3, "one\ntwo\n"), block(README, 10, "three\n")];
        assert_eq!(of_page(README, text), each);
        assert_eq!(of_page("p", text), [block("p", 3, "one\ntwo\nthree\n")]);
    }
}
