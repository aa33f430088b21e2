//! A reader for JSON written by other programs. Duplicate members in an object are an error.
//!
//! RFC 8259 does not define the meaning of duplicate members. Most parsers use the last value, but
//! another program that reads the same text may use the first.

use std::collections::HashSet;
use std::fmt;
use std::io::Write;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Value};

use crate::{Date, shown};

/// Parses a JSON value. Takes time linear in the length of the text.
///
/// ```
/// # use pavior_kernel as pavior;
/// use pavior::json;
/// use serde_json::Value;
///
/// assert_eq!(json::read::<Value>(br#"[{"a": 1}, {"a": 2}]"#).unwrap()[1]["a"], 2);
/// let twice = json::read::<Value>(br#"{"a": {"b": 1, "b": 2}}"#).unwrap_err();
/// assert_eq!(twice.to_string(), "the member `b` appears twice at line 1 column 18");
/// ```
///
/// # Errors
/// Returns an error if the text is not valid JSON for a `T`, or has duplicate object members.
pub fn read<'t, T: Deserialize<'t>>(text: &'t [u8]) -> Result<T, Error> {
    check(text)?;
    serde_json::from_slice(text)
}

/// Writes a daemon's log line to standard error: a JSON object that contains the time, the level,
/// the event and the members of `more`. `now` is in seconds since 1970. Write errors are ignored.
pub fn log(now: u64, level: &str, event: &str, more: Value) {
    let time = Date(Duration::from_secs(now)).to_string();
    let head = [("time", time), ("level", level.to_string()), ("event", event.to_string())];
    let mut line: Map<String, Value> =
        head.into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
    if let Value::Object(more) = more {
        line.extend(more);
    }
    let _ = writeln!(std::io::stderr().lock(), "{}", Value::Object(line));
}

/// Checks that `text` is JSON without duplicate object members. Takes time linear in its length.
///
/// # Errors
/// Returns an error if the text is not JSON, or has duplicate object members at any depth.
pub fn check(text: &[u8]) -> Result<(), Error> {
    serde_json::from_slice::<Distinct>(text).map(|Distinct| ())
}

/// Returns an error's message without the position that [`Error`] appends to it.
pub fn reason(error: &Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_string()
}

/// Any JSON value without duplicate object members.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Distinct, D::Error> {
        from.deserialize_any(Distinct)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Distinct, A::Error> {
        while list.next_element::<Distinct>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Distinct, A::Error> {
        let mut known = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if known.contains(&name) {
                return Err(twice(&name));
            }
            known.insert(name);
            members.next_value::<Distinct>()?;
        }
        Ok(self)
    }
}

fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format_args!("the member `{}` appears twice", shown(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_stands_once_at_every_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[0,{"b":{"a":1,"c":[],"a":2}}]"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"b":[{"a":[]},{"a":0,"a":{}}]}"#,
        ] {
            let error = check(text.as_bytes()).unwrap_err();
            assert_eq!(reason(&error), "the member `a` appears twice", "{text}");
        }
        let many: Vec<String> = (0..100_000).map(|number| format!("\"{number}\":0")).collect();
        assert!(check(format!("{{{}}}", many.join(",")).as_bytes()).is_ok());
    }

    #[test]
    fn the_same_name_in_other_objects_is_no_repetition() {
        let text = br#"{"a":{"a":[{"a":null},{"a":true}]},"A":-1.5e3,"":18446744073709551615}"#;
        assert!(check(text).is_ok());
    }

    #[test]
    fn what_is_shown_of_a_name_is_harmless() {
        let error = check(br#"{"\u001b[31m":1,"\u001b[31m":2}"#).unwrap_err();
        assert_eq!(reason(&error), r"the member `\u{1b}[31m` appears twice");
    }

    #[test]
    fn what_is_no_json_says_so() {
        for text in ["", "{", "[1,]", r#"{"a":1} {}"#, "nul", "\u{feff}{}"] {
            assert!(check(text.as_bytes()).is_err(), "{text}");
        }
    }
}
