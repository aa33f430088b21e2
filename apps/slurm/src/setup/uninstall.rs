//! The `pavior slurm uninstall` command, which removes the gate from job_submit.lua and from every
//! waiting job, and removes the reservation. Each of these jobs loses the license and the nodes
//! that the daemon set, and Slurm recomputes its priority. No job is ended or held. The command can
//! be killed and rerun at any time.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use pavior::files::{self, Limits, read_if_there};

use crate::calls::{Call, Operator, Query};
use crate::carry;
use crate::carry::lock::Lock;
use crate::gate::{self, loaded::loaded_gate};
use crate::ledger::site::{is_fifo, value};
use crate::ledger::{JobKey, Ledger, Phase, SlurmJob, reservations};
use crate::names::JobName;
use crate::plan::change::{Change, Priority, TOP_PRIORITY};
use crate::{Config, SlurmError};

/// The maximum number of passes. Several may be needed if jobs arrive in the meantime.
const MAX_ROUNDS: usize = 50;

/// The time within which a running daemon would restore a job's gate, in milliseconds.
const REGATE_MS: u64 = 2000;

/// The error if a daemon is still running.
const STILL_RUNNING: &str = "the daemon is still running; stop it (systemctl disable --now \
                             pavior-slurm) and run this command again";

/// The steps of a removal, one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Completed steps.
    pub done: Vec<String>,
    /// Remaining steps, which an administrator must perform manually.
    pub left: Vec<String>,
}

/// Removes the gates and the reservation.
///
/// # Errors
/// Returns an error if Slurm does not respond, the daemon is still running, or a file cannot be
/// changed.
pub fn uninstall(config: &Config) -> Result<Removal, SlurmError> {
    let mut lock = Lock::default();
    if !lock.acquire(config.lock.as_deref())? {
        return Err(SlurmError::Conflict(STILL_RUNNING.into()));
    }
    let operator = Operator::new();
    let loaded = Call::new(Query::Show, &["config"]).answer()?;
    let mut removal = Removal::default();
    if let Some(folder) = Path::new(value(&loaded, "SLURM_CONF")).parent()
        && remove_calls(config, folder, &mut removal)?
    {
        remove_module(config, folder, &mut removal)?;
    }
    let (count, objections) = strip_all(config, &operator, is_fifo(&loaded))?;
    removal.done.push(format!("jobs no longer gated: {count}"));
    let rejected = |text| format!("Slurm rejected a change: {text}");
    removal.left.extend(objections.into_iter().map(rejected));
    removal.done.push(unreserve(&operator, &config.license)?.into());
    if loaded_gate(config)?.is_installed() {
        removal.left.push(
            "the gate still applies to new jobs; either remove Pavior's lines from job_submit.lua \
             or remove lua from JobSubmitPlugins; then restart slurmctld and run this command \
             again"
                .into(),
        );
    }
    removal.left.extend([
        "remove lua from JobSubmitPlugins in slurm.conf unless something else needs it".into(),
        format!(
            "once no job requests the license, remove {}:1 from Licenses in slurm.conf; then \
             restart slurmctld",
            config.license
        ),
        "remove the unit pavior-slurm.service and /etc/pavior".into(),
    ]);
    Ok(removal)
}

/// Removes the calls to a machine's gate from job_submit.lua unless that file was edited or was not
/// written by Pavior. Returns true if the file no longer calls the gate.
fn remove_calls(config: &Config, folder: &Path, removal: &mut Removal) -> Result<bool, SlurmError> {
    let (name, path) = (gate::module_name(config), folder.join(gate::JOB_SUBMIT));
    let text = read_if_there(&path, Limits::DOCUMENT)?.unwrap_or_default();
    if !text.contains(&name) {
        return Ok(true);
    }
    if !gate::is_sealed(&text) {
        removal.left.push(format!(
            "{} was kept because it has been edited since pavior slurm install wrote it; remove \
             the lines that mention {name} and run this command again",
            path.display()
        ));
        return Ok(false);
    }
    let mut others = gate::modules(&text);
    others.retain(|other| *other != name);
    // Slurm reloads the file for the next job.
    files::replace_public(&path, gate::job_submit(&others).as_bytes())?;
    removal.done.push(format!("{} no longer calls the gate", path.display()));
    Ok(true)
}

/// Removes a machine's gate module, provided that Pavior wrote it and no one has edited it.
fn remove_module(config: &Config, folder: &Path, removal: &mut Removal) -> Result<(), SlurmError> {
    let path = folder.join(gate::module_name(config));
    let Some(text) = read_if_there(&path, Limits::DOCUMENT)? else { return Ok(()) };
    if gate::is_sealed(&text) {
        files::remove(&path)?;
        removal.done.push(format!("{} was removed", path.display()));
    } else {
        removal.left.push(format!(
            "{} was kept because it has been edited since pavior slurm install wrote it; remove \
             it manually",
            path.display()
        ));
    }
    Ok(())
}

/// Removes the gates of all waiting jobs. Returns the number of jobs and Slurm's last errors.
fn strip_all(
    config: &Config,
    operator: &Operator,
    is_fifo: bool,
) -> Result<(usize, Vec<String>), SlurmError> {
    let mut stripped: HashSet<JobKey> = HashSet::new();
    let mut objections = Vec::new();
    for round in 0..MAX_ROUNDS {
        if round > 0 {
            std::thread::sleep(Duration::from_millis(REGATE_MS));
        }
        let ledger = Ledger::read(config)?;
        let is_gated_again = |job: &SlurmJob| {
            job.licenses.has_gate(&config.license) && stripped.contains(&job.key())
        };
        if ledger.jobs.iter().any(is_gated_again) {
            return Err(still_gated(&objections));
        }
        let changes = strip_changes(config, &ledger, is_fifo);
        if changes.is_empty() && round > 0 {
            break;
        }
        let names: HashSet<JobName> = changes.iter().map(Change::job).collect();
        let jobs = ledger.jobs.iter().filter(|job| names.contains(&job.name));
        stripped.extend(jobs.map(SlurmJob::key));
        objections = carry::apply(operator, &changes, config.note_field)?;
    }
    Ok((stripped.len(), objections))
}

/// Returns the error for a job that still has the gate's license after the license was removed.
fn still_gated(objections: &[String]) -> SlurmError {
    SlurmError::Conflict(match objections.first() {
        Some(text) => format!(
            "jobs still request the license, because Slurm rejected a change ({text}) or \
             {STILL_RUNNING}"
        ),
        None => STILL_RUNNING.into(),
    })
}

/// Returns the changes that remove the gates of waiting jobs.
fn strip_changes(config: &Config, ledger: &Ledger, is_fifo: bool) -> Vec<Change> {
    let waits = |job: &&SlurmJob| job.phase == Phase::Pending;
    let opened =
        |job: &SlurmJob| !job.requested_nodes.is_empty() && job.priority == u64::from(TOP_PRIORITY);
    let jobs = ledger.jobs.iter().filter(waits);
    let gated = jobs.filter(|job| job.licenses.has_gate(&config.license) || opened(job));
    let priority = |job: &SlurmJob| {
        if !is_fifo {
            return Priority::Computed;
        }
        // With FIFO scheduling, Slurm would otherwise move the job behind all others.
        let later = ledger.jobs.iter().filter(waits).filter(|other| {
            other.submitted >= job.submitted
                && other.priority < u64::from(TOP_PRIORITY)
                && !opened(other)
        });
        let highest = later.map(|other| other.priority).max().filter(|&highest| highest > 0);
        highest.map_or(Priority::Computed, Priority::Fixed)
    };
    let strip = |job: &SlurmJob| Change::Strip {
        job: job.name,
        licenses: job.licenses.without_gate(&config.license),
        priority: opened(job).then(|| priority(job)),
    };
    gated.map(strip).collect()
}

/// Removes the license reservation if it exists.
fn unreserve(operator: &Operator, license: &str) -> Result<&'static str, SlurmError> {
    let records = Call::new(Query::Show, &["reservation", "-o"]).answer()?;
    if !reservations::read(&records).iter().any(|reservation| reservation.name == license) {
        return Ok("the license reservation does not exist");
    }
    operator.scontrol(&["delete", &format!("ReservationName={license}")])?;
    Ok("the license reservation was removed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::install::install;

    /// Installs the files, calls `prepare`, and removes the installation. Returns the result and a
    /// function that reads the remaining files.
    fn remove_after(prepare: impl Fn(&Path)) -> (Removal, impl Fn(&str) -> Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::of_machine("mesh:4x2");
        install(&config, Path::new("/c.toml"), Path::new("/pavior"), folder.path()).unwrap();
        prepare(folder.path());
        let mut removal = Removal::default();
        if remove_calls(&config, folder.path(), &mut removal).unwrap() {
            remove_module(&config, folder.path(), &mut removal).unwrap();
        }
        let read = move |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        (removal, read)
    }

    /// Writes a sealed file, as another version of the program would.
    fn write(path: &Path, text: &str) {
        std::fs::write(path, gate::sealed("--", text)).unwrap();
    }

    #[test]
    fn a_sealed_gate_of_any_version_is_removed() {
        let (removal, read) = remove_after(|_| ());
        assert_eq!((removal.done.len(), removal.left.len()), (2, 0), "{removal:?}");
        assert_eq!(read("pavior.lua"), None);
        assert!(read("job_submit.lua").unwrap().contains("function slurm_job_modify"));
        // The gate is from another version, and job_submit.lua also calls another machine's gate.
        let (removal, read) = remove_after(|folder| {
            write(&folder.join("pavior.lua"), "-- version 99\n");
            let list = "for _, name in ipairs({ \"pavior-b.lua\", \"pavior.lua\" }) do end\n";
            write(&folder.join("job_submit.lua"), list);
        });
        assert_eq!((removal.done.len(), read("pavior.lua")), (2, None), "{removal:?}");
        let script = read("job_submit.lua").unwrap();
        assert!(script.contains("{ \"pavior-b.lua\" }") && gate::is_sealed(&script), "{script}");
    }

    #[test]
    fn opened_jobs_keep_their_place_under_fifo_scheduling() {
        let config = Config::of_machine("mesh:4x2");
        let nodes = vec!["n1".parse().unwrap()];
        let top = u64::from(TOP_PRIORITY);
        let waits = |name: &str, priority: u64| SlurmJob { priority, ..SlurmJob::waiting(name, 1) };
        let opened = SlurmJob { requested_nodes: nodes, ..waits("1", top) };
        let jobs = vec![opened, waits("2", 7), waits("3", 8)];
        let ledger = Ledger { jobs, ..Ledger::default() };
        let priorities = |is_fifo: bool| {
            let changes = strip_changes(&config, &ledger, is_fifo).into_iter();
            let priority = |change: Change| match change {
                Change::Strip { priority, .. } => priority,
                other => panic!("{other:?}"),
            };
            changes.map(priority).collect::<Vec<_>>()
        };
        assert_eq!(priorities(true), [Some(Priority::Fixed(8)), None, None]);
        assert_eq!(priorities(false), [Some(Priority::Computed), None, None]);
    }

    #[test]
    fn a_rejected_change_is_not_blamed_on_the_daemon_alone() {
        assert_eq!(still_gated(&[]).to_string(), STILL_RUNNING);
        let rejected = still_gated(&["Invalid license".into()]).to_string();
        assert!(rejected.contains("rejected a change (Invalid license)"), "{rejected}");
    }

    #[test]
    fn edited_files_are_kept_and_listed() {
        let own = "local pavior = dofile(\"/etc/slurm/pavior.lua\")\n";
        let (removal, read) =
            remove_after(|folder| std::fs::write(folder.join("job_submit.lua"), own).unwrap());
        assert!(
            removal.done.is_empty() && removal.left[0].contains("lines that mention pavior.lua")
        );
        assert!(read("pavior.lua").is_some() && read("job_submit.lua").as_deref() == Some(own));
        let (removal, read) =
            remove_after(|folder| std::fs::write(folder.join("pavior.lua"), "-- mine\n").unwrap());
        assert!(removal.left[0].contains("remove it manually"), "{removal:?}");
        assert_eq!(read("pavior.lua").as_deref(), Some("-- mine\n"));
    }
}
