//! What a waiting request waits for, as the queue, a request and an explanation say it.

use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{Server, Setup, fresh};

fn waits_for(client: &mut Client, id: &Value) -> Value {
    let queue = client.get("/v1/queue").unwrap().json();
    let all = queue["waiting"].as_array().unwrap();
    let one = all.iter().find(|one| one["id"] == *id).expect("it waits");
    // The same at every door.
    let alone = client.get(&format!("/v1/leases/{id}")).unwrap().json();
    assert_eq!(alone["waits_for"], one["waits_for"]);
    let asked = json!({ "waiting": id }).to_string();
    let explained = client.post("/v1/explain", &asked).unwrap().json();
    assert_eq!(explained["waits_for"], one["waits_for"]);
    one["waits_for"].clone()
}

fn ask(client: &mut Client, body: &Value) -> Value {
    let reply = client.post("/v1/leases", &body.to_string()).unwrap();
    assert!([201, 202].contains(&reply.status), "{}", reply.text);
    reply.json()["id"].clone()
}

#[test]
fn easy_names_whose_reservation_and_until_when() {
    let (server, _) = fresh(|setup| {
        setup.strategy = "gabl".into();
        setup.scheduler = Some("easy".into());
    });
    let mut client = Client::new(&server.address);
    ask(&mut client, &json!({ "shape": [8, 4], "job": "runs", "estimate_s": 3600 }));
    let head = ask(
        &mut client,
        &json!({ "shape": [8, 8], "job": 17, "wait": true, "estimate_s": 30 * 60 }),
    );
    let behind =
        ask(&mut client, &json!({ "shape": [2, 2], "wait": true, "estimate_s": 2 * 3600 }));
    let told = waits_for(&mut client, &head);
    assert_eq!(
        (&told["kind"], &told["needed"], &told["free"]),
        (&json!("nodes"), &json!(64), &json!(32))
    );
    assert!(told["sentence"].as_str().unwrap().starts_with("It needs 64 nodes, and 32 are free"));
    let planned = told["planned"].clone();
    assert!(planned.is_string(), "the head has a reservation: {told}");

    let told = waits_for(&mut client, &behind);
    assert_eq!(told["kind"], "reservation");
    assert_eq!(told["by"], json!({ "id": head, "job": 17 }));
    assert_eq!(told["from"], planned);
    assert!(told["until"].as_str().unwrap() > planned.as_str().unwrap());
    let sentence = told["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("It would fit now, but job 17 has nodes reserved"), "{sentence}");
}

#[test]
fn a_strict_order_names_who_comes_first() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("fcfs".into()));
    let mut client = Client::new(&server.address);
    ask(&mut client, &json!({ "shape": [8, 4] }));
    let head = ask(&mut client, &json!({ "shape": [8, 8], "job": "large", "wait": true }));
    let behind = ask(&mut client, &json!({ "shape": [2, 2], "wait": true }));
    assert_eq!(waits_for(&mut client, &head)["kind"], "nodes");
    let told = waits_for(&mut client, &behind);
    assert_eq!((&told["kind"], &told["by"]["job"]), (&json!("turn"), &json!("large")));
    // It is not said that it would be granted: it is not its turn.
    assert_eq!(told["sentence"], "It waits for its turn: by `fcfs`, job large starts before it.");
}

#[test]
fn enough_nodes_without_a_place_is_said_so() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = Client::new(&server.address);
    let hold = json!({ "parts": [{ "base": [3, 0], "sides": [1, 8] }] }).to_string();
    assert_eq!(client.post("/v1/hold", &hold).unwrap().status, 201);
    let waiting = ask(&mut client, &json!({ "shape": [5, 5], "wait": true }));
    let told = waits_for(&mut client, &waiting);
    assert_eq!(
        (&told["kind"], &told["needed"], &told["free"]),
        (&json!("place"), &json!(25), &json!(56))
    );
    let asked = json!({ "waiting": waiting }).to_string();
    let explained = client.post("/v1/explain", &asked).unwrap().json();
    assert_eq!(explained["diagnosis"]["missing"], "place");
    assert!(explained["diagnosis"]["blocked"].is_object(), "a box is what is missing");
}

/// Of a strategy that grants by count, nodes are what is missing: no box is spoken of.
#[test]
fn by_count_nodes_are_missing_and_no_box() {
    let (server, _) = fresh(|setup| {
        setup.strategy = "paging".into();
        setup.scheduler = Some("conservative".into());
    });
    let mut client = Client::new(&server.address);
    ask(&mut client, &json!({ "nodes": 40, "estimate_s": 3600 }));
    let refused = client.post("/v1/leases", r#"{"shape":[6,6]}"#).unwrap().json();
    let diagnosis = &refused["diagnosis"];
    assert_eq!((&diagnosis["missing"], &diagnosis["needed"]), (&json!("nodes"), &json!(36)));
    for of_boxes in ["fits", "nearest", "largest_free", "blocked"] {
        assert_eq!(diagnosis[of_boxes], Value::Null, "{of_boxes}");
    }
    let head =
        ask(&mut client, &json!({ "shape": [6, 6], "job": "h", "wait": true, "estimate_s": 3600 }));
    let told = waits_for(&mut client, &head);
    assert_eq!(
        (&told["kind"], &told["needed"], &told["free"]),
        (&json!("nodes"), &json!(36), &json!(24))
    );
    // 24 are free, but from the booked hour on the head needs 36 of 64.
    let behind = ask(&mut client, &json!({ "nodes": 24, "wait": true, "estimate_s": 20 * 60 }));
    assert_eq!(client.get(&format!("/v1/leases/{behind}")).unwrap().json()["state"], "held");
    let long = ask(&mut client, &json!({ "nodes": 64, "wait": true, "estimate_s": 3600 }));
    assert!(waits_for(&mut client, &long)["planned"].is_string(), "it is booked");
}

#[test]
fn a_booking_of_another_is_named() {
    let (server, _) = fresh(|setup| setup.scheduler = Some("conservative".into()));
    let mut client = Client::new(&server.address);
    ask(&mut client, &json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let first = ask(
        &mut client,
        &json!({ "shape": [8, 8], "job": "all", "wait": true, "estimate_s": 3600 }),
    );
    let long = ask(&mut client, &json!({ "shape": [2, 2], "wait": true, "estimate_s": 3 * 3600 }));
    let told = waits_for(&mut client, &long);
    assert_eq!((&told["kind"], &told["by"]["id"]), (&json!("reservation"), &first));
    assert!(told["planned"].as_str().unwrap() >= told["until"].as_str().unwrap(), "{told}");
}

#[test]
fn no_tenant_is_told_of_another() {
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "root-secret\na-secret tenant=a\nb-secret tenant=b\n").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.tokens = Some(tokens);
    setup.scheduler = Some("easy".into());
    let server = Server::start(&setup);
    let of =
        |token: &str| Client::with(&server.address, "Authorization", &format!("Bearer {token}"));
    let (mut root, mut a, mut b) = (of("root-secret"), of("a-secret"), of("b-secret"));
    ask(&mut a, &json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let secret = json!({ "shape": [8, 8], "job": "secret", "wait": true, "estimate_s": 3600 });
    let head = ask(&mut a, &secret);
    let behind = ask(&mut b, &json!({ "shape": [2, 2], "wait": true, "estimate_s": 5 * 3600 }));
    let told = waits_for(&mut b, &behind);
    assert_eq!(
        (&told["kind"], &told["by"]),
        (&json!("reservation"), &json!({ "id": null, "job": null }))
    );
    assert!(told["from"].is_string() && told["until"].is_string());
    let text = told.to_string();
    assert!(text.contains("another tenant's job") && !text.contains("secret"), "{text}");
    assert_eq!(b.post("/v1/explain", &json!({ "waiting": head }).to_string()).unwrap().status, 404);
    assert_eq!(waits_for(&mut root, &behind)["by"]["job"], "secret");
}

/// After a start the scheduler has not been asked yet: no more is said than that it decides.
#[test]
fn after_a_restart_nothing_is_guessed() {
    let (mut server, setup) = fresh(|setup| setup.scheduler = Some("easy".into()));
    let mut client = Client::new(&server.address);
    ask(&mut client, &json!({ "shape": [8, 4], "estimate_s": 3600 }));
    let head = ask(&mut client, &json!({ "shape": [8, 8], "wait": true, "estimate_s": 3600 }));
    let behind =
        ask(&mut client, &json!({ "shape": [2, 2], "wait": true, "estimate_s": 5 * 3600 }));
    server.kill();
    let again = Server::start(&setup);
    let mut client = Client::new(&again.address);
    assert_eq!(waits_for(&mut client, &head)["kind"], "nodes");
    let told = waits_for(&mut client, &behind);
    assert_eq!(told["kind"], "scheduler");
    assert_eq!(told["sentence"], "The scheduler `easy` keeps it waiting.");
    // Once the queue has moved it says why.
    ask(&mut client, &json!({ "shape": [8, 8], "wait": true, "estimate_s": 3600 }));
    assert_eq!(waits_for(&mut client, &behind)["by"]["id"], head);
}
