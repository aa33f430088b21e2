//! Many commands in one.

use super::{Deciding, Decision};
use crate::core::{Command, Reply};

impl Deciding<'_> {
    /// The answers to commands that are carried out in order, each on its own: one that is refused
    /// does not stop the others.
    pub(super) fn batch(&mut self, all: Vec<Command>) -> Reply {
        let is_end = |command: &Command| matches!(command, Command::End { .. });
        let mut replies = Vec::with_capacity(all.len());
        let mut all = all.into_iter().peekable();
        while let Some(command) = all.next() {
            self.more = is_end(&command) && all.peek().is_some_and(is_end);
            replies.push(Decision::from(self.carry_out(command)).reply);
            // The last of the ends may have been refused: the queues move all the same.
            self.move_queues();
        }
        Reply::Batch(replies)
    }
}
