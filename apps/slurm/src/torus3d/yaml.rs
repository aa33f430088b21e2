//! YAML as Slurm reads it, with places: scalars are text, and nothing is shared or merged.
//!
//! The library reads the grammar. What is kept is a tree in which each key and value knows where it
//! stands. The text, its depth and its number of values are bounded, so that no file costs more
//! than it is long.

use saphyr_parser::{Event, Parser, Span};

/// The deepest nesting that Slurm reads.
const DEEPEST: usize = 64;

/// Where something stands in a file, from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Text(String),
    List(Vec<Value>),
    Map(Vec<Member>),
}

/// A key of a map, and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) value: Value,
}

/// Why a text is no document that Slurm reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadYaml {
    pub(super) place: Place,
    pub(super) reason: String,
}

/// A document, and the beginnings of those behind it.
#[derive(Debug)]
pub(super) struct Document {
    /// `None` if the text has no value.
    pub(super) root: Option<Value>,
    /// Where other documents begin. Slurm reads the first alone.
    pub(super) others: Vec<Place>,
}

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Document, BadYaml> {
    let mut reader = Reader { open: Vec::new(), root: None, others: Vec::new(), documents: 0 };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let mark = *error.marker();
            let place = place(Span::empty(mark));
            BadYaml { place, reason: format!("not YAML: {}", error.info()) }
        })?;
        reader.take(event, place(span))?;
    }
    Ok(Document { root: reader.root, others: reader.others })
}

fn place(span: Span) -> Place {
    Place { line: span.start.line(), column: span.start.col() + 1 }
}

/// What is being read: the lists and maps that are open, and the first document.
struct Reader {
    open: Vec<Open>,
    root: Option<Value>,
    others: Vec<Place>,
    documents: usize,
}

/// A list or a map that is not at its end, with the key whose value comes next.
struct Open {
    value: Value,
    key: Option<(String, Place)>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), BadYaml> {
        let bad = |reason: &str| Err(BadYaml { place, reason: reason.to_string() });
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.others.push(place);
                }
            }
            Event::Alias(_) => return bad("an alias (*name): Slurm reads none"),
            Event::Scalar(text, ..) => self.scalar(text.into_owned(), place),
            Event::SequenceStart(..) => return self.enter(Kind::List(Vec::new()), place),
            Event::MappingStart(..) => return self.enter(Kind::Map(Vec::new()), place),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    self.add(open.value);
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, kind: Kind, place: Place) -> Result<(), BadYaml> {
        let reason = match self.open.last() {
            Some(Open { value: Value { kind: Kind::Map(_), .. }, key: None }) => {
                "a key that is no word: Slurm reads none"
            }
            _ if self.open.len() >= DEEPEST => "nested deeper than Slurm reads (64)",
            _ => {
                self.open.push(Open { value: Value { place, kind }, key: None });
                return Ok(());
            }
        };
        Err(BadYaml { place, reason: reason.to_string() })
    }

    fn scalar(&mut self, text: String, place: Place) {
        if let Some(open) = self.open.last_mut()
            && matches!(open.value.kind, Kind::Map(_))
            && open.key.is_none()
        {
            open.key = Some((text, place));
            return;
        }
        self.add(Value { place, kind: Kind::Text(text) });
    }

    /// Puts a value where it belongs: into the innermost open list or map, or at the root.
    fn add(&mut self, value: Value) {
        match self.open.last_mut() {
            None if self.documents > 1 => {}
            None => self.root = Some(value),
            Some(Open { value: Value { kind: Kind::List(list), .. }, .. }) => list.push(value),
            Some(Open { value: Value { kind: Kind::Map(map), .. }, key }) => {
                if let Some((key, place)) = key.take() {
                    map.push(Member { key, place, value });
                }
            }
            Some(Open { value: Value { kind: Kind::Text(_), .. }, .. }) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &Value) -> String {
        match &value.kind {
            Kind::Text(text) => format!("{text:?}@{}:{}", value.place.line, value.place.column),
            Kind::List(list) => format!("{:?}", list.iter().map(text).collect::<Vec<_>>()),
            Kind::Map(map) => {
                let pairs = map
                    .iter()
                    .map(|one| format!("{}@{}={}", one.key, one.place.line, text(&one.value)));
                format!("{:?}", pairs.collect::<Vec<_>>())
            }
        }
        .replace(['"', '\\'], "")
    }

    #[test]
    fn keys_and_values_know_their_places() {
        let document = read("# é\n- a: [1, é]\n  b:\n    c: 'x y'\n").unwrap();
        let shown = text(&document.root.unwrap());
        assert_eq!(shown, "[[a@2=[1@2:7, é@2:10], b@3=[c@4=x y@4:8]]]");
        assert!(read("").unwrap().root.is_none() && read("# only\n").unwrap().root.is_none());
    }

    #[test]
    fn repeated_keys_are_kept_for_who_judges_them() {
        let Some(Value { kind: Kind::Map(map), .. }) = read("{a: 1, a: 2}").unwrap().root else {
            panic!("a map");
        };
        assert_eq!(map.len(), 2);
    }

    #[test]
    fn what_slurm_does_not_read_is_refused_with_its_place() {
        for (text, place, word) in [
            ("a: &b 1\nc: *b\n", (2, 4), "alias"),
            ("? [a]\n: 1\n", (1, 3), "key"),
            ("a: [1\nb: 2\n", (2, 2), "YAML"),
            (&"[".repeat(65), (1, 65), "deeper"),
        ] {
            let bad = read(text).unwrap_err();
            assert!(bad.reason.contains(word), "{text}: {bad:?}");
            assert_eq!((bad.place.line, bad.place.column), place, "{text}: {bad:?}");
        }
        let two = read("---\na: 1\n---\nb: 2\n").unwrap();
        assert_eq!(two.others, [Place { line: 3, column: 1 }]);
        assert_eq!(text(&two.root.unwrap()), "[a@2=1@2:4]");
    }
}
