//! Restricts the host names under which a page is served.
//!
//! A browser lets a page read responses from any address to which the page's host name resolves. An
//! attacker can make a host name resolve to this machine (DNS rebinding). In that case, however,
//! the `Host` header contains the attacker's host name, and the request is refused.
//!
//! A page inside a cluster, such as the `pavior kube` page, is not restricted. Users reach such a
//! page through services and proxies, under names that the daemon does not know.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode, Version};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::{Json, Router};
use serde_json::json;

/// Restricts a site to requests whose `Host` is an IP address, `localhost` or one of `names`. Other
/// requests get status 421, or 400 if an HTTP/1.1 request does not have exactly one `Host`.
pub fn for_hosts(site: Router, names: Vec<String>) -> Router {
    let names = Arc::new(names);
    site.layer(middleware::from_fn(move |request: Request, next: Next| {
        let refused = refusal(request.headers(), request.version(), &names);
        async move {
            match refused {
                None => next.run(request).await,
                Some((status, detail)) => {
                    (status, Json(json!({ "detail": detail }))).into_response()
                }
            }
        }
    }))
}

/// Returns the status and reason for refusing a request, or `None` if the request is allowed.
fn refusal(
    headers: &HeaderMap,
    version: Version,
    names: &[String],
) -> Option<(StatusCode, &'static str)> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or(""),
        // HTTP/1.0 clients may omit `Host`. Browsers always send it.
        (None, _) if version < Version::HTTP_11 => return None,
        _ => {
            return Some((
                StatusCode::BAD_REQUEST,
                "the request does not have exactly one Host header",
            ));
        }
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let unbracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_address = unbracketed.unwrap_or(name).parse::<IpAddr>().is_ok();
    let matches = |allowed: &str| allowed.eq_ignore_ascii_case(name);
    if is_address || matches("localhost") || names.iter().any(|allowed| matches(allowed)) {
        return None;
    }
    let detail = "this page is served only at an IP address or this machine's name; a proxy must \
                  set the Host header to one of these";
    Some((StatusCode::MISDIRECTED_REQUEST, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_allowed_names_are_accepted() {
        let status = |hosts: &[&str], version: Version| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, host.parse().unwrap());
            }
            refusal(&headers, version, &["login1".into()]).map(|(status, _)| status.as_u16())
        };
        for host in ["127.0.0.1:9322", "[::1]:9322", "10.0.0.7", "localhost", "LOGIN1:80", "[::1]"]
        {
            assert_eq!(status(&[host], Version::HTTP_11), None, "{host}");
        }
        for host in ["evil.example:9322", "127.0.0.1.evil.example", "login1.evil", "", "localhost."]
        {
            assert_eq!(status(&[host], Version::HTTP_11), Some(421), "{host}");
        }
        assert_eq!(status(&[], Version::HTTP_11), Some(400));
        assert_eq!(status(&["localhost", "evil.example"], Version::HTTP_11), Some(400));
        assert_eq!(status(&[], Version::HTTP_10), None);
    }
}
