//! A table of states and questions with their answers, which all interfaces must give.
//!
//! A state describes a `mesh:4x2`: jobs with their boxes, each with its remaining time in seconds,
//! and unavailable nodes. A question is a box. The answer consists of sentences, in which times are
//! written in seconds from now, and the strategy is written as `S`.

/// The cases, as JSON.
pub const ANSWERS: &str = include_str!("../cases/answers.json");

/// Rewrites an answer in the words of the table.
///
/// `times` contains an interface's texts for numbers of seconds from now. `names` contains its
/// names for strategies and jobs, each with the name in the table.
pub fn in_words_of_the_table(
    line: &str,
    times: &[(String, u64)],
    names: &[(String, String)],
) -> String {
    let mut line = line.to_string();
    for (written, seconds) in times {
        line = line.replace(&format!("at {written}"), &format!("at {seconds}"));
    }
    for (written, name) in names {
        line = line.replace(written, name);
    }
    line
}
