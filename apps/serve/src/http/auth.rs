//! Authenticates callers by the Unix socket peer's user ID, by a bearer token, or by a client
//! certificate.

use std::collections::HashMap;
use std::net::IpAddr;

use axum::http::{HeaderMap, StatusCode, header};
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::body::is_tenant;
use super::permits::Party;
use super::problem::Fault;
use crate::core::Caller;

/// The remote end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process run by this user, connected through the Unix socket.
    User(u32),
    /// A TCP connection from an address, without a client certificate.
    Tcp(IpAddr),
    /// A TCP connection with a client certificate, identified by the certificate's first DNS name.
    Certificate(String),
}

/// A token and the tenant that it identifies.
struct Token {
    secret: String,
    /// The tenant; `None` for the operator.
    tenant: Option<String>,
}

/// The tokens and quotas from a token file, and the other means of authentication.
#[derive(Default)]
pub struct Access {
    tokens: Vec<Token>,
    /// The maximum number of nodes per tenant.
    quotas: HashMap<String, u64>,
    /// The user who runs this process. Like root, this user is the operator.
    uid: u32,
    /// True if client certificates are requested.
    certificates: bool,
}

/// An error in a line of a token file. Its message never contains the token.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct BadToken {
    /// The line number, starting at 1.
    pub line: usize,
    /// The reason.
    pub reason: &'static str,
}

impl Access {
    /// Parses a token file. Each line contains a token, then `tenant=NAME` unless the token is the
    /// operator's, then `quota=NODES` if the tenant has a quota. `#` starts a comment.
    ///
    /// # Errors
    /// Returns an error if a line does not have this form.
    pub fn read(text: &str, uid: u32, certificates: bool) -> Result<Access, BadToken> {
        let mut access = Access { uid, certificates, ..Access::default() };
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let bad = |reason| BadToken { line: index + 1, reason };
            access.read_line(line).map_err(bad)?;
        }
        Ok(access)
    }

    /// Adds the token in a line, if any.
    fn read_line(&mut self, line: &str) -> Result<(), &'static str> {
        // Some editors write a byte order mark at the beginning of a file.
        if line.contains(|c: char| c == '\u{feff}' || c.is_control() && c != '\t') {
            return Err("it contains an invisible character, such as a byte order mark or NUL");
        }
        let mut words = line.split_whitespace();
        let Some(secret) = words.next() else { return Ok(()) };
        if self.tokens.iter().any(|earlier| earlier.secret == secret) {
            return Err("an earlier line has the same token");
        }
        let mut token = Token { secret: secret.to_string(), tenant: None };
        let mut quota = None;
        for word in words {
            match word.split_once('=') {
                Some(("tenant", _)) if token.tenant.is_some() => {
                    return Err("tenant= appears twice");
                }
                Some(("tenant", name)) if is_tenant(name) => token.tenant = Some(name.to_string()),
                Some(("quota", _)) if quota.is_some() => return Err("quota= appears twice"),
                Some(("quota", nodes)) => {
                    quota = Some(nodes.parse().map_err(|_| "a quota must be a number of nodes")?);
                }
                _ => return Err("a token may be followed only by tenant=NAME and quota=NODES"),
            }
        }
        match (&token.tenant, quota) {
            (Some(tenant), Some(quota)) => {
                if self.quotas.insert(tenant.clone(), quota).is_some() {
                    return Err("an earlier line sets a quota for the same tenant");
                }
            }
            (None, Some(_)) => return Err("a quota requires a tenant"),
            (_, None) => {}
        }
        self.tokens.push(token);
        Ok(())
    }

    /// Returns the tenants' quotas.
    pub fn quotas(&self) -> &HashMap<String, u64> {
        &self.quotas
    }

    /// Returns true if TCP callers must authenticate.
    pub fn requires_authentication(&self) -> bool {
        !self.tokens.is_empty() || self.certificates
    }

    /// Returns true if client certificates are requested.
    pub(crate) fn certificates(&self) -> bool {
        self.certificates
    }

    /// Authenticates the sender of a request.
    pub(crate) fn caller(&self, peer: &Peer, headers: &HeaderMap) -> Result<Caller, Fault> {
        let caller = match self.identify(peer) {
            Err(_) if !self.requires_authentication() => Some(Caller::OPERATOR),
            identified => identified.ok(),
        };
        // Even a caller identified by its connection may send a token for more rights.
        match headers.get(header::AUTHORIZATION) {
            None => caller.ok_or_else(|| unauthorized("a bearer token is required")),
            Some(value) => {
                let bearer = value.to_str().ok().and_then(|text| {
                    let (scheme, token) = text.split_once(' ')?;
                    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
                });
                match (bearer.and_then(|token| self.token(token)), caller) {
                    (Some(token), _) => Ok(Caller { tenant: token.tenant.clone() }),
                    // If no tokens are configured, ignore the token.
                    (None, Some(caller)) if self.tokens.is_empty() => Ok(caller),
                    (None, _) => Err(unauthorized("the token is unknown")),
                }
            }
        }
    }

    /// Identifies a caller by its connection. The error is the address of an unidentified caller.
    fn identify(&self, peer: &Peer) -> Result<Caller, IpAddr> {
        match peer {
            Peer::User(uid) if *uid == 0 || *uid == self.uid => Ok(Caller::OPERATOR),
            Peer::User(uid) => Ok(Caller { tenant: Some(format!("uid-{uid}")) }),
            Peer::Certificate(name) => Ok(Caller { tenant: Some(name.clone()) }),
            Peer::Tcp(address) => Err(*address),
        }
    }

    /// Returns a peer's party if the peer has sent no token.
    pub(crate) fn party(&self, peer: &Peer) -> Party {
        self.identify(peer).map_or_else(Party::at, |caller| Party::of(&caller))
    }

    /// Finds a token. Comparisons take constant time, so their timing does not reveal how much of a
    /// guess is correct.
    fn token(&self, text: &str) -> Option<&Token> {
        let same = |token: &&Token| bool::from(token.secret.as_bytes().ct_eq(text.as_bytes()));
        self.tokens.iter().find(same)
    }
}

fn unauthorized(detail: &str) -> Fault {
    Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(token: Option<&str>) -> HeaderMap {
        let bearer = |token| (header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        token.into_iter().map(bearer).collect()
    }

    #[test]
    fn tokens_identify_callers() {
        let text = "# tokens\nsecret-1\nsecret-2 tenant=a quota=32\n\n";
        let access = Access::read(text, 1000, false).unwrap();
        let tcp = Peer::Tcp([192, 0, 2, 1].into());
        assert_eq!(access.caller(&tcp, &headers(Some("secret-1"))).unwrap(), Caller::OPERATOR);
        let tenant = access.caller(&tcp, &headers(Some("secret-2"))).unwrap();
        assert_eq!(tenant.tenant.as_deref(), Some("a"));
        assert_eq!(access.caller(&tcp, &headers(None)).unwrap_err().problem.status, 401);
        assert_eq!(
            access.caller(&tcp, &headers(Some("secret-3"))).unwrap_err().problem.status,
            401
        );
        assert_eq!(access.quotas()["a"], 32);
    }

    #[test]
    fn socket_peers_are_identified_by_their_user() {
        let access = Access::read("", 1000, false).unwrap();
        let of = |uid| access.caller(&Peer::User(uid), &headers(None)).unwrap().tenant;
        assert_eq!((of(0), of(1000), of(1001)), (None, None, Some("uid-1001".to_string())));
    }

    #[test]
    fn errors_name_the_line_but_not_the_token() {
        let error = Access::read("secret\nhush tenant=a/b\n", 0, false).err().unwrap();
        assert_eq!(error.line, 2);
        assert!(!error.to_string().contains("hush"));
        let bad = [
            "\u{feff}hush tenant=a\n",
            "hush\0 tenant=a\n",
            "hush tenant=a tenant=b\n",
            "hush tenant=a quota=1 quota=2\n",
            "other tenant=a quota=8\nhush tenant=a quota=9\n",
            "other\nhush tenant=a quota=-3\n",
        ];
        for text in bad {
            let error = Access::read(text, 0, false).err().unwrap();
            assert_eq!(error.line, text.lines().count(), "{text:?}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
        let two = "one tenant=a quota=8\nother tenant=a\n";
        assert_eq!(Access::read(two, 0, false).ok().unwrap().quotas()["a"], 8);
        let error = Access::read("hush tenant=a\n\nhush tenant=b\n", 0, false).err().unwrap();
        assert_eq!(error.to_string(), "line 3: an earlier line has the same token");
    }
}
