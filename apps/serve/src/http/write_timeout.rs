//! A write timeout for streams.
#![allow(clippy::disallowed_methods, reason = "a limit on waiting")]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The maximum time for which a client may leave pending bytes unread.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The minimum rate at which a client must read, in bytes per second.
const MIN_RATE: f64 = 16.0 * 1024.0;

/// A stream that fails if its client stops reading or reads more slowly than [`MIN_RATE`].
pub(crate) struct WriteTimeout<S> {
    stream: S,
    /// The deadline for the client to read more; `None` while no bytes are pending.
    until: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S) -> WriteTimeout<S> {
        WriteTimeout { stream, until: None, sleep: None }
    }

    pub(crate) fn into_inner(self) -> S {
        self.stream
    }

    /// Updates the deadline after a write.
    fn written(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match (&outcome, self.until) {
            (Poll::Pending, until) => {
                let until = until.unwrap_or_else(|| Instant::now() + READ_TIMEOUT);
                self.until = Some(until);
                let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(until)));
                if sleep.deadline() != until {
                    sleep.as_mut().reset(until);
                }
                ready!(sleep.as_mut().poll(context));
                let detail = "the client is not reading the reply";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, detail)))
            }
            (Poll::Ready(Ok(bytes)), Some(until)) => {
                let more = Duration::from_secs_f64(*bytes as f64 / MIN_RATE);
                self.until = Some((until + more).min(Instant::now() + READ_TIMEOUT));
                outcome
            }
            _ => outcome,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A flush completes only when no bytes are pending.
        let outcome = Pin::new(&mut self.stream).poll_flush(context).map_ok(|()| 0);
        if matches!(outcome, Poll::Ready(Ok(_))) {
            self.until = None;
            return Poll::Ready(Ok(()));
        }
        self.written(context, outcome).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context).map_ok(|()| 0);
        self.written(context, outcome).map_ok(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn run<F: Future>(future: F) -> F::Output {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
    }

    #[test]
    fn a_client_that_reads_nothing_times_out() {
        let (end, _client) = duplex(1024);
        let written = run(async { WriteTimeout::new(end).write_all(&[0; 4096]).await });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_client_that_reads_a_byte_now_and_then_times_out() {
        let (end, mut client) = duplex(1024);
        let written = run(async {
            let drip = async {
                loop {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    let _ = client.read_u8().await;
                }
            };
            let mut end = WriteTimeout::new(end);
            tokio::select! {
                written = end.write_all(&[0; 4096]) => written,
                () = drip => Ok(()),
            }
        });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_client_above_the_minimum_rate_does_not_time_out() {
        let (end, mut client) = duplex(64 * 1024);
        run(async {
            let read = async {
                let mut bytes = vec![0; 32 * 1024];
                for _ in 0..100 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    client.read_exact(&mut bytes).await.unwrap();
                }
            };
            let mut end = WriteTimeout::new(end);
            let bytes = vec![0; 3200 * 1024];
            let (written, ()) = tokio::join!(end.write_all(&bytes), read);
            written.unwrap();
        });
    }
}
