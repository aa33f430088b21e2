//! Many commands in one.

use std::fmt::Write;

use super::{Deciding, Decision};
use crate::core::{Command, Reply};

impl Deciding<'_> {
    /// The answers to commands that are carried out in order, each on its own: one that is refused
    /// does not stop the others.
    pub(super) fn batch(&mut self, all: Vec<Command>) -> Reply {
        let is_end = |command: &Command| matches!(command, Command::End { .. });
        let mut body = String::with_capacity(32 + 320 * all.len());
        body.push_str("{\"answers\":[");
        let (mut all, mut between) = (all.into_iter().peekable(), "");
        while let Some(command) = all.next() {
            self.more = is_end(&command) && all.peek().is_some_and(is_end);
            let Decision { reply, .. } = self.carry_out(command).into();
            // The last of the ends may have been refused: the queues move all the same.
            self.move_queues();
            let Reply { status, body: answer } = reply;
            write!(body, "{between}{{\"status\":{status},\"body\":{answer}}}")
                .expect("a string takes any text");
            between = ",";
        }
        body.push_str("]}");
        Reply { status: 200, body }
    }
}
