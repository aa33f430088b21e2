//! Errors shown to users: message, position, and exit status.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

use console::measure_text_width;
use pavior::BadName;
use pavior::experiments::{InputError, LogError, Setting, SettingError};
use pavior::text::{excerpt, shown};

use crate::files;

/// Reasons why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid usage or input: exit status 2.
    Usage { message: String, place: Option<Place> },
    /// Anything else: exit status 1.
    Other(String),
    /// The observed state differs from the configuration: exit status 3.
    #[cfg(feature = "slurm")]
    Unfit(String),
    /// The reader of the output has closed the pipe, as `head` does. The command ends without a
    /// message.
    ClosedPipe,
}

/// The line that contains the error, and the part of the line to underline.
#[derive(Debug)]
pub(crate) struct Place {
    /// The origin of the line: the name of an option, or `file:line:column`.
    pub(crate) origin: String,
    pub(crate) line: String,
    /// The byte range of the part to underline.
    pub(crate) span: Range<usize>,
}

impl Failure {
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::Usage { message: message.to_string(), place: None }
    }

    pub(crate) fn other(message: impl Display) -> Failure {
        Failure::Other(message.to_string())
    }

    #[cfg(not(all(feature = "serve", feature = "slurm", feature = "kube")))]
    pub(crate) fn not_built(command: &str, feature: &str) -> Failure {
        Failure::usage(format!(
            "this program was built without `{command}`; to add it, run \
             `cargo install --locked --path apps/cli --features {feature}`"
        ))
    }

    pub(crate) fn of(error: impl Display, is_usage: bool) -> Failure {
        if is_usage { Failure::usage(error) } else { Failure::other(error) }
    }

    /// Creates the error for an invalid option value. The message underlines the invalid part of
    /// the value.
    pub(crate) fn option(option: &str, typed: &str, offset: usize, error: &BadName) -> Failure {
        let span = error.span.start + offset..error.span.end + offset;
        let place = Place { origin: option.to_string(), line: typed.to_string(), span };
        Failure::Usage { message: error.reason.clone(), place: Some(place) }
    }

    /// Creates the error for an invalid setting. The message underlines its invalid part.
    pub(crate) fn in_setting(settings: &[Setting], error: SettingError) -> Failure {
        let SettingError { reason, setting, value } = error;
        let (Some(index), Some((value, span))) = (setting, value) else {
            return Failure::usage(reason);
        };
        let Setting { key, values } = &settings[index];
        let offset: usize = values[..value].iter().map(|value| value.len() + 1).sum();
        let error = BadName { reason, span };
        Failure::option(&format!("--{key}"), &values.join(","), offset, &error)
    }

    /// Creates the error for an invalid part of a file. The message underlines that part.
    pub(crate) fn in_file(
        file: &Path,
        text: &str,
        message: impl Into<String>,
        span: &Range<usize>,
    ) -> Failure {
        let start = span.start.min(text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let number = text[..start].matches('\n').count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let span = start - line_start..span.end.clamp(start, line_end) - line_start;
        let origin = format!("{}:{number}:{column}:", files::shown(file));
        let line = text[line_start..line_end].trim_end_matches('\r').to_string();
        Failure::Usage { message: message.into(), place: Some(Place { origin, line, span }) }
    }

    /// Converts an error from reading an experiment's input.
    pub(crate) fn from_input(error: InputError) -> Failure {
        match error.downcast::<LogError>() {
            Ok(error) => (*error).into(),
            Err(error) => Failure::usage(error),
        }
    }

    /// Prints the error on standard error, and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, place, status) = match self {
            Failure::ClosedPipe => return ExitCode::SUCCESS,
            Failure::Usage { message, place } => (message, place.as_ref(), 2),
            Failure::Other(message) => (message, None, 1),
            #[cfg(feature = "slurm")]
            Failure::Unfit(message) => (message, None, 3),
        };
        eprintln!("error: {message}");
        if let Some(place) = place {
            place.show();
        }
        ExitCode::from(status)
    }
}

impl Place {
    fn show(&self) {
        let (line, span) = excerpt(self.line.as_bytes(), self.span.clone());
        let before = line.get(..span.start).map_or(0, measure_text_width);
        let at_fault = line.get(span).map_or(0, measure_text_width);
        let origin = shown(&self.origin).to_string();
        let indent = " ".repeat(measure_text_width(&origin));
        eprintln!("  {origin} {line}");
        eprintln!("  {indent} {}{}", " ".repeat(before), "^".repeat(at_fault.max(1)));
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::other(error)
        }
    }
}
