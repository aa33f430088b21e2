//! The notation of an experiment's keys in messages.

/// The notation of keys in messages, which is the one that the user used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// As in a file: `arrival-scale`.
    Plain,
    /// As on a command line: `--arrival-scale`.
    Options,
    /// As arguments of a function: `arrival_scale`.
    Keywords,
}

impl Keys {
    /// Formats a key for a message.
    pub(crate) fn spell(self, name: &str) -> String {
        match self {
            Keys::Plain => format!("`{name}`"),
            Keys::Options => format!("--{name}"),
            Keys::Keywords => format!("`{}`", name.replace('-', "_")),
        }
    }
}
