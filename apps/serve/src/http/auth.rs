//! Authenticates callers by the user ID of the Unix socket's peer, a bearer token, or a client
//! certificate.

use std::collections::HashMap;
use std::net::IpAddr;

use axum::http::{HeaderMap, StatusCode, header};
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::body::{BAD_TENANT, is_tenant};
use super::permits::Party;
use super::problem::Fault;
use crate::core::Caller;

/// The remote end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process run by this user and connected through the Unix socket.
    User(u32),
    /// A TCP connection from this address, without a client certificate that names a tenant.
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

/// The tokens and quotas from a token file, and the settings for other authentication methods.
#[derive(Default)]
pub struct Access {
    tokens: Vec<Token>,
    /// The maximum number of nodes per tenant.
    quotas: HashMap<String, u64>,
    /// The user ID of this process. Like root, this user counts as the operator.
    uid: u32,
    /// True if client certificates are requested.
    certificates: bool,
}

/// An error in a line of a token file. The error message never contains the token.
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
    /// operator's, then `quota=NODES` if the tenant has a quota. A `#` at the start of a line or
    /// after white space starts a comment.
    ///
    /// # Errors
    /// Returns an error if a line does not have this form.
    pub fn read(text: &str, uid: u32, certificates: bool) -> Result<Access, BadToken> {
        let mut access = Access { uid, certificates, ..Access::default() };
        for (index, line) in text.lines().enumerate() {
            let bad = |reason| BadToken { line: index + 1, reason };
            access.read_line(line).map_err(bad)?;
        }
        Ok(access)
    }

    /// Adds the token in a line, if any.
    fn read_line(&mut self, line: &str) -> Result<(), &'static str> {
        let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.take_while(|word| !word.starts_with('#')).collect();
        // A token must consist of visible ASCII to fit in a header. This check also detects the
        // byte order mark that some editors write at the beginning of a file.
        if words.iter().any(|word| word.bytes().any(|byte| !byte.is_ascii_graphic())) {
            return Err("a character is not visible ASCII; it may be a byte order mark or NUL");
        }
        if words.iter().any(|word| word.contains('#')) {
            return Err("found # inside a word; tokens may not contain #; put a space before a \
                        comment");
        }
        let [secret, words @ ..] = &words[..] else { return Ok(()) };
        if self.tokens.iter().any(|earlier| earlier.secret == *secret) {
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
                Some(("tenant", _)) => return Err(BAD_TENANT),
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
    pub(crate) fn requests_certificates(&self) -> bool {
        self.certificates
    }

    /// Authenticates the sender of a request.
    pub(crate) fn caller(&self, peer: &Peer, headers: &HeaderMap) -> Result<Caller, Fault> {
        let caller = match self.identify(peer) {
            Err(_) if !self.requires_authentication() => Some(Caller::OPERATOR),
            identified => identified.ok(),
        };
        let required = || unauthorized(self.requirement());
        // A token may give additional rights to a caller that has already been identified. If no
        // tokens are configured, a caller's token is ignored.
        let value = headers.get(header::AUTHORIZATION).filter(|_| !self.tokens.is_empty());
        let Some(value) = value else { return caller.ok_or_else(required) };
        let text = value.to_str().unwrap_or_default();
        let token = match text.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => "",
        };
        if token.is_empty() {
            return Err(unauthorized("the Authorization header must be `Bearer TOKEN`"));
        }
        let token = self.token(token).ok_or_else(|| unauthorized("the token is unknown"))?;
        Ok(Caller { tenant: token.tenant.clone() })
    }

    /// Describes the configured authentication methods.
    fn requirement(&self) -> &'static str {
        match (self.tokens.is_empty(), self.certificates) {
            (false, false) => "a bearer token is required",
            (false, true) => "a bearer token or a client certificate is required",
            (true, _) => "a client certificate whose first DNS name is a tenant name is required",
        }
    }

    /// Identifies a caller by its connection. If the caller cannot be identified, returns the
    /// caller's address.
    fn identify(&self, peer: &Peer) -> Result<Caller, IpAddr> {
        match peer {
            Peer::User(uid) if *uid == 0 || *uid == self.uid => Ok(Caller::OPERATOR),
            Peer::User(uid) => Ok(Caller { tenant: Some(format!("uid-{uid}")) }),
            Peer::Certificate(name) => Ok(Caller { tenant: Some(name.clone()) }),
            Peer::Tcp(address) => Err(*address),
        }
    }

    /// Returns the party of a peer that has not sent a token.
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

    #[test]
    fn each_peer_is_authenticated_by_the_configured_means() {
        let tcp = || Peer::Tcp([192, 0, 2, 1].into());
        let certified = || Peer::Certificate("c".into());
        let tokens = "one # pa#ss\n# x\ntwo\ttenant=b quota=32 #\n\n";
        assert_eq!(Access::read(tokens, 1000, false).ok().unwrap().quotas()["b"], 32);
        for (text, certificates, peer, value, expected) in [
            ("", false, Peer::User(0), "", "operator"),
            ("", false, Peer::User(1000), "", "operator"),
            ("", false, Peer::User(1001), "", "uid-1001"),
            ("", false, tcp(), "", "operator"),
            ("", false, tcp(), "Bearer x", "operator"),
            ("", true, tcp(), "", "401 a client certificate whose first"),
            ("", true, tcp(), "Bearer x", "401 a client certificate whose"),
            ("", true, certified(), "", "c"),
            ("", true, certified(), "Bearer x", "c"),
            (tokens, true, tcp(), "", "401 a bearer token or a client certificate is required"),
            (tokens, true, certified(), "", "c"),
            (tokens, true, certified(), "bearer one", "operator"),
            (tokens, true, certified(), "Bearer x", "401 the token is unknown"),
            (tokens, false, tcp(), "", "401 a bearer token is required"),
            (tokens, false, tcp(), "Bearer two", "b"),
            (tokens, false, tcp(), "Basic one", "401 the Authorization header must"),
            (tokens, false, tcp(), "Bearer ", "401 the Authorization header must"),
        ] {
            let access = Access::read(text, 1000, certificates).unwrap();
            let header = (header::AUTHORIZATION, value.parse().unwrap());
            let headers = Some(header).into_iter().filter(|_| !value.is_empty()).collect();
            let found = match access.caller(&peer, &headers) {
                Ok(caller) => caller.tenant.unwrap_or("operator".into()),
                Err(fault) => format!("{} {}", fault.problem.status, fault.problem.detail),
            };
            assert!(found.starts_with(expected), "{text:?} {peer:?} {value:?}: {found}");
        }
    }

    #[test]
    fn errors_name_the_line_but_not_the_token() {
        let error = Access::read("secret\nhush tenant=a/b\n", 0, false).err().unwrap();
        assert_eq!(error.to_string(), format!("line 2: {BAD_TENANT}"));
        let bad = [
            "\u{feff}hush tenant=a\n",
            "hush\0 tenant=a\n",
            "hush tenant=a tenant=b\n",
            "hush tenant=a quota=1 quota=2\n",
            "other tenant=a quota=8\nhush tenant=a quota=9\n",
            "other\nhush tenant=a quota=-3\n",
            "hush#x tenant=a\n",
            "other\nhush tenant=a#x\n",
            "hush\u{e9} tenant=a\n",
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
