//! Checks that tenants cannot see each other's leases.

use serde_json::json;

use crate::server::fresh;

#[test]
fn tenants_do_not_see_each_other() {
    let tokens = "root-secret\na-secret tenant=a quota=16\nb-secret tenant=b\n";
    let (server, _) = fresh(|setup| setup.give_token_file(tokens));
    let [mut root, mut a, mut b] =
        ["root-secret", "a-secret", "b-secret"].map(|one| server.of(one));

    assert_eq!(server.client().get("/v1/leases").status, 401);
    assert_eq!(server.of("wrong").get("/v1/leases").status, 401);
    assert_eq!(server.client().get("/healthz").status, 200);

    let hold = r#"{"parts":[{"base":[2,2],"sides":[4,4]}],"ttl_s":600,"tenant":"a"}"#;
    let lease = root.post("/v1/hold", hold).json();
    assert_eq!(lease["tenant"], "a");
    a.post("/v1/leases", r#"{"nodes":1}"#).is(409, "over-quota");
    assert_eq!(b.get(&format!("/v1/leases/{}", lease["id"])).status, 404);
    assert_eq!(b.end(&lease).status, 404);
    assert_eq!(b.get("/v1/leases").json()["leases"], json!([]));
    assert_eq!(root.get("/v1/leases").json()["leases"][0]["tenant"], "a");
    assert_eq!(b.post("/v1/leases", r#"{"nodes":1,"tenant":"a"}"#).status, 403);
    assert_eq!(b.post("/v1/nodes/fail", r#"{"node":[0,0]}"#).status, 403);
    // The diagnosis does not identify other tenants' leases.
    let blocked = b.post("/v1/leases", r#"{"shape":[8,8]}"#).json();
    assert_eq!(blocked["diagnosis"]["blocked"]["jobs"][0]["lease"], json!(null));
    // The answers also omit the moves and the end times of other tenants' leases.
    let answers = |client: &mut crate::client::Client| {
        let asked = client.post("/v1/explain", r#"{"shape":[6,3]}"#).json();
        let slots = client.get("/v1/slots?shape=6x3").json();
        (asked["diagnosis"].clone(), slots)
    };
    let (diagnosis, slots) = answers(&mut b);
    assert_eq!(diagnosis["why"].as_array().unwrap().len(), 2, "{diagnosis}");
    assert!(diagnosis["why"][1].as_str().unwrap().contains("another tenant's job"), "{diagnosis}");
    assert!(!diagnosis.to_string().contains("202"), "a time: {diagnosis}");
    assert_eq!(diagnosis["blocked"]["until"], json!(null));
    assert_eq!(diagnosis["blocked"]["moves"], json!([]));
    assert_eq!(slots["next"], json!(null));
    assert_eq!(b.get("/v1/slots?shape=6x3&moves=1").status, 403);
    // The owner sees the end time; the operator also sees the moves.
    assert!(answers(&mut a).0["blocked"]["until"].is_string());
    let (diagnosis, slots) = answers(&mut root);
    assert!(diagnosis["blocked"]["until"].is_string() && slots["next"]["at"].is_string());
    assert_eq!(diagnosis["blocked"]["moves"][0]["job"], lease["id"]);
    assert_eq!(b.get("/v1/state").json()["leases"][0]["id"], json!(null));
    assert_eq!(a.end(&lease).status, 200);
    // Another tenant's ended lease is reported as unknown.
    assert_eq!(b.end(&lease).status, 404);
}
