//! Startup checks, which run before the daemon changes anything. A fault found here is permanent,
//! so the daemon exits with a special status. If Slurm does not respond, the checks are retried.

use pavior::json::log;
use serde_json::json;

use crate::calls::{Call, Query, now};
use crate::ledger::site::{partition_record, value};
use crate::ledger::{Ledger, NodeDifference};
use crate::names::number;
use crate::{Config, SlurmError};

/// Checks the partitions and, if the daemon is going to make changes, the user's permissions.
pub(super) fn check_cluster(config: &Config, changes: bool) -> Result<(), SlurmError> {
    if changes {
        let loaded = Call::new(Query::Show, &["config"]).answer()?;
        check_rights(rustix::process::geteuid().as_raw(), value(&loaded, "SlurmUser"))?;
    }
    for name in &config.partitions {
        if partition_record(name)?.is_none() {
            return Err(SlurmError::Unfit(format!("Slurm has no partition {name}")));
        }
    }
    Ok(())
}

/// Checks the user's permissions. Only root and SlurmUser can change all jobs and bypass the gate.
fn check_rights(user: u32, slurm_user: &str) -> Result<(), SlurmError> {
    let number_of = |text: &str| number::<u32>(text.split_once('(')?.1.strip_suffix(')')?);
    if user == 0 || number_of(slurm_user) == Some(user) {
        return Ok(());
    }
    Err(SlurmError::Unfit(format!(
        "user {user} is not allowed to change other users' jobs; run the daemon as root or as \
         SlurmUser"
    )))
}

/// Compares node names as [`compare_names`] does, and logs the differences.
pub(super) fn check_names(config: &Config, ledger: &Ledger) -> Result<(), SlurmError> {
    for difference in compare_names(config, ledger)? {
        let details = json!({ "error": difference });
        log(now(), "warn", "the configuration differs from Slurm's", details);
    }
    Ok(())
}

/// Compares the machine's node names with those in the partition. Returns the differences, which
/// may be intentional: a machine may have holes, and a partition may temporarily lack nodes.
/// Returns an error if each side has nodes that the other lacks, or if the two sides have no node
/// in common, because the configured names must then be wrong.
fn compare_names(config: &Config, ledger: &Ledger) -> Result<Vec<String>, SlurmError> {
    let difference = NodeDifference::new(config, ledger);
    let faults = difference.faults(config);
    let has_none = difference.missing.len() == config.names.len();
    let has_both = !difference.missing.is_empty() && !difference.unexpected.is_empty();
    // A malformed line may describe a missing node.
    if (has_none || has_both) && ledger.unreadable.is_empty() {
        return Err(SlurmError::Unfit(faults.join("; ")));
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Condition, SlurmNode};

    #[test]
    fn shifted_names_are_an_error_and_holes_are_not() {
        let config = Config::of_machine("mesh:3");
        let of = |nodes: &[&str]| {
            let node = |name: &&str| SlurmNode {
                name: name.parse().unwrap(),
                condition: Condition::Idle,
                offer: crate::ledger::demands::Offer::default(),
            };
            let ledger = Ledger { nodes: nodes.iter().map(node).collect(), ..Ledger::default() };
            compare_names(&config, &ledger)
        };
        assert_eq!(of(&["n0", "n1", "n2"]).unwrap(), Vec::<String>::new());
        assert!(of(&["n0", "n2"]).unwrap()[0].contains("starting with n1"));
        assert!(of(&["n0", "n1", "n2", "n3"]).unwrap()[0].contains("starting with n3"));
        for wrong in [&["n1", "n2", "n3"][..], &["m0", "m1", "m2"], &[]] {
            let fault = of(wrong).unwrap_err();
            assert!(matches!(fault, SlurmError::Unfit(_)), "{fault}");
        }
    }

    #[test]
    fn root_and_the_user_of_slurmctld_may_make_changes() {
        assert!(check_rights(0, "slurm(64030)").is_ok());
        assert!(check_rights(64030, "slurm(64030)").is_ok());
        for slurm_user in ["root(0)", "slurm(6403)", "slurm(7)(64030)x", ""] {
            assert!(check_rights(64030, slurm_user).is_err(), "{slurm_user}");
        }
    }
}
