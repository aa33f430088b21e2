//! A small server of one page.
//!
//! It runs in a thread of its own and stops nothing else. Every caller is bounded: at most
//! [`CONNECTIONS`] are served at once, a request has at most [`BUFFER`] bytes of headers, and a
//! connection ends after one answer or after [`PATIENCE`].

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::SlurmError;

/// The most connections that are served at once; others wait to be accepted.
const CONNECTIONS: usize = 16;
/// The most bytes that a request's head may have, and the least that hyper allows.
const BUFFER: usize = 8192;
/// How long a caller has to ask and to read the answer.
const PATIENCE: Duration = Duration::from_secs(4);

/// A page as it is now.
pub(crate) type Page = Arc<dyn Fn() -> String + Send + Sync>;

/// Serves a page of a type at an address, whatever is asked for.
pub(crate) fn serve(address: &str, kind: &'static str, page: Page) -> Result<(), SlurmError> {
    let error = |error| SlurmError::Io { what: format!("metrics = \"{address}\""), error };
    let listener = TcpListener::bind(address).map_err(error)?;
    listener.set_nonblocking(true).map_err(error)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(error)?;
    let guard = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).map_err(error)?;
    drop(guard);
    std::thread::spawn(move || runtime.block_on(accept(listener, kind, page)));
    Ok(())
}

async fn accept(listener: tokio::net::TcpListener, kind: &'static str, page: Page) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // No file can be opened: others have to be closed first.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let page = Arc::clone(&page);
        tokio::spawn(async move {
            let answer = service_fn(move |_: Request<hyper::body::Incoming>| {
                let mut response = Response::new(page());
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                async { Ok::<_, Infallible>(response) }
            });
            let mut builder = http1::Builder::new();
            builder.keep_alive(false).max_buf_size(BUFFER);
            // What a caller does wrong is not told to anybody.
            let connection = builder.serve_connection(TokioIo::new(stream), answer);
            let _ = timeout(PATIENCE, connection).await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    /// The address of a server of a page of `count` letters.
    fn served(count: usize) -> String {
        let spare = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        serve(&spare, "text/plain", Arc::new(move || "a".repeat(count))).unwrap();
        spare
    }

    fn ask(address: &str, text: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn a_page_is_served_whatever_is_asked_for() {
        let address = served(100_000);
        for head in ["GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
            let answer = ask(&address, head);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.contains("200 OK") && head.contains("text/plain"), "{head}");
            assert_eq!(body.len(), 100_000);
        }
    }

    #[test]
    fn a_head_without_an_end_is_not_read_for_ever() {
        let address = served(1);
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(2 * BUFFER));
        assert!(!ask(&address, &long).contains("200 OK"));
        assert!(!ask(&address, "\0\r\n\r\n").contains("200 OK"));
        assert!(ask(&address, "GET / HTTP/1.1\r\n\r\n").contains("200 OK"));
    }

    #[test]
    fn callers_that_say_nothing_lock_nobody_out() {
        let address = served(1);
        let silent = || TcpStream::connect(&address).unwrap();
        let all: Vec<TcpStream> = (0..2 * CONNECTIONS).map(|_| silent()).collect();
        assert!(ask(&address, "GET / HTTP/1.1\r\n\r\n").contains("200 OK"));
        drop(all);
    }
}
