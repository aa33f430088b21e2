//! Which running jobs could meet on the network.

use pavior_mesh::Grid;
use pavior_network::Footprint;

/// Whom a job may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// The job in this slot.
    Job(u32),
    AllJobs,
}

/// The links that running jobs claim, and for whom.
pub(super) struct Claims {
    /// Jobs that claim a link, and the last that did; empty until one does.
    links: Vec<(u32, u32)>,
    bound: usize,
    /// Running jobs that claim everything.
    everywhere: u32,
}

impl Claims {
    /// Of a machine without jobs.
    pub(super) fn new(grid: &Grid) -> Claims {
        Claims { links: Vec::new(), bound: Footprint::bound(grid), everywhere: 0 }
    }

    /// A job starts: the links that it claims, `None` for all. Tells `met` of jobs that it may
    /// meet: of all that were alone, perhaps of others too. Returns whether it is alone.
    pub(super) fn claim(
        &mut self,
        slot: u32,
        links: Option<&[u32]>,
        mut met: impl FnMut(Met),
    ) -> bool {
        let mut alone = self.everywhere == 0;
        let Some(links) = links else {
            self.everywhere += 1;
            met(Met::AllJobs);
            return false;
        };
        self.links.resize(self.bound, (0, 0));
        for &link in links {
            let (count, owner) = &mut self.links[link as usize];
            if *count > 0 {
                alone = false;
                met(Met::Job(*owner));
            }
            (*count, *owner) = (*count + 1, slot);
        }
        alone
    }

    /// Whether a job that claims these links has them for itself. If so, the next that claims one
    /// of them meets it, whichever job claimed them after it and has ended since.
    pub(super) fn is_alone(&mut self, slot: u32, links: &[u32]) -> bool {
        let alone =
            self.everywhere == 0 && links.iter().all(|&link| self.links[link as usize].0 == 1);
        if alone {
            for &link in links {
                self.links[link as usize].1 = slot;
            }
        }
        alone
    }

    /// A job is over.
    pub(super) fn give_up(&mut self, links: Option<&[u32]>) {
        match links {
            Some(links) => links.iter().for_each(|&link| self.links[link as usize].0 -= 1),
            None => self.everywhere -= 1,
        }
    }
}
