//! `pavior slurm install DIR`: the files that Slurm and systemd need.

use std::path::Path;

use crate::{Config, LICENCE, SlurmError, unit};

const LUA: &str = include_str!("job_submit.lua");

/// The lines that slurm.conf needs.
pub(crate) fn lines(config: &Config) -> String {
    format!(
        "# For pavior slurm: add these to slurm.conf, and restart slurmctld.\n\
         Licenses={LICENCE}:1\n\
         JobSubmitPlugins=lua\n\
         # Jobs of the partition have whole nodes, and cannot shrink:\n\
         # PartitionName={} ... OverSubscribe=EXCLUSIVE\n\
         # SlurmctldParameters=disable_job_shrink\n\
         # Jobs start sooner with:\n\
         # SchedulerParameters=bf_interval=1,batch_sched_delay=1\n",
        config.partition
    )
}

/// `job_submit.lua` for a machine.
fn lua(config: &Config) -> String {
    let grid = config.grid;
    let sides: Vec<String> = grid.sides()[..grid.axes()].iter().map(u16::to_string).collect();
    LUA.replace("@MACHINE@", &grid.to_string())
        .replace("@PARTITION@", &config.partition)
        .replace("@SIDES@", &sides.join(", "))
        .replace("@LICENCE@", LICENCE)
}

/// Writes `job_submit.lua`, `slurm.conf.lines` and `pavior-slurm.service` into a directory, and
/// returns what to do with them.
///
/// # Errors
/// If a file cannot be written.
pub fn install(
    config: &Config,
    config_path: &Path,
    program: &Path,
    folder: &Path,
) -> Result<String, SlurmError> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        let error = |error| SlurmError::Io { what: path.display().to_string(), error };
        std::fs::write(&path, text).map_err(error)
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| SlurmError::Io { what: folder.display().to_string(), error })?;
    write("job_submit.lua", lua(config))?;
    write("slurm.conf.lines", lines(config))?;
    write("pavior-slurm.service", unit::placing(config_path, program))?;
    Ok(format!(
        "written to {}:\n  job_submit.lua        goes beside slurm.conf\n  \
         slurm.conf.lines      lines to add to slurm.conf, then restart slurmctld\n  \
         pavior-slurm.service  goes to /etc/systemd/system\nthen: pavior slurm check\n",
        folder.display()
    ))
}
