//! What waits for the writer: bounded, in the order in which it came.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::sync::Monitor;

/// What waits, and whether more may come.
pub(crate) struct Waiting<T> {
    list: VecDeque<T>,
    ended: bool,
}

/// The queue, as those see it who send.
pub(crate) struct Queue<T> {
    waiting: Arc<Monitor<Waiting<T>>>,
    most: usize,
}

/// The end of the queue from which the writer takes. Without it nothing more is let in, and what
/// still waits is dropped, which those who sent it notice.
pub(crate) struct Inbox<T> {
    waiting: Arc<Monitor<Waiting<T>>>,
}

/// Why something is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// As many wait as may.
    Full,
    /// The queue has ended.
    Ended,
}

/// A queue of a length, and its inbox.
pub(crate) fn queue<T>(most: usize) -> (Queue<T>, Inbox<T>) {
    let waiting = Arc::new(Monitor::new(Waiting { list: VecDeque::new(), ended: false }));
    (Queue { waiting: waiting.clone(), most }, Inbox { waiting })
}

impl<T> Queue<T> {
    /// Adds one at the end.
    ///
    /// # Errors
    /// If it is not let in.
    pub(crate) fn send(&self, one: T) -> Result<(), NotTaken> {
        // What is not let in is given back, so that it is dropped without the lock.
        let refused = self.waiting.with(|waiting| {
            if waiting.ended {
                return Some((NotTaken::Ended, one));
            }
            if waiting.list.len() >= self.most {
                return Some((NotTaken::Full, one));
            }
            waiting.list.push_back(one);
            None
        });
        if let Some((why, _)) = refused {
            return Err(why);
        }
        self.waiting.wake();
        Ok(())
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.with(|waiting| waiting.list.len())
    }

    /// Lets nothing more in. What waits is still taken.
    pub(crate) fn end(&self) {
        self.waiting.with(|waiting| waiting.ended = true);
        self.waiting.wake();
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Queue { waiting: self.waiting.clone(), most: self.most }
    }
}

impl<T> Inbox<T> {
    /// The first ones that wait, as many as `most`; none if nothing is sent for a while. `None`
    /// once the queue has ended and all were taken.
    pub(crate) fn take(&self, most: usize, patience: Duration) -> Option<Vec<T>> {
        self.waiting.wait(patience, |waiting| waiting.ended || !waiting.list.is_empty());
        self.waiting.with(|waiting| {
            if waiting.ended && waiting.list.is_empty() {
                return None;
            }
            let count = most.min(waiting.list.len());
            Some(waiting.list.drain(..count).collect())
        })
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        let left = self.waiting.with(|waiting| {
            waiting.ended = true;
            std::mem::take(&mut waiting.list)
        });
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::oneshot;

    use super::*;
    use crate::sync::{alone, explore};

    /// A message: which one, and where its reply goes.
    type Message = (usize, oneshot::Sender<usize>);

    /// The writer's loop: it takes groups, and replies to each message. It gives up after so many.
    fn serve(inbox: &Inbox<Message>, most: usize) {
        let mut answered = 0;
        while answered < most
            && let Some(group) = inbox.take(2, Duration::from_secs(1))
        {
            for (which, reply) in group {
                let _ = reply.send(which);
                answered += 1;
            }
        }
    }

    /// Clients send while another thread ends the queue; the writer may give up before.
    fn clients_and_an_end(gives_up_after: usize) {
        const CLIENTS: usize = 3;
        let (queue, inbox) = queue::<Message>(2);
        let writer = shuttle::thread::spawn(move || serve(&inbox, gives_up_after));
        let full = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|which| {
                let (queue, full) = (queue.clone(), full.clone());
                shuttle::thread::spawn(move || {
                    let (reply, answer) = oneshot::channel();
                    match queue.send((which, reply)) {
                        Ok(()) => Some((which, answer)),
                        Err(NotTaken::Full) => {
                            full.fetch_add(1, Ordering::Relaxed);
                            None
                        }
                        Err(NotTaken::Ended) => None,
                    }
                })
            })
            .collect();
        let ender = {
            let queue = queue.clone();
            shuttle::thread::spawn(move || queue.end())
        };
        let sent: Vec<_> = clients.into_iter().filter_map(|one| one.join().unwrap()).collect();
        ender.join().unwrap();
        // A writer that never ended would be a deadlock, which shuttle reports.
        writer.join().unwrap();
        assert_eq!(queue.len(), 0, "nothing waits for a writer that has ended");
        let (reply, _) = oneshot::channel();
        assert_eq!(queue.send((0, reply)), Err(NotTaken::Ended));
        for (which, mut answer) in sent {
            match answer.try_recv() {
                Ok(told) => assert_eq!(told, which, "a reply goes to the one who asked"),
                Err(oneshot::error::TryRecvError::Closed) => {
                    assert!(gives_up_after < CLIENTS, "the reply to {which} is lost");
                }
                Err(oneshot::error::TryRecvError::Empty) => panic!("{which} would wait for ever"),
            }
        }
        assert!(full.load(Ordering::Relaxed) <= CLIENTS - 2, "two at a time are let in");
    }

    #[test]
    fn every_message_let_in_is_replied_to_before_the_writer_ends() {
        explore(|| clients_and_an_end(usize::MAX));
    }

    #[test]
    fn a_writer_that_gives_up_leaves_nobody_waiting() {
        explore(|| clients_and_an_end(1));
    }

    #[test]
    fn as_many_wait_as_may() {
        alone(|| {
            let (queue, inbox) = queue(2);
            assert_eq!(
                (queue.send(1), queue.send(2), queue.send(3)),
                (Ok(()), Ok(()), Err(NotTaken::Full))
            );
            assert_eq!(queue.len(), 2);
            assert_eq!(inbox.take(1, Duration::ZERO), Some(vec![1]));
            queue.end();
            assert_eq!(inbox.take(5, Duration::ZERO), Some(vec![2]));
            assert_eq!(inbox.take(5, Duration::ZERO), None);
            assert_eq!(queue.send(4), Err(NotTaken::Ended));
        });
    }
}
