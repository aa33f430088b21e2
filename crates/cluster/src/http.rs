//! A small HTTP server for the page and the metrics.
//!
//! The server runs on a separate thread and never blocks the rest of the program. It serves at most
//! 16 connections simultaneously. Long-lived connections do not count toward this limit; the routes
//! limit their number. A request may have up to 8,192 bytes of headers and a body of up to 4,096
//! bytes. A connection is closed after one response or after 4 s, except that long-lived routes may
//! keep their connections open for up to 10 minutes.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::{HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::response::Response;
use axum::{Extension, middleware};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// The maximum number of simultaneous connections, not counting long-lived ones. Additional clients
/// wait for a free slot.
const MAX_CONNECTIONS: usize = 16;
/// The maximum size of a request head, in bytes. This is the smallest limit that hyper allows.
const HEAD_BYTES: usize = 8192;
const MAX_BODY_BYTES: usize = 4096;
/// The maximum time that a client may take to send a request head.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum time that a client may take to send a request and receive the response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);
/// The maximum duration of a long-lived connection. The client must then reconnect.
const MAX_OPEN: Duration = Duration::from_mins(10);

/// A handle that keeps a request's connection open and frees the connection's slot for another one.
#[derive(Clone, Default)]
pub(crate) struct KeepOpen(Arc<Notify>);

impl KeepOpen {
    pub(crate) fn request(&self) {
        self.0.notify_one();
    }
}

/// Serves `site` at `address`. Returns the actual address, whose port differs if the given port is
/// 0.
///
/// # Errors
/// Returns an error if the address is unavailable or a thread cannot be started.
pub fn serve(address: &str, site: Router) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(guard);
    let site = site
        .layer(middleware::map_response(add_headers))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES));
    let thread = std::thread::Builder::new().name("http".into());
    thread.spawn(move || runtime.block_on(accept(listener, site)))?;
    Ok(bound)
}

/// Adds headers that prevent browsers from sniffing content types, sending referrers, and caching.
async fn add_headers(mut response: Response) -> Response {
    let headers: [(HeaderName, &str); 3] = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (axum::http::header::REFERRER_POLICY, "no-referrer"),
        (axum::http::header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn accept(listener: tokio::net::TcpListener, site: Router) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // The client has disconnected, or the process is temporarily out of file descriptors.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        tokio::spawn(answer(stream, site.clone(), permit));
    }
}

async fn answer(stream: TcpStream, site: Router, permit: OwnedSemaphorePermit) {
    let keep_open = KeepOpen::default();
    let service = TowerToHyperService::new(site.layer(Extension(keep_open.clone())));
    let mut builder = http1::Builder::new();
    builder.keep_alive(false).max_buf_size(HEAD_BYTES);
    builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIMEOUT);
    // Ignore connection errors, because clients cause them.
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = sleep(ANSWER_TIMEOUT) => return,
        () = keep_open.0.notified() => drop(permit),
    }
    let _ = timeout(MAX_OPEN, connection).await;
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    /// Starts a server whose page is `count` letters long. Returns the server's address.
    fn served(count: usize) -> String {
        let site = Router::new().fallback(move || async move { "a".repeat(count) });
        serve("127.0.0.1:0", site).unwrap().to_string()
    }

    fn send(address: &str, text: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn a_page_is_served_on_each_path() {
        let address = served(100_000);
        for head in ["GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
            let answer = send(&address, head);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.contains("200 OK") && head.contains("text/plain"), "{head}");
            assert_eq!(body.len(), 100_000);
        }
    }

    #[test]
    fn an_endless_head_is_rejected() {
        let address = served(1);
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(2 * HEAD_BYTES));
        assert!(!send(&address, &long).contains("200 OK"));
        assert!(!send(&address, "\0\r\n\r\n").contains("200 OK"));
        assert!(send(&address, "GET / HTTP/1.1\r\n\r\n").contains("200 OK"));
    }

    #[test]
    fn silent_connections_do_not_block_others() {
        let address = served(1);
        let silent = || TcpStream::connect(&address).unwrap();
        let all: Vec<TcpStream> = (0..2 * MAX_CONNECTIONS).map(|_| silent()).collect();
        assert!(send(&address, "GET / HTTP/1.1\r\n\r\n").contains("200 OK"));
        drop(all);
    }
}
