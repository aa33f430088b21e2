//! Lists of licenses.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{InvalidName, number};

/// The licenses that a job requests, separated by `,` or `;`. Each has the form `NAME`,
/// `NAME:COUNT` or `NAME@SERVER:COUNT`; `=` may replace `:`. A count may end in `k`, `m` or `g`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Licenses(Vec<String>);

impl FromStr for Licenses {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Licenses, InvalidName> {
        if text == "(null)" {
            return Ok(Licenses::default());
        }
        let all = text.split([',', ';']).filter(|one| !one.is_empty());
        let all =
            all.map(|one| if is_license(one) { Ok(one.to_string()) } else { Err(InvalidName) });
        all.collect::<Result<_, _>>().map(Licenses)
    }
}

impl Licenses {
    /// Returns true if the list includes the gate's license.
    pub(crate) fn has_gate(&self, gate: &str) -> bool {
        self.0.iter().any(|one| is_gate(one, gate))
    }

    /// Returns all licenses except the gate's.
    pub(crate) fn without_gate(&self, gate: &str) -> Licenses {
        Licenses(self.0.iter().filter(|one| !is_gate(one, gate)).cloned().collect())
    }

    /// Adds the gate's license.
    pub(crate) fn with_gate(&self, gate: &str) -> Licenses {
        let mut all = self.without_gate(gate);
        all.0.push(format!("{gate}:1"));
        all
    }
}

impl Display for Licenses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// Returns true if the text is a license name with an optional server and count.
fn is_license(text: &str) -> bool {
    let (name, count) = match text.split_once([':', '=']) {
        Some((name, count)) => (name, Some(count)),
        None => (text, None),
    };
    let (name, server) = match name.split_once('@') {
        Some((name, server)) => (name, Some(server)),
        None => (name, None),
    };
    let word = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    let is_count =
        |count: &str| number::<u32>(count.strip_suffix(['k', 'm', 'g']).unwrap_or(count)).is_some();
    word(name) && server.is_none_or(word) && count.is_none_or(is_count)
}

fn is_gate(license: &str, gate: &str) -> bool {
    license.split([':', '=']).next() == Some(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licenses_are_parsed_and_formatted() {
        let licenses: Licenses = "matlab@server:2,k:4k,pavior:1,a/b".parse().unwrap();
        let others = licenses.without_gate("pavior");
        assert!(
            licenses.has_gate("pavior") && !licenses.has_gate("k2") && !others.has_gate("pavior")
        );
        assert_eq!(others.to_string(), "matlab@server:2,k:4k,a/b");
        let gated = others.with_gate("pavior").to_string();
        assert_eq!(gated, "matlab@server:2,k:4k,a/b,pavior:1");
        assert_eq!("(null)".parse::<Licenses>().unwrap().with_gate("p").to_string(), "p:1");
        assert_eq!("a=2;b@s=4m".parse::<Licenses>().unwrap().to_string(), "a=2,b@s=4m");
        let forged = ["a b", "a\nb", "a:1 Priority=9", "a|b", "\"a\""];
        for text in forged.into_iter().chain(["a:-1", "a:", "a:1:2", "a@:1", "a:4kmgk", "a:k"]) {
            assert_eq!(text.parse::<Licenses>(), Err(InvalidName), "{text}");
        }
    }
}
