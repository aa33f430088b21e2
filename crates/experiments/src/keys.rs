//! How the keys of an experiment are written in messages.

/// How keys are written where they are given, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// In a file: `arrival-scale`.
    Plain,
    /// On a command line: --arrival-scale.
    Options,
    /// As arguments of a function: `arrival_scale`.
    Keywords,
}

impl Keys {
    /// A key in a message.
    pub(crate) fn spell(self, name: &str) -> String {
        match self {
            Keys::Plain => format!("`{name}`"),
            Keys::Options => format!("--{name}"),
            Keys::Keywords => format!("`{}`", name.replace('-', "_")),
        }
    }
}
