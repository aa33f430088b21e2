//! Batches of commands.

use super::{Deciding, Decision};
use crate::core::{Command, Reply};

impl Deciding<'_> {
    /// Carries out commands in order and returns the answers. A refused command does not stop the
    /// others.
    pub(super) fn batch(&mut self, all: Vec<Command>) -> Reply {
        let is_end = |command: &Command| matches!(command, Command::End { .. });
        let is_grant = |command: &Command| match command {
            Command::Lease(request) => !request.wait,
            _ => false,
        };
        let mut replies = Vec::with_capacity(all.len());
        let mut all = all.into_iter().peekable();
        while let Some(command) = all.next() {
            // One plan suffices for several grants if they do not let any waiting request start.
            self.more = is_end(&command) && all.peek().is_some_and(is_end)
                || is_grant(&command) && all.peek().is_some_and(is_grant) && self.refuses_all();
            replies.push(Decision::from(self.carry_out(command)).reply);
            // The queues advance even if the last command was refused.
            self.move_queues();
        }
        Reply::Batch(replies)
    }

    /// Returns true if no waiting request on any machine can start before a lease ends.
    fn refuses_all(&mut self) -> bool {
        self.state.boards.iter_mut().all(|board| board.dispatcher.refuses_all_waiting())
    }
}
