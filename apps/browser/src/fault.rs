//! Errors in commands.

use serde_json::{Value, json};

/// The reason a command failed, and the invalid setting, if any.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) reason: String,
    pub(crate) setting: Option<String>,
}

impl Fault {
    pub(crate) fn of(error: impl std::fmt::Display) -> Fault {
        error.to_string().into()
    }

    pub(crate) fn json(&self) -> Value {
        let mut reply = json!({ "error": pavior::text::message(&self.reason) });
        if let Some(setting) = &self.setting {
            reply["setting"] = json!(setting);
        }
        reply
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault { reason, setting: None }
    }
}
