//! Troubles that last: each is logged when it comes, and again every minute until it ends.

use std::collections::BTreeMap;

use crate::ledger::Ledger;

/// Between two lines about a trouble that lasts, in seconds.
const AGAIN: u64 = 60;

/// How many records that cannot be read are named in a line.
const NAMED: usize = 8;

/// The kinds of troubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// Slurm does not answer.
    Absent,
    /// Some records cannot be read.
    Unreadable,
    /// Nodes are held twice.
    Overlap,
    /// Jobs have no box, and get none.
    Boxless,
    /// The lock cannot be taken or tried.
    Lock,
    /// slurmctld has not loaded the gate, or that is not known.
    Gate,
}

/// When each trouble that lasts was last logged.
#[derive(Default)]
pub(crate) struct Troubles(BTreeMap<Trouble, u64>);

/// What is to be said of a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    /// Nothing: it is not there, or was logged less than a minute ago.
    Nothing,
    /// That it is there.
    Trouble,
    /// That it has ended.
    End,
}

impl Troubles {
    /// Notes whether a trouble is there in this cycle.
    pub(crate) fn note(&mut self, trouble: Trouble, there: bool, now: u64) -> Say {
        let last = self.0.get(&trouble).copied();
        match (there, last) {
            (false, None) => Say::Nothing,
            (false, Some(_)) => {
                self.0.remove(&trouble);
                Say::End
            }
            // A clock that was set back must not silence it.
            (true, Some(last)) if (last..last + AGAIN).contains(&now) => Say::Nothing,
            (true, _) => {
                self.0.insert(trouble, now);
                Say::Trouble
            }
        }
    }
}

/// The records that cannot be read, in words: jobs and faults, never text from a record.
pub(crate) fn faults(ledger: &Ledger) -> Vec<String> {
    let named = ledger.unreadable.iter().take(NAMED).map(|record| match record.job {
        Some(job) => format!("job {job}: {}", record.fault),
        None => record.fault.to_string(),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_said_again_every_minute_until_it_ends() {
        let mut troubles = Troubles::default();
        let said: Vec<u64> = (0..180)
            .filter(|&now| troubles.note(Trouble::Unreadable, true, now) == Say::Trouble)
            .collect();
        assert_eq!(said, [0, 60, 120]);
        // Another one is its own.
        assert_eq!(troubles.note(Trouble::Absent, true, 130), Say::Trouble);
        assert_eq!(troubles.note(Trouble::Absent, false, 131), Say::End);
        assert_eq!(troubles.note(Trouble::Absent, false, 132), Say::Nothing);
        // The clock was set back.
        assert_eq!(troubles.note(Trouble::Unreadable, true, 7), Say::Trouble);
    }
}
