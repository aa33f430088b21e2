//! The bounded channel to the writer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The sending end. Any thread can close it for all threads.
pub(crate) struct Queue<T> {
    channel: RwLock<Option<SyncSender<T>>>,
    waiting: Arc<AtomicUsize>,
}

/// The writer's end. Dropping it also drops the remaining tasks.
pub(crate) struct Inbox<T> {
    channel: Receiver<T>,
    waiting: Arc<AtomicUsize>,
}

/// Reasons for rejecting a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// The queue is full.
    Full,
    /// The queue is closed.
    Ended,
}

/// Creates a queue for a number of tasks.
pub(crate) fn queue<T>(most: usize) -> (Queue<T>, Inbox<T>) {
    let (sender, receiver) = sync_channel(most);
    let waiting = Arc::new(AtomicUsize::new(0));
    let queue = Queue { channel: RwLock::new(Some(sender)), waiting: waiting.clone() };
    (queue, Inbox { channel: receiver, waiting })
}

impl<T> Queue<T> {
    /// Adds a task at the end.
    ///
    /// # Errors
    /// Returns an error if the task is rejected.
    pub(crate) fn send(&self, task: T) -> Result<(), NotTaken> {
        let channel = self.channel.read().unwrap_or_else(PoisonError::into_inner);
        let channel = channel.as_ref().ok_or(NotTaken::Ended)?;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        channel.try_send(task).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => NotTaken::Full,
                TrySendError::Disconnected(_) => NotTaken::Ended,
            }
        })
    }

    /// Returns the number of waiting tasks.
    pub(crate) fn len(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Closes the queue. Waiting tasks can still be taken.
    pub(crate) fn end(&self) {
        *self.channel.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<T> Inbox<T> {
    /// Takes the first task, waiting up to `patience` for one.
    ///
    /// # Errors
    /// Returns an error if no task arrives in time, or the queue is closed and empty.
    pub(crate) fn take(&self, patience: Duration) -> Result<T, RecvTimeoutError> {
        self.channel.recv_timeout(patience).inspect(|_| self.taken())
    }

    /// Takes the first task if one is waiting.
    pub(crate) fn take_now(&self) -> Option<T> {
        self.channel.try_recv().ok().inspect(|_| self.taken())
    }

    fn taken(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    /// A task: its number, and the channel for its reply.
    type Task = (usize, oneshot::Sender<usize>);

    #[test]
    fn each_task_that_is_accepted_is_answered_and_a_closed_queue_ends() {
        for round in 0..200 {
            let (queue, inbox) = queue::<Task>(2);
            let answered = std::thread::scope(|scope| {
                let queue = &queue;
                let send = |number| {
                    move || {
                        let (reply, answer) = oneshot::channel();
                        let sent = queue.send((number, reply));
                        sent.is_ok().then(|| assert_eq!(answer.blocking_recv(), Ok(number)))
                    }
                };
                let senders: Vec<_> = (0..4).map(|number| scope.spawn(send(number))).collect();
                let writer = scope.spawn(move || {
                    let mut taken = 0;
                    while let Ok((number, reply)) = inbox.take(Duration::from_secs(5)) {
                        reply.send(number).expect("the sender is waiting");
                        taken += 1;
                    }
                    taken
                });
                if round % 2 == 0 {
                    queue.end();
                }
                let sent = senders.into_iter().map(|sender| sender.join().unwrap());
                let sent = sent.flatten().count();
                queue.end();
                assert_eq!(writer.join().unwrap(), sent);
                sent
            });
            assert!(round % 2 == 0 || answered >= 2, "two tasks fit");
            assert_eq!(
                (queue.len(), queue.send((9, oneshot::channel().0))),
                (0, Err(NotTaken::Ended))
            );
        }
    }

    #[test]
    fn a_full_queue_accepts_nothing_and_a_writer_that_fails_drops_what_is_waiting() {
        let (queue, inbox) = queue::<Task>(1);
        let (reply, answer) = oneshot::channel();
        queue.send((0, reply)).unwrap();
        assert_eq!(queue.send((1, oneshot::channel().0)), Err(NotTaken::Full));
        assert_eq!(queue.len(), 1);
        drop(inbox);
        assert!(answer.blocking_recv().is_err());
        assert_eq!(queue.send((2, oneshot::channel().0)), Err(NotTaken::Ended));
    }
}
