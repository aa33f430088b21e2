//! Tests TLS with bearer tokens and client certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::Client;
use crate::server::{Server, Setup, write_secret};

type Authority = CertifiedIssuer<'static, KeyPair>;

/// A client's certificate and key.
pub(crate) type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Issues a certificate. Returns a client identity, and the certificate and its key as PEM.
fn certificate(authority: &Authority, names: &[&str]) -> (Identity, String, String) {
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
    let made = CertificateParams::new(names).unwrap().signed_by(&key, authority).unwrap();
    let private = PrivatePkcs8KeyDer::from(key.serialize_der());
    ((made.der().clone(), private.into()), made.pem(), key.serialize_pem())
}

/// Returns a client's TLS configuration, which trusts `authority` and presents `identity`, if any.
fn trust(authority: &Authority, identity: Option<Identity>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder.with_client_auth_cert(vec![certificate], key).unwrap(),
    })
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    write_secret(&path, text);
    path
}

/// A server with TLS, and the authorities for its certificate and for its clients' certificates.
pub(crate) struct Guarded {
    pub(crate) server: Server,
    setup: Setup,
    authority: Authority,
    clients: Authority,
    _folder: tempfile::TempDir,
}

pub(crate) fn guarded(
    tokens: Option<&str>,
    client_ca: bool,
    change: impl FnOnce(&mut Setup),
) -> Guarded {
    let folder = tempfile::TempDir::new().unwrap();
    let (authority, clients) = (authority(), authority());
    let (_, pem, key) = certificate(&authority, &["localhost", "127.0.0.1"]);
    let mut setup = Setup::new(&folder.path().join("data"));
    setup.tokens = tokens.map(|tokens| written(folder.path(), "tokens", tokens));
    let vouch = client_ca.then(|| written(folder.path(), "clients.pem", &clients.pem()));
    let (pem, key) =
        (written(folder.path(), "server.pem", &pem), written(folder.path(), "server.key", &key));
    setup.certificates = Some((pem, key, vouch));
    setup.log = Some(folder.path().join("log"));
    change(&mut setup);
    let server = Server::start(&setup);
    assert!(server.address.starts_with("https://127.0.0.1:"), "{}", server.address);
    Guarded { server, setup, authority, clients, _folder: folder }
}

impl Guarded {
    /// Returns a client that trusts the server, with an optional certificate and token.
    pub(crate) fn client(&self, identity: Option<Identity>, token: Option<&str>) -> Client {
        let mut client = self.server.client();
        client.tls = Some(trust(&self.authority, identity));
        let bearer = token.map(|token| ("Authorization".into(), format!("Bearer {token}")));
        client.headers.extend(bearer);
        client
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.setup.log.as_ref().unwrap()).unwrap()
    }
}

const ASK: &str = r#"{"shape":[2,2]}"#;

#[test]
fn a_bearer_token_over_tls() {
    let tokens = "operator-hush-1\ntenant-hush-2 tenant=a quota=8\n";
    let guarded = guarded(Some(tokens), false, |_| {});
    let lease = guarded.client(None, Some("tenant-hush-2")).post("/v1/leases", ASK);
    assert_eq!((lease.status, &lease.json()["tenant"]), (201, &json!("a")));
    let mut operator = guarded.client(None, Some("operator-hush-1"));
    assert_eq!(operator.get("/v1/leases").json()["leases"][0]["tenant"], "a");
    let over = guarded.client(None, Some("tenant-hush-2")).post("/v1/leases", r#"{"nodes":5}"#);
    over.is(409, "over-quota");

    // Requests without a token, or with a wrong, truncated or extended one, are refused.
    for token in [None, Some("wrong-hush-3"), Some("operator-hush-"), Some("operator-hush-1 x")] {
        for (method, path) in [("POST", "/v1/leases"), ("GET", "/v1/state"), ("GET", "/metrics")] {
            let reply = guarded.client(None, token).send(method, path, ASK, &[]);
            assert_eq!(reply.problem(), 401);
            assert!(!reply.text.contains("hush"), "{}", reply.text);
        }
    }
    // Clients that do not trust the server or do not use TLS cannot connect.
    let mut stranger = guarded.client(None, Some("operator-hush-1"));
    stranger.tls = Some(trust(&authority(), None));
    assert!(stranger.try_get("/healthz").is_err());
    let mut plain = guarded.server.client();
    assert!(plain.try_get("/healthz").is_err());
    // The log shows these requests, but no tokens.
    let log = guarded.log();
    assert!(log.matches("path=\"/v1/leases\"").count() >= 7, "{log}");
    assert!(!log.contains("hush"), "{log}");
}

#[test]
fn a_client_certificate_is_a_tenant() {
    let guarded = guarded(None, true, |_| {});
    let by = |names: &[&str]| Some(certificate(&guarded.clients, names).0);
    let lease = guarded.client(by(&["a.example"]), None).post("/v1/leases", ASK);
    assert_eq!((lease.status, &lease.json()["tenant"]), (201, &json!("a.example")));
    let mut other = guarded.client(by(&["b.example", "a.example"]), None);
    assert_eq!(other.get("/v1/leases").json()["leases"], json!([]), "the first name counts");
    assert_eq!(other.post("/v1/nodes/fail", r#"{"node":[0,0]}"#).status, 403);

    // Requests are refused unless the certificate contains a valid tenant name.
    for identity in [by(&[]), by(&["*.example"]), by(&["10.0.0.1"]), None] {
        let reply = guarded.client(identity, None).post("/v1/leases", ASK);
        assert_eq!(reply.status, 401, "{}", reply.text);
    }
    // Certificates that have expired or were signed by another authority are also refused.
    let strange = certificate(&authority(), &["a.example"]).0;
    assert!(guarded.client(Some(strange), None).try_get("/v1/leases").is_err());
    let key = KeyPair::generate().unwrap();
    let mut old = CertificateParams::new(vec!["a.example".to_string()]).unwrap();
    old.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let old = old.signed_by(&key, &guarded.clients).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let old = (old.der().clone(), key.into());
    assert!(guarded.client(Some(old), None).try_get("/v1/leases").is_err());
    let log = guarded.log();
    assert!(log.contains("TLS handshake"), "a refused handshake is logged: {log}");
}

#[test]
fn a_certificate_and_a_token_are_both_accepted() {
    let guarded = guarded(Some("operator-hush-1\n"), true, |_| {});
    let named = certificate(&guarded.clients, &["a.example"]).0;
    let (certificate, key) = &named;
    let again = || Some((certificate.clone(), key.clone_key()));
    let lease = guarded.client(again(), None).post("/v1/leases", ASK).json();
    assert_eq!(lease["tenant"], "a.example");
    // An operator token gives a tenant operator rights; a wrong token is refused even with a valid
    // certificate.
    let raised = guarded.client(again(), Some("operator-hush-1")).post("/v1/leases", ASK);
    assert_eq!(raised.json()["tenant"], json!(null));
    assert_eq!(guarded.client(again(), Some("hush-2")).get("/v1/leases").status, 401);
    assert_eq!(guarded.client(None, Some("operator-hush-1")).get("/v1/leases").status, 200);
    assert!(!guarded.log().contains("hush"));
}

#[test]
fn errors_name_unusable_certificates() {
    let folder = tempfile::TempDir::new().unwrap();
    let authority = authority();
    let (_, pem, key) = certificate(&authority, &["localhost"]);
    let (_, _, other) = certificate(&authority, &["localhost"]);
    let file = |name: &str, text: &str| written(folder.path(), name, text);
    let (good, key, other) = (file("s.pem", &pem), file("s.key", &key), file("o.key", &other));
    let (empty, missing) = (file("empty.pem", ""), folder.path().join("missing.pem"));
    for (certificate, key, vouch, named) in [
        (&missing, &key, None, ["--tls-cert", "missing.pem"]),
        (&empty, &key, None, ["--tls-cert", "empty.pem"]),
        (&good, &empty, None, ["--tls-key", "empty.pem"]),
        // This key belongs to another certificate.
        (&good, &other, None, ["--tls-cert", "s.pem"]),
        (&good, &key, Some(empty.clone()), ["--client-ca", "empty.pem"]),
    ] {
        let mut setup = Setup::new(&folder.path().join("data"));
        setup.certificates = Some((certificate.clone(), key.clone(), vouch));
        let log = Server::refused(&setup);
        assert!(named.iter().all(|word| log.contains(word)), "{named:?}: {log}");
    }
}
