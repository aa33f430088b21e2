//! Uses the audit log to check how long Jobs held Kueue quota without a box, what the daemon
//! reported to Workloads, and whether pods ran on nodes of the wrong flavor.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::judge::{self, word};
use crate::kueue::flavor;

const RESOURCE: &str = "pavior.dev/node";

/// Job conditions after which Kubernetes creates no more pods for the Job.
const ENDS: [&str; 4] = ["SuccessCriteriaMet", "Complete", "FailureTarget", "Failed"];

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    admitted: usize,
    /// Admissions without a confirmed placement, each with the last placement event and the last
    /// message.
    placeless: Vec<String>,
    preempted: usize,
    /// The number of preemptions that reclaimed quota borrowed by another queue.
    reclaimed: usize,
    /// The number of evictions caused by our admission check.
    given_back: usize,
    /// The times, in seconds, for which Jobs held quota without a confirmed placement before the
    /// daemon released the quota.
    releases: Vec<f64>,
    /// The longest time, in seconds, for which a Job held quota without a confirmed placement
    /// before the daemon released the quota, along with our check's changes during that time.
    longest: f64,
    longest_because: String,
    /// The longest time that Kueue took to evict a Job whose quota the daemon released, in seconds.
    eviction: f64,
    /// The longest time for which an admitted Job lacked a confirmed placement, in seconds.
    bare: f64,
    /// The last event on that Job's placement before the `bare` interval, and the time between this
    /// event and the interval.
    bare_because: String,
    /// The number of pods bound to nodes whose flavor is not the one assigned to the pods' Job.
    elsewhere: usize,
    /// The number of events in which an admitted Workload had no flavor.
    unflavored: usize,
    /// The number of messages that tell a Job to wait.
    waits: usize,
    /// The number of Jobs without a shape that received quota.
    boxless: usize,
    /// The number of `boxless` Jobs that bypassed our admission check for lack of a flavor.
    unasked: usize,
    /// The number of messages that give a start time (`dated`) or announce released quota
    /// (`impatient`).
    dated: usize,
    impatient: usize,
    jobs: HashMap<String, Held>,
    /// The Jobs of each confirmed placement, by the placement's uid.
    placed: HashMap<String, Vec<String>>,
    /// The time and kind of the last proposal or deletion of each Job's placement.
    unplaced: HashMap<String, (f64, &'static str)>,
    /// The Job of each pod.
    pods: HashMap<String, String>,
    /// Jobs whose conditions show that Kubernetes creates no more pods for them.
    ended: HashSet<String>,
}

/// The quota held by a Job.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "conditions of Kueue, each true or false")]
struct Held {
    reserved: bool,
    admitted: bool,
    evicted: bool,
    /// True if our admission check is Ready.
    ready: bool,
    flavor: String,
    told: String,
    /// True if our admission check tells Kueue to take the quota back.
    is_released: bool,
    /// The time since which the Job has held quota without a confirmed placement.
    since: Option<f64>,
    /// The changes of our admission check since then, each with its time.
    changes: Vec<(f64, String)>,
    /// The time since which Kueue has been told to take the quota back.
    released_since: Option<f64>,
    /// The time since which the Job has been admitted without a confirmed placement.
    bare_since: Option<f64>,
}

impl Ledger {
    pub(crate) fn read(folder: &Path) -> Ledger {
        let mut ledger = Ledger::default();
        for event in &judge::events(folder) {
            ledger.event(event);
        }
        ledger
    }

    /// Checks that no Job holds quota without a box for long, that pods run on their Job's flavor,
    /// and that every kind of event occurred. Admission without a box is allowed, because a replica
    /// may learn of a deletion late. Time during which only Kueue can release the quota is not
    /// counted: either our check is Ready and the Job's pods have ended, or our check has told
    /// Kueue to take the quota back.
    pub(crate) fn check(&self, patience_s: u64) {
        assert_eq!(self.elsewhere, 0, "{self}");
        assert!(self.longest <= patience_s as f64 + LAG_S && self.eviction <= LAG_S, "{self}");
        let seen =
            [self.preempted, self.given_back, self.waits, self.dated, self.impatient, self.boxless];
        assert!(self.admitted >= 36 && !seen.contains(&0), "{self}");
    }

    /// Checks that, without disturbances, the daemon usually releases quota on time, and that some
    /// preemptions reclaim quota while others are due to priority. A busy machine may delay a few
    /// releases, so only their median has a tight limit.
    pub(crate) fn check_calm(&self, patience_s: u64) {
        let mut releases = self.releases.clone();
        releases.sort_by(f64::total_cmp);
        let median = releases.get(releases.len() / 2).copied().unwrap_or(f64::INFINITY);
        assert!(median <= patience_s as f64 + CALM_LAG_S, "{self}");
        let limit_s = patience_s as f64 + LAG_S;
        assert!(self.bare <= limit_s && self.longest <= limit_s, "{self}");
        assert!(self.eviction <= LAG_S, "{self}");
        assert!(self.preempted > self.reclaimed && self.reclaimed > 0, "{self}");
    }

    fn event(&mut self, event: &Value) {
        let (what, answer) = (&event["objectRef"], &event["responseObject"]);
        let parts = [&what["resource"], &what["subresource"], &event["verb"]].map(word);
        let at = seconds(&judge::when(event));
        match parts {
            ["workloads", ..] => self.workload(answer, at),
            ["placements", "", "create"] => {
                let proposed = jobs(answer).into_iter().map(|job| (job, (at, "proposed")));
                self.unplaced.extend(proposed);
            }
            ["placements", "status", _] if answer["status"]["confirmed"] == true => {
                self.placed.insert(word(&answer["metadata"]["uid"]).to_string(), jobs(answer));
            }
            ["placements", "", "delete"] => {
                for uid in [&answer["metadata"]["uid"], &answer["details"]["uid"]] {
                    let jobs = self.placed.remove(word(uid)).into_iter().flatten();
                    self.unplaced.extend(jobs.map(|job| (job, (at, "deleted"))));
                }
            }
            ["jobs", ..] => {
                let all = answer["status"]["conditions"].as_array().into_iter().flatten();
                let mut ends =
                    all.filter(|one| one["status"] == "True" && ENDS.contains(&word(&one["type"])));
                if ends.next().is_some() {
                    self.ended.insert(word(&answer["metadata"]["uid"]).to_string());
                }
            }
            ["pods", "", "create"] => {
                let job = word(&answer["metadata"]["ownerReferences"][0]["uid"]);
                self.ended.remove(job);
                self.pods.insert(word(&answer["metadata"]["uid"]).to_string(), job.to_string());
            }
            ["pods", "binding", "create"] => {
                let pod = word(&event["requestObject"]["metadata"]["uid"]);
                let job = self.pods.get(pod).and_then(|job| self.jobs.get(job));
                let node = word(&event["requestObject"]["target"]["name"]);
                let of_another = |job: &Held| !job.flavor.is_empty() && job.flavor != flavor(node);
                self.elsewhere += usize::from(job.is_some_and(of_another));
            }
            _ => return,
        }
        self.look(at);
    }

    fn workload(&mut self, workload: &Value, at: f64) {
        let job = word(&workload["metadata"]["labels"]["kueue.x-k8s.io/job-uid"]).to_string();
        if job.is_empty() || !workload["status"].is_object() {
            return;
        }
        let status = &workload["status"];
        let all = status["conditions"].as_array();
        let one = |kind: &str| all.into_iter().flatten().find(|one| one["type"] == kind);
        let holds = |kind: &str| one(kind).is_some_and(|one| one["status"] == "True");
        let told = word(&status["admissionChecks"][0]["message"]);
        let is_boxless = told.starts_with("it has no shape");
        let sets = &status["admission"]["podSetAssignments"];
        let has_flavor = !word(&sets[0]["flavors"][RESOURCE]).is_empty();
        let checks = status["admissionChecks"].as_array();
        let is_unasked = holds("Admitted") && !has_flavor && checks.is_none_or(Vec::is_empty);
        if is_boxless || is_unasked {
            let is_new = self.jobs.remove(&job).is_some();
            self.boxless += usize::from(is_new);
            self.unasked += usize::from(is_new && is_unasked);
            return;
        }
        let placed = self.placed.values().any(|jobs| jobs.contains(&job));
        let unplaced = self.unplaced.get(&job).copied();
        let held = self.jobs.entry(job).or_default();
        let admitted = holds("Admitted");
        if admitted && !held.admitted {
            self.admitted += 1;
            if !placed {
                let ago = |(then, what)| format!("{what} {:.3} s before", at - then);
                let ago = unplaced.map_or("none".to_string(), ago);
                self.placeless.push(format!("placement: {ago}, message: {told:?}"));
            }
        }
        let evicted = holds("Evicted");
        if evicted && !held.evicted {
            match one("Evicted").map(|one| word(&one["reason"])) {
                Some("Preempted") => {
                    let why = one("Preempted").map(|one| word(&one["reason"]));
                    self.reclaimed += usize::from(why == Some("InCohortReclamation"));
                    self.preempted += 1;
                }
                Some("AdmissionCheck") => self.given_back += 1,
                _ => {}
            }
        }
        (held.admitted, held.evicted) = (admitted, evicted);
        let state = word(&status["admissionChecks"][0]["state"]);
        held.ready = state == "Ready";
        held.is_released = ["Retry", "Rejected"].contains(&state);
        held.reserved = holds("QuotaReserved") && !evicted && !holds("Finished");
        // If Kueue admits a Job without a flavor, the Job may use any node.
        if status["admission"].is_object() {
            held.flavor = word(&sets[0]["flavors"][RESOURCE]).to_string();
            self.unflavored += usize::from(admitted && held.flavor.is_empty());
        }
        if told != held.told {
            self.waits += usize::from(told.starts_with("waiting for a box: "));
            self.dated += usize::from(told.contains("Based on time limits, it should start at 20"));
            self.impatient += usize::from(told.starts_with("its quota is released"));
            held.told = told.to_string();
            held.changes.push((at, format!("{state} {told:?}")));
        }
    }

    /// Updates how long each Job has held quota without a confirmed placement.
    fn look(&mut self, at: f64) {
        let placed: Vec<&String> = self.placed.values().flatten().collect();
        for (job, held) in &mut self.jobs {
            let has_ended = held.ready && self.ended.contains(job);
            let is_assigned_again = held.released_since.is_some() && !held.is_released;
            if !held.reserved || has_ended || placed.contains(&job) || is_assigned_again {
                (held.since, held.bare_since, held.released_since) = (None, None, None);
                held.changes.clear();
                continue;
            }
            if let Some(since) = held.released_since {
                self.eviction = self.eviction.max(at - since);
                continue;
            }
            let since = *held.since.get_or_insert(at);
            if at - since > self.longest {
                self.longest = at - since;
                let changes = held.changes.iter();
                let changes = changes.map(|(at, what)| format!("after {:.1} s {what}", at - since));
                self.longest_because = changes.collect::<Vec<_>>().join(", ");
            }
            if held.is_released {
                self.releases.push(at - since);
                (held.released_since, held.bare_since) = (Some(at), None);
                continue;
            }
            if held.admitted {
                let since = *held.bare_since.get_or_insert(at);
                if at - since > self.bare {
                    let (then, what) = self.unplaced.get(job).copied().unwrap_or((at, "none"));
                    self.bare = at - since;
                    self.bare_because = format!("{what} {:.3} s before", since - then);
                }
            }
        }
    }
}

/// Returns the uids of a placement's Jobs.
fn jobs(placement: &Value) -> Vec<String> {
    let set = placement["spec"]["set"].as_array().into_iter().flatten();
    let own = [&placement["spec"]["jobUid"]];
    set.chain(own).map(|uid| word(uid).to_string()).collect()
}

/// The additional time allowed for most decisions without disturbances, in seconds.
const CALM_LAG_S: f64 = 5.0;

/// The additional time allowed for kills, restarts and a busy machine, in seconds.
const LAG_S: f64 = 90.0;

impl fmt::Display for Ledger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ledger { admitted, placeless, bare, bare_because, preempted, reclaimed, .. } = self;
        let Ledger { given_back, releases, longest, longest_because, eviction, .. } = self;
        let Ledger { elsewhere, unflavored, unasked, boxless, waits, dated, impatient, .. } = self;
        write!(
            out,
            "{admitted} admitted, {} of them without a placement {placeless:?}; without one for at \
             most {bare:.1} s ({bare_because}); {preempted} preempted, {reclaimed} of them to \
             reclaim quota; {given_back} returned quota; quota released after {releases:.1?} s, at \
             most {longest:.1} s ({longest_because}), and taken back by Kueue within \
             {eviction:.1} s; {elsewhere} pods on nodes of another flavor, {unflavored} \
             messages without a flavor; {unasked} of {boxless} Jobs without a shape admitted \
             without our check; messages: {waits} to wait, {dated} with a start, {impatient} that \
             quota is released",
            placeless.len(),
        )
    }
}

fn seconds(stamp: &str) -> f64 {
    stamp.parse::<Timestamp>().map_or(0.0, |stamp| stamp.as_millisecond() as f64 / 1000.0)
}

#[test]
fn a_job_whose_pods_have_ended_waits_only_for_kueue() {
    let event = |at: u32, verb: &str, resource: &str, answer: Value| {
        let stamp = format!("2026-11-28T00:{at:02}:00.000000Z");
        let what = json!({ "resource": resource, "subresource": "" });
        json!({
            "verb": verb, "stageTimestamp": stamp, "objectRef": what, "responseObject": answer,
        })
    };
    let condition = |kind: &str| json!([{ "type": kind, "status": "True" }]);
    let quota = |at: u32, state: &str| {
        let checks = json!([{ "name": "place", "state": state, "message": "" }]);
        let status = json!({ "conditions": condition("QuotaReserved"), "admissionChecks": checks });
        let labels = json!({ "kueue.x-k8s.io/job-uid": "job" });
        let workload = json!({ "metadata": { "labels": labels }, "status": status });
        event(at, "patch", "workloads", workload)
    };
    let status = json!({ "conditions": condition("SuccessCriteriaMet") });
    let job = json!({ "metadata": { "uid": "job" }, "status": status });
    let ends = event(1, "update", "jobs", job);
    let owner = json!({ "metadata": { "uid": "pod", "ownerReferences": [{ "uid": "job" }] } });
    let again = event(5, "create", "pods", owner);
    let ledger = |events: &[&Value]| {
        let mut ledger = Ledger::default();
        for event in events {
            ledger.event(event);
        }
        ledger
    };
    let longest = |events: &[&Value]| ledger(events).longest as u64;
    let (pending, ready) = (quota(2, "Pending"), quota(4, "Ready"));
    let (later, last) = (quota(9, "Ready"), quota(12, "Ready"));
    assert_eq!(longest(&[&pending, &ready, &later]), 420);
    assert_eq!(longest(&[&ends, &pending, &quota(4, "Pending"), &ready, &later]), 120);
    assert_eq!(longest(&[&ends, &ready, &again, &later, &last]), 420);
    let retry = [quota(4, "Retry"), quota(9, "Retry"), quota(10, "Pending"), quota(11, "Pending")];
    let released = ledger(&[&pending, &retry[0], &retry[1], &retry[2], &retry[3]]);
    assert_eq!((released.longest, released.eviction), (120.0, 300.0), "{released}");
    assert_eq!(released.releases, [120.0]);
}
