//! HTTP requests that do not use the Kubernetes client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Returns the head and body of a response. Both are empty if no server is listening.
pub(crate) fn request(address: &str, method: &str, path: &str, body: &str) -> (String, String) {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close");
        let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        let _ = stream.read_to_string(&mut answer);
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    (head.to_string(), body.to_string())
}
