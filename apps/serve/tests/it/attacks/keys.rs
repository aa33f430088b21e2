//! Tests tenants that try to use up stored replies, queue places and disk space.

use pavior_serve::core::{
    Ask, Caller, Command, FormattedReply, IdempotencyKey, LeaseRequest, ServiceLimits,
    ServiceState, StateSnapshot,
};
use pavior_serve::service::written;
use pavior_trials::{attacked, size};
use serde_json::{Value, json};

use crate::client::{Reply, batch};
use crate::decisions::begin;
use crate::random::Random;
use crate::server::{Server, fresh};

/// Returns the total size of the files in a folder, at any depth, whose names begin with `start`.
fn bytes(folder: &std::path::Path, start: &str) -> u64 {
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
fn large_replies_do_not_evict_those_of_other_tenants() {
    let (mut server, setup) = fresh(|setup| setup.give_tokens(&["a", "b"]));
    let ask = |server: &Server, job: i32| {
        let body = json!({ "nodes": 2, "job": job });
        server.of("b-secret").keyed("/v1/leases", body, &format!("b{job}"))
    };
    let first: Vec<Reply> = (0..5).map(|job| ask(&server, job)).collect();
    assert!(first.iter().all(|reply| reply.status == 201));
    let mut a = server.of("a-secret");
    let many = batch(vec![r#"{"lease":{"shape":[8,8]}}"#; 4096]);
    // Without shares, 111 replies of 0.8 MB were enough to evict all others.
    for round in 0..size(111, 111, 300) {
        assert_eq!(a.keyed("/v1/batch", &many, &format!("a{round}")).status, 200);
    }
    let (mut tried, mut failed) = (1, 0);
    for restarted in [false, true] {
        if restarted {
            server.restart(&setup);
        }
        tried += first.len();
        failed += (0..).zip(&first).filter(|(job, first)| ask(&server, *job) != **first).count();
    }
    // Replies are compressed; without compression, this wrote 88 MB.
    let journal = bytes(&setup.data, "journal-");
    println!("{journal} bytes of journal");
    failed += usize::from(journal > 16 << 20);
    attacked("tenants", "evicting another tenant's stored replies", tried, failed);
}

#[test]
fn every_tenant_keeps_its_share_of_stored_replies() {
    const TENANTS: u64 = 2000;
    let limits = ServiceLimits { keys: 8000, key_bytes: 8 << 20, ..ServiceLimits::default() };
    let (configured, _) = begin(None);
    let snapshot = StateSnapshot { leases: Vec::new(), ..configured.snapshot() };
    let mut state = ServiceState::restore(&snapshot, limits.clone(), 1).unwrap();
    let mut records = Vec::new();
    let mut send = |state: &mut ServiceState, tenant: u64, number: u64| {
        let caller = Caller { tenant: Some(format!("t{tenant}")) };
        let key = IdempotencyKey { key: format!("k{number}"), digest: number, write: written };
        let before = records.len();
        let body = format!("{{\"of\":[{tenant},{number}]}}");
        let command = Command::StoreReply(FormattedReply { status: 409, body });
        let decision = state.decide(number, &caller, Some(&key), command, &mut records);
        (written(&decision.reply).body, records.len() - before)
    };
    // Three replies per tenant are a quarter less than its share.
    for number in 0..3 {
        (0..TENANTS).for_each(|tenant| drop(send(&mut state, tenant, number)));
    }
    let mut random = Random(6);
    for number in 3..size(30_000, 30_000, 300_000) as u64 {
        // A few tenants send continuously.
        send(&mut state, random.below(4), number);
    }
    let mut restored = ServiceState::restore(&state.snapshot(), limits, 1).unwrap();
    assert_eq!(restored.snapshot(), state.snapshot());
    let (mut tried, mut failed) = (0, 0);
    for state in [&mut state, &mut restored] {
        for tenant in 4..TENANTS {
            for number in 0..3 {
                let (reply, recorded) = send(state, tenant, number);
                tried += 1;
                let right = reply == format!("{{\"of\":[{tenant},{number}]}}") && recorded == 0;
                failed += usize::from(!right);
            }
        }
    }
    attacked("tenants", "flooding the stored replies of 2000 tenants", tried, failed);
}

#[test]
fn a_tenant_cannot_fill_the_queue() {
    let (mut state, _) = begin(Some("fcfs"));
    let mut records = Vec::new();
    let mut ask = |state: &mut ServiceState, tenant: &str| {
        let caller = Caller { tenant: Some(tenant.to_string()) };
        let asked = LeaseRequest { wait: true, ..LeaseRequest::of(Ask::Shape([8, 5, 1])) };
        let decision = state.decide(1, &caller, None, Command::Lease(asked), &mut records);
        let FormattedReply { status, body } = written(&decision.reply);
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let whole = Command::Lease(LeaseRequest::of(Ask::Shape([8, 8, 1])));
    state.decide(1, &Caller::OPERATOR, None, whole, &mut Vec::new());
    // `limits` allows five places, and a quota of 40 nodes, which one request uses up.
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
    let mut most = 0;
    let tried = size(150, 150, 1000);
    for _ in 0..tried {
        for body in [&fail, &repair] {
            assert_eq!(root.post("/v1/batch", body).status, 200);
        }
        most = most.max(bytes(&setup.data, "journal-"));
    }
    let seq = root.seq();
    println!("{seq} records, at most {most} bytes of journal");
    // This includes records after the last snapshot, and those written while it was saved.
    let failed = usize::from(most > 4 * MOST);
    assert!(seq > 10_000);
    attacked("data", "filling the disk with records within --history", tried, failed);
}
