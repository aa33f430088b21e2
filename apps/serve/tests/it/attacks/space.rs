//! Tests tenants that try to exhaust queue slots and disk space.

use pavior_serve::core::{Ask, Caller, Command, FormattedReply, LeaseRequest, ServiceState};
use pavior_serve::service::format_reply;
use pavior_trials::{attacked, size};
use serde_json::{Value, json};

use crate::client::batch;
use crate::decisions::begin;
use crate::server::fresh;

/// Returns the total size of all files whose names begin with `start`, in a folder and its
/// subfolders.
pub(super) fn bytes(folder: &std::path::Path, start: &str) -> u64 {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let of = |entry: &std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes(&entry.path(), start),
        _ if entry.file_name().to_string_lossy().starts_with(start) => {
            entry.metadata().map_or(0, |metadata| metadata.len())
        }
        _ => 0,
    };
    entries.unwrap_or_default().iter().map(of).sum()
}

#[test]
fn a_tenant_cannot_fill_the_queue() {
    let (mut state, _) = begin(Some("fcfs"));
    let mut records = Vec::new();
    let mut ask = |state: &mut ServiceState, tenant: &str| {
        let caller = Caller { tenant: Some(tenant.to_string()) };
        let asked = LeaseRequest { wait: true, ..LeaseRequest::of(Ask::Shape([8, 5, 1])) };
        let decision = state.decide(1, &caller, None, Command::Lease(asked), &mut records);
        let FormattedReply { status, body } = format_reply(&decision.reply);
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let whole = Command::Lease(LeaseRequest::of(Ask::Shape([8, 8, 1])));
    state.decide(1, &Caller::OPERATOR, None, whole, &mut Vec::new());
    // `limits` allows five waiting requests and 40 nodes per tenant; each request needs 40 nodes.
    let tenants = ["a", "b", "c", "d"];
    let statuses: Vec<u16> = tenants.iter().map(|tenant| ask(&mut state, tenant).0).collect();
    assert_eq!(statuses, [202; 4]);
    let (status, problem) = ask(&mut state, "a");
    assert_eq!((status, &problem["reason"]), (409, &json!("over-quota")));
    assert_eq!(ask(&mut state, "e").0, 202);
    let (status, problem) = ask(&mut state, "f");
    assert_eq!((status, &problem["reason"]), (503, &json!("queue-full")));
}

#[test]
fn the_journal_is_bounded_by_bytes() {
    const MOST: u64 = 1 << 20;
    let (server, setup) = fresh(|setup| setup.history_bytes = MOST);
    let mut root = server.client();
    let changes = |name: &str| {
        let one = |i: usize| format!("{{\"{name}\":{{\"node\":[{},{}]}}}}", i % 8, i / 8 % 8);
        batch((0..1024).map(one))
    };
    let (fail, repair) = (changes("fail"), changes("repair"));
    let tried = size(150, 150, 1000);
    let mut most = 0;
    for _ in 0..tried {
        for body in [&fail, &repair] {
            assert_eq!(root.post("/v1/batch", body).status, 200);
        }
        most = most.max(bytes(&setup.data, "journal-"));
    }
    let seq = root.seq();
    println!("{seq} records, at most {most} bytes of journal");
    // The size includes records written during and after the saving of the last snapshot.
    let failed = usize::from(most > 4 * MOST);
    assert!(seq > 10_000);
    attacked("data", "filling the disk with records within --history", tried, failed);
}
