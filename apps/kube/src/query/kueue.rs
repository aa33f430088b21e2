//! Describes the Kueue states of Jobs in sentences.

use std::collections::HashMap;

use kube::Client;
use pavior::text::shown;

use crate::error::KubeError;
use crate::objects::{CheckState, Condition, Uid, Workload};
use crate::read::list;

/// Returns the Kueue state of each Job that has a Workload.
pub(super) async fn kueue_states(client: &Client) -> Result<HashMap<Uid, String>, KubeError> {
    let workloads = list::<Workload>(client, "").await?.into_iter();
    Ok(workloads.filter_map(|workload| Some((workload.job()?, describe(&workload)))).collect())
}

/// Describes a Workload's state in text of bounded length without control characters.
fn describe(workload: &Workload) -> String {
    let status = &workload.status;
    let condition = |kind: &str| status.conditions.iter().find(|condition| condition.kind == kind);
    let holds = |kind: &str| Condition::holds(&status.conditions, kind);
    let evicted = condition("Evicted").filter(|_| holds("Evicted"));
    let evicted_why = evicted.map_or(String::new(), reason);
    let waiting_why = condition("QuotaReserved").map_or(String::new(), reason);
    let queue = status.admission.as_ref().map_or("", |admission| &admission.cluster_queue);
    let mut open_checks =
        status.admission_checks.iter().filter(|check| check.state != CheckState::Ready);
    let check = open_checks.next().map_or(String::new(), |check| {
        let (name, message) = (shown(&check.name), shown(&check.message));
        format!(" Check {name} is {}: {message}", check.state.name())
    });
    match (evicted.is_some(), holds("QuotaReserved")) {
        _ if workload.spec.active == Some(false) => {
            format!("Kueue has deactivated it{evicted_why}.")
        }
        _ if holds("Finished") => "Kueue considers it finished.".to_string(),
        (true, true) => format!("Kueue is evicting it{evicted_why}."),
        _ if holds("Admitted") => format!("Kueue has admitted it to {}.", shown(queue)),
        (false, true) => format!("Kueue has reserved quota in {} for it.{check}", shown(queue)),
        (true, false) => {
            format!("Kueue has evicted it{evicted_why}. It is waiting for quota{waiting_why}.")
        }
        (false, false) => format!("It is waiting for Kueue quota{waiting_why}."),
    }
}

/// Formats a condition's reason and message in parentheses.
fn reason(condition: &Condition) -> String {
    format!(" ({}: {})", shown(&condition.reason), shown(&condition.message))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({ "type": kind, "status": status, "reason": reason, "message": message })
    }

    #[test]
    fn kueue_states_are_bounded_text() {
        let describe = |active: bool, conditions: &[&Value]| {
            let check = json!({ "name": "place", "state": "Pending", "message": "no box." });
            let admission = json!({ "clusterQueue": "all" });
            let status = json!({
                "conditions": conditions, "admission": admission, "admissionChecks": [check],
            });
            let workload =
                json!({ "metadata": {}, "spec": { "active": active }, "status": status });
            describe(&serde_json::from_value(workload).unwrap())
        };
        let pending = &condition("QuotaReserved", "False", "Pending", "no quota\u{1b}[2J");
        let reserved = &condition("QuotaReserved", "True", "QuotaReserved", "");
        let admitted = &condition("Admitted", "True", "Admitted", "");
        let evicted = &condition("Evicted", "True", "Preempted", "by another");
        let long = "x".repeat(100_000);
        let long = &condition("QuotaReserved", "False", &long, &long);
        assert_eq!(describe(true, &[]), "It is waiting for Kueue quota.");
        let text = "It is waiting for Kueue quota (Pending: no quota\\u{1b}[2J).";
        assert_eq!(describe(true, &[pending]), text);
        let text = "Kueue has reserved quota in all for it. Check place is Pending: no box.";
        assert_eq!(describe(true, &[reserved]), text);
        assert_eq!(describe(true, &[reserved, admitted]), "Kueue has admitted it to all.");
        let text = "Kueue is evicting it (Preempted: by another).";
        assert_eq!(describe(true, &[reserved, admitted, evicted]), text);
        assert!(
            describe(true, &[pending, evicted]).starts_with("Kueue has evicted it (Preempted: ")
        );
        let text = "Kueue has deactivated it (Preempted: by another).";
        assert_eq!(describe(false, &[evicted]), text);
        assert!(describe(true, &[long]).len() < 700);
    }
}
