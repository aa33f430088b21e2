//! Listening addresses: a Unix socket, or TCP with or without TLS.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
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

/// The grace period for requests in progress when the service stops.
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
    /// The text is not an address, or its host is unknown.
    #[error("`{0}` is not a valid address ({1}); use unix:PATH or HOST:PORT, as in 127.0.0.1:8080")]
    Address(String, io::Error),
    /// Other machines could read the traffic.
    #[error("{0} is reachable from other machines, so TLS is required (--tls-cert and --tls-key)")]
    NeedsTls(SocketAddr),
    /// The address is reachable from other machines, but no authentication is configured.
    #[error("{0} is reachable from other machines, so --token-file or --client-ca is required")]
    NeedsToken(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {error}")]
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
    /// The CAs that issue client certificates (PEM). If omitted, clients use tokens.
    pub client_ca: Option<PathBuf>,
}

pub(crate) struct Listener {
    socket: Socket,
    /// The address in printable form.
    address: String,
}

enum Socket {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener, Option<TlsAcceptor>),
}

/// A TLS file and the option that specifies it.
#[derive(Clone, Copy)]
struct TlsFile<'a> {
    option: &'static str,
    path: &'a Path,
}

impl Address {
    /// Parses `unix:PATH` or `HOST:PORT`, with or without `http://` or `https://`. Only the TLS
    /// files determine whether TLS is used.
    ///
    /// # Errors
    /// Returns an error if the text has none of these forms, or if the host is unknown.
    pub fn read(text: &str) -> Result<Address, ListenError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let host = host.unwrap_or(text).trim_end_matches('/');
        let failed = |error| ListenError::Address(text.to_string(), error);
        let first = host.to_socket_addrs().map_err(failed)?.next();
        first.map(Address::Tcp).ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }
}

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound or is unsafe to expose to other machines.
    pub(crate) async fn bind(
        address: &Address,
        tls: Option<&Tls>,
        requires_authentication: bool,
    ) -> Result<Listener, ListenError> {
        match address {
            Address::Unix(path) => {
                let address = format!("unix:{}", path.display());
                let failed = |error| ListenError::Bind { address: address.clone(), error };
                let socket = Socket::Unix(bind_unix(path).map_err(failed)?, path.clone());
                Ok(Listener { socket, address })
            }
            Address::Tcp(address) => {
                if !address.ip().is_loopback() {
                    if tls.is_none() {
                        return Err(ListenError::NeedsTls(*address));
                    }
                    if !requires_authentication {
                        return Err(ListenError::NeedsToken(*address));
                    }
                }
                let failed = |error| ListenError::Bind { address: address.to_string(), error };
                let acceptor = tls.map(acceptor).transpose()?;
                let socket = TcpListener::bind(address).await.map_err(failed)?;
                let bound = socket.local_addr().map_err(failed)?;
                let scheme = if acceptor.is_some() { "https" } else { "http" };
                let address = format!("{scheme}://{bound}");
                Ok(Listener { socket: Socket::Tcp(socket, acceptor), address })
            }
        }
    }

    /// Serves requests until the service stops, then lets requests in progress finish.
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
                    // For example, too many files may be open. Accepting then fails until other
                    // connections close.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let permit = app.connections.acquire(app.access.party(&accepted.peer));
            tokio::spawn(serve_connection(accepted, permit, app.clone(), router.clone()));
            app.connections.wait_at_most(app.connections.max()).await;
        }
        let _ = tokio::time::timeout(GRACE, app.connections.wait_at_most(0)).await;
        if let Socket::Unix(_, path) = &self.socket {
            let _ = std::fs::remove_file(path);
        }
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            Socket::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                let peer = Peer::User(stream.peer_cred()?.uid());
                Ok(Accepted { stream: Box::new(stream), tls: None, peer })
            }
            Socket::Tcp(listener, tls) => {
                let (stream, from) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let peer = Peer::Tcp(from.ip());
                Ok(Accepted { stream: Box::new(stream), tls: tls.clone(), peer })
            }
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// Binds a Unix socket, replacing a stale socket.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
                return Err(io::Error::new(error.kind(), "it already exists but is not a socket"));
            }
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            std::fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        other => other?,
    };
    // Any user may connect, because the service identifies users by their peer credentials.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
    Ok(listener)
}

impl TlsFile<'_> {
    fn error(self, reason: impl fmt::Display) -> ListenError {
        let TlsFile { option, path } = self;
        ListenError::Certificate { option, file: path.to_path_buf(), reason: reason.to_string() }
    }

    fn certificates(self) -> Result<Vec<CertificateDer<'static>>, ListenError> {
        let certificates = CertificateDer::pem_file_iter(self.path).and_then(Iterator::collect);
        let certificates: Vec<_> = certificates.map_err(|error| self.error(error))?;
        if certificates.is_empty() {
            return Err(self.error("it contains no certificate"));
        }
        Ok(certificates)
    }
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ListenError> {
    let certificate = TlsFile { option: "--tls-cert", path: &tls.certificate };
    let key = TlsFile { option: "--tls-key", path: &tls.key };
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| certificate.error(error))?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let authority = TlsFile { option: "--client-ca", path };
            let mut roots = RootCertStore::empty();
            for certificate in authority.certificates()? {
                roots.add(certificate).map_err(|error| authority.error(error))?;
            }
            // A client without a certificate may present a token instead.
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| authority.error(error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let pem = secret::read(key.path).map_err(|error| key.error(error))?;
    let private_key = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| key.error(error))?;
    let config = builder
        .with_single_cert(certificate.certificates()?, private_key)
        .map_err(|error| certificate.error(error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
