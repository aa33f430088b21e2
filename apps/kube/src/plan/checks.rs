//! What Kueue is told: `Ready` when a Job has its place, why it waits, and that quota is given back
//! by a Job that has waited long. A Job that is not suspended any more is Kueue's no longer.

use pavior_kernel::Date;

use super::act::{Act, Seen};
use super::queue::Waiting;
use super::records::Record;
use super::{Memory, Plot};
use crate::objects::Known as _;
use crate::quota::Quota;
use crate::world::Index;

/// How long a Job may hold quota without a place, where the operator says nothing, in seconds.
const QUOTA_S: u64 = 300;

/// Tells Kueue.
pub(super) fn tell(
    plot: &Plot<'_>,
    index: &Index<'_>,
    records: &[Record<'_>],
    waiting: &[Waiting],
    memory: &mut Memory,
    now: i64,
) -> Vec<Act> {
    let Some(machine) = index.world.machines.get(plot.name) else { return Vec::new() };
    let mut acts = Vec::new();
    let name = machine.spec.admission_check.as_deref();
    let check = name.and_then(|name| index.world.kueue.checks.get(name));
    if let Some(check) = check.filter(|check| check.is_ours() && !check.is_active()) {
        acts.push(Act::Activate { check: Seen::of(check) });
    }
    let most = machine.spec.quota_seconds.unwrap_or(QUOTA_S) as i64;
    let mut holds = std::collections::HashMap::new();
    for job in index.jobs_on(plot.name).filter(|job| job.is_suspended()) {
        let Some(quota) = job.quota.as_ref().filter(|quota| quota.reserved) else { continue };
        let placed = records
            .iter()
            .find(|record| record.stands && record.placement.spec.jobs().contains(&job.uid()));
        let (state, message) = if let Some(record) = placed {
            ("Ready", format!("its box is {}", record.placement.spec.at))
        } else {
            // A place that is only proposed is none: it may be withdrawn, again and again.
            let uid = quota.workload.uid.clone();
            let since = memory.quota.get(&uid).copied().unwrap_or(now);
            holds.insert(uid, since);
            let Some(waits) = waiting.iter().find(|one| one.job.uid == job.uid()) else { continue };
            told(waits, since.saturating_add(most), now)
        };
        // Kueue itself takes back a Retry, together with the quota.
        let same = quota.state == state && quota.message == message;
        if !same && quota.state != "Retry" {
            acts.push(told_to(quota, state, message));
        }
    }
    memory.quota = holds;
    acts
}

/// The state of the check of a Job that waits.
fn told(waits: &Waiting, until: i64, now: i64) -> (&'static str, String) {
    let why: String = waits.why.chars().take(1024).collect();
    if waits.never {
        return ("Retry", format!("it is not placed as it is: {why}"));
    }
    if now >= until {
        return ("Retry", format!("its quota is given back, because it waits for long: {why}"));
    }
    let date = |at: u64| Date(std::time::Duration::from_secs(at)).to_string();
    let when = waits.starts.map_or(String::new(), |at| {
        format!(" By the time limits alone it starts at {}.", date(at))
    });
    ("Pending", format!("it waits for its place: {why}{when}"))
}

fn told_to(quota: &Quota, state: &'static str, message: String) -> Act {
    Act::Check {
        workload: quota.workload.clone(),
        at: quota.at,
        check: quota.check.clone(),
        state,
        message,
    }
}
