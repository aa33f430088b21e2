//! Tenants do not see each other's leases.

use serde_json::json;

use crate::client::Client;
use crate::server::{Server, Setup, write_secret};

#[test]
fn tenants_are_apart() {
    let folder = tempfile::TempDir::new().unwrap();
    let tokens = folder.path().join("tokens");
    write_secret(&tokens, "root-secret\na-secret tenant=a quota=16\nb-secret tenant=b\n");
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.tokens = Some(tokens);
    let server = Server::start(&setup);
    let of =
        |token: &str| Client::with(&server.address, "Authorization", &format!("Bearer {token}"));
    let (mut root, mut a, mut b) = (of("root-secret"), of("a-secret"), of("b-secret"));

    assert_eq!(Client::new(&server.address).get("/v1/leases").unwrap().status, 401);
    assert_eq!(of("wrong").get("/v1/leases").unwrap().status, 401);
    assert_eq!(Client::new(&server.address).get("/healthz").unwrap().status, 200);

    let lease = a.post("/v1/leases", r#"{"shape":[4,4]}"#).unwrap().json();
    assert_eq!(lease["tenant"], "a");
    let over = a.post("/v1/leases", r#"{"nodes":1}"#).unwrap();
    assert_eq!((over.status, &over.json()["reason"]), (409, &json!("over-quota")));
    let path = format!("/v1/leases/{}", lease["id"]);
    let epoch = json!({ "epoch": lease["epoch"] }).to_string();
    assert_eq!(b.get(&path).unwrap().status, 404);
    assert_eq!(b.post(&format!("{path}/end"), &epoch).unwrap().status, 404);
    assert_eq!(b.get("/v1/leases").unwrap().json()["leases"], json!([]));
    assert_eq!(root.get("/v1/leases").unwrap().json()["leases"][0]["tenant"], "a");
    assert_eq!(b.post("/v1/leases", r#"{"nodes":1,"tenant":"a"}"#).unwrap().status, 403);
    assert_eq!(b.post("/v1/nodes/fail", r#"{"node":[0,0]}"#).unwrap().status, 403);
    // What blocks a request is told without saying whose it is.
    let blocked = b.post("/v1/leases", r#"{"shape":[8,8]}"#).unwrap().json();
    assert_eq!(blocked["diagnosis"]["blocked"]["jobs"][0]["lease"], json!(null));
    assert_eq!(b.get("/v1/state").unwrap().json()["leases"][0]["id"], json!(null));
    assert_eq!(a.post(&format!("{path}/end"), &epoch).unwrap().status, 200);
    // An ended lease of another tenant is as unknown as one that never was.
    assert_eq!(b.post(&format!("{path}/end"), &epoch).unwrap().status, 404);
}
