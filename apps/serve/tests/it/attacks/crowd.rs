//! Connections held open by an attacker while other clients use the service.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::client::Client;

/// Open connections that are never read.
pub(crate) struct Crowd {
    streams: Vec<TcpStream>,
    /// The number of connections that could not be opened or written to.
    pub(crate) failed: usize,
}

/// Opens a connection with a receive buffer of at most 4 KiB from a local address.
pub(crate) fn connect(address: &str, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let bare = address.trim_start_matches("http://").trim_start_matches("https://");
    let to: SocketAddr = bare.parse().map_err(std::io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind((from, 0).into())?;
        socket.set_recv_buffer_size(4096)?;
        let connected = tokio::time::timeout(Duration::from_secs(5), socket.connect(to)).await;
        connected.map_err(std::io::Error::other)?
    })?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    Ok(stream)
}

impl Crowd {
    /// Opens connections sequentially and sends the same data on each.
    pub(crate) fn open(address: &str, from: Ipv4Addr, count: usize, text: &str) -> Crowd {
        let mut crowd = Crowd { streams: Vec::new(), failed: 0 };
        for _ in 0..count {
            let opened = connect(address, from).and_then(|mut stream| {
                stream.write_all(text.as_bytes())?;
                Ok(stream)
            });
            match opened {
                Ok(stream) => crowd.streams.push(stream),
                Err(_) => crowd.failed += 1,
            }
        }
        crowd
    }

    /// Counts the connections that the server has not closed.
    pub(crate) fn open_still(&mut self) -> usize {
        let mut open = 0;
        for stream in &mut self.streams {
            stream.set_nonblocking(true).expect("the socket can be set to nonblocking");
            let mut bytes = [0; 1024];
            let ended = loop {
                match stream.read(&mut bytes) {
                    Ok(0) => break true,
                    Ok(_) => {}
                    Err(error) => break error.kind() != std::io::ErrorKind::WouldBlock,
                }
            };
            open += usize::from(!ended);
        }
        open
    }
}

/// Formats a tenant's request. The declared body length may be wrong.
pub(crate) fn request(line: &str, token: &str, body: &str, length: usize) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Makes each of `tries` new clients request and end a lease. Counts the clients that do not get
/// the expected replies within 20 s.
pub(crate) fn unanswered(tries: usize, client: impl Fn() -> Client) -> usize {
    (0..tries).filter(|_| granted(&mut client()).is_none()).count()
}

/// Requests a lease and ends it. Returns `None` if either fails.
pub(crate) fn granted(client: &mut Client) -> Option<()> {
    let reply = client.try_post("/v1/leases", r#"{"nodes":1,"ttl_s":60}"#).ok()?;
    let ended = client.try_end(&reply.json()).ok()?;
    (reply.status == 201 && ended.status == 200).then_some(())
}
