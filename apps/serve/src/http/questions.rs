//! Answers questions about the current state. Because an answer can take a long time, questions
//! wait in a queue and are answered on another thread.

use std::sync::Arc;

use axum::Json;
use pavior::Request;
use pavior::workload::Shaper;

use super::body::NodesRequested;
use super::extract::Question;
use super::fair_queue::{FairQueue, StopFlag};
use super::{App, Fault};
use crate::core::{BoardView, Caller, Problem, Reason, ServedMachine, StateView};

/// The state and the time for which a caller's question is answered.
pub(super) struct Moment {
    pub(super) view: Arc<StateView>,
    pub(super) caller: Caller,
    pub(super) now_ms: u64,
    pub(super) seed: u64,
    pub(super) stop: StopFlag,
}

impl App {
    /// Answers a caller's question when the caller's turn comes.
    pub(super) async fn answer_question<T: Send + 'static>(
        &self,
        queue: &FairQueue,
        caller: &Caller,
        answer: impl FnOnce(&Moment) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Json<T>, Fault> {
        let view = self.writer.view().await?;
        let (now_ms, seed) = (self.writer.clock.now_ms(), self.seed);
        let owner = caller.clone();
        let work = move |stop: &StopFlag| {
            answer(&Moment { view, caller: owner, now_ms, seed, stop: stop.clone() })
        };
        Ok(Json(queue.run(caller, work).await??))
    }
}

impl<B: Send + 'static> Question<B> {
    /// Answers the question in the current state when the caller's turn comes.
    pub(super) async fn answer<T: Send + 'static>(
        self,
        answer: impl FnOnce(&Moment, B) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Json<T>, Fault> {
        let Question { app, caller, body } = self;
        app.answer_question(&app.questions, &caller, |moment| answer(moment, body)).await
    }
}

impl Moment {
    /// Returns the named machine, or the first machine if no name is given.
    pub(super) fn board(&self, name: Option<&str>) -> Result<&BoardView, Problem> {
        self.view.find_board(name).map(|index| &self.view.boards[index])
    }

    /// Returns a copy of a machine with its leases, queue and reservations.
    pub(super) fn machine(&self, board: &BoardView) -> Result<ServedMachine, Problem> {
        let machine = ServedMachine::of(&self.view, board, self.seed);
        machine.map_err(|reason| Problem::new(Reason::BadStrategy, reason))
    }

    /// Parses a request. A number of nodes is converted to a box by the machine's shape rule.
    pub(super) fn request<'a>(
        &self,
        board: &BoardView,
        nodes: impl Into<NodesRequested<'a>>,
    ) -> Result<Request, Problem> {
        let nodes = nodes.into();
        let ask = nodes.ask(&board.grid)?;
        let rule = board.spec.shape_rule.parse();
        let rule = rule.expect("the rule was parsed when the machine was created");
        let request = ask.request(&mut Shaper::new(&rule, &board.grid, self.seed, 0));
        Ok(request.with_freedom(nodes.freedom()?))
    }
}
