//! Validates requests (query parameters, body encoding, head size) and lists the headers included
//! in every reply.

use axum::body::HttpBody;
use axum::extract::{MatchedPath, Query, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use pavior::names::unknown_name;
use pavior::text::{shown, shown_bytes};

use super::{Fault, openapi};
use crate::core::{Problem, Reason};

/// The maximum size of a request head, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 32 << 10;
/// The maximum size of a request body, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 1 << 20;

/// Headers included in every reply. They keep browsers from guessing content types and from sending
/// a referrer to other sites.
pub(super) const REPLY_HEADERS: [(HeaderName, HeaderValue); 2] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// Rejects unknown or duplicate parameters, and bodies that are not JSON.
pub(crate) async fn check(request: Request, next: Next) -> Result<Response, Fault> {
    if let Some(path) = request.extensions().get::<MatchedPath>() {
        let known = openapi::parameters(request.method(), path.as_str());
        check_parameters(request.uri(), known)?;
    }
    if request.method() == Method::POST {
        check_media_type(&request)?;
    }
    Ok(next.run(request).await)
}

/// Checks the size of the head, the `Host` header, and the declared size of the body.
pub(super) fn check_head(request: &Request) -> Result<(), Fault> {
    let headers = request.headers();
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if request.uri().to_string().len() + fields.sum::<usize>() > MAX_HEAD_BYTES {
        let detail = format!("the request head must not exceed {MAX_HEAD_BYTES} bytes");
        let mut fault = Fault::from(Problem::new(Reason::TooLarge, detail));
        fault.problem.status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.as_u16();
        return Err(fault);
    }
    let hosts = headers.get_all(header::HOST).iter().count();
    if hosts > 1 || hosts == 0 && request.version() >= Version::HTTP_11 {
        let detail = "a request must have exactly one Host header";
        return Err(Problem::bad(detail).into());
    }
    if request.body().size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(Fault::large_body());
    }
    Ok(())
}

/// Checks that all query parameters in a URL are known and occur only once.
fn check_parameters(uri: &Uri, known: &[&str]) -> Result<(), Fault> {
    let bad = |detail: String| Err(Problem::bad(detail).into());
    let Ok(Query(parameters)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else {
        return bad("malformed query".into());
    };
    for (index, (name, _)) in parameters.iter().enumerate() {
        if known.is_empty() {
            return bad(format!(
                "unknown parameter `{}`; this path takes no parameters",
                shown(name)
            ));
        }
        if !known.contains(&name.as_str()) {
            return bad(unknown_name("parameter", &shown(name).to_string(), known).reason);
        }
        // Comparing all pairs is fast, because there are few known parameters.
        if parameters[..index].iter().any(|(other, _)| other == name) {
            return bad(format!("the `{name}` parameter appears twice"));
        }
    }
    Ok(())
}

/// Checks that a body, if any, is declared as unencoded JSON.
fn check_media_type(request: &Request) -> Result<(), Fault> {
    let unsupported = |detail: &str| {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Err(Fault::new(status, "unsupported-media-type", detail))
    };
    let mut codings = request.headers().get_all(header::CONTENT_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return unsupported(
            "the request has a Content-Encoding header; bodies must be sent unencoded",
        );
    }
    let mut kinds = request.headers().get_all(header::CONTENT_TYPE).iter();
    let detail = match (kinds.next(), kinds.next()) {
        (None, _) if request.body().is_end_stream() => return Ok(()),
        (Some(kind), None) if is_json(kind) => return Ok(()),
        (None, _) => "the request has no Content-Type header".to_string(),
        (Some(kind), None) => {
            format!("the Content-Type of the request is `{}`", shown_bytes(kind.as_bytes()))
        }
        (Some(_), Some(_)) => "the request has more than one Content-Type header".to_string(),
    };
    let detail =
        format!("{detail}; send the body as application/json, for example with `curl --json`");
    unsupported(&detail)
}

/// Returns true if a content type is JSON with no character set other than UTF-8.
fn is_json(kind: &HeaderValue) -> bool {
    let Ok(text) = kind.to_str() else { return false };
    let mut words = text.split(';').map(|word| word.trim().to_ascii_lowercase());
    words.next().is_some_and(|essence| essence == "application/json")
        && words.all(|word| ["charset=utf-8", "charset=\"utf-8\""].contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(query: &str) -> String {
        let uri: Uri = format!("/v1/leases?{query}").parse().unwrap();
        check_parameters(&uri, &["after", "limit", "machine"]).unwrap_err().problem.detail
    }

    #[test]
    fn unknown_and_duplicate_parameters_are_refused() {
        let known = &["after", "limit", "machine"];
        for query in ["", "?", "?after=1", "?machine=a&after=1&limit=2", "?%61fter=1"] {
            let uri: Uri = format!("/v1/leases{query}").parse().unwrap();
            assert!(check_parameters(&uri, known).is_ok(), "{query}");
        }
        assert_eq!(refusal("afterr=1"), "unknown parameter `afterr`; did you mean `after`?");
        let others = "unknown parameter `tenant`; choose from after, limit, machine";
        assert_eq!(refusal("tenant=a"), others);
        assert_eq!(refusal("after=1&%61fter=1"), "the `after` parameter appears twice");
        assert!(refusal("%1b[31m=1").starts_with(r"unknown parameter `\u{1b}[31m`;"));
        assert!(refusal(&"x".repeat(60_000)).len() < 400);
        let none = check_parameters(&"/healthz?a=1".parse().unwrap(), &[]).unwrap_err();
        assert_eq!(none.problem.detail, "unknown parameter `a`; this path takes no parameters");
    }

    #[test]
    fn only_utf8_json_types_are_accepted() {
        for kind in ["application/json", "Application/JSON", "application/json; charset=UTF-8"] {
            assert!(is_json(&kind.parse().unwrap()), "{kind}");
        }
        for kind in ["", "text/plain", "application/json5", "application/json; charset=latin1"] {
            assert!(!is_json(&kind.parse().unwrap()), "{kind}");
        }
    }
}
