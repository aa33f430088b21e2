//! The life cycle of a connection: TLS handshake, requests, and revocation of its permit.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tower::ServiceExt;

use super::body::is_tenant;
use super::form::MAX_HEAD_BYTES;
use super::permits::Permit;
use super::write_timeout::WriteTimeout;
use super::{App, Peer};

/// The time limit for the TLS handshake and for receiving a request head.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The buffer size for a request head, and for output other than bodies. A head that fits but is
/// larger than [`MAX_HEAD_BYTES`] is rejected with a problem; a head that does not fit is rejected
/// with only a status.
const BUFFER_BYTES: usize = MAX_HEAD_BYTES + (8 << 10);
/// The reply sent if a connection's permit is revoked before a request has arrived.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\
    Connection: close\r\nContent-Length: 0\r\n\r\n";

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A new connection.
pub(super) struct Accepted {
    pub(super) stream: Box<dyn Stream>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) peer: Peer,
}

/// Handles requests on a connection until the connection ends or its permit is revoked.
pub(super) async fn serve_connection(
    accepted: Accepted,
    permit: Arc<Permit>,
    app: Arc<App>,
    router: Router,
) {
    let connected = tokio::select! {
        connected = handshake(accepted) => connected,
        () = permit.revoked() => return,
    };
    let Some((stream, peer)) = connected else { return };
    permit.set_party(&app.access.party(&peer));
    let service = service_fn(|request| respond(request, &peer, &permit, &router));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_TIMEOUT);
    builder.max_buf_size(BUFFER_BYTES);
    let mut connection = builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service);
    let mut stopping = app.stopping.clone();
    // A peer may disconnect early, which is not a service error.
    tokio::select! {
        _ = &mut connection => return,
        () = permit.revoked() => {
            if !permit.was_used() {
                refuse(connection.into_parts().io.into_inner().into_inner());
            }
            return;
        }
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    Pin::new(&mut connection).graceful_shutdown();
    tokio::select! {
        _ = &mut connection => {}
        () = permit.revoked() => {}
    }
}

/// Handles a request. The permit stays in use until the response body is dropped.
async fn respond(
    mut request: Request<Incoming>,
    peer: &Peer,
    permit: &Arc<Permit>,
    router: &Router,
) -> Result<Response, Infallible> {
    let in_use = permit.start_use();
    request.extensions_mut().insert(peer.clone());
    request.extensions_mut().insert(permit.clone());
    let response = router.clone().oneshot(request.map(Body::new)).await?;
    // The body owns this closure, so the permit stays in use until the body is dropped.
    let hold_permit = move |error| {
        let _in_use = &in_use;
        error
    };
    Ok(response.map(|body| Body::new(body.map_err(hold_permit))))
}

/// Sends [`BUSY`] if it can be sent without blocking.
fn refuse(mut stream: Box<dyn Stream>) {
    let reply = async {
        let _ = stream.write_all(BUSY).await;
        let _ = stream.shutdown().await;
    };
    let _ = reply.now_or_never();
}

/// Performs the TLS handshake, if TLS is used. Returns `None` if the handshake fails.
async fn handshake(accepted: Accepted) -> Option<(Box<dyn Stream>, Peer)> {
    let Accepted { stream, tls, peer } = accepted;
    let Some(acceptor) = tls else { return Some((stream, peer)) };
    let accepted = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await;
    let stream = match accepted.unwrap_or_else(|timeout| Err(timeout.into())) {
        Ok(stream) => stream,
        // For example, the client rejected the server's certificate, or the client's own
        // certificate has expired.
        Err(error) => {
            tracing::info!(%error, "the TLS handshake failed");
            return None;
        }
    };
    let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let peer = match certificate.and_then(tenant_name) {
        Some(name) => Peer::Certificate(name),
        None => peer,
    };
    Some((Box::new(stream), peer))
}

/// Returns the first DNS name in a certificate, if that name is a valid tenant name.
fn tenant_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    certificate.valid_dns_names().next().filter(|name| is_tenant(name)).map(str::to_string)
}
