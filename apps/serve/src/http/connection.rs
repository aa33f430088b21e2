//! The life cycle of a connection: TLS, requests, and the loss of its place.

use std::convert::Infallible;
use std::net::IpAddr;
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
use super::form::HEAD;
use super::places::{Party, Place};
use super::write_timeout::WriteTimeout;
use super::{Access, App, Peer};

/// The time limit for the TLS handshake, and for sending a request head.
const PATIENCE: Duration = Duration::from_secs(10);
/// The buffer size for a request head, and for output besides a body. A head that fits but is
/// larger than [`HEAD`] is refused with a problem; a larger one is refused with only a status.
const BUFFER: usize = HEAD + (8 << 10);
/// The reply to a connection that loses its place before it has sent a request.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\
    Connection: close\r\nContent-Length: 0\r\n\r\n";

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A new connection.
pub(super) struct Accepted {
    pub(super) stream: Box<dyn Stream>,
    pub(super) tls: Option<TlsAcceptor>,
    /// The peer's address; `None` for a Unix socket.
    pub(super) address: Option<IpAddr>,
    pub(super) peer: Peer,
}

impl Accepted {
    /// Returns the initial party of the connection's place.
    pub(super) fn party(&self, access: &Access) -> Party {
        match self.address {
            Some(address) => Party::at(address),
            None => access.party(&self.peer),
        }
    }
}

/// Answers requests on a connection until it ends or loses its place.
pub(super) async fn serve_connection(
    accepted: Accepted,
    place: Arc<Place>,
    app: Arc<App>,
    router: Router,
) {
    let shaken = tokio::select! {
        shaken = shake(accepted) => shaken,
        () = place.given_up() => return,
    };
    let Some((stream, peer)) = shaken else { return };
    if peer != Peer::Tcp(None) {
        place.becomes(&app.access.party(&peer));
    }
    let service = service_fn(|request| answer(request, &peer, &place, &router));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(BUFFER);
    let mut connection = builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service);
    let mut stopping = app.stopping.clone();
    // A peer may disconnect early, which is not an error of the service.
    tokio::select! {
        _ = &mut connection => return,
        () = place.given_up() => {
            if !place.was_asked() {
                refuse(connection.into_parts().io.into_inner().into_inner());
            }
            return;
        }
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    Pin::new(&mut connection).graceful_shutdown();
    tokio::select! {
        _ = &mut connection => {}
        () = place.given_up() => {}
    }
}

/// Answers a request. The place is in use until the whole answer has been passed on.
async fn answer(
    mut request: Request<Incoming>,
    peer: &Peer,
    place: &Arc<Place>,
    router: &Router,
) -> Result<Response, Infallible> {
    let in_use = place.in_use();
    request.extensions_mut().insert(peer.clone());
    request.extensions_mut().insert(place.clone());
    let response = router.clone().oneshot(request.map(Body::new)).await?;
    // The body owns this closure, so the place is in use until the body is dropped.
    let held = move |error| {
        let _in_use = &in_use;
        error
    };
    Ok(response.map(|body| Body::new(body.map_err(held))))
}

/// Sends [`BUSY`] if that is possible without waiting.
fn refuse(mut stream: Box<dyn Stream>) {
    let told = async {
        let _ = stream.write_all(BUSY).await;
        let _ = stream.shutdown().await;
    };
    let _ = told.now_or_never();
}

/// Performs the TLS handshake, if any. Returns `None` if it fails.
async fn shake(accepted: Accepted) -> Option<(Box<dyn Stream>, Peer)> {
    let Accepted { stream, tls, peer, .. } = accepted;
    let Some(acceptor) = tls else { return Some((stream, peer)) };
    let stream = match tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        // For example, the client does not trust the certificate, or its own has expired.
        Ok(Err(error)) => {
            tracing::info!(%error, "the TLS handshake failed");
            return None;
        }
        Err(_) => {
            tracing::info!("the TLS handshake failed: the client is too slow");
            return None;
        }
    };
    let name = stream.get_ref().1.peer_certificates().and_then(|all| name(all.first()?));
    Some((Box::new(stream), Peer::Tcp(name)))
}

/// Returns the first DNS name in a certificate, if it is a valid tenant name.
fn name(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    certificate.valid_dns_names().next().filter(|name| is_tenant(name)).map(str::to_string)
}
