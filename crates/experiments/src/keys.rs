//! How the keys of an experiment are written in messages.

/// How keys are written where they are given, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// In a file, or by a program: `arrival-scale`.
    Plain,
    /// On a command line: --arrival-scale.
    Options,
}

impl Keys {
    /// A key in a message.
    pub(crate) fn spell(self, name: &str) -> String {
        match self {
            Keys::Plain => format!("`{name}`"),
            Keys::Options => format!("--{name}"),
        }
    }
}
