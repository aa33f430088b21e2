//! Slurm's job reasons that name a limit or a missing permission, and the jobs to which a limit
//! applies.

use crate::ledger::SlurmJob;

/// Returns true if Slurm's reason says that a job is waiting because of a limit or a missing
/// permission.
pub(crate) fn is_limit(reason: &str) -> bool {
    let is_of_accounts = reason.starts_with("QOS") || reason.starts_with("Assoc");
    is_of_accounts
        || matches!(
            reason,
            "JobArrayTaskLimit"
                | "PartitionNodeLimit"
                | "PartitionTimeLimit"
                | "AccountNotAllowed"
                | "AccountingPolicy"
                | "InvalidAccount"
                | "InvalidQOS"
                | "MaxMemPerLimit"
                | "ReservationNotAllowed"
        )
}

/// The jobs to which a limit applies, according to Slurm's reason. Each of these jobs matches every
/// field that is set. If no field is set, the limit applies only to the job itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitScope {
    array: Option<u32>,
    qos: Option<String>,
    account: Option<String>,
    user: Option<u32>,
}

impl LimitScope {
    pub(crate) fn of(job: &SlurmJob, reason: &str) -> LimitScope {
        let (array, qos) = (job.name.array(), Some(job.qos.clone()));
        let (account, user) = (Some(job.account.clone()), Some(job.user));
        let none = LimitScope::default();
        let is_of_qos = reason.starts_with("QOS");
        match reason {
            "JobArrayTaskLimit" => LimitScope { array, ..none },
            _ if reason.contains("PerJob") || reason.contains("PerNode") => none,
            _ if reason.starts_with("QOSGrp") => LimitScope { qos, ..none },
            _ if is_of_qos && reason.contains("PerUser") => LimitScope { qos, user, ..none },
            _ if is_of_qos && reason.contains("PerAccount") => LimitScope { qos, account, ..none },
            _ if reason.starts_with("AssocGrp") => LimitScope { account, ..none },
            _ if reason.starts_with("Assoc") => LimitScope { account, user, ..none },
            _ => none,
        }
    }

    /// Returns true if the job matches the fields. Returns false if no field is set, even for the
    /// job that has the reason.
    pub(crate) fn has(&self, job: &SlurmJob) -> bool {
        *self != LimitScope::default()
            && self.array.is_none_or(|array| job.name.array() == Some(array))
            && self.qos.as_ref().is_none_or(|qos| job.qos == *qos)
            && self.account.as_ref().is_none_or(|account| job.account == *account)
            && self.user.is_none_or(|user| job.user == user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, nodes: u32) -> SlurmJob {
        SlurmJob { qos: "q".into(), ..SlurmJob::waiting(name, nodes) }
    }

    #[test]
    fn the_reason_determines_the_affected_jobs() {
        let one = job("7_1", 1);
        let same_array = SlurmJob { user: 2, ..job("7_2", 1) };
        let same_user = SlurmJob { account: "b".into(), ..job("8", 1) };
        let same_account = SlurmJob { user: 2, qos: "r".into(), ..job("8", 1) };
        for (reason, array, user, account) in [
            ("JobArrayTaskLimit", true, false, false),
            ("QOSMaxJobsPerUserLimit", false, true, false),
            ("QOSMaxNodePerAccount", true, false, false),
            ("QOSGrpNodeLimit", true, true, false),
            ("AssocGrpJobsLimit", true, false, true),
            ("AssocMaxJobsLimit", false, false, false),
            ("QOSMaxWallDurationPerJobLimit", false, false, false),
            ("PartitionNodeLimit", false, false, false),
        ] {
            let kin = LimitScope::of(&one, reason);
            let all = [kin.has(&same_array), kin.has(&same_user), kin.has(&same_account)];
            assert!(is_limit(reason) && all == [array, user, account], "{reason}: {all:?}");
        }
        let same_association = SlurmJob { qos: "r".into(), ..job("8", 1) };
        assert!(LimitScope::of(&one, "AssocMaxJobsLimit").has(&same_association));
        assert!(!is_limit("Licenses") && !is_limit("JobHeldUser") && !is_limit("Dependency"));
    }
}
