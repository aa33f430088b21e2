//! Tenants do not see each other's leases.

use serde_json::json;

use crate::server::fresh;

#[test]
fn tenants_are_apart() {
    let tokens = "root-secret\na-secret tenant=a quota=16\nb-secret tenant=b\n";
    let (server, _) = fresh(|setup| setup.give_token_file(tokens));
    let [mut root, mut a, mut b] =
        ["root-secret", "a-secret", "b-secret"].map(|one| server.of(one));

    assert_eq!(server.client().get("/v1/leases").status, 401);
    assert_eq!(server.of("wrong").get("/v1/leases").status, 401);
    assert_eq!(server.client().get("/healthz").status, 200);

    let lease = a.lease(r#"{"shape":[4,4]}"#);
    assert_eq!(lease["tenant"], "a");
    a.post("/v1/leases", r#"{"nodes":1}"#).is(409, "over-quota");
    assert_eq!(b.get(&format!("/v1/leases/{}", lease["id"])).status, 404);
    assert_eq!(b.end(&lease).status, 404);
    assert_eq!(b.get("/v1/leases").json()["leases"], json!([]));
    assert_eq!(root.get("/v1/leases").json()["leases"][0]["tenant"], "a");
    assert_eq!(b.post("/v1/leases", r#"{"nodes":1,"tenant":"a"}"#).status, 403);
    assert_eq!(b.post("/v1/nodes/fail", r#"{"node":[0,0]}"#).status, 403);
    // What blocks a request is told without saying whose it is.
    let blocked = b.post("/v1/leases", r#"{"shape":[8,8]}"#).json();
    assert_eq!(blocked["diagnosis"]["blocked"]["jobs"][0]["lease"], json!(null));
    assert_eq!(b.get("/v1/state").json()["leases"][0]["id"], json!(null));
    assert_eq!(a.end(&lease).status, 200);
    // An ended lease of another tenant is as unknown as one that never was.
    assert_eq!(b.end(&lease).status, 404);
}
