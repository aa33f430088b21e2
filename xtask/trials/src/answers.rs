//! A table of states and questions, with the answers that every interface must return.
//!
//! A state describes a `mesh:4x2`: jobs with their boxes and remaining seconds, and unavailable
//! nodes. A question is a shape. An answer consists of sentences, with times in seconds from now
//! and `S` for the strategy.

/// The cases, as JSON.
pub const ANSWERS: &str = include_str!("../cases/answers.json");

/// Rewrites an interface's answer using the wording of the table.
///
/// `times` contains the text that the interface prints for each number of seconds from now. `names`
/// contains, for each strategy and job, the interface's name and the name in the table.
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
