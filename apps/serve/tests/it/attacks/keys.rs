//! Tests tenants that try to evict other tenants' stored replies.

use pavior_serve::core::{
    Caller, Command, FormattedReply, IdempotencyKey, ServiceLimits, ServiceRecord, ServiceState,
    StateSnapshot,
};
use pavior_serve::service::format_reply;
use pavior_trials::{attacked, size};
use serde_json::json;

use super::space::bytes;
use crate::client::{Reply, batch};
use crate::decisions::begin;
use crate::random::Random;
use crate::server::{Server, fresh};

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
    // Without a fair share per tenant, 111 replies of 0.8 MB would evict all others.
    for round in 0..size(111, 111, 300) {
        assert_eq!(a.keyed("/v1/batch", &many, &format!("a{round}")).status, 200);
    }
    let (mut tried, mut failed) = (0, 0);
    for restarted in [false, true] {
        if restarted {
            server.restart(&setup);
        }
        for (job, first) in (0..).zip(&first) {
            tried += 1;
            failed += usize::from(ask(&server, job) != *first);
        }
    }
    // Replies are compressed; otherwise, the journal would grow by 88 MB.
    let journal = bytes(&setup.data, "journal-");
    println!("{journal} bytes of journal");
    assert!(journal <= 16 << 20, "{journal} bytes of journal");
    attacked("tenants", "evicting another tenant's stored replies", tried, failed);
}

/// A test fixture, with its own clock and records, that sends keyed requests for many tenants.
#[derive(Default)]
struct Requests {
    now_ms: u64,
    records: Vec<ServiceRecord>,
}

impl Requests {
    /// Sends a tenant's request, whose key and reply contain the given number. Returns true if the
    /// reply was already stored, in which case the request adds no record.
    fn send(&mut self, state: &mut ServiceState, tenant: u64, number: u64) -> bool {
        self.now_ms += 1;
        let caller = Caller { tenant: Some(format!("t{tenant}")) };
        let key = IdempotencyKey { key: format!("k{number}"), digest: number, write: format_reply };
        let reply = FormattedReply { status: 409, body: format!("[{tenant},{number}]") };
        let (before, command) = (self.records.len(), Command::StoreReply(reply.clone()));
        let decision = state.decide(self.now_ms, &caller, Some(&key), command, &mut self.records);
        format_reply(&decision.reply) == reply && self.records.len() == before
    }
}

#[test]
fn every_tenant_keeps_its_share_of_stored_replies() {
    const TENANTS: u64 = 2000;
    let limits = ServiceLimits { keys: 8000, ..ServiceLimits::default() };
    let (configured, _) = begin(None);
    let snapshot = StateSnapshot { leases: Vec::new(), ..configured.snapshot() };
    let mut state = ServiceState::restore(&snapshot, limits.clone(), 1).unwrap();
    let mut requests = Requests::default();
    // Each tenant stores three replies, one fewer than its share.
    for number in 0..3 {
        for tenant in 0..TENANTS {
            assert!(!requests.send(&mut state, tenant, number), "the reply is new");
        }
    }
    let mut random = Random(6);
    for number in 3..size(30_000, 30_000, 300_000) as u64 {
        // A few tenants keep sending requests.
        requests.send(&mut state, random.below(4), number);
    }
    let mut restored = ServiceState::restore(&state.snapshot(), limits, 1).unwrap();
    assert_eq!(restored.snapshot(), state.snapshot());
    let (mut tried, mut failed) = (0, 0);
    for state in [&mut state, &mut restored] {
        for tenant in 4..TENANTS {
            for number in 0..3 {
                tried += 1;
                failed += usize::from(!requests.send(state, tenant, number));
            }
        }
    }
    attacked("tenants", "flooding the stored replies of 2000 tenants", tried, failed);
}
