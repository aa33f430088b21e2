//! Batches of commands.

use super::{Decider, Decision};
use crate::core::{Command, Reply};

impl Decider<'_> {
    /// Executes commands in order and returns their replies. A refused command does not stop the
    /// others.
    pub(super) fn batch(&mut self, commands: Vec<Command>) -> Reply {
        let is_end = |command: &Command| matches!(command, Command::End { .. });
        let is_grant = |command: &Command| match command {
            Command::Lease(request) => !request.wait,
            _ => false,
        };
        let mut replies = Vec::with_capacity(commands.len());
        let mut commands = commands.into_iter().peekable();
        while let Some(command) = commands.next() {
            // If no waiting request can start, consecutive grants share one scheduling pass.
            self.more = is_end(&command) && commands.peek().is_some_and(is_end)
                || is_grant(&command)
                    && commands.peek().is_some_and(is_grant)
                    && self.refuses_all();
            replies.push(Decision::from(self.carry_out(command)).reply);
            // The queues advance even if the last command was refused.
            self.advance_queues();
        }
        Reply::Batch(replies)
    }

    /// Returns true if no waiting request on any machine can start, even after further grants.
    fn refuses_all(&mut self) -> bool {
        self.state.boards.iter_mut().all(|board| board.dispatcher.refuses_all_waiting())
    }
}
