//! Tests the service with clocks that are off by years.

use std::path::Path;
use std::sync::Arc;

use pavior_serve::core::{Ask, Caller, Command, FormattedReply, LeaseRequest, StateView};
use pavior_serve::service::format_reply;
use pavior_serve::storage::disk::DiskFolder;
use pavior_serve::writer::CallerCommand;
use pavior_trials::{attacked, size};
use serde_json::{Value, json};

use crate::bare_writer::{BareWriter, StartClock, wait};
use crate::client::{find, holder, until};
use crate::decisions::limits;
use crate::random::Random;
use crate::server::{Server, Setup};

const HOUR: u64 = 3600 * 1000;
const YEAR: u64 = 365 * 24 * HOUR;
const THEN: u64 = 1_750_000_000_000;

/// A writer with a given clock.
struct ClockedWriter(BareWriter);

impl ClockedWriter {
    fn start(folder: &Path, wall_ms: u64, confirmed: bool) -> ClockedWriter {
        let clock = StartClock { wall_ms, confirmed };
        // A process that another test started may still hold the lock.
        let disk = find("the lock", || DiskFolder::open(folder).ok());
        let running = BareWriter::start(disk, clock, limits());
        let running = ClockedWriter(running.expect("the folder is sound"));
        // The writer detects the wrong clock before it answers the first query.
        running.view();
        running
    }

    fn doubts(&self) -> bool {
        self.0.writer.clock_doubt().is_some()
    }

    fn ask(&self, tenant: Option<&str>, command: Command) -> (u16, Value) {
        let caller = Caller { tenant: tenant.map(str::to_string) };
        let answer =
            wait(self.0.writer.carry_out(CallerCommand { caller, key: None, command })).unwrap();
        let FormattedReply { status, body } = format_reply(&answer.reply);
        (status, serde_json::from_str(&body).unwrap())
    }

    fn lease(&self, ttl_ms: u64) -> (u64, u64) {
        let asked =
            LeaseRequest { ttl_ms: Some(ttl_ms), ..LeaseRequest::of(Ask::Shape([2, 1, 1])) };
        let (status, lease) = self.ask(None, Command::Lease(asked));
        assert_eq!(status, 201, "{lease}");
        holder(&lease)
    }

    fn view(&self) -> Arc<StateView> {
        wait(self.0.writer.view()).unwrap()
    }

    fn held(&self) -> Vec<u64> {
        self.ask(None, Command::Tick);
        self.view().leases.values().map(|lease| lease.id).collect()
    }

    fn stop(self) {
        self.0.stop().unwrap();
    }
}

#[test]
fn no_lease_ends_when_the_service_starts_with_a_wrong_clock() {
    let (mut tried, mut failed) = (0, 0);
    for seed in 0..size(20, 20, 400) as u64 {
        let mut random = Random(seed);
        let folder = tempfile::TempDir::new().unwrap();
        let first = ClockedWriter::start(folder.path(), THEN, false);
        let leases: Vec<(u64, u64)> =
            (0..4).map(|hour| first.lease((hour + 1) * HOUR + random.below(HOUR))).collect();
        first.stop();
        // Start the service several times in a row, with the clock up to 30 years ahead.
        let mut later = Vec::new();
        for _ in 0..=random.below(3) {
            let wrong = THEN + 25 * HOUR + random.below(30 * YEAR);
            let running = ClockedWriter::start(folder.path(), wrong, false);
            assert!(running.doubts());
            let (id, epoch) = leases[3];
            let renewed = running.ask(None, Command::Renew { id, epoch, ttl_ms: Some(5 * HOUR) });
            assert_eq!(renewed.0, 200);
            later.push(running.lease(2 * HOUR).0);
            tried += leases.len() + later.len();
            failed += leases.len() + later.len() - running.held().len();
            let refused = running.ask(Some("a"), Command::ConfirmClock);
            assert_eq!((refused.0, &refused.1["reason"]), (403, &json!("operator-only")));
            running.stop();
        }
        // Once the clock has been corrected, time continues and leases expire normally.
        let running = ClockedWriter::start(folder.path(), THEN + 2 * HOUR + HOUR / 2, false);
        assert!(!running.doubts());
        let held = running.held();
        tried += 3;
        failed += usize::from(held.contains(&leases[0].0));
        failed +=
            usize::from(!held.contains(&leases[3].0) || later.iter().any(|id| !held.contains(id)));
        failed += usize::from(running.view().now_ms > THEN + 3 * HOUR);
        running.stop();
    }
    attacked("data", "starts under a clock that is years ahead", tried, failed);
}

#[test]
fn a_clock_is_confirmed_by_request_or_by_option() {
    for by_request in [true, false] {
        let folder = tempfile::TempDir::new().unwrap();
        let first = ClockedWriter::start(folder.path(), THEN, false);
        let (old, long) = (first.lease(HOUR).0, first.lease(YEAR).0);
        first.stop();
        let now = THEN + 24 * 7 * HOUR;
        let running = ClockedWriter::start(folder.path(), now, !by_request);
        let mut fresh = None;
        if by_request {
            fresh = Some(running.lease(HOUR).0);
            assert_eq!(running.held().len(), 3);
            let (status, answer) = running.ask(None, Command::ConfirmClock);
            assert_eq!((status, &answer["ended"]), (200, &json!(1)), "{answer}");
            assert_eq!(answer["now"].as_str().unwrap()[..10], *"2025-06-22");
        }
        let mut expected = vec![long];
        expected.extend(fresh);
        let held = running.held();
        assert!(!held.contains(&old) && held == expected, "{held:?}");
        assert!(!running.doubts());
        let view = running.view();
        assert!((now..now + HOUR).contains(&view.now_ms), "{}", view.now_ms);
        // A lease granted while the clock was in doubt must last its full duration.
        if let Some(fresh) = view.leases.values().find(|lease| Some(lease.id) == fresh) {
            assert!(fresh.expires_ms.unwrap() >= now + HOUR);
        }
        running.stop();
        let again = ClockedWriter::start(folder.path(), now + HOUR / 2, false);
        assert!(!again.doubts());
        assert_eq!(again.held(), expected);
        again.stop();
    }
}

#[test]
fn a_clock_behind_the_last_record_continues_from_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let first = ClockedWriter::start(folder.path(), THEN, false);
    first.lease(50);
    first.stop();
    let running = ClockedWriter::start(folder.path(), THEN - 10 * YEAR, false);
    until("the end of the lease", || running.held().is_empty());
    running.stop();
}

#[test]
fn readyz_reports_a_clock_in_doubt() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.strategy = "tff".into();
    std::fs::create_dir(&setup.data).unwrap();
    let first = ClockedWriter::start(&setup.data.join("journal"), THEN, false);
    first.lease(HOUR);
    first.stop();
    let server = Server::start(&setup);
    let mut client = server.client();
    // The service detects the wrong clock before it answers the first request.
    assert_eq!(client.get("/v1/leases").json()["leases"][0]["id"], 1);
    let ready = client.get("/readyz");
    assert_eq!((ready.status, &ready.json()["clock"]), (200, &json!("in-doubt")));
    let detail = ready.json()["detail"].to_string();
    assert!(detail.contains("--confirm-clock") && detail.contains("/v1/clock/confirm"), "{detail}");
    assert!(client.get("/metrics").text.contains("\npavior_clock_in_doubt 1\n"));
    let confirmed = client.keyed("/v1/clock/confirm", "{}", "c");
    assert_eq!((confirmed.status, &confirmed.json()["ended"]), (200, &json!(1)));
    assert_eq!(client.keyed("/v1/clock/confirm", "{}", "c"), confirmed);
    assert!(client.get("/readyz").json()["clock"].is_null());
    assert_eq!(client.get("/v1/leases").json()["leases"], json!([]));
}
