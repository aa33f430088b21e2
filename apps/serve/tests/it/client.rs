//! A small HTTP client with one connection, which sends one request at a time.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: String,
    /// All headers except the date, with lower-case names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// Checks that the reply is a problem, and returns its status.
    pub(crate) fn problem(&self) -> u16 {
        assert_eq!(self.kind, "application/problem+json", "{}", self.text);
        self.status
    }

    /// Checks a problem's status and reason.
    pub(crate) fn is(&self, status: u16, reason: &str) {
        let found = (self.problem(), self.json()["reason"].clone());
        assert_eq!(found, (status, reason.into()), "{}", self.text);
    }

    /// Returns the detail text of a problem.
    pub(crate) fn detail(&self) -> String {
        self.problem();
        self.json()["detail"].as_str().expect("a problem has a detail").to_string()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A client with one connection, which it opens on first use.
pub(crate) struct Client {
    address: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The TLS configuration, required for an `https` address.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    stream: Option<BufReader<Box<dyn Stream>>>,
    used: Instant,
}

/// The idle time after which a connection is not reused. It must be less than 10 s, the idle time
/// after which the service closes connections.
const IDLE: Duration = Duration::from_secs(4);

impl Client {
    pub(crate) fn new(address: &str) -> Client {
        let bare = address.trim_start_matches("http://").trim_start_matches("https://");
        Client {
            address: bare.to_string(),
            headers: Vec::new(),
            tls: None,
            stream: None,
            used: Instant::now(),
        }
    }

    pub(crate) fn with(address: &str, header: &str, value: &str) -> Client {
        let mut client = Client::new(address);
        client.headers.push((header.to_string(), value.to_string()));
        client
    }

    pub(crate) fn of(address: &str, token: &str) -> Client {
        Client::with(address, "Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, "", &[])
    }

    pub(crate) fn try_get(&mut self, path: &str) -> Result<Reply> {
        self.try_send("GET", path, "", &[])
    }

    pub(crate) fn post(&mut self, path: &str, body: impl Display) -> Reply {
        self.send("POST", path, body, &[])
    }

    pub(crate) fn try_post(&mut self, path: &str, body: impl Display) -> Result<Reply> {
        self.try_send("POST", path, body, &[])
    }

    /// Sends a POST request with an `Idempotency-Key`.
    pub(crate) fn keyed(&mut self, path: &str, body: impl Display, key: &str) -> Reply {
        self.send("POST", path, body, &[("Idempotency-Key", key)])
    }

    /// Requests a lease. The request may have to wait.
    pub(crate) fn lease(&mut self, asked: impl Display) -> Value {
        let reply = self.post("/v1/leases", asked);
        assert!([201, 202].contains(&reply.status), "{}", reply.text);
        reply.json()
    }

    pub(crate) fn end(&mut self, lease: &Value) -> Reply {
        self.try_end(lease).expect("the server answers")
    }

    pub(crate) fn try_end(&mut self, lease: &Value) -> Result<Reply> {
        let path = format!("/v1/leases/{}/end", lease["id"]);
        self.try_post(&path, json!({ "epoch": lease["epoch"] }))
    }

    /// Returns the number of the last record.
    pub(crate) fn seq(&mut self) -> u64 {
        number(&self.get("/v1/machine").json()["seq"])
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        body: impl Display,
        more: &[(&str, &str)],
    ) -> Reply {
        self.try_send(method, path, body, more).expect("the server answers")
    }

    pub(crate) fn try_send(
        &mut self,
        method: &str,
        path: &str,
        body: impl Display,
        more: &[(&str, &str)],
    ) -> Result<Reply> {
        let text = self.format(method, path, &body.to_string(), more);
        // After an error, the connection is not reused.
        let open = self.stream.take().filter(|_| self.used.elapsed() <= IDLE);
        self.used = Instant::now();
        let mut stream = match open {
            Some(stream) => stream,
            None => connect(&self.address, self.tls.as_ref())?,
        };
        stream.get_mut().write_all(text.as_bytes())?;
        let reply = receive(&mut stream)?;
        self.stream = Some(stream);
        Ok(reply)
    }

    /// Formats a request.
    fn format(&self, method: &str, path: &str, body: &str, more: &[(&str, &str)]) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in headers.chain(more.iter().copied()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        // Bodies are JSON unless a test specifies otherwise.
        let is_type = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("content-type");
        if !body.is_empty() && !more.iter().any(is_type) {
            text.push_str("Content-Type: application/json\r\n");
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        text
    }
}

fn connect(address: &str, tls: Option<&Arc<ClientConfig>>) -> Result<BufReader<Box<dyn Stream>>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    let Some(config) = tls else { return Ok(BufReader::new(Box::new(stream))) };
    let name = ServerName::try_from("127.0.0.1").expect("an IP address is a server name");
    let session = ClientConnection::new(config.clone(), name).map_err(std::io::Error::other)?;
    Ok(BufReader::new(Box::new(StreamOwned::new(session, stream))))
}

fn receive(stream: &mut impl BufRead) -> Result<Reply> {
    let closed = || std::io::Error::other("the connection was closed");
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(closed());
    }
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(closed)?;
    let (mut length, mut kind) = (0, String::new());
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(closed());
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name != "date" {
            headers.push((name.to_string(), value.to_string()));
        }
        match name {
            "content-length" => length = value.parse().map_err(|_| closed())?,
            "content-type" => kind = value.to_string(),
            _ => {}
        }
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Reply { status, kind, headers, text })
}

/// The events of a watch, as (record number, kind, data).
pub(crate) type Events = Vec<(u64, String, Value)>;

/// Watches until `enough` events have arrived, and returns them.
pub(crate) fn watch(address: &str, path: &str, enough: usize) -> Events {
    watch_until(address, path, |events, _| events == enough)
}

/// Watches until `enough`, called with the number of events and the last id, returns true.
pub(crate) fn watch_until(
    address: &str,
    path: &str,
    enough: impl Fn(usize, u64) -> bool,
) -> Events {
    watch_as(address, path, "", Duration::from_mins(1), enough)
}

/// Like [`watch_until`], but with extra headers. Also stops if no event arrives for `patience`.
pub(crate) fn watch_as(
    address: &str,
    path: &str,
    headers: &str,
    patience: Duration,
    enough: impl Fn(usize, u64) -> bool,
) -> Events {
    let address = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(patience)).expect("a timeout can be set");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n")
        .expect("the request is sent");
    let mut events = Events::new();
    let (mut id, mut kind) = (0, String::new());
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        assert!(!line.contains("410 Gone"), "the records of {path} are gone");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.parse().expect("ids are numbers");
        } else if let Some(text) = line.strip_prefix("event: ") {
            kind = text.to_string();
        } else if let Some(text) = line.strip_prefix("data: ") {
            events.push((id, kind.clone(), serde_json::from_str(text).expect("data are JSON")));
            if enough(events.len(), id) {
                break;
            }
        }
    }
    events
}

pub(crate) fn batch(operations: impl IntoIterator<Item = impl Display>) -> String {
    let all: Vec<String> = operations.into_iter().map(|one| one.to_string()).collect();
    format!("{{\"operations\":[{}]}}", all.join(","))
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Checks that a reply has the expected members.
pub(crate) fn has(reply: &Value, expected: &Value) {
    for (name, expected) in expected.as_object().expect("the expected value is an object") {
        assert_eq!(reply[name], *expected, "{name} of {reply}");
    }
}

/// Returns a lease's id and epoch.
pub(crate) fn holder(lease: &Value) -> (u64, u64) {
    (number(&lease["id"]), number(&lease["epoch"]))
}

/// Waits until `holds` returns true, and returns the time taken. Panics with `what` on a timeout.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_mins(4), "gave up waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

/// Waits until `find` returns a value, and returns the value. Panics with `what` on a timeout.
pub(crate) fn find<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    until(what, || {
        found = find();
        found.is_some()
    });
    found.expect("it has been found")
}

/// Converts a time in a reply to milliseconds since 1970.
pub(crate) fn millis(time: &str) -> u64 {
    let time = humantime::parse_rfc3339(time).expect("times in replies are RFC 3339");
    let since = time.duration_since(std::time::UNIX_EPOCH).expect("the time is after 1970");
    since.as_millis() as u64
}
