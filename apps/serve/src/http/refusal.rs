//! Refusals, with what stands in the way.

use super::{App, Fault};
use crate::core::{Caller, Problem, Reason, Reply};
use crate::diagnose::{self, Asked, Changes};
use crate::writer::{RefusalInState, Unavailable};

/// A refusal with what stands in the way.
pub(crate) async fn diagnosed(
    app: &App,
    caller: &Caller,
    RefusalInState { refused, view }: RefusalInState,
) -> Result<Reply, Fault> {
    let caller = caller.clone();
    let _one = app.explaining.acquire().await.map_err(|_| Unavailable::Stopping)?;
    let seed = app.seed;
    let work = tokio::task::spawn_blocking(move || {
        let board = &view.boards[refused.board];
        let changes = Changes::default();
        let state = diagnose::state(&view, board, &changes);
        let asked = Asked::on(board, &board.spec.strategy, refused.request, seed)?;
        Ok(diagnose::diagnosis(&view, board, &state, &changes, &asked, false, &caller))
    });
    let diagnosis = work.await.map_err(|error| Fault::internal(&error))?;
    let diagnosis = diagnosis.map_err(|reason: String| Fault::internal(&reason))?;
    let meaning = refused.refusal.meaning();
    let problem = Problem::new(Reason::Refused(refused.refusal), meaning);
    Ok(problem.with("diagnosis", diagnosis).reply())
}
