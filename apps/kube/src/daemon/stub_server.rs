//! A test API server that answers requests as each test specifies.

use std::sync::{Arc, Mutex};

use kube::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::write::Writer;

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// A reply to a request.
pub(crate) enum Reply {
    Answer {
        code: u16,
        body: Value,
    },
    /// No reply. The connection stays open.
    Silence,
}

impl Reply {
    pub(crate) fn ok(body: Value) -> Reply {
        Reply::Answer { code: 200, body }
    }

    pub(crate) fn error(code: u16, message: &str) -> Reply {
        let reason = if code == 404 { "NotFound" } else { "Unknown" };
        let body = json!({ "message": message, "reason": reason, "code": code });
        Reply::Answer { code, body }
    }
}

/// A server and the requests that it received.
pub(crate) struct StubServer {
    pub(crate) client: Client,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl StubServer {
    /// Starts a server that answers requests as `reply` specifies.
    pub(crate) async fn start(reply: impl FnMut(&Request) -> Reply + Send + 'static) -> StubServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let client = Client::try_from(kube::Config::new(address.parse().unwrap())).unwrap();
        let requests = Arc::default();
        tokio::spawn(serve(listener, Arc::clone(&requests), reply));
        StubServer { client, requests }
    }

    pub(crate) fn writer(&self) -> Writer {
        Writer::new(self.client.clone())
    }

    /// Returns the requests whose path contains `part`.
    pub(crate) fn requests(&self, part: &str) -> Vec<Request> {
        let all = self.requests.lock().unwrap();
        all.iter().filter(|request| request.path.contains(part)).cloned().collect()
    }
}

async fn serve(
    listener: TcpListener,
    requests: Arc<Mutex<Vec<Request>>>,
    mut reply: impl FnMut(&Request) -> Reply,
) {
    let mut unanswered = Vec::new();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        // A client may close a connection without sending a request.
        let Some(request) = read(&mut stream).await else { continue };
        let reply = reply(&request);
        requests.lock().unwrap().push(request);
        let Reply::Answer { code, body } = reply else {
            unanswered.push(stream);
            continue;
        };
        let (body, kind) = (body.to_string(), "Content-Type: application/json");
        let head = format!("HTTP/1.1 {code} Reply\r\nConnection: close\r\n{kind}");
        let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = stream.write_all(text.as_bytes()).await;
    }
}

/// Reads a request, or returns `None` if the client closes the connection first.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut text = String::new();
    loop {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).await.ok().filter(|length| *length > 0)?;
        text += std::str::from_utf8(&part[..length]).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let size = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() < size.map_or(0, |size| size.parse().unwrap()) {
            continue;
        }
        let mut words = text.split(' ').map(str::to_string);
        let (method, path) = (words.next()?, words.next()?);
        return Some(Request {
            method,
            path,
            body: serde_json::from_str(body).unwrap_or_default(),
        });
    }
}
