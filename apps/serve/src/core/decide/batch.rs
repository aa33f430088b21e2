//! Batches of commands.

use super::{Decider, Decision, Stop};
use crate::core::{Command, Problem, Reason, Reply};

/// The number of boxes in a batch's replies at which the remaining commands are refused. Renewing
/// the same fragmented lease again and again could otherwise fill the memory.
const MAX_BOXES: usize = 1 << 19;

impl Decider<'_> {
    /// Executes commands in order and returns their replies. A refused command does not stop the
    /// others.
    pub(super) fn batch(&mut self, commands: Vec<Command>) -> Reply {
        let is_end = |command: &Command| matches!(command, Command::End { .. });
        let is_grant = |command: &Command| match command {
            Command::Lease(request) => !request.wait,
            _ => false,
        };
        let (mut replies, mut boxes) = (Vec::with_capacity(commands.len()), 0);
        let mut commands = commands.into_iter().peekable();
        while let Some(command) = commands.next() {
            // If no waiting request can start, consecutive grants share one scheduling pass.
            self.more = is_end(&command) && commands.peek().is_some_and(is_end)
                || is_grant(&command)
                    && commands.peek().is_some_and(is_grant)
                    && self.refuses_all();
            let result = if boxes < MAX_BOXES {
                self.carry_out(command)
            } else {
                let detail = "the replies to this batch are too large; start another batch";
                Err(Stop::Problem(Problem::new(Reason::TooLarge, detail)))
            };
            let reply = Decision::from(result).reply;
            if let Reply::Granted(lease) | Reply::Renewed(lease) = &reply {
                boxes += lease.parts.len();
            }
            replies.push(reply);
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
