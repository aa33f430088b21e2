//! Names of partitions, queues, users and so on, and the numbers that represent them in [`Tags`].
//!
//! [`Tags`]: super::Tags

use std::collections::HashMap;

/// A categorical job field. The variants are in the order that filters use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The partition.
    Partition,
    /// The queue or quality of service.
    Queue,
    /// The final state.
    Status,
    /// The user.
    User,
    /// The group, account or namespace.
    Group,
    /// The application.
    Application,
}

impl Field {
    /// Every field.
    pub const ALL: [Field; 6] = [
        Field::Partition,
        Field::Queue,
        Field::Status,
        Field::User,
        Field::Group,
        Field::Application,
    ];

    /// Returns the field's key, as used in filters and results.
    pub fn key(self) -> &'static str {
        match self {
            Field::Partition => "partition",
            Field::Queue => "queue",
            Field::Status => "status",
            Field::User => "user",
            Field::Group => "group",
            Field::Application => "app",
        }
    }
}

/// The names in a log's fields, and their numbers. Names are numbered from 1 in order of
/// appearance. A log in a numeric format has no names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    fields: [HashMap<Vec<u8>, i64>; Field::ALL.len()],
}

impl Names {
    /// Returns the number for a name, adding the name if it is new.
    pub fn number(&mut self, field: Field, name: &[u8]) -> i64 {
        let known = &mut self.fields[field as usize];
        if let Some(&number) = known.get(name) {
            return number;
        }
        let number = known.len() as i64 + 1;
        known.insert(name.to_vec(), number);
        number
    }

    /// Adds a name with the number that it has in the log.
    pub(crate) fn add(&mut self, field: Field, name: &[u8], number: i64) {
        let known = &mut self.fields[field as usize];
        if !known.contains_key(name) {
            known.insert(name.to_vec(), number);
        }
    }

    /// Returns the number for a name, or `None` if the name does not occur in the log.
    pub fn get(&self, field: Field, name: &str) -> Option<i64> {
        self.fields[field as usize].get(name.as_bytes()).copied()
    }

    /// Returns true if the log has names in the given field.
    pub fn has(&self, field: Field) -> bool {
        !self.fields[field as usize].is_empty()
    }

    /// Returns a field's names in ascending order of number, replacing invalid UTF-8.
    pub fn of(&self, field: Field) -> Vec<(String, i64)> {
        let mut all: Vec<_> = self.fields[field as usize].iter().collect();
        all.sort_by_key(|&(name, number)| (*number, name));
        all.into_iter().map(|(name, &it)| (String::from_utf8_lossy(name).into(), it)).collect()
    }
}
