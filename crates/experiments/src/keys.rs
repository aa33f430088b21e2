//! The notation of an experiment's keys in messages.

/// The notation of keys in messages, which is the same as in the user's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The notation of files: `arrival-scale`.
    Plain,
    /// The notation of command lines: `--arrival-scale`.
    Options,
    /// The notation of function arguments: `arrival_scale`.
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
