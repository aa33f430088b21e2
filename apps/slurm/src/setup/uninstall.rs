//! `pavior slurm uninstall`: removes the gate from job_submit.lua, strips the gate from every
//! waiting job, and removes the reservation. A stripped job loses the license and the nodes set by
//! the daemon, and Slurm computes its priority again. No job is ended or held. The command can be
//! killed and run again at any time.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::calls::{Operator, Question, capture};
use crate::carry;
use crate::carry::lock::Lock;
use crate::gate::{self, loaded::loaded_gate};
use crate::ledger::site::{is_basic, value};
use crate::ledger::{Key, Ledger, Phase, SlurmJob};
use crate::names::JobName;
use crate::plan::change::{Change, TOP_PRIORITY};
use crate::setup::files;
use crate::{Config, SlurmError};

/// The maximum number of rounds. Several are needed if jobs arrive in the meantime.
const MAX_ROUNDS: usize = 50;

/// The time within which a running daemon would restore a job's gate, in milliseconds.
const REGATE_MS: u64 = 2000;

/// The error if a daemon is still running.
const STILL_RUNNING: &str = "the daemon is still running: stop it (systemctl disable --now \
                             pavior-slurm) and run this again";

/// The steps of a removal, as one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Completed steps.
    pub done: Vec<String>,
    /// Remaining steps, which must be done by hand.
    pub left: Vec<String>,
}

/// Removes the gates and the reservation.
///
/// # Errors
/// Returns an error if Slurm does not answer, the daemon is still running, or a file cannot be
/// changed.
pub fn uninstall(config: &Config) -> Result<Removal, SlurmError> {
    let mut lock = Lock::default();
    if !lock.take(config.lock.as_ref()).unwrap_or(true) {
        return Err(SlurmError::Config(STILL_RUNNING.into()));
    }
    let operator = Operator::new();
    let shown = capture(Question::Show, &["config"])?;
    let folder = Path::new(value(&shown, "SLURM_CONF")).parent();
    let mut removal = folder.map_or(Ok(Removal::default()), |at| remove_gate(config, at))?;
    let (count, objections) = strip(config, &operator, is_basic(&shown))?;
    removal.done.push(format!("{count} waiting jobs are no longer gated"));
    removal
        .left
        .extend(objections.into_iter().map(|text| format!("Slurm rejected a change: {text}")));
    removal.done.push(unreserve(&operator, &config.licence)?.into());
    if loaded_gate(config)?.is_installed() {
        removal.left.push(
            "the gate still acts on new jobs: remove Pavior's lines from job_submit.lua, or lua \
             from JobSubmitPlugins, restart slurmctld, and run this again"
                .into(),
        );
    }
    removal.left.extend([
        "lua in JobSubmitPlugins in slurm.conf, unless something else needs it".into(),
        format!(
            "{}:1 in Licenses in slurm.conf, once no job requests it; then restart slurmctld",
            config.licence
        ),
        "the unit pavior-slurm.service, and /etc/pavior".into(),
    ]);
    Ok(removal)
}

/// Removes a machine's gate, written by any version of Pavior, from the folder of slurm.conf. Files
/// that were edited or not written by Pavior are kept.
fn remove_gate(config: &Config, folder: &Path) -> Result<Removal, SlurmError> {
    let (name, mut removal) = (gate::module_name(config), Removal::default());
    let (script, module) = (folder.join("job_submit.lua"), folder.join(&name));
    let text = files::read(&script)?.unwrap_or_default();
    let is_older = text.starts_with(gate::OLDER);
    if is_older || gate::is_sealed(&text) && text.contains(&name) {
        let mut others = gate::modules(&text);
        others.retain(|other| *other != name);
        if is_older {
            // The file has no checksum, so it may have been edited.
            let old = script.with_added_extension("old");
            std::fs::rename(&script, &old).map_err(|error| files::io_error(&script, error))?;
        }
        // Slurm reloads the file for the next job.
        files::write(&script, &gate::job_submit(&others))?;
        removal.done.push(format!("{} no longer calls the gate", script.display()));
    } else if text.contains(&name) {
        removal.left.push(format!(
            "{} has been edited since pavior slurm install wrote it and was kept: remove the lines \
             that name {name} and run this again",
            script.display()
        ));
        return Ok(removal);
    }
    match files::read(&module)? {
        Some(text) if gate::is_sealed(&text) => {
            std::fs::remove_file(&module).map_err(|error| files::io_error(&module, error))?;
            removal.done.push(format!("{} was removed", module.display()));
        }
        Some(_) => removal.left.push(format!(
            "{} has been edited since pavior slurm install wrote it and was kept: remove it by \
             hand",
            module.display()
        )),
        None => {}
    }
    Ok(removal)
}

/// Strips the gates from all waiting jobs. Returns their number and Slurm's last objections.
fn strip(
    config: &Config,
    operator: &Operator,
    is_basic: bool,
) -> Result<(usize, Vec<String>), SlurmError> {
    let mut stripped: HashSet<Key> = HashSet::new();
    let mut objections = Vec::new();
    for round in 0..MAX_ROUNDS {
        let ledger = Ledger::read(config)?;
        let changes = strips(config, &ledger, is_basic);
        if changes.is_empty() && round > 0 {
            break;
        }
        let is_gated_again =
            |job: &SlurmJob| job.licences.gated(&config.licence) && stripped.contains(&job.key());
        if ledger.jobs.iter().any(is_gated_again) {
            return Err(SlurmError::Config(STILL_RUNNING.into()));
        }
        let named: HashSet<JobName> = changes.iter().map(Change::job).collect();
        let jobs = ledger.jobs.iter().filter(|job| named.contains(&job.name));
        stripped.extend(jobs.map(SlurmJob::key));
        objections = carry::carry_out(operator, &changes, config.tell)?;
        std::thread::sleep(Duration::from_millis(REGATE_MS));
    }
    Ok((stripped.len(), objections))
}

/// Returns the changes that strip the gates from waiting jobs.
fn strips(config: &Config, ledger: &Ledger, is_basic: bool) -> Vec<Change> {
    let waits = |job: &&SlurmJob| job.phase == Phase::Pending;
    let opened = |job: &SlurmJob| !job.named.is_empty() && job.priority == u64::from(TOP_PRIORITY);
    let jobs = ledger.jobs.iter().filter(waits);
    let gated = jobs.filter(|job| job.licences.gated(&config.licence) || opened(job));
    let strip = |job: &SlurmJob| {
        // With first come, first served, Slurm would move the job behind all others.
        let later = ledger.jobs.iter().filter(waits).filter(|other| {
            other.submitted >= job.submitted
                && other.priority < u64::from(TOP_PRIORITY)
                && !opened(other)
        });
        let priority = later.map(|other| other.priority).max().filter(|_| is_basic);
        Change::Strip {
            job: job.name,
            licences: job.licences.others(&config.licence),
            opened: opened(job),
            priority: priority.filter(|&priority| priority > 0),
        }
    };
    gated.map(strip).collect()
}

/// Removes the license reservation, if it exists.
fn unreserve(operator: &Operator, licence: &str) -> Result<&'static str, SlurmError> {
    let own = format!("ReservationName={licence} ");
    let shown = capture(Question::Show, &["reservation", "-o"])?;
    if !shown.lines().any(|line| line.starts_with(&own)) {
        return Ok("the license reservation does not exist");
    }
    operator.scontrol(&["delete", own.trim()])?;
    Ok("the license reservation was removed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::install::install;

    /// Removes a prepared installation. Returns the result, and a function that reads the remaining
    /// files.
    fn removed(prepare: impl Fn(&Path)) -> (Removal, impl Fn(&str) -> Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let text = "machine = \"mesh:4x2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        let config = Config::parse(text).unwrap();
        install(&config, Path::new("/c.toml"), Path::new("/pavior"), folder.path()).unwrap();
        prepare(folder.path());
        let removal = remove_gate(&config, folder.path()).unwrap();
        let read = move |name: &str| files::read(&folder.path().join(name)).unwrap();
        (removal, read)
    }

    /// Writes a sealed text, as another version of the program would.
    fn write(path: &Path, text: &str) {
        std::fs::write(path, gate::sealed(text)).unwrap();
    }

    const SEAL: &str = "-- Written by pavior slurm install, checksum @CHECKSUM@.\n";

    #[test]
    fn the_gate_of_any_version_is_removed() {
        let (removal, read) = removed(|_| ());
        assert_eq!((removal.done.len(), removal.left.len()), (2, 0), "{removal:?}");
        assert_eq!(read("pavior.lua"), None);
        assert!(read("job_submit.lua").unwrap().contains("function slurm_job_modify"));
        // A gate from another version is next to another machine's gate.
        let (removal, read) = removed(|folder| {
            write(&folder.join("pavior.lua"), &format!("{SEAL}-- version 99\n"));
            let list = "for _, name in ipairs({ \"pavior-b.lua\", \"pavior.lua\" }) do end\n";
            write(&folder.join("job_submit.lua"), &format!("{SEAL}{list}"));
        });
        assert_eq!((removal.done.len(), read("pavior.lua")), (2, None), "{removal:?}");
        let script = read("job_submit.lua").unwrap();
        assert!(script.contains("{ \"pavior-b.lua\" }") && gate::is_sealed(&script), "{script}");
        // Early versions had no modules.
        let old = format!("{}mesh:4x2.\n", gate::OLDER);
        let (removal, read) =
            removed(|folder| std::fs::write(folder.join("job_submit.lua"), &old).unwrap());
        assert_eq!((removal.left.len(), read("job_submit.lua.old")), (0, Some(old.clone())));
        assert!(gate::is_sealed(&read("job_submit.lua").unwrap()));
    }

    #[test]
    fn files_of_others_stay_and_are_named() {
        let own = "local pavior = dofile(\"/etc/slurm/pavior.lua\")\n";
        let (removal, read) =
            removed(|folder| std::fs::write(folder.join("job_submit.lua"), own).unwrap());
        assert!(removal.done.is_empty() && removal.left[0].contains("lines that name pavior.lua"));
        assert!(read("pavior.lua").is_some() && read("job_submit.lua").as_deref() == Some(own));
        let (removal, read) =
            removed(|folder| std::fs::write(folder.join("pavior.lua"), "-- mine\n").unwrap());
        assert!(removal.left[0].contains("remove it by hand"), "{removal:?}");
        assert_eq!(read("pavior.lua").as_deref(), Some("-- mine\n"));
    }
}
