//! A third, minimal implementation of the model for small cases with drained release and separate
//! virtual channels. It computes the recurrence cell by cell and makes no attempt to be efficient.

use pavior_kernel::Time;
use pavior_network::{Channels, Message, Path, Settings};

struct Cells {
    message: Message,
    path: Vec<u32>,
    /// `c(i, j)`, the cycle in which flit j crosses channel i.
    c: Vec<Vec<Option<u64>>>,
}

impl Cells {
    fn last(&self) -> usize {
        self.path.len() - 1
    }

    fn tail(&self, i: usize) -> Option<u64> {
        self.c[i][self.message.flits as usize - 1]
    }

    /// Returns the cycle in which channel i becomes free again after being granted.
    fn released(&self, i: usize) -> Option<u64> {
        if i == self.last() { self.tail(i).map(|t| t + 1) } else { self.tail(i + 1) }
    }

    /// Returns the channel that the header waits for, and the cycle in which it was requested.
    fn request(&self, delay: u64) -> Option<(usize, u64)> {
        let i = (0..self.path.len()).find(|&i| self.c[i][0].is_none())?;
        let at = if i == 0 { self.message.created.0 } else { self.c[i - 1][0]? + 1 + delay };
        Some((i, at))
    }

    fn body_moves(&self, i: usize, j: usize, t: u64, buffer: usize) -> bool {
        let before = |cell: Option<u64>| cell.is_some_and(|at| at < t);
        let by_now = |cell: Option<u64>| cell.is_some_and(|at| at <= t);
        self.c[i][j].is_none()
            && before(self.c[i][j - 1])
            && (i == 0 || before(self.c[i - 1][j]))
            && (i == self.last() || j < buffer || by_now(self.c[i + 1][j - buffer]))
    }
}

/// Returns the cycle in which each message is delivered, in the same order as `messages`. The cycle
/// is `None` for a message that is never delivered.
pub(crate) fn deliveries(
    channels: &Channels,
    settings: Settings,
    messages: &[Message],
) -> Vec<Option<Time>> {
    let delay = u64::from(settings.routing_delay);
    let mut all: Vec<Cells> = messages
        .iter()
        .map(|&message| {
            let path: Vec<u32> =
                Path::new(channels, message.from, message.to).channels().map(|c| c.0).collect();
            let c = vec![vec![None; message.flits as usize]; path.len()];
            Cells { message, path, c }
        })
        .collect();
    let mut t = messages.iter().map(|m| m.created.0).min().unwrap_or(0);
    let mut quiet = 0;
    // An upper bound on consecutive cycles without an event: the sum of a routing delay and the
    // last creation time.
    let patience = delay + 2 + messages.iter().map(|m| m.created.0).max().unwrap_or(0);
    while quiet <= patience && all.iter().any(|m| m.tail(m.last()).is_none()) {
        quiet += 1;
        while pass(&mut all, t, delay, settings.buffer as usize) {
            quiet = 0;
        }
        t += 1;
    }
    all.iter().map(|m| m.tail(m.last()).map(|t| Time(t + 1))).collect()
}

/// Records every crossing in cycle `t` that follows from the crossings known so far. Returns true
/// if any were added.
fn pass(all: &mut [Cells], t: u64, delay: u64, buffer: usize) -> bool {
    let mut changed = false;
    for m in 0..all.len() {
        for i in 0..all[m].path.len() {
            for j in 1..all[m].message.flits as usize {
                if all[m].body_moves(i, j, t, buffer) {
                    all[m].c[i][j] = Some(t);
                    changed = true;
                }
            }
        }
        let Some((i, at)) = all[m].request(delay).filter(|&(_, at)| at <= t) else { continue };
        let channel = all[m].path[i];
        let key = (at, all[m].message.id);
        let first = all.iter().all(|other| match other.request(delay) {
            Some((k, at)) if other.path[k] == channel && at <= t => key <= (at, other.message.id),
            _ => true,
        });
        let free = all.iter().all(|other| {
            let Some(k) = other.path.iter().position(|&c| c == channel) else { return true };
            other.c[k][0].is_none() || other.released(k).is_some_and(|at| at <= t)
        });
        if first && free {
            all[m].c[i][0] = Some(t);
            changed = true;
        }
    }
    changed
}
