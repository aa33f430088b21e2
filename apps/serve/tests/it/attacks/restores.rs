//! Tests clients that present leases from the original service to a restored copy.

use std::path::Path;

use pavior_trials::{attacked, size};
use serde_json::json;

use crate::client::{Client, holder};
use crate::random::Random;
use crate::server::{Server, Setup, fresh};

/// Copies a folder, except locks and sockets.
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

/// Requests leases, some of which have to wait. Returns the leases' ids and epochs.
fn ask(client: &mut Client, count: usize, random: &mut Random) -> Vec<(u64, u64)> {
    let mut got = Vec::new();
    for _ in 0..count {
        let body = json!({ "nodes": 1 + random.below(4), "wait": true });
        got.push(holder(&client.lease(body)));
        assert!(got.last().unwrap().1 < 1 << 53);
    }
    got
}

#[test]
fn an_old_holder_cannot_change_a_restored_copy() {
    let (mut tried, mut failed) = (0, 0);
    for round in 0..size(2, 2, 25) as u64 {
        let mut random = Random(round);
        let (mut original, setup) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
        let mut client = original.client();
        ask(&mut client, 5, &mut random);
        let copied = Setup { data: setup.data.with_extension("copy"), ..setup.clone() };
        copy(&setup.data, &copied.data);
        // The original keeps running; in some rounds, it is restarted.
        let mut old = ask(&mut client, 20, &mut random);
        if round % 2 == 1 {
            original.restart(&setup);
            client = original.client();
        }
        old.extend(ask(&mut client, 20, &mut random));
        original.stop();
        let restored = Server::start(&copied);
        let mut client = restored.client();
        let new = ask(&mut client, 40, &mut random);
        assert!(old.iter().zip(&new).all(|(old, new)| old.0 == new.0), "numbers repeat");
        failed += old.iter().zip(&new).filter(|(old, new)| new.1 <= old.1).count();
        for &(id, epoch) in &old {
            for what in ["renew", "end"] {
                let path = format!("/v1/leases/{id}/{what}");
                let reply = client.post(&path, json!({ "epoch": epoch }));
                tried += 1;
                failed += usize::from(reply.status < 400);
                let (answer, known) =
                    (reply.json(), ["stale-epoch", "unknown-lease", "still-waiting"]);
                assert!(known.contains(&answer["reason"].as_str().unwrap_or("")), "{answer}");
            }
        }
    }
    attacked("data", "old holders against a restored copy", tried, failed);
}
