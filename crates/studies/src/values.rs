//! The values that texts of statements name: loops, lists, and their places in texts.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::Evidence;

/// The values of parameters that pick points, which may hold names in braces.
pub(super) type Picks = BTreeMap<String, Value>;

/// What a name takes, one after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Loop {
    /// A list of the file, or a list in a value, such as `table.rows`.
    Named(String),
    /// These.
    Listed(Vec<Value>),
    /// The values of a parameter at the points of the experiment: numbers in order, words as they
    /// come.
    Found(Found),
}

/// Which values of a parameter of the experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    /// The parameter.
    values: String,
    /// The points that count.
    #[serde(default)]
    r#where: Picks,
    /// No less than this.
    from: Option<Value>,
    /// No more than this.
    to: Option<Value>,
    /// Less than this.
    below: Option<Value>,
    /// But for these.
    #[serde(default)]
    not: Vec<Value>,
    /// Only one of them.
    take: Option<Take>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Take {
    First,
    Last,
}

/// Names with their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Names<'l> {
    lists: Option<&'l BTreeMap<String, Vec<Value>>>,
    own: Vec<(String, Value)>,
}

impl<'l> Names<'l> {
    pub(super) fn new(lists: &'l BTreeMap<String, Vec<Value>>) -> Names<'l> {
        Names { lists: Some(lists), own: Vec::new() }
    }

    /// With one more name; its position in a loop, from 1, is `NAME#`.
    pub(super) fn with(&self, name: &str, value: Value) -> Names<'l> {
        let mut more = self.clone();
        more.own.push((name.to_string(), value));
        more
    }

    /// The value of a path such as `case.sides` or `among.2.verdict`.
    fn get(&self, path: &str) -> Option<&Value> {
        let mut words = path.split('.');
        let first = words.next()?;
        let mut value =
            self.own.iter().rev().find(|(name, _)| name == first).map(|(_, value)| value)?;
        for word in words {
            value = match value {
                Value::Table(table) => table.get(word)?,
                Value::Array(all) => all.get(word.parse::<usize>().ok()?.checked_sub(1)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// A text with values for names.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}') else {
                return Err(format!("`{text}`: a brace is not closed"));
            };
            let (path, upper) = match name.split_once('|') {
                None => (name, false),
                Some((path, "upper")) => (path, true),
                Some((_, other)) => {
                    return Err(format!("`{text}`: `|{other}` means nothing; there is `|upper`"));
                }
            };
            // A name with a question mark may be missing.
            let (path, optional) = match path.strip_suffix('?') {
                Some(path) => (path, true),
                None => (path, false),
            };
            let value = match self.get(path).map(plain) {
                Some(Some(value)) => value,
                None if optional => String::new(),
                Some(None) => return Err(format!("`{text}`: `{path}` is no single value")),
                None => return Err(format!("`{text}`: nothing is called `{path}` here")),
            };
            filled += before;
            filled += &if upper { value.to_uppercase() } else { value };
            rest = behind;
        }
        Ok(filled + rest)
    }

    /// A value in words, its names filled in.
    pub(super) fn text(&self, value: &Value) -> Result<String, String> {
        let text = plain(value).ok_or_else(|| format!("`{value}` is no single value"))?;
        self.fill(&text)
    }

    /// A value as a number.
    pub(super) fn number(&self, value: &Value) -> Result<f64, String> {
        let text = self.text(value)?;
        text.parse().map_err(|_| format!("`{text}` is no number"))
    }

    /// Every name with a value of its own as a number, for formulas.
    pub(super) fn numeric(&self, name: &str) -> Option<f64> {
        plain(self.get(name)?)?.parse().ok()
    }

    /// Picks with names filled in.
    pub(super) fn picks(&self, all: &[&Picks]) -> Result<BTreeMap<String, String>, String> {
        let mut picks = BTreeMap::new();
        for (key, value) in all.iter().flat_map(|picks| picks.iter()) {
            picks.insert(key.clone(), self.text(value)?);
        }
        Ok(picks)
    }

    /// The values of a loop.
    pub(super) fn each(&self, each: &Loop, evidence: &Evidence<'_>) -> Result<Vec<Value>, String> {
        match each {
            Loop::Listed(values) => Ok(values.clone()),
            Loop::Named(name) => {
                let own = match self.get(name) {
                    Some(Value::Array(values)) => Some(values),
                    _ => None,
                };
                let found = own.or_else(|| self.lists?.get(name));
                found.cloned().ok_or_else(|| format!("there is no list `{name}`"))
            }
            Loop::Found(found) => self.found(found, evidence),
        }
    }

    fn found(&self, found: &Found, evidence: &Evidence<'_>) -> Result<Vec<Value>, String> {
        let limit = |limit: &Option<Value>| limit.as_ref().map(|limit| self.number(limit));
        let (from, to) = (limit(&found.from).transpose()?, limit(&found.to).transpose()?);
        let below = limit(&found.below).transpose()?;
        let not: Vec<f64> =
            found.not.iter().map(|value| self.number(value)).collect::<Result<_, _>>()?;
        let mut values = evidence.values(&found.values, &self.picks(&[&found.r#where])?)?;
        // What is no number is within no limit.
        values.retain(|(value, _)| {
            from.is_none_or(|from| value.is_some_and(|value| value >= from))
                && to.is_none_or(|to| value.is_some_and(|value| value <= to))
                && below.is_none_or(|below| value.is_some_and(|value| value < below))
                && !value.is_some_and(|value| not.contains(&value))
        });
        let values: Vec<Value> = values.into_iter().map(|(_, text)| Value::String(text)).collect();
        let one = match found.take {
            None => return Ok(values),
            Some(Take::First) => values.first(),
            Some(Take::Last) => values.last(),
        };
        let name = &found.values;
        one.cloned()
            .map(|one| vec![one])
            .ok_or_else(|| format!("no point of the experiment has such a value of `{name}`"))
    }
}

/// A value that is one word, as a file would have it.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_filled_in() {
        let lists = BTreeMap::new();
        let case: Value = toml::from_str("sides = 'uniform'\nlist = [2, 0.5]").unwrap();
        let names = Names::new(&lists).with("case", case).with("load", Value::Float(0.00002));
        let fill = |text: &str| names.fill(text);
        assert_eq!(fill("{case.sides|upper} at {load}{none?}"), Ok("UNIFORM at 0.00002".into()));
        assert_eq!(fill("{case.list.2}"), Ok("0.5".to_string()));
        for wrong in ["{", "{none}", "{case}", "{load|lower}", "{case.list.3}"] {
            assert!(fill(wrong).is_err(), "{wrong}");
        }
    }
}
