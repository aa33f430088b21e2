//! The spelling of experiment keys in messages.

/// The spelling of keys in messages, which matches that of the user's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// As in files: `arrival-scale`.
    Plain,
    /// As on command lines: `--arrival-scale`.
    Options,
    /// As function arguments: `arrival_scale`.
    Keywords,
}

impl Keys {
    pub(crate) fn spell(self, name: &str) -> String {
        match self {
            Keys::Plain => format!("`{name}`"),
            Keys::Options => format!("--{name}"),
            Keys::Keywords => format!("`{}`", name.replace('-', "_")),
        }
    }
}
