//! Holders of leases of the original, against a copy of its data that was restored.

use std::path::Path;

use pavior_trials::{attacked, size};
use serde_json::{Value, json};

use crate::client::Client;
use crate::random::Random;
use crate::server::{Server, Setup};

/// Copies the files of a folder, and of the folders in it, but for locks and sockets.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (kind, name) = (entry.file_type().unwrap(), entry.file_name());
        if kind.is_dir() {
            copy(&entry.path(), &to.join(&name));
        } else if kind.is_file() && name != "lock" {
            std::fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

fn post(client: &mut Client, path: &str, body: &Value) -> (u16, Value) {
    let more = [("Content-Type", "application/json")];
    let reply = client.send("POST", path, &body.to_string(), &more).unwrap();
    (reply.status, reply.json())
}

/// Asks for leases, some of which wait; their numbers and epochs.
fn ask(client: &mut Client, count: usize, random: &mut Random) -> Vec<(u64, u64)> {
    let mut got = Vec::new();
    for _ in 0..count {
        let body = json!({ "nodes": 1 + random.below(4), "wait": true });
        let (status, lease) = post(client, "/v1/leases", &body);
        assert!(status < 300, "{lease}");
        got.push((lease["id"].as_u64().unwrap(), lease["epoch"].as_u64().unwrap()));
        assert!(got.last().unwrap().1 < 1 << 53);
    }
    got
}

#[test]
fn an_old_holder_touches_nothing_of_a_restored_copy() {
    let (mut tried, mut failed) = (0, 0);
    for round in 0..size(2, 25) as u64 {
        let folder = tempfile::TempDir::new().unwrap();
        let mut setup = Setup::new(&folder.path().join("data"));
        setup.scheduler = Some("fcfs".into());
        let mut random = Random(round);
        let mut original = Server::start(&setup);
        let mut client = Client::new(&original.address);
        ask(&mut client, 5, &mut random);
        let copied = Setup { data: folder.path().join("copy"), ..setup.clone() };
        copy(&setup.data, &copied.data);
        // The original goes on: over restarts, too.
        let mut old = ask(&mut client, 20, &mut random);
        if round % 2 == 1 {
            original.kill();
            original = Server::start(&setup);
            client = Client::new(&original.address);
        }
        old.extend(ask(&mut client, 20, &mut random));
        original.stop();
        let restored = Server::start(&copied);
        let mut client = Client::new(&restored.address);
        let new = ask(&mut client, 40, &mut random);
        assert!(old.iter().zip(&new).all(|(old, new)| old.0 == new.0), "numbers repeat");
        failed += old.iter().zip(&new).filter(|(old, new)| new.1 <= old.1).count();
        for &(id, epoch) in &old {
            for (what, body) in [
                ("renew", json!({ "epoch": epoch, "ttl_s": 60 })),
                ("end", json!({ "epoch": epoch })),
            ] {
                let (status, answer) = post(&mut client, &format!("/v1/leases/{id}/{what}"), &body);
                tried += 1;
                failed += usize::from(status < 400);
                let known = ["stale-epoch", "unknown-lease", "still-waiting"];
                assert!(known.contains(&answer["reason"].as_str().unwrap_or("")), "{answer}");
            }
        }
    }
    attacked("data", "old holders against a restored copy", tried, failed);
}

#[test]
fn data_of_before_generations_go_on() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.scheduler = Some("fcfs".into());
    // Written by the program before epochs had generations, and records tenants.
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/before-generations");
    copy(&old, &setup.data);
    setup.confirm_clock = true;
    let server = Server::start(&setup);
    let mut client = Client::new(&server.address);
    let leases = client.get("/v1/leases").unwrap().json();
    let known: Vec<(u64, u64)> = leases["leases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lease| (lease["id"].as_u64().unwrap(), lease["epoch"].as_u64().unwrap()))
        .collect();
    assert_eq!(known, [(1, 2), (4, 5), (5, 6), (6, 7)]);
    // Another key than the first time.
    let (status, renewed) = post(&mut client, "/v1/leases/4/renew", &json!({ "epoch": 5 }));
    assert_eq!((status, &renewed["epoch"]), (200, &json!(5)));
    let queue = client.get("/v1/queue").unwrap().json();
    assert_eq!(
        (&queue["waiting"][0]["id"], &queue["waiting"][0]["epoch"]),
        (&json!(7), &json!(null))
    );
    for (id, epoch) in known {
        let path = format!("/v1/leases/{id}/end");
        assert_eq!(post(&mut client, &path, &json!({ "epoch": epoch + 1 })).0, 409);
        assert_eq!(post(&mut client, &path, &json!({ "epoch": epoch })).0, 200);
    }
    let begun = client.get("/v1/leases/7").unwrap().json();
    assert!(begun["epoch"].as_u64().unwrap() > 1 << 40, "{begun}");
    assert_eq!(
        post(&mut client, "/v1/leases/3/end", &json!({ "epoch": 4 })).1["reason"],
        "lease-ended"
    );
}
