//! The gate: the part of `pavior slurm` that runs in slurmctld, as Lua.
//!
//! It is a module for each machine, which job_submit.lua calls. Both are sealed: the first line of
//! a file has the checksum of its text. So a file that was edited, or is another's, is known as
//! such, and `pavior slurm check` can ask the gate that slurmctld has loaded which one it is.

use pavior::Checksum;

use crate::{Config, LICENCE};

const MODULE: &str = include_str!("gate/pavior.lua");
const JOB_SUBMIT: &str = include_str!("gate/job_submit.lua");

/// What stands in the place of a text's checksum while it is computed.
const PLACE: &str = "@CHECKSUM@";
/// What the first line of a sealed text says before its checksum.
const SEAL: &str = "Written by pavior slurm install, checksum ";

/// The name of a machine's module: another one for each licence, so that several can stand in one
/// folder.
pub(crate) fn module_name(config: &Config) -> String {
    match config.licence.as_str() {
        LICENCE => "pavior.lua".into(),
        licence => format!("pavior-{licence}.lua"),
    }
}

/// The module for a machine.
pub(crate) fn module(config: &Config) -> String {
    let grid = config.grid;
    let sides: Vec<String> = grid.sides()[..grid.axes()].iter().map(u16::to_string).collect();
    let quoted: Vec<String> = config.partitions.iter().map(|name| format!("\"{name}\"")).collect();
    let text = MODULE
        .replace("@MACHINE@", &grid.to_string())
        .replace("@PARTITION@", &config.partitions.join(", "))
        .replace("@PARTITIONS@", &quoted.join(", "))
        .replace("@SIDES@", &sides.join(", "))
        .replace("@LICENCE@", &config.licence)
        .replace("@MODULE@", &module_name(config));
    sealed(&text)
}

/// job_submit.lua for a site without one, which calls these modules.
pub(crate) fn job_submit(modules: &[String]) -> String {
    let quoted: Vec<String> = modules.iter().map(|name| format!("\"{name}\"")).collect();
    sealed(&JOB_SUBMIT.replace("@MODULES@", &quoted.join(", ")))
}

/// The modules that a job_submit.lua of ours calls.
pub(crate) fn modules(job_submit: &str) -> Vec<String> {
    let list = job_submit.split_once("ipairs({").and_then(|(_, rest)| rest.split_once("})"));
    let names = list.map_or("", |(list, _)| list).split(',');
    names.map(|name| name.trim().trim_matches('"').to_string()).collect()
}

/// A text with its checksum in its first line.
pub(crate) fn sealed(text: &str) -> String {
    text.replace(PLACE, &Checksum::of(text.as_bytes()).to_string())
}

/// The checksum that a sealed text says it has.
pub(crate) fn checksum(text: &str) -> Option<&str> {
    let (_, behind) = text.lines().next()?.split_once(SEAL)?;
    behind.split_once('.').map(|(sum, _)| sum).filter(|sum| sum.len() == 16)
}

/// Whether a text was written by `pavior slurm install`, of whatever version, and not edited.
pub(crate) fn is_sealed(text: &str) -> bool {
    checksum(text)
        .is_some_and(|sum| Checksum::of(text.replace(sum, PLACE).as_bytes()).to_string() == sum)
}

#[cfg(test)]
mod tests;
