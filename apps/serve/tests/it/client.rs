//! A small HTTP client: one connection, one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: String,
    /// `traceparent`, if it came back.
    pub(crate) trace: Option<String>,
    /// All headers but the date, by their names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection that is opened when it is needed.
pub(crate) struct Client {
    address: String,
    pub(crate) headers: Vec<(String, String)>,
    /// What speaks TLS, at an address such as `https://127.0.0.1:8080`.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    stream: Option<BufReader<Box<dyn Stream>>>,
    used: Instant,
}

/// The service closes connections that are idle for 10 s: an idle one is not used again.
const IDLE: Duration = Duration::from_secs(4);

impl Client {
    /// For an address such as `http://127.0.0.1:8080`.
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

    pub(crate) fn get(&mut self, path: &str) -> std::io::Result<Reply> {
        self.send("GET", path, "", &[])
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> std::io::Result<Reply> {
        self.send("POST", path, body, &[])
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        more: &[(&str, &str)],
    ) -> std::io::Result<Reply> {
        let reply = self.try_send(method, path, body, more);
        if reply.is_err() {
            self.stream = None;
        }
        reply
    }

    fn try_send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        more: &[(&str, &str)],
    ) -> std::io::Result<Reply> {
        if self.used.elapsed() > IDLE {
            self.stream = None;
        }
        self.used = Instant::now();
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(20)))?;
            let stream: Box<dyn Stream> = match &self.tls {
                None => Box::new(stream),
                Some(config) => {
                    let name = ServerName::try_from("127.0.0.1").expect("it is an address");
                    let session = ClientConnection::new(config.clone(), name);
                    Box::new(StreamOwned::new(session.map_err(std::io::Error::other)?, stream))
                }
            };
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().expect("it was just opened");
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(more.iter().copied()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        // Bodies are JSON unless a test says otherwise.
        let typed = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("content-type");
        if !body.is_empty() && !more.iter().any(typed) {
            text.push_str("Content-Type: application/json\r\n");
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.get_mut().write_all(text.as_bytes())?;
        let mut line = String::new();
        let closed = || std::io::Error::other("the connection was closed");
        if stream.read_line(&mut line)? == 0 {
            return Err(closed());
        }
        let status =
            line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(closed)?;
        let (mut length, mut kind, mut trace) = (0, String::new(), None);
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
                "traceparent" => trace = Some(value.to_string()),
                _ => {}
            }
        }
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Reply { status, kind, trace, headers, text })
    }
}

/// So many events of a watch.
pub(crate) fn watch(address: &str, path: &str, enough: usize) -> Vec<(u64, String, Value)> {
    watch_until(address, path, |events, _| events == enough)
}

/// The events of a watch, until there are enough, by their number and the last one's id.
pub(crate) fn watch_until(
    address: &str,
    path: &str,
    enough: impl Fn(usize, u64) -> bool,
) -> Vec<(u64, String, Value)> {
    let address = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("it can be asked");
    let mut events = Vec::new();
    let (mut id, mut kind) = (0, String::new());
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
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

/// The milliseconds since 1970 of a time in a reply.
pub(crate) fn millis(time: &str) -> u64 {
    let time = humantime::parse_rfc3339(time).expect("times of replies are RFC 3339");
    let since = time.duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    since.as_millis() as u64
}
