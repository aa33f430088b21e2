//! One table of states and questions, which every interface is asked.
//!
//! A state is of a `mesh:4x2`: jobs with their boxes, each of which ends so many seconds from now,
//! and nodes that are not available. A question is a box. The answer is in sentences, in which a
//! time is written in seconds from now, and the strategy as `S`.

/// The cases, as JSON.
pub const ANSWERS: &str = include_str!("../cases/answers.json");

/// Writes an answer as the table has it.
///
/// `times` are the texts of an interface for seconds from now, `names` what it calls strategies
/// and jobs, beside what the table calls them.
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
