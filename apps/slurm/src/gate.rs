//! The gate: the part of `pavior slurm` that runs in slurmctld, as a Lua script.
//!
//! Each machine has its own module, which job_submit.lua calls. Both files are sealed: the first
//! line of each contains a checksum of the text. The seal shows whether the file is unchanged since
//! Pavior wrote it, and identifies the gate that slurmctld has loaded.

use std::path::Path;

use pavior::Checksum;

use crate::Config;
use crate::config::LICENSE;

pub(crate) mod loaded;

const MODULE: &str = include_str!("gate/pavior.lua");
const JOB_SUBMIT_SCRIPT: &str = include_str!("gate/job_submit.lua");

/// The placeholder that stands in for the checksum while the checksum is computed.
const PLACEHOLDER: &str = "@CHECKSUM@";
/// The text before the checksum in the first line.
const SEAL: &str = "Written by pavior slurm install, checksum ";
/// A script that accepts every job, with both functions that Slurm requires.
const PASSING_SCRIPT: &str = "function slurm_job_submit() return slurm.SUCCESS end\n\
    function slurm_job_modify() return slurm.SUCCESS end\n\
    return slurm.SUCCESS\n";
/// The text before and after the list of modules in a job_submit.lua.
const MODULE_LIST: (&str, &str) = ("ipairs({ ", " })");

/// The file that slurmctld runs for each job.
pub(crate) const JOB_SUBMIT: &str = "job_submit.lua";

/// Returns the file name of a machine's module. The name includes the license, so one directory can
/// contain several modules.
pub(crate) fn module_name(config: &Config) -> String {
    match config.license.as_str() {
        LICENSE => "pavior.lua".into(),
        license => format!("pavior-{license}.lua"),
    }
}

/// Generates the module for a machine.
pub(crate) fn module(config: &Config) -> String {
    let grid = config.grid;
    let sides: Vec<String> = grid.sides()[..grid.axes()].iter().map(u16::to_string).collect();
    let quoted: Vec<String> = config.partitions.iter().map(|name| format!("\"{name}\"")).collect();
    let text = MODULE
        .replace("@MACHINE@", &grid.to_string())
        .replace("@PARTITION@", &config.partitions.join(", "))
        .replace("@PARTITIONS@", &quoted.join(", "))
        .replace("@SIDES@", &sides.join(", "))
        .replace("@LICENSE@", &config.license)
        .replace("@MODULE@", &module_name(config));
    sealed("--", &text)
}

/// Generates a job_submit.lua that calls these modules, for a site that has no script of its own.
pub(crate) fn job_submit(modules: &[String]) -> String {
    if modules.is_empty() {
        return sealed("--", PASSING_SCRIPT);
    }
    let quoted: Vec<String> = modules.iter().map(|name| format!("\"{name}\"")).collect();
    sealed("--", &JOB_SUBMIT_SCRIPT.replace("@MODULES@", &quoted.join(", ")))
}

/// Returns the modules that a job_submit.lua written by Pavior calls.
pub(crate) fn modules(job_submit: &str) -> Vec<String> {
    let (start, end) = MODULE_LIST;
    let list = job_submit.split_once(start).and_then(|(_, rest)| rest.split_once(end));
    let names = list.map_or("", |(list, _)| list).split(',');
    let names = names.map(|name| name.trim().trim_matches('"').to_string());
    names.filter(|name| !name.is_empty()).collect()
}

/// Prepends a comment line with the checksum of the text. The text itself may also contain the
/// placeholder.
pub(crate) fn sealed(comment: &str, text: &str) -> String {
    let text = format!("{comment} {SEAL}{PLACEHOLDER}.\n{text}");
    text.replace(PLACEHOLDER, &Checksum::of(text.as_bytes()).to_string())
}

/// Returns the checksum from the first line of a sealed text.
pub(crate) fn checksum(text: &str) -> Option<&str> {
    let (_, behind) = text.lines().next()?.split_once(SEAL)?;
    behind.split_once('.').map(|(sum, _)| sum).filter(|sum| sum.len() == 16)
}

/// Returns true if some version of `pavior slurm install` wrote the text and no one has edited it.
pub(crate) fn is_sealed(text: &str) -> bool {
    checksum(text).is_some_and(|sum| {
        Checksum::of(text.replace(sum, PLACEHOLDER).as_bytes()).to_string() == sum
    })
}

/// Generates the lines with which a site's own job_submit.lua calls a machine's module.
pub(crate) fn calls(config: &Config, folder: &Path) -> String {
    format!(
        "  local pavior = dofile(\"{}\")\n  \
         slurm_job_submit = pavior.submit(slurm_job_submit)\n  \
         slurm_job_modify = pavior.modify(slurm_job_modify)\n",
        folder.join(module_name(config)).display()
    )
}

#[cfg(test)]
mod tests;
