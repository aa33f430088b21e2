//! The spelling of experiment keys in messages.

/// The spelling of keys in messages, which matches the spelling in the user's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The spelling in files, such as `arrival-scale`.
    Plain,
    /// The spelling on command lines, such as `--arrival-scale`.
    Options,
    /// The spelling of function arguments, such as `arrival_scale`.
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
