//! Listening addresses: a Unix socket, or TCP with or without TLS.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use thiserror::Error;
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::connection::{Accepted, serve_connection};
use super::{App, Peer};
use crate::secret;

/// The time for running requests to finish when the service stops.
const GRACE: Duration = Duration::from_millis(1200);

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A TCP port.
    Tcp(SocketAddr),
}

/// An error that prevents the service from listening.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The text is not an address.
    #[error("`{0}` is not a valid address; use unix:PATH, or HOST:PORT such as 127.0.0.1:8080")]
    Address(String),
    /// Other machines could read the traffic.
    #[error("{0} is reachable from other machines, which requires TLS (--tls-cert and --tls-key)")]
    NeedsTls(SocketAddr),
    /// Other machines could use the service without authentication.
    #[error("{0} is reachable from other machines, which requires --token-file or --client-ca")]
    NeedsToken(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen at {address}: {error}")]
    Bind {
        /// The address.
        address: String,
        /// The cause.
        error: io::Error,
    },
    /// A certificate or key cannot be used.
    #[error("{option} {file}: {reason}", file = .file.display())]
    Certificate {
        /// The option that specifies the file.
        option: &'static str,
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The files for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The server's certificate chain (PEM).
    pub certificate: PathBuf,
    /// The server's private key (PEM).
    pub key: PathBuf,
    /// The authorities that issue client certificates (PEM); without them, clients use tokens.
    pub client_ca: Option<PathBuf>,
}

enum Socket {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, Option<TlsAcceptor>),
}

pub(crate) struct Listener {
    socket: Socket,
    shown: String,
}

impl Address {
    /// Parses `unix:PATH`, `HOST:PORT` or `http://HOST:PORT`.
    ///
    /// # Errors
    /// Returns an error if the text has none of these forms, or the host is unknown.
    pub fn read(text: &str) -> Result<Address, ListenError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let bare = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let bare = bare.unwrap_or(text).trim_end_matches('/');
        let found =
            std::net::ToSocketAddrs::to_socket_addrs(bare).ok().and_then(|mut all| all.next());
        found.map(Address::Tcp).ok_or_else(|| ListenError::Address(text.to_string()))
    }
}

impl Listener {
    /// Binds an address. `asks` is true if callers must authenticate.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound or would be open to other machines.
    pub(crate) async fn bind(
        address: &Address,
        tls: Option<&Tls>,
        asks: bool,
    ) -> Result<Listener, ListenError> {
        match address {
            Address::Unix(path) => {
                let failed = |error| ListenError::Bind {
                    address: format!("unix:{}", path.display()),
                    error,
                };
                let listener = bind_unix(path).map_err(failed)?;
                let shown = format!("unix:{}", path.display());
                Ok(Listener { socket: Socket::Unix(listener, path.clone()), shown })
            }
            Address::Tcp(at) => {
                if !at.ip().is_loopback() {
                    if tls.is_none() {
                        return Err(ListenError::NeedsTls(*at));
                    }
                    if !asks {
                        return Err(ListenError::NeedsToken(*at));
                    }
                }
                let failed = |error| ListenError::Bind { address: at.to_string(), error };
                let acceptor = tls.map(acceptor).transpose()?;
                let listener = TcpListener::bind(at).await.map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                let scheme = if acceptor.is_some() { "https" } else { "http" };
                let shown = format!("{scheme}://{bound}");
                Ok(Listener { socket: Socket::Tcp(listener, acceptor), shown })
            }
        }
    }

    /// Serves until the service stops, then lets running requests finish.
    pub(crate) async fn serve(self, app: Arc<App>, router: Router) {
        let mut stopping = app.stopping.clone();
        loop {
            let accepted = tokio::select! {
                accepted = self.accept() => accepted,
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            let accepted = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // For example, too many files are open until other connections close.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let place = app.connections.enter(accepted.party(&app.access));
            tokio::spawn(serve_connection(accepted, place, app.clone(), router.clone()));
            app.connections.settled().await;
        }
        let _ = tokio::time::timeout(GRACE, app.connections.down_to(0)).await;
        if let Socket::Unix(_, path) = &self.socket {
            let _ = std::fs::remove_file(path);
        }
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            Socket::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                let peer = Peer::User(stream.peer_cred()?.uid());
                Ok(Accepted { stream: Box::new(stream), tls: None, address: None, peer })
            }
            Socket::Tcp(listener, tls) => {
                let (stream, from) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let (tls, address) = (tls.clone(), Some(from.ip()));
                Ok(Accepted { stream: Box::new(stream), tls, address, peer: Peer::Tcp(None) })
            }
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Binds a Unix socket, replacing one on which no process listens.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
                return Err(io::Error::new(error.kind(), "it already exists and is not a socket"));
            }
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        other => other,
    }
    .and_then(|listener| {
        // Any user may connect, because the peer's credentials identify it.
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        Ok(listener)
    })
}

/// An option and the file that it names.
type Named<'a> = (&'static str, &'a Path);

fn unusable((option, file): Named<'_>, reason: impl fmt::Display) -> ListenError {
    ListenError::Certificate { option, file: file.to_path_buf(), reason: reason.to_string() }
}

fn certificates(named: Named<'_>) -> Result<Vec<CertificateDer<'static>>, ListenError> {
    let read = CertificateDer::pem_file_iter(named.1).and_then(Iterator::collect);
    let read: Vec<_> = read.map_err(|error| unusable(named, error))?;
    if read.is_empty() {
        return Err(unusable(named, "it contains no certificate"));
    }
    Ok(read)
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ListenError> {
    let (own, key) = (("--tls-cert", &*tls.certificate), ("--tls-key", &*tls.key));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(own, error))?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let named = ("--client-ca", &**file);
            let mut roots = RootCertStore::empty();
            for certificate in certificates(named)? {
                roots.add(certificate).map_err(|error| unusable(named, error))?;
            }
            // A client without a certificate may present a token instead.
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| unusable(named, error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let read = secret::read(key.1).map_err(|error| unusable(key, error))?;
    let read = PrivateKeyDer::from_pem_slice(&read).map_err(|error| unusable(key, error))?;
    let config =
        builder.with_single_cert(certificates(own)?, read).map_err(|error| unusable(own, error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
