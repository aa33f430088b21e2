//! Links claimed by running jobs.

use pavior_mesh::Grid;
use pavior_network::Footprint;

/// Jobs that may share links with a new job: one job or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// The job in the given slot.
    Job(u32),
    AllJobs,
}

/// The links that running jobs claim.
pub(super) struct Claims {
    /// For each link, the number of claims and the last claimant. Empty until the first claim.
    links: Vec<(u32, u32)>,
    bound: usize,
    /// The number of running jobs that claim every link.
    everywhere: u32,
}

impl Claims {
    /// Creates an empty set of claims.
    pub(super) fn new(grid: &Grid) -> Claims {
        Claims { links: Vec::new(), bound: Footprint::bound(grid), everywhere: 0 }
    }

    /// Claims the given links, or every link if given `None`. Calls `met` with some of the jobs
    /// that may share links with the new job, including all such jobs that were alone. Returns true
    /// if the new job is alone.
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

    /// Returns true if no other job claims any of these links. If so, also marks the job as the
    /// last claimant of these links, so that `met` is called with this job when another job claims
    /// any of them.
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

    /// Releases the links of a job that has ended.
    pub(super) fn give_up(&mut self, links: Option<&[u32]>) {
        match links {
            Some(links) => links.iter().for_each(|&link| self.links[link as usize].0 -= 1),
            None => self.everywhere -= 1,
        }
    }
}
