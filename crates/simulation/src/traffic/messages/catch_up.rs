//! Handles jobs that were alone but may now share links. Each such job enters the network in the
//! same state as if all its messages had been simulated.

use std::cmp::Reverse;

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_network::{Deadlock, Engine, Network, NetworkEvents};

use super::{Alone, How, Messages, Sender};

impl Messages {
    /// Puts a job into the network because it may now share links.
    pub(super) fn share(&mut self, slot: u32, now: Time) {
        let Some(sender) = &mut self.jobs[slot as usize] else { return };
        let how = std::mem::replace(&mut sender.how, How::Shared);
        let How::Recalled { since, .. } = how else { return };
        let since = if sender.course.is_some() {
            match self.resume(slot, since, now) {
                Some(since) => since,
                None => return,
            }
        } else {
            since
        };
        let Messages { network, jobs, ready, next_message, totals, .. } = self;
        let Some(Sender { id, traffic, .. }) = &mut jobs[slot as usize] else { return };
        ready.push((*id, slot));
        let Network::Worm(network) = network else { unreachable!("jobs are recalled only there") };
        if since == now {
            return;
        }
        network.catch_up(since, |network| {
            let (mut at, mut events) = (since, NetworkEvents::default());
            // Messages due at `now` are sent together with those from other jobs.
            while at < now {
                *next_message =
                    traffic.create(at, *next_message, |message| network.create(message));
                at = network.advance(now, &mut events).expect("such networks have no deadlock");
                for entered in &events.entered {
                    network.create(traffic.follower(entered));
                }
                for delivery in &events.deliveries {
                    totals.count(delivery);
                    traffic.delivered(delivery.tag);
                }
            }
        });
    }

    /// Updates a job that computes between exchanges and has been alone from `since` to `now`.
    /// Returns the start of its current exchange, or `None` if it is computing.
    fn resume(&mut self, slot: u32, since: Time, now: Time) -> Option<Time> {
        let Messages { jobs, trials, totals, wakes, setup, .. } = self;
        let sender = jobs[slot as usize].as_mut().expect("it is running");
        let course = sender.course.as_mut().expect("it computes in between");
        let trials = trials.as_mut().expect("made for the first such job");
        let alone = course.exchange_alone(trials).ok().flatten().expect("it was alone");
        let round = alone.length.saturating_add(course.pause);
        let done = (now.since(since).0 / round.0).min(course.exchanges_left);
        totals.add(&alone.totals.times(done));
        course.exchanges_left -= done;
        let began = Time(since.0 + done * round.0);
        if course.exchanges_left == 0 {
            wakes.push(Reverse((began.saturating_add(course.rest), slot)));
            return None;
        }
        let delivered = began.saturating_add(alone.length);
        if delivered <= now {
            totals.add(&alone.totals);
            let pause = course.end_exchange();
            wakes.push(Reverse((delivered.saturating_add(pause), slot)));
            return None;
        }
        sender.traffic = course.traffic(slot, &setup.plan);
        Some(began)
    }

    /// Handles jobs whose pauses end now. Begins each job's next exchange, or ends the job if none
    /// is left.
    pub(super) fn wake(&mut self, now: Time, finished: &mut Vec<JobId>) -> Result<(), Deadlock> {
        while let Some(&Reverse((_, slot))) =
            self.wakes.peek().filter(|Reverse((time, _))| *time <= now)
        {
            self.wakes.pop();
            let sender = self.jobs[slot as usize].as_ref().expect("it is running");
            if sender.course.as_ref().is_some_and(|course| course.exchanges_left == 0) {
                finished.push(self.end(slot, now));
                continue;
            }
            let is_alone = match (&mut self.alone, &sender.links) {
                (Some(Alone { claims, .. }), Some(links)) => claims.is_alone(slot, links),
                _ => false,
            };
            self.begin(now, slot, is_alone)?;
        }
        Ok(())
    }

    /// Makes recalled jobs catch up so that the totals are correct.
    pub(super) fn settle(&mut self, now: Time) {
        for slot in 0..self.jobs.len() as u32 {
            let sender = self.jobs[slot as usize].as_ref().map(|sender| &sender.how);
            if matches!(sender, Some(How::Recalled { since, .. }) if *since < now) {
                self.share(slot, now);
            }
        }
    }
}
