//! Tests a server process that is killed repeatedly under load.
//!
//! Clients record the start, end and answer of each request. The journal contains the service's
//! order. This order is a linearization if it explains every answer, if no node is held twice, and
//! if a request that ends before another starts also precedes the other in the journal.
//!
//! `PAVIOR_SIZE=long cargo test -p pavior-serve --test it -- kills --nocapture` runs the long
//! version, with 64 clients.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, holder, number, until, watch_until};
use crate::random::Random;
use crate::server::{Server, fresh};

/// An answered request.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    began: Instant,
    ended: Instant,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// The lease's number and epoch.
    Granted(u64, u64),
    Ended(u64),
}

/// The state shared by the clients.
#[derive(Clone)]
pub(crate) struct Target {
    address: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
}

/// Clients running in the background.
pub(crate) struct Load {
    target: Target,
    threads: Vec<JoinHandle<Vec<Done>>>,
}

impl Load {
    pub(crate) fn start(server: &Server, clients: u64) -> Load {
        let target = Target {
            address: Arc::new(Mutex::new(server.address.clone())),
            stop: Arc::default(),
            answered: Arc::default(),
        };
        let one = |number| {
            let target = target.clone();
            std::thread::spawn(move || client(number, &target))
        };
        Load { threads: (0..clients).map(one).collect(), target }
    }

    pub(crate) fn answered(&self) -> u64 {
        self.target.answered.load(Ordering::Relaxed)
    }

    /// Waits until `count` more requests have been answered.
    pub(crate) fn wait_for(&self, count: u64) {
        let before = self.answered();
        until("answers", || self.answered() >= before + count);
    }

    /// Directs the clients to another server.
    pub(crate) fn goes_to(&self, server: &Server) {
        self.target.address.lock().unwrap().clone_from(&server.address);
    }

    /// Stops the clients and returns the requests that were answered.
    pub(crate) fn end(self) -> Vec<Vec<Done>> {
        self.target.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|one| one.join().unwrap()).collect()
    }
}

/// Retries a request until it is answered. The third result is true if the request was resent.
fn insist(
    target: &Target,
    (path, body): (&str, Value),
    key: &[(&str, &str)],
) -> Option<(u16, Value, bool)> {
    let mut again = false;
    let mut client: Option<(String, Client)> = None;
    loop {
        let address = target.address.lock().unwrap().clone();
        if client.as_ref().is_none_or(|(of, _)| *of != address) {
            client = Some((address.clone(), Client::new(&address)));
        }
        let (_, connection) = client.as_mut().expect("the connection was just opened");
        match connection.try_send("POST", path, &body, key) {
            Ok(reply) if reply.status < 500 => {
                target.answered.fetch_add(1, Ordering::Relaxed);
                return Some((reply.status, reply.json(), again));
            }
            _ if target.stop.load(Ordering::Relaxed) => return None,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
        again = true;
    }
}

/// Runs a client, which requests small leases and ends most of them.
fn client(number: u64, target: &Target) -> Vec<Done> {
    let mut random = Random(number);
    let (mut done, mut own) = (Vec::new(), Vec::new());
    for count in 0.. {
        if target.stop.load(Ordering::Relaxed) {
            break;
        }
        let began = Instant::now();
        if own.len() < 3 && !random.one_in(3) {
            let body = json!({ "nodes": 1 + random.below(4) });
            let key = format!("{number}-{count}");
            let key = [("Idempotency-Key", key.as_str())];
            let Some((status, lease, _)) = insist(target, ("/v1/leases", body), &key) else {
                break;
            };
            if status == 409 {
                continue;
            }
            assert_eq!(status, 201, "{lease}");
            let (id, epoch) = holder(&lease);
            own.push((id, epoch));
            done.push(Done { began, ended: Instant::now(), what: What::Granted(id, epoch) });
        } else if !own.is_empty() {
            let (id, epoch) = own.swap_remove(random.below(own.len() as u64) as usize);
            let (path, body) = (format!("/v1/leases/{id}/end"), json!({ "epoch": epoch }));
            let Some((status, answer, again)) = insist(target, (&path, body), &[]) else { break };
            // If the request was resent, the first attempt may already have ended the lease.
            let right = status == 200 || (again && answer["reason"] == "lease-ended");
            assert!(right, "{status} {answer}");
            done.push(Done { began, ended: Instant::now(), what: What::Ended(id) });
        }
    }
    done
}

/// Checks the clients' observations against the journal.
pub(crate) fn judge(address: &str, histories: &[Vec<Done>]) {
    // Grant a final lease, so that the last record is an event that watchers receive.
    let mut client = Client::new(address);
    assert!(client.lease(r#"{"nodes":1}"#)["epoch"].is_u64(), "a node is free");
    let last = client.seq();
    let events = watch_until(address, "/v1/watch?after=0", |_, id| id >= last);
    let (mut granted, mut ended, mut epochs) = (HashMap::new(), HashMap::new(), 0);
    let mut holders: HashMap<(u64, u64), u64> = HashMap::new();
    let mut parts: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    for (seq, kind, event) in &events {
        match kind.as_str() {
            "granted" => {
                let (id, epoch) = holder(&event["lease"]);
                assert!(epoch > epochs, "epochs grow: {epochs}, then {epoch}");
                epochs = epoch;
                let before = granted.insert(id, (epoch, *seq));
                assert!(before.is_none(), "lease {id} was granted twice");
                let nodes = nodes(&event["lease"]);
                for node in &nodes {
                    let before = holders.insert(*node, id);
                    assert_eq!(before, None, "node {node:?} is held by {before:?} and {id}");
                }
                parts.insert(id, nodes);
            }
            "ended" => {
                let id = number(&event["id"]);
                ended.insert(id, *seq);
                for node in parts.remove(&id).unwrap() {
                    holders.remove(&node);
                }
            }
            _ => {}
        }
    }
    let mut points: Vec<(u64, Instant, Instant)> = Vec::new();
    let mut seen = HashSet::new();
    for done in histories.iter().flatten() {
        let seq = match done.what {
            What::Granted(id, epoch) => {
                assert!(seen.insert(id), "lease {id} was given to two clients");
                let found = granted.get(&id).filter(|(of, _)| *of == epoch);
                found.unwrap_or_else(|| panic!("lease {id} was acknowledged and is lost")).1
            }
            What::Ended(id) => *ended.get(&id).expect("an acknowledged end is in the journal"),
        };
        points.push((seq, done.began, done.ended));
    }
    // Every request must have been sent before any request that comes later in the journal was
    // answered.
    points.sort_unstable_by_key(|(seq, ..)| *seq);
    let mut latest_begin: Option<Instant> = None;
    for (seq, began, ended) in points {
        if let Some(begin) = latest_begin {
            assert!(
                ended >= begin,
                "record {seq} was answered before an earlier one was requested"
            );
        }
        latest_begin = Some(latest_begin.map_or(began, |begin| begin.max(began)));
    }
}

fn nodes(lease: &Value) -> Vec<(u64, u64)> {
    let of = |part: &Value| {
        let (x, y) = (number(&part["base"][0]), number(&part["base"][1]));
        let (a, b) = (number(&part["sides"][0]), number(&part["sides"][1]));
        (0..a).flat_map(move |i| (0..b).map(move |j| (x + i, y + j))).collect::<Vec<_>>()
    };
    lease["parts"].as_array().unwrap().iter().flat_map(of).collect()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let (kills, clients) = pavior_trials::size((2, 12), (5, 12), (200, 64));
    let (mut server, setup) = fresh(|setup| {
        setup.machine = "mesh:32x32".into();
        (setup.snapshot_every, setup.history) = (2000, 1_000_000_000);
    });
    let load = Load::start(&server, clients);
    let mut random = Random(2026);
    let mut slowest = Duration::ZERO;
    for _ in 0..kills {
        load.wait_for(50);
        std::thread::sleep(Duration::from_millis(random.below(60)));
        slowest = slowest.max(server.restart(&setup));
        load.goes_to(&server);
    }
    let answered = load.answered();
    judge(&server.address, &load.end());
    println!("{kills} kills, {clients} clients, {answered} answers; slowest start {slowest:?}");
}
